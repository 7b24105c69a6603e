"""What sessions teach a store: capture, imports, compaction, observations, a session's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mdmemory.opened import Opened, capture, compact, imports, llm, observe, sessions, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from mdmemory.actions.editing import Edited
    from mdmemory.capture.caller import Caller
    from mdmemory.capture.extracted import Extracted
    from mdmemory.capture.forgetting import AskedRemoval, Forgotten
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.pending import PendingFact
    from mdmemory.capture.routes import Route
    from mdmemory.capture.store_fact import FactCall, Stored
    from mdmemory.capture.stores import Stores
    from mdmemory.compact.runner import Outcome
    from mdmemory.llm.answer import Model
    from mdmemory.observe.observations import Observations
    from mdmemory.search.notes import Report
    from mdmemory.session.known import KnownSession, NoteRecalled
    from mdmemory.session.promotion import Accounting
    from mdmemory.session.session import SessionMemory
    from mdmemory.session.storage import Swept
    from mdmemory.store.evidence import Evidence
    from mdmemory.store.sources import NoteSource
    from mdmemory.transcripts.turns import Turn


class Learning(Opened):
    """The methods by which sessions, other memories and models change a store."""

    def sources(self) -> list[NoteSource]:
        """This store, as a place to look for notes in."""
        return [store.sources.NoteSource("", self._writer())]

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """This store: it gets whatever there is."""
        return self.sources()[0], capture.routes.ALL

    def store(self, call: FactCall, caller: Caller) -> Stored:
        """Store a fact that an assistant hands over; what the caller's turns do not prove is
        unconfirmed, and replaces nothing. Raises NotStored, NotFound."""
        return capture.store_fact.store(self, call, caller, now=self._clock())

    def forget(self, names: Sequence[str], quote: str, caller: Caller) -> Forgotten:
        """Remove the notes that an assistant names, if the caller's turns ask for it in the words
        of `quote`; else it waits, or is refused. Raises NotFound, NotProven."""
        return capture.forgetting.forget(self.sources(), names, quote, caller, now=self._clock())

    def asked_removals(self) -> list[AskedRemoval]:
        """The notes that an assistant wants forgotten without enough proof: a person decides."""
        return capture.forgetting.waiting(self.project)

    def import_from(
        self, path: str | Path, *, dry_run: bool = False, stores: Stores | None = None
    ) -> Imported:
        """Store the facts of another memory, a file or folder, in one commit. Raises BadImport."""
        return imports.run.import_from(
            stores or self, self._writer(), Path(path), self._today(), dry_run
        )

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        again: bool = False, report: Report = lambda *_: None, stores: Stores | None = None,
    ) -> Extracted:  # fmt: skip
        """Store what the user asked to remember in a transcript, and what `model` finds (default:
        the one that the settings choose, or none) in what it has not read, or `again` in all of
        it; a dry run asks it, too. `stores`: where each fact goes (default: here)."""
        ask = partial(llm.choose.asking, "extract", self.project, self._today(), model)
        return capture.run.extract(
            stores or self, self._writer(), transcript, now=self._clock(), ask=ask,
            dry_run=dry_run, again=again, report=report,
        )  # fmt: skip

    def summary_request(self, stores: Stores | None = None) -> tuple[str, dict[str, str]]:
        """The text for a host's compaction prompt, and the notes it numbers: file to digest."""
        return capture.summary.request_of((stores or self).sources())

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None, stores: Stores | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's compaction summary that the user's turns in `said` bear out;
        the others wait in `pending`. Asks no model."""
        return capture.summary.take(
            stores or self, self._writer(), session, text, said, now=self._clock(),
            shown=shown or {},
        )  # fmt: skip

    def kept_wishes(self) -> list[Path]:
        """The files of wishes that wait to be written."""
        return [path for inbox in capture.wishes.inboxes(self.project) for path in inbox.kept()]

    def captures(self, limit: int | None = None) -> list[Evidence]:
        """Why each candidate was kept or dropped, the newest first (90 days)."""
        with self.state() as state:
            return store.evidence.recorded(state, limit)

    def known_sessions(self) -> list[KnownSession]:
        """The sessions that anything is remembered of, the newest first."""
        with self.state() as state:
            return sessions.known.list_sessions(state)

    def recalled(self, session: str) -> list[NoteRecalled]:
        """The notes that went along with the messages of a session."""
        with self.state() as state:
            return sessions.known.list_recalled(state, session)

    def pending(self) -> list[PendingFact]:
        """Candidates without enough proof, which wait for a person."""
        return capture.pending.waiting(self.project, self.state)

    def accept(self, id: str, *, into: Self | None = None) -> Edited:
        """Store a candidate that waits, here or `into` another store: a person stands by it."""
        writer = None if into is None else into._writer()
        return capture.pending.accept(self._writer(), id, today=self._today(), into=writer)

    def drop(self, id: str) -> PendingFact:
        """Take a candidate off the list; for 30 days it is not proposed again."""
        return capture.pending.drop(self._writer(), id, today=self._today())[0]

    def compact(
        self, *, plan: str | bytes | None = None, model: Model | None = None,
        offline: bool = False, if_due: bool = False, dry_run: bool = False,
        report: Report = lambda *_: None, everything: bool = False,
    ) -> Outcome:  # fmt: skip
        """One compaction pass, planned by `model` (default: the one that the settings choose), by
        no model where none is chosen or `offline` says so, or given as `plan` (JSON). A model is
        shown what is new since it last looked, or `everything`. A dry run asks it, too;
        `report(done, total, what)` hears of each question to it."""
        return compact.runner.compact(
            self._writer(), self._clock(), plan=plan, model=model, offline=offline, if_due=if_due,
            dry_run=dry_run, everything=everything, report=report,
        )  # fmt: skip

    def due(self) -> str | None:
        """Why a compaction is due, in words, or None."""
        return compact.pass_history.why_due(self._writer(), self._clock())

    def observations(self) -> Observations:
        """The short form of what the assistant's tools showed in earlier work."""
        kept = observe.observations.Observations
        return kept(self.project, self.state, self._writer, self._clock)

    @contextmanager
    def session(self, session: str) -> Iterator[SessionMemory]:
        """The memory of one session. Never notes."""
        with self.state() as state:
            yield sessions.session.SessionMemory(state, session, self.project.settings)

    def promote(
        self, session: str, said: Sequence[Turn], *, stores: Stores | None = None
    ) -> Accounting:
        """Take a session's decisions and candidates through capture, at its compaction. Those that
        the user's turns in `said` do not bear out wait in `pending`. Asks no model."""
        now = self._clock()

        def take(text: str) -> Extracted:
            return capture.summary.take(
                stores or self, self._writer(), session, text, said, now=now, shown={}
            )

        with self.state() as state, self.session(session) as own:
            kept = own.read()
            return sessions.promotion.promote(state, session, kept, take, now=now)

    def sweep(self) -> Swept:
        """Remove what sessions keep that is too old or too much. Notes are never touched."""
        with self.state() as state:
            return sessions.storage.sweep(state, self._clock())
