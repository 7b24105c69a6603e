"""Writing notes: a new one from its parts, and changes to one that a person may have written.

Law: only the lines of what changes are touched; the result is read back before it is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mdmemory.errors import BadNote
from mdmemory.note import frontmatter, limits
from mdmemory.note.frontmatter import Field, join_items, render_value, scan, to_yaml
from mdmemory.note.limits import CITES, LINE_KEYS, TYPES, check_line
from mdmemory.note.note import (
    EOL,
    MODIFIED,
    ORIGIN,
    Note,
    begins_head,
    begins_toml,
    body_span,
    parse,
    split,
)

_ITEM = re.compile(r"([ \t]*-[ \t]+)([^\r\n]*)")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*\Z")
_AFTER_FLOW = re.compile(r"[\]}]([ \t]+#[^\r\n]*)\s*\Z")
OWN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
# What makes a note a confirmed one.
CONFIRMED: dict[str, str | None] = {"metadata.status": None, "metadata.quote": None}
_PLACE = re.compile(r"(?:metadata\.)?[A-Za-z_][A-Za-z0-9_-]{0,63}")
_OUR_KEYS = limits.METADATA_KEYS
_OUR_PLACES = (*limits.TOP_KEYS, *_OUR_KEYS, *(f"metadata.{key}" for key in _OUR_KEYS))
_BLANK_LINES = re.compile(rf"(?:[ \t]*{EOL})+")
_ANY_EOL = re.compile(EOL)


def compose(
    *,
    name: str,
    type: str,
    description: str,
    body: str,
    kind: str = "",
    aliases: Sequence[str] = (),
    metadata: Mapping[str, str] = {},
    cites: Sequence[str] = (),
    title: str = "",
    own: Mapping[str, object] = {},
) -> str:
    """The text of a new note, without empty metadata values. Its file is called by type and name,
    so the name alone stands among the aliases, where Obsidian finds it. `own` are other keys, of a
    person. A body of "" is none: the description says it all. Raises BadNote."""
    limits.check_name(name)
    limits.check_description(description)
    if body:
        limits.check_body(body)
    if type not in TYPES:
        raise BadNote(f"{type[:40]!r} is not a type of note.", f"Use one of {', '.join(TYPES)}.")
    block = {**metadata, "type": type, "kind": kind}
    for key, value in block.items():
        _check_value(f"metadata.{key}", value)
    for alias in aliases:
        check_line("An alias", alias)
    for cite in cites:
        check_line("A citation", cite)
    if title:
        check_line("The title", title)
    keys = dict.fromkeys((*limits.METADATA_KEYS, *block))
    lines = [
        "---",
        f"name: {to_yaml('name', name)}",
        *([f"title: {to_yaml('title', title)}"] if title else []),
        f"description: {to_yaml('description', description)}",
        f"{limits.ALIASES}: [{join_items(dict.fromkeys((name, *aliases)))}]",
        *(f"{key}: {render_value(key, value)}" for key, value in own.items()),
        "metadata:",
        *(f"  {key}: {to_yaml(key, block[key])}" for key in keys if block.get(key)),
        *([f"  {CITES}: [{join_items(cites)}]"] if cites else []),
        "---",
        *(("", _with_eol(body, "\n")) if body else ()),
        "",
    ]
    return "\n".join(lines)


def edit(note: Note, *, set: Mapping[str, str | None] = {}, body: str | None = None) -> Note:
    """Change keys (`description`, `metadata.updated`; None removes one) and the body, if given.

    Only the lines of what changes are touched. The result is read back, and anything but exactly
    the wanted change raises BadNote.
    """
    file = note.head.file
    if parse(note.text, file) != note:
        raise BadNote(f"{file} cannot be read, so it cannot be edited.", "See `mdmemory doctor`.")
    for place, value in set.items():
        _check_value(place, value or "")
        if value is not None and place == "name":
            limits.check_name(value)
        if value is not None and place == "description":
            limits.check_description(value)
    if body is not None:
        limits.check_body(body)
    edited = EditedHead(note)
    for key, value in set.items():
        for place in _find_places(edited.values, key, value):
            edited.put(place, value)
    return edited.finish(body, is_lenient=True)


class EditedHead:
    """The head of a note while keys of it are written anew; `values` is what it must be read as,
    keys under `metadata` by their dotted place."""

    def __init__(self, note: Note) -> None:
        self.note, self._eol = note, line_end(note.text)
        self._fences, self._reading = split(note.text)
        self.values = frontmatter.flatten(self._reading.fields)
        self._head = self._before = _head_of(note.text)

    def put(self, place: str, value: str | Sequence[str] | None) -> None:
        """Set (None: remove) one key. Raises BadNote for what cannot be changed."""
        if self.values.get(place) == value:
            return
        self._head = put(self._head, place, value, self._eol)
        self.values.pop(place, None)
        if value is not None:
            self.values[place] = value

    def copy(self, place: str, value: object, source: Note) -> None:
        """Write a key as it stands in another note, where it is read as `value`."""
        self._head = copy_key(self._head, place, _head_of(source.text), self._eol)
        self.values[place] = value

    def finish(self, body: str | None = None, *, is_lenient: bool = False) -> Note:
        """The note with this head, and another body if one is given. Raises BadNote unless it is
        read as just that; `is_lenient`: of a head that was broken only our own keys count."""
        if self._head == self._before and body is None:
            return self.note
        text = self.note.text
        if self._head != self._before:
            text = _between_fences(text, self._head)
        if body is not None:
            text = _with_body(text, body)
        edited, after = parse(text, self.note.head.file), split(text)[1]
        wanted_body = self.note.body if body is None else _with_eol(body, self._eol)
        values, before = frontmatter.flatten(after.fields), self._reading.problem
        is_broken = self._fences is not None and bool(before)
        keys = _OUR_PLACES if is_broken else {*values, *self.values}
        is_read = (is_lenient and bool(before)) or not (after.problem or is_broken)
        is_meant = all(values.get(key) == self.values.get(key) for key in keys)
        if edited.body != wanted_body or not is_read or not is_meant:
            raise BadNote(
                f"{self.note.head.file} is written in a way that this change would damage; nothing "
                "was changed.",
                "Make the change by hand, in an editor.",
            )
        return edited


def confirm(note: Note, source: str) -> dict[str, str | None]:
    """The changes for `edit` after which a note is unconfirmed no more: a person stands by it
    (`source` manual), or their words bear it out (extraction)."""
    changes = dict(CONFIRMED)
    keys = frontmatter.flatten(split(note.text)[1].fields)
    if {ORIGIN, f"metadata.{ORIGIN}"} & keys.keys():
        changes |= {place: None for place in (MODIFIED, f"metadata.{MODIFIED}") if place in keys}
        if keys.get("metadata.source", keys.get("source", "assistant")) == "assistant":
            changes["metadata.source"] = source
    return changes


def recite(note: Note, changes: Mapping[str, str | None], more: Sequence[str] = ()) -> Note:
    """The note with other citations in place of these (None: taken out), and `more` at the end.

    Raises BadNote where the list is written in a way that this would damage.
    """
    wanted = [changes.get(cite, cite) for cite in note.head.cites]
    cites = [*dict.fromkeys(cite for cite in (*wanted, *more) if cite)]
    if cites == [*note.head.cites]:
        return note
    edited = EditedHead(note)
    edited.put(f"metadata.{CITES}", cites or None)
    return edited.finish()


def _head_of(text: str) -> str:
    """The lines between the fences of a note's text; "" where it has none."""
    fences, _ = split(text)
    return text[fences.head : fences.closing] if fences else ""


def _check_value(place: str, value: str) -> None:
    if not _PLACE.fullmatch(place) or place == "metadata":
        raise BadNote(f"{place[:40]!r} is not a key of a note.", "Use letters, digits, - and _.")
    check_line(f"The value of `{place}`", value)


def line_end(text: str) -> str:
    """The line end most lines of the text have; "\\n" when there is none."""
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    return max(counts, key=lambda eol: counts[eol])


def _with_eol(body: str, eol: str) -> str:
    """A body as it is stored: without blank lines around it, with one kind of line end."""
    blank = _BLANK_LINES.match(body)
    return eol.join(_ANY_EOL.split(body[blank.end() if blank else 0 :].rstrip("\r\n")))


def _find_places(fields: Mapping[str, object], key: str, value: str | None) -> list[str]:
    """The place of a key: metadata keys that other tools wrote at the top level stay there."""
    bare = key.removeprefix("metadata.")
    places = [key, bare] if bare != key and bare in limits.METADATA_KEYS else [key]
    matches = [place for place in places if place in fields]
    return matches if value is None else matches[:1] or [key]


def _between_fences(text: str, head: str) -> str:
    """The text with other frontmatter; fences are added if it had none."""
    fences, _ = split(text)
    if fences:
        return text[: fences.head] + head + text[fences.closing :]
    if begins_head(text) or begins_toml(text):
        raise BadNote(
            "The text begins with `---` or `+++` as a head does, but is not read as one; a second "
            "head is not put above it.",
            "Close it by a `---` line and write it as `key: value` lines, or put a "
            "sentence above it.",
        )
    eol = line_end(text)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return f"{mark}---{eol}{head}---{eol}{eol}{text[len(mark) :]}"


def _with_body(text: str, body: str) -> str:
    eol = line_end(text)
    fences, _ = split(text)
    start, end = body_span(text, fences)
    written = _with_eol(body, eol)
    if start < end or not fences:
        return text[:start] + written + text[end:]
    # There was no body whose spacing could be kept.
    before = text[: fences.rest]
    fence_end = "" if before.endswith(("\n", "\r")) else eol
    return f"{before}{fence_end}{eol}{written}{eol}"


# One key of a head: its own lines are written anew, and no other line is touched. The callers read
# the result back and compare; nothing here is believed to be right.


def put(head: str, place: str, value: str | Sequence[str] | None, eol: str) -> str:
    """Set (None: remove) one key, such as `name` or `metadata.type`. A list stays in the form in
    which it is written; `metadata` on one line becomes a block.

    Raises BadNote for what is written in no form that can be changed.
    """
    lines, field, indent, at = _locate(head, place, eol)
    key = place.removeprefix("metadata.")
    if field is None and value is None:
        return head
    if field is None:
        lines[at:at] = [f"{indent}{key}: {render_value(key, value)}{eol}"]
    elif value is None:
        del lines[field.start : field.end]
    elif isinstance(value, str):
        comment = _find_comment(field)
        # After a plain description a comment would be read as a part of it.
        text = to_yaml(key, value, quoted=bool(comment) and key in LINE_KEYS)
        end = lines[field.start][len(lines[field.start].rstrip("\r\n")) :]
        lines[field.start : field.end] = [f"{_read_lead(field)}{text}{comment}{end}"]
    else:
        own = lines[field.start : field.end]
        lines[field.start : field.end] = _list_lines(own, field, value, eol)
    return "".join(lines)


def copy_key(head: str, place: str, source: str, eol: str) -> str:
    """`head` with the key as it stands in the `source` head; an empty one is replaced.

    Raises BadNote where it cannot be copied.
    """
    its_lines, field, from_indent, _ = _locate(source, place, eol)
    if field is None:
        raise _too_odd(place)
    lines, old, indent, at = _locate(head, place, eol)
    own = (line.removeprefix(from_indent) for line in its_lines[field.start : field.end])
    copied = [indent + line.rstrip("\r\n") + eol for line in own]
    lines[old.start if old else at : old.end if old else at] = copied
    return "".join(lines)


def _locate(head: str, place: str, eol: str) -> tuple[list[str], Field | None, str, int]:
    """All lines of a head, a key of it, and the indent and the line that a new one would have."""
    lines = frontmatter.LINES.findall(head)
    fields, key = scan(lines), place.removeprefix("metadata.")
    block = next((field for field in fields if field.key == "metadata"), None)
    if key == place:
        # New top-level keys go before the block, where a person looks for them.
        before = [field.end for field in fields if block and field.start < block.start]
        at = before[-1] if before else 0 if block else len(lines)
        return lines, next((field for field in fields if field.key == key), None), "", at
    if block is None:
        return [*lines, f"metadata:{eol}"], None, "  ", len(lines) + 1
    if block.first.startswith("{"):
        lines[block.start : block.end] = _block_lines(block, eol)
        return _locate("".join(lines), place, eol)
    if not block.is_empty:
        raise BadNote(
            "The note's `metadata` is not a list of keys.",
            f"Write it as a `metadata:` line and an indented `{key}:` line, then try again.",
        )
    indent, children = frontmatter.children_of(lines, block)
    at = children[-1].end if children else block.start + 1
    return lines, next((field for field in children if field.key == key), None), indent, at


def _block_lines(block: Field, eol: str) -> list[str]:
    """`metadata: {type: user}` as a block of keys."""
    comment = _find_comment(block)
    flow = block.value[: len(block.value) - len(comment)]
    values = frontmatter.read(f"metadata: {flow}\n").fields.get("metadata")
    if not isinstance(values, dict):
        step = "Correct it by hand, then try again."
        raise BadNote("The note's `metadata` is not valid YAML.", step)
    if re.search(r"[ \t\n]#", flow) or not all(map(OWN_KEY.fullmatch, values)):
        raise _too_odd("metadata")
    rows = [f"  {key}: {render_value(key, value)}{eol}" for key, value in values.items()]
    return [f"metadata:{comment}{eol}", *rows]


def _list_lines(own: list[str], field: Field, values: Sequence[str], eol: str) -> list[str]:
    """The lines of a list with other values: one for each, or all between brackets."""
    if field.is_empty and any(map(_ITEM.match, own[1:])):
        return [own[0], *_item_lines(own[1:], values, eol)]
    comment = _find_comment(field)
    inside = field.value[: len(field.value) - len(comment)].rstrip(" \t\r\n")
    if len(own) > 1 and re.search(r"[ \t]#", inside):
        raise _too_odd(field.key)
    row, former = join_items(values), _parse_value(inside)
    if isinstance(former, list) and former and former == [*values[: len(former)]]:
        # what is there stays as it is written
        row = inside[1:-1].rstrip(" \t\r\n,")
        row = ", ".join(filter(None, (row, join_items(values[len(former) :]))))
    return [f"{_read_lead(field)}[{row}]{comment}{eol}"]


def _item_lines(lines: Sequence[str], values: Sequence[str], eol: str) -> Iterator[str]:
    """The lines of a list that has one for each item. Comments stay, and what takes the place of
    a value has its line."""
    matches = [_ITEM.match(line) for line in lines]
    former = [_parse_value(match[2]) if match else None for match in matches]
    number, lead = 0, "  - "
    for line, match, old in zip(lines, matches, former, strict=True):
        if match is None or not isinstance(old, str):
            yield line
            continue
        lead, new = match[1], values[number] if number < len(values) else None
        if new is None or (new != old and (new in former or old in values[number:])):
            continue
        number += 1
        comment = _COMMENT.search(match[2])
        written = f"{lead}{join_items([new])}{comment[0] if comment else ''}{line[match.end() :]}"
        yield line if new == old else written
    yield from (f"{lead}{join_items([value])}{eol}" for value in values[number:])


def _parse_value(written: str) -> object:
    """What a value means as it is written, without the comment behind it; None: nothing."""
    reading = frontmatter.read(f"x: {written}\n")
    return None if reading.problem else reading.fields.get("x")


def _find_comment(field: Field) -> str:
    """The comment behind a value, with a blank before it; "" where there is none."""
    comment, is_flow = frontmatter.comment_of(field), field.value[:1] in ("[", "{")
    if not comment and is_flow and (match := _AFTER_FLOW.search(field.value)):
        return match[1]
    return f" {comment}" if comment.startswith("#") else comment


def _read_lead(field: Field) -> str:
    return field.lead if field.lead[-1] in " \t" else f"{field.lead} "


def _too_odd(key: str) -> BadNote:
    return BadNote(
        f"`{key.removeprefix('metadata.')[:40]}` is written in a way that cannot be changed.",
        "Write it as `key: value` or as `key: [one, two]` on a line of its own, by hand.",
    )
