"""What we add to each request of the real Claude Code, Codex and Gemini CLI, in tokens.

`python tests/bench/host_tokens.py [NOTES]` prints a table: characters/4 of a first request of a
client that `mdmemory setup` wired, less those of one that it did not; needs `make test-hosts`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from desk import NAMES, Desk
from fake_dialects import strings
from fake_provider import FakeProvider, Request
from generate import write_store

NOTES = 300  # more than an index of the default size lists
QUESTION = "What is the capital of France?"
TITLES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}


@dataclass(frozen=True, slots=True)
class Added:
    """Characters that a request has because of us."""

    index: int
    instructions: int  # how to use the memory, what waits, and the frames around it all
    tools: int  # names, descriptions and schemas
    skill: int  # the line by which a client lists it
    total: int
    without: int  # all of it in a project that has no store


def measured(name: str, notes: int) -> Added:
    """What a client's first request has in a project of `notes` notes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        FakeProvider() as provider,
        Desk(Path(folder), provider) as desk,
    ):
        other = desk.repository("other")
        bare = desk.ask(name, QUESTION)[0]
        desk.set_up(name)
        (index,) = (desk.home / "mdmemory").glob("harbour/MEMORY.md")
        write_store(index.parent, notes)
        desk.mdmemory("index")
        wired = desk.ask(name, QUESTION)[0]
        without = desk.ask(name, QUESTION, folder=other)[0]
        return _added(bare, wired, without, index.read_text("utf-8"))


def _added(bare: Request, wired: Request, without: Request, index: str) -> Added:
    new = Counter(_lines(wired)) - Counter(_lines(bare))
    listed = {line for line in index.splitlines() if line}
    of_index = _length(line for line in new.elements() if line in listed)
    of_skill = _length(line for line in new.elements() if line.startswith("- mdmemory:"))
    text = _length(new.elements())
    tools = _tools(wired) - _tools(bare)
    elsewhere = _length((Counter(_lines(without)) - Counter(_lines(bare))).elements())
    return Added(
        index=of_index, instructions=text - of_index - of_skill, tools=tools, skill=of_skill,
        total=text + tools, without=elsewhere + _tools(without) - _tools(bare),
    )  # fmt: skip


def _lines(request: Request) -> list[str]:
    """The lines of all that is said, without the project's name, in which requests differ."""
    said = {key: value for key, value in request.body.items() if key != "tools"}
    text = "\n".join(strings(said)).replace("/other", "/harbour").replace("of other", "of harbour")
    return text.splitlines()


def _tools(request: Request) -> int:
    return len(json.dumps(request.body.get("tools", []), ensure_ascii=False))


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def main() -> None:
    notes = int(sys.argv[1]) if sys.argv[1:] else NOTES
    print("| client | index | instructions | tools | skill | together | without a store |")
    print("|---|---|---|---|---|---|---|")
    for name in NAMES:
        tokens = [f"{each / 4:,.0f}" for each in astuple(measured(name, notes))]
        print(f"| {TITLES[name]} | {' | '.join(tokens)} |", flush=True)


if __name__ == "__main__":
    main()
