"""Gemini CLI's sessions: a folder per project, a file per session, a JSON object per line.

A line is a message, the session's own data, or `$set`, which puts a new history in the place of
the old one. What a person said stays said: messages are gathered, and none is taken out again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular
from mdmemory.transcripts.injected import without_tagged
from mdmemory.transcripts.session_files import Rows, SessionFile, head, is_uuid, parse_moment
from mdmemory.transcripts.turns import Transcript, Turn, as_text, clean, is_id, is_ours

_ROLES = {"user": "user", "gemini": "assistant"}
_SHORT = 8  # characters of the session's id in the name of its file
_TAGS = r"hook_context|session_context"
_SNAPSHOT = "<state_snapshot>"
_AFTER_SNAPSHOT = "Got it. Thanks for the additional context!"
# what the client says in a person's name
_CLIENT_LINES = (
    "Here is the user's editor context", "Here is a summary of changes in the user's editor",
    "System: ", "[System: ", "Please continue.", "This is the Gemini CLI. We are setting up",
)  # fmt: skip
_NOT_SAID = ("toolCalls", "thoughts", "tokens", "memoryScratchpad")
_FILES_START = "--- Content from referenced files ---"
_MAX_REGISTRY = 4 * 1024 * 1024  # bytes


def is_row(row: Mapping[str, Any]) -> bool:
    """Whether a line belongs to such a session."""
    return _is_own_data(row) or isinstance(row.get("$set"), dict)


def pick_row(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What of a line may hold a turn, or says whose session it is; None for any other.

    Thoughts and tools, most of a session's bytes, are left out.
    """
    change = row.get("$set")
    if isinstance(change, dict):
        return {"$set": _shorten_row(change)}
    return _shorten_row(row) if is_row(row) or as_text(row.get("type")) in _ROLES else None


def _shorten_row(row: Mapping[str, Any]) -> dict[str, Any]:
    left = {key: value for key, value in row.items() if key not in _NOT_SAID}
    history = left.get("messages")
    if isinstance(history, list):
        left["messages"] = [
            {key: value for key, value in message.items() if key not in _NOT_SAID}
            for message in history if isinstance(message, dict)
        ]  # fmt: skip
    return left


def transcript(rows: Rows) -> Transcript:
    """The turns of a session, in the order in which they were first told; "" for the name of one
    that has none. Sessions of sub-agents have none."""
    name, title, kind = "", "", ""
    turns: dict[str, Turn] = {}
    summaries: dict[str, Turn] = {}
    texts: set[tuple[str, str]] = set()
    for row in rows:
        data = row.get("$set") if isinstance(row.get("$set"), dict) else row
        assert isinstance(data, Mapping)
        if data is not row or _is_own_data(row):
            name = name or as_text(data.get("sessionId"))
            title = as_text(data.get("summary")) or title
            kind = as_text(data.get("kind")) or kind
            history = data.get("messages")
            pairs = _read_turns(history if isinstance(history, list) else ())
            # a shortened history repeats messages under new names
            pairs = [each for each in pairs if (each[0].role, each[0].text) not in texts]
        else:
            pairs = _read_turns([row])
        for turn, is_summary in pairs:
            texts.add((turn.role, turn.text))
            (summaries if is_summary else turns).setdefault(turn.id, turn)
    name = name if is_id(name) else ""
    if kind == "subagent" or is_ours(title):
        return Transcript(name, title, kind if kind == "subagent" else "", ())
    return Transcript(name, title, "", tuple(turns.values()), tuple(summaries.values()))


def _is_own_data(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("sessionId"), str) and isinstance(row.get("projectHash"), str)


def _read_turns(messages: Iterable[object]) -> list[tuple[Turn, bool]]:
    """The turns of messages, and whether each is the client's own summary."""
    pairs: list[tuple[Turn, bool]] = []
    for message in messages:
        if not isinstance(message, dict):
            continue
        role = _ROLES.get(as_text(message.get("type")), "")
        name = as_text(message.get("id"))
        words = _read_words(message, role)
        text = clean(words)
        if not role or not text or not is_id(name):
            continue
        if pairs and role == "assistant" and text == _AFTER_SNAPSHOT:
            pairs[-1] = pairs[-1][0], True
            continue
        turn = Turn(name, role, text, parse_moment(message.get("timestamp")))
        pairs.append((turn, role == "user" and _SNAPSHOT in words))
    return pairs


def _read_words(message: Mapping[str, Any], role: str) -> str:
    """What was said: by a person what the client showed, not what it made of it."""
    shown = message.get("displayContent") if role == "user" else None
    parts = _list_parts(shown) if shown else _list_parts(message.get("content"))
    texts: list[str] = []
    for part in parts:
        if role == "user" and part.strip() == _FILES_START:
            break
        texts.append(part)
    words = without_tagged("\n".join(texts), _TAGS).strip()
    return "" if role == "user" and words.startswith(_CLIENT_LINES) else words


def _list_parts(content: object) -> list[str]:
    if not isinstance(content, list):
        return [as_text(content)] if isinstance(content, str) else []
    return [
        as_text(part.get("text")) if isinstance(part, dict) else as_text(part)
        for part in content
        if not (isinstance(part, dict) and (part.get("thought") or "functionResponse" in part))
    ]


# --- the folder


def list_files(home: Path, folders: Sequence[Path] | None) -> Iterator[SessionFile]:
    """The sessions that may have begun in or below one of the folders; all of them for None.

    A session that was taken up again may have several files.
    """
    registry = _read_registry(home)
    for project in sorted((home / "tmp").glob("*/chats")):
        root = _find_root(project.parent, registry)
        if not root and folders is not None:
            continue
        together: dict[str, list[Path]] = {}
        for file in sorted(project.glob("session-*.jsonl")):
            together.setdefault(file.stem.rpartition("-")[2], []).append(file)
        for short, paths in together.items():
            yield SessionFile(f"{project.parent.name}/{short}", tuple(paths), root)


def find(home: Path, session: str, folders: Sequence[Path]) -> SessionFile | None:
    """A session of any project."""
    if not is_uuid(session):
        return None
    registry = _read_registry(home)
    for project in sorted((home / "tmp").glob("*/chats")):
        paths = tuple(sorted(project.glob(f"session-*-{session[:_SHORT]}.jsonl")))
        file = SessionFile(session, paths, _find_root(project.parent, registry))
        if paths and own_name(file) == session:
            return file
    return None


def own_name(file: SessionFile) -> str:
    """The session's id, of which the names of its files have only the beginning; "" where they
    do not tell. Raises MdmemoryError."""
    names = (as_text(row["sessionId"]) for row in head(file) if _is_own_data(row))
    name = next(names, "")
    return name if is_id(name) else ""


def _find_root(project: Path, registry: Mapping[str, str]) -> str:
    """The root of a project: from a file in its folder, or the registry; "" where nobody knows."""
    try:
        text = read_regular(project / ".project_root", 4096 * 4)
    except MdmemoryError:
        return registry.get(project.name, "")
    return text.decode("utf-8", "replace").strip()


def _read_registry(home: Path) -> dict[str, str]:
    try:
        value = json.loads(read_regular(home / "projects.json", _MAX_REGISTRY))
    except (MdmemoryError, ValueError, RecursionError):
        return {}
    projects = value.get("projects") if isinstance(value, dict) else None
    if not isinstance(projects, dict):
        return {}
    return {name: root for root, name in projects.items() if isinstance(name, str)}
