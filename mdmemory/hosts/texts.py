"""Our slash commands and our skill, in the form that each client reads from files; and what a
message of the person asks for. Loads little.

One source text for all: OpenCode's commands, where `$ARGUMENTS` stands for what the person typed.
Codex has no commands of a person's own any more: there each is a skill that a person alone starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmemory import assets, bounds
from mdmemory.errors import MdmemoryError

if TYPE_CHECKING:
    from mdmemory.capture.notice import Noticed
    from mdmemory.hosts.background import Log
    from mdmemory.transcripts.turns import Turn

REMEMBER, FORGET, REVIEW, UNDO = "remember", "forget", "memory-review", "memory-undo"
# Not OpenCode's `/memory`: Claude Code and Gemini CLI have a command of that name.
COMMANDS = (REMEMBER, FORGET, REVIEW, UNDO)
TYPED = (UNDO, REVIEW)  # are done before the assistant answers
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


# --- what a message asks for


class Spoken(NamedTuple):
    """A message of a session. `turn` is what was said, None where nothing of it can be read;
    `is_private`: a part of it is; `length`: the characters of all of it; `by_agent`: another agent
    says it, whose words decide nothing; `attended`: a person watches the run; `at_once`: it is the
    command to remember."""

    session: str
    turn: Turn | None
    folder: Path
    is_private: bool = False
    length: int = 0
    by_agent: bool = False
    attended: bool = True
    at_once: bool = False


class HeardMessage(NamedTuple):
    """What a message wants, without what the person does not want remembered. `secret`: of a
    request nothing is left without its secret; `cut`: a part was taken out."""

    text: str
    noticed: Noticed
    secret: bool
    cut: bool


NO_SECRET = "Not remembered: that is a secret. Keep it in a password manager."


def hear_request(message: Spoken) -> HeardMessage | None:
    """What a message wants of the memory; None where a person said nothing that can be read."""
    if message.turn is None or message.by_agent:
        return None
    return read_request(message.turn.text)


def keep_request(
    answer: dict[str, Any], message: Spoken, heard: HeardMessage,
    keep: Callable[..., object], log: Log,
) -> bool:  # fmt: skip
    """Keep what a message asks to remember by `keep`, whatever git and the store do, and put a line
    into the answer on what cannot be kept; whether anything was."""
    if heard.secret:
        from mdmemory.prompt.lines import show

        answer["toast"] = show(NO_SECRET, "warning")
    if not heard.noticed.wishes or message.turn is None:
        return False
    try:
        keep(
            heard.noticed.wishes, session=message.session, turn=message.turn.id,
            message=message.turn.text, attended=message.attended,
        )  # fmt: skip
    except MdmemoryError as problem:
        from mdmemory.prompt.lines import show

        log.failure("message", problem)
        answer["toast"] = show(f"NOT remembered, and not kept: {problem.message}", "error")
        return False
    return True


def parts_for(
    message: Spoken, heard: HeardMessage | None, near: str = "", named: Sequence[str] = ()
) -> list[str]:
    """What the assistant is told with a message."""
    from mdmemory.prompt.message_part import part

    length = notices_of_length(message.length)
    if heard is None:
        return length
    texts = part(
        heard.text, heard.noticed, near, named, has_secret=heard.secret,
        is_private=heard.cut or (message.is_private and bool(heard.noticed)),
    )  # fmt: skip
    return [*texts, *length]


def read_request(text: str) -> HeardMessage:
    """What a message, without its private parts, wants of the memory."""
    from mdmemory.capture.notice import notice_wishes, without_unwanted
    from mdmemory.privacy.redaction import redact, says_something

    text_left, cut = without_unwanted(text)
    noticed = notice_wishes(redact(text_left)[0])
    wishes = tuple(each for each in noticed.wishes if says_something(each))
    is_secret_ = len(wishes) < len(noticed.wishes)
    return HeardMessage(text_left, noticed._replace(wishes=wishes), is_secret_, bool(cut))


def notices_of_length(length: int) -> list[str]:
    """A notice for the assistant on a message that is too long to be read whole, or []."""
    if length <= bounds.MESSAGE:
        return []
    return [
        f"mdmemory read the first {bounds.MESSAGE:,} of {length:,} characters of this message. If "
        "the user asks to remember something after that, store it with memory_store."
    ]
