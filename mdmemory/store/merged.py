"""The names that a note took over from the notes merged into it: `metadata.merged` of its head.

With it a [[link]] to a note that was merged or renamed still finds its text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from mdmemory.note.limits import file_name
from mdmemory.note.note import Head, Note, fields

KEY = "merged"


def merged_names(head: Mapping[str, object]) -> set[str]:
    """The names that lead to a note besides its own, as links are compared: without case and `.md`.

    `head` is what `mdmemory.note.fields` reads. A name stands for its file name, too.
    """
    block = head.get("metadata")
    block = block if isinstance(block, dict) else head
    written = _listed(block.get(KEY, head.get(KEY)))
    files = [file_name(str(block.get("type", head.get("type", ""))), name) for name in written]
    return {folded(name) for name in (*written, *files)}


def names(note: Note) -> set[str]:
    """Every name under which a link finds the note."""
    own = own_names(note)
    # cheap: few notes were ever merged, and reading a head again is dear
    return own | merged_names(fields(note)) if f"{KEY}:" in note.text else own


def own_names(note: Note) -> set[str]:
    """The names that the note has now: its name, and the stem of its file."""
    return {folded(note.head.name), folded(note.head.file)}


def former(note: Note) -> dict[str, str]:
    """The names that the note took over, folded, each with what a link to it should say now:
    the name for a name, the stem of the file for a stem."""
    head, stem = note.head, note.head.file.removesuffix(".md")
    written = _listed_in(note)
    found = {folded(file_name(head.type, name)): stem for name in written}
    return found | {folded(name): head.name for name in written}


def joined(base: Note, name: str, gone: Iterable[Note]) -> str | None:
    """The value of `metadata.merged` for the note that `gone` notes join; None when it stays.

    `base` is the note that is written, `name` the one it will have.
    """
    before = _listed_in(base)
    found = dict.fromkeys(before)
    for note in gone:
        found |= dict.fromkeys((*_listed_in(note), *_own(note.head)))
    kept = [each for each in found if folded(each) != folded(name)]
    return ", ".join(kept) if kept and kept != before else None


def _own(head: Head) -> list[str]:
    """The name of a note that goes, and its stem where that does not follow from type and name."""
    follows = head.file == file_name(head.type, head.name)
    found = [head.name] if follows else [head.name, head.file.removesuffix(".md")]
    return [name for name in found if "," not in name and name.isprintable()]


def _listed_in(note: Note) -> list[str]:
    found = fields(note) if f"{KEY}:" in note.text else {}
    block = found.get("metadata")
    return _listed((block if isinstance(block, dict) else found).get(KEY, found.get(KEY)))


def _listed(value: object) -> list[str]:
    words = value if isinstance(value, list) else str(value or "").split(",")
    return [name for word in words if (name := str(word).strip().removesuffix(".md"))]


def folded(name: str) -> str:
    """A name as links compare it: composed, without case, without `.md`."""
    return unicodedata.normalize("NFC", name).strip().casefold().removesuffix(".md")
