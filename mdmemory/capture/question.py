"""What a model is shown of a session and of the notes: one JSON object, under a budget. Pure.

Nothing secret is in it, and no note that is held back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdmemory.capture.near import ranked
from mdmemory.note.note import Head
from mdmemory.privacy.redaction import redact
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import MAX_CHARS, Turn

MAX_BODIES = 12_000  # characters of notes that are shown whole
MAX_HEADS = 12_000  # characters of the descriptions of those that are not
MIN_SAID = 40  # characters; nobody states a fact in less


@dataclass(frozen=True, slots=True)
class Question:
    """The user text, and what it showed: digests of all notes in it, files of those with bodies."""

    text: str
    shown: dict[str, str]
    opened: frozenset[str]


def redacted(turns: Sequence[Turn]) -> list[Turn]:
    """The turns without secrets: in this form they are shown, and quotes are looked for.

    One that alone is over the limit, as a pasted log is, is cut, and says so.
    """
    return [replace(turn, text=_cut(redact(turn.text)[0])) for turn in turns]


def _cut(text: str) -> str:
    more = len(text) - MAX_CHARS
    return text if more <= 0 else f"{text[:MAX_CHARS]}\n[{more} more characters]"


def is_worth_asking(turns: Sequence[Turn]) -> bool:
    """Whether a person said anything in these turns that a fact could be found in."""
    said = sum(len(turn.text) for turn in turns if turn.role == "user")
    return bool(said) and sum(len(turn.text) for turn in turns) >= MIN_SAID


def question(turns: Sequence[Turn], notes: Sequence[StoredNote], today: str) -> Question:
    """Ask for the facts in these (redacted) turns.

    Where there are more notes than fit, those nearest to what was said are shown, in full as long
    as there is room, then by their heads.
    """
    opened, heads = _chosen(turns, notes)
    shown = sorted([*opened, *heads], key=lambda note: note.file)
    files = frozenset(note.file for note in opened)
    asked = {
        "today": today,
        "turns": [
            {"number": number, "role": turn.role, "id": turn.id, "text": turn.text}
            for number, turn in enumerate(turns, 1)
        ],
        "notes": [_shown(note, note.file in files) for note in shown],
    }
    text = json.dumps(asked, ensure_ascii=False)
    return Question(text, {note.file: note.digest for note in shown}, files)


def _chosen(
    turns: Sequence[Turn], notes: Sequence[StoredNote]
) -> tuple[list[StoredNote], list[StoredNote]]:
    if sum(map(_size, notes)) <= MAX_BODIES:
        return list(notes), []
    near = [note for note, _ in ranked("\n".join(turn.text for turn in turns), notes)]
    files = {note.file for note in near}
    order = [*near, *(note for note in notes if note.file not in files)]
    opened = _fitting(order, MAX_BODIES, whole=True)
    there = {note.file for note in opened}
    rest = [note for note in order if note.file not in there]
    return opened, _fitting(rest, MAX_HEADS, whole=False)


def _fitting(notes: Sequence[StoredNote], room: int, *, whole: bool) -> list[StoredNote]:
    found = []
    for note in notes:
        size = _size(note) if whole else _head_size(note.note.head)
        if size <= room:
            found.append(note)
            room -= size
    return found


def _size(note: StoredNote) -> int:
    return _head_size(note.note.head) + len(note.note.body)


def _head_size(head: Head) -> int:
    return len(head.file) + len(head.name) + len(head.description)


def _shown(note: StoredNote, whole: bool) -> dict[str, str]:
    head = note.note.head
    said = {"file": note.file, "type": head.type, "name": head.name}
    said["description"] = redact(head.description)[0]
    return said | ({"body": redact(note.note.body)[0]} if whole else {})
