"""Claude Code's sessions: a folder per project, a file per session, a JSON object per line.

Lines of tools, sub-agents, hooks and the client also carry the user's name; only what a person
typed becomes a user's turn. Lines of an unknown form are skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mdmemory.transcripts.injected import without_tagged
from mdmemory.transcripts.session_files import Rows, SessionFile, head, is_plain_name, parse_moment
from mdmemory.transcripts.turns import (
    ROLES,
    Transcript,
    Turn,
    as_text,
    clean,
    is_id,
    is_ours,
    take_back,
)

_MAX_SLUG = 200  # characters; a longer one is cut, and a hash follows

# A line with one of these is the client's own, or a sub-agent's.
_NOT_SAID = ("isMeta", "isSidechain", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_CLIENT_TAGS = (
    r"command-[a-z-]+|local-command-[a-z-]+|bash-(?:input|stdout|stderr)|task-notification"
    r"|user-prompt-submit-hook|ide_\w+|teammate-message|cross-session-message|fork-boilerplate"
)
_CLIENT_LINES = (
    "[Request interrupted", "[SYSTEM NOTIFICATION", "Caveat: The messages below were generated",
    "Stop hook feedback", "SubagentStop hook feedback", "Base directory for this skill:",
)  # fmt: skip
_SUMMARY = "This session is being continued from a previous conversation"
_QUEUE = "queue-operation"  # where a session is started with a message, its first moment
_FORKED = 60_000  # milliseconds; what is older than the session by more comes from another
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}


def is_row(row: Mapping[str, Any]) -> bool:
    """Whether a line belongs to such a session."""
    return isinstance(row.get("type"), str)


def pick_row(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A line that may hold a turn, the session's name or its title; None for any other."""
    kind = as_text(row.get("type"))
    if kind == "attachment":
        return row if _read_queued(row)[0] else None
    is_message = kind in ROLES and "toolUseResult" not in row
    return row if is_message or kind in _TITLES or kind == _QUEUE else None


def transcript(rows: Rows) -> Transcript:
    """The turns of a session, in the order of its lines; its name is the last `sessionId`, or "".

    What a forked session took over from another is no turn of it, and neither is what the user took
    back: a request that answers the same line as an earlier one stands in the place of that.
    """
    titles: dict[str, str] = {}
    by_id: dict[str, tuple[str, Turn]] = {}  # each turn with the session that it was said in
    summaries: list[Turn] = []
    answered: dict[str, str] = {}  # each request by the line that it answers
    gone: dict[str, int] = {}
    own_name, start = "", 0
    for row in rows:
        said_in = as_text(row.get("sessionId"))
        own_name = said_in or own_name
        kind = as_text(row.get("type"))
        if kind in _TITLES:
            titles[kind] = as_text(row.get(_TITLES[kind]))
        if kind == _QUEUE and not (start or by_id):
            start = parse_moment(row.get("timestamp"))
        turn, is_summary = _parse_turn(row, kind)
        if turn is None or "forkedFrom" in row or 0 < turn.time < start - _FORKED:
            continue
        if is_summary:
            summaries.append(turn)
        elif turn.id not in by_id and turn.id not in gone:  # a resumed session may repeat its lines
            if line := as_text(row.get("parentUuid")) if kind == "user" else "":
                if answered.get(line) in by_id:
                    take_back(by_id, [*by_id].index(answered[line]), gone)
                answered[line] = turn.id
            by_id[turn.id] = (said_in, turn)
    turns = tuple(turn for said_in, turn in by_id.values() if said_in in ("", own_name))
    if len(turns) < len(by_id):  # a fork has other numbers
        gone = {}
    name = own_name if is_id(own_name) else ""
    title = next((titles[kind] for kind in reversed(_TITLES) if titles.get(kind)), "")
    if is_ours(title):
        return Transcript(name, title, "", ())
    return Transcript(name, title, "", turns, tuple(summaries), gone)


def _parse_turn(row: Mapping[str, Any], kind: str) -> tuple[Turn | None, bool]:
    """The turn of a line, and whether it is the client's summary of what came before."""
    name, role, content = as_text(row.get("uuid")), kind, None
    if kind == "attachment":
        role, content = _read_queued(row)
    elif isinstance(message := row.get("message"), dict) and "toolUseResult" not in row:
        is_spoken = message.get("role", kind) == kind and message.get("model") != "<synthetic>"
        content = message.get("content") if is_spoken and _is_human(row) else None
    if role not in ROLES or content is None or not is_id(name):
        return None, False
    words = without_tagged(_read_words(content), _CLIENT_TAGS).strip()
    is_summary = bool(row.get("isCompactSummary")) or words.startswith(_SUMMARY)
    is_said = not any(row.get(mark) for mark in _NOT_SAID)
    if row.get("isSidechain") or not (is_said or is_summary):
        return None, False
    text = "" if words.startswith(_CLIENT_LINES) else clean(words)
    turn = Turn(name, role, text, parse_moment(row.get("timestamp"))) if text else None
    return turn, is_summary


def _read_queued(row: Mapping[str, Any]) -> tuple[str, object]:
    """The role and content of a message typed while the assistant worked."""
    item = row.get("attachment")
    if not isinstance(item, dict) or item.get("type") != "queued_command":
        return "", None
    if item.get("commandMode") != "prompt" or item.get("isMeta") or not _is_human(item):
        return "", None
    return "user", item.get("prompt")


def _is_human(row: Mapping[str, Any]) -> bool:
    origin = row.get("origin")
    return not isinstance(origin, dict) or origin.get("kind", "human") == "human"


def _read_words(content: object) -> str:
    if not isinstance(content, list):
        return as_text(content)
    blocks = [block for block in content if isinstance(block, dict)]
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""  # what stands beside it is the client's comment on it
    texts = [as_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "\n\n".join(filter(None, texts))


# --- the folder


def list_files(projects: Path, folders: Sequence[Path] | None) -> Iterator[SessionFile]:
    """The sessions that may have begun in or below one of the folders; all of them for None.

    Those of sub-agents lie elsewhere, or are named so.
    """
    slugs: tuple[str, ...] = ("",)
    if folders is not None:
        places = {str(place) for folder in folders for place in (folder, os.path.realpath(folder))}
        # every character but letters and digits becomes a dash
        slugs = tuple(re.sub(r"[^A-Za-z0-9]", "-", place)[:_MAX_SLUG] for place in places)
    for file in sorted(projects.glob("*/*.jsonl")):
        # a folder's name does not tell a slash from a dash: the session itself says where it is
        if file.parent.name.startswith(slugs) and not file.name.startswith("agent-"):
            yield SessionFile(file.stem, (file,))


def find(projects: Path, session: str, folders: Sequence[Path]) -> SessionFile | None:
    """A session of any project."""
    if not is_plain_name(session):
        return None
    file = next(projects.glob(f"*/{session}.jsonl"), None)
    return SessionFile(session, (file,)) if file else None


def find_folder(file: SessionFile) -> str:
    """The folder in which a session began, "" where it does not say so. Raises MdmemoryError."""
    return next((cwd for cwd in (as_text(row.get("cwd")) for row in head(file)) if cwd), "")
