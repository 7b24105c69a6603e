"""The session that is recorded, played in the folder HOME: prints what was typed and shown.

`record.py` starts it and reads its JSON. Commands are run as typed; what is said to the assistant
goes to the hook of Claude Code. Ids, commits and the home folder are replaced, so that each run
prints the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from commands_host import CommandHost, shown

from mdmemory.cli import main

INDEX = "~/mdmemory/billing/MEMORY.md"
WAS, NOW = "deploys-go-out-on-tuesdays", "Deploys go out on Thursdays only"
# "$" at the shell, ">" to the assistant, "#" a comment
TYPED = (
    ("$", "mdmemory setup"),
    ("#", "From now on, in a session of Claude Code:"),
    (">", "Remember that deploys go out on Tuesdays only, because the CDN purges on Mondays."),
    ("$", f"cat {INDEX}"),
    ("$", f'mdmemory add "{NOW}" --replaces {WAS}'),
    ("$", f"tail -n 1 {INDEX}"),
    (">", "/memory-undo"),
    ("$", "git -C ~/mdmemory/billing log --oneline"),
)
_ID = re.compile(r"\b(m-)?(?=[0-9a-f]*\d)[0-9a-f]{7,10}\b")


def play(home: Path) -> list[tuple[str, str, str]]:
    """What was typed, after its sign, and what was shown, of each step."""
    project = home / "billing"
    project.mkdir()
    _git("init", "-q", str(project))
    os.chdir(project)
    _git("commit", "-q", "--allow-empty", "-m", "first")
    assistant = CommandHost("claude", project)
    do = {"$": _run, ">": lambda words: _heard(assistant, words), "#": lambda _: ""}
    seen = [(sign, words, do[sign](words).rstrip("\n")) for sign, words in TYPED]
    programs = str(Path(sys.prefix, "bin"))
    here = [(sign, words, text.replace(str(home), "~").replace(programs, "~/.local/bin"))
            for sign, words, text in seen]  # fmt: skip
    return _with_stable_ids(here)


def _heard(assistant: CommandHost, words: str) -> str:
    """What the person sees in a turn in which the assistant calls no tool."""
    return shown(assistant.say(words)) or shown(assistant.stop())


def _run(command: str) -> str:
    words = shlex.split(command)
    if words[0] != "mdmemory":
        return subprocess.run(
            ["sh", "-c", command], check=True, capture_output=True, text=True
        ).stdout
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main(words[1:])
    assert code == 0, printed.getvalue()
    return printed.getvalue()


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True)


def _with_stable_ids(steps: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Each id and each commit replaced by one that every run has."""
    known: dict[str, str] = {}

    def stable(found: re.Match[str]) -> str:
        return known.setdefault(found[0], _made(len(known), found[0]))

    return [(sign, typed, _ID.sub(stable, seen)) for sign, typed, seen in steps]


def _made(number: int, real: str) -> str:
    mark = "m-" if real.startswith("m-") else ""
    digits = hashlib.sha256(f"{mark}{number}".encode()).hexdigest()
    return mark + digits[: len(real) - len(mark)]


if __name__ == "__main__":
    json.dump(play(Path(os.environ["HOME"])), sys.stdout)
