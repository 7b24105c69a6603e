"""What a model is shown of the notes: one JSON object. Pure.

A note that redaction would change is not shown at all: what came back of it would lack the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mdmemory.compact.plan import Op, as_json, named
from mdmemory.store.store import StoredNote

Pairs = Iterable[Sequence[str]]
Refused = tuple[Op | None, str, str]  # None where the plan as a whole is meant; code, sentence


def whole(note: StoredNote) -> dict[str, str]:
    """A note with its body."""
    head = note.note.head
    dates = {"created": head.created, "updated": head.updated}
    return brief(note) | {"body": note.note.body} | dates


def brief(note: StoredNote) -> dict[str, str]:
    """A note without its body: then only flags are asked for."""
    head = note.note.head
    named_as = {"file": note.file, "type": head.type, "name": head.name}
    return named_as | {"description": head.description}


def size(shown: Mapping[str, str]) -> int:
    """The characters that a note takes in a question."""
    return len(_json(shown)) + len(", ")


def may_be_shown(note: StoredNote, redact: Callable[[str], str]) -> bool:
    """Whether the note reaches a model as it is: no secret, and a name that is text."""
    if note.note.head.secrets or not note.file.isprintable():
        return False
    text = _json(whole(note))
    return redact(text) == text


def question(today: str, shown: Sequence[Mapping[str, str]], conflicts: Pairs) -> str:
    """Ask for a plan for these notes. `conflicts` are the pairs that wait for a person; those that
    concern none of the notes are left out."""
    return _json(_question(today, shown, conflicts))


def correction(
    today: str, notes: Sequence[StoredNote], conflicts: Pairs, ops: Sequence[Op],
    refused: Sequence[Refused],
) -> str:  # fmt: skip
    """Ask once more for `ops`, which were `refused`; of the notes those that they are about, or
    all where the plan as a whole is meant."""
    about = {file for op in ops for file in named(op)}
    everything = any(op is None for op, _, _ in refused)
    shown = [whole(note) for note in notes if everything or note.file in about]
    plan = {"plan": {"ops": [as_json(op) for op in ops]}} if everything else {}
    why = [_reason(*each) for each in refused]
    return _json(_question(today, shown, conflicts) | plan | {"refused": why})


def _question(
    today: str, shown: Sequence[Mapping[str, str]], conflicts: Pairs
) -> dict[str, Any]:
    files = {note["file"] for note in shown}
    pairs = [list(pair) for pair in conflicts if files & set(pair)]
    return {"today": today, "notes": list(shown), "conflicts": pairs}


def _reason(op: Op | None, code: str, message: str) -> dict[str, Any]:
    about = {} if op is None else {"op": as_json(op)}
    return about | {"code": code, "message": message}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
