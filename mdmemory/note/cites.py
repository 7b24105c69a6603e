"""The citations of a note that is there already: each that changes in its own line, no other byte.

The result is read back before it is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mdmemory.errors import BadNote
from mdmemory.note import frontmatter, frontmatter_union
from mdmemory.note.editing import line_end, put, with_head
from mdmemory.note.frontmatter import Field, children_of, comment_of, lines_of, scan
from mdmemory.note.limits import CITES
from mdmemory.note.note import Note, opened

_PLACE = f"metadata.{CITES}"
_ITEM = re.compile(r"([ \t]*-[ \t]+)([^\r\n]*)")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*\Z")


def recited(note: Note, changes: Mapping[str, str | None], more: Sequence[str] = ()) -> Note:
    """The note with other citations in place of these (None: taken out), and `more` at the end.

    Raises BadNote where the list is written in a way that this would damage.
    """
    wanted = [changes.get(cite, cite) for cite in note.head.cites]
    kept = [*dict.fromkeys(cite for cite in (*wanted, *more) if cite)]
    if kept == [*note.head.cites]:
        return note
    fences, reading = opened(note.text)
    head = note.text[fences.head : fences.closing] if fences else ""
    values, eol = frontmatter.flat(reading.fields), line_end(note.text)
    if not kept:
        values.pop(_PLACE, None)
        return with_head(note, put(head, _PLACE, None, eol), values)
    if not note.head.cites:
        line = f"metadata:{eol}  {CITES}: [{frontmatter.items(kept)}]{eol}"
        bare = put(head, _PLACE, None, eol)
        head = frontmatter_union.carry(bare, _PLACE, kept, line, eol)
    else:
        head = _changed(head, dict(zip(note.head.cites, wanted, strict=True)), kept, eol)
        if new := kept[len({*filter(None, wanted)}) :]:
            head = frontmatter_union.extend(head, _PLACE, new, eol)
    return with_head(note, head, values | {_PLACE: kept})


def _changed(head: str, changes: Mapping[str, str | None], kept: Sequence[str], eol: str) -> str:
    """The head with its list of citations changed, in the form in which it is written."""
    lines = lines_of(head)
    block = next((field for field in scan(lines) if field.key == "metadata"), None)
    _, children = children_of(lines, block) if block else ("", [])
    field = next((child for child in children if child.key == CITES), None)
    if field is None:
        raise _too_odd()
    if field.is_empty:
        lines[field.start + 1 : field.end] = _items(lines, field, changes)
    else:
        there = [each for each in changes.values() if each]
        row = frontmatter.items(dict.fromkeys(there))
        if field.end > field.start + 1 and re.search(r"[ \t]#", field.value):
            raise _too_odd()
        comment = comment_of(field) or frontmatter_union.comment_after_flow(field.value)
        lead = field.lead if field.lead[-1] in " \t" else f"{field.lead} "
        lines[field.start : field.end] = [f"{lead}[{row}]{comment}{eol}"]
    return "".join(lines)


def _items(lines: Sequence[str], field: Field, changes: Mapping[str, str | None]) -> Iterator[str]:
    """The lines of a list that has one for each item; comments stay."""
    written: set[str] = set()
    for line in lines[field.start + 1 : field.end]:
        item = _ITEM.match(line)
        value = _value(item[2]) if item else None
        if item is None or value is None:
            yield line
            continue
        new = changes.get(value, value)
        if new is None or new in written:
            continue
        written.add(new)
        comment = _COMMENT.search(item[2])
        end = line[item.end() :]
        yield (
            line
            if new == value
            else (f"{item[1]}{frontmatter.items([new])}{comment[0] if comment else ''}{end}")
        )


def _value(written: str) -> str | None:
    """The text that an item means as it is written, without the comment behind it."""
    reading = frontmatter.read(f"x: {written}\n")
    value = reading.fields.get("x")
    return value if isinstance(value, str) and not reading.problem else None


def _too_odd() -> BadNote:
    return BadNote(
        f"`{CITES}` is written in a way that cannot be changed.",
        f"Write it as `{CITES}: [one, two]` on a line of its own, under `metadata:`.",
    )
