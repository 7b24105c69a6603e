"""A session read from the JSON of `opencode export`: who said what, and nothing else.

Only words of the user and of the assistant become turns. `<private>` text, injected memory,
synthetic parts, tool output, reasoning, sub-agents and mdmemory's own sessions are left out here,
by construction, so that no later step can take them for something a person said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mdmemory.capture.privacy import strip_private
from mdmemory.errors import BadTranscript

MAX_TURNS = 40
MAX_CHARS = 24_000
OWN_TITLE = "mdmemory"

_EXPORT = "Make one with `opencode export SESSION > transcript.json`."
_ID = re.compile(r"[\w.:-]{1,120}")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: `role` is user or assistant, `time` milliseconds since 1970 (0: unknown)."""

    id: str
    role: str
    text: str
    time: int = 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's turns by id; `parent` is the session that started this one, or ""."""

    session: str
    title: str
    parent: str
    turns: tuple[Turn, ...]


def read_export(data: bytes) -> Transcript:
    """Read an export. A message or part with a wrong shape is passed over; a file that is not an
    export raises BadTranscript. A sub-agent's and mdmemory's own sessions have no turns."""
    info, messages = _shape(_json(data))
    session = _text(info.get("id"))
    if not _ID.fullmatch(session):
        raise BadTranscript("The transcript names no session (info.id).", _EXPORT)
    title, parent = _text(info.get("title")), _text(info.get("parentID"))
    if parent or title.strip().lower().startswith(OWN_TITLE):
        return Transcript(session, title, parent, ())
    turns = [turn for turn in map(_turn, messages) if turn]
    return Transcript(session, title, parent, tuple(sorted(turns, key=lambda turn: turn.id)))


def since(
    transcript: Transcript,
    watermark: str,
    max_turns: int = MAX_TURNS,
    max_chars: int = MAX_CHARS,
) -> list[Turn]:
    """The turns to read next, oldest first.

    After a known watermark these are the oldest unread ones, so that the next call goes on where
    this one ended; for an unknown or empty watermark the newest ones. Always at least one turn,
    whole, however long.
    """
    known = any(turn.id == watermark for turn in transcript.turns)
    unread = [turn for turn in transcript.turns if not known or turn.id > watermark]
    if known:
        return _within(unread, max_turns, max_chars)
    return _within(unread[::-1], max_turns, max_chars)[::-1]


def _within(turns: Sequence[Turn], max_turns: int, max_chars: int) -> list[Turn]:
    taken: list[Turn] = []
    used = 0
    for turn in turns[:max_turns]:
        used += len(turn.text)
        if taken and used > max_chars:
            break
        taken.append(turn)
    return taken


def _json(data: bytes) -> object:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTranscript("The transcript is not UTF-8 text.", _EXPORT) from error
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("{") and error.pos >= len(text.rstrip()) - 1:
            raise BadTranscript("The transcript is cut off before its end.", _EXPORT) from error
        if text.lstrip().startswith("{") and error.msg.startswith("Unterminated string"):
            raise BadTranscript("The transcript is cut off in a string.", _EXPORT) from error
        raise BadTranscript(
            f"The transcript is not JSON (line {error.lineno}: {error.msg}).", _EXPORT
        ) from error
    except (RecursionError, ValueError) as error:
        raise BadTranscript("The transcript is JSON that cannot be read.", _EXPORT) from error
    return value


def _shape(value: object) -> tuple[Mapping[str, object], list[object]]:
    if isinstance(value, dict):
        info, messages = value.get("info"), value.get("messages")
        if isinstance(info, dict) and isinstance(messages, list):
            return info, messages
    raise BadTranscript("The transcript has no `info` and `messages`.", _EXPORT)


def _turn(message: object) -> Turn | None:
    """The turn a message holds; None for one that is damaged, empty, or nobody's words."""
    if not isinstance(message, dict):
        return None
    info, parts = message.get("info"), message.get("parts")
    if not isinstance(info, dict) or not isinstance(parts, list):
        return None
    name, role = _text(info.get("id")), info.get("role")
    if not _ID.fullmatch(name) or not isinstance(role, str) or role not in ("user", "assistant"):
        return None
    # On a user's message `summary` is an object of diffs: only `true` marks a compaction.
    if info.get("summary") is True or info.get("mode") == "compaction":
        return None
    said = "\n\n".join(filter(None, map(_said, parts)))
    typed = _unquoted(said) if role == "user" else said
    text = without_memory(strip_private(typed)[0]).strip()
    return Turn(name, role, text, _created(info.get("time"))) if text else None


def _said(part: object) -> str:
    if not isinstance(part, dict) or part.get("type") != "text":
        return ""
    if part.get("synthetic") or part.get("ignored"):
        return ""
    metadata = part.get("metadata")
    if isinstance(metadata, dict) and metadata.get("compaction_continue"):
        return ""
    return _text(part.get("text"))


def _text(value: object) -> str:
    """A string that can be written as UTF-8 (JSON may carry half a surrogate pair), else ""."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _created(time: object) -> int:
    created = time.get("created") if isinstance(time, dict) else None
    return created if isinstance(created, int) and not isinstance(created, bool) else 0


def _unquoted(text: str) -> str:
    """What was typed: `opencode run "two words"` hands its argument on with the quotes."""
    said = text.strip()
    if len(said) > 1 and said[0] == said[-1] == '"' and not re.search(r'(?<!\\)"', said[1:-1]):
        return said[1:-1].replace('\\"', '"')
    return text


# --- injected memory -------------------------------------------------------------------------

_TAGS = "core_memory|working_memory|workspace_memory\\w*|mdmemory\\w*|system-reminder"
_TAG = re.compile(rf"<(/?)({_TAGS})(?:\s[^<>]{{0,500}})?>", re.IGNORECASE)
_QUOTE = r"[ \t>]*"
_MARKER = re.compile(rf"{_QUOTE}<!-- generated by mdmemory")
_INDEX_LINE = re.compile(rf"{_QUOTE}[-*] \[.*\]\([^)\s]{{0,400}}\.md\)")
_INDEX_FRAME = re.compile(rf"{_QUOTE}(?:#|>|$)|[ \t]*>")


def without_memory(text: str) -> str:
    """`text` without what memory put there: tagged blocks (to the end when unclosed), an index
    from its marker line to the last line that has an index's form, and single index lines."""
    kept: list[str] = []
    in_index = False
    for line in _without_tagged(text).split("\n"):
        listed = bool(_INDEX_LINE.match(line))
        in_index = bool(_MARKER.match(line)) or (
            in_index and (listed or bool(_INDEX_FRAME.match(line)))
        )
        if not in_index and not listed:
            kept.append(line)
    return "\n".join(kept)


def _without_tagged(text: str) -> str:
    kept: list[str] = []
    start, depth = 0, 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            kept.append(text[start : tag.start()])
        depth = max(0, depth + (-1 if tag[1] else 1))
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)
