"""Reads the parameters of a plugin's requests: messages, uses of tools, models and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mdmemory import bounds
from mdmemory.errors import UsageError

if TYPE_CHECKING:  # each is loaded by the function that needs it
    from mdmemory.transcripts.turns import Turn

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
