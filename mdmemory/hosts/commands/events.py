"""The events of hosts whose hooks are commands, as one type, and the form of their answers; and the
text that a hook gives the assistant: framed, so that nothing of it is ever taken for a person's
words, and short enough for every host.

JSON in, JSON out: what a host calls an event stands here and nowhere else. Loads little.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmemory.files import read_if_there
from mdmemory.store.project import INDEX
from mdmemory.transcripts.injected import MEMORY_TAGS
from mdmemory.transcripts.turns import as_text, is_id
from mdmemory.wire import MAX_LINE, parse_line

if TYPE_CHECKING:
    from mdmemory.config.settings import Settings
    from mdmemory.hosts.texts import Spoken, Typed

START, PROMPT, STOP, END = "start", "prompt", "stop", "end"
# not PreCompact: what it adds to the prompt of a summary stands in Claude Code's terminal, whole
_SHARED = {"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": STOP, "SessionEnd": END}
# What each host calls these; its wiring names them all, and no other: each costs a process.
KINDS: Mapping[str, Mapping[str, str]] = {
    "claude": _SHARED,
    "codex": _SHARED,
    # its PreCompress comes with every turn, and tells nothing
    "gemini": {"SessionStart": START, "BeforeAgent": PROMPT, "AfterAgent": STOP, "SessionEnd": END},
}
_HOOK_OPEN, _HOOK_CLOSE = "<hook_context>", "</hook_context>"
_NOT_TYPED = "<task-notification>"  # Claude Code: an agent in the background has ended
_TURNS = ("prompt_id", "turn_id")  # Claude Code, Codex
_COMMAND = "/memory-"
GOES_ON = ("compact", "clear")  # the client keeps the settings that it read at its start
MARK = "mdmemory: "  # before each line for the person
_MOST_BYTES = 256 * 1024 * 1024  # bytes of a session that is looked through


class HookEvent(NamedTuple):
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


def read(
    host: str, event: Mapping[str, Any], folder: Path, client: object = ""
) -> HookEvent | None:
    """The event in the JSON of a hook that runs in `folder`, a process of `client`; None for one
    that is not ours: of another name, of no session, or a sub-agent's."""
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
    turn = next(filter(is_id, (as_text(event.get(key)) for key in _TURNS)), "")
    if not turn:  # Gemini CLI gives none: one is made of the time and the words
        stamp = f"{event.get('timestamp')}\n{event.get('prompt')}".encode("utf-8", "replace")
        turn = hashlib.sha256(stamp).hexdigest()[:16]
    return HookEvent(
        host, kind, name, session, f"hook-{turn}"[:120], _first_folder(Path(cwd), folder),
        transcript,
        words=words,
        answer=as_text(event.get("last_assistant_message") or event.get("prompt_response")),
        source=as_text(event.get("source") or event.get("reason")),
        attended=attended,
        client=as_text(client),
    )  # fmt: skip


def _is_exec(transcript: Path | None) -> bool:
    """Whether a session of Codex is a `codex exec`, which its transcript says in the first line."""
    try:
        with open(transcript or os.devnull, "rb") as file:
            row = parse_line(file.readline(MAX_LINE))
        return bool(row["payload"]["source"] == "exec")
    except (OSError, ValueError, TypeError, LookupError):  # empty, torn, or of another form
        return False


def _first_folder(*folders: Path) -> Path:
    """The first of these folders that is there: a session may name what was moved or removed since
    it began. Where none is, what is left of the way to the first."""
    known = [each for each in folders if each.is_absolute() and "\0" not in str(each)]
    for folder in known:
        if os.path.isdir(folder):
            return folder
    first = (*known, Path("/"))[0]
    return next(each for each in (first, *first.parents) if os.path.isdir(each))


def without_context(prompt: str) -> str:
    """A prompt without what Gemini CLI puts before it: the context that earlier hooks gave."""
    while prompt.startswith(_HOOK_OPEN):
        _, close, rest = prompt.partition(_HOOK_CLOSE)
        if not close:
            return ""
        prompt = rest.lstrip("\n")
    return prompt


def hook_output(event: HookEvent, context: str = "", lines: Sequence[str] = ()) -> dict[str, Any]:
    """What the hook prints: `context` for the assistant, `lines` for the person; {} for nothing."""
    printed: dict[str, Any] = {}
    if context:
        is_gemini = event.host == "gemini"
        text = without_angles(context) if is_gemini else _mark_commands(event, context)
        printed["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": text}
    if line := "\n".join(f"{MARK}{line}" for line in lines if line):
        printed["systemMessage"] = _mark_commands(event, line)
    return printed


def _mark_commands(event: HookEvent, text: str) -> str:
    """A text that names commands of ours as the host knows them: Codex starts them by a dollar."""
    return text.replace(f" {_COMMAND}", f" ${_COMMAND[1:]}") if event.host == "codex" else text


def spoken_message(event: HookEvent, words: str, command: Typed | None) -> Spoken:
    """The message as its session will show it later: without what is private, or ours."""
    from mdmemory.hosts.texts import REMEMBER, Spoken
    from mdmemory.privacy import strip_private
    from mdmemory.transcripts.turns import Turn, clean

    text = clean(words)
    return Spoken(
        event.session, Turn(event.turn, "user", text) if text else None, event.folder,
        is_private=bool(strip_private(words)[1]), length=len(words),
        attended=event.attended, at_once=command is not None and command.name == REMEMBER,
    )  # fmt: skip


def answer_output(
    event: HookEvent, answer: Mapping[str, Any], lines: Sequence[str] = (), first: str = ""
) -> dict[str, Any]:
    """What the hook prints of the answer to a message, after `first`, and of more lines for the
    person."""
    from mdmemory.prompt.message_part import CLOSE, OPEN

    parts = [
        each if each.startswith(OPEN) and each.endswith(CLOSE) else harmless_text(each)
        for each in answer["parts"]
    ]
    toasts = [answer["toast"]["message"]] if "toast" in answer else []
    text = "\n\n".join(filter(None, (first, frame_texts(*parts))))
    return hook_output(event, text, [*toasts, *lines])


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
            if not 0 < event.transcript.stat().st_size <= _MOST_BYTES:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return data.find(wanted.encode("utf-8", "replace")) >= 0
    except (OSError, ValueError):
        return False


# --- the text for the assistant

MOST = 9_500  # characters; Claude Code and Codex cut at 10,000
OPEN, CLOSE = "<mdmemory>", "</mdmemory>"
# what would close the frame, or hide what follows it from whoever reads the session later
_TAGS = re.compile(
    rf"<(?=/?(?:{MEMORY_TAGS})\b)|<(?=\s{{0,9}}/?\s{{0,9}}private\b)|\[(?=/?private\])",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?[a-z_]{1,40}(?: [^<>\n]{0,100})?)>")
_TOP = ("<!-- generated by mdmemory", "# Memory index", "> Notes are data about")
NAMED = "# Memory protocol"  # what every such text holds
_HEADINGS = {
    "user": "# MEMORY.md of the user's own notes (tools take them as me/FILE)",
    "project": "# MEMORY.md of this project's notes",
}


def frame_texts(*texts: str) -> str:
    """The texts in one frame that tells readers of the session whose they are; "" for none."""
    content = "\n\n".join(filter(None, texts))
    return f"{OPEN}\n{content}\n{CLOSE}" if content else ""


def harmless_text(text: str) -> str:
    """A text in which no tag closes the frame, or another one of ours."""
    return _TAGS.sub("‹", text)


def start_text(
    event: HookEvent, protocol: str, stores: Sequence[tuple[str, Path]], carried: Path | None,
    rest: Sequence[str] = (),
) -> tuple[str, str]:  # fmt: skip
    """What a session is given at its start, "" where it has had that, and all indexes that its
    prompt then holds. `stores` stand behind their layers; the client itself brings the index of
    the one that is `carried`."""
    data = [(layer, store, read_if_there(store / INDEX) or b"") for layer, store in stores]
    indexes = [(layer, store, each.decode("utf-8", "replace")) for layer, store, each in data]
    real = carried and carried.resolve()
    given = [(layer, index) for layer, store, index in indexes if store.resolve() != real]
    text, part = at_start(protocol, given, rest)
    is_had = event.source not in ("startup", *GOES_ON) and has_had(event, part)
    return "" if is_had else text, "".join(f"\n{index}\n" for *_, index in indexes)


def at_start(
    protocol: str, indexes: Sequence[tuple[str, str]], rest: Sequence[str] = ()
) -> tuple[str, str]:
    """The text at the start of a session, of at most MOST characters: the protocol, the indexes,
    each behind its layer (user or project), and the `rest`, which is framed already where it need
    be; and the part of it that tells whether a session has had it: what is shown of the indexes,
    without any the protocol.

    Where not all fits, the indexes lose lines, the project's first, and say so.
    """
    fixed = [harmless_text(protocol.strip()), *rest]
    room = MOST - len(frame_texts(*fixed)) - 4
    shown: list[str] = []
    # the person's is given room first, and stands first
    for layer, index in sorted(indexes, key=lambda each: each[0] != "user"):
        text = cut_index(harmless_text(index), _HEADINGS[layer], room)
        room -= len(text) + 2
        shown += [text] if text else []
    part = "\n\n".join(shown) or fixed[0]
    text = frame_texts(fixed[0], *shown, *fixed[1:])
    return (text if len(text) <= MOST else frame_texts(fixed[0])), part


def without_angles(text: str) -> str:
    """A text whose tags stand in square brackets, for a host that escapes the others."""
    return _TAG.sub(r"[\1]", text)


def cut_index(index: str, heading: str, room: int) -> str:
    """An index below `heading` in at most `room` characters: whole lines, and how many of how many
    notes they are; "" where no note fits."""
    lines = [line for line in index.split("\n") if not line.startswith(_TOP)]
    whole = "\n".join([heading, *lines]).rstrip()
    total = notes = sum(map(_is_note, lines))
    if not notes or len(whole) <= room:
        return whole if notes else ""
    footer = next((line for line in reversed(lines) if line.startswith("> ")), "")
    match footer.split()[:5]:  # all notes, as the index itself counts them: "> 23 of 140 notes"
        case [">", _, "of", count, *_] if count.isdecimal():
            total = max(int(count), notes)
    left = room - len(heading) - len(_count_line(total, total)) - 2
    lines_shown: list[str] = []
    for line in lines:
        if line.startswith("> ") or len(line) + 1 > left:
            break
        left -= len(line) + 1
        lines_shown.append(line)
    shown = sum(map(_is_note, lines_shown))
    while lines_shown and not _is_note(lines_shown[-1]):
        lines_shown.pop()  # a heading without a note below it
    return "\n".join([heading, *lines_shown, "", _count_line(shown, total)]) if shown else ""


def _is_note(line: str) -> bool:
    return line.startswith("- [")


def _count_line(shown: int, total: int) -> str:
    return f"> {shown} of {total} notes; memory_search finds the others."
