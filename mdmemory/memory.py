"""The Python interface, `from mdmemory import Memory`: one method for each thing to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

from mdmemory.config import person
from mdmemory.errors import GOING_ON, MdmemoryError, NotFound
from mdmemory.note.note import SUPERSEDED
from mdmemory.privacy import is_secret
from mdmemory.store.project import Project, find_project
from mdmemory.store.refresh import Refreshed, Refresher
from mdmemory.store.store import Store, StoredNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Self

    from mdmemory.actions.doctor import Finding
    from mdmemory.actions.editing import Edited
    from mdmemory.actions.erasing import Erasable, Erased
    from mdmemory.actions.glance import Glance, LinkMap
    from mdmemory.actions.listing import IndexPlace, Listed
    from mdmemory.actions.note_history import Step, TextChange
    from mdmemory.actions.renaming import Renamed
    from mdmemory.actions.resolve import Resolved
    from mdmemory.actions.setup import Setup
    from mdmemory.actions.sync import Synced
    from mdmemory.actions.undo import Agree, Planned, Undone
    from mdmemory.capture.batch import Route, Stores
    from mdmemory.capture.extracted import Caller, Extracted
    from mdmemory.capture.fact import FactCall
    from mdmemory.capture.forgetting import AskedRemoval, Forgotten
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.pending import PendingFact
    from mdmemory.capture.store_fact import Stored
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.compact.runner import Outcome
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.lock import Patience
    from mdmemory.git.log import Logged
    from mdmemory.llm.answer import Model
    from mdmemory.note.note import Note
    from mdmemory.observe.observations import Observations
    from mdmemory.search.notes import Report
    from mdmemory.search.project import Search, Updated
    from mdmemory.search.results import Found, Passage
    from mdmemory.session.promotion import Accounting
    from mdmemory.session.recalls import KnownSession, NoteRecalled
    from mdmemory.session.session import SessionMemory
    from mdmemory.session.storage import Swept
    from mdmemory.store.adopt import Look
    from mdmemory.store.conflicts import Entry
    from mdmemory.store.evidence import Evidence
    from mdmemory.store.state import State
    from mdmemory.store.writer import NoteSource, Writer
    from mdmemory.transcripts.turns import Turn


__all__ = ["Memory", "actions", "capture", "search", "store"]


class _Room(ModuleType):
    """A package of ours, whose modules are loaded when they are first used: reading stays quick."""

    def __getattr__(self, module: str) -> ModuleType:
        return import_module(f"mdmemory.{self.__name__}.{module}")


if TYPE_CHECKING:
    from mdmemory import actions, capture, citing, compact, llm, observe, search, store
    from mdmemory import session as sessions
    from mdmemory.actions import memory_folder  # noqa: F401 - what functions return
    from mdmemory.capture import imports, run, summary, wishes  # noqa: F401
    from mdmemory.citing import check  # noqa: F401
    from mdmemory.search import sources  # noqa: F401
else:
    actions, capture, compact = _Room("actions"), _Room("capture"), _Room("compact")
    llm, observe, search = _Room("llm"), _Room("observe"), _Room("search")
    citing = _Room("citing")
    imports, sessions, store = _Room("capture.imports"), _Room("session"), _Room("store")


class Memory:
    """One store, with all that can be done with it. `clock` gives the present moment in UTC,
    `holder` is the name that other processes see while this one writes, and `tell` gets a sentence
    for each write that an earlier process could not finish. `automatic`: no person typed the
    command; in a repository of theirs its writes are kept beside the branches, and wait for a
    command that they type. `watched`: whoever opened it brings the index up to date, so that
    reading a note or history does not."""

    _looking: Writer | None = None

    def __init__(
        self, project: Project, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None, watched: bool = False,
    ) -> None:  # fmt: skip
        self.project = project
        self._automatic, self._patience, self._watched = automatic, patience, watched
        self._holder, self._clock, self._tell = holder, clock, tell
        self._sentences: set[str] = set()
        self._at_hand: Writer | None = None
        self._by_hand: list[Look | None] = []  # at one look, once it was asked what hands did

    @contextmanager
    def at_one_look(self) -> Iterator[None]:
        """Answer all that is asked in the block by one look at the notes. For what only reads, and
        is soon done."""
        self._at_hand = self._at_hand or self._writer()
        try:
            yield
        finally:
            self._at_hand = None
            self._by_hand.clear()

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
        return self._at_hand.refresher if self._at_hand else Refresher(self.project, is_secret)

    def _fresh(self) -> Refresher:
        """The refresher, whose index is brought up to date unless somebody else does so."""
        refresher = self._refresher()
        if not self._watched:
            refresher.current()
        return refresher

    def _store(self) -> Store:
        return self._fresh().store

    def _writer(self) -> Writer:
        return self._at_hand or store.writer.Writer(
            self.project, is_secret, self._holder, self._tell_once, self._automatic, self._patience
        )

    def _history(self) -> History:
        return actions.note_history.history_of(self._writer(), fresh=not self._watched)

    def _search(self, source: str = "memory", meaning: bool = True) -> Search:
        return search.sources.search(self._refresher(), source, self._today(), meaning=meaning)

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, **how: Any,
    ) -> Memory:  # fmt: skip
        """The store for the folder `path`, or the one that `store` names; `how` is what the class
        takes. Raises NoStore."""
        return cls(find_project(Path(path), store, person.person_places(environment)), **how)

    @classmethod
    def init(
        cls, path: str | Path = ".", *, store: str | None = None, own_repo: bool = False,
        home: bool = False, environment: Mapping[str, str] | None = None,
    ) -> tuple[Memory, Setup]:  # fmt: skip
        """Make a store for a project (again: no change): in the memory folder (`home`), or in
        the project, as part of its repository or with its `own_repo`."""
        where = Path(path), person.person_places(environment)
        in_project = partial(actions.setup.init_store, store=store, own_repo=own_repo)
        setup = (actions.memory_folder.begin_store if home else in_project)(*where)
        return cls(setup.project), setup

    def add(
        self, name: str, *, type: str = "", description: str = "", body: str = "", kind: str = "",
        source: str = "manual", replaces: Sequence[str] = (), cite: Sequence[str] = (),
    ) -> Edited:  # fmt: skip
        """Store a note. The same text again names the note there is; a taken name gets `-2`.

        Without a description `name` is a sentence, and what is not given is worked out from it.
        `replaces` names notes that it stands in place of: they are superseded.
        `cite` are places in the project (`src/app.py#L10-L20`) besides those that the text names.
        """
        if not description:
            fact = capture.fact.state_fact(name, type=type, body=body, kind=kind)
            if (same := self.stating(fact.said)) is not None and not replaces:
                return actions.editing.unchanged_note(same)
            name, type, kind = fact.name, fact.type, fact.kind
            description, body = fact.description, fact.body
        writer = self._writer()
        return actions.editing.add(
            writer, name=name, type=type, description=description, body=body, kind=kind,
            source=source, today=self._today(), replaces=replaces,
            near=search.near.near_notes(writer.refresher), cite=cite,
        )  # fmt: skip

    def stating(self, fact: str) -> StoredNote | None:
        """The note in force that states this fact already; None where there is none."""
        keys = capture.note_text.keys_of_fact(fact)
        says, may_say = capture.note_text.stating_test(keys), capture.note_text.may_state(keys)
        notes = search.near.those_that(may_say, self._fresh())
        stating = [each for each in notes if says(each.note.head.description, each.note.body)]
        return next(iter(store.superseding.in_force(stating)), None)

    def edit(
        self, name: str, *, description: str | None = None, body: str | None = None,
        replaces: str | None = None,
    ) -> Edited:  # fmt: skip
        """Change a note's description or body, and only the lines of these. Raises NoteChanged
        where it is not the note with the digest `replaces` any more."""
        return actions.editing.edit(
            self._writer(), name, description=description, body=body, replaces=replaces,
            today=self._today(),
        )  # fmt: skip

    def say_anew(self, name: str, text: str) -> tuple[Edited, str]:
        """Give a note this text as its body; where it says anew all that the note says, it is the
        description, too, which comes second (else "")."""
        fresh = ""

        def word_anew(note: Note) -> tuple[str | None, str | None]:
            nonlocal fresh
            says = capture.note_text.said_anew(note.head.description, note.body, text)
            if says is None:
                return None, text
            fresh = says[0]
            return fresh, says[1] or None

        writer, today = self._writer(), self._today()
        return actions.editing.edit(writer, name, worded=word_anew, today=today), fresh

    def replace_text(
        self, name: str, text: str, *, replaces: str, seen: str | None = None
    ) -> Edited:
        """Put a note's whole text, which a person wrote after seeing the digest `replaces`. With
        `seen`, the text of then, changes that others made meanwhile in other lines stay."""
        return actions.editing.replace_text(self._writer(), name, text, replaces, seen)

    def rename(self, name: str, new: str) -> Renamed:
        """Give a note another name: its file and all links to it follow; the old one stays as an
        alias. Raises BadNote for a name that is taken or none."""
        return actions.renaming.rename_note(self._writer(), name, new)

    def remove(self, name: str) -> Edited:
        """Remove a note; its text stays in history."""
        return actions.editing.remove_note(self._writer(), name)

    def erase(self, name: str, agree: Callable[[Erasable], bool]) -> Erased:
        """Take a note out of the store's whole history, for good; only of a store of its own, and
        only if `agree` says yes to what that is. There is no undo."""
        return actions.erasing.erase_note(self._writer(), name, agree)

    def confirm(self, name: str) -> Edited:
        """Stand by a note that was unconfirmed, or that waits for its first commit."""
        return actions.editing.confirm_note(self._writer(), name, today=self._today())

    def notes(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self._store().notes()

    def note(self, name: str) -> StoredNote:
        """One note by its name, stem or file. Raises NotFound."""
        return self._store().find(name)

    def get(self, file: str, lines: tuple[int, int] | None = None) -> Passage:
        """A note, or its first to last line of `lines`, from 1. Raises NotFound, UsageError."""
        (refresher := self._refresher()).current()
        waiting = refresher.catalog().waiting
        return search.results.read_passage(
            refresher.store, is_secret, file, lines, waiting, self._today()
        )

    def listing(
        self, *, digests: bool = True, files: Collection[str] | None = None
    ) -> list[Listed]:
        """Every note, or those of these `files`, with its strength, and whether the index lists it.
        Refreshes the index. Without `digests` (each is "" then) no file is read for its own, which
        many notes notice."""
        return actions.listing.list_notes(self._refresher(), digests, files)

    def mark(self, file: str) -> str:
        """`Listed.mark` of one note; "" where it has none, or is gone. Refreshes the index."""
        return actions.listing.mark_of(self._refresher(), file)

    def glance(self) -> Glance:
        """How the store looks now: what was found of it holds as long as this stays the same."""
        self._looking = self._looking or self._writer()  # to find the repository takes a process
        now = int(self._clock().timestamp() * 1e9)
        return actions.glance.glance_at(self._looking, now)

    def index_place(self, name: str) -> IndexPlace | None:
        """Why the index lists a note or does not, and when it left it; None for a note that is
        gone."""
        writer = self._writer()
        try:
            file = self.note(name).file
        except NotFound:
            return None
        history = actions.note_history.history_shown(writer)
        return actions.listing.index_place(writer.refresher, history, file)

    def citations(
        self, files: Collection[str] | None = None, *, since: str | None = None,
        patience: float | None = None,
    ) -> list[CheckedCitation]:  # fmt: skip
        """What the notes cite in the project and how that stands now, in the order of the notes; of
        these `files` alone, if given, else of all that no newer note replaced. `since` a revision
        of the project: only what stood until then and does not any more. `patience`: seconds that a
        command of git may take; what is not found out in them is unknown. Raises NoGit for a store
        without a project, NotFound for a revision.
        """
        catalog = self._refresher().catalog()
        if files is None:
            heads = [head for head in catalog.citing() if head.status != SUPERSEDED]
        else:
            heads = [head for head in catalog.heads_of(files) if head.cites]
        notes = [(head.file, head.cites) for head in heads]
        if since is None:
            return citing.check.check_citations(self.project, notes, patience)
        return citing.check.drifted_since(self.project, notes, since)

    def known_citations(
        self, files: Collection[str] | None = None
    ) -> dict[str, tuple[CheckedCitation, ...]]:
        """What the last check found out of what these notes cite, or all, by file; nothing is
        checked."""
        catalog = self._refresher().catalog()
        heads = catalog.citing() if files is None else catalog.heads_of(files)
        return citing.check.recorded_citations(
            self.project, [(e.file, e.cites) for e in heads if e.cites]
        )

    def index_places(self) -> dict[str, IndexPlace]:
        """The same of every note by its file, without the time when it left."""
        return actions.listing.all_places(self._refresher())

    def links(self, before: LinkMap | None = None) -> LinkMap:
        """Which note links to which; only what changed since `before` is read."""
        return (before or actions.glance.LinkMap(store.store.Store(self.project.store))).look()

    def counts(self) -> dict[str, int]:
        """How many notes there are, are listed, on hold, unconfirmed, and open conflicts."""
        return actions.listing.count_notes(self._refresher())

    def unread(self) -> list[str]:
        """The files of notes that cannot be read; `doctor` gives the reason of each."""
        return actions.listing.unreadable_files(self._refresher())

    def conflicts(self) -> list[Entry]:
        """The contradictions that wait for a person."""
        return self._fresh().open_conflicts()

    def resolve(self, id: str, *, keep: str | None = None) -> Resolved:
        """Resolve a conflict, on a person's word: keep one note and not the other, or both."""
        return actions.resolve.resolve_conflict(self._writer(), id, keep=keep)

    def index(self, *, check: bool = False, adopt: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is. With `adopt` what other
        hands did is committed by the same look at the notes."""
        if check:
            return self._refresher().refresh(write=False)
        with (writer := self._writer()).lock_store():
            state = writer.refresher.refresh()
            seen = actions.listing.find_unadopted(writer) if adopt and not self._automatic else None
            if seen and seen.found:
                writer.adopt()
            return state

    def index_text(self, most: int = 0) -> str:
        """MEMORY.md as it is now, brought up to date where that is possible; with `most` an index
        of at most so many characters, which lists the strongest notes."""
        return self._refresher().text(most)

    def unadopted(self) -> Look | None:
        """What other hands did to the notes that no commit holds; None without git."""
        if self._at_hand is None:
            return actions.listing.find_unadopted(self._writer())
        if not self._by_hand:
            self._by_hand.append(actions.listing.find_unadopted(self._at_hand))
        return self._by_hand[0]

    def adopt(
        self, *, settled: float = 0.0, accept_loss: bool = False,
        only: Collection[str] | None = None,
    ) -> str | None:  # fmt: skip
        """Commit what other hands did, and give the commit. `settled`, which an automatic command
        has to say: only what stayed as it is for so many seconds, and reads as a note.
        `accept_loss`: many notes were meant to go. `only`: of these files, which are whole."""
        if self._automatic and not only and not os.path.lexists(self.project.store / ".git"):
            return None  # without a repository of its own nothing is committed unasked
        writer = self._writer()
        if writer.automatic and (writer.waits or not (settled or only)):
            return None
        if not (seen := actions.listing.find_unadopted(writer)) or not seen.found:
            return None
        with writer.lock_store():
            return writer.adopt(settled=settled, accept_loss=accept_loss, only=only)

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Report = lambda *_: None, meaning: bool = True,
    ) -> Found:  # fmt: skip
        """The `k` best places for a question, best first; none where nothing fits. `source` is
        memory (the notes), sessions, files, observations, or all of the first three; `at` names a
        commit: the notes as they stood there. `report(done, total, what)` follows the reading of
        changed notes; without `meaning` no vectors are used. Raises UsageError, NotFound."""
        search.sources.check_source(source, k, at)
        if source == "observations":
            return self.observations().search(query, k=k)
        today, history = self._clock().date(), None if at is None else self._history()
        result = self._search(source, meaning).find
        return result(query, k, today, source=source, report=report, at=at, history=history)

    def rebuild(self, *, search_only: bool = False, report: Report = lambda *_: None) -> Updated:
        """Make the search database anew, and without `search_only` MEMORY.md and the catalog."""
        if not search_only:
            (self.project.prepare_private() / "catalog").unlink(missing_ok=True)
            self.index()
        return self._search().update(report, anew=True)

    def make_vectors(self, *, report: Report = lambda *_: None) -> Updated:
        """Make the vectors of all notes that have none, where `search.embeddings` is on."""
        return self._search().update(report, vectors=True)

    def change(self, id: str) -> Logged:
        """The commit that a Memory-Id or a commit's name means. Raises NotFound."""
        return actions.note_history.find_change(self._history(), id)

    def undo(self, id: str | None = None, agree: Agree | None = None) -> Undone:
        """Take back a commit of ours: by Memory-Id or commit, else the newest change. `agree` is
        asked first, and hears what that is."""
        return actions.undo.undo_changes(self._writer(), id, agree)[0]

    def undo_session(self, session: str, agree: Agree | None = None) -> list[Undone]:
        """Take back all that one session caused, in one commit; answers for each that it made."""
        return actions.undo.undo_changes(self._writer(), agree=agree, session=session)

    def newest_change(self) -> Planned | None:
        """The change that `undo` takes back without an id; None where there is none."""
        return actions.undo.newest_change(self._writer())

    def has_change(self, id: str) -> bool:
        """Whether a Memory-Id or a commit names a commit of ours in this store."""
        return actions.undo.knows_commit(self._writer(), id)

    def log(self, limit: int | None = None) -> list[tuple[Logged, bool]]:
        """Our commits, newest first, each with whether it was undone since."""
        return actions.note_history.log_writes(self._history(), limit)

    def waiting(self) -> list[Logged]:
        """The automatic writes that wait for a command that a person types, newest first."""
        return actions.note_history.waiting_writes(self._writer().history)

    def is_undone(self, change: Logged) -> bool:
        """Whether a change was taken back, and nothing brought it back."""
        return change.commit in self._history().list_undone()

    def file_changes(
        self, commits: Sequence[str], files: Collection[str] | None = None, most: int | None = None
    ) -> dict[str, list[TextChange]]:
        """The texts before and after of the files that each commit changed, but for the index: of
        the first `most`, or of these files."""
        return actions.note_history.file_changes(self._history(), commits, files, most)

    def history(self, name: str) -> list[Step]:
        """The life of a note, newest step first, across renames and merges; it may be gone."""
        return actions.note_history.trace_life(self._history(), self._store(), name)

    def sync(
        self, *, rebase: bool = False, remote: str | None = None, push_all: bool = False
    ) -> Synced:
        """Commit, fetch, merge (or rebase) and push, with the person's own git configuration.
        `remote` is the address that a store of its own gets; `push_all` pushes foreign commits."""
        return actions.sync.sync_store(
            self._writer(), person.person_places().environment, self._today(), rebase=rebase,
            remote=remote, push_all=push_all,
        )  # fmt: skip

    def remote(self) -> str | None:
        """The address of the store's remote without a password; None: it is on this disk alone."""
        return actions.sync.remote_address(history) if (history := self._writer().history) else None

    def refusal(self) -> MdmemoryError | None:
        """Why nothing can be committed now, or None where it can."""
        return self._writer().refusal()

    def git_state(self) -> str:
        """ready, none, or why no commit can be made now."""
        return actions.listing.git_state(self._writer())

    def doctor(self, *, fix: bool = False, elsewhere: Collection[str] = ()) -> list[Finding]:
        """The problems of the store; `fix` first repairs those that can be repaired safely. A link
        to a name `elsewhere` (folded) is not dead."""
        return actions.doctor.examine_store(
            self._writer(), self._clock(), fix=fix, elsewhere=elsewhere
        )

    # --- what sessions teach a store

    def sources(self) -> list[NoteSource]:
        """This store, as a place to look for notes in."""
        return [store.writer.NoteSource("", self._writer())]

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """This store: it gets whatever there is."""
        return self.sources()[0], capture.batch.ALL

    def store(self, call: FactCall, caller: Caller) -> Stored:
        """Store a fact that an assistant hands over; what the caller's turns do not prove is
        unconfirmed, and replaces nothing. Raises NotStored, NotFound."""
        return capture.store_fact.store_fact(self, call, caller, now=self._clock())

    def forget(self, names: Sequence[str], quote: str, caller: Caller) -> Forgotten:
        """Remove the notes that an assistant names, if the caller's turns ask for it in the words
        of `quote`; else it waits, or is refused. Raises NotFound, NotProven."""
        return capture.forgetting.forget_notes(
            self.sources(), names, quote, caller, now=self._clock()
        )

    def asked_removals(self) -> list[AskedRemoval]:
        """The notes that an assistant wants forgotten without enough proof: a person decides."""
        return capture.forgetting.waiting_removals(self.project)

    def import_from(
        self, path: str | Path, *, dry_run: bool = False, stores: Stores | None = None
    ) -> Imported:
        """Store the facts of another memory, a file or folder, in one commit for each store.
        Raises BadImport."""
        return imports.run.import_from(stores or self, Path(path), self._clock(), dry_run)

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        again: bool = False, report: Report = lambda *_: None, stores: Stores | None = None,
    ) -> Extracted:  # fmt: skip
        """Store what the user asked to remember in a transcript, and what `model` finds (default:
        the one that the settings choose, or none) in what it has not read, or `again` in all of
        it; a dry run asks it, too. `stores`: where each fact goes (default: here)."""
        ask = partial(llm.choose.asking, "extract", self.project, self._today(), model)
        return capture.run.extract_facts(
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
        return capture.summary.take_summary(
            stores or self, self._writer(), session, text, said, now=self._clock(),
            shown=shown or {},
        )  # fmt: skip

    def kept_wishes(self) -> list[Path]:
        """The files of wishes that wait to be written."""
        inboxes = capture.wishes.open_inboxes(self.project)
        return [path for inbox in inboxes for path in inbox.kept()]

    def captures(self, limit: int | None = None) -> list[Evidence]:
        """Why each candidate was kept or dropped, the newest first (90 days)."""
        with self.state() as state:
            return store.evidence.recorded_evidence(state, limit)

    def known_sessions(self) -> list[KnownSession]:
        """The sessions that anything is remembered of, the newest first."""
        with self.state() as state:
            return sessions.recalls.list_sessions(state)

    def recalled(self, session: str) -> list[NoteRecalled]:
        """The notes that went along with the messages of a session."""
        with self.state() as state:
            return sessions.recalls.list_recalled(state, session)

    def pending(self) -> list[PendingFact]:
        """Candidates without enough proof, which wait for a person."""
        return capture.pending.waiting_facts(self.project, self.state)

    def accept(self, id: str, *, into: Self | None = None) -> Edited:
        """Store a candidate that waits, here or `into` another store: a person stands by it."""
        writer = None if into is None else into._writer()
        return capture.pending.accept_fact(self._writer(), id, today=self._today(), into=writer)

    def drop(self, id: str) -> PendingFact:
        """Take a candidate off the list; for 30 days it is not proposed again."""
        return capture.pending.drop_fact(self._writer(), id, today=self._today())[0]

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
        return observe.observations.Observations(
            self.project, self.state, self._writer, self._clock
        )

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
        with self.state() as state, self.session(session) as own:
            return sessions.promotion.promote(
                state, session, own.read(),
                lambda text: self.summary(session, text, said, stores=stores), now=self._clock(),
            )  # fmt: skip

    def sweep(self) -> Swept:
        """Remove what sessions keep that is too old or too much. Notes are never touched."""
        with self.state() as state:
            return sessions.storage.sweep(state, self._clock())
