"""Keeps MEMORY.md and _MORE.md equal to what the notes say, and knows how little has to be read.

Writes only those two files and the catalog, and only when their bytes change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

from mdmemory.errors import MdmemoryError, RepositoryState, Unwritable
from mdmemory.files import holds_bytes, read_start, write_atomic
from mdmemory.note.note import SUPERSEDED, Note
from mdmemory.store import index, strangers
from mdmemory.store import store as stores
from mdmemory.store.catalog import NOTHING, Catalog, Rows
from mdmemory.store.project import Project
from mdmemory.store.store import GENERATED, INDEX, LEDGER, OVERFLOW, Store
from mdmemory.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.git.replacement import Change
    from mdmemory.store.conflicts import Entry

_START = 512  # bytes of a generated file that tell whose it is
_MOST_JUDGED = 200_000  # texts without a secret that are remembered, 16 bytes of each


class Refreshed:
    """`changed` names the generated files whose bytes were (or would be) different."""

    def __init__(
        self, catalog: Catalog, changed: tuple[str, ...], arrange: Callable[[], index.Index]
    ) -> None:
        self.catalog, self.changed, self._arrange = catalog, changed, arrange
        self.adopted: str | None = None  # by a commit

    @cached_property
    def index(self) -> index.Index:
        """The index as it now is; made when it is asked for, which most commands never do."""
        return self._arrange()


def _judged_once(is_secret: Callable[[str], bool]) -> Callable[[str], bool]:
    """`is_secret`, which looks through each text once: a command judges a note for the index, and
    the same bytes for search.

    A function, and no method of the refresher's: its catalog holds it, and a circle of the two
    would stay in a process that lives on, megabytes each, until Python looks for such circles.
    """
    free: set[bytes] = set()  # hashes of texts that hold none

    def judge_text(text: str) -> bool:
        hash = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if hash in free:
            return False
        verdict = is_secret(text)
        if not verdict and len(free) < _MOST_JUDGED:
            free.add(hash)
        return verdict

    return judge_text


class Refresher:
    """Reads the heads of one store through its catalog and derives the index from them."""

    def __init__(self, project: Project, is_secret: Callable[[str], bool]) -> None:
        self.project = project
        self.store = Store(project.store)
        self.is_secret = _judged_once(is_secret)
        self._known: Catalog | None = None
        # what a write was told that the index would be: the notes that it changes, and the bytes of
        # the generated files
        self._foreseen: tuple[Rows, Sequence[tuple[str, bytes | None]]] | None = None
        self._is_settled = False

    def catalog(self) -> Catalog:
        """The heads of all notes, as this refresher first saw them or last refreshed them."""
        if self._known is None:
            settings = self.project.settings
            budget = [settings.text(name) for name in ("index.max_chars", "index.max_entries")]
            try:
                cache = self.project.prepare_private() / "catalog"
            except (Unwritable, RepositoryState):
                cache = None  # a read-only project still has readers
            self._known = Catalog(
                self.store.folder, cache, self.store.read, self.is_secret,
                "|".join((VERSION, *budget)), partial(strangers.waiting_notes, self.project),
            )  # fmt: skip
        return self._known

    def forget(self) -> None:
        """See the folder anew at the next question."""
        self._known, self._foreseen, self._is_settled = None, None, False

    def refresh(self, *, write: bool = True) -> Refreshed:
        """Bring both files up to date with the notes, or (write=False) only tell what differs.

        Raises MdmemoryError when MEMORY.md is somebody's own, Unwritable when the folder is
        read-only and something had to change.
        """
        self.forget()
        return self._bring_index(write)

    def _bring_index(self, write: bool = True) -> Refreshed:
        """`refresh` by what is known already."""
        self._is_settled, arrange, stale = write, cache(self._arrange), list[str]()
        if not self.catalog().is_index_known:
            texts = _index_texts(arrange())
            stale = [name for name, data in texts if self._file_differs(name, data)]
            if write and stale:
                self.require_ours()
                for name, data in texts:
                    if name in stale and data is None:
                        (self.store.folder / name).unlink(missing_ok=True)
                    elif name in stale and data is not None:
                        write_atomic(self.store.folder / name, data)
        if write:
            self.catalog().save()
        return Refreshed(self.catalog(), tuple(stale), arrange)

    def current(self) -> Refreshed:
        """The same for a command that only reads: what keeps it from writing is no failure.

        (A read-only folder, or somebody's own MEMORY.md: `index` and `doctor` tell of these.)
        """
        if self.catalog().changed:
            with contextlib.suppress(MdmemoryError):
                return self._bring_index()
        return Refreshed(self.catalog(), (), self._arrange)

    def open_conflicts(self) -> list[Entry]:
        """The entries of the ledger that wait for a person: between notes that are in force."""
        if not (ledger := self.store.ledger()):
            return []
        from mdmemory.store.conflicts import open_entries  # most stores have no ledger

        return open_entries(ledger, {*self.catalog().with_status(SUPERSEDED)})

    def text(self, most: int = 0) -> str:
        """MEMORY.md as it now is; with `most` an index of at most so many characters."""
        if not most and not self.catalog().changed:  # then it says what the notes say
            with contextlib.suppress(OSError):
                return (self.store.folder / INDEX).read_bytes().decode("utf-8", "surrogateescape")
        now = self.current()
        return (self._arrange(most=most) if most else now.index).memory

    def settle(self) -> None:
        """`current` at the end of a command that may have written, and done it already."""
        if not self._is_settled:
            self.current()

    def after(self, changes: Sequence[Change]) -> list[Change]:
        """The changes to the generated files that belong to these changes to notes."""
        from mdmemory.git.replacement import Change  # a reading command makes none

        ledger = None
        replaced: dict[str, Note | None] = {}
        for change in changes:
            if change.file == LEDGER:
                ledger = (change.new or b"").decode("utf-8", "replace")
            elif stores.is_note_name(change.file):
                data, file = change.new, change.file
                replaced[file] = None if data is None else stores.decode_note(data, file)
        rows = self.catalog().foresee_rows(replaced)
        texts = _index_texts(self._arrange(ledger, rows))
        self._foreseen = rows, texts
        return [
            Change(name, None, data, derived=True)
            for name, data in texts
            if data is not None or (self.store.folder / name).exists()
        ]

    def follow(self) -> None:
        """Bring all up to date after a write: with what `after` said, where it came true.

        Call it only if the write kept nothing. What a person changed meanwhile looks other than
        it did when the catalog was loaded, so the next command reads it.
        """
        (rows, texts), self._foreseen = self._foreseen or (NOTHING, ()), None
        if not texts or any(self._file_differs(name, data) for name, data in texts):
            self.refresh()
            return
        self._is_settled = True
        self.catalog().take(rows)
        self.catalog().save()

    def _arrange(
        self, ledger: str | None = None, coming: Rows = NOTHING, most: int = 0
    ) -> index.Index:
        """The index of the notes; `coming` are those that a write is about to put in place, and
        `ledger` the text of the ledger, where that is another than on disk."""
        columns = self.catalog().columns(coming)
        entries: list[Entry] = []
        if ledger := self.store.ledger() if ledger is None else ledger:
            from mdmemory.store.conflicts import open_entries  # most stores have no ledger

            entries = open_entries(ledger)
            sections = dict(zip(columns.files, columns.sections, strict=True)) if entries else {}
            unlisted = {f for entry in entries for f in entry.files if sections.get(f) == ""}
            if unlisted:
                superseded = {*self.catalog().with_status(SUPERSEDED)} - coming.keys()
                superseded |= {f for f, row in coming.items() if row and row.status == SUPERSEDED}
                unlisted &= superseded
            entries = [entry for entry in entries if unlisted.isdisjoint(entry.files)]
        return index.arrange_index(
            columns,
            conflicts=len(entries),
            contested={file for entry in entries for file in entry.files},
            max_chars=most or self.project.settings.whole("index.max_chars"),
            max_entries=self.project.settings.whole("index.max_entries"),
        )

    def _file_differs(self, name: str, data: bytes | None) -> bool:
        path = self.store.folder / name
        return os.path.lexists(path) if data is None else not holds_bytes(path, data)

    def require_ours(self) -> None:
        """Raise MdmemoryError when a person's own file stands under one of our names."""
        for name in GENERATED:
            if is_foreign(self.store.folder / name):
                raise MdmemoryError(
                    f"{self.store.folder / name} was not generated by mdmemory and stays.",
                    f"Run `mdmemory init {self.project.root}`: it keeps the text as a note.",
                    code="foreign_index",
                )


def is_foreign(path: Path) -> bool:
    """Whether a person's own text stands under one of our names. A file of ours may be of any
    length. Raises MdmemoryError for a link, a folder and what cannot be read."""
    start = read_start(path, _START).decode("utf-8", "replace")
    return bool(start) and not index.is_generated(start)


def _index_texts(built: index.Index) -> list[tuple[str, bytes | None]]:
    text = built.more if built.others else None
    more = None if text is None else text.encode("utf-8", "surrogateescape")
    return [(INDEX, built.memory.encode("utf-8", "surrogateescape")), (OVERFLOW, more)]
