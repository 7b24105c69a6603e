"""Writing where nothing can be committed. What is replaced is kept under `.mdmemory/aside/`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mdmemory.files import read_regular, write_atomic, writing
from mdmemory.git import replacement
from mdmemory.git.journal import Journal, Journals
from mdmemory.git.private_folder import make_folder
from mdmemory.git.recovery import render_outcome
from mdmemory.git.replacement import Change


class PlainWrites:
    """Writes files of one store, with a journal in `private` (`.mdmemory/`) instead of commits."""

    def __init__(self, folder: Path, private: Path) -> None:
        self.folder = folder
        self.private = private
        self.journals = Journals(private, folder)

    def apply(self, changes: Sequence[Change]) -> tuple[tuple[str, str], ...]:
        """Make the changes; what was kept instead, and why. Nothing is removed here.

        Raises NoteChanged when a file is not what its change says, before anything is written.
        """
        for change in changes:
            replacement.verify(self.folder, change)
        if not changes:
            return ()
        for change in changes:
            if change.old is not None:
                self._keep(change)
        id = os.urandom(6).hex()  # part of every name that the write makes
        steps = replacement.plan_moves(changes, id)
        journal = Journal(id, str(self.folder), steps)
        try:
            replacement.write_fresh(self.folder, changes, steps)
            self.journals.write(journal)
        except BaseException:
            if not self.journals.is_open():
                replacement.forget_fresh(self.folder, steps)
            raise
        return self._finish(journal)

    def recover(self) -> tuple[str, ...]:
        """Finish what a killed process began; sentences on that, () when there was nothing.

        Safe to repeat.
        """
        journal = self.journals.read()
        if journal is None:
            return ()
        awaited = replacement.list_awaited(self.folder, journal.moves)
        return render_outcome(awaited, dict(self._finish(journal)))

    def _finish(self, journal: Journal) -> tuple[tuple[str, str], ...]:
        with replacement.leave_to_recovery():
            kept = replacement.install_all(self.folder, journal.moves)
            kept = {**kept, **replacement.settle_all(self.folder, journal.moves)}
            self.journals.drop()
        return tuple(kept.items())

    def _keep(self, change: Change) -> None:
        aside = self.private / "aside"
        with writing(aside):
            make_folder(aside)
        data = read_regular(self.folder / change.file)
        write_atomic(aside / f"{change.file}.{(change.old or '')[:12]}", data)
