"""The prompts that hosts show as commands: the same texts as OpenCode's commands."""

from __future__ import annotations

from mdmemory import assets
from mdmemory.mcp.loop import INVALID_PARAMS, Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.mcp.loop import Json

# name: its file, its argument, what that is, whether it is needed
_PROMPTS = {
    "remember": ("remember", "fact", "What to remember", True),
    "recall": ("memory", "topic", "What to look up", True),
    "forget": ("forget", "what", "What to forget", True),
    "memory-review": ("memory-review", "answer", "An id and the answer to it", False),
    "memory-undo": ("memory-undo", "id", "The id of the change", False),
}
_PLACE = "$ARGUMENTS"


def list_prompts() -> list[Json]:
    """All prompts."""
    return [_prompt(name) for name in _PROMPTS]


def fill_prompt(params: Json) -> Json:
    """A prompt with the person's words filled in. Raises Fault."""
    name, given = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or name not in _PROMPTS:
        message = f"There is no prompt {str(name)[:40]!r}. There are: {', '.join(_PROMPTS)}."
        raise Fault(INVALID_PARAMS, message)
    _, argument, about, is_needed = _PROMPTS[name]
    words = given.get(argument, "") if isinstance(given, dict) else ""
    if not isinstance(words, str) or (is_needed and not words.strip()):
        raise Fault(INVALID_PARAMS, f"{name} needs the text {argument!r}: {about}.")
    title, text = _file(name)
    content = {"type": "text", "text": text.replace(_PLACE, words.strip())}
    return {"description": title, "messages": [{"role": "user", "content": content}]}


def _prompt(name: str) -> Json:
    _, argument, about, is_needed = _PROMPTS[name]
    given = {"name": argument, "description": about, "required": is_needed}
    title, _ = _file(name)
    return {"name": name, "title": title, "description": title, "arguments": [given]}


def _file(name: str) -> tuple[str, str]:
    """The title and the text of a command's file."""
    file = assets.read(f"templates/opencode/command/{_PROMPTS[name][0]}.md")
    _, head, text = file.split("---\n", 2)
    return head.removeprefix("description:").strip(), text
