"""The events of hosts whose hooks are commands, as one type, and the form of their answers.

JSON in, JSON out: what a host calls an event stands here and nowhere else. Loads next to nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.hosts.commands.context import NAMED, without_angles
from mdmemory.transcripts.turns import as_text, is_id
from mdmemory.wire import MAX_LINE, parse_line

if TYPE_CHECKING:
    from mdmemory.config.settings import Settings

START, PROMPT, STOP, END = "start", "prompt", "stop", "end"
# not PreCompact: what it adds to the prompt of a summary stands in Claude Code's terminal, whole
_SHARED = {
    "SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": STOP, "SessionEnd": END,
}  # fmt: skip
# What each host calls these; its wiring names them all, and no other: each costs a process.
KINDS: Mapping[str, Mapping[str, str]] = {
    "claude": _SHARED,
    "codex": _SHARED,
    # its PreCompress comes with every turn, and tells nothing
    "gemini": {
        "SessionStart": START, "BeforeAgent": PROMPT, "AfterAgent": STOP, "SessionEnd": END,
    },
}  # fmt: skip
_OPEN, _CLOSE = "<hook_context>", "</hook_context>"
_NOT_TYPED = "<task-notification>"  # Claude Code: an agent in the background has ended
_TURNS = ("prompt_id", "turn_id")  # Claude Code, Codex
_COMMAND = "/memory-"
MARK = "mdmemory: "  # before each line for the person
_MOST = 256 * 1024 * 1024  # bytes of a session that is looked through


@dataclass(frozen=True, slots=True)
class HookEvent:
    """An event of a session. `name` is the host's own word for it, `words` what the person typed,
    `answer` the assistant's last one, `source` how a session starts or why it ends. `attended`: a
    person sees what is shown. `client`: processes above the hook, of which one is the client."""

    host: str
    kind: str
    name: str
    session: str
    turn: str
    folder: Path
    transcript: Path | None = None
    words: str = ""
    answer: str = ""
    source: str = ""
    attended: bool = True
    client: str = ""


def read(host: str, event: Mapping[str, Any], folder: Path) -> HookEvent | None:
    """The event in the JSON of a hook that runs in `folder`; None for one that is not ours: of
    another name, of no session, or a sub-agent's.

    Half a surrogate pair, which JSON may carry, stands for no character, and cannot be written.
    """
    event = {key: _whole_text(value) for key, value in event.items()}
    name = as_text(event.get("hook_event_name"))
    kind = KINDS.get(host, {}).get(name)
    session = as_text(event.get("session_id"))
    if kind is None or not is_id(session) or event.get("agent_id"):
        return None
    words = without_context(as_text(event.get("prompt"))) if kind == PROMPT else ""
    if words.lstrip().startswith(_NOT_TYPED):
        return None
    cwd, path = as_text(event.get("cwd")), as_text(event.get("transcript_path"))
    transcript = Path(path) if os.path.isabs(path) and "\0" not in path else None
    attended = event.get("attended") is not False and not (host == "codex" and _is_exec(transcript))
    return HookEvent(
        host, kind, name, session, _turn_id(event), _first_folder(Path(cwd), folder), transcript,
        words=words,
        answer=as_text(event.get("last_assistant_message") or event.get("prompt_response")),
        source=as_text(event.get("source") or event.get("reason")),
        attended=attended,
    )  # fmt: skip


def _is_exec(transcript: Path | None) -> bool:
    """Whether a session of Codex is a `codex exec`, which its transcript says in the first line."""
    try:
        with open(transcript or os.devnull, "rb") as file:
            row = parse_line(file.readline(MAX_LINE))
        return bool(row["payload"]["source"] == "exec")
    except (OSError, ValueError, TypeError, LookupError):  # empty, torn, or of another form
        return False


def _whole_text(value: Any) -> Any:
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _first_folder(*folders: Path) -> Path:
    """The first of these folders that is there: a session may name what was moved or removed since
    it began. Where none is, what is left of the way to the first."""
    known = [each for each in folders if each.is_absolute() and "\0" not in str(each)]
    for folder in known:
        if os.path.isdir(folder):
            return folder
    first = (*known, Path("/"))[0]
    return next(each for each in (first, *first.parents) if os.path.isdir(each))


def _turn_id(event: Mapping[str, Any]) -> str:
    """The id of the turn; of Gemini CLI, which gives none, one made of its time and words."""
    given = next(filter(is_id, (as_text(event.get(key)) for key in _TURNS)), "")
    if given:
        return f"hook-{given}"[:120]
    stamp = f"{event.get('timestamp')}\n{event.get('prompt')}".encode("utf-8", "replace")
    return f"hook-{hashlib.sha256(stamp).hexdigest()[:16]}"


def without_context(prompt: str) -> str:
    """A prompt without what Gemini CLI puts before it: the context that earlier hooks gave."""
    while prompt.startswith(_OPEN):
        _, close, rest = prompt.partition(_CLOSE)
        if not close:
            return ""
        prompt = rest.lstrip("\n")
    return prompt


def hook_output(event: HookEvent, context: str = "", lines: Sequence[str] = ()) -> dict[str, Any]:
    """What the hook prints: `context` for the assistant, `lines` for the person; {} for nothing."""
    printed: dict[str, Any] = {}
    if context:
        context_text = (
            without_angles(context) if event.host == "gemini" else _mark_commands(event, context)
        )
        printed["hookSpecificOutput"] = {
            "hookEventName": event.name,
            "additionalContext": context_text,
        }
    if line := "\n".join(f"{MARK}{line}" for line in lines if line):
        printed["systemMessage"] = _mark_commands(event, line)
    return printed


def _mark_commands(event: HookEvent, text: str) -> str:
    """A text that names commands of ours as the host knows them: Codex starts them by a dollar."""
    return text.replace(f" {_COMMAND}", f" ${_COMMAND[1:]}") if event.host == "codex" else text


def idle_seconds(settings: Settings) -> float:
    """The seconds that a session has to be idle until it is read."""
    return settings.whole("extract.debounce_ms") / 1000


def reading_words(session: str, seconds: float) -> list[str]:
    """The words of the command that reads a session once it has been idle for `seconds`."""
    # without a delay it would be a command that a person typed, which waits for nobody
    return ["extract", f"--session={session}", f"--after={max(0.1, seconds):g}"]


def has_had(event: HookEvent, part: str) -> bool:
    """Whether the session, as the host has written it down, holds `part` of the text already."""
    if event.transcript is None:
        return False
    # Gemini CLI escapes some of it
    wanted = NAMED if event.host == "gemini" else json.dumps(part, ensure_ascii=False)[1:-1]
    import mmap  # few events need it

    try:
        with event.transcript.open("rb") as file:
            if not 0 < event.transcript.stat().st_size <= _MOST:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return data.find(wanted.encode("utf-8", "replace")) >= 0
    except (OSError, ValueError):
        return False
