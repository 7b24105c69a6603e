"""Codex's sessions: a file per session and day, a JSON object per line with type and payload.

What the client tells its own screen is read (`event_msg`): there a person's words stand alone. In
what it sends to the model they stand among instructions, files and the text of hooks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mdmemory.files import read_start
from mdmemory.transcripts.injected import without_tagged
from mdmemory.transcripts.session_files import Rows, SessionFile, head, is_uuid, parse_moment
from mdmemory.transcripts.turns import Transcript, Turn, as_text, clean, is_id, take_back

_FILE = re.compile(r"rollout-[\dT-]{19}-([\w-]{1,64})\.jsonl")
_START = 4096  # bytes; the folder stands before the instructions, which have twenty thousand
_FOLDER = re.compile(rb'"cwd":\s{0,9}("(?:[^"\\\n]|\\[^\n]){0,3000}")')
_SAME = 5_000  # milliseconds between two tellings of one message
_TYPES = ("session_meta", "event_msg", "response_item", "turn_context", "compacted")
_SPEAKERS = {"UserMessage": "user", "AgentMessage": "assistant"}
_REVIEW = {"EnteredReviewMode": True, "ExitedReviewMode": False}
_TOLD = {*_SPEAKERS, *_REVIEW}
# what was piped in, and what an editor puts before the words
_PIPED = r"stdin|image"
_EDITOR_STARTS = ("# Context from my IDE setup", "# Files mentioned by the user")
_REQUEST = "## My request for Codex:"


def is_row(row: Mapping[str, Any]) -> bool:
    """Whether a line belongs to such a session."""
    return row.get("type") in _TYPES and isinstance(row.get("payload"), dict)


def pick_row(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What of a line may hold a turn, or says whose session it is; None for any other."""
    kind, payload = row.get("type"), row.get("payload")
    if not isinstance(payload, dict):
        return None
    if kind == "compacted":  # without the history that it begins with
        return {**row, "payload": {"message": payload.get("message")}}
    is_event = kind == "event_msg" and (_read_event(payload)[0] in _TOLD or _count_undone(payload))
    return row if is_event or kind == "session_meta" else None


def transcript(rows: Rows) -> Transcript:
    """The turns of a session, in the order of its lines; "" for the name of one that has none.

    Sessions of sub-agents have none. A turn without an id is named by its moment.
    """
    meta: Mapping[str, Any] | None = None
    turns: dict[str, Turn] = {}
    gone: dict[str, int] = {}
    summaries: list[Turn] = []
    is_review = False
    for row in rows:
        payload = row.get("payload")
        if not isinstance(payload, dict):
            continue
        if row.get("type") == "session_meta":
            meta = meta or payload  # a fork may repeat that of its origin
        elif row.get("type") == "compacted":
            summaries += _read_turns(row, "", "assistant", as_text(payload.get("message")), {})
        elif row.get("type") == "event_msg":
            kind, item = _read_event(payload)
            is_review = _REVIEW.get(kind, is_review)
            # an event of another thread: a reviewer's is told in both
            thread = as_text(payload.get("thread_id"))
            if is_review or (thread and meta and thread != meta.get("id")):
                continue
            if count := _count_undone(payload):
                requests = [at for at, turn in enumerate(turns.values()) if turn.role == "user"]
                take_back(turns, [0, *requests][-min(count, len(requests) + 1)], gone)
            role = _SPEAKERS.get(kind, "")
            name = as_text(item.get("id"))
            for turn in _read_turns(row, name, role, _read_words(item), turns) if role else ():
                turns[turn.id] = turn
    name = as_text((meta or {}).get("id"))
    name, parent = (name if is_id(name) else ""), _find_parent(meta or {})
    if parent:
        return Transcript(name, "", parent, ())
    return Transcript(name, "", "", tuple(turns.values()), tuple(summaries), gone)


def _read_event(payload: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """What happened, and the object that has its words; "" for what says nothing."""
    item = payload.get("item") if payload.get("type") == "item_completed" else None
    return (as_text(item.get("type")), item) if isinstance(item, dict) else ("", {})


def _count_undone(payload: Mapping[str, Any]) -> int:
    """How many of the last requests an event takes back, with all that followed them."""
    count = payload.get("num_turns") if payload.get("type") == "thread_rolled_back" else 0
    return max(count, 0) if isinstance(count, int) else 0


def _find_parent(meta: Mapping[str, Any]) -> str:
    """The session that started this one, or another text where the client itself did, or ""."""
    source, by = meta.get("source"), as_text(meta.get("thread_source"))
    if isinstance(source, dict) or by not in ("", "user"):
        return as_text(meta.get("parent_thread_id")) or by or "codex"
    return ""


def _read_words(item: Mapping[str, Any]) -> str:
    content = item.get("content")
    texts = (
        as_text(part.get("text"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in ("text", "Text")
    )
    return "\n\n".join(filter(None, texts))


def _read_turns(
    row: Mapping[str, Any], name: str, role: str, words: str, before: dict[str, Turn]
) -> list[Turn]:
    """The turn of a line, or none. Where two moments tell of the same words, it is one turn."""
    stamp = as_text(row.get("timestamp"))
    if role == "user":
        if words.lstrip().startswith(_EDITOR_STARTS) and _REQUEST in words:
            words = words.rpartition(_REQUEST)[2]
        words = without_tagged(words, _PIPED)
    text = clean(words)
    name = name if is_id(name) else stamp
    last = before[next(reversed(before))] if before else None
    time = parse_moment(stamp)
    if not text or not is_id(name):
        return []
    if last and (last.role, last.text) == (role, text) and time - last.time < _SAME:
        return []
    if name in before:  # a provider's names need not be unique
        name = f"{name[:80]}.{len(before)}"
    return [Turn(name, role, text, time)]


# --- the folder


def list_files(home: Path, folders: Sequence[Path] | None) -> Iterator[SessionFile]:
    """The sessions of all projects, archived ones too: a file's place does not tell whose it is."""
    seen: set[str] = set()
    for pattern in ("sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"):
        for file in sorted(home.glob(pattern)):
            name = _FILE.fullmatch(file.name)
            if name and name[1] not in seen:
                seen.add(name[1])
                yield SessionFile(name[1], (file,))


def find(home: Path, session: str, folders: Sequence[Path]) -> SessionFile | None:
    """A session of any project."""
    if not is_uuid(session):
        return None
    return next((file for file in list_files(home, None) if file.id == session), None)


def find_folder(file: SessionFile) -> str:
    """The folder in which a session began, "" where it does not say so. Raises MdmemoryError."""
    folder = _FOLDER.search(read_start(file.paths[0], _START))
    if folder:
        try:
            return as_text(json.loads(folder[1]))
        except ValueError:
            pass  # what is read from the whole line is right
    for row in head(file):
        payload = row.get("payload")
        if row.get("type") == "session_meta" and isinstance(payload, dict):
            return as_text(payload.get("cwd"))
    return ""
