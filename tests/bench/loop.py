"""How a message over notes ends: `make bench-loop` (docs/figures.md).

    python tests/bench/loop.py CASES --ask OUT         # what an assistant would be shown
    python tests/bench/loop.py CASES --answers FILE    # play its calls, and score what they leave
    python tests/bench/loop.py CASES                   # ask the model of BENCH_MODEL
    python tests/bench/loop.py CASES --floor           # nobody answers: the hooks alone
    python tests/bench/loop.py CASES.. --near          # all notes in one store: which are told?

A case is one line of JSON, as `LoopCase`. The texts are those of our own hooks and tools. An answer
is a line `{"id", "calls": [{"tool", "args"}]}`: the calls of the assistant's first response.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from commands_host import SESSION, CommandHost, context

from mdmemory.capture.extracted import Caller
from mdmemory.errors import MdmemoryError
from mdmemory.memory import Memory
from mdmemory.store.project import INBOX
from mdmemory.tools import table
from mdmemory.transcripts.turns import Turn

Call = dict[str, Any]
Said = tuple[str, str]  # who says it (user, assistant), and what
TURN = "hook-faba11cb-06b3-4522-8a5e-000000000001"  # of the first message of a CommandHost
SERVER = "https://api.openai.com/v1"
TOLD = "settled", "unsure", "blind", "wrong"


@dataclass(frozen=True, slots=True)
class LoopCase:
    """A message over `notes` (name, type, text) after the turns `before`.

    Of the notes it makes `replaces` untrue and wants `forgets` gone; each of `facts` is a new fact,
    by words that it has. `asks`: it asks to remember in so many words.
    """

    id: str
    kind: str
    lang: str
    notes: tuple[tuple[str, str, str], ...]
    message: str
    before: tuple[Said, ...] = ()
    replaces: frozenset[str] = field(default_factory=frozenset)
    forgets: frozenset[str] = field(default_factory=frozenset)
    facts: tuple[tuple[str, ...], ...] = ()
    asks: bool = False

    @property
    def changes(self) -> frozenset[str]:
        """The notes that do not stay as they are."""
        return self.replaces | self.forgets


def read(file: Path) -> list[LoopCase]:
    """The cases of a file, one JSON object a line."""
    lines = file.read_text("utf-8").splitlines()
    return [_case(json.loads(line)) for line in lines if line.strip()]


def _case(row: dict[str, Any]) -> LoopCase:
    return LoopCase(
        row["id"], row["kind"], row["lang"],
        tuple((note["name"], note["type"], note["text"]) for note in row["notes"]),
        row["message"], tuple((turn["role"], turn["text"]) for turn in row["before"]),
        frozenset(row["replaces"]), frozenset(row["forgets"]),
        tuple(tuple(words) for words in row["facts"]), row["asks"],
    )  # fmt: skip


@contextmanager
def world(notes: Sequence[tuple[str, str, str]]) -> Iterator[CommandHost]:
    """A client in a project whose layers have these notes, in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "work/shop"
        for each in (home, project):
            each.mkdir(parents=True)
        before = {**os.environ}
        for name in [each for each in os.environ if each.startswith(("XDG_", "MDMEMORY_", "CI"))]:
            del os.environ[name]
        os.environ.update(HOME=str(home), GIT_CONFIG_GLOBAL=os.devnull)
        try:
            subprocess.run(["git", "init", "-q", project], check=True)
            first = ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--allow-empty"]
            subprocess.run(["git", "-C", project, *first, "-qm", "begin"], check=True)
            Memory.init(project, home=True)
            layers = Memory.around(project)
            for name, type, text in notes:
                layers.add(name, type=type, description=text, body=text)
            yield CommandHost("claude", project, Path(folder) / "session.jsonl")
        finally:
            os.environ.clear()
            os.environ.update(before)


def schemas() -> list[dict[str, Any]]:
    """The tools as a client hands them to a model."""
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in (*table.NOTES, table.SESSION)
    ]  # fmt: skip


def asked(case: LoopCase) -> dict[str, Any]:
    """What the assistant is shown of a case: the start of the session and the message."""
    with world(case.notes) as host:
        system = context(host.start())
        added = context(host.say(case.message))
    turns = [{"role": role, "text": text} for role, text in case.before]
    return {"id": case.id, "system": system, "turns": turns, "message": case.message,
            "added": added}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Left:
    """What a turn left: the notes in force (file, text) that were there before and that are new,
    whether each new one is proven, the names that wait for a person, and what was declined."""

    old: frozenset[str]
    new: tuple[tuple[str, bool], ...]
    waiting: int = 0
    declined: bool = False
    said: tuple[str, ...] = ()


def play(case: LoopCase, calls: Sequence[Call]) -> Left:
    """Play the calls of an assistant after the message of a case, and end the turn."""
    with world(case.notes) as host:
        layers = Memory.around(host.folder)
        names = {each.file: each.note.head.name for each in layers.notes()}
        host.start()
        host.say(case.message)
        turns = [*case.before, ("user", case.message)]
        caller = Caller(SESSION, tuple(
            Turn(TURN if at == len(turns) - 1 else f"before-{at}", role, text)
            for at, (role, text) in enumerate(turns)
        ))  # fmt: skip
        said = []
        for call in calls:
            try:
                opened = Memory.around(host.folder, automatic=True)
                said.append(table.call_tool(opened, call["tool"], call["args"], caller).text)
            except MdmemoryError as refused:
                said.append(f"{refused.message} {refused.hint}")
        host.stop()
        layers = Memory.around(host.folder)
        force = [each for each in layers.notes() if each.note.head.status != "superseded"]
        waits = [path for each in layers.there()
                 for path in (each.project.store / INBOX).glob("forget-*")]  # fmt: skip
        new = tuple(
            (f"{each.note.head.description}\n{each.note.body}", each.note.head.status == "")
            for each in force if each.file not in names
        )  # fmt: skip
    old = frozenset(names[each.file] for each in force if each.file in names)
    return Left(old, new, len(waits), any(call["args"].get("declined") for call in calls),
                tuple(said))  # fmt: skip


def judge(case: LoopCase, left: Left) -> dict[str, int]:
    """What is right and wrong about what a turn left, as counts."""
    gone = {name for name, _, _ in case.notes} - left.old
    texts = [text.casefold() for text, _ in left.new]
    found = [
        any(all(word.casefold() in text for word in words) for text in texts)
        for words in case.facts
    ]
    counts = Counter(cases=1, stored=len(left.new), proven=sum(proven for _, proven in left.new))
    if case.changes:
        verdict = "settled" if gone == case.changes else "blind"
        if gone - case.changes:
            verdict = "wrong"
        elif verdict == "blind" and (left.waiting or gone or left.new):
            verdict = "unsure"
        counts.update({"changes": 1, verdict: 1})
    else:
        counts.update(others=1, touched=int(bool(gone)))
    counts.update(facts=len(found), kept=sum(found))
    if case.asks and case.facts:
        counts.update(wishes=1, lost=int(not all(found) and not left.declined))
    if not case.facts:
        counts.update(silent=1, junk=int(bool(left.new)))
    return counts


def report(judged: Mapping[str, Counter[str]]) -> str:
    """The counts by kind and language, a line each."""
    head = ("", "cases", "changes", *TOLD, "others", "touched", "facts", "kept", "wishes", "lost",
            "silent", "junk", "stored", "proven")  # fmt: skip
    rows = [[name, *(str(counts[each]) for each in head[1:])] for name, counts in judged.items()]
    widths = [max(len(row[at]) for row in [[*head], *rows]) for at in range(len(head))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
             for row in ([*head], *rows)]  # fmt: skip
    return "\n".join(lines)


# --- what is told of the right note among many ---------------------------------------------------


def near(cases: Sequence[LoopCase]) -> str:
    """Of the notes that messages change, how many are told with all notes in one store."""
    taken: Counter[str] = Counter()
    named: dict[tuple[str, str], str] = {}
    notes = []
    for case in cases:
        for name, type, text in case.notes:
            taken[name] += 1
            named[case.id, name] = name if taken[name] == 1 else f"{name}-{taken[name]}"
            notes.append((named[case.id, name], type, text))
    counts = Counter[str]()
    with world(notes) as host:
        index = context(host.start())
        for number, case in enumerate(each for each in cases if each.changes):
            added = context(host.say(case.message, session=f"near-{number}"))
            for name in case.changes:
                file = f"-{named[case.id, name]}.md"
                counts.update(notes=1, shown=file in added, listed=file in index,
                              told=file in added or file in index)  # fmt: skip
    return f"{len(notes)} notes, {dict(counts)}"


def answered_by_model(case: LoopCase) -> list[Call]:
    """The calls of the model that the environment names."""
    from openai import OpenAI

    client = OpenAI(base_url=os.environ.get("BENCH_BASE_URL") or SERVER,
                    api_key=os.environ.get("BENCH_API_KEY") or "none")  # fmt: skip
    told = asked(case)
    messages: list[Any] = [{"role": "system", "content": told["system"]}]
    messages += [{"role": each["role"], "content": each["text"]} for each in told["turns"]]
    parts = (told["message"], told["added"])
    messages.append({"role": "user", "content": "\n\n".join(filter(None, parts))})
    tools: list[Any] = [{"type": "function", "function": each} for each in schemas()]
    choice = client.chat.completions.create(
        model=os.environ["BENCH_MODEL"], messages=messages, tools=tools
    ).choices[0]
    calls: Any = choice.message.tool_calls or ()
    return [{"tool": each.function.name, "args": json.loads(each.function.arguments)}
            for each in calls]  # fmt: skip


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--ask", type=Path, metavar="OUT")
    parser.add_argument("--answers", type=Path, metavar="FILE")
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--near", action="store_true")
    parser.add_argument("-v", action="store_true", help="name what went wrong")
    given = parser.parse_args(words)
    cases = [case for file in given.cases for case in read(file)]
    if given.near:
        print(near(cases))
        return 0
    if given.ask:
        shown = [{"tools": schemas()}, *map(asked, cases)]
        lines = (json.dumps(each, ensure_ascii=False) for each in shown)
        given.ask.write_text("\n".join(lines) + "\n", "utf-8")
        return 0
    answers: dict[str, list[Call]] = {}
    if given.answers:
        rows = map(json.loads, given.answers.read_text("utf-8").splitlines())
        answers = {row["id"]: row["calls"] for row in rows}
        cases = [case for case in cases if case.id in answers]
    elif not given.floor and not os.environ.get("BENCH_MODEL"):
        parser.error("Name a model in BENCH_MODEL, or give --answers, --floor or --ask.")
    judged: dict[str, Counter[str]] = {"all": Counter()}
    for case in cases:
        is_given = given.answers or given.floor
        calls = answers.get(case.id, []) if is_given else answered_by_model(case)
        left = play(case, calls)
        counts = judge(case, left)
        for name in ("all", case.kind, case.lang):
            judged.setdefault(name, Counter()).update(counts)
        odd = [each for each in (*TOLD[1:], "touched", "lost", "junk") if counts[each]]
        if given.v and (odd or counts["kept"] < counts["facts"]):
            print(f"{case.id} {case.kind} {case.lang} {odd}: {case.message!r}\n  {calls}\n  {left}")
    print(report(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
