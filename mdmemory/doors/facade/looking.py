"""What a Memory tells: the notes, what was done to them, and what may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdmemory.doors.facade.opened import Opened
from mdmemory.errors import MdmemoryError, NoGit, NotFound
from mdmemory.files import as_given, digest, read_regular
from mdmemory.note import UNREADABLE, Head
from mdmemory.store.store import Store, StoredNote

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from mdmemory.store.doctor import Finding
    from mdmemory.store.evidence import Evidence
    from mdmemory.store.history import History, Logged
    from mdmemory.store.life import Step
    from mdmemory.store.resolve import Conflict


@dataclass(frozen=True, slots=True)
class Listed:
    """A note as `list` tells it. `status` is "", unconfirmed, held, or unreadable."""

    head: Head
    digest: str
    strength: float
    listed: bool
    status: str


class Looking(Opened):
    """What a Memory tells: the notes, what was done to them, and what may be wrong."""

    def note(self, name: str) -> StoredNote:
        """One note by its name, stem or file. Raises NotFound."""
        return self._store().find(name)

    def listing(self) -> list[Listed]:
        """Every note with its strength, and whether the index lists it. Refreshes the index."""
        refresher = self._refresher()
        state = refresher.current()
        listed, held = set(state.index.listed), state.catalog.held
        return [
            Listed(
                head, _digest(refresher.store, head.file), state.index.strengths[head.file],
                head.file in listed, _status(head, held),
            )
            for head in state.catalog.heads()
        ]  # fmt: skip

    def counts(self) -> dict[str, int]:
        """How many notes there are, are listed, held, unconfirmed, and conflicts that wait."""
        state = self._refresher().current()
        held = state.catalog.held
        statuses = [_status(head, held) for head in state.catalog.heads()]
        return {
            "notes": len(statuses),
            "listed": len(state.index.listed),
            "held": statuses.count("held"),
            "unconfirmed": statuses.count("unconfirmed"),
            "conflicts": len(self.conflicts()),
        }

    def unread(self) -> list[str]:
        """The notes that cannot be read, such as one of over 4 MB: nothing changes or commits
        them. `doctor` says what is wrong with each."""
        refresher = self._refresher()
        refresher.keep_fresh()
        return [head.file for head in refresher.catalog().heads() if head.status == UNREADABLE]

    def conflicts(self) -> list[Conflict]:
        """The contradictions that wait for a person."""
        from mdmemory.store.resolve import waiting

        return waiting(self._store())

    def log(self, limit: int | None = None) -> list[tuple[Logged, bool]]:
        """What was done to the store, newest first, each with whether it was undone since. What
        waits to be committed stands first."""
        history = self._history()
        gone = history.undone()
        entries = [*_waiting(history), *history.log(limit)]
        return [(entry, entry.commit in gone) for entry in entries[:limit]]

    def waiting(self) -> list[Logged]:
        """What was written by itself and waits for a command that a person types, the newest
        first; their branch does not have it yet."""
        writer = self._writer()
        return _waiting(writer.history) if writer.history else []

    def diff(
        self, id: str | None = None, *, generated: bool = False, words: bool = False
    ) -> tuple[Logged | None, str]:
        """What a commit changed (default: our newest), as a unified diff or (words) for worddiff.

        `generated`: MEMORY.md and _MORE.md, too.
        """
        from mdmemory.store import life
        from mdmemory.store.undo import find as find_entry

        history = self._history()
        log = [*_waiting(history), *history.log()]
        if id is None and not log:
            return None, ""
        try:
            entry = find_entry(history, log, id) if id else log[0]
        except NotFound:
            entry = life.commit_named(history, id or "")  # by hand: as good to look at
        return entry, life.difference(history, entry.commit, generated=generated, words=words)

    def history(self, name: str) -> list[Step]:
        """The life of a note, newest step first, across renames and merges; it may be gone."""
        from mdmemory.store.life import life

        return life(self._history(), self._store(), name)

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """What may be wrong with the store; `fix` repairs first what can be repaired safely."""
        from mdmemory.store import doctor

        writer = self._writer()
        if fix:
            doctor.fix(writer, self._clock())
        return doctor.examine(writer, self._clock())

    def refusal(self) -> MdmemoryError | None:
        """Why nothing can be committed now, or None where it can."""
        return self._writer().refusal()

    def git_state(self) -> str:
        """ready, none, or why no commit can be made now."""
        refusal = self.refusal()
        if refusal is None:
            return "ready"
        return "none" if isinstance(refusal, NoGit) else refusal.message

    def captures(self, limit: int | None = None) -> list[Evidence]:
        """Why each candidate was kept or dropped, the newest first (90 days)."""
        from mdmemory.store import evidence

        with self._state() as state:
            return evidence.recorded(state, limit)


def _waiting(history: History) -> list[Logged]:
    """The commits to be, without those that only keep what a person had written."""
    from mdmemory.store.history import ID_TRAILER
    from mdmemory.store.waiting import Waiting

    return [entry for entry in Waiting(history).log() if entry.get(ID_TRAILER)]


def _digest(store: Store, file: str) -> str:
    try:
        return digest(read_regular(f"{store.folder}/{as_given(file)}"))
    except MdmemoryError:
        return ""


def _status(head: Head, held: frozenset[str]) -> str:
    return "held" if head.file in held else head.status
