"""Plans in which harmless ops lean on bad ones, and which of their ops the guards let pass.

`python tests/compact/plans.py [FILE]` prints how many of each kind pass; `--misses` lists what went
otherwise. FILE holds one JSON object a line: `id`, `lang`, `notes` (objects of `file`, `type`,
`description`, `body`), `plan`, and a verdict for each of its ops: `right`, `leans_on` (positions of
the bad ops without which it were right), `why`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from mdmemory.compact.guards import check
from mdmemory.compact.plan import Op, as_json, parse
from mdmemory.files import digest
from mdmemory.note import editing
from mdmemory.note import note as notes_format
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


def rows(file: Path = PLANS) -> list[Row]:
    """The rows of a file, in its order."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def stored(note: Row) -> StoredNote:
    """A note of a row as a store holds it."""
    name = note["file"].removesuffix(".md").partition("-")[2]
    text = editing.compose(
        name=name, type=note["type"], description=note["description"], body=note["body"]
    )
    file = note["file"]
    return StoredNote(file, digest(text.encode()), notes_format.parse(text, file))


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


def without_bad(row: Row) -> Row:
    """The row as it were if the plan had its right ops only."""
    those = [said for said in row["verdicts"] if said["right"]]
    ops = [row["plan"]["ops"][said["op"]] for said in those]
    return {**row, "plan": {"ops": ops}, "verdicts": those}


def counts(found: Iterable[Judged]) -> Counter[tuple[str, str]]:
    """(kind, code of the refusal or "" where it passes): how many ops."""
    return Counter((each.kind, each.code) for each in found)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", nargs="?", type=Path, default=PLANS)
    options.add_argument("--misses", action="store_true", help="list what went otherwise")
    chosen = options.parse_args()
    found = [each for row in rows(chosen.file) for each in judged(row)]
    table = counts(found)
    for kind in (RIGHT, BAD, LEANING):
        of = sum(count for (each, _), count in table.items() if each == kind)
        codes = [f"{code} {n}" for (each, code), n in table.most_common() if each == kind and code]
        print(f"{kind:8} {table[kind, '']:3} of {of:3} pass; refused: {', '.join(codes) or '-'}")
    alone = [each for row in rows(chosen.file) for each in judged(without_bad(row))]
    fine = sum(not each.code for each in alone)
    print(f"in a plan of right ops only {fine} of {len(alone)} pass")
    for each in found if chosen.misses else ():
        if (each.kind == RIGHT) != (not each.code):
            print(f"{each.row} {each.kind} {each.code}: {json.dumps(as_json(each.op))[:160]}")
            print(f"    {each.why}")


if __name__ == "__main__":
    main()
