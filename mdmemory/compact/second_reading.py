"""The second reading of a plan: a model is shown only what an op takes and what it leaves, and says
whether the one is the other. What it doubts, or does not answer, is not done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mdmemory import assets
from mdmemory.compact.plan import Merge, Rewrite
from mdmemory.compact.text_guards import said
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


def read_again(
    model: Model, ops: Sequence[Readable], notes: Mapping[str, StoredNote]
) -> SecondReading:
    """Ask about these ops in one question; where that is too long, or its answer cannot be read,
    about half of them each, down to one."""
    reading = SecondReading()
    asking = Asking(model, assets.read("protocol/verify.md"))

    def ask(some: Sequence[Readable]) -> None:
        reading.doubts |= _answered(asking, some, notes, reading)

    verdicts.ask_in_parts([_shuffled(ops, notes)] if ops else [], ask, reading)
    return reading


def _shuffled(ops: Sequence[Readable], notes: Mapping[str, StoredNote]) -> list[Readable]:
    """The ops in an order that says nothing of who proposed them, the same for the same ops."""

    def digest(op: Readable) -> str:
        return hashlib.sha256(_shown(op, notes).encode("utf-8", "surrogateescape")).hexdigest()

    return sorted(ops, key=digest)


def _shown(op: Readable, notes: Mapping[str, StoredNote], number: int = 0) -> str:
    files = op.sources if isinstance(op, Merge) else (op.file,)
    sources = [notes[file].note for file in files]
    description = sources[0].head.description if op.description is None else op.description
    asked = {
        "number": str(number), "result": said(description, op.body).strip(),
        "sources": [said(note.head.description, note.body).strip() for note in sources],
    }  # fmt: skip
    return json.dumps(asked, ensure_ascii=False)


def _answered(
    asking: Asking, ops: Sequence[Readable], notes: Mapping[str, StoredNote], reading: SecondReading
) -> dict[Readable, str]:
    shown = ", ".join(_shown(op, notes, number) for number, op in enumerate(ops, 1))
    text = f'{{"ops": [{shown}]}}'
    found = verdicts.ask(asking, text, READINGS, ("number", "verdict", "what"), reading)
    return {
        ops[at]: doubt for at, doubt in verdicts.by_place(found, range(len(ops)), _doubt).items()
    }


def _doubt(word: str, row: Mapping[str, Any]) -> str | None:
    """What is wrong, as half a sentence; "" for nothing, None for a word that is no verdict."""
    if word == OK:
        return ""
    what = row.get("what")
    told = " ".join(what.split())[:_WHAT] if isinstance(what, str) else ""
    return f"{DOUBTS[word]} {told or 'something'}" if word in DOUBTS else None
