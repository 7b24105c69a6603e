"""What we add to each request of the real Claude Code, Codex and Gemini CLI, in tokens.

`python tests/bench/host_tokens.py [NOTES]` prints a table: characters/4 of a first request of a
client that `mdmemory setup` wired, beside one of a client that it did not; needs `make test-hosts`.
"""

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench.many_notes import write_store
from desk import NAMES, Desk
from fake_dialects import strings
from fake_provider import FakeProvider, Request

NOTES = 300  # more than an index of the default size lists
QUESTION = "What is the capital of France?"
TITLES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
BUSY = "{} sent its request without the index: this machine is too busy to measure on."
TURNS = 5  # in which a bridge has to start
# what no two requests have alike: ids, and what Codex says of itself
_OWN = re.compile(r"(?:\w{3,4}_)?[0-9a-f-]{30,60}(?::\d+)?|\{\"installation_id\".*|\d*")


@dataclass(frozen=True, slots=True)
class Added:
    """Characters of a first request: without us, with us, and what of it is ours."""

    bare: int
    wired: int
    index: int
    instructions: int  # how to use the memory, what waits, and the frames around it all
    tools: int  # names, descriptions and schemas
    skill: int  # what a client lists of ours as a skill
    clients: int  # tools of the client's own that it offers wherever there is a server
    without: int  # all that is added in a project that has no store


def measured(name: str, notes: int) -> Added:
    """What a client's first request has in a project of `notes` notes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        FakeProvider() as provider,
        Desk(Path(folder), provider) as desk,
    ):
        other = desk.repository("other")
        desk.ask(name, QUESTION)  # some install skills of their own at their first start
        bare = desk.ask(name, QUESTION)[0]
        desk.set_up(name)
        (index,) = (desk.home / "mdmemory").glob("harbour/MEMORY.md")
        write_store(index.parent, notes)
        desk.mdmemory("index")
        for _ in range(TURNS):
            wired = desk.ask(name, QUESTION)[0]
            if desk.processes(bridges=True) and wired.count("](project-"):
                break
        else:
            raise SystemExit(BUSY.format(TITLES[name]))
        without = desk.ask(name, QUESTION, folder=other)[0]
        return _added(bare, wired, without, index.read_text("utf-8"))


def _added(bare: Request, wired: Request, without: Request, index: str) -> Added:
    new = Counter(_lines(wired)) - Counter(_lines(bare))
    listed = {line for line in index.splitlines() if line}
    of_index = _length(line for line in new.elements() if line in listed)
    of_skill = _length(line for line in new.elements() if _is_of_skill(line))
    before = _length(_lines(bare))
    # Codex writes its own skills shorter beside ours: only the sum counts
    text, elsewhere = _length(_lines(wired)) - before, _length(_lines(without)) - before
    ours, clients = _tools(bare, wired)
    whole = before + len(_dumped(bare.body.get("tools", [])))
    return Added(
        bare=whole, wired=whole + text + ours + clients, index=of_index,
        instructions=text - of_index - of_skill, tools=ours, skill=of_skill, clients=clients,
        without=elsewhere + sum(_tools(bare, without)),
    )  # fmt: skip


def _lines(request: Request) -> list[str]:
    """The lines of all that is said, without the project's name, in which requests differ."""
    said = {key: value for key, value in request.body.items() if key != "tools"}
    text = "\n".join(strings(said)).replace("/other", "/harbour").replace("of other", "of harbour")
    return [line for line in text.splitlines() if not _OWN.fullmatch(line)]


def _is_of_skill(line: str) -> bool:
    """Whether a client lists our skill in this line: Gemini CLI takes several."""
    return line.startswith("- mdmemory:") or (
        line.lstrip().startswith("<")
        and any(word in line for word in ("<name>mdmemory", "long-term memory", "skills/mdmemory"))
    )


def _tools(bare: Request, wired: Request) -> tuple[int, int]:
    """The characters of the tools that came: ours, and the client's own."""
    known = [_dumped(tool) for tool in _flat(bare)]
    fresh = [text for tool in _flat(wired) if (text := _dumped(tool)) not in known]
    ours = [text for text in fresh if "memory_" in text]
    return sum(map(len, ours)), sum(map(len, fresh)) - sum(map(len, ours))


def _flat(request: Request) -> list[object]:
    """All tools; Gemini CLI sends them in one list more."""
    tools = request.body.get("tools", [])
    return [each for tool in tools for each in tool.get("functionDeclarations", [tool])]


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def main() -> None:
    notes = int(sys.argv[1]) if sys.argv[1:] else NOTES
    heads = "without, with, index, instructions, tools, skill, client's own tools, no store"
    print(f"| client | {heads.replace(', ', ' | ')} |")
    print(f"|---|{'---|' * len(heads.split(', '))}")
    for name in NAMES:
        tokens = [f"{each / 4:,.0f}" for each in astuple(measured(name, notes))]
        print(f"| {TITLES[name]} | {' | '.join(tokens)} |", flush=True)


if __name__ == "__main__":
    main()
