"""Reads the parameters of a plugin's requests: messages, who says them, uses of tools, models and
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.config import person
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.hosts.conversation import Spoken, transcript_of
from mdmemory.hosts.following import BySession

if TYPE_CHECKING:  # each is loaded by the function that needs it
    from mdmemory.capture.candidate import Caller
    from mdmemory.transcripts.turns import Turn

Params = Mapping[str, Any]


def named_id(params: Params, key: str) -> str:
    """The id under `key`. Raises UsageError where there is none."""
    from mdmemory.transcripts.turns import is_id

    value = params.get(key)
    if not isinstance(value, str) or not is_id(value):
        raise UsageError(f"The request names no {key}.")
    return value


def message_of(session: str, params: Params, children: Children) -> Spoken:
    """A message with the user's turn as its session will show it later."""
    from mdmemory.privacy.private import strip_private
    from mdmemory.transcripts.opencode import build_transcript

    parts = params.get("parts", [])
    message = {"info": {"id": named_id(params, "message"), "role": "user"}, "parts": parts}
    turns = build_transcript({"id": session}, [message]).turns
    part_texts = [part.get("text") for part in parts if isinstance(part, dict)]
    texts = [text for text in part_texts if isinstance(text, str)]
    return Spoken(
        session, turns[0] if turns else None, Path.cwd(),
        is_private=any(strip_private(text)[1] for text in texts),
        length=sum(map(len, texts)),
        by_agent=children.has(session, turns[0].text) if turns else children.knows(session),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Used:
    """A use of a tool of the host. `exit_code` is None where the tool has none, `is_text` False
    where the output is not text."""

    tool: str
    args: Mapping[str, Any]
    output: str
    is_text: bool
    exit_code: int | None


def tool_used(params: Params) -> Used:
    """The use of a tool in a request. Raises UsageError where it names no tool."""
    tool, args, output = params.get("tool"), params.get("args"), params.get("output")
    if not isinstance(tool, str) or not tool:
        raise UsageError("The request names no tool.")
    code = params.get("exit")
    return Used(
        tool, args if isinstance(args, dict) else {}, output if isinstance(output, str) else "",
        isinstance(output, str), code if type(code) is int else None,
    )  # fmt: skip


class Children(BySession[bool]):
    """Which sessions are a sub-agent's: no words of the user stand there."""

    def knows(self, session: str) -> bool:
        """Whether a session is known to be one."""
        return bool(self.get(session))

    def has(self, session: str, text: str) -> bool:
        """The same; one that is older than the bridge is looked up, but only if `text` asks to
        remember something."""
        from mdmemory.capture.notice import notice_wishes

        asks = self.get(session) is None and bool(notice_wishes(text))
        return self.is_one(session) if asks else self.knows(session)

    def is_one(self, session: str) -> bool:
        """The same; one that is older than the bridge is looked up."""
        from mdmemory.transcripts.opencode import find_parent

        is_child = self.get(session)
        if is_child is None:
            is_child = False
            with suppress(MdmemoryError):  # a host without such a database
                is_child = bool(find_parent(person.host_places().opencode, session))
            self.put(session, is_child)
        return is_child


def caller_of(session: str, name: str) -> Caller:
    """The caller of a tool, with the turns of the session if it changes notes: to read them takes
    time."""
    from mdmemory.capture.candidate import Caller
    from mdmemory.tools.table import SESSION, TOOLS

    turns: tuple[Turn, ...] = ()
    changing = [each for each in TOOLS if not each.read_only and each is not SESSION]
    if any(each.name == name for each in changing):
        with suppress(MdmemoryError):  # a host without such a database
            turns = transcript_of(session).turns
    return Caller(session, turns)


def model_of(params: Params) -> str:
    """The model that a prompt is for, or ""."""
    model = params.get("model")
    return model if isinstance(model, str) else ""


def window_of(params: Params) -> int:
    """The tokens that the host can fill in a model's window, from its `limit`; 0: unknown."""
    from mdmemory.session.pressure import usable

    limit = params.get("limit")
    given = limit if isinstance(limit, dict) else {}
    return usable(*(_whole_number(given.get(name)) for name in ("context", "input", "output")))


def count_tokens(tokens: object) -> int:
    """The tokens of the context, as a provider counted them for one answer; 0: unknown."""
    if not isinstance(tokens, dict):
        return 0
    cache = tokens.get("cache")
    parts = [tokens.get("input"), tokens.get("output")]
    parts += [cache.get("read"), cache.get("write")] if isinstance(cache, dict) else []
    return _whole_number(tokens.get("total")) or sum(map(_whole_number, parts))


def _whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 10**12 else 0
