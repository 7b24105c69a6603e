"""The citations of a note that is written: for its text, for what a hand wrote, and anew.

A note is stored whether its project can be read or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from mdmemory.citing.citation import DRIFTED, parse
from mdmemory.errors import MdmemoryError
from mdmemory.note.note import Note
from mdmemory.store.writer import Writer

_MOST = 50  # outdated citations that doctor names; `mdmemory check` lists all
_SHOWN = 120  # characters of one that cannot be read


def citation_problems(writer: Writer) -> Iterator[tuple[str, str]]:
    """What is wrong with citations, as a sentence each, with the file of its note; of many the
    first."""
    heads = writer.refresher.catalog().citing()
    for head in heads:
        for cite in head.cites:
            if parse(cite) is None:
                yield head.file, f"It cites {cite[:_SHOWN]!r}, and that is no PATH#L10-L20."
    files = {head.file: head.cites for head in heads}
    from mdmemory.citing.check import check_citations  # few notes cite

    with suppress(MdmemoryError, OSError):
        problems = check_citations(writer.project, files.items()) if files else []
        for each in [each for each in problems if each.is_outdated][:_MOST]:
            what = "changed" if each.state == DRIFTED else "is gone"
            fix = f"If it still holds: `mdmemory review {each.file.removesuffix('.md')} keep`."
            yield each.file, f"It cites {each.place}, which {what}. {fix}"


def pin_citations(writer: Writer, note: Note) -> Note:
    """The note with those of its citations pinned that a hand wrote without what stands there."""
    if note.head.cites:
        from mdmemory.citing import cite
        from mdmemory.note.editing import recite  # few notes are written so

        with suppress(MdmemoryError, OSError):
            return recite(note, cite.pin_citations(writer.project, note.head.cites))
    return note


def cited_anew(writer: Writer, note: Note) -> Note:
    """The note with its citations as the project is now, on a person's word: what moved at its new
    place, what drifted as it reads now, and without what is gone. Raises BadNote where the list is
    written in a way that this would damage."""
    if not note.head.cites:
        return note
    from mdmemory.citing import cite
    from mdmemory.note.editing import recite

    changes: dict[str, str | None] = {}
    with suppress(MdmemoryError, OSError):
        changes = cite.cited_anew(writer.project, note.head.cites)
    return recite(note, changes)
