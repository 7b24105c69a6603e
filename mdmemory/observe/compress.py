"""Makes the short form of a tool's call: cleans and clips it, and has a model or its metadata tell.

A model gets one question for a batch of calls, and its answer is checked against them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mdmemory import assets, bounds
from mdmemory.files import digest
from mdmemory.llm.answer import ContextExceeded, Model
from mdmemory.llm.json_answer import BadAnswer, as_text, as_word, read_list
from mdmemory.llm.schemas import OBSERVATIONS
from mdmemory.observe.observation import GUESSED, MAX_FILE, TYPES, USUAL, Draft, items, make_draft
from mdmemory.session.cleaning import clean, cut, line, visible

MIN_CHARS = 50  # of an output that says something
MAX_READ = bounds.OBSERVED
HEAD, TAIL = 3_000, 1_000  # characters of it that stay
MAX_ARGUMENT = 600
MAX_ARGUMENTS = 12
MAX_ANSWER = bounds.OBSERVATION

_FIELDS = tuple("number type title narrative facts concepts files importance".split())
# Lists of tasks, questions to the user, and our own tools, under whatever name a host gives them.
_IGNORED = re.compile(
    r"(?:mdmemory_)?(?:session_memory|(?:core_|working_)?memory_\w+)|todo_?(?:write|read)|question"
    r"|ask_?user\w*|skill|invalid|exit_?plan_?mode",
    re.IGNORECASE,
)
WRITING = ("edit", "write", "multiedit", "patch", "apply_patch", "notebookedit")
_PLACES = ("filePath", "file_path", "path", "file", "notebook_path")
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (\S.*)$")
_DONE = {"read": "Read", "edit": "Edited", "multiedit": "Edited", "write": "Wrote",
         "patch": "Patched", "apply_patch": "Patched", "bash": "Ran", "grep": "Searched for",
         "glob": "Listed", "list": "Listed", "webfetch": "Fetched", "task": "Had done"}  # fmt: skip
_OBJECTS = tuple("filePath file_path command pattern url description query path".split())


@dataclass(frozen=True, slots=True)
class Event:
    """A call of a tool. `input` is JSON of its shortened arguments; `at` counts seconds since 1970.
    `taken` counts how often it left the queue: its last taker is responsible for it."""

    id: int
    session: str
    tool: str
    at: int
    input: str
    output: str
    files: tuple[str, ...]
    taken: int = 0

    @property
    def key(self) -> str:
        """The same text for the same call with the same result."""
        whole = "\0".join((self.tool, self.input, self.output))
        return digest(whole)


def event_of(
    session: str, tool: str, args: Mapping[str, Any], output: str, at: int
) -> Event | None:
    """The event of a call, or None for an ignored tool and for too little text."""
    if _IGNORED.fullmatch(tool):
        return None
    arguments = {
        str(name)[:MAX_ARGUMENT]: _argument(value)
        for name, value in [*args.items()][:MAX_ARGUMENTS]
    }
    seen = clean(visible(_cut_output(output))).strip()
    content = seen + ("".join(arguments.values()) if tool.lower() in WRITING else "")
    if len(content) < MIN_CHARS:
        return None
    if len(seen) > HEAD + TAIL:
        left = len(seen) - HEAD - TAIL
        # again: half of a text may look like what the whole did not
        seen = clean(f"{seen[:HEAD]}\n[{left} more characters]\n{seen[-TAIL:]}")
    named = {line(name, 60): each for name, each in arguments.items()}
    input = json.dumps(named, ensure_ascii=False)
    files = [args[place] for place in _PLACES if isinstance(args.get(place), str)]
    for value in args.values():
        if isinstance(value, str) and "*** " in value[:MAX_READ]:
            files += _PATCHED.findall(value[:MAX_READ])
    return Event(0, session, line(tool, 60), at, input, seen, items(files, MAX_FILE))


def _cut_output(output: str) -> str:
    """The part that is read, cut between words, so that no secret is cut in two."""
    if len(output) <= MAX_READ:
        return output
    start = output[:MAX_READ]
    space = max(start.rfind("\n"), start.rfind(" "))
    return start[:space] if space > 0 else ""


def _argument(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return clean(cut(clean(visible(_cut_output(text))).strip(), MAX_ARGUMENT))


def by_its_metadata(event: Event) -> Draft:
    """The draft of an event without a model: the tool, its object, its first line."""
    tool = event.tool.lower()
    arguments: Mapping[str, str] = json.loads(event.input)
    about = next((arguments[name] for name in _OBJECTS if arguments.get(name)), "")
    about = about.partition("\n")[0] if about or not event.files else event.files[0]
    title = f"{_DONE.get(tool, event.tool)} {about}".strip()
    first = next((each for each in event.output.splitlines() if each.strip()), "")
    return make_draft(
        "change" if tool in WRITING else "discovery", title, cut(first.strip(), 200),
        files=event.files, importance=GUESSED,
    )  # fmt: skip


# --- with a model


def compress_events(events: Sequence[Event], model: Model) -> dict[int, Draft]:
    """A draft by the model for each event with news, by the event's id. Events that are too long
    for it together are asked about in halves, one that is too long alone keeps its metadata.

    Raises ModelFailed and BadAnswer.
    """
    system = assets.read("protocol/compress.md")
    try:
        answer = model.complete(system, render_question(events), OBSERVATIONS)
    except ContextExceeded:
        if len(events) == 1:
            return {events[0].id: by_its_metadata(events[0])}
        middle = len(events) // 2
        return compress_events(events[:middle], model) | compress_events(events[middle:], model)
    return parse(answer.text, events)


def render_question(events: Sequence[Event]) -> str:
    """The question for a batch of events, as JSON."""
    numbered = [
        {
            "number": str(number), "tool": event.tool, "input": json.loads(event.input),
            "output": event.output, "files": [*event.files],
        }
        for number, event in enumerate(events, 1)
    ]  # fmt: skip
    return json.dumps({"events": numbered}, ensure_ascii=False)


def parse(answer: str, events: Sequence[Event]) -> dict[int, Draft]:
    """The drafts in an answer, by the event's id; one that is not as asked for gives way to the
    event's metadata, a second one for an event is dropped. Raises BadAnswer without a list."""
    if len(answer) > MAX_ANSWER:
        raise BadAnswer(f"has more than {MAX_ANSWER} characters")
    objects = read_list(answer, "observations", fields=_FIELDS, mark="number").objects
    drafts: dict[int, Draft] = {}
    for value in objects:
        number = (as_text(value.get("number")) or "").strip()
        is_known = number.isascii() and number.isdecimal() and len(number) < 4
        event = events[int(number) - 1] if is_known and 1 <= int(number) <= len(events) else None
        if event is not None and event.id not in drafts:
            drafts[event.id] = _draft(value, event)
    if objects and not drafts:
        raise BadAnswer("names only unknown events")
    return drafts


def _draft(value: Mapping[str, Any], event: Event) -> Draft:
    title, type = (as_text(value.get("title")) or "").strip(), as_word(value.get("type"))
    if type not in TYPES or not title:
        return by_its_metadata(event)
    importance = as_text(value.get("importance")) or ""
    whole = "\n".join((event.input, event.output))
    return make_draft(
        type, title, as_text(value.get("narrative")) or "",
        _texts(value.get("facts")), _texts(value.get("concepts")),
        # a path that the event does not name is a guess
        [f for f in _texts(value.get("files")) if f in event.files or f in whole],
        int(importance) if importance in ("1", "2", "3", "4", "5") else USUAL,
    )  # fmt: skip


def _texts(value: object) -> list[str]:
    """The texts of a list, without empty ones."""
    each = (as_text(text) for text in (value if isinstance(value, list) else [value]))
    return [text for text in each if text]
