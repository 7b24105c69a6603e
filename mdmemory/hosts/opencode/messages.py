"""Reads the parameters of a plugin's requests: messages, uses of tools, models and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory import bounds
from mdmemory.config import person
from mdmemory.errors import MdmemoryError, UsageError

if TYPE_CHECKING:  # each is loaded by the function that needs it
    from mdmemory.capture.run import Extracted
    from mdmemory.capture.withdrawal import Withdrawn
    from mdmemory.layers import Layers
    from mdmemory.tools.tool import Caller
    from mdmemory.transcripts.turns import Transcript, Turn

Params = Mapping[str, Any]


def named(params: Params, key: str) -> str:
    """The id under `key`. Raises UsageError where there is none."""
    from mdmemory.transcripts.turns import is_id

    value = params.get(key)
    if not isinstance(value, str) or not is_id(value):
        raise UsageError(f"The request names no {key}.")
    return value


def turn_of(session: str, params: Params) -> tuple[Turn | None, bool]:
    """The user's turn in a message, as its session will show it later, or None for an empty one;
    and whether a part of it is private."""
    from mdmemory.privacy.private import strip_private
    from mdmemory.transcripts.opencode import transcript

    parts = params.get("parts", [])
    message = {"info": {"id": named(params, "message"), "role": "user"}, "parts": parts}
    turns = transcript({"id": session}, [message]).turns
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    is_private = any(strip_private(text)[1] for text in texts if isinstance(text, str))
    return (turns[0] if turns else None), is_private


def put_by(session: str, turn: Turn | None, problem: MdmemoryError) -> Extracted:
    """Put the requests of a turn by for later although there is no store; without one, raise
    `problem`."""
    from mdmemory.capture import requests
    from mdmemory.capture.wishes import inbox_without_store

    if turn is None or not requests.wishes_in(turn.text, turn.id):
        raise problem
    inbox, today = inbox_without_store(Path.cwd()), person.now().date().isoformat()
    return requests.put_by([inbox], turn.text, session, turn.id, today, problem)


def requests_of(turn: Turn) -> tuple[list[str], list[str]]:
    """The facts that a turn asks to remember, and the requests in text that it only quotes."""
    from mdmemory.capture import foreign
    from mdmemory.capture.requests import wishes_in

    return [each.text for each in wishes_in(turn.text, turn.id)], foreign.requests(turn.text)


def unread(params: Params) -> list[str]:
    """A notice for the assistant on a message that is too long to be read whole, or []."""
    texts = [part.get("text") for part in params.get("parts", []) if isinstance(part, dict)]
    length = sum(len(text) for text in texts if isinstance(text, str))
    if length <= bounds.MESSAGE:
        return []
    return [
        f"mdmemory read the first {bounds.MESSAGE:,} of {length:,} characters of this message. If "
        "the user asks to remember something after that, store it with memory_store."
    ]


@dataclass(frozen=True, slots=True)
class Used:
    """A use of a tool of the host. `exit_code` is None where the tool has none, `is_text` False
    where the output is not text."""

    tool: str
    args: Mapping[str, Any]
    output: str
    is_text: bool
    exit_code: int | None


def used(params: Params) -> Used:
    """The use of a tool in a request. Raises UsageError where it names no tool."""
    tool, args, output = params.get("tool"), params.get("args"), params.get("output")
    if not isinstance(tool, str) or not tool:
        raise UsageError("The request names no tool.")
    code = params.get("exit")
    return Used(
        tool, args if isinstance(args, dict) else {}, output if isinstance(output, str) else "",
        isinstance(output, str), code if type(code) is int else None,
    )  # fmt: skip


def transcript_of(session: str) -> Transcript:
    """A session as the host keeps it. Raises MdmemoryError where it cannot be read."""
    from mdmemory.transcripts.sources import copy, read

    return read(copy(person.hosts(), session))


def taken_back(layers: Layers, session: str, turn: Turn, last: str) -> Withdrawn | None:
    """Take back what a message does not want remembered; `last` is the user's message before it,
    for where the session cannot be read."""

    def before() -> list[Turn]:
        from mdmemory.transcripts.turns import Turn

        with suppress(MdmemoryError):  # a host without such a database
            turns = transcript_of(session).turns
            ids = [each.id for each in turns]
            return [*turns[: ids.index(turn.id) if turn.id in ids else len(ids)]]
        return [Turn("last", "user", last)] if last else []

    return layers.withdraw(turn.text, session=session, before=before)


def caller_of(session: str, name: str) -> Caller:
    """The caller of a tool, with the user's words if it changes notes: to read them takes time."""
    from mdmemory.tools.table import SESSION, TOOLS
    from mdmemory.tools.tool import Caller

    turns: tuple[Turn, ...] = ()
    changing = [each for each in TOOLS if not each.read_only and each is not SESSION]
    if any(each.name == name for each in changing):
        with suppress(MdmemoryError):  # a host without such a database
            turns = transcript_of(session).turns
    words = tuple(turn.text for turn in turns if turn.role == "user")
    return Caller(session, words, turns)


def model_of(params: Params) -> str:
    """The model that a prompt is for, or ""."""
    model = params.get("model")
    return model if isinstance(model, str) else ""


def window_of(params: Params) -> int:
    """The tokens that the host can fill in a model's window, from its `limit`; 0: unknown."""
    from mdmemory.session.pressure import usable

    limit = params.get("limit")
    given = limit if isinstance(limit, dict) else {}
    return usable(*(_whole(given.get(name)) for name in ("context", "input", "output")))


def counted(tokens: object) -> int:
    """The tokens of the context, as a provider counted them for one answer; 0: unknown."""
    if not isinstance(tokens, dict):
        return 0
    cache = tokens.get("cache")
    parts = [tokens.get("input"), tokens.get("output")]
    parts += [cache.get("read"), cache.get("write")] if isinstance(cache, dict) else []
    return _whole(tokens.get("total")) or sum(map(_whole, parts))


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 10**12 else 0
