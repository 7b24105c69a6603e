"""What the MCP server offers a person to pick: requests to the assistant with a blank to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # see mcp.py
    import mcp_types as types

# name: title, the blank, what it is for, the text
_PROMPTS = {
    "remember": (
        "Keep something in the long-term memory",
        "fact", "What to remember",
        "Remember this for later sessions: {}\n\nLook with memory_search whether a note says it "
        "already. If none does, keep it with memory_store, in words that stand alone, and tell me "
        "in half a sentence what you stored.",
    ),
    "recall": (
        "Look something up in the long-term memory",
        "topic", "What to look up",
        "What does the long-term memory hold about this: {}\n\nUse memory_search, open what fits "
        "with memory_get, and answer from the notes, naming their files. Say so if there is none.",
    ),
}  # fmt: skip


def every() -> list[types.Prompt]:
    """All prompts."""
    return [_prompt(name) for name in _PROMPTS]


def filled(asked: types.GetPromptRequestParams) -> types.GetPromptResult:
    """A prompt with its blank filled in. Raises MCPError."""
    import mcp_types as types
    from mcp import MCPError

    if asked.name not in _PROMPTS:
        said = f"There is no prompt {asked.name[:40]!r}. There are: {', '.join(_PROMPTS)}."
        raise MCPError(types.INVALID_PARAMS, said)
    title, argument, about, text = _PROMPTS[asked.name]
    given = (asked.arguments or {}).get(argument, "").strip()
    if not given:
        raise MCPError(types.INVALID_PARAMS, f"{asked.name} needs {argument!r}: {about}.")
    content = types.TextContent(type="text", text=text.format(given))
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=title, messages=[message])


def _prompt(name: str) -> types.Prompt:
    import mcp_types as types

    title, argument, about, _ = _PROMPTS[name]
    given = types.PromptArgument(name=argument, description=about, required=True)
    return types.Prompt(name=name, title=title, description=title, arguments=[given])
