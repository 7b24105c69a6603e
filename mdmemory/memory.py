"""The Python interface: `from mdmemory import Memory`. The command line and every host use it.

Each method is one thing that a person or an assistant can do; the packages below do it.
"""

from __future__ import (
    annotations,
)

import os
from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    contextmanager,
)
from dataclasses import (
    dataclass,
)
from pathlib import (
    Path,
)
from typing import (
    TYPE_CHECKING,
)

from mdmemory.config import person
from mdmemory.errors import (
    GOING_ON,
    MdmemoryError,
    NoGit,
    NotFound,
    UsageError,
)
from mdmemory.files import (
    as_given,
    digest,
    read_regular,
)
from mdmemory.note.limits import (
    MAX_BODY,
)
from mdmemory.note.note import (
    UNREADABLE,
    Head,
)
from mdmemory.privacy import is_secret, redacted
from mdmemory.store.project import (
    Project,
    find,
)
from mdmemory.store.refresh import (
    Refreshed,
    Refresher,
)
from mdmemory.store.store import (
    Store,
    StoredNote,
)

__all__ = ["Listed", "Memory"]

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from datetime import (
        datetime,
    )

    from mdmemory.actions.doctor import (
        Finding,
    )
    from mdmemory.actions.editing import (
        Edited,
    )
    from mdmemory.actions.note_history import (
        Step,
    )
    from mdmemory.actions.resolve import (
        Conflict,
        Resolved,
    )
    from mdmemory.actions.setup import (
        Setup,
    )
    from mdmemory.actions.sync import (
        Synced,
    )
    from mdmemory.actions.undo import (
        Undone,
    )
    from mdmemory.capture.assistant import (
        Stored,
    )
    from mdmemory.capture.imports.run import (
        Imported,
    )
    from mdmemory.capture.pending import (
        Waiting,
    )
    from mdmemory.capture.run import (
        Extracted,
    )
    from mdmemory.capture.wishes import (
        Inbox,
    )
    from mdmemory.compact.model_planner import (
        Report,
    )
    from mdmemory.compact.planner import (
        Planner,
    )
    from mdmemory.compact.runner import (
        Compactor,
        Outcome,
    )
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.lock import (
        Patience,
    )
    from mdmemory.git.log import Logged
    from mdmemory.llm.answer import (
        Model,
    )
    from mdmemory.observe.facade import (
        Observations,
    )
    from mdmemory.search.project import (
        Search,
        Updated,
    )
    from mdmemory.search.results import (
        Found,
        Passage,
    )
    from mdmemory.session.desk import (
        Desk,
    )
    from mdmemory.session.promotion import (
        Accounting,
    )
    from mdmemory.session.sweep import (
        Swept,
    )
    from mdmemory.store.evidence import (
        Evidence,
    )
    from mdmemory.store.state import (
        State,
    )
    from mdmemory.store.writer import (
        Writer,
    )
    from mdmemory.transcripts.turns import Turn


@dataclass(frozen=True, slots=True)
class Listed:
    """A note as `list` tells it. `status` is "", unconfirmed, held, or unreadable."""

    head: Head
    digest: str
    strength: float
    listed: bool
    status: str


class Memory:
    """One store, opened. `clock` gives the present moment in UTC; tests hand in their own.

    `holder` is the name that other processes see while this one writes. `tell` gets one sentence
    for each write that an earlier process could not finish.
    """

    def __init__(
        self, project: Project, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self._automatic, self._patience = automatic, patience
        self._holder = holder
        self._clock = clock
        self._tell = _once(tell)

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> Memory:  # fmt: skip
        """The store for the folder `path`, or the one that `store` names. Raises NoStore.

        `automatic`: no person typed what is done. Where the store lies in a repository of theirs,
        its writes are kept in git beside the branches, and wait for a command that they type.
        """
        places = person.places(environment)
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
        from mdmemory.actions.setup import advice, init

        places = person.places(environment)
        setup = init(Path(path), places, is_secret, store=store, own_repo=own_repo)
        if not own_repo:
            setup.said += advice(setup.project.store)
        return cls(setup.project), setup

    def add(
        self, name: str, *, type: str, description: str, body: str, kind: str = "",
        source: str = "manual",
    ) -> Edited:  # fmt: skip
        """Store a note. The same text again names the note there is; a taken name gets `-2`."""
        from mdmemory.actions import editing

        return editing.add(
            self._writer(), name=name, type=type, description=description, body=body, kind=kind,
            source=source, today=self._today(),
        )  # fmt: skip

    def edit(self, name: str, *, description: str | None = None, body: str | None = None) -> Edited:
        """Change a note's description or body, and only the lines of these."""
        from mdmemory.actions import editing

        return editing.edit(
            self._writer(), name, description=description, body=body, today=self._today()
        )

    def replace_text(
        self, name: str, text: str, *, replaces: str, seen: str | None = None
    ) -> Edited:
        """Put a note's whole text, which a person wrote after seeing the digest `replaces`. With
        `seen`, the text of then, what was changed meanwhile in other lines stays."""
        from mdmemory.actions import editing

        return editing.replace_text(self._writer(), name, text, replaces, seen)

    def remove(self, name: str) -> Edited:
        """Remove a note; its text stays in history."""
        from mdmemory.actions import editing

        return editing.remove(self._writer(), name)

    def resolve(self, id: str, *, keep: str | None = None) -> Resolved:
        """Settle a conflict, on a person's word: keep one note and not the other, or both."""
        from mdmemory.actions.resolve import resolve

        return resolve(self._writer(), id, keep=keep)

    def confirm(self, name: str) -> Edited:
        """Stand by a note that was unconfirmed."""
        from mdmemory.actions import editing

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
        from mdmemory.actions.undo import undo

        return undo(self._writer(), id)

    def undo_session(self, session: str) -> list[Undone]:
        """Take back all commits that one session caused, the newest first."""
        from mdmemory.actions.undo import undo_session

        return undo_session(self._writer(), session)

    def sync(self, *, rebase: bool = False) -> Synced:
        """Commit, fetch, merge (or rebase) and push, with the person's own git configuration."""
        from mdmemory.actions.sync import sync

        return sync(self._writer(), person.places().environment, rebase=rebase)

    def notes(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self._store().notes()

    def now(self) -> datetime:
        """The present moment in UTC, by the clock that this was opened with."""
        return self._clock()

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
        from mdmemory.actions.resolve import waiting

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
        from mdmemory.actions import note_history
        from mdmemory.actions.undo import find as find_entry

        history = self._history()
        log = [*_waiting(history), *history.log()]
        if id is None and not log:
            return None, ""
        try:
            entry = find_entry(history, log, id) if id else log[0]
        except NotFound:
            entry = note_history.commit_named(history, id or "")  # by hand: as good to look at
        return entry, note_history.difference(
            history, entry.commit, generated=generated, words=words
        )

    def history(self, name: str) -> list[Step]:
        """The life of a note, newest step first, across renames and merges; it may be gone."""
        from mdmemory.actions.note_history import life

        return life(self._history(), self._store(), name)

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """What may be wrong with the store; `fix` repairs first what can be repaired safely."""
        from mdmemory.actions import doctor

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

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Callable[[int, int, str], None] = lambda *_: None, meaning: bool = True,
    ) -> Found:  # fmt: skip
        """The `k` best places for a question, best first; none where nothing fits.

        `at` names a commit: the notes as they stood there. `report` is told how far the reading of
        changed notes is; without `meaning` nobody is asked for vectors. `source` is memory (the
        notes), sessions, files, observations, or all of the first three. Raises UsageError for a
        source that there is not, NotFound for such a commit.
        """
        from mdmemory.search.results import ALL, MEMORY, SOURCES

        if source not in (*SOURCES, "observations", ALL):
            raise UsageError(
                f"There is no source {source} to search.",
                "Name memory, sessions, files, observations, or all.",
            )
        if k < 1:
            raise UsageError(f"{k} hits cannot be shown.", "Ask for at least 1.")
        if source == "observations":
            if at is not None:
                raise UsageError("Observations stand in no commit.", "Search them without --at.")
            return self.observations().search(query, k=k)
        if at is not None and source not in (MEMORY, ALL):
            raise UsageError(f"A commit holds no {source}.", "Search them without --at.")
        history = self._history() if at is not None else None
        refresher = self._refresher()
        refresher.keep_fresh()
        asked = self._search(refresher, source, meaning)
        today = self._clock().date()
        if history is not None and at is not None:
            return asked.find_at(query, history, at, k=k, today=today)
        return asked.find(query, k=k, today=today, source=source, report=report)

    def get(self, file: str, lines: tuple[int, int] | None = None) -> Passage:
        """A note, or (lines) from its first to its last of these, counted from 1.

        Raises NotFound for what is no note of the store, or held back; UsageError for lines that
        cannot be.
        """
        from mdmemory.search.results import passage

        return passage(self._store(), is_secret, file, lines)

    def rebuild(
        self, *, search_only: bool = False,
        report: Callable[[int, int, str], None] = lambda *_: None,
    ) -> Updated:  # fmt: skip
        """Make the search database anew from the notes; without `search_only` also all else that
        is derived: MEMORY.md, _MORE.md and what is remembered of the notes' heads."""
        if not search_only:
            (self.project.prepare_private() / "catalog").unlink(missing_ok=True)
            self.index()
        refresher = self._refresher()
        refresher.keep_fresh()
        return self._search(refresher).update(report, anew=True)

    def freshen(self) -> Updated:
        """Bring MEMORY.md and the search database up to date with the notes, as any search does."""
        from mdmemory.search.project import Search

        refresher = self._refresher()
        refresher.keep_fresh()
        return Search(refresher).update()

    def observations(self) -> Observations:
        """What the assistant's tools showed in earlier work, in short form."""
        from mdmemory.observe.facade import Observations

        return Observations(self.project, self._state, self._writer, self._clock)

    def index(self, *, check: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is."""
        if check:
            return self._refresher().refresh(write=False)
        writer = self._writer()
        with writer.locked():
            return writer.refresher.refresh()

    def store(
        self, content: str, *, title: str = "", type: str = "", session: str = "",
        said: Sequence[str] = (),
    ) -> Stored:  # fmt: skip
        """Keep what an assistant found worth it, as a note whose name and description come from
        the text. What no user's turn in `said` bears out is unconfirmed.

        `type` is one of the four or a category such as preferences; "" guesses. Raises NotStored
        (`reasons`) for what is no lasting fact.
        """
        from mdmemory.capture.assistant import store

        return store(
            self._writer(), content, title=title, type=type, session=session, said=said,
            now=self._clock(),
        )  # fmt: skip

    def import_from(self, path: str | Path, *, dry_run: bool = False) -> Imported:
        """Store the facts of another memory, a file or folder, as notes in one commit.

        Raises BadImport for what is none that is known.
        """
        from mdmemory.capture.imports.reading import read
        from mdmemory.capture.imports.run import store_all

        path = Path(path).expanduser()
        facts = read(path)
        return store_all(
            self._writer(), facts, label=path.name, today=self._today(), dry_run=dry_run
        )

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        report: Report = lambda *_: None,
    ) -> Extracted:  # fmt: skip
        """Store what deserves a note in a transcript: what the user asked to remember, and what
        `model` finds (default: the one that the settings choose, or none).

        A dry run asks the model, too. `failure` tells when no answer of it could be used.
        """
        from mdmemory import protocol
        from mdmemory.capture.run import Asking, extract
        from mdmemory.llm import choose

        def ask() -> Asking | None:
            chosen = model or choose.model("extract", self.project, self._today())
            if chosen is None:
                return None
            return Asking(chosen, protocol.prompt("extract", protocol.of_project(self.project)))

        return extract(
            self._writer(), transcript, now=self._clock(), ask=ask, dry_run=dry_run,
            report=report,
        )  # fmt: skip

    def summary_request(self) -> tuple[str, dict[str, str]]:
        """What to put into a host's compaction prompt, and the notes it numbers as `[M1]`...: file
        to digest, which `summary` takes back. At most 2,000 characters."""
        from mdmemory.capture.summary import request

        state = self._refresher().current()
        strengths, listed = state.index.strengths, set(state.index.listed)
        notes = [note for note in self.notes() if note.file in listed]
        return request(sorted(notes, key=lambda note: (-strengths[note.file], note.file)))

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's compaction summary that the user's turns in `said` bear out;
        the others wait in `pending`. Asks no model."""
        from mdmemory.capture.summary import take

        return take(self._writer(), session, text, said, now=self._clock(), shown=shown or {})

    def keep(self, text: str, *, session: str, turn: str) -> Extracted:
        """Store at once what one message of the user asks to remember; its turn is not read for
        requests again. Where it asks for nothing, nothing is opened or written.

        What cannot be written now is kept in an inbox: `kept` names the files, `failure` says why.
        """
        from mdmemory.capture.requests import asks, keep
        from mdmemory.capture.run import Extracted
        from mdmemory.capture.wishes import inboxes
        from mdmemory.transcripts.turns import Turn

        if not asks(text):
            return Extracted(session)
        try:
            done = keep(self._writer(), session, Turn(turn, "user", text), now=self._clock())
        except (MdmemoryError, OSError) as problem:
            failure = problem if isinstance(problem, MdmemoryError) else _refused(problem)
            return kept_for_later(
                inboxes(self.project), text, session, turn, self._today(), failure
            )
        too_long = [drop for drop in done.dropped if drop["reasons"] == ["unfit"]]
        if too_long:
            failure = MdmemoryError(
                f"It does not fit into one note, which has at most {MAX_BODY:,} characters.",
                "Say it in parts, or move it from there into notes.", code="unfit",
            )  # fmt: skip
            later = kept_for_later(
                inboxes(self.project), text, session, turn, self._today(), failure, long=True
            )
            done.kept, done.failure = later.kept, later.failure
        return done

    def kept_wishes(self) -> list[Path]:
        """The files of wishes that wait to be written."""
        from mdmemory.capture.wishes import inboxes

        return [path for inbox in inboxes(self.project) for path in inbox.kept()]

    def write_wishes(self) -> list[Extracted]:
        """Write what was asked for earlier and could not be written; what became of it.

        What cannot be written yet stays where it is, and is no failure of what is done now.
        """
        from mdmemory.capture.wishes import inboxes

        found = [inbox for inbox in inboxes(self.project) if inbox.files()]
        if not found:
            return []
        from mdmemory.capture.requests import keep_what_waits

        told: list[Extracted] = []
        for inbox in found:
            try:
                told += [one for one, _ in keep_what_waits(
                    self._writer(), inbox, now=self._clock()
                )]  # fmt: skip
            except (MdmemoryError, OSError):
                continue
        return told

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

    @contextmanager
    def desk(self, session: str) -> Iterator[Desk]:
        """What one session keeps at hand: core blocks, working memory, hot state. Never notes."""
        from mdmemory.session.desk import Desk

        with self._state() as state:
            yield Desk(state, session, self.project.settings)

    def promote(self, session: str, said: Sequence[Turn]) -> Accounting:
        """Take a session's decisions and candidates through capture, at its compaction. What the
        user's turns in `said` do not bear out waits in `pending`. Asks no model."""
        from mdmemory.session import promotion

        with self._state() as state, self.desk(session) as desk:
            promotion.enter(state, session, desk.hot(), self._today())
            return promotion.promote(self._writer(), state, session, said, now=self._clock())

    def sweep(self) -> Swept:
        """Remove what is old or too much of what sessions keep. Notes are never touched."""
        from mdmemory.session import sweep

        with self._state() as state:
            return sweep.sweep(state, self._clock())

    def _planner(
        self, plan: str | bytes | None, model: Model | None, offline: bool, report: Report
    ) -> Planner:
        from mdmemory import protocol
        from mdmemory.compact.model_planner import Asked, Asking
        from mdmemory.compact.offline import Offline
        from mdmemory.compact.planner import Given
        from mdmemory.llm import choose

        kind = model.kind if model else self.project.settings.text("planner")
        if plan is not None:
            return Given(plan)
        if offline or kind == "offline":
            return Offline(self._writer().history)

        def ask() -> Asking:
            chosen = model or choose.model("compact", self.project, self._today())
            assert chosen is not None, "a planner with a model is chosen"
            return Asking(chosen, protocol.prompt("compact", protocol.of_project(self.project)))

        return Asked(kind, ask, self._today(), redacted, report)

    def _compactor(self, planner: Planner) -> Compactor:
        from mdmemory.compact.runner import Compactor

        return Compactor(self._writer(), planner, redacted, self._clock())

    def _state(self) -> State:
        from mdmemory.store.state import State

        return State(self.project.state_file, self._tell)

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _store(self) -> Store:
        refresher = self._refresher()
        refresher.keep_fresh()
        return refresher.store

    def _refresher(self) -> Refresher:
        return Refresher(self.project, is_secret)

    def _writer(self) -> Writer:
        from mdmemory.git.lock import USUAL
        from mdmemory.store.writer import Writer

        return Writer(
            self.project, is_secret, self._holder, self._tell, self._automatic,
            self._patience or USUAL,
        )  # fmt: skip

    def _history(self) -> History:
        writer = self._writer()
        writer.refresher.keep_fresh()
        if writer.history is None:
            refusal = writer.refusal()
            raise refusal or NoGit("There is no git repository.")
        return writer.history

    def _search(self, refresher: Refresher, source: str = "memory", meaning: bool = True) -> Search:
        from mdmemory.search import sources
        from mdmemory.search.project import Search

        others = sources.sources(self.project, source)
        if not meaning:
            return Search(refresher, others)
        return Search(refresher, others, lambda: sources.embedder(self.project, self._today()))


def state(opened: Memory) -> State:
    """What is remembered of our own work; where that is not to be had, `tell` hears so."""
    return opened._state()


def _once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Says no sentence twice, and once only that there is no state: each part of it is missed."""
    said: set[str] = set()

    def told(sentence: str) -> None:
        kind = GOING_ON if GOING_ON in sentence else sentence
        if kind not in said:
            said.add(kind)
            tell(sentence)

    return told


def _waiting(history: History) -> list[Logged]:
    """The commits to be, without those that only keep what a person had written."""
    from mdmemory.git.log import ID_TRAILER
    from mdmemory.git.waiting import Waiting

    return [entry for entry in Waiting(history).log() if entry.get(ID_TRAILER)]


def _digest(store: Store, file: str) -> str:
    try:
        return digest(read_regular(f"{store.folder}/{as_given(file)}"))
    except MdmemoryError:
        return ""


def _status(head: Head, held: frozenset[str]) -> str:
    return "held" if head.file in held else head.status


def kept_for_later(
    places: Sequence[Inbox], text: str, session: str, turn: str, today: str,
    failure: MdmemoryError, *, long: bool = False,
) -> Extracted:  # fmt: skip
    """Keep what a message asks for in the first of the inboxes that takes it. `long`: only what
    does not fit into a note."""
    from mdmemory.capture.requests import wishes_in
    from mdmemory.capture.run import Extracted

    done = Extracted(session, failure=failure)
    asked = [each for each in wishes_in(text, turn) if not long or len(each.text) > MAX_BODY]
    for inbox in places if asked else ():
        try:
            done.kept = [str(path) for path in inbox.put(asked, session, today, failure.code)]
            break
        except (MdmemoryError, OSError):
            continue
    return done


def _refused(problem: OSError) -> MdmemoryError:
    return MdmemoryError(f"The file system refused ({problem.strerror or problem}).", "", "failed")
