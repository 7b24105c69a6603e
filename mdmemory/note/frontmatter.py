"""The frontmatter of a note: the YAML lines between two `---` fences. It is not trusted.

Law: strict about danger (size, anchors, tags, depth, duplicate keys), lenient about form: a scalar
stays the string that was written, and a head that YAML refuses is read line by line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mdmemory.expressions import lazy
from mdmemory.note.limits import ALIASES, CITES, LINE_KEYS, TOP_KEYS
from mdmemory.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What YAML calls not printable, and line ends; everything else may stand in a value unescaped.
NOT_PRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
# A character that can open a plain scalar without a meaning of its own in YAML. Named by what it
# is not: to compile a set takes as long as it has members, and this one has few.
_FIRST = rf"""[^{NOT_PRINTABLE}\xa0 !"#%&')*,\-:;<=>?@\[\\\]^`{{|}}]"""
_PLAIN_RUN = rf"[^{NOT_PRINTABLE}:#]*+"
# `)*` and not `)*+`: Python before 3.11.4 fails on a possessive group that matches nothing
PLAIN = rf"{_FIRST}{_PLAIN_RUN}(?:(?::(?![ \n]|\Z)|(?<! )#){_PLAIN_RUN})*(?<! )"
_PLAIN_SCALAR = lazy(PLAIN)
_MUST_ESCAPE = lazy(rf'[{NOT_PRINTABLE}"\\]')
# What YAML 1.1 readers take for a boolean, a null, a number or a date.
_NOT_TEXT = lazy(r"(?i)~|y|n|yes|no|on|off|true|false|null|0x[\da-f_]+|[+-]?[.\d][\d_.:eotz +-]*")
_LINE = lazy(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")
_FIELD = lazy(
    r"""(?P<indent>[ \t]*)(?P<key>"[^"\r\n]*"[ \t]*|'[^'\r\n]*'[ \t]*"""
    r"""|[^\s"'#\-\[\]{},&*!|>%@`?:][^:#\r\n]*):(?=[ \t\r\n]|\Z)[ \t]*"""
)
BLOCK_SCALAR = lazy(r"[|>][-+0-9]{0,2}(?=[ \t]*(?:[\r\n]|\Z)|[ \t]+#)")
_AFTER_QUOTES = lazy(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[|>][-+0-9]{0,2})([ \t]+#[^\r\n]*)""", re.DOTALL
)
_AFTER_PLAIN = lazy(r"(?:\A|(?<![ \t])[ \t]+)#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Field:
    """One key as lines: `lead` is the text before the value, `value` the rest of its lines."""

    key: str
    start: int
    end: int  # without the blank and comment lines that follow
    stop: int  # where the next key begins
    lead: str
    value: str

    @property
    def first(self) -> str:
        """The first line of the value."""
        return strip(re.split(r"[\r\n]", self.value, maxsplit=1)[0])

    @property
    def is_empty(self) -> bool:
        """Whether the key's own line has no value (a comment at most)."""
        return self.first[:1] in ("", "#")


def lines_of(head: str) -> list[str]:
    """The lines of the frontmatter, each with its line end."""
    return _LINE.findall(head)


def strip(text: str) -> str:
    """Without the blanks and line ends around it."""
    return text.strip(" \t\r\n")


def scan(lines: list[str], indent: str = "", first: int = 0, stop: int = -1) -> list[Field]:
    """The keys at exactly this indent; deeper lines belong to the key above them."""
    stop = len(lines) if stop < 0 else stop
    starts = [
        (number, match)
        for number in range(first, stop)
        if (match := _FIELD.match(lines[number])) and match["indent"] == indent
    ]
    ends = iter([*(number for number, _ in starts[1:]), stop])
    return [_field(lines, number, next(ends), match) for number, match in starts]


def _field(lines: list[str], start: int, stop: int, match: re.Match[str]) -> Field:
    first = lines[start][match.end() :]
    depth = len(match["indent"])
    end = start + 1
    while end < stop and _continues(lines[end], depth, strip(first)[:1] in ("", "#")):
        end += 1
    is_block = bool(BLOCK_SCALAR.match(first))
    while end > start + 1 and _is_gap(lines[end - 1], depth if is_block else -1):
        end -= 1
    value = "".join([first, *lines[start + 1 : end]]).rstrip("\r\n")
    return Field(match["key"].strip(" \t\"'"), start, end, stop, lines[start][: match.end()], value)


def _continues(line: str, depth: int, is_empty: bool) -> bool:
    """Whether a line belongs to the value above it; a list may have its key's indent."""
    text = line.lstrip(" \t")
    deep = len(line) - len(text)
    is_item = is_empty and deep == depth and text.startswith("-")
    return deep > depth or is_item or _is_gap(line, -1)


def _is_gap(line: str, block_indent: int) -> bool:
    """A blank or comment line; inside a block scalar a deeper `#` line is text."""
    text = line.lstrip(" \t")
    if not strip(text):
        return True
    return text.startswith("#") and (block_indent < 0 or len(line) - len(text) <= block_indent)


def children_of(lines: list[str], block: Field) -> tuple[str, list[Field]]:
    """The indent and the keys of a block mapping; two spaces and none when it is empty."""
    for number in range(block.start + 1, block.stop):
        if not _is_gap(lines[number], -1):
            indent = lines[number][: len(lines[number]) - len(lines[number].lstrip(" \t"))]
            if indent:
                return indent, scan(lines, indent, block.start + 1, block.stop)
            break
    return "  ", []


def comment_of(field: Field) -> str:
    """The comment after a value, with the blanks before it; "" if it may be text."""
    if field.value[:1] in ('"', "'", "|", ">"):
        match = _AFTER_QUOTES.match(field.value)
        return match[1] if match else ""
    match = _AFTER_PLAIN.search(field.value)
    if not match or match.end() < len(field.value) or field.value[:1] in ("[", "{"):
        return ""
    return "" if field.key in LINE_KEYS else match[0]


def scalar(key: str, value: str, *, quoted: bool = False) -> str:
    """A value as YAML that reads back the same: plain if that is safe, else double-quoted."""
    is_plain = not quoted and _PLAIN_SCALAR.fullmatch(value)
    if is_plain and not (key in TOP_KEYS and _NOT_TEXT.fullmatch(value)):
        return value
    return f'"{_MUST_ESCAPE.sub(_escape, value)}"'


_PLAIN_ITEM = r"[0-9A-Za-z_][0-9A-Za-z_./+-]*+"


def items(values: Iterable[str]) -> str:
    """Values as they stand between the brackets of a list on one line."""
    return ", ".join(map(_item, values))


def _item(value: str) -> str:
    is_plain = re.fullmatch(_PLAIN_ITEM, value) and not _NOT_TEXT.fullmatch(value)
    return value if is_plain else scalar("", value, quoted=True)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return f"\\{char}" if char in '"\\' else f"\\u{ord(char):04X}"


MAX_HEAD = 16 * 1024  # bytes; far over any head a person writes, small enough for any YAML parser
MAX_DEPTH = 4

_QUOTED_RUN = rf'[^{NOT_PRINTABLE}"\\]*+'
_QUOTED = rf'"{_QUOTED_RUN}(?:\\["\\]{_QUOTED_RUN})*"'
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"

_LISTED = rf"(?:{_PLAIN_ITEM}|{_QUOTED})"
_LIST = rf"\[({_LISTED}(?:, {_LISTED})*+)\]"
_PAIR = lazy(rf"^(  )?({_KEY}):(?: ({PLAIN})| ({_QUOTED})| {_LIST})?\n", re.MULTILINE)
_ITEMS = lazy(_LISTED)
_ESCAPED = lazy(r"\\([\"\\])")


@dataclass(frozen=True, slots=True)
class Reading:
    """The keys as read (strings, or nested YAML); `problem` is why YAML could not read them."""

    fields: Mapping[str, object]
    problem: str = ""


class _RefusedError(Exception):
    """The frontmatter is not safe or valid YAML; the message is a sentence for the reader."""


def read(head: str) -> Reading:
    """Read the text between the fences; never raises."""
    if len(head) * 4 > MAX_HEAD and len(head.encode("utf-8", "surrogatepass")) > MAX_HEAD:
        return Reading(_by_line(head[:MAX_HEAD]), "The head is larger than 16 KiB.")
    fields = fast(head)
    if fields is not None:
        return Reading(fields)
    try:
        return Reading(_as_written(head, strict(head)))
    except _RefusedError as refused:
        return Reading(_by_line(head), str(refused))


def fast(head: str) -> dict[str, object] | None:
    """A flat, machine-written head without a YAML parser (which costs 30 times as much).

    Takes only what YAML's base loader provably reads the same; None for anything else.
    """
    if "\r" in head:
        head = head.replace("\r\n", "\n")
    pairs = _PAIR.findall(head)
    if len(pairs) != head.count("\n") or not pairs or head[-1] != "\n":
        return None
    top: dict[str, object] = {}
    block: dict[str, object] | None = None
    for indent, key, plain, quoted, listed in pairs:
        into = block if indent else top
        if into is None or key in into:
            return None
        if plain or quoted:
            into[key] = plain or _unquoted(quoted)
            if not indent:
                block = None
        elif listed and key == (CITES if indent else ALIASES):
            into[key] = [_bare(item) for item in _ITEMS.findall(listed)]
            if not indent:
                block = None
        elif indent or key not in ("metadata", ALIASES):
            return None
        elif key == "metadata" and not listed:
            block = top[key] = {}
        else:
            return None
    # YAML reads an empty block as an empty string.
    return None if top.get("metadata") == {} else top


def _bare(item: str) -> str:
    return _unquoted(item) if item.startswith('"') else item


def _unquoted(quoted: str) -> str:
    inner = quoted[1:-1]
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def strict(head: str) -> dict[str, object]:
    """A head as YAML reads it, every scalar a string; raises _RefusedError."""
    # Loaded here: most notes never need a YAML parser, and loading it costs start-up time.
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    ours = loader()
    try:
        _refuse_danger(yaml.parse(head, Loader=ours))
        fields = YAMLHandler().load(head, Loader=ours)
    except yaml.MarkedYAMLError as error:
        raise _RefusedError(_sentence(error)) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise _RefusedError("The head holds characters that YAML does not allow.") from error
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise _RefusedError("The head is not made of `key: value` lines.")
    return fields


def loader() -> Any:
    """YAML's base loader, in C where there is one: every scalar stays a string."""
    import yaml

    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _sentence(error: Any) -> str:
    mark = error.problem_mark or error.context_mark
    # Marks count from 0, and the opening fence is the first line of the file.
    where = f", line {mark.line + 2} of the file" if mark else ""
    return f"The head is not valid YAML ({error.problem or error.context}{where})."


def _refuse_danger(events: Iterator[Any]) -> None:
    """Refuse anchors, aliases, tags, deep nesting and duplicate keys before building values."""
    import yaml

    open_keys: list[set[str] | None] = []  # one per open collection; None for a sequence
    at_key: list[bool] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            open_keys.pop()
            at_key.pop()
        elif isinstance(event, yaml.NodeEvent):
            _refuse_node(event)
            if open_keys and (keys := open_keys[-1]) is not None:
                if at_key[-1] and isinstance(event, yaml.ScalarEvent):
                    if event.value in keys:
                        twice = event.value[:40]
                        raise _RefusedError(f"The key `{twice}` stands twice in the head.")
                    keys.add(event.value)
                at_key[-1] = not at_key[-1]
            if isinstance(event, yaml.CollectionStartEvent):
                open_keys.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
                at_key.append(True)
        if len(open_keys) > MAX_DEPTH:
            raise _RefusedError(f"The head is nested deeper than {MAX_DEPTH} levels.")


def _refuse_node(event: Any) -> None:
    if event.anchor is not None:
        raise _RefusedError("The head uses YAML anchors or aliases.")
    if event.tag is not None:
        raise _RefusedError("The head uses YAML tags.")


def _by_line(head: str) -> dict[str, object]:
    """A lenient reading of frontmatter that YAML refuses; the first of two equal keys counts."""
    lines = lines_of(head)
    fields: dict[str, object] = {}
    for field in scan(lines):
        if field.key == "metadata" and field.is_empty:
            children = children_of(lines, field)[1]
            meta = {
                child.key: _loose_list(lines, child) if child.key == CITES else _loose(child)
                for child in reversed(children)
            }
            fields.setdefault("metadata", meta or _loose(field))
        elif field.key == "metadata" and field.first.startswith("{"):
            fields.setdefault("metadata", _loose_flow(field.value))
        elif field.key == ALIASES:
            fields.setdefault(ALIASES, _loose_list(lines, field))
        else:
            fields.setdefault(field.key, _loose(field))
    return fields


def _loose_flow(flow: str) -> object:
    try:
        return strict(flow)
    except _RefusedError:
        return flow


def _loose_list(lines: Sequence[str], field: Field) -> object:
    """A list in a head that YAML refuses elsewhere: its own lines may be fine."""
    try:
        return strict("".join(lines[field.start : field.end])).get(field.key, "")
    except _RefusedError:
        return _loose(field)


def _loose(field: Field) -> str:
    """A value read without YAML: quotes taken off, lines folded into one, comment cut."""
    text = strip(field.value)
    if block := BLOCK_SCALAR.match(text):
        text = re.split(r"[\r\n]", text[block.end() :], maxsplit=1)[-1] if "\n" in text else ""
        return " ".join(text.split())
    if comment := comment_of(field):
        text = strip(text[: len(text) - len(comment)])
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            inner = str(json.loads(text, strict=False))
            inner.encode()  # half a surrogate pair could never be written anywhere
            return inner
        except ValueError:
            return text[1:-1]
    return " ".join(re.split(r"[ \t]*[\r\n]+[ \t]*", text))


def _as_written(head: str, fields: dict[str, object]) -> dict[str, object]:
    """Restore the whole line of prose keys where YAML saw a comment (`C# is #1`) or a list."""
    if not any(key in fields for key in LINE_KEYS):
        return fields
    for field in scan(lines_of(head)):
        value, line = fields.get(field.key), field.first
        if field.key not in LINE_KEYS or field.end > field.start + 1:
            continue
        if isinstance(value, str):
            is_cut = line[:1] not in ('"', "'", "|", ">") and line.startswith(value)
            if is_cut and line[len(value) :].lstrip(" \t").startswith("#"):
                fields[field.key] = line
        elif line[:1] in ("[", "{"):
            fields[field.key] = line
    return fields


def flat(fields: Mapping[str, object]) -> dict[str, object]:
    """Keys under `metadata` by their dotted place, such as `metadata.type`."""
    found = {key: value for key, value in fields.items() if key != "metadata"}
    block = fields.get("metadata", "")
    if isinstance(block, dict):
        found.update({f"metadata.{key}": value for key, value in block.items()})
    elif block != "":
        found["metadata"] = block
    return found
