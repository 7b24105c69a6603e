"""The note: one fact as markdown text with a small head, read, written and changed as values.

Law: `parse` never raises, `render(parse(text, file)) == text`, and `edit` changes only the lines
it was asked to change. Nothing here knows about paths, git or the clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mdmemory import head_edits, head_lines, heads
from mdmemory.errors import BadNote
from mdmemory.heads import Reading
from mdmemory.limits import (
    MAX_BODY,
    MAX_DESCRIPTION,
    MAX_NAME_BYTES,
    TYPES,
    check_body,
    check_description,
    check_line,
    check_name,
    file_name,
    free_name,
    slug,
)

__all__ = [
    "MAX_BODY", "MAX_DESCRIPTION", "MAX_NAME_BYTES", "TYPES", "UNREADABLE", "Head", "Note",
    "check_body", "check_description", "check_name", "compose", "decode", "edit", "fields",
    "file_name", "free_name", "parse", "render", "slug", "unreadable",
]  # fmt: skip

UNREADABLE = "unreadable"  # the status of a file that is no text

# The order of keys in a machine-written metadata block.
_ORDER = (
    *("type", "kind", "source", "importance", "created", "updated", "reinforced"),
    *("last_reinforced", "session", "turn", "status"),
)
_IN_METADATA = frozenset(head_lines.METADATA_KEYS)
_AT_TOP = _IN_METADATA.union(head_lines.TOP_KEYS)

_EOL = r"(?:\r\n|[\r\n])"
_OPENING = re.compile(rf"\ufeff?---[ \t]*{_EOL}")
# The first is searched as a literal, several times as fast; few files have lone "\r" line ends.
_CLOSING = re.compile(rf"\n---[ \t]*(?:{_EOL}|\Z)")
_CLOSING_ANY = re.compile(rf"[\r\n]---[ \t]*(?:{_EOL}|\Z)")
_BLANK_LINE = re.compile(rf"[ \t]*{_EOL}")
_BLANK_LINES = re.compile(rf"(?:[ \t]*{_EOL})+")
_ANY_EOL = re.compile(_EOL)
_TEXT_LINE = re.compile(r"\S[^\r\n]*")
_HEADING_MARKS = re.compile(r"#{1,6}[ \t]+")
_PLACE = re.compile(r"(?:metadata\.)?[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Head:
    """What index, list and guards need to know of a note; dates are `YYYY-MM-DD` as written."""

    file: str
    name: str
    description: str
    type: str
    kind: str = ""
    source: str = ""
    importance: str = ""
    created: str = ""
    updated: str = ""
    last_reinforced: str = ""
    reinforced: int = 0
    session: str = ""
    turn: str = ""
    status: str = ""
    secrets: str = ""
    title: str = ""
    problems: tuple[str, ...] = ()  # sentences for `doctor`; empty when the file is well-formed


@dataclass(frozen=True, slots=True)
class Note:
    """A file's whole text, its head, and its body without the blank line before and the last
    line end after it (line ends as in the file)."""

    text: str
    head: Head
    body: str


class _Fences(NamedTuple):
    """Offsets into the text: where the head begins, the closing fence, and what follows it."""

    head: int
    closing: int
    rest: int


def parse(text: str, file: str) -> Note:
    """Read a note from a file's text; never raises, and says in `head.problems` what is wrong."""
    fences, reading = _opened(text)
    start, end = _body_span(text, fences)
    body = text[start:end]
    return Note(text, _head(file, reading, body), body)


def unreadable(file: str, problem: str) -> Note:
    """Stand-in for a file that is not text; `edit` refuses it."""
    head = Head(file, *_from_stem(file), status=UNREADABLE, problems=(problem,))
    return Note("", head, "")


def render(note: Note) -> str:
    """The text to write; what was read, to the last character."""
    return note.text


def fields(note: Note) -> Mapping[str, object]:
    """All that the head says, keys as written: strings, and what YAML nests."""
    return _opened(note.text)[1].fields


def decode(data: bytes) -> str:
    """A file's bytes as text, line ends and BOM kept; raises BadNote for anything but UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadNote(
            f"The file is not UTF-8 text (byte {error.start + 1}).", "Save it as UTF-8."
        ) from error


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
    reading = _opened(note.text)[1]
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
    wanted_body = note.body if body is None else _with_eol(body, _line_end(note.text))
    if edited.body != wanted_body or not _reads_as(_opened(text)[1], wanted, reading):
        raise BadNote(
            f"{file} is written in a way that this change would damage; nothing was changed.",
            "Make the change by hand, in an editor.",
        )
    return edited


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


def _opened(text: str) -> tuple[_Fences | None, Reading]:
    """Where the head lies and what it says; no fences when the whole text is the body."""
    opening = _OPENING.match(text)
    if not opening:
        return None, Reading({}, "There is no head between two `---` lines.")
    # The line end of the opening fence may be the one before the closing fence.
    pattern = _CLOSING_ANY if "\r" in text else _CLOSING
    closing = pattern.search(text, opening.end() - 1)
    if not closing:
        return None, Reading({}, "The head is opened by `---` and never closed.")
    head = (opening.end(), closing.start() + 1)
    reading = heads.read(text[slice(*head)])
    if reading.problem and not head_lines.KNOWN_KEYS & reading.fields.keys():
        return None, Reading({}, "The lines between the `---` fences are not a head.")
    return _Fences(*head, closing.end()), reading


def _body_span(text: str, fences: _Fences | None) -> tuple[int, int]:
    if fences is None:
        start = 1 if text.startswith("\ufeff") else 0
    else:
        blank = _BLANK_LINE.match(text, fences.rest)
        start = blank.end() if blank else fences.rest
    end = len(text)
    if text.endswith("\r\n"):
        end -= 2
    elif text.endswith(("\n", "\r")):
        end -= 1
    return start, max(start, end)


def _from_stem(file: str) -> tuple[str, str, str]:
    """Name, description and type of a file that says none of them."""
    stem = file.rpartition("/")[2].removesuffix(".md")
    kind, _, rest = stem.partition("-")
    return (rest if kind in TYPES and rest else stem), "", "reference"


def _head(file: str, reading: Reading, body: str) -> Head:
    problems = [reading.problem] if reading.problem else []
    # Other tools write metadata keys at the top level: those count where metadata lacks them.
    values = _values(reading.fields, _AT_TOP, problems)
    values.update(_values(_metadata(reading, problems), _IN_METADATA, problems))
    if "name" not in values:
        problems.append("There is no name: the file's name is used.")
        values["name"] = _from_stem(file)[0]
    values["description"] = _description(values.get("description", ""), body, problems)
    if "type" not in values:
        problems.append("There is no type: the note counts as `reference`.")
        values["type"] = "reference"
    if "reinforced" in values:
        values["reinforced"] = _count(values["reinforced"], problems)
    return Head(file=file, problems=tuple(problems), **values)


def _values(
    fields: Mapping[str, object], known: frozenset[str], problems: list[str]
) -> dict[str, Any]:
    """The known keys that have a text; a dictionary that fits Head's field names."""
    values: dict[str, Any] = {}
    for key, value in fields.items():
        if key not in known or value == "":
            continue
        if isinstance(value, str):
            values[key] = value
        else:
            problems.append(f"`{key}` is not a single value.")
    return values


def _metadata(reading: Reading, problems: list[str]) -> Mapping[str, object]:
    block = reading.fields.get("metadata")
    if isinstance(block, dict):
        return block
    if block is None and reading.fields:
        problems.append("There is no `metadata` block.")
    elif block:
        problems.append("`metadata` is not a block of keys.")
    return {}


def _description(written: str, body: str, problems: list[str]) -> str:
    if not written:
        problems.append("There is no description: the first line of the body is used.")
        return _first_line(body)
    if len(written.splitlines()) > 1:
        written = " ".join(written.split())
    if len(written) > MAX_DESCRIPTION:
        problems.append(
            f"The description has {len(written)} characters; {MAX_DESCRIPTION} are the limit."
        )
    return written


def _first_line(body: str) -> str:
    for match in _TEXT_LINE.finditer(body):
        line = match[0].rstrip()
        if line != "---":
            return _HEADING_MARKS.sub("", line, count=1)[:MAX_DESCRIPTION].rstrip()
    return ""


def _count(written: str, problems: list[str]) -> int:
    if written.isascii() and written.isdigit() and len(written) < 10:
        return int(written)
    problems.append("`reinforced` is not a whole number: it counts as 0.")
    return 0


def _line_end(text: str) -> str:
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
    places = [key, bare] if bare != key and bare in head_lines.METADATA_KEYS else [key]
    found = [place for place in places if place in fields]
    return found if value is None else found[:1] or [key]


def _with_key(text: str, place: str, value: str | None) -> str:
    fences, _ = _opened(text)
    eol = _line_end(text)
    if fences:
        head = head_edits.put(text[fences.head : fences.closing], place, value, eol)
        return text[: fences.head] + head + text[fences.closing :]
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    head = head_edits.put("", place, value, eol)
    return f"{mark}---{eol}{head}---{eol}{eol}{text[len(mark) :]}"


def _with_body(text: str, body: str) -> str:
    eol = _line_end(text)
    fences, _ = _opened(text)
    start, end = _body_span(text, fences)
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
        *head_lines.TOP_KEYS,
        *head_lines.METADATA_KEYS,
        *(f"metadata.{k}" for k in head_lines.METADATA_KEYS),
    ]
    return all(found.get(key) == wanted.get(key) for key in known)
