"""The table of tools for assistants of all hosts, and the call of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mdmemory.capture.candidate import Caller
from mdmemory.config.settings import Settings
from mdmemory.errors import UsageError
from mdmemory.layers import Layers
from mdmemory.session.cleaning import UNSEEN
from mdmemory.tools.notes import NOTES
from mdmemory.tools.observations import OBSERVATIONS
from mdmemory.tools.session import SESSION
from mdmemory.tools.tool import LONGEST, Tool, ToolAnswer, check_arguments

__all__ = ["SESSION", "TOOLS", "Caller", "Tool", "ToolAnswer", "call_tool", "offered_tools"]

_CUT = "(The answer is cut here: ask for less.)"
TOOLS: tuple[Tool, ...] = (*NOTES, *OBSERVATIONS, SESSION)


def offered_tools(settings: Settings) -> list[Tool]:
    """The tools, without those of what is switched off: observations, the memory of a session."""
    seen = [*NOTES]
    seen += OBSERVATIONS if settings.switch("observe.enabled") else ()
    return [*seen, SESSION] if settings.switch("session.memory") else seen


def call_tool(
    layers: Layers, name: str, arguments: Mapping[str, Any], caller: Caller | None = None
) -> ToolAnswer:
    """The answer of a tool. Raises UsageError for an unknown tool or wrong arguments, and the
    MdmemoryError of the tool."""
    tool = next((each for each in TOOLS if each.name == name), None)
    if tool is None:
        raise UsageError(
            f"There is no tool {name[:40]!r}.",
            f"There are: {', '.join(each.name for each in TOOLS)}.",
        )
    given = check_arguments(name, tool.parameters, arguments)
    target = layers if tool in NOTES else layers.main
    answer = tool.run(target, given, caller or Caller())
    text = answer.text if len(answer.text) <= LONGEST else f"{answer.text[: LONGEST - 60]}\n{_CUT}"
    most = LONGEST  # of one text; the longest ones give way
    while len(str(answer_text := _all_visible(answer.structured, most))) > 2 * LONGEST and most:
        most //= 2
    return ToolAnswer(_visible_text(text), answer_text, answer.toast)


def _visible_text(text: str) -> str:
    """`text` with invisible characters replaced; line ends stay."""
    return UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))


def _all_visible(value: Any, most: int) -> Any:
    """A JSON value with all its texts `_visible_text`, and at most so many characters of each."""
    if isinstance(value, str):
        return _visible_text(value[:most])
    if isinstance(value, Mapping):
        return {key: _all_visible(each, most) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_all_visible(each, most) for each in value]
    return value
