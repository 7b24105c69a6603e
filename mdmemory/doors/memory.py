"""The Python door: `from mdmemory import Memory`. The command line goes through it, too.

Each method is one thing a person can do; the rooms below do it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.doors import machine
from mdmemory.doors.facade.keeping import Keeping
from mdmemory.doors.facade.looking import Listed, Looking
from mdmemory.doors.facade.opened import is_secret, redacted
from mdmemory.doors.facade.searching import Searching
from mdmemory.doors.facade.sessions import Sessions
from mdmemory.store.project import find

__all__ = ["Listed", "Memory"]

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from datetime import datetime

    from mdmemory.compact.asked import Report
    from mdmemory.compact.planner import Planner
    from mdmemory.compact.runner import Compactor, Outcome
    from mdmemory.llm.answer import Model
    from mdmemory.store.editing import Edited
    from mdmemory.store.lock import Patience
    from mdmemory.store.resolve import Resolved
    from mdmemory.store.setup import Setup
    from mdmemory.store.sync import Synced
    from mdmemory.store.undo import Undone


class Memory(Looking, Searching, Keeping, Sessions):
    """One store, opened. `clock` gives the present moment in UTC; tests hand in their own.

    `tell` hears in sentences what became of a write that an earlier process could not finish.
    """

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, holder: str = "a Python program",
        clock: Callable[[], datetime] = machine.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> Memory:  # fmt: skip
        """The store for the folder `path`, or the one that `store` names. Raises NoStore.

        `automatic`: no person typed what is done. Where the store lies in a repository of theirs,
        its writes are kept in git beside the branches, and wait for a command that they type.
        """
        places = machine.places(environment)
        named = store or places.environment.get("MDMEMORY_STORE")
        named = os.path.expanduser(named) if named else None
        project = find(Path(path), named, places)
        return cls(
            project, holder=holder, clock=clock, tell=tell, automatic=automatic, patience=patience
        )

    @classmethod
    def init(
        cls, path: str | Path = ".", *, store: str | None = None, own_repo: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> tuple[Memory, Setup]:  # fmt: skip
        """Make the folder `path` a project with a store (again: no change), and open it."""
        from mdmemory.doors.sharing import advice
        from mdmemory.store.setup import init

        places = machine.places(environment)
        setup = init(Path(path), places, is_secret, store=store, own_repo=own_repo)
        if not own_repo:
            setup.said += advice(setup.project.store)
        return cls(setup.project), setup

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

    def replace_text(
        self, name: str, text: str, *, replaces: str, seen: str | None = None
    ) -> Edited:
        """Put a note's whole text, which a person wrote after seeing the digest `replaces`. With
        `seen`, the text of then, what was changed meanwhile in other lines stays."""
        from mdmemory.store import editing

        return editing.replace_text(self._writer(), name, text, replaces, seen)

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

    def compact(
        self, *, plan: str | bytes | None = None, model: Model | None = None,
        offline: bool = False, if_due: bool = False, dry_run: bool = False,
        report: Report = lambda *_: None,
    ) -> Outcome:  # fmt: skip
        """One compaction pass, planned by `model` (default: the one that the settings choose), by
        no model where none is chosen or `offline` says so, or given as `plan` (JSON).

        A dry run asks the model, too. `report(done, total, what)` hears of each question to it.
        """
        planner = self._planner(plan, model, offline, report)
        return self._compactor(planner).run(if_due=if_due, dry_run=dry_run)

    def due(self) -> str | None:
        """Why a compaction is due, in words, or None."""
        from mdmemory.compact.offline import Offline

        return self._compactor(Offline()).due()

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

    def _planner(
        self, plan: str | bytes | None, model: Model | None, offline: bool, report: Report
    ) -> Planner:
        from mdmemory import protocol
        from mdmemory.compact.asked import Asked, Asking
        from mdmemory.compact.offline import Offline
        from mdmemory.compact.planner import Given
        from mdmemory.doors import models

        kind = model.kind if model else self.project.settings.text("planner")
        if plan is not None:
            return Given(plan)
        if offline or kind == "offline":
            return Offline(self._writer().history)

        def ask() -> Asking:
            chosen = model or models.model("compact", self.project, self._today())
            assert chosen is not None, "a planner with a model is chosen"
            return Asking(chosen, protocol.prompt("compact", models.protocol(self.project)))

        return Asked(kind, ask, self._today(), redacted, report)

    def _compactor(self, planner: Planner) -> Compactor:
        from mdmemory.compact.runner import Compactor

        return Compactor(self._writer(), planner, redacted, self._clock())
