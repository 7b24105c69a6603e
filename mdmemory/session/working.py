"""Working memory: a few slots, first in first out, and a pool of mentions that fade. Pure.

A mention adds 1 to an entry's score, and each event after it takes 15 % away: score x 0.85^events.
So a score is at most 1 / 0.15 = 6.7, and nothing outlives 41 events without a mention.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mdmemory.errors import NotFound, UsageError
from mdmemory.session.cleaning import fits, line, visible


@dataclass(frozen=True, slots=True)
class Slot:
    """The most entries of a slot, and its sign in the prompt."""

    holds: int
    icon: str


SLOTS: dict[str, Slot] = {
    "error": Slot(3, "⚠"),
    "decision": Slot(5, "✓"),
    "todo": Slot(3, "☐"),
    "dependency": Slot(3, "⛓"),
}
POOL = "pool"
POOL_HOLDS = 50
POOL_SHOWN = 10
FADING = 0.85  # what is left of a score after one event
GONE = 0.01  # a score under which an entry is dropped
BUDGET = 1_600  # characters of the block
MAX_ITEM = 200


@dataclass(frozen=True, slots=True)
class Item:
    """An entry, its last mention (the event `at`), and its score then."""

    text: str
    at: int
    score: float = 1.0

    def score_at(self, event: int) -> float:
        """The score, faded until `event`."""
        return self.score * FADING ** max(0, event - self.at)


@dataclass
class Working:
    """Entries by slot, the newest last, and the pool; `event` counts the session's events."""

    event: int = 0
    slots: dict[str, list[Item]] = field(default_factory=dict)
    pool: list[Item] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The memory as a JSON object."""
        return asdict(self)


def working_of(document: Mapping[str, Any] | None) -> Working:
    """The memory in a document; an empty memory for a document of another form."""
    try:
        parts = dict(document or {})
        slots = dict(parts.get("slots", {}))
        return Working(
            int(parts.get("event", 0)),
            {name: [Item(**each) for each in slots[name]] for name in SLOTS if slots.get(name)},
            [Item(**each) for each in parts.get("pool", ())],
        )
    except (TypeError, ValueError, AttributeError):
        return Working()


def id_of(place: str, text: str) -> str:
    """The id of an entry; the same text in the same place has the same id."""
    return "w-" + hashlib.sha256(f"{place}\n{text}".encode("utf-8", "replace")).hexdigest()[:6]


# --- changing it -------------------------------------------------------------------------------


def tick(memory: Working) -> None:
    """Count an event: the pool fades, and the faintest entries go."""
    memory.event += 1
    memory.pool = [each for each in memory.pool if each.score_at(memory.event) >= GONE]


def add(memory: Working, place: str, text: str) -> str:
    """Put a text into a slot, or mention it in the pool; returns its id, "" for an empty text.

    A full slot loses its oldest entry. Raises UsageError for an unknown place.
    """
    _check(place)
    text = line(visible(text), MAX_ITEM)
    if not text:
        return ""
    if place == POOL:
        _mention(memory, text)
    else:
        others = [each for each in memory.slots.get(place, ()) if each.text != text]
        memory.slots[place] = [*others, Item(text, memory.event)][-SLOTS[place].holds :]
    return id_of(place, text)


def set_todos(memory: Working, todos: Iterable[Mapping[str, Any]]) -> None:
    """Show the host's own list (`content`, `status` of each) in the todo slot: tasks under way
    first, then pending ones."""
    rank = {"in_progress": 0, "pending": 1}
    open_ones = [each for each in todos if each.get("status", "pending") in rank]
    open_ones.sort(key=lambda each: rank[each.get("status", "pending")])
    memory.slots.pop("todo", None)
    # the newest is the last of a slot, and shown first
    for each in reversed(open_ones[: SLOTS["todo"].holds]):
        add(memory, "todo", str(each.get("content", "")))


def clear(memory: Working) -> None:
    """Remove all entries."""
    memory.slots, memory.pool = {}, []


def clear_slot(memory: Working, place: str) -> int:
    """Empty a slot or the pool; returns how many entries it had. Raises UsageError."""
    _check(place)
    if place == POOL:
        gone, memory.pool = len(memory.pool), []
        return gone
    return len(memory.slots.pop(place, ()))


def remove(memory: Working, id: str) -> str:
    """Remove an entry; returns its text. Raises NotFound."""
    for place, item in entries(memory):
        if id_of(place, item.text) == id:
            (memory.pool if place == POOL else memory.slots[place]).remove(item)
            return item.text
    raise NotFound(f"Working memory has no entry {id[:40]!r}.", "Each entry shows its id.")


def halve(memory: Working) -> None:
    """Keep the stronger half of the pool: the compaction's summary covers the rest."""
    strongest = sorted(memory.pool, key=_by_score(memory.event))
    memory.pool = strongest[: (len(strongest) + 1) // 2]


def entries(memory: Working) -> list[tuple[str, Item]]:
    """Pairs of place and entry: slots from newest to oldest, the pool from strongest to weakest."""
    slots = [(name, each) for name in SLOTS for each in reversed(memory.slots.get(name, []))]
    return slots + [(POOL, each) for each in sorted(memory.pool, key=_by_score(memory.event))]


def _mention(memory: Working, text: str) -> None:
    old = [each for each in memory.pool if each.text == text]
    before = sum(each.score_at(memory.event) for each in old)
    others = [each for each in memory.pool if each.text != text]
    memory.pool = [*others, Item(text, memory.event, min(1 + before, 1 / (1 - FADING)))]
    memory.pool = sorted(memory.pool, key=_by_score(memory.event))[:POOL_HOLDS]


def _by_score(event: int) -> Any:
    return lambda item: (-item.score_at(event), -item.at, item.text)


def _check(place: str) -> None:
    if place not in SLOTS and place != POOL:
        raise UsageError(
            f"Working memory has no slot {place[:40]!r}.", f"It has: {', '.join((*SLOTS, POOL))}."
        )


# --- what is shown -----------------------------------------------------------------------------


def render(memory: Working, budget: int = BUDGET) -> str:
    """The memory as text for the prompt, of at most `budget` characters; "" when it is empty.

    It holds no times and ages, so that the text changes only when the content does.
    """
    shown: list[tuple[str, str]] = []
    count: dict[str, int] = {}
    for place, item in entries(memory):
        count[place] = count.get(place, 0) + 1
        if place != POOL or count[place] <= POOL_SHOWN:
            shown.append((place, f"{item.text} ({id_of(place, item.text)})"))
    icons = {name: slot.icon for name, slot in SLOTS.items()} | {POOL: "·"}
    lines = [f"{icons[place]} {place}: {text}" for place, text in shown]
    lines = fits(lines, budget - len('<working_memory items="99">\n</working_memory>'))
    if not lines:
        return ""
    return "\n".join([f'<working_memory items="{len(lines)}">', *lines, "</working_memory>"])
