"""Writing notes: a new one from its parts, and changes to one that a person may have written.

Law: only the lines of what changes are touched; the result is read back before it is believed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mdmemory import head_edits, head_lines, heads, limits
from mdmemory.errors import BadNote
from mdmemory.heads import Reading
from mdmemory.limits import TYPES, check_body, check_description, check_line, check_name
from mdmemory.note import EOL, Note, body_span, opened, parse

# The order of keys in a machine-written metadata block.
_ORDER = (
    *("type", "kind", "source", "importance", "created", "updated", "reinforced"),
    *("last_reinforced", "session", "turn", "status"),
)
_PLACE = re.compile(r"(?:metadata\.)?[A-Za-z_][A-Za-z0-9_-]{0,63}")
_BLANK_LINES = re.compile(rf"(?:[ \t]*{EOL})+")
_ANY_EOL = re.compile(EOL)


def compose(
    *,
    name: str,
    type: str,
    description: str,
    body: str,
    kind: str = "",
    metadata: Mapping[str, str] = {},
) -> str:
    """The text of a new note; empty metadata values are left out. Raises BadNote."""
    check_name(name)
    check_description(description)
    check_body(body)
    if type not in TYPES:
        raise BadNote(f"{type[:40]!r} is not a type of note.", f"Use one of {', '.join(TYPES)}.")
    block = {**metadata, "type": type, "kind": kind}
    for key, value in block.items():
        _check_value(f"metadata.{key}", value)
    keys = [*_ORDER, *(key for key in block if key not in _ORDER)]
    lines = [
        "---",
        f"name: {head_lines.scalar('name', name)}",
        f"description: {head_lines.scalar('description', description)}",
        "metadata:",
        *(f"  {key}: {head_lines.scalar(key, block[key])}" for key in keys if block.get(key)),
        "---",
        "",
        _with_eol(body, "\n"),
        "",
    ]
    return "\n".join(lines)


def edit(
    note: Note,
    *,
    set: Mapping[str, str | None] = {},
    body: str | None = None,
) -> Note:
    """Change keys (`description`, `metadata.updated`; None removes one) and the body, if given.

    Only the lines of what changes are touched. The result is read back, and anything but exactly
    the wanted change raises BadNote.
    """
    file = note.head.file
    if parse(note.text, file) != note:
        raise BadNote(f"{file} cannot be read, so it cannot be edited.", "See `mdmemory doctor`.")
    _check_changes(set, body)
    reading = opened(note.text)[1]
    wanted = heads.flat(reading.fields)
    text = note.text
    for key, value in set.items():
        for place in _places(wanted, key, value):
            if wanted.get(place) == value:
                continue
            text = _with_key(text, place, value)
            wanted.pop(place, None)
            if value is not None:
                wanted[place] = value
    if body is not None:
        text = _with_body(text, body)
    edited = parse(text, file)
    wanted_body = note.body if body is None else _with_eol(body, line_end(note.text))
    if edited.body != wanted_body or not _reads_as(opened(text)[1], wanted, reading):
        raise _damaging(file)
    return edited


def with_head(note: Note, head: str, wanted: Mapping[str, object]) -> Note:
    """The note with other lines between its fences; `wanted` is what they must be read as, keys
    under `metadata` by their dotted place. Raises BadNote where they are not."""
    edited = parse(_between_fences(note.text, head), note.head.file)
    fences, before = opened(note.text)
    after = opened(edited.text)[1]
    is_broken = fences is not None and bool(before.problem)
    if is_broken or after.problem or edited.body != note.body or heads.flat(after.fields) != wanted:
        raise _damaging(note.head.file)
    return edited


def _damaging(file: str) -> BadNote:
    return BadNote(
        f"{file} is written in a way that this change would damage; nothing was changed.",
        "Make the change by hand, in an editor.",
    )


def _check_value(place: str, value: str) -> None:
    if not _PLACE.fullmatch(place) or place == "metadata":
        raise BadNote(f"{place[:40]!r} is not a key of a note.", "Use letters, digits, - and _.")
    check_line(f"The value of `{place}`", value)


def _check_changes(changes: Mapping[str, str | None], body: str | None) -> None:
    for place, value in changes.items():
        _check_value(place, value or "")
        if value is not None and place == "name":
            check_name(value)
        if value is not None and place == "description":
            check_description(value)
    if body is not None:
        check_body(body)


def line_end(text: str) -> str:
    """The line end most lines of the text have; "\\n" when there is none."""
    windows = text.count("\r\n")
    counts = {
        "\n": text.count("\n") - windows,
        "\r\n": windows,
        "\r": text.count("\r") - windows,
    }
    return max(counts, key=lambda eol: counts[eol])


def _with_eol(body: str, eol: str) -> str:
    """A body as it is written: without blank lines around it, with one kind of line end."""
    blank = _BLANK_LINES.match(body)
    return eol.join(_ANY_EOL.split(body[blank.end() if blank else 0 :].rstrip("\r\n")))


def _places(fields: Mapping[str, object], key: str, value: str | None) -> list[str]:
    """Where a key stands: other tools write metadata keys at the top level, and there they stay."""
    bare = key.removeprefix("metadata.")
    places = [key, bare] if bare != key and bare in limits.METADATA_KEYS else [key]
    found = [place for place in places if place in fields]
    return found if value is None else found[:1] or [key]


def _with_key(text: str, place: str, value: str | None) -> str:
    fences, _ = opened(text)
    eol = line_end(text)
    if fences:
        head = head_edits.put(text[fences.head : fences.closing], place, value, eol)
    else:
        head = head_edits.put("", place, value, eol)
    return _between_fences(text, head)


def _between_fences(text: str, head: str) -> str:
    """The text with another head; a text without one gets its fences."""
    fences, _ = opened(text)
    if fences:
        return text[: fences.head] + head + text[fences.closing :]
    eol = line_end(text)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return f"{mark}---{eol}{head}---{eol}{eol}{text[len(mark) :]}"


def _with_body(text: str, body: str) -> str:
    eol = line_end(text)
    fences, _ = opened(text)
    start, end = body_span(text, fences)
    written = _with_eol(body, eol)
    if start < end or not fences:
        return text[:start] + written + text[end:]
    # There was no body whose spacing could be kept.
    before = text[: fences.rest]
    fence_end = "" if before.endswith(("\n", "\r")) else eol
    return f"{before}{fence_end}{eol}{written}{eol}"


def _reads_as(after: Reading, wanted: Mapping[str, object], before: Reading) -> bool:
    """Whether exactly the wanted keys changed; of a broken head only the known keys compare."""
    if after.problem and not before.problem:
        return False
    found = heads.flat(after.fields)
    if not before.problem:
        return found == wanted
    known = [
        *limits.TOP_KEYS,
        *limits.METADATA_KEYS,
        *(f"metadata.{k}" for k in limits.METADATA_KEYS),
    ]
    return all(found.get(key) == wanted.get(key) for key in known)
