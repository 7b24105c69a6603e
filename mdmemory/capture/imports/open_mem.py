"""The SQLite database of open-mem, opened for reading only: its decisions and discoveries. What was
built or repaired stands in the project's own history, and is told, not stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mdmemory.capture.imports.incoming import BadImport, Incoming, day, text, word

TOOL = "open-mem"
MAGIC = b"SQLite format 3\x00"
_KEPT = {"decision": ("project", "decision"), "discovery": ("project", "")}
_IMPORTANCE = {1: "low", 2: "low", 4: "high", 5: "high"}


def facts_of(path: Path) -> Iterator[Incoming]:
    """The observations, oldest first. Raises BadImport."""
    import sqlite3  # costs start-up time, and only this reader needs it
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            query = "SELECT * FROM observations ORDER BY created_at, id"
            rows = [dict(row) for row in database.execute(query)]
    except sqlite3.Error as problem:
        raise BadImport(
            f"{path} is no database of open-mem that can be read ({problem}).",
            "Close what uses it, and name the file itself, such as memory.db.",
        ) from problem
    yield from map(_observation, rows)


def _observation(row: Mapping[str, Any]) -> Incoming:
    """Columns that later versions added may be missing."""
    named = word(row.get("type"))
    type, kind = _KEPT.get(named, ("", ""))
    gone = row.get("superseded_by") or row.get("deleted_at")
    return Incoming(
        _body(row), f"{TOOL}:{word(row.get('id'))}",
        name=word(row.get("title")), description=word(row.get("title")), type=type, kind=kind,
        importance=_IMPORTANCE.get(row.get("importance", 3), ""),
        created=day(row.get("created_at")), session=word(row.get("session_id")),
        reason="superseded" if gone else "" if type else "progress",
    )  # fmt: skip


def _body(row: Mapping[str, Any]) -> str:
    """The narrative, then the facts it was made from."""
    try:
        listed = json.loads(row.get("facts") or "[]")
    except ValueError:
        listed = []
    facts = [word(each) for each in listed if word(each)] if isinstance(listed, list) else []
    told = text(row.get("narrative")) or text(row.get("subtitle"))
    parts = [told, "\n".join(f"- {fact}" for fact in facts)]
    return "\n\n".join(part for part in parts if part) or word(row.get("title"))
