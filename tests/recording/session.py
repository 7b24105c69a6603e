"""The session that is recorded: what was typed to OpenCode, and what it showed.

The model is a script; the client, the plugin and the tools are the real ones, and what is shown are
the toasts that the client shows. Ids are replaced, so that each run gives the same.
"""

import hashlib
import os
import queue
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from client import OpenCode
from fake_server import FakeServer
from pace import HUNG
from plugged import PROGRAM, spare_npm

Step = tuple[str, str, str]  # a sign, what was typed, what was shown
Say = Callable[[str], str]  # what is shown of a message or a command
FIRST = "Remember that deploys go out on Tuesdays only, because the CDN purges on Mondays."
CHANGED = "The CDN purges on Wednesdays, so deploys go out on Thursdays."
OTHER = "Marketing sends its newsletter on Fridays."
# what the assistant stores for a message: the fact, and the notes that it takes for untrue
CALLS = {
    FIRST: ("Deploys go out on Tuesdays only, because the CDN purges on Mondays.", ()),
    CHANGED: (
        "Deploys go out on Thursdays, because the CDN purges on Wednesdays.",
        ("deploys-go-out-on-tuesdays",),
    ),
    OTHER: (OTHER, ("deploys-go-out-on-thursdays",)),
}
# "$" at the shell, ">" to the assistant, "#" a comment
TYPED = (
    ("#", "A session of OpenCode:"),
    (">", FIRST),
    ("#", 'The fact changes; nobody says "remember":'),
    (">", CHANGED),
    ("#", "A mistake of the assistant: the new note replaces one that still holds."),
    (">", OTHER),
    (">", "/memory-undo"),
    ("$", "tail -n 1 ~/mdmemory/billing/MEMORY.md"),
)
_ID = re.compile(r"\b(m-)?(?=[0-9a-f]*\d)[0-9a-f]{7,10}\b")
_PERSON = "[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n"


def play(
    home: Path, sit: Callable[[Path, dict[str, str]], AbstractContextManager[Say]]
) -> list[Step]:
    """Each step of the session, in a new person's home; `sit` begins it in the project."""
    project = home / "billing"
    project.mkdir()
    (home / ".gitconfig").write_text(_PERSON, "utf-8")
    person = {"GIT_CONFIG_GLOBAL": str(home / ".gitconfig"), "HOME": str(home)}
    begin = "git init -q && git commit -q --allow-empty -m first"
    _run(f"{begin} && {PROGRAM} setup opencode", project, person)
    spare_npm(home / ".config/opencode")
    person["MEMORY_EXTRACT_DEBOUNCE_MS"] = "0"  # what reads the session later does so at once
    seen: list[Step] = []
    with sit(project, person) as say:
        for sign, words in TYPED:
            shown = ""
            if sign == "$":
                shown = _run(words, project, person).rstrip("\n")
            elif sign == ">":
                shown = say(words)
            seen.append((sign, words, shown.replace(str(home), "~")))
    return _with_stable_ids(seen)


@contextmanager
def in_opencode(project: Path, person: dict[str, str]) -> Iterator[Say]:
    """The real client."""
    home = Path(person["HOME"])
    with FakeServer() as server, OpenCode(project, home, server.url, **person) as client:
        session, toasts = client.new_session(), Toasts(client)

        def say(words: str) -> str:
            if words.startswith("/"):
                client.command(session, words[1:], "")
            else:
                server.call("memory_store", **call_of(words))
                client.send(session, words)
            return toasts.next()

        yield say


def call_of(words: str) -> dict[str, Any]:
    """What the assistant hands to `memory_store` for a message."""
    fact, replaced = CALLS[words]
    return {"fact": fact, "quote": words, "replaces": [*replaced]}


class Toasts:
    """The lines that a client shows beside its conversation, as they come."""

    def __init__(self, client: OpenCode) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        self._events = client.events()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for event in self._events:
            if event.get("type") == "tui.toast.show":
                shown: dict[str, Any] = event["properties"]
                self._lines.put(f"{shown['title']}: {shown['message']}")

    def next(self) -> str:
        """The next one; queue.Empty if there is none."""
        return self._lines.get(timeout=HUNG)


def _run(command: str, folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, check=True,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables},
        stdout=subprocess.PIPE, text=True, timeout=HUNG,
    )  # fmt: skip
    return done.stdout


def _with_stable_ids(steps: list[Step]) -> list[Step]:
    """Each id replaced by one that every run has."""
    known: dict[str, str] = {}

    def stable(found: re.Match[str]) -> str:
        return known.setdefault(found[0], _made(len(known), found[0]))

    return [(sign, typed, _ID.sub(stable, seen)) for sign, typed, seen in steps]


def _made(number: int, real: str) -> str:
    mark = "m-" if real.startswith("m-") else ""
    digits = hashlib.sha256(f"{mark}{number}".encode()).hexdigest()
    return mark + digits[: len(real) - len(mark)]
