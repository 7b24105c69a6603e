"""Plans in which harmless ops lean on bad ones, and which of their ops the guards let pass.

`plans.jsonl` holds one JSON object a line: `id`, `lang`, `notes` (objects of `file`, `type`,
`description`, `body`), `plan`, and a verdict for each of its ops: `right`, `leans_on` (positions of
the bad ops without which it were right), `why`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import planner

from mdmemory.compact.guards import check
from mdmemory.compact.plan import Op, parse
from mdmemory.store.store import StoredNote

PLANS = Path(__file__).with_name("plans.jsonl")
RIGHT, BAD, LEANING = "right", "bad", "leaning"
Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """One op of a row: its kind, and the code and sentence of its refusal ("" where it passes)."""

    row: str
    lang: str
    kind: str
    op: Op
    code: str
    why: str


def rows() -> list[Row]:
    """The rows of the file, in its order."""
    return [json.loads(line) for line in PLANS.read_text("utf-8").splitlines() if line.strip()]


def stored(note: Row) -> StoredNote:
    """A note of a row as a store holds it."""
    name = note["file"].removesuffix(".md").partition("-")[2]
    return planner.stored(name, note["description"], note["body"], note["type"])


def judged(row: Row) -> list[Judged]:
    """What the guards say of each op of a row's plan."""
    plan = parse(json.dumps(row["plan"]))
    verdict = check(plan, [stored(note) for note in row["notes"]], has_secret=lambda _: False)
    refused = {id(op): (code, why) for op, code, why in verdict.refused}
    refused |= {id(op): ("skipped", why) for op, why in verdict.skipped}
    passed = {id(op) for op in verdict.accepted}
    whole = verdict.refusals[0] if verdict.refusals else ("lost", "The op is in no list.")
    found = []
    for op, said in zip(plan.ops, row["verdicts"], strict=True):
        kind = RIGHT if said["right"] else LEANING if said["leans_on"] else BAD
        code, why = ("", "") if id(op) in passed else refused.get(id(op), whole)
        found.append(Judged(row["id"], row["lang"], kind, op, code, why))
    return found
