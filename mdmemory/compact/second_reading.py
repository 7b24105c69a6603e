"""The second reading of a plan: a model is shown only what an op takes and what it leaves, and says
whether the one is the other. What it doubts, or does not answer, is not done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mdmemory import assets
from mdmemory.compact.plan import Merge, Op, Rewrite
from mdmemory.compact.text_guards import as_one
from mdmemory.files import digest, to_bytes
from mdmemory.llm import verdicts
from mdmemory.llm.answer import Asking, Model
from mdmemory.llm.schemas import READINGS
from mdmemory.store.store import StoredNote

OK = "ok"
DOUBTS = {
    "lost": "would lose", "added": "would add", "changed": "would change",
    "reversed": "would turn around",
}  # fmt: skip
_WHAT = 120  # characters of a doubt that are told

Readable = Merge | Rewrite


@dataclass
class SecondReading(verdicts.Spent):
    """`doubts` says of each op that was answered "" (it is right) or what is wrong with it, as half
    a sentence; an op that is not in it had no answer, for the reason in `failure`, if any."""

    doubts: dict[Readable, str] = field(default_factory=dict)

    def sentences(self, ops: Sequence[Readable]) -> tuple[tuple[Readable, str], ...]:
        """Each of these ops that is not known to be right, with the reason."""
        failure = self.failure.message if self.failure else "It was asked, and did not say."
        told = []
        for op in ops:
            doubt = self.doubts.get(op)
            if doubt is None:
                told.append((op, f"No second reading: {failure}"))
            elif doubt:
                told.append((op, f"A second reading says that it {doubt}."))
        return tuple(told)


def readable(ops: Sequence[Op], notes: Mapping[str, StoredNote]) -> list[Readable]:
    """The merges and rewrites among these ops whose notes are all there."""
    return [op for op in ops if isinstance(op, Merge | Rewrite) and notes.keys() >= {*_sources(op)}]


def _sources(op: Readable) -> Sequence[str]:
    return op.sources if isinstance(op, Merge) else (op.file,)


def read_again(
    model: Model, ops: Sequence[Readable], notes: Mapping[str, StoredNote]
) -> SecondReading:
    """Ask about these ops in one question; where that is too long, or its answer cannot be read,
    about half of them each, down to one."""
    reading = SecondReading()
    asking = Asking(model, assets.read("protocol/verify.md"))

    def ask_about(some: Sequence[Readable]) -> None:
        shown = ", ".join(_show(op, notes, number) for number, op in enumerate(some, 1))
        fields = ("number", "verdict", "what")
        answer = verdicts.ask(asking, f'{{"ops": [{shown}]}}', READINGS, fields, reading)
        doubts = verdicts.by_place(answer, range(len(some)), _doubt)
        reading.doubts |= {some[at]: doubt for at, doubt in doubts.items()}

    # in an order that says nothing of who proposed them, the same for the same ops
    ordered = sorted(ops, key=lambda op: digest(to_bytes(_show(op, notes))))
    verdicts.ask_in_parts([ordered] if ops else [], ask_about, reading)
    return reading


def _show(op: Readable, notes: Mapping[str, StoredNote], number: int = 0) -> str:
    sources = [notes[file].note for file in _sources(op)]
    description = sources[0].head.description if op.description is None else op.description
    fields = {
        "number": str(number), "result": as_one(description, op.body).strip(),
        "sources": [as_one(note.head.description, note.body).strip() for note in sources],
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)


def _doubt(word: str, row: Mapping[str, Any]) -> str | None:
    """What is wrong, as half a sentence; "" for nothing, None for a word that is no verdict."""
    if word == OK:
        return ""
    what = row.get("what")
    words = " ".join(what.split())[:_WHAT] if isinstance(what, str) else ""
    return f"{DOUBTS[word]} {words or 'something'}" if word in DOUBTS else None
