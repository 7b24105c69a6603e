"""The Python door: `from mdmemory import Memory`. The command line goes through it, too.

Each method is one thing a person can do; the rooms below do it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.doors import machine
from mdmemory.errors import MdmemoryError, NoGit, NotFound
from mdmemory.files import digest, read_regular
from mdmemory.note import Head
from mdmemory.store.project import Project, find
from mdmemory.store.refresh import Refreshed, Refresher
from mdmemory.store.store import Store, StoredNote

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from datetime import datetime

    from mdmemory.capture.pending import Waiting
    from mdmemory.capture.run import Extracted
    from mdmemory.compact.runner import Compactor, Outcome
    from mdmemory.llm.answer import Model
    from mdmemory.store.doctor import Finding
    from mdmemory.store.editing import Edited
    from mdmemory.store.evidence import Evidence
    from mdmemory.store.history import History, Logged
    from mdmemory.store.life import Step
    from mdmemory.store.resolve import Conflict, Resolved
    from mdmemory.store.setup import Setup
    from mdmemory.store.state import State
    from mdmemory.store.sync import Synced
    from mdmemory.store.undo import Undone
    from mdmemory.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Listed:
    """A note as `list` tells it. `status` is "", unconfirmed, held, or unreadable."""

    head: Head
    digest: str
    strength: float
    listed: bool
    status: str


class Memory:
    """One store, opened. `clock` gives the present moment in UTC; tests hand in their own."""

    def __init__(
        self, project: Project, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = machine.now,
    ) -> None:  # fmt: skip
        self.project = project
        self._holder = holder
        self._clock = clock

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, holder: str = "a Python program",
        clock: Callable[[], datetime] = machine.now,
    ) -> Memory:  # fmt: skip
        """The store for the folder `path`, or the one that `store` names. Raises NoStore."""
        places = machine.places(environment)
        named = store or places.environment.get("MDMEMORY_STORE")
        named = os.path.expanduser(named) if named else None
        return cls(find(Path(path), named, places), holder=holder, clock=clock)

    @classmethod
    def init(
        cls, path: str | Path = ".", *, store: str | None = None, own_repo: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> tuple[Memory, Setup]:  # fmt: skip
        """Make the folder `path` a project with a store (again: no change), and open it."""
        from mdmemory.doors.sharing import advice
        from mdmemory.store.setup import init

        places = machine.places(environment)
        setup = init(Path(path), places, _is_secret, store=store, own_repo=own_repo)
        if not own_repo:
            setup.said += advice(setup.project.store)
        return cls(setup.project), setup

    # reading

    def notes(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self._store().notes()

    def note(self, name: str) -> StoredNote:
        """One note by its name, stem or file. Raises NotFound."""
        return self._store().find(name)

    def listing(self) -> list[Listed]:
        """Every note with its strength, and whether the index lists it. Refreshes the index."""
        refresher = self._refresher()
        state = refresher.current()
        listed = set(state.index.listed)
        return [
            Listed(
                head, _digest(refresher.store, head.file), state.index.strengths[head.file],
                head.file in listed, _status(head, state.catalog.held),
            )
            for head in state.catalog.heads()
        ]  # fmt: skip

    def index(self, *, check: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is."""
        if check:
            return self._refresher().refresh(write=False)
        writer = self._writer()
        with writer.locked():
            return writer.refresher.refresh()

    def conflicts(self) -> list[Conflict]:
        """The contradictions that wait for a person."""
        from mdmemory.store.resolve import waiting

        return waiting(self._store())

    def log(self, limit: int | None = None) -> list[tuple[Logged, bool]]:
        """What was done to the store, newest first, each with whether it was undone since."""
        from mdmemory.store.undo import undone_commits

        history = self._history()
        log = history.log()
        gone = undone_commits(log, history.reverted())
        return [(entry, entry.commit in gone) for entry in log[:limit]]

    def diff(
        self, id: str | None = None, *, generated: bool = False, words: bool = False
    ) -> tuple[Logged | None, str]:
        """What a commit changed (default: our newest), as a unified diff or (words) for worddiff.

        `generated`: MEMORY.md and _MORE.md, too.
        """
        from mdmemory.store import life
        from mdmemory.store.undo import find as find_entry

        history = self._history()
        log = history.log()
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
        from mdmemory.store.merged import names

        writer = self._writer()
        if fix:
            doctor.fix(writer)
        return doctor.examine(writer, names)

    def git_state(self) -> str:
        """ready, none, or why no commit can be made now."""
        writer = self._writer()
        refusal = writer.refusal()
        if refusal is None:
            return "ready"
        return "none" if writer.repository is None else refusal.message

    # writing

    def add(
        self, name: str, *, type: str, description: str, body: str, kind: str = "",
        source: str = "manual",
    ) -> Edited:  # fmt: skip
        """Store a note. The same text again names the note there is; a taken name gets `-2`."""
        from mdmemory.store import editing

        return editing.add(
            self._writer(), name=name, type=type, description=description, body=body, kind=kind,
            source=source, today=self._today(),
        )  # fmt: skip

    def edit(self, name: str, *, description: str | None = None, body: str | None = None) -> Edited:
        """Change a note's description or body, and only the lines of these."""
        from mdmemory.store import editing

        return editing.edit(
            self._writer(), name, description=description, body=body, today=self._today()
        )

    def replace_text(self, name: str, text: str, *, replaces: str) -> Edited:
        """Put a note's whole text, which a person wrote after seeing the digest `replaces`."""
        from mdmemory.store import editing

        return editing.replace_text(self._writer(), name, text, replaces)

    def remove(self, name: str) -> Edited:
        """Remove a note; its text stays in history."""
        from mdmemory.store import editing

        return editing.remove(self._writer(), name)

    def resolve(self, id: str, *, keep: str | None = None) -> Resolved:
        """Settle a conflict, on a person's word: keep one note and not the other, or both."""
        from mdmemory.store.resolve import resolve

        return resolve(self._writer(), id, keep=keep)

    def confirm(self, name: str) -> Edited:
        """Stand by a note that was unconfirmed."""
        from mdmemory.store import editing

        return editing.confirm(self._writer(), name, today=self._today())

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False
    ) -> Extracted:
        """Store what deserves a note in a transcript: what the user asked to remember, and what
        `model` finds (default: the one that the settings choose, or none).

        A dry run asks the model, too. `failure` tells when no answer of it could be used.
        """
        from mdmemory import protocol
        from mdmemory.capture.run import Asking, extract
        from mdmemory.doors import models

        def ask() -> Asking | None:
            chosen = model or models.model("extract", self.project, self._today())
            if chosen is None:
                return None
            return Asking(chosen, protocol.prompt("extract", models.protocol(self.project)))

        return extract(
            self._writer(), transcript, now=self._clock(), ask=ask, dry_run=dry_run
        )

    def pending(self) -> list[Waiting]:
        """Candidates without enough proof, which wait for a person."""
        from mdmemory.capture import pending

        with self._state() as state:
            return pending.waiting(state, self._today())

    def accept(self, id: str) -> Edited:
        """Store a candidate that waits: a person stands by it."""
        from mdmemory.capture import pending

        return pending.accept(self._writer(), id, today=self._today())

    def drop(self, id: str) -> Waiting:
        """Take a candidate off the list; for 30 days it is not proposed again."""
        from mdmemory.capture import pending

        return pending.drop(self._writer(), id, today=self._today())

    def captures(self, limit: int | None = None) -> list[Evidence]:
        """Why each candidate was kept or dropped, the newest first (90 days)."""
        from mdmemory.store import evidence

        with self._state() as state:
            return evidence.recorded(state, limit)

    def compact(
        self, *, plan: str | bytes | None = None, if_due: bool = False, dry_run: bool = False
    ) -> Outcome:
        """One compaction pass, planned offline or given as `plan` (JSON)."""
        return self._compactor(plan).run(if_due=if_due, dry_run=dry_run)

    def due(self) -> str | None:
        """Why a compaction is due, in words, or None."""
        compactor = self._compactor(None)
        return compactor.due(self.notes())

    def undo(self, id: str | None = None) -> Undone:
        """Take back a commit of ours: by Memory-Id or commit, else the newest change."""
        from mdmemory.store.undo import undo

        return undo(self._writer(), id)

    def undo_session(self, session: str) -> list[Undone]:
        """Take back all commits that one session caused, the newest first."""
        from mdmemory.store.undo import undo_session

        return undo_session(self._writer(), session)

    def sync(self, *, rebase: bool = False) -> Synced:
        """Commit, fetch, merge (or rebase) and push, with the person's own git configuration."""
        from mdmemory.store.sync import sync

        return sync(self._writer(), machine.places().environment, rebase=rebase)

    # the rooms below

    def _compactor(self, plan: str | bytes | None) -> Compactor:
        from mdmemory.capture.privacy import redact
        from mdmemory.compact.offline import Offline
        from mdmemory.compact.planner import Given
        from mdmemory.compact.runner import Compactor

        planner = Offline() if plan is None else Given(plan)
        return Compactor(self._writer(), planner, lambda text: redact(text)[0], self._clock())

    def _state(self) -> State:
        from mdmemory.store.state import State

        return State(self.project.prepare_private() / "state.db")

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _store(self) -> Store:
        refresher = self._refresher()
        refresher.keep_fresh()
        return refresher.store

    def _refresher(self) -> Refresher:
        return Refresher(self.project, _is_secret)

    def _writer(self) -> Writer:
        from mdmemory.store.writer import Writer

        return Writer(self.project, _is_secret, self._holder)

    def _history(self) -> History:
        writer = self._writer()
        writer.refresher.keep_fresh()
        if writer.history is None:
            refusal = writer.refusal()
            raise refusal or NoGit("There is no git repository.")
        return writer.history


def _is_secret(text: str) -> bool:
    from mdmemory.capture.privacy import has_secret

    return has_secret(text)


def _digest(store: Store, file: str) -> str:
    try:
        return digest(read_regular(store.folder / file))
    except MdmemoryError:
        return ""


def _status(head: Head, held: frozenset[str]) -> str:
    return "held" if head.file in held else head.status
