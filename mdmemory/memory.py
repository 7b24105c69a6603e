"""The Python interface, `from mdmemory import Memory`: one method for each thing to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from mdmemory.config import person
from mdmemory.errors import GOING_ON, MdmemoryError
from mdmemory.privacy import is_secret
from mdmemory.store.project import Project, find
from mdmemory.store.refresh import Refreshed, Refresher
from mdmemory.store.store import Store, StoredNote

if TYPE_CHECKING:
    from datetime import datetime

    from mdmemory import actions, capture, compact, llm, observe, search, store
    from mdmemory import session as sessions
    from mdmemory.actions import memory_folder  # noqa: F401 - type of a function
    from mdmemory.actions.doctor import Finding
    from mdmemory.actions.editing import Edited
    from mdmemory.actions.listing import Listed
    from mdmemory.actions.note_history import Step
    from mdmemory.actions.renaming import Renamed
    from mdmemory.actions.resolve import Conflict, Resolved
    from mdmemory.actions.setup import Setup
    from mdmemory.actions.sync import Synced
    from mdmemory.actions.undo import Agree, Undone
    from mdmemory.capture import imports, requests, wishes  # noqa: F401 - types of functions
    from mdmemory.capture.assistant import Stored
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.outcome import Extracted
    from mdmemory.capture.pending import PendingFact
    from mdmemory.compact.runner import Outcome
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.lock import Patience
    from mdmemory.git.log import Logged
    from mdmemory.llm.answer import Model
    from mdmemory.observe.observations import Observations
    from mdmemory.search import sources  # noqa: F401
    from mdmemory.search.notes import Report
    from mdmemory.search.project import Search, Updated
    from mdmemory.search.results import Found, Passage
    from mdmemory.session.promotion import Accounting
    from mdmemory.session.session import SessionMemory
    from mdmemory.session.storage import Swept
    from mdmemory.store.evidence import Evidence
    from mdmemory.store.state import State
    from mdmemory.store.writer import Writer
    from mdmemory.transcripts.turns import Turn


class _Room(ModuleType):
    """A package of ours, whose modules are loaded when they are first used: reading stays quick."""

    def __getattr__(self, module: str) -> ModuleType:
        return import_module(f"mdmemory.{self.__name__}.{module}")


if not TYPE_CHECKING:
    actions, capture, compact = _Room("actions"), _Room("capture"), _Room("compact")
    llm, observe, search = _Room("llm"), _Room("observe"), _Room("search")
    imports, sessions, store = _Room("capture.imports"), _Room("session"), _Room("store")


class Memory:
    """One store, opened. `clock` gives the present moment in UTC, `holder` is the name that other
    processes see while this one writes, and `tell` gets a sentence for each write that an earlier
    process could not finish. `automatic`: no person typed the command; in a repository of theirs
    its writes are kept beside the branches, and wait for a command that they type."""

    def __init__(
        self, project: Project, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self._automatic, self._patience = automatic, patience
        self._holder, self._clock, self._tell = holder, clock, tell
        self._sentences: set[str] = set()

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> Memory:  # fmt: skip
        """The store for the folder `path`, or the one that `store` names. Raises NoStore."""
        return cls(
            find(Path(path), store, person.places(environment)), holder=holder, clock=clock,
            tell=tell, automatic=automatic, patience=patience,
        )  # fmt: skip

    @classmethod
    def init(
        cls, path: str | Path = ".", *, store: str | None = None, own_repo: bool = False,
        home: bool = False, environment: Mapping[str, str] | None = None,
    ) -> tuple[Memory, Setup]:  # fmt: skip
        """Make a store for a project (again: no change): in the memory folder (`home`), or in
        the project, as part of its repository or with its `own_repo`."""
        where = Path(path), person.places(environment), is_secret
        in_project = partial(actions.setup.init, store=store, own_repo=own_repo)
        setup = (actions.memory_folder.begin if home else in_project)(*where)
        return cls(setup.project), setup

    def add(
        self, name: str, *, type: str, description: str, body: str, kind: str = "",
        source: str = "manual",
    ) -> Edited:  # fmt: skip
        """Store a note. The same text again names the note there is; a taken name gets `-2`."""
        return actions.editing.add(
            self._writer(), name=name, type=type, description=description, body=body, kind=kind,
            source=source, today=self._today(),
        )  # fmt: skip

    def edit(self, name: str, *, description: str | None = None, body: str | None = None) -> Edited:
        """Change a note's description or body, and only the lines of these."""
        return actions.editing.edit(
            self._writer(), name, description=description, body=body, today=self._today()
        )

    def replace_text(
        self, name: str, text: str, *, replaces: str, seen: str | None = None
    ) -> Edited:
        """Put a note's whole text, which a person wrote after seeing the digest `replaces`. With
        `seen`, the text of then, changes that others made meanwhile in other lines stay."""
        return actions.editing.replace_text(self._writer(), name, text, replaces, seen)

    def rename(self, name: str, new: str) -> Renamed:
        """Give a note another name: its file and all links to it follow; the old one stays as an
        alias. Raises BadNote for a name that is taken or none."""
        return actions.renaming.rename(self._writer(), name, new)

    def remove(self, name: str) -> Edited:
        """Remove a note; its text stays in history."""
        return actions.editing.remove(self._writer(), name)

    def confirm(self, name: str) -> Edited:
        """Stand by a note that was unconfirmed."""
        return actions.editing.confirm(self._writer(), name, today=self._today())

    def notes(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self._store().notes()

    def note(self, name: str) -> StoredNote:
        """One note by its name, stem or file. Raises NotFound."""
        return self._store().find(name)

    def get(self, file: str, lines: tuple[int, int] | None = None) -> Passage:
        """A note, or its first to last line of `lines`, from 1. Raises NotFound, UsageError."""
        return search.results.passage(self._store(), is_secret, file, lines)

    def listing(self) -> list[Listed]:
        """Every note with its strength, and whether the index lists it. Refreshes the index."""
        return actions.listing.listing(self._refresher())

    def counts(self) -> dict[str, int]:
        """How many notes there are, are listed, on hold, unconfirmed, and open conflicts."""
        return actions.listing.counts(self._refresher())

    def unread(self) -> list[str]:
        """The files of notes that cannot be read; `doctor` gives the reason of each."""
        return actions.listing.unread(self._refresher())

    def conflicts(self) -> list[Conflict]:
        """The contradictions that wait for a person."""
        return actions.resolve.waiting(self._store())

    def resolve(self, id: str, *, keep: str | None = None) -> Resolved:
        """Resolve a conflict, on a person's word: keep one note and not the other, or both."""
        return actions.resolve.resolve(self._writer(), id, keep=keep)

    def index(self, *, check: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is."""
        if check:
            return self._refresher().refresh(write=False)
        with (writer := self._writer()).locked():
            return writer.refresher.refresh()

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Report = lambda *_: None, meaning: bool = True,
    ) -> Found:  # fmt: skip
        """The `k` best places for a question, best first; none where nothing fits. `source` is
        memory (the notes), sessions, files, observations, or all of the first three; `at` names a
        commit: the notes as they stood there. `report(done, total, what)` follows the reading of
        changed notes; without `meaning` no vectors are used. Raises UsageError, NotFound."""
        search.sources.check(source, k, at)
        if source == "observations":
            return self.observations().search(query, k=k)
        today, history = self._clock().date(), None if at is None else self._history()
        found = self._search(source, meaning).find
        return found(query, k, today, source=source, report=report, at=at, history=history)

    def freshen(self) -> Updated:
        """Bring MEMORY.md and the search database up to date."""
        return self._search(meaning=False).update()

    def rebuild(self, *, search_only: bool = False, report: Report = lambda *_: None) -> Updated:
        """Make the search database anew, and without `search_only` MEMORY.md and the catalog."""
        if not search_only:
            (self.project.prepare_private() / "catalog").unlink(missing_ok=True)
            self.index()
        return self._search().update(report, anew=True)

    def undo(self, id: str | None = None, agree: Agree | None = None) -> Undone:
        """Take back a commit of ours: by Memory-Id or commit, else the newest change. `agree` is
        asked first, and hears what that is."""
        return actions.undo.undo(self._writer(), id, agree)

    def undo_session(self, session: str, agree: Agree | None = None) -> list[Undone]:
        """Take back all that one session caused, in one commit; answers for each that it made."""
        return actions.undo.undo_session(self._writer(), session, agree)

    def log(self, limit: int | None = None) -> list[tuple[Logged, bool]]:
        """Our commits, newest first, each with whether it was undone since."""
        return actions.note_history.log(self._history(), limit)

    def waiting(self) -> list[Logged]:
        """The automatic writes that wait for a command that a person types, newest first."""
        return actions.note_history.waiting(self._writer().history)

    def diff(
        self, id: str | None = None, *, generated: bool = False, words: bool = False
    ) -> tuple[Logged | None, str]:
        """A commit (default: our newest), and its changes as a unified diff or (words) as git's
        porcelain word diff, without the generated files unless `generated`."""
        return actions.note_history.diff(self._history(), id, generated=generated, words=words)

    def history(self, name: str) -> list[Step]:
        """The life of a note, newest step first, across renames and merges; it may be gone."""
        return actions.note_history.life(self._history(), self._store(), name)

    def sync(
        self, *, rebase: bool = False, remote: str | None = None, push_all: bool = False
    ) -> Synced:
        """Commit, fetch, merge (or rebase) and push, with the person's own git configuration.
        `remote` is the address that a store of its own gets; `push_all` pushes foreign commits."""
        return actions.sync.sync(
            self._writer(), person.places().environment, self._today(), rebase=rebase,
            remote=remote, push_all=push_all,
        )  # fmt: skip

    def remote(self) -> str | None:
        """The address of the store's remote without a password; None: it is on this disk alone."""
        return actions.remotes.address(history) if (history := self._writer().history) else None

    def refusal(self) -> MdmemoryError | None:
        """Why nothing can be committed now, or None where it can."""
        return self._writer().refusal()

    def git_state(self) -> str:
        """ready, none, or why no commit can be made now."""
        return actions.listing.git_state(self._writer())

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """The problems of the store; `fix` first repairs those that can be repaired safely."""
        return actions.doctor.examine(self._writer(), self._clock(), fix=fix)

    def store(
        self, content: str, *, title: str = "", type: str = "", session: str = "",
        said: Sequence[str] = (),
    ) -> Stored:  # fmt: skip
        """Store a fact that an assistant found, unconfirmed where no turn in `said` bears it out.
        `type` is one of the four, a category (preferences), or "" to guess. Raises NotStored."""
        return capture.assistant.store(
            self._writer(), content, title=title, type=type, session=session, said=said,
            now=self._clock(),
        )  # fmt: skip

    def import_from(self, path: str | Path, *, dry_run: bool = False) -> Imported:
        """Store the facts of another memory, a file or folder, in one commit. Raises BadImport."""
        return imports.run.import_from(self._writer(), Path(path), self._today(), dry_run)

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        report: Report = lambda *_: None,
    ) -> Extracted:  # fmt: skip
        """Store what the user asked to remember in a transcript, and what `model` finds (default:
        the one that the settings choose, or none); a dry run asks it, too."""
        ask = partial(llm.choose.asking, "extract", self.project, self._today(), model)
        return capture.run.extract(
            self._writer(), transcript, now=self._clock(), ask=ask, dry_run=dry_run, report=report
        )

    def summary_request(self) -> tuple[str, dict[str, str]]:
        """The text for a host's compaction prompt, and the notes it numbers: file to digest."""
        return capture.summary.request_of(self._refresher())

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's compaction summary that the user's turns in `said` bear out;
        the others wait in `pending`. Asks no model."""
        return capture.summary.take(
            self._writer(), session, text, said, now=self._clock(), shown=shown or {}
        )

    def keep(self, text: str, *, session: str, turn: str) -> Extracted:
        """Store at once what a message asks to remember; `kept` names what goes to an inbox."""
        return capture.requests.keep_or_put_by(
            self._writer, self.project, text, session, turn, now=self._clock()
        )

    def kept_wishes(self) -> list[Path]:
        """The files of wishes that wait to be written."""
        return [path for inbox in capture.wishes.inboxes(self.project) for path in inbox.kept()]

    def write_wishes(self) -> list[Extracted]:
        """Write the wishes that could not be written earlier, as far as possible."""
        return capture.requests.write_wishes(self._writer, self.project, now=self._clock())

    def captures(self, limit: int | None = None) -> list[Evidence]:
        """Why each candidate was kept or dropped, the newest first (90 days)."""
        with self.state() as state:
            return store.evidence.recorded(state, limit)

    def pending(self) -> list[PendingFact]:
        """Candidates without enough proof, which wait for a person."""
        return capture.pending.waiting(self.project, self.state, self._today())

    def accept(self, id: str) -> Edited:
        """Store a candidate that waits: a person stands by it."""
        return capture.pending.accept(self._writer(), id, today=self._today())

    def drop(self, id: str) -> PendingFact:
        """Take a candidate off the list; for 30 days it is not proposed again."""
        return capture.pending.drop(self._writer(), id, today=self._today())

    def compact(
        self, *, plan: str | bytes | None = None, model: Model | None = None,
        offline: bool = False, if_due: bool = False, dry_run: bool = False,
        report: Report = lambda *_: None,
    ) -> Outcome:  # fmt: skip
        """One compaction pass, planned by `model` (default: the one that the settings choose), by
        no model where none is chosen or `offline` says so, or given as `plan` (JSON). A dry run
        asks the model, too; `report(done, total, what)` hears of each question to it."""
        return compact.runner.compact(
            self._writer(), self._clock(), plan=plan, model=model, offline=offline, if_due=if_due,
            dry_run=dry_run, report=report,
        )  # fmt: skip

    def due(self) -> str | None:
        """Why a compaction is due, in words, or None."""
        return compact.runner.why_due(self._writer(), self._clock())

    def observations(self) -> Observations:
        """The short form of what the assistant's tools showed in earlier work."""
        kept = observe.observations.Observations
        return kept(self.project, self.state, self._writer, self._clock)

    @contextmanager
    def session(self, session: str) -> Iterator[SessionMemory]:
        """What one session keeps at hand: core blocks, working memory, hot state. Never notes."""
        with self.state() as state:
            yield sessions.session.SessionMemory(state, session, self.project.settings)

    desk = session  # its name in 0.1; goes in 0.3

    def promote(self, session: str, said: Sequence[Turn]) -> Accounting:
        """Take a session's decisions and candidates through capture, at its compaction. Those that
        the user's turns in `said` do not bear out wait in `pending`. Asks no model."""
        with self.state() as state, self.session(session) as own:
            hot, now = own.hot(), self._clock()
            return sessions.promotion.promote(self._writer(), state, session, hot, said, now=now)

    def sweep(self) -> Swept:
        """Remove what sessions keep that is too old or too much. Notes are never touched."""
        with self.state() as state:
            return sessions.storage.sweep(state, self._clock())

    def now(self) -> datetime:
        """The present moment in UTC, by the clock that this was opened with."""
        return self._clock()

    def state(self) -> State:
        """The database of our own work, as a context. Its trouble goes to `tell`."""
        return store.state.State(self.project.state_file, self._tell_once)

    def _tell_once(self, sentence: str) -> None:
        kind = GOING_ON if GOING_ON in sentence else sentence
        if kind not in self._sentences:
            self._sentences.add(kind)
            self._tell(sentence)

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _refresher(self) -> Refresher:
        return Refresher(self.project, is_secret)

    def _store(self) -> Store:
        refresher = self._refresher()
        refresher.keep_fresh()
        return refresher.store

    def _writer(self) -> Writer:
        return store.writer.Writer(
            self.project, is_secret, self._holder, self._tell_once, self._automatic, self._patience
        )

    def _history(self) -> History:
        return actions.note_history.history_of(self._writer())

    def _search(self, source: str = "memory", meaning: bool = True) -> Search:
        return search.sources.search(self._refresher(), source, self._today(), meaning=meaning)
