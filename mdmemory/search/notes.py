"""The notes as a source of search: what differs from the files on disk is read again.

A held note is never put in: of it only the file's state is kept, so as not to read it each time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from mdmemory.errors import NotFound
from mdmemory.files import digest
from mdmemory.note.note import UNREADABLE, Note
from mdmemory.search.chunks import Chunk, cut_text
from mdmemory.search.database import HELD, Database, Document
from mdmemory.search.results import MEMORY
from mdmemory.store.store import Store, StoredNote, decode_note, is_note_name
from mdmemory.text import dates

if TYPE_CHECKING:  # only a search at a commit asks git
    from mdmemory.git.commits_of_store import History
    from mdmemory.store.sights import Sight

Report = Callable[[int, int, str], None]  # done, of how many, what

MANY = 1_000  # files put in, after which tidying up pays


def update_notes(
    database: Database, store: Store, sight: Sight, *, is_held: Callable[[Note], bool],
    waiting: Collection[str] = (), seen: str = "",
    report: Report = lambda *_: None,
) -> list[str]:  # fmt: skip
    """Bring the database up to date with the store's folder; the files that were different.

    Of `waiting` files nothing is told until a person accepted them.

    `sight` is the folder as it is now, and `seen` its `seal`: nothing is done where the database
    knows that. A file that changed just before may change again unseen, and is read again the next
    time.
    """
    if seen and database.seal(MEMORY) == seen:
        return []
    prints = sight.trusted_prints().items()
    now = {file: print for file, print in prints if file not in waiting}

    def read_notes(files: Mapping[str, str]) -> Iterator[Document]:
        for file, known in files.items():
            with suppress(NotFound):  # removed between the look and the reading
                stored = store.read(file)
                if stored.digest == known:  # only its print is another one
                    yield Document(MEMORY, file, now[file], known)
                else:
                    yield note_document(stored, now[file], is_held(stored.note))

    different = database.follow(MEMORY, now, read_notes, report, "notes for search")
    if len(different) > MANY:
        database.tidy()
    if seen:
        database.set_seal(MEMORY, seen)
    return different


def note_document(stored: StoredNote, print: str, is_held: bool) -> Document:
    """A note as the database takes it. Of one that is held or unreadable nothing is told."""
    head = stored.note.head
    if is_held or head.status == UNREADABLE:
        status = HELD if is_held else UNREADABLE
        return Document(MEMORY, stored.file, print, stored.digest, status=status)
    # a note that we wrote has its own name among them, which must not count twice
    aliases = "\n".join(alias for alias in head.aliases if alias != head.name)
    text = stored.note.text.replace("\r\n", "\n").replace("\r", "\n")
    body = stored.note.body.replace("\r\n", "\n").replace("\r", "\n")
    if body.strip():  # its pieces have the file's line numbers
        first = 1 + text[: text.rindex(body)].count("\n")
        chunks = tuple(cut_text(body, first=first))
    else:
        chunks = (Chunk(1, max(1, text.rstrip("\n").count("\n") + 1), head.description),)
    # the dates in the frontmatter, under whatever key
    days = dates.iso_days(stored.note.text[: len(stored.note.text) - len(stored.note.body)])
    return Document(
        MEMORY, stored.file, print, stored.digest, name=head.name, title=head.title,
        description=head.description, date=head.updated or head.created, status=head.status,
        aliases=aliases, days=" ".join(days),
        cites="\n".join(head.cites), chunks=chunks,
    )  # fmt: skip


# --- the notes of a commit


def fill_from_commit(
    database: Database, history: History, revision: str, *, is_held: Callable[[Note], bool],
    report: Report = lambda *_: None,
) -> None:  # fmt: skip
    """Put in all notes of a commit, which is named as git names it. Raises NotFound."""
    tree = history.read_tree(history.resolve(revision))
    modes = ("100644", "100755")  # no links
    ids = {f: blob.id for f, blob in tree.items() if is_note_name(f) and blob.mode in modes}

    def read_notes(files: Mapping[str, str]) -> Iterator[Document]:
        things = history.objects.read([ids[file] for file in files])
        for file, thing in zip(files, things, strict=True):
            if thing is not None:
                stored = StoredNote(file, digest(thing.data), decode_note(thing.data, file))
                yield note_document(stored, "", is_held(stored.note))

    with history.objects.open():  # one process for all of them
        database.follow(MEMORY, dict.fromkeys(ids, ""), read_notes, report, "notes for search")
