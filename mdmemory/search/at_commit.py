"""The notes as they stood at a commit, as a source of search. Reads git, writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mdmemory.files import digest
from mdmemory.git.commits_of_store import Blob, History
from mdmemory.note.note import Note
from mdmemory.search.database import Database
from mdmemory.search.notes import BATCH, Cutting, document
from mdmemory.store.store import StoredNote, decode, is_note_name

_FILE_MODES = ("100644", "100755")  # no links


def fill(
    database: Database, history: History, revision: str, *, is_held: Callable[[Note], bool],
    cutting: Cutting,
) -> None:  # fmt: skip
    """Put in all notes of a commit, which is named as git names it. Raises NotFound."""
    tree = history.tree(history.resolve(revision))
    notes = [
        (file, blob)
        for file, blob in tree.items()
        if is_note_name(file) and blob.mode in _FILE_MODES
    ]
    for at in range(0, len(notes), BATCH):
        some = notes[at : at + BATCH]
        stored = _read(history, some)
        database.put([document(each, "", is_held(each.note), cutting) for each in stored])


def _read(history: History, files: Sequence[tuple[str, Blob]]) -> Iterator[StoredNote]:
    # one process for all of them
    ids = "".join(f"{blob.id}\n" for _, blob in files).encode()
    out, at = history.repository.run("cat-file", "--batch", data=ids), 0
    for file, _ in files:
        line = out.index(b"\n", at)
        size = int(out[at:line].split(b" ")[2])
        data = out[line + 1 : line + 1 + size]
        at = line + 1 + size + 1
        yield StoredNote(file, digest(data), decode(data, file))
