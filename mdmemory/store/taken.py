"""The texts of a host's own memory that were looked at: each is taken once, whatever became of it.

State: where it is lost, texts that git holds are still known.
"""

from __future__ import annotations

from dataclasses import dataclass

from mdmemory.store.state import State


@dataclass(frozen=True, slots=True)
class TakenText:
    """A text of a file, by its digest. `note` is the file of the note that was made of it (`me/` in
    the person's store), with the digest that it had then, `was`; "" for none. `told`: that the
    note is no more was said."""

    file: str
    digest: str
    note: str = ""
    was: str = ""
    told: bool = False


def of_place(state: State, place: str) -> list[TakenText]:
    """What was taken from a folder, the oldest first."""
    query = "SELECT file, digest, note, was, told FROM taken WHERE place = ? ORDER BY id"
    rows = state.rows(query, (place,))
    return [TakenText(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]


def put_texts(state: State, place: str, *texts: TakenText) -> None:
    """Note texts; the same one again takes the place of the first."""
    remove = "DELETE FROM taken WHERE place = ? AND file = ? AND digest = ?"
    insert = "INSERT INTO taken (place, file, digest, note, was, told) VALUES (?, ?, ?, ?, ?, ?)"
    rows = [
        ((remove, (place, each.file, each.digest)),
         (insert, (place, each.file, each.digest, each.note, each.was, each.told)))
        for each in texts
    ]  # fmt: skip
    state.change(*(statement for pair in rows for statement in pair))
