"""The note: one fact as markdown text with frontmatter, as immutable values.

Law: `parse` never raises, `render(parse(text, file)) == text`, and `edit` changes only the lines
it was asked to change. Nothing here knows about paths, git or the clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from mdmemory.errors import BadNote
from mdmemory.note import limits
from mdmemory.note.limits import MAX_DESCRIPTION, TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.note.frontmatter import Reading


# Days after which a note is to be verified: those of the published design with this mark. What a
# person is and wants has no end.
STALE_AFTER = {"decision": 45, "project": 60, "reference": 90}
# The keys by which Claude Code says that it wrote a note, in which session, and when it last did.
# It writes the whole head anew, and puts under `metadata` what stood beside it.
ORIGIN, MODIFIED = "originSessionId", "modified"
UNREADABLE = "unreadable"  # the status of a file that is no text
SUPERSEDED = "superseded"  # the status of a note that a newer one replaced
BY_A_PERSON = ("explicit", "manual")  # sources: asked for in so many words, or written by hand
NO_HEAD = "There is no head: put `name:`, `description:` and `type:` above, between `---` lines."
TOML_HEAD = NO_HEAD.replace("There is no head", "The head is TOML, which is not read")
ODD_HEAD = "The lines between `---` and `---` are not a head: write them as `key: value`."
# or it is not written to its end yet
UNCLOSED = "The head is opened by `---` and never closed: put a `---` line below it."
EMPTY = "It is empty: write into it, or remove it."
ZEROS = "It holds zero bytes, as a power cut leaves them: restore an older text, or take them out."

MERGING = "It holds an open merge: keep the text that is right, and take out the marks of git."

EXPIRES = "expires"  # a person's own key: the last day on which the note holds
_IN_METADATA = frozenset((*limits.METADATA_KEYS, EXPIRES))
_AT_TOP = _IN_METADATA.union(limits.TOP_KEYS)
_BESIDE = frozenset(("title",))

EOL = r"(?:\r\n|[\r\n])"
_OPENING = re.compile(rf"\ufeff?(?:[ \t]*{EOL})*+---[ \t]*{EOL}")
_CLOSING = re.compile(rf"[\r\n](?:---|\.\.\.)[ \t]*(?:{EOL}|\Z)")
_BLANK_LINE = re.compile(rf"[ \t]*{EOL}")
_TEXT_LINE = r"\S[^\r\n]*"
_HEADING_MARKS = r"\A(?:#{1,6}|[-*+•])[ \t]+"
# Lines that say nothing of a note: rules, fences, comments, tags, properties, the rule of a table.
_NO_WORDS = (
    r"---|\+\+\+|(?:```|~~~).*|<!--[^>]*-->"
    r"|#[^\s#]\S*(?:[ \t]+#[^\s#]\S*)*|[\w-]+::.*|[|:\s-]+|[\[\]{}]"
)
_TOML_HEAD = r"(?s)\ufeff?\s*\+\+\+[ \t]*\r?\n(?:.*?\n\+\+\+[ \t]*(?=[\r\n]|\Z))?"


class Head(NamedTuple):
    """The parsed frontmatter of a note; dates are `YYYY-MM-DD`, as written."""

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
    quote: str = ""  # the words that an unconfirmed note is said to stand on
    superseded_by: str = ""  # the name of the note that replaced it
    superseded: str = ""  # the day on which that was said
    expires: str = ""  # the last day on which it holds
    secrets: str = ""
    title: str = ""
    aliases: tuple[str, ...] = ()  # other names, as written, without blanks around them
    cites: tuple[str, ...] = ()  # citations as written: see citing.citation
    problems: tuple[str, ...] = ()  # sentences for `doctor`; empty when the file is well-formed


class Note(NamedTuple):
    """A file's text, its frontmatter, and its body without the blank line before it and the last
    line end (line ends as in the file)."""

    text: str
    head: Head
    body: str


class _Fences(NamedTuple):
    """Offsets in the text: the frontmatter, the closing fence, and the rest."""

    head: int
    closing: int
    rest: int


def parse(text: str, file: str) -> Note:
    """The note in a file's text. Never raises: `head.problems` lists what is wrong."""
    if not text.strip("\ufeff \t\r\n"):
        return Note(text, Head(file, *_from_stem(file), problems=(EMPTY,)), "")
    fences, reading = split(text)
    start, end = body_span(text, fences)
    body = text[start:end]
    return Note(text, _make_head(file, reading, body, text), body)


def to_verify(head: Head, today: str) -> int:
    """The days since a note was last written or said again, where they are so many that it should
    be verified before it is relied on; else 0. `today` is `YYYY-MM-DD`."""
    kind = "decision" if (head.type, head.kind) == ("project", "decision") else head.type
    dates = []
    for text in (head.created, head.updated, head.last_reinforced):
        with suppress(ValueError):
            dates.append(date.fromisoformat(text))
    if kind not in STALE_AFTER or not dates:
        return 0
    days = (date.fromisoformat(today) - max(dates)).days
    return days if days >= STALE_AFTER[kind] else 0


def headline(head: Head, *, gone: bool = False) -> str:
    """What commits and messages call the fact of a note: its description. For a note that is gone,
    is about the person, or may hold a secret, its name."""
    if gone or head.type == "user" or head.secrets == "allowed":
        return head.name
    return " ".join(head.description.split()) or head.name


def list_standing(head: Head) -> dict[str, str]:
    """What else than its text a change of the note is judged by, as far as it stands there: its
    `kind`, its `importance`, and its `source` where that is a person."""
    source = head.source if head.source in BY_A_PERSON else ""
    words = {"kind": head.kind, "source": source, "importance": head.importance}
    return {key: word for key, word in words.items() if word}


def make_unreadable(file: str, problem: str) -> Note:
    """A placeholder for a file that is not text; `edit` refuses it."""
    return Note("", Head(file, *_from_stem(file), status=UNREADABLE, problems=(problem,)), "")


def read_fields(note: Note) -> Mapping[str, object]:
    """All keys and values of the frontmatter, as written: strings, and nested YAML."""
    return split(note.text)[1].fields


def decode(data: bytes) -> str:
    """A file's bytes as text, with its line ends and BOM. Raises BadNote unless it is UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        odd = f"The file is not UTF-8 text (byte {error.start + 1})."
        raise BadNote(odd, "Save it as UTF-8.") from error


def split(text: str) -> tuple[_Fences | None, Reading]:
    """The place and content of the frontmatter; no fences if the whole text is the body. A second
    head right below it, as other programs put one above a note's own, fills what the first lacks.
    """
    fences, reading = _opened_at(text, 0)
    second, below = _opened_at(text, fences.rest) if fences else (None, reading)
    is_head = not below.problem and not below.fields.keys().isdisjoint(limits.TOP_KEYS)
    if fences is None or second is None or not is_head:
        return fences, reading
    fields = {**below.fields, **reading.fields}
    more, block = below.fields.get("metadata"), reading.fields.get("metadata")
    if isinstance(more, dict) and isinstance(block, dict):
        fields["metadata"] = {**more, **block}
    return fences._replace(rest=second.rest), reading._replace(fields=fields)


def _opened_at(text: str, start: int) -> tuple[_Fences | None, Reading]:
    """The head that begins at a place of the text, after blank lines at most."""
    # its patterns take 15 ms to compile, and a listing reads no head
    from mdmemory.note import frontmatter

    opening = _OPENING.match(text, start)
    if not opening:
        is_toml = start == 0 and begins_toml(text)
        return None, frontmatter.Reading({}, TOML_HEAD if is_toml else NO_HEAD)
    # The line end of the opening fence may be the one before the closing fence.
    closing = _CLOSING.search(text, opening.end() - 1)
    if not closing:
        return None, frontmatter.Reading({}, UNCLOSED)
    head = (opening.end(), closing.start() + 1)
    reading = frontmatter.read(text[slice(*head)])
    if reading.problem and not limits.KNOWN_KEYS & reading.fields.keys():
        return None, frontmatter.Reading({}, ODD_HEAD)
    return _Fences(*head, closing.end()), reading


def begins_head(text: str) -> bool:
    """Whether a text begins as a head does, after blank lines at most: by a `---` line."""
    return _OPENING.match(text) is not None


def begins_toml(text: str) -> bool:
    """Whether a text begins with a head in TOML, by a `+++` line."""
    return re.match(_TOML_HEAD, text) is not None


def body_span(text: str, fences: _Fences | None) -> tuple[int, int]:
    if fences is None:
        start = 1 if text.startswith("\ufeff") else 0
    else:
        blank = _BLANK_LINE.match(text, fences.rest)
        start = blank.end() if blank else fences.rest
    last = 2 if text.endswith("\r\n") else text.endswith(("\n", "\r"))  # the line end
    return start, max(start, len(text) - last)


def _from_stem(file: str) -> tuple[str, str, str]:
    """Name, description and type for a file without them."""
    stem = file.rpartition("/")[2].removesuffix(".md")
    kind, _, rest = stem.partition("-")
    return (rest if kind in TYPES and rest else stem), "", "reference"


def _make_head(file: str, reading: Reading, body: str, text: str) -> Head:
    problems = [reading.problem] if reading.problem else []
    missing: list[str] = []
    # Other tools write metadata keys at the top level: those count where metadata lacks them.
    values = _pick(reading.fields, _AT_TOP, problems)
    written = reading.fields.get("metadata")
    block: Mapping[str, object] = written if isinstance(written, dict) else {}
    if written is None and reading.fields:
        problems.append("There is no `metadata` block: put one around the keys of ours.")
    elif written and not isinstance(written, dict):
        problems.append("`metadata` is not a block of keys: indent them below it.")
    values = _pick(block, _BESIDE, problems) | values | _pick(block, _IN_METADATA, problems)
    if "name" not in values:
        missing.append("There is no `name:`, so the file's name is used: write one.")
        values["name"] = _from_stem(file)[0]
    values["description"] = _read_description(values.get("description", ""), body, missing)
    if "\0" in text or "\0" in values["description"]:
        problems.insert(0, ZEROS)
    if "<<<<<<< " in text and re.search(limits.CONFLICT_MARKER, text):
        problems.append(MERGING)
    if "type" not in values:
        missing.append("There is no `type:`, so it counts as `reference`: write one.")
        values["type"] = "reference"
    if reading.fields:  # of a note without a head nothing is missed one by one
        problems += missing
    origin = block.get(ORIGIN, reading.fields.get(ORIGIN))
    if isinstance(origin, str):
        # one that a model wrote, or changed after a person stood by it, is unconfirmed
        if MODIFIED in block or MODIFIED in reading.fields:
            values["source"] = "assistant"
        if values.setdefault("source", "assistant") == "assistant":
            values.setdefault("status", "unconfirmed")
        values.setdefault("session", origin)
    if "reinforced" in values:
        count = values["reinforced"]
        is_count = count.isascii() and count.isdigit() and len(count) < 10
        values["reinforced"] = int(count) if is_count else 0
        if not is_count:
            problems.append("`reinforced` is not a whole number and counts as 0: write one.")
    aliases: list[str] = []
    # few notes have another name; one text may have commas between them
    for each in filter(None, (reading.fields.get(limits.ALIASES), block.get(limits.ALIASES))):
        listed = each.split(",") if isinstance(each, str) else each
        names = _read_list(listed, "`aliases` is not a list of names: write one.", problems)
        aliases += [" ".join(name.split()) for name in names]
    cites = block.get(limits.CITES) or []
    cites = [cites] if isinstance(cites, str) else cites
    odd = "`cites` is not a list of places in the project: write one."
    return Head(
        file=file,
        aliases=tuple(dict.fromkeys(filter(None, aliases))),
        cites=tuple(dict.fromkeys(filter(None, map(str.strip, _read_list(cites, odd, problems))))),
        problems=tuple(problems),
        **values,
    )


def _read_list(listed: object, odd: str, problems: list[str]) -> list[str]:
    """A list of texts; what is none is `odd`, which is a problem."""
    if isinstance(listed, list) and all(isinstance(each, str) for each in listed):
        return listed
    problems.append(odd)
    return []


def _pick(
    fields: Mapping[str, object], known: frozenset[str], problems: list[str]
) -> dict[str, Any]:
    """The known keys with a text value, as a dictionary of Head's field names."""
    values: dict[str, Any] = {}
    for key, value in fields.items():
        if key in known and isinstance(value, str):
            values |= {key: value} if value else {}
        elif key in known:
            problems.append(f"`{key}` is not a single value: write one.")
    return values


def _read_description(written: str, body: str, problems: list[str]) -> str:
    if not written:
        problems.append("There is no `description:`, so the first line is used: write one.")
        return _first_line(body)
    if len(written.splitlines()) > 1:
        written = " ".join(written.split())
    if len(written) > MAX_DESCRIPTION:
        size = f"{len(written)} characters"
        problems.append(f"The description has {size}: cut it to {MAX_DESCRIPTION}.")
    return written


def _first_line(body: str) -> str:
    toml = re.match(_TOML_HEAD, body)
    text = body[toml.end() :] if toml else body
    lines = (match[0].rstrip() for match in re.finditer(_TEXT_LINE, text))
    first = ""
    for line in lines:
        if not re.fullmatch(_NO_WORDS, line):
            return re.sub(_HEADING_MARKS, "", line, count=1)[:MAX_DESCRIPTION].rstrip()
        first = first or line
    return "" if first == "---" else first[:MAX_DESCRIPTION]
