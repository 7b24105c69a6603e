"""What is kept of one session, shown and swept: session show, session sweep."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from mdmemory.cli.output import emit, plural
from mdmemory.errors import NotFound, UsageError
from mdmemory.memory import Memory


def show(memory: Memory, id: str | None, as_json: bool) -> int:
    """Tell what a session keeps, or give the whole of an output that was shown in part."""
    if not id:
        raise UsageError("`session show` needs an id.", "`mdmemory session list` shows them.")
    if id.startswith("o-"):
        return _output(memory, id, as_json)
    found = _kept(memory, id)
    if as_json:
        emit(found)
    else:
        _tell(found)
    return 0


def sweep(memory: Memory, as_json: bool) -> int:
    """Remove what is old or too much of what sessions keep."""
    done = memory.sweep()
    if as_json:
        emit(asdict(done))
    else:
        print(
            f"Removed {plural(done.files, 'file')} ({done.bytes:,} bytes) and what was kept of "
            f"{plural(done.sessions, 'session')}."
        )
        if done.errors:
            print(f"{plural(done.errors, 'file')} could not be removed.")
    return 1 if done.errors else 0


def _output(memory: Memory, id: str, as_json: bool) -> int:
    from mdmemory.session import storage

    text = storage.get_output(memory.project.private / storage.FOLDER, id)
    if as_json:
        emit({"id": id, "text": text})
    else:
        print(text)
    return 0


def _kept(memory: Memory, session: str) -> dict[str, Any]:
    from mdmemory.session.promotion import journal
    from mdmemory.session.working import entries, id_of
    from mdmemory.store.state import State

    if not os.path.lexists(memory.project.state_file):  # looking is no reason to make the file
        raise _nothing(session)
    with memory.session(session) as own, State(memory.project.state_file) as state:
        hot, items = own.hot(), entries(own.working())
        promotions = journal(state, session)
        found = {
            "id": session,
            "core": own.core_read(),
            "working": [
                {"id": id_of(place, item.text), "slot": place, "content": item.text}
                for place, item in items
            ],
            "hot": hot.document(),
            "promotions": [
                {"type": each.type, "content": each.text, "since": each.since,
                 "attempts": each.attempts, "outcome": each.outcome or "to do"}
                for each in promotions
            ],
        }  # fmt: skip
    if not (found["core"] or items or hot.turn or hot.decisions or promotions):
        raise _nothing(session)
    return found


def _nothing(session: str) -> NotFound:
    return NotFound(
        f"Nothing is kept of a session {session[:80]}.",
        "OpenCode's plugin keeps it while a session runs; `mdmemory session list` shows the ids.",
    )


def _tell(found: dict[str, Any]) -> None:
    hot = found["hot"]
    sections = {
        "core": [f"{name}: {text}" for name, text in found["core"].items()],
        "working": [f"{each['id']} {each['slot']}: {each['content']}" for each in found["working"]],
        "files": [f"{each['path']} ({each['action']}, {each['count']}x)" for each in hot["files"]],
        "errors": [
            f"[{each['category']}, {each['status']}] {each['summary']}" for each in hot["errors"]
        ],
        "decisions": hot["decisions"],
        "promotions": [f"{each['outcome']}: {each['content']}" for each in found["promotions"]],
    }
    for title, lines in sections.items():
        if lines:
            print("\n".join([f"{title}:", *(f"  {each}" for each in lines)]))
