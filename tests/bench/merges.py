"""How labelled merges and rewrites are judged: `python tests/bench/merges.py FILE [-v]`, by the
guards; with `--ask OUT` it writes what a second reading of those that pass is asked, and with
`--answers FILE` (lines of `{"id", "verdict"}`) it counts as accepted only what is `ok` there.

Each line of the file is one note in place of others: `{"id", "lang", "kind", "sources":
[{"description", "body"}], "result": {"description", "body"}, "right"}`. The real judgement runs on
it, as a plan of one op over a store of its sources. Prints how many right ones are accepted and
how many wrong ones, by kind and by language; `-v` names the rows that are judged wrongly.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.planner import stored

from mdmemory.compact import dialogue
from mdmemory.compact.dialogue import Readable
from mdmemory.compact.guards import check
from mdmemory.compact.plan import Merge, Plan, Rewrite

Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """A row, and why it is refused; "" where it is accepted."""

    row: Row
    reason: str
    shown: Row

    @property
    def accepted(self) -> bool:
        return not self.reason


def read(file: Path) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def judge(row: Row) -> Judged:
    """What the guards say of one row."""
    notes = [stored(f"n{at}", type="project", **each) for at, each in enumerate(row["sources"])]
    files = tuple(note.file for note in notes)
    description, body = row["result"]["description"], row["result"]["body"]
    text = description, body or description  # as a note has it that says no more
    op: Readable = Rewrite(files[0], text[1], text[0])
    if len(notes) > 1:
        op = Merge(files, files[0], "n0", "project", *text)
    digests = {note.file: note.digest for note in notes}
    verdict = check(Plan((op,), digests), notes, has_secret=lambda text: False, read=[op])
    reasons = [f"{code}: {message}" for _, code, message in verdict.refused]
    reasons += [f"{code}: {why}" for code, why in verdict.refusals]
    shown = dialogue._show(op, {note.file: note for note in notes})
    return Judged(row, "; ".join(reasons), json.loads(shown))


def table(judged: Iterable[Judged]) -> list[str]:
    """Accepted of all, for right rows and for wrong ones: in all, by kind, by language."""
    counts: dict[tuple[bool, str], list[int]] = defaultdict(lambda: [0, 0])
    for each in judged:
        for group in ("all", each.row["kind"], each.row["lang"]):
            count = counts[bool(each.row["right"]), group]
            count[0] += each.accepted
            count[1] += 1
    lines = []
    for is_right, group in sorted(counts, key=lambda key: (not key[0], key[1] != "all", key[1])):
        accepted, of = counts[is_right, group]
        verdict = "right" if is_right else "wrong"
        lines.append(f"{verdict}  {group:22} {accepted:4} of {of:4} accepted  {accepted / of:.3f}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("-v", action="store_true", help="name the rows that are judged wrongly")
    parser.add_argument("--ask", type=Path, metavar="OUT")
    parser.add_argument("--answers", type=Path, metavar="FILE")
    asked = parser.parse_args()
    judged = [judge(row) for row in read(asked.file)]
    if asked.ask:
        passed = [{**each.shown, "number": each.row["id"]} for each in judged if each.accepted]
        lines = (json.dumps(each, ensure_ascii=False) for each in passed)
        asked.ask.write_text("\n".join(lines) + "\n", "utf-8")
    if asked.answers:
        said = {row["id"]: row["verdict"] for row in read(asked.answers)}
        judged = [
            each if each.reason or said.get(each.row["id"]) == dialogue.OK
            else replace(each, reason=f"doubted: {said.get(each.row['id'])}")
            for each in judged
        ]  # fmt: skip
    print("\n".join(table(judged)))
    for each in judged if asked.v else ():
        if each.accepted != each.row["right"]:
            row = each.row
            print(f"\n{row['id']} {row['lang']} {row['kind']}: {each.reason or 'accepted'}")
            for source in row["sources"]:
                print(f"   {source['description']} || {source['body']}")
            print(f"-> {row['result']['description']} || {row['result']['body']}")


if __name__ == "__main__":
    main()
