"""A use of a tool as it waits to be made short: cleaned, clipped, none of our own tools. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from mdmemory import bounds
from mdmemory.files import digest
from mdmemory.observe.observation import GUESSED, MAX_FILE, Draft, drafted, items
from mdmemory.session.cleaning import clean, cut, line, visible

MIN_CHARS = 50  # a shorter output says nothing
MAX_READ = bounds.OBSERVED
HEAD, TAIL = 3_000, 1_000  # characters of it that are kept
MAX_ARGUMENT = 600
MAX_ARGUMENTS = 12

# Lists of tasks, questions to the user, and our own tools, under whatever name a host gives them.
_IGNORED = re.compile(
    r"(?:mdmemory_)?(?:core_|working_)?memory_\w+|todo_?(?:write|read)|question|ask_?user\w*|skill"
    r"|invalid|exit_?plan_?mode",
    re.IGNORECASE,
)
WRITING = ("edit", "write", "multiedit", "patch", "apply_patch", "notebookedit")
_PLACES = ("filePath", "file_path", "path", "file", "notebook_path")
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (\S.*)$")
_DONE = {"read": "Read", "edit": "Edited", "multiedit": "Edited", "write": "Wrote",
         "patch": "Patched", "apply_patch": "Patched", "bash": "Ran", "grep": "Searched for",
         "glob": "Listed", "list": "Listed", "webfetch": "Fetched", "task": "Had done"}  # fmt: skip
_TOLD = ("filePath", "file_path", "command", "pattern", "url", "description", "query", "path")


@dataclass(frozen=True, slots=True)
class Event:
    """`input` is JSON of the arguments, shortened; `at` counts seconds since 1970. `taken` counts
    how often it was taken from the queue: who took it last answers for it."""

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
        """The same for the same use with the same result."""
        whole = "\0".join((self.tool, self.input, self.output))
        return digest(whole.encode("utf-8", "replace"))


def event_of(
    session: str, tool: str, args: Mapping[str, Any], output: str, at: int,
    ignore: Collection[str] = (),
) -> Event | None:  # fmt: skip
    """What is kept of a use of a tool; None where it is ignored, or says too little."""
    if _IGNORED.fullmatch(tool) or tool.lower() in {each.lower() for each in ignore}:
        return None
    given = {
        str(name)[:MAX_ARGUMENT]: _argument(value)
        for name, value in [*args.items()][:MAX_ARGUMENTS]
    }
    seen = clean(visible(_beginning(output))).strip()
    said = seen + ("".join(given.values()) if tool.lower() in WRITING else "")
    if len(said) < MIN_CHARS:
        return None
    shown = json.dumps({line(name, 60): each for name, each in given.items()}, ensure_ascii=False)
    return Event(0, session, line(tool, 60), at, shown, _clipped(seen), _files(args))


def _beginning(output: str) -> str:
    """As much as is read; cut where no word, and so no secret, is cut in two."""
    if len(output) <= MAX_READ:
        return output
    start = output[:MAX_READ]
    space = max(start.rfind("\n"), start.rfind(" "))
    return start[:space] if space > 0 else ""


def _clipped(seen: str) -> str:
    if len(seen) <= HEAD + TAIL:
        return seen
    left = len(seen) - HEAD - TAIL
    # again: half of a text may look like what the whole did not
    return clean(f"{seen[:HEAD]}\n[{left} more characters]\n{seen[-TAIL:]}")


def _argument(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return clean(cut(clean(visible(_beginning(text))).strip(), MAX_ARGUMENT))


def _files(args: Mapping[str, Any]) -> tuple[str, ...]:
    named = [args[place] for place in _PLACES if isinstance(args.get(place), str)]
    for value in args.values():
        if isinstance(value, str) and "*** " in value[:MAX_READ]:
            named += _PATCHED.findall(value[:MAX_READ])
    return items(named, MAX_FILE)


def by_its_metadata(event: Event) -> Draft:
    """What can be said of an event without a model: the tool, its object, its first line."""
    tool = event.tool.lower()
    title = f"{_DONE.get(tool, event.tool)} {_object(event)}".strip()
    first = next((each for each in event.output.splitlines() if each.strip()), "")
    return drafted(
        "change" if tool in WRITING else "discovery", title, cut(first.strip(), 200),
        files=event.files, importance=GUESSED,
    )  # fmt: skip


def _object(event: Event) -> str:
    given: Mapping[str, str] = json.loads(event.input)
    told = next((given[name] for name in _TOLD if given.get(name)), "")
    return event.files[0] if event.files and not told else told.partition("\n")[0]
