"""Pairs of notes whose relation is known, and what the offline planner makes of them.

`python tests/compact/pairs.py [FILE]` prints merges and flags by relation and language; `--misses`
lists what went otherwise. FILE holds one JSON object a line: `id`, `lang`, `a`, `b` and `relation`,
which is `same`, `contradict` or `lookalike`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mdmemory.compact.offline import Offline
from mdmemory.compact.plan import Merge, parse
from tests.compact.twins import stored

PAIRS = Path(__file__).with_name("pairs.jsonl")
WANTED = {"same": "merge", "contradict": "flag", "lookalike": ""}


@dataclass(frozen=True)
class Pair:
    """Two notes as plain text, and how they stand to each other."""

    id: str
    lang: str
    a: str
    b: str
    relation: str

    @property
    def verb(self) -> str:
        """What the planner does with the two in a store of their own: merge, flag, or nothing."""
        notes = [
            stored(name, "project", *_parts(text)) for name, text in zip("ab", self, strict=True)
        ]
        ops = parse(Offline().propose(notes, conflicts=[]).answer).ops
        return next(("merge" if isinstance(op, Merge) else "flag" for op in ops), "")

    def __iter__(self) -> Iterator[str]:
        return iter((self.a, self.b))


def _parts(text: str) -> tuple[str, str]:
    """Description and body, as a note is written: what does not fit in one line is the body."""
    return (text, "") if len(text) <= 220 else (text[:200], text)


def pairs(file: Path = PAIRS) -> list[Pair]:
    """The pairs of a file, in its order."""
    return [Pair(**json.loads(line)) for line in file.read_text("utf-8").splitlines() if line]


@dataclass
class Rates:
    """How many pairs of each relation and language there are, and what was done with them."""

    held: Counter[tuple[str, str]]
    done: Counter[tuple[str, str, str]]

    def share(self, relation: str, verb: str, lang: str = "") -> float:
        """The share of a relation's pairs with which this was done, from 0 to 1."""
        langs = [lang] if lang else [each for _, each in self.held]
        done = sum(self.done[relation, each, verb] for each in dict.fromkeys(langs))
        held = sum(self.held[relation, each] for each in dict.fromkeys(langs))
        return done / (held or 1)


def measure(known: Iterable[Pair]) -> Rates:
    """The rates over some pairs, each in a store of its own."""
    rates = Rates(Counter(), Counter())
    for pair in known:
        rates.held[pair.relation, pair.lang] += 1
        rates.done[pair.relation, pair.lang, pair.verb] += 1
    return rates


def table(rates: Rates) -> str:
    """Merges and flags by relation, over all and for each language."""
    langs = ["", *dict.fromkeys(lang for _, lang in rates.held)]
    lines = [f"| relation | done | {' | '.join(lang or 'all' for lang in langs)} |"]
    lines.append("|---" * (len(langs) + 2) + "|")
    for relation in WANTED:
        for verb in ("merge", "flag"):
            shares = (f"{rates.share(relation, verb, lang):.2f}" for lang in langs)
            lines.append(f"| {relation} | {verb} | {' | '.join(shares)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("file", nargs="?", type=Path, default=PAIRS)
    asked.add_argument("--misses", action="store_true")
    given = asked.parse_args()
    known = pairs(given.file)
    if given.misses:
        for pair in known:
            if pair.verb != WANTED[pair.relation]:
                made = f"{pair.relation}: {pair.verb or '-'}"
                print(f"{pair.id} {pair.lang} {made} | {pair.a} | {pair.b}")
    print(table(measure(known)))
