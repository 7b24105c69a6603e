"""Memories as JSON: what `mdmemory export` writes, the memory server of MCP, mem0, and any other
list of memories. What is no fact is handed on with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mdmemory.capture.imports import markdown
from mdmemory.capture.imports.incoming import Incoming, day, day_of, text_of, word_of
from mdmemory.capture.imports.markdown import NO_FACT
from mdmemory.capture.notice import letter_weight, notice_wishes
from mdmemory.note.note import parse

DEPTH = 40  # of nested lists and objects that are looked into

_GONE = ("deleted", "archived", "paused")  # states of a memory that its owner took back
_ENTITY, _RELATION = "entity", "relation"
# keys whose text is the fact, in any JSON
_FACTS = (
    "memory", "fact", "content", "text", "observation", "observations", "note", "notes",
    "statement", "value", "body", "message", "summary", "description", "facts", "memories",
)  # fmt: skip
_USER = ("user", "human")
_OTHERS = ("assistant", "ai", "model", "system", "developer", "tool", "function")
_MORE = 24  # the weight of what a message says beside a request, and that is no mere courtesy
_EXPORTED = {"file", "body", "type", "description", "head"}


def facts_of(value: Any, origin: str) -> Iterator[Incoming]:
    """The facts of a JSON value, of whichever memory it is."""
    if isinstance(value, list) and value and all(map(_is_exported, value)):
        yield from map(_exported_note, value)
    elif isinstance(value, Mapping) and isinstance(value.get("entities"), list):
        yield from graph_facts([
            *({"type": _ENTITY, **row} for row in _maps_in(value["entities"])),
            *({"type": _RELATION, **row} for row in _maps_in(value.get("relations"))),
        ])  # fmt: skip
    else:
        yield from _any_facts(value, Incoming("", origin, source="manual"), 0, is_fact=True)


# --- our own export


def _is_exported(row: object) -> bool:
    return isinstance(row, Mapping) and set(row) >= _EXPORTED and isinstance(row["head"], Mapping)


def _exported_note(row: Mapping[str, Any]) -> Incoming:
    """An exported note, read as the file that it was; its head need not name what it was not
    told there."""
    import yaml  # which only an import of this needs

    fields = {key: row[key] for key in ("name", "description") if key in row}
    head = yaml.safe_dump({**fields, "type": row["type"], **row["head"]}, allow_unicode=True)
    file = word_of(row["file"])
    return markdown.of_note(
        parse(f"---\n{text_of(head)}\n---\n\n{text_of(row['body'])}\n", file), file
    )


# --- the memory server of MCP


def is_graph(first: str) -> bool:
    """Whether the first line of a file is one of the memory server's: an entity or a relation."""
    row = _parse_line(first)
    return isinstance(row, Mapping) and row.get("type") in (_ENTITY, _RELATION)


def graph_of(lines: Sequence[str]) -> Iterator[Incoming]:
    """The facts of its file, one JSON object a line; a line that is none is handed on."""
    rows = []
    for number, line in enumerate(lines, 1):
        row = _parse_line(line) if line.strip() else {}
        if isinstance(row, Mapping):
            rows.append(row)
        else:
            yield Incoming(line, f"mcp-memory:line {number}", reason="unreadable")
    yield from graph_facts(rows)


def graph_facts(rows: Sequence[Mapping[str, Any]]) -> Iterator[Incoming]:
    """Each observation is a fact, with the name of its entity in front unless it has it already;
    so is each relation, and an entity of which nothing is said."""
    for row in rows:
        name, about = word_of(row.get("name")), word_of(row.get("entityType"))
        if row.get("type") == _ENTITY:
            for fact in [*map(text_of, _list_in(row.get("observations")))] or [f"is a {about}"]:
                whole = fact if name.casefold() in fact.casefold() else f"{name}: {fact}"
                yield Incoming(whole, f"mcp-memory:{name} > {about}", source="manual")
        elif row.get("type") == _RELATION:
            verb = word_of(row.get("relationType")).replace("_", " ")
            fact = f"{word_of(row.get('from'))} {verb} {word_of(row.get('to'))}"
            yield Incoming(fact, "mcp-memory:relation", source="manual")
        elif row:
            yield Incoming(json.dumps(row, ensure_ascii=False), "mcp-memory", reason=NO_FACT)


def _parse_line(line: str) -> Any:
    """The JSON of a line; None where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


# --- mem0, and any other JSON


def _any_facts(value: object, above: Incoming, depth: int, *, is_fact: bool) -> Iterator[Incoming]:
    """The texts under the keys that hold facts, and those of a list there; other texts that say
    something are handed on. `above` has the place, and what the objects around tell of a fact."""
    if depth > DEPTH:
        yield replace(above, text=json.dumps(value, ensure_ascii=False), reason=NO_FACT)
    elif isinstance(value, Mapping):
        row = _row_facts(value, above)
        for key, inner in value.items():
            place = replace(row, origin=f"{row.origin} > {word_of(key)}")
            is_text = isinstance(inner, str | list)
            wanted = word_of(key).lower() in _FACTS if is_text else is_fact
            yield from _any_facts(inner, place, depth + 1, is_fact=wanted)
    elif isinstance(value, list):
        for inner in value:
            yield from _any_facts(inner, above, depth + 1, is_fact=is_fact)
    elif content := text_of(value):
        if above.source == "explicit":
            yield from _wished_facts(content, above)
        elif is_fact:
            yield replace(above, text=content)
        elif " " in content and not day(content):
            yield replace(above, text=content, reason=NO_FACT)


def _wished_facts(message: str, above: Incoming) -> Iterator[Incoming]:
    """What a message of the user asks to remember; it is handed on where it says more than that."""
    left = message
    for wish in notice_wishes(message).wishes:
        yield replace(above, text=wish)
        left = left.replace(wish, "", 1)
    if left == message or letter_weight(left) >= _MORE:
        yield replace(above, text=message, reason=NO_FACT)


def _row_facts(row: Mapping[str, Any], above: Incoming) -> Incoming:
    """What an object tells of the facts in it: its id, its days, who found them, its state. In a
    conversation, which is no list of facts, only what the user asks for is one."""
    number, author = row.get("id"), row.get("author")
    role = author.get("role") if isinstance(author, Mapping) else row.get("role", row.get("sender"))
    speaker = "" if {"memory", "fact"} & row.keys() else word_of(role).lower()
    days = {"created": day_of(row), "updated": day(row.get("updated_at")),
            "expires": day(row.get("expiration_date"))}  # fmt: skip
    reason = "superseded" if word_of(row.get("state")).lower() in _GONE else above.reason
    return replace(
        above,
        origin=f"{above.origin}:{number}" if isinstance(number, str | int) else above.origin,
        source="explicit" if speaker in _USER
        else "extraction" if row.get("agent_id") else above.source,
        metadata={**above.metadata, **{key: at for key, at in days.items() if at}},
        reason=NO_FACT if speaker in _OTHERS else reason,
    )  # fmt: skip


def _maps_in(value: object) -> list[Mapping[str, Any]]:
    return [each for each in _list_in(value) if isinstance(each, Mapping)]


def _list_in(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
