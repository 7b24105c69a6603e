"""Writing notes: a new one from its parts, and changes to one that a person may have written.

Law: only the lines of what changes are touched; the result is read back before it is believed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mdmemory.errors import BadNote
from mdmemory.note import frontmatter, limits
from mdmemory.note.frontmatter import Reading, join_items, render_value, to_yaml
from mdmemory.note.head_changes import put
from mdmemory.note.limits import CITES, TYPES, check_body, check_description, check_line, check_name
from mdmemory.note.note import EOL, MODIFIED, ORIGIN, Note, begins_head, body_span, parse, split

# The order of keys in a machine-written metadata block.
_ORDER = (
    *("type", "kind", "source", "importance", "created", "updated", "reinforced"),
    *("last_reinforced", "session", "turn", "status", "quote", "superseded_by", "superseded"),
)
# What makes a note a confirmed one.
CONFIRMED: dict[str, str | None] = {"metadata.status": None, "metadata.quote": None}
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
    aliases: Sequence[str] = (),
    metadata: Mapping[str, str] = {},
    cites: Sequence[str] = (),
    title: str = "",
    own: Mapping[str, object] = {},
) -> str:
    """The text of a new note, without empty metadata values. Its file is called by type and name,
    so the name alone stands among the aliases, where Obsidian finds it. `own` are other keys, of a
    person. A body of "" is none: the description says it all. Raises BadNote."""
    check_name(name)
    check_description(description)
    if body:
        check_body(body)
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
    keys = [*_ORDER, *(key for key in block if key not in _ORDER)]
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
    _check_changes(set, body)
    reading = split(note.text)[1]
    wanted = frontmatter.flatten(reading.fields)
    text = note.text
    for key, value in set.items():
        for place in _find_places(wanted, key, value):
            if wanted.get(place) == value:
                continue
            text = _between_fences(text, put(head_of(text), place, value, line_end(text)))
            wanted.pop(place, None)
            if value is not None:
                wanted[place] = value
    if body is not None:
        text = _with_body(text, body)
    edited = parse(text, file)
    wanted_body = note.body if body is None else _with_eol(body, line_end(note.text))
    if edited.body != wanted_body or not _reads_as(split(text)[1], wanted, reading):
        raise _refuse_damage(file)
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
    place, fields = f"metadata.{CITES}", frontmatter.flatten(split(note.text)[1].fields)
    fields.pop(place, None)
    head = put(head_of(note.text), place, cites or None, line_end(note.text))
    return with_head(note, head, fields | ({place: cites} if cites else {}))


def head_of(text: str) -> str:
    """The lines between the fences of a note's text; "" where it has none."""
    fences, _ = split(text)
    return text[fences.head : fences.closing] if fences else ""


def with_head(note: Note, head: str, wanted: Mapping[str, object]) -> Note:
    """The note with other lines between its fences; `wanted` is what they must be read as, keys
    under `metadata` by their dotted place. Raises BadNote where they are not."""
    edited = parse(_between_fences(note.text, head), note.head.file)
    fences, before = split(note.text)
    after = split(edited.text)[1]
    is_broken = fences is not None and bool(before.problem)
    if (
        is_broken
        or after.problem
        or edited.body != note.body
        or frontmatter.flatten(after.fields) != wanted
    ):
        raise _refuse_damage(note.head.file)
    return edited


def _refuse_damage(file: str) -> BadNote:
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
    if begins_head(text):
        raise BadNote(
            "The text begins with `---` as a head does, but is not read as one; a second head is "
            "not put above it.",
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


def _reads_as(after: Reading, wanted: Mapping[str, object], before: Reading) -> bool:
    """Whether exactly the wanted keys changed; in broken frontmatter only known keys count."""
    if after.problem and not before.problem:
        return False
    values = frontmatter.flatten(after.fields)
    if not before.problem:
        return values == wanted
    known = [
        *limits.TOP_KEYS,
        *limits.METADATA_KEYS,
        *(f"metadata.{k}" for k in limits.METADATA_KEYS),
    ]
    return all(values.get(key) == wanted.get(key) for key in known)
