"""OpenCode's own form of a session, the JSON of `opencode export`: {"info", "messages"}.

Synthetic and ignored parts, tool output, reasoning, compaction, sub-agents and mdmemory's own
sessions give no turns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from mdmemory.errors import BadTranscript
from mdmemory.transcripts.turns import ROLES, Transcript, Turn, as_text, is_id, is_ours, said

HINT = "Make one with `opencode export SESSION > transcript.json`."


def read_export(data: bytes) -> Transcript:
    """Read an export. A message or part with a wrong shape is passed over; a file that is not an
    export raises BadTranscript. A sub-agent's and mdmemory's own sessions have no turns."""
    return transcript(*_shape(_json(data)))


def transcript(info: Mapping[str, object], messages: Sequence[object]) -> Transcript:
    """The turns of a session, given as an export's two parts. Raises BadTranscript without id."""
    session = as_text(info.get("id"))
    if not is_id(session):
        raise BadTranscript("The transcript names no session (info.id).", HINT)
    title, parent = as_text(info.get("title")), as_text(info.get("parentID"))
    if parent or is_ours(title):
        return Transcript(session, title, parent, ())
    read = sorted(filter(None, map(_turn, messages)), key=lambda pair: _order(pair[0]))
    return Transcript(
        session, title, parent,
        tuple(turn for turn, is_summary in read if not is_summary),
        tuple(turn for turn, is_summary in read if is_summary),
    )  # fmt: skip


def _order(turn: Turn) -> tuple[int, str]:
    # the time in an id has 36 bits of milliseconds and begins anew every two years
    return turn.time, turn.id


def _json(data: bytes) -> object:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTranscript("The transcript is not UTF-8 text.", HINT) from error
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("{") and error.pos >= len(text.rstrip()) - 1:
            raise BadTranscript("The transcript is cut off before its end.", HINT) from error
        if text.lstrip().startswith("{") and error.msg.startswith("Unterminated string"):
            raise BadTranscript("The transcript is cut off in a string.", HINT) from error
        raise BadTranscript(
            f"The transcript is not JSON (line {error.lineno}: {error.msg}).", HINT
        ) from error
    except (RecursionError, ValueError) as error:
        raise BadTranscript("The transcript is JSON that cannot be read.", HINT) from error
    return value


def _shape(value: object) -> tuple[Mapping[str, object], list[object]]:
    if isinstance(value, dict):
        info, messages = value.get("info"), value.get("messages")
        if isinstance(info, dict) and isinstance(messages, list):
            return info, messages
    raise BadTranscript("The transcript has no `info` and `messages`.", HINT)


def _turn(message: object) -> tuple[Turn, bool] | None:
    """The turn a message holds, and whether it is a compaction's summary; None for one that is
    damaged, empty, or nobody's words."""
    if not isinstance(message, dict):
        return None
    info, parts = message.get("info"), message.get("parts")
    if not isinstance(info, dict) or not isinstance(parts, list):
        return None
    name, role = as_text(info.get("id")), info.get("role")
    if not is_id(name) or not isinstance(role, str) or role not in ROLES:
        return None
    spoken = "\n\n".join(filter(None, map(_spoken, parts)))
    text = said(_unquoted(spoken) if role == "user" else spoken)
    # On a user's message `summary` is an object of diffs: only `true` marks a compaction.
    is_summary = info.get("summary") is True or info.get("mode") == "compaction"
    return (Turn(name, role, text, _created(info.get("time"))), is_summary) if text else None


def _spoken(part: object) -> str:
    if not isinstance(part, dict) or part.get("type") != "text":
        return ""
    if part.get("synthetic") or part.get("ignored"):
        return ""
    metadata = part.get("metadata")
    if isinstance(metadata, dict) and metadata.get("compaction_continue"):
        return ""
    return as_text(part.get("text"))


def _created(time: object) -> int:
    created = time.get("created") if isinstance(time, dict) else None
    return created if isinstance(created, int) and not isinstance(created, bool) else 0


def _unquoted(text: str) -> str:
    """What was typed: `opencode run "two words"` hands its argument on with the quotes."""
    typed = text.strip()
    if len(typed) > 1 and typed[0] == typed[-1] == '"' and not re.search(r'(?<!\\)"', typed[1:-1]):
        return typed[1:-1].replace('\\"', '"')
    return text
