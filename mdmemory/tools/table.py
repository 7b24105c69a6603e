"""The tools that an assistant is given: one table for all hosts, and the one way to call them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mdmemory.errors import UsageError
from mdmemory.memory import Memory
from mdmemory.tools.notes import NOTES
from mdmemory.tools.observations import OBSERVATIONS
from mdmemory.tools.session import SESSION
from mdmemory.tools.tool import Caller, Tool, ToolAnswer, checked

__all__ = ["TOOLS", "Caller", "Tool", "ToolAnswer", "call", "offered"]

TOOLS: tuple[Tool, ...] = (*NOTES, *OBSERVATIONS, *SESSION)

# What a terminal would obey, or a reader cannot see: neither belongs into an answer.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    r"\U000e0000-\U000e007f]"
)


def offered(memory: Memory) -> list[Tool]:
    """The tools, without those of a part of the session that is switched off."""
    is_on = memory.project.settings.switch
    off = tuple(f"{part}_memory_" for part in ("core", "working") if not is_on(f"session.{part}"))
    return [each for each in TOOLS if not each.name.startswith(off)]


def call(
    memory: Memory, name: str, arguments: Mapping[str, Any], caller: Caller | None = None
) -> ToolAnswer:
    """What a tool answers. Raises UsageError for a tool or arguments that there are not, and the
    MdmemoryError of whatever went wrong."""
    tool = next((each for each in TOOLS if each.name == name), None)
    if tool is None:
        raise UsageError(
            f"There is no tool {name[:40]!r}.",
            f"There are: {', '.join(each.name for each in TOOLS)}.",
        )
    given = checked(name, tool.parameters, arguments)
    answer = tool.run(memory, given, caller or Caller())
    return ToolAnswer(_visible(answer.text), _all_visible(answer.structured))


def _visible(text: str) -> str:
    """`text` with what cannot be seen made visible; line ends stay."""
    return _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))


def _all_visible(value: Any) -> Any:
    """The same for every text of a JSON value."""
    if isinstance(value, str):
        return _visible(value)
    if isinstance(value, Mapping):
        return {key: _all_visible(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_all_visible(each) for each in value]
    return value
