"""Our slash commands and our skill, in the form that each client reads from files.

One source text for all: OpenCode's commands, where `$ARGUMENTS` stands for what the person typed.
Codex has no commands of a person's own any more: there each is a skill that a person alone starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from mdmemory import assets

REMEMBER, FORGET, REVIEW, UNDO = "remember", "forget", "memory-review", "memory-undo"
# Not OpenCode's `/memory`: Claude Code and Gemini CLI have a command of that name.
COMMANDS = (REMEMBER, FORGET, REVIEW, UNDO)
PLUGIN = "mdmemory"  # Claude Code shows a plugin's command as `/mdmemory:remember`
SKILL = "skills/mdmemory/SKILL.md"

_ARGUMENTS = "$ARGUMENTS"
# What Claude Code lets a command do unasked. An answer of `mdmemory review` is the person's alone.
_ALLOWED = {REMEMBER: ("memory_store",), FORGET: ("memory_search", "memory_forget")}
_SERVERS = ("mcp__mdmemory", "mcp__plugin_mdmemory_mdmemory")  # by `setup`, by the plugin
_BY_HAND = "policy:\n  allow_implicit_invocation: false\n"


class Typed(NamedTuple):
    """A command of ours that a person typed: its name, the words behind it, and what it `said`,
    as the source text has it: "Forget the proxy's port"."""

    name: str
    words: str
    said: str


class _Source(NamedTuple):
    description: str
    body: str


def files_for(host: str) -> dict[str, str]:
    """The text of each file that a client has of ours, by its path below the client's own folder,
    such as ~/.claude. `host` is claude, codex, gemini or opencode."""
    files: dict[str, str] = {}
    for name in COMMANDS:
        files |= _FORMS[host](name, _read_source(name))
    if host == "opencode":
        files["command/memory.md"] = assets.read("templates/opencode/command/memory.md")
    return files | {SKILL: assets.read(assets.SKILL)}


def read_typed(prompt: str) -> Typed | None:
    """The command of ours that a prompt is, or None.

    A prompt comes as it was typed from Claude Code (`/remember X`, of the plugin
    `/mdmemory:remember X`) and Codex (`$remember X`), and as the command's whole text from Gemini
    CLI and OpenCode.
    """
    text = prompt.strip()
    if text.startswith(("/", "$")) and text[1:2].strip():
        first, *words = text[1:].split(maxsplit=1)
        name = first.removeprefix(f"{PLUGIN}:")
        return _typed_command(name, *words) if name in COMMANDS else None
    for name in COMMANDS:
        before, _, after = _read_source(name).body.strip().partition(_ARGUMENTS)
        if text.startswith(before) and text.endswith(after) and len(text) >= len(before + after):
            return _typed_command(name, text[len(before) : len(text) - len(after)].strip())
    return None


def _typed_command(name: str, words: str = "") -> Typed:
    request = _read_source(name).body.partition("\n\n")[0]  # which holds the arguments
    return Typed(name, words, request.replace(_ARGUMENTS, words).strip())


def _read_source(name: str) -> _Source:
    text = assets.read(f"templates/opencode/command/{name}.md")
    head, _, body = text.removeprefix("---\ndescription: ").partition("\n---\n")
    return _Source(head, body)


# --- the form of each client


def _claude_files(name: str, source: _Source) -> dict[str, str]:
    tools = [f"{server}__{tool}" for server in _SERVERS for tool in _ALLOWED.get(name, ())]
    if name == UNDO:
        tools = ["Bash(mdmemory undo:*)"]
    allowed = f"allowed-tools: {', '.join(tools)}\n" if tools else ""
    head = f"description: {source.description}\nargument-hint: {_HINTS[name]}\n{allowed}"
    return {f"commands/{name}.md": f"---\n{head}---\n{source.body}"}


_HINTS = {REMEMBER: "a fact", FORGET: "a note or a fact", REVIEW: '"[ID ANSWER]"', UNDO: '"[ID]"'}


def _gemini_files(name: str, source: _Source) -> dict[str, str]:
    description = json.dumps(source.description, ensure_ascii=False)
    prompt = source.body.replace(_ARGUMENTS, "{{args}}")
    # a literal string of TOML takes every character but three such quotes as it is
    return {f"commands/{name}.toml": f"description = {description}\nprompt = '''\n{prompt}'''\n"}


def _codex_files(name: str, source: _Source) -> dict[str, str]:
    head = f"name: {name}\ndescription: {source.description}\n"
    body = source.body.replace(_ARGUMENTS, f"(what the user wrote behind `${name}`)")
    return {
        f"skills/{name}/SKILL.md": f"---\n{head}---\n{body}",
        f"skills/{name}/agents/openai.yaml": _BY_HAND,
    }


_FORMS: dict[str, Callable[[str, _Source], dict[str, str]]] = {
    "claude": _claude_files,
    "codex": _codex_files,
    "gemini": _gemini_files,
    "opencode": lambda name, source: {
        f"command/{name}.md": f"---\ndescription: {source.description}\n---\n{source.body}"
    },
}
