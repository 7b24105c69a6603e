"""The JSON of opencode-working-memory: its workspace memory, and the session files of the version
before it. Only what outlives a session comes in; the rest is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mdmemory.capture.imports.incoming import Incoming, day, text, word

TOOL = "opencode-working-memory"
_SOURCES = {"explicit": "explicit", "manual": "manual"}  # compaction: a model found it
_TYPES = {"feedback": "feedback", "project": "project", "reference": "reference"}
# What a session is busy with is no memory; a decision, and what the work depends on, may be.
_SLOTS = {"decision": ("project", "decision"), "dependency": ("project", "")}


def is_ours(value: object) -> bool:
    """Whether a JSON value is one of these files."""
    return isinstance(value, Mapping) and any(
        isinstance(value.get(name), kind)
        for name, kind in (("entries", list), ("items", list), ("slots", Mapping),
                           ("blocks", Mapping))
    )  # fmt: skip


def facts_of(value: Mapping[str, Any]) -> Iterator[Incoming]:
    """The facts of one file."""
    session = word(value.get("sessionID"))
    if isinstance(value.get("entries"), list):
        yield from (_entry(each) for each in value["entries"] if isinstance(each, Mapping))
        return
    for each in _listed(value.get("items")):
        yield _item(each, word(each.get("type")), session)
    slots = value.get("slots")
    for slot, items in slots.items() if isinstance(slots, Mapping) else ():
        yield from (_item(each, word(slot), session) for each in _listed(items))
    for each in _listed(value.get("pool")):
        yield _item(each, word(each.get("type")), session)
    blocks = value.get("blocks")
    for name, block in blocks.items() if isinstance(blocks, Mapping) else ():
        content = text(block.get("content")) if isinstance(block, Mapping) else ""
        if content:  # goal, progress and context are of their session
            yield Incoming(content, f"{TOOL}:{name}", session=session, reason="session_state")


def _listed(value: object) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, list) else []
    return [each for each in found if isinstance(each, Mapping)]


def _entry(entry: Mapping[str, Any]) -> Incoming:
    named = word(entry.get("type"))
    said, why = text(entry.get("text")), word(entry.get("rationale"))
    importance = word(entry.get("userImportance"))
    count = entry.get("reinforcementCount")
    return Incoming(
        f"{said}\n\nWhy: {why}" if why else said,
        f"{TOOL}:{word(entry.get('id'))}",
        description=said,
        type="project" if named == "decision" else _TYPES.get(named, ""),
        kind="decision" if named == "decision" else "",
        source=_SOURCES.get(word(entry.get("source")), "extraction"),
        importance=importance if importance in ("low", "normal", "high") else "",
        created=day(entry.get("createdAt")), updated=day(entry.get("updatedAt")),
        reinforced=count if isinstance(count, int) and 0 < count < 1000 else 0,
        last_reinforced=day(entry.get("lastReinforcedAt")),
        session=word(entry.get("pendingOwnerSessionID")), turn=word(entry.get("pendingMessageID")),
        reason="superseded" if entry.get("status") == "superseded" else "",
    )  # fmt: skip


def _item(item: Mapping[str, Any], slot: str, session: str) -> Incoming:
    type, kind = _SLOTS.get(slot, ("", ""))
    return Incoming(
        text(item.get("content")) or text(item.get("text")),
        f"{TOOL}:{word(item.get('id')) or slot or 'pool'}",
        type=type, kind=kind, created=day(item.get("timestamp") or item.get("createdAt")),
        session=session, reason="" if type else "session_state",
    )  # fmt: skip
