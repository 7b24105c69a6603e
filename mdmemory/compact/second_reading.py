"""The second reading of a plan: a model is shown only what an op takes and what it leaves, and says
whether the one is the other. What it doubts, or does not answer, is not done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mdmemory import assets
from mdmemory.compact.plan import Merge, Rewrite
from mdmemory.compact.text_guards import said
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Asking, ContextExceeded, Model
from mdmemory.llm.form import once_more
from mdmemory.llm.json_answer import BadAnswer, listed
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
class SecondReading:
    """`doubts` says of each op that was answered "" (it is right) or what is wrong with it, as half
    a sentence; an op that is not in it had no answer, for the reason in `failure`, if any."""

    doubts: dict[Readable, str] = field(default_factory=dict)
    input: int = 0
    output: int = 0
    calls: int = 0
    failure: MdmemoryError | None = None


def read_again(
    model: Model, ops: Sequence[Readable], notes: Mapping[str, StoredNote]
) -> SecondReading:
    """Ask about these ops in one question; where that is too long, or its answer cannot be read,
    about half of them each, down to one."""
    reading = SecondReading()
    asking = Asking(model, assets.read("protocol/verify.md"))
    left = [_shuffled(ops, notes)] if ops else []
    while left:
        some = left.pop(0)
        try:
            found = _answered(asking, some, notes, reading)
        except (BadAnswer, ContextExceeded) as problem:
            middle = len(some) // 2
            left = [some[:middle], some[middle:], *left] if middle else left
            reading.failure = reading.failure or (None if middle else problem)
        except MdmemoryError as problem:
            reading.failure = problem
            break
        else:
            reading.doubts |= found
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
    for asked in (text, once_more(text, READINGS)):
        answer = asking.model.complete(asking.system, asked, READINGS)
        reading.calls += 1
        reading.input += answer.input_tokens
        reading.output += answer.output_tokens
        try:
            fields = ("number", "verdict", "what")
            found = listed(answer.text, "verdicts", fields=fields, mark="verdict").objects
        except BadAnswer as problem:
            bad = problem
            continue
        return {ops[at]: doubt for at, doubt in _doubts(found, len(ops)).items()}
    raise bad


def _doubts(found: Sequence[object], count: int) -> dict[int, str]:
    """What is wrong with each, by its place; what cannot be read is left out, and of two verdicts
    on one number neither counts."""
    doubts: dict[int, str] = {}
    twice = set()
    for each in found:
        if not isinstance(each, dict):
            continue
        number, word = str(each.get("number", "")).strip(), each.get("verdict")
        at = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if not (0 <= at < count and isinstance(word, str)):
            continue
        if at in doubts:
            twice.add(at)
        word, what = word.strip().casefold(), each.get("what")
        said_what = " ".join(what.split())[:_WHAT] if isinstance(what, str) else ""
        if word != OK and word not in DOUBTS:
            continue
        doubts[at] = "" if word == OK else f"{DOUBTS[word]} {said_what or 'something'}"
    return {at: doubt for at, doubt in doubts.items() if at not in twice}
