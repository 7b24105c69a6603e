"""What a model is shown for a plan, batch by batch, what it is asked, and its answer. Pure."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from mdmemory.compact.plan import (
    MAX_ANSWER,
    MAX_REPORTED,
    WORDS,
    Plan,
    PlanRefused,
    fields_of,
    ops_of,
)
from mdmemory.llm import json_answer
from mdmemory.note.note import list_standing
from mdmemory.store import merged
from mdmemory.store.store import StoredNote
from mdmemory.text import literals
from mdmemory.text.similarity import Ranking

Size = Callable[[StoredNote], int]

_RAREST = 12  # words of a note that its neighbours are found by
_NEAREST = 3  # neighbours that go with a note into one question, itself among them
_LOOKED_AT = 400  # characters of a body that are looked at for it


def batches(notes: Sequence[StoredNote], size: Size, limit: int) -> list[list[StoredNote]]:
    """The notes in batches of at most `limit` by `size`, each sorted by file."""
    ordered = sorted(notes, key=lambda note: (note.note.head.type, note.file))
    notes = [note for note in ordered if size(note) <= limit]
    if sum(map(size, notes)) <= limit:
        return [sorted(notes, key=lambda note: note.file)] if notes else []
    packed: list[list[StoredNote]] = []
    rooms: list[int] = []
    # each piece into the first batch that has room for it
    for piece in (piece for group in _near(notes) for piece in _cut(group, size, limit)):
        total = sum(map(size, piece))
        at = next((at for at, room in enumerate(rooms) if total <= room), len(rooms))
        if at == len(rooms):
            packed.append([])
            rooms.append(limit)
        packed[at] += piece
        rooms[at] -= total
    return [sorted(batch, key=lambda note: note.file) for batch in packed]


def _near(notes: Sequence[StoredNote]) -> Iterator[list[StoredNote]]:
    """Groups that hang together, neighbours one after the other; never of two types."""
    for _, group in groupby(notes, key=lambda note: note.note.head.type):
        some = [*group]
        texts = [f"{note.note.head.description}\n{note.note.body[:_LOOKED_AT]}" for note in some]
        ranking, left = Ranking(texts), dict.fromkeys(range(len(some)))
        while left:
            waiting, near = deque([next(iter(left))]), list[StoredNote]()
            while waiting:
                if (at := waiting.popleft()) in left:
                    del left[at]
                    near.append(some[at])
                    waiting.extend(ranking.near(texts[at], _RAREST)[:_NEAREST])
            yield near


def _cut(group: Sequence[StoredNote], size: Size, limit: int) -> Iterator[list[StoredNote]]:
    piece: list[StoredNote] = []
    room = limit
    for note in group:
        if size(note) > room:
            yield piece
            piece, room = [], limit
        piece.append(note)
        room -= size(note)
    yield piece


def whole(note: StoredNote) -> dict[str, str]:
    """A note with its body, and what else an op on it is judged by, as far as it has that."""
    head = note.note.head
    more = list_standing(head) | {"created": head.created}
    more |= {"updated": head.updated} if head.updated != head.created else {}
    named_as = {"file": note.file, "type": head.type, "name": head.name}
    texts = {"description": head.description, "body": note.note.body}
    return named_as | texts | {key: text for key, text in more.items() if text}


def brief(note: StoredNote) -> dict[str, str]:
    """A note by its description only: then only flags are asked for."""
    return {"file": note.file, "description": note.note.head.description}


def size(shown: Mapping[str, str]) -> int:
    """The characters that a note takes in a question."""
    return len(as_text(shown)) + len(", ")


def may_be_shown(note: StoredNote, redact: Callable[[str], str]) -> bool:
    """Whether the note reaches a model as it is: no secret, and a name that is text."""
    if note.note.head.secrets or not note.file.isprintable():
        return False
    text = as_text(whole(note))
    return redact(text) == text


def find_linked(notes: Sequence[StoredNote]) -> frozenset[str]:
    """The files that another one of the notes links to, by whatever name they have."""
    linkers: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for name in literals.linked_names(note.note.text) if "[[" in note.note.text else ():
            linkers[name].add(note.file)
    if not linkers:
        return frozenset()
    return frozenset(
        note.file
        for note in notes
        if any(linkers.get(name, set()) - {note.file} for name in merged.note_names(note.note))
    )


def as_text(value: object) -> str:
    """A value as it stands in a question."""
    return json.dumps(value, ensure_ascii=False)


_ALL_FIELDS = {"op", *(name for word in WORDS for name in fields_of(word)[1])}
_LISTS = ("sources", "files")


def read(text: str) -> Plan:
    """The ops in a model's answer, as far as they are whole. Raises PlanRefused where there are
    none that can be read.

    It has no digests: whoever asked knows which notes it showed, and a model's word counts nothing.
    """
    try:
        if len(text) > MAX_ANSWER:
            raise json_answer.BadAnswer(f"is longer than {MAX_ANSWER} characters")
        answer = json_answer.read_list(text, "ops", fields=_ALL_FIELDS, mark="op")
    except json_answer.BadAnswer as problem:
        message = f"The model's answer {problem.why}."
        raise PlanRefused([{"code": "unparsable", "message": message}]) from None
    ops, flawed = ops_of([_as_asked(each) for each in answer.objects])
    if flawed and not ops:
        raise PlanRefused([{"code": "schema", "message": each} for each in flawed[:MAX_REPORTED]])
    return Plan(ops, flawed=flawed, lost=answer.lost, count=answer.lost + len(answer.objects))


def _as_asked(op: Mapping[str, Any]) -> dict[str, Any]:
    """An op in the form that was asked for: its own fields, without blank ones, a single file as a
    list, the words of a choice in lower case."""
    word = json_answer.as_word(op.get("op")) or ""
    required, possible = fields_of(word)
    fields: dict[str, Any] = {"op": word}
    for name in possible:
        read = json_answer.as_texts if name in _LISTS else json_answer.as_text
        value = (json_answer.as_word if name == "type" else read)(op.get(name))
        if value is None:
            fields[name] = op[name]  # what it is, for the sentence that says what is wrong with it
        elif value or (name in required and op.get(name) is not None):
            fields[name] = value
    return fields
