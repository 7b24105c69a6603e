"""Memories exported as JSON: mem0 and OpenMemory, the memory server of MCP, claude-mem, and any
other JSON, in which texts are looked for.

Formats as their projects document them in 2026. What is no fact is handed on with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mdmemory.capture.imports.incoming import Incoming, day, text, word
from mdmemory.capture.imports.markdown_blocks import NO_FACT

DEPTH = 40  # of nested lists and objects that are looked into
SHORTEST = 12  # characters; a shorter text in unknown JSON is a label

_MEM0 = ("memory", "content", "text", "data")
_GONE = ("deleted", "archived", "paused")
_ENTITY, _RELATION = "entity", "relation"
# keys whose text is the fact, in any JSON
_FACTS = (
    "memory", "fact", "content", "text", "observation", "observations", "note", "notes",
    "statement", "value", "body", "message", "summary", "description", "facts", "memories",
)  # fmt: skip
_DAYS = ("created_at", "createdAt", "created", "date", "timestamp", "time")
# what claude-mem's types of observations are here; the others stand in the project's history
_KEPT = {"decision": ("project", "decision"), "discovery": ("project", "")}


def facts_of(value: Any, origin: str) -> Iterator[Incoming]:
    """The facts of a JSON value, of whichever memory it is."""
    if (rows := _mem0_rows(value)) is not None:
        yield from (_mem0(row) for row in rows)
    elif isinstance(value, Mapping) and isinstance(value.get("entities"), list):
        yield from graph(_labelled(value))
    elif isinstance(value, Mapping) and _is_claude_mem(value):
        yield from _claude_mem(value)
    else:
        yield from _any(value, origin, 0)


# --- mem0, OpenMemory ----------------------------------------------------------------------------


def _mem0_rows(value: Any) -> list[Mapping[str, Any]] | None:
    """The rows of `{"results": [...]}`, `{"memories": [...]}` or a bare list, each with an id and
    the text of a memory; None for anything else."""
    rows = value
    if isinstance(value, Mapping):
        rows = value.get("results", value.get("memories", value.get("items")))
    if not isinstance(rows, list) or not rows:
        return None
    fits = all(
        isinstance(row, Mapping)
        and "id" in row
        and ("memory" in row or ("content" in row and ({"state", "app_name"} & set(row))))
        for row in rows
    )
    return rows if fits else None


def _mem0(row: Mapping[str, Any]) -> Incoming:
    said = next((text(row[key]) for key in _MEM0 if text(row.get(key))), "")
    state = word(row.get("state")).lower()
    return Incoming(
        said, f"mem0:{word(row.get('id')) or row.get('id')}",
        source="extraction" if row.get("agent_id") else "manual",
        created=_day_of(row), updated=day(row.get("updated_at")),
        reason="superseded" if state in _GONE else "",
    )  # fmt: skip


# --- the memory server of MCP --------------------------------------------------------------------


def is_graph(first: str) -> bool:
    """Whether the first line of a file is one of the memory server's: an entity or a relation."""
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, Mapping) and row.get("type") in (_ENTITY, _RELATION)


def graph_of(lines: Sequence[str]) -> Iterator[Incoming]:
    """The facts of its file, one JSON object a line; a line that is none is handed on."""
    rows: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, Mapping):
            rows.append(row)
        else:
            yield Incoming(line, f"mcp-memory:line {number}", reason="unreadable")
    yield from graph(rows)


def graph(rows: Sequence[Mapping[str, Any]]) -> Iterator[Incoming]:
    """Each observation is a fact, with the name of its entity in front unless it has it already;
    so is each relation, and an entity of which nothing is said."""
    for row in rows:
        name, about = word(row.get("name")), word(row.get("entityType"))
        if row.get("type") == _ENTITY:
            said = [text(_plain(each)) for each in _list(row.get("observations"))]
            for each in said or [f"is a {about}"]:
                whole = each if name.casefold() in each.casefold() else f"{name}: {each}"
                yield Incoming(whole, f"mcp-memory:{name} > {about}", source="manual")
        elif row.get("type") == _RELATION:
            verb = word(row.get("relationType")).replace("_", " ")
            said_of = f"{word(row.get('from'))} {verb} {word(row.get('to'))}"
            yield Incoming(said_of, "mcp-memory:relation", source="manual")
        elif row:
            yield Incoming(json.dumps(row, ensure_ascii=False), "mcp-memory", reason=NO_FACT)


def _plain(observation: object) -> object:
    """An observation's text; servers made after the reference keep it in an object."""
    return observation.get("content") if isinstance(observation, Mapping) else observation


def _labelled(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of a graph that is one JSON object with two lists."""
    return [
        *({"type": _ENTITY, **row} for row in _maps(value.get("entities"))),
        *({"type": _RELATION, **row} for row in _maps(value.get("relations"))),
    ]


# --- claude-mem ----------------------------------------------------------------------------------


def _is_claude_mem(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("observations"), list) and isinstance(value.get("summaries"), list)


def _claude_mem(value: Mapping[str, Any]) -> Iterator[Incoming]:
    """Decisions and discoveries; what was built, the summaries and the prompts are handed on."""
    for row in _maps(value["observations"]):
        type, kind = _KEPT.get(word(row.get("type")), ("", ""))
        listed = _json_list(row.get("facts"))
        told = [text(row.get(key)) for key in ("subtitle", "text", "narrative")]
        parts = [*told, "\n".join(f"- {each}" for each in listed)]
        yield Incoming(
            "\n\n".join(part for part in parts if part) or word(row.get("title")),
            f"claude-mem:{word(row.get('id')) or row.get('id')}",
            name=word(row.get("title")), description=word(row.get("title")), type=type, kind=kind,
            created=_day_of(row), session=word(row.get("memory_session_id")),
            reason="" if type else "progress",
        )  # fmt: skip
    for name in ("sessions", "summaries", "prompts"):
        for row in _maps(value.get(name)):
            said = "\n".join(each for each in map(text, row.values()) if " " in each)
            yield Incoming(said, f"claude-mem:{name}", reason="session_state")


def _json_list(value: object) -> list[str]:
    """A list of texts, which the database keeps as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [word(value)] if word(value) else []
    return [word(each) for each in _list(value) if word(each)]


# --- any other JSON ------------------------------------------------------------------------------


def _any(value: object, origin: str, depth: int, day_above: str = "") -> Iterator[Incoming]:
    """The texts under the keys that hold facts, and the texts of lists; other texts that say
    something are handed on."""
    if depth > DEPTH:
        yield Incoming(json.dumps(value, ensure_ascii=False), origin, reason=NO_FACT)
    elif isinstance(value, Mapping):
        known = _day_of(value) or day_above
        for key, inner in value.items():
            place = f"{origin} > {word(key)}"
            if isinstance(inner, str):
                yield from _texts(inner, place, known, is_fact=word(key).lower() in _FACTS)
            else:
                yield from _any(inner, place, depth + 1, known)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str):
                yield from _texts(inner, origin, day_above, is_fact=True)
            else:
                yield from _any(inner, origin, depth + 1, day_above)


def _texts(said: str, origin: str, created: str, *, is_fact: bool) -> Iterator[Incoming]:
    said = text(said)
    if not said:
        return
    tells = is_fact and len(said) >= SHORTEST and " " in said
    reason = "" if tells else NO_FACT
    if tells or (" " in said and not day(said)):
        yield Incoming(said, origin, source="manual", created=created, reason=reason)


def _day_of(row: Mapping[str, Any]) -> str:
    return next((found for key in _DAYS if (found := day(row.get(key)))), "")


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [each for each in _list(value) if isinstance(each, Mapping)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
