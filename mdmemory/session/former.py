"""What 0.1 stored in three documents, as the one memory, and what scripts of 0.1 read of it. Pure.

The migration of `state.db` puts the documents of a session (`core`, `working`, `hot`) into one;
`read` makes sections of that. It goes in 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mdmemory.session import changes
from mdmemory.session.failures import CATEGORIES
from mdmemory.session.sections import (
    BLOCKS,
    ERRORS,
    POOL,
    Error,
    File,
    Item,
    Sections,
    SessionFact,
    entries,
)

# A slot of 0.1 and its section.
PLACES = {
    "error": ERRORS, "decision": "decisions", "todo": "todos", "dependency": "dependencies",
    POOL: POOL,
}  # fmt: skip
PARTS = ("hot", "core", "working")


@dataclass(frozen=True, slots=True)
class CoreUpdate:
    """The blocks after a change; `warning` quotes a lost end, "" when the text fits."""

    blocks: dict[str, str]
    warning: str


def is_former(document: Mapping[str, Any]) -> bool:
    """Whether a document is one of the migration."""
    return any(part in document for part in PARTS)


def read(document: Mapping[str, Any]) -> Sections:
    """The memory in the documents of 0.1; what cannot be read of them is left out."""
    hot, working = document.get("hot"), document.get("working")
    memory = Sections(blocks=_blocks(document.get("core")))
    try:
        _take_hot(memory, dict(hot or {}))
    except (TypeError, ValueError, AttributeError):
        memory = Sections(blocks=memory.blocks)
    try:
        _take_working(memory, dict(working or {}), closed=bool(hot))
    except (TypeError, ValueError, AttributeError):
        pass  # what was taken so far stays
    return memory


def view(memory: Sections) -> dict[str, Any]:
    """The memory under the names of 0.1: `core`, `working` and `hot`."""
    names = {section: place for place, section in PLACES.items()}
    items = [each for each in entries(memory) if each.section in names]
    document = memory.document()
    return {
        "core": dict(memory.blocks),
        "working": [
            {"id": each.id, "slot": names[each.section], "content": each.text} for each in items
        ],
        "hot": {
            "turn": memory.event, "files": document["files"], "errors": document["errors"],
            "decisions": memory.decisions, "pending": document["candidates"],
        },
    }  # fmt: skip


def _blocks(core: object) -> dict[str, str]:
    blocks = core if isinstance(core, dict) else {}
    return {name: str(blocks[name]) for name in BLOCKS if blocks.get(name)}


def _take_hot(memory: Sections, hot: Mapping[str, Any]) -> None:
    memory.event = int(hot.get("turn", 0))
    memory.files = [File(**each) for each in hot.get("files", ())]
    memory.errors = [Error(**each) for each in hot.get("errors", ())]
    memory.candidates = [SessionFact(**each) for each in hot.get("pending", ())]
    for text in hot.get("decisions", ()):
        changes.add(memory, "decisions", str(text), is_candidate=True)


def _take_working(memory: Sections, working: Mapping[str, Any], *, closed: bool) -> None:
    """Take working memory. `closed`: hot state was kept, too, and knew which errors of commands had
    been closed; working memory did not."""
    event = int(working.get("event", 0))
    memory.event = max(memory.event, event)
    slots = dict(working.get("slots", {}))
    for place, section in PLACES.items():
        for each in slots.get(place, ()):
            item = Item(**each)
            if section != ERRORS or not (closed and _is_of_command(item.text)):
                changes.add(memory, section, item.text)
    pool = [Item(**each) for each in working.get(POOL, ())]
    memory.pool = [Item(each.text, each.at + memory.event - event, each.score) for each in pool]


def _is_of_command(text: str) -> bool:
    """Whether an error has the form that 0.1 gave to those of commands."""
    name = text.partition(": ")[0]
    return name in {each.name for each in CATEGORIES}
