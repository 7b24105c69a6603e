"""The one memory of a session: its sections, and which of them are on. Pure.

Blocks are texts of the assistant; files and errors come from tools; slots are short lists, of
which the pool holds mentions, each for 40 events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mdmemory.files import digest

# The most characters of each block, in the order of the prompt.
BLOCKS = {"goal": 1_000, "progress": 2_000, "context": 1_500}


@dataclass(frozen=True, slots=True)
class Slot:
    """A short list: the entries that it holds, how many of them the prompt shows, and the
    characters of one."""

    holds: int
    shown: int = 3
    longest: int = 200


FILES, ERRORS, CANDIDATES, POOL = "files", "errors", "candidates", "pool"
SLOTS: dict[str, Slot] = {
    "decisions": Slot(8, 8, 260), "todos": Slot(3), "dependencies": Slot(3),
    CANDIDATES: Slot(12, 6, 260), POOL: Slot(20, 10),
}  # fmt: skip
HOLDS = {FILES: 20, ERRORS: 5}
SHOWN = {FILES: 8, ERRORS: 3}
NOTED = "noted"  # the category of an error that no command reported
LASTS = 40  # events that a mention stays in the pool
# What a file's best action says about its part in the work.
ACTIONS = {"edit": 50, "write": 45, "grep": 30, "read": 20}
EACH_USE = 3  # rank = weight + 3 x count


@dataclass(frozen=True, slots=True)
class File:
    """A file of the work; `turn` is the event of its last use."""

    path: str
    action: str
    count: int
    turn: int

    @property
    def rank(self) -> int:
        """The sort key; the highest comes first."""
        return ACTIONS.get(self.action, 0) + EACH_USE * self.count


@dataclass(frozen=True, slots=True)
class Error:
    """An error: a `summary` in at most 280 clean characters, and the files that it names; `status`
    is open, or maybe_fixed after an edit of one of these. `source` tells its command from others,
    whose next failure replaces it; `closed_by` the success that ends it, by default one of its
    category."""

    category: str
    summary: str
    fingerprint: str
    source: str
    files: list[str]
    status: str
    turn: int
    closed_by: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a slot, and the event of its last mention. `is_candidate`: somebody said it in a
    message, so that it may become a note."""

    text: str
    at: int
    is_candidate: bool = False


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One line of a list as it is shown, and the text that names it there."""

    section: str
    shown: str
    text: str

    @property
    def id(self) -> str:
        """The same text in the same section has the same id."""
        text = f"{self.section}\n{self.text}".encode("utf-8", "replace")
        return "w-" + digest(text)[:6]


@dataclass
class Sections:
    """The memory of a session; `event` counts its messages and uses of tools. Lists have the
    newest entry last, files the highest rank first."""

    event: int = 0
    blocks: dict[str, str] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    slots: dict[str, list[Item]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The memory as a JSON object."""
        return asdict(self)

    def said(self, slot: str) -> list[str]:
        """The entries of a slot that may become notes, the oldest first."""
        return [each.text for each in self.slots.get(slot, ()) if each.is_candidate]


def sections_of(document: Mapping[str, Any] | None) -> Sections:
    """The memory in a document of `Sections.document`; an empty one for another form."""
    try:
        parts = dict(document or {})
        slots, blocks = dict(parts.get("slots", {})), dict(parts.get("blocks", {}))
        return Sections(
            int(parts.get("event", 0)),
            {name: str(blocks[name]) for name in BLOCKS if blocks.get(name)},
            [File(**each) for each in parts.get(FILES, ())],
            [Error(**each) for each in parts.get(ERRORS, ())],
            {
                # items of earlier versions have a score, too
                name: [Item(each["text"], each["at"], each["is_candidate"]) for each in slots[name]]
                for name in SLOTS if slots.get(name)
            },
        )  # fmt: skip
    except (LookupError, TypeError, ValueError, AttributeError):
        return Sections()


def names() -> tuple[str, ...]:
    """The sections, in the order of the prompt."""
    return (*BLOCKS, ERRORS, FILES, *SLOTS)


# --- what is shown


def entries(memory: Sections) -> list[SessionEntry]:
    """The lists as lines, by section: slots and errors from the newest to the oldest, files from
    the strongest to the weakest. What says the same stands once."""
    rows: dict[str, SessionEntry] = {}
    for each in _rows(memory):
        text = re.sub(r":\d+$", "", each.text) if each.section == POOL else each.text
        rows.setdefault(key(text), each)  # of a place in a file without its line
    return [*rows.values()]


def is_same(one: str, other: str) -> bool:
    """Whether two entries say the same: but for capitals, the end's marks, the words that open a
    decision, and an end that was cut off."""
    mine, theirs = key(one), key(other)
    is_cut = one.endswith("…") and mine and theirs.startswith(mine)
    other_is_cut = other.endswith("…") and theirs and mine.startswith(theirs)
    return mine == theirs or bool(is_cut or other_is_cut)


def fingerprint(summary: str) -> str:
    """12 hex digits of a summary's sha256."""
    return digest(summary)[:12]


_OPENS = re.compile(
    r"(?:let'?s|(?:we|i)(?:'ve| have)? (?:decided|agreed) (?:to|on|that))\s", re.IGNORECASE
)


def key(text: str) -> str:
    """What two entries that say the same have in common."""
    text = text.strip()
    opening = _OPENS.match(text)
    return (text[opening.end() :] if opening else text).rstrip(" .!。！…").casefold()


def _rows(memory: Sections) -> Iterator[SessionEntry]:
    for error in reversed(memory.errors):
        mark = error.category + ", maybe fixed" * (error.status == "maybe_fixed")
        before = "" if mark == NOTED else f"[{mark}] "
        yield SessionEntry(ERRORS, f"{before}{error.summary}", error.summary)
    for file in memory.files:
        yield SessionEntry(FILES, f"{file.path} ({file.action}, {file.count}x)", file.path)
    for name in SLOTS:
        for item in reversed(memory.slots.get(name, ())):
            yield SessionEntry(name, item.text, item.text)
