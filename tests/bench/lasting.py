"""How well facts are told from things of the moment: `python tests/bench/lasting.py FILE [SEEDS]`.

Each line of the file is one session: `{"id", "turns": [{"id", "role", "text"}], "facts": [{"turn",
"text", "type", "quote"}], "junk": [{"turn", "text", "quote"}]}`. A model proposes the facts and
what stands as junk in the user's own words, 1:1 and 3:1, and simulated judges answer the second
question: one that is right nine times of ten, one that affirms everything, one that never knows.
Prints what of the facts and of the junk is stored, waits and is dropped; SEEDS (10) draws are
summed up. It runs in one process, with no store and no model.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmemory.capture import lasting, second_question
from mdmemory.capture.candidates import Candidate, redacted
from mdmemory.capture.gate import form
from mdmemory.capture.judge import judge
from mdmemory.capture.lasting import Proposed, TimeVerdict
from mdmemory.capture.scene import Scene
from mdmemory.transcripts.turns import Turn

SEEDS = 10
RATIOS = (1, 3)  # pieces of junk for one fact
TYPES = {"preference": "feedback", "rule": "feedback", "place": "reference"}  # else project
STORED = ("added", "flagged", "updated", "reinforced")

Judge = Callable[[random.Random, bool], str]  # the verdict on a proposal that is a fact, or is not


@dataclass(frozen=True)
class Proposal:
    """One proposal: its `outcome` by form and proof alone, and what the second question asks about
    (None where it asks nothing)."""

    outcome: str
    asked: Proposed | None


@dataclass(frozen=True)
class Session:
    """What a model proposes in one session."""

    facts: list[Proposal]
    junk: list[Proposal]


def read(file: Path) -> list[dict[str, Any]]:
    """The sessions of a file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def candidate(row: dict[str, Any], name: str) -> Candidate:
    """What a model would propose for a fact or a piece of junk of a session."""
    kind = "decision" if row.get("type") == "decision" else ""
    type = TYPES.get(row.get("type", ""), "project")
    return Candidate("add", type, kind, name, row["text"], row["text"], "", row["quote"])


def prepared(row: dict[str, Any]) -> Session:
    """A session, judged as far as no second question is needed for it."""
    said = [Turn(each["id"], each["role"], each["text"]) for each in row["turns"]]
    turns = redacted([each for each in said if each.role != "tool"])
    users = {each.id for each in said if each.role == "user"}
    junk = [each for each in row["junk"] if each["turn"] in users]
    rows = [*row["facts"], *junk]
    candidates = [candidate(each, f"fact-{at}") for at, each in enumerate(rows)]
    judged = judge(candidates, Scene(turns, (), row["id"], "2026-06-20", form))
    asked = second_question.wanted(zip(candidates, judged, strict=True), turns)
    by_candidate = {each.candidate: each for each in asked}
    found = [
        Proposal(one.outcome, by_candidate.get(each))
        for each, one in zip(candidates, judged, strict=True)
    ]
    return Session(found[: len(row["facts"])], found[len(row["facts"]) :])


def nine_of_ten(chance: random.Random, is_fact: bool) -> str:
    """A judge that is right nine times of ten; half of its errors are that it does not know."""
    if chance.random() < 0.9:
        return "lasting" if is_fact else "moment"
    wrong = "moment" if is_fact else "lasting"
    return "unclear" if chance.random() < 0.5 else wrong


JUDGES: dict[str, Judge] = {
    "right nine times of ten": nine_of_ten,
    "affirms everything": lambda chance, is_fact: "lasting",
    "never knows": lambda chance, is_fact: "unclear",
}


def measured(
    sessions: Sequence[Session], judged: Judge, ratio: int, seeds: int = SEEDS
) -> dict[str, float]:
    """The share of facts and of junk that is `stored`, `pending` and `dropped`, by `fact stored`,
    `junk stored` and so on; the judge is a new one in each session."""
    counts: Counter[str] = Counter()
    for seed in range(seeds):
        chance = random.Random(seed)
        for session in sessions:
            facts, junk = _drawn(chance, session, ratio)
            is_fact = [True] * len(facts) + [False] * len(junk)
            became = _outcomes([*facts, *junk], is_fact, chance, judged)
            counts.update(
                f"{'fact' if fact else 'junk'} {outcome}"
                for fact, outcome in zip(is_fact, became, strict=True)
            )
    shares = {}
    for mark in ("fact", "junk"):
        whole = sum(count for name, count in counts.items() if name.startswith(mark))
        for outcome in ("stored", "pending", "dropped"):
            shares[f"{mark} {outcome}"] = counts[f"{mark} {outcome}"] / whole
    return shares


def _drawn(
    chance: random.Random, session: Session, ratio: int
) -> tuple[list[Proposal], list[Proposal]]:
    """The facts and the junk of a session, `ratio` pieces of junk for one fact."""
    facts, junk = session.facts, session.junk
    if ratio == 1:
        return facts, chance.sample(junk, min(len(facts), len(junk)))
    return chance.sample(facts, min(len(facts), max(1, round(len(junk) / ratio)))), junk


def _outcomes(
    proposals: Sequence[Proposal], is_fact: Sequence[bool], chance: random.Random, judged: Judge
) -> list[str]:
    """`stored`, `pending` or `dropped` for each."""
    asked = [
        (each.asked, fact)
        for each, fact in zip(proposals, is_fact, strict=True)
        if each.asked is not None
    ]
    words = {at: TimeVerdict(judged(chance, fact)) for at, (_, fact) in enumerate(asked)}
    look = lasting.looked([each for each, _ in asked], words)
    found = []
    for each in proposals:
        if each.asked is None:
            found.append("stored" if each.outcome in STORED else each.outcome)
            continue
        fate = look.fate(each.asked.candidate)
        found.append("dropped" if fate.is_dropped else "pending" if fate.reasons else "stored")
    return found


def main() -> None:
    file, *seeds = sys.argv[1:]
    sessions = [prepared(row) for row in read(Path(file))]
    for name, judged in JUDGES.items():
        for ratio in RATIOS:
            shares = measured(sessions, judged, ratio, int(seeds[0]) if seeds else SEEDS)
            told = ", ".join(f"{what} {share:.3f}" for what, share in shares.items())
            print(f"{name}, {ratio}:1: {told}")


if __name__ == "__main__":
    main()
