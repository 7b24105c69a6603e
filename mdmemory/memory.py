"""The Python interface, `from mdmemory import Memory`: one method for each thing to do."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from mdmemory.config import person
from mdmemory.errors import MdmemoryError, NoGit, NotFound, UsageError
from mdmemory.layers import (
    Layers,
    OpenStore,
    actions,
    capture,
    citing,
    compact,
    imports,
    llm,
    observe,
    search,
    sessions,
    store,
)
from mdmemory.note.note import SUPERSEDED, UNREADABLE
from mdmemory.privacy import is_secret
from mdmemory.store.project import find_project
from mdmemory.store.refresh import Refreshed
from mdmemory.store.store import INDEX, Store, StoredNote

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    from mdmemory.capture.extracted import Caller, Extracted
    from mdmemory.capture.fact import Fact, FactCall
    from mdmemory.capture.forgetting import AskedRemoval, Forgotten
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.pending import PendingFact
    from mdmemory.capture.store_fact import Stored
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.compact.runner import Outcome
    from mdmemory.git.log import Logged
    from mdmemory.llm.answer import Model
    from mdmemory.note.note import Note
    from mdmemory.observe.observations import Observations
    from mdmemory.search.notes import Report
    from mdmemory.search.project import Updated
    from mdmemory.search.results import Found, Passage
    from mdmemory.session.promotion import Accounting
    from mdmemory.session.recalls import KnownSession, NoteRecalled
    from mdmemory.session.session import SessionMemory
    from mdmemory.session.storage import Swept
    from mdmemory.store.adopt import Look
    from mdmemory.store.conflicts import Entry
    from mdmemory.store.evidence import Evidence
    from mdmemory.store.state import State
    from mdmemory.store.writer import StoredIn, Writer
    from mdmemory.transcripts.turns import Turn


class Memory(Layers):
    """All that can be done with one store, or with the project's and the person's as one.

    What is done to a note is done where NAME is, and a new one goes where it belongs. What lists
    notes, looks for them, or takes back knows both. All else is about one store: the project's, or
    the person's where there is no other; `each` gives them one by one."""

    _looking: Writer | None = None

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, **how: Any,
    ) -> Self:  # fmt: skip
        """The store for the folder `path` alone, or the one that `store` names; `how` is what
        `OpenStore` takes. Raises NoStore."""
        places = person.person_places(environment)
        return cls(find_project(Path(path), store, places), places=places, **how)

    @classmethod
    def init(
        cls, path: str | Path = ".", *, store: str | None = None, own_repo: bool = False,
        home: bool = False, environment: Mapping[str, str] | None = None,
    ) -> tuple[Self, Setup]:  # fmt: skip
        """Make a store for a project (again: no change): in the memory folder (`home`), or in
        the project, as part of its repository or with its `own_repo`."""
        where = Path(path), person.person_places(environment)
        in_project = partial(actions.setup.init_store, store=store, own_repo=own_repo)
        setup = (actions.memory_folder.begin_store if home else in_project)(*where)
        return cls(setup.project), setup

    def now(self) -> datetime:
        """The present moment in UTC, by the clock that this was opened with."""
        return self._clock()

    def state(self) -> State:
        """The database of our own work, as a context."""
        return self.opened.state()

    # --- notes

    def add(
        self, name: str, *, type: str = "", description: str = "", body: str = "", kind: str = "",
        source: str = "manual", everywhere: bool = False, cite: Sequence[str] = (),
        replaces: Sequence[str] = (), why: str = "",
    ) -> Edited:  # fmt: skip
        """Store a note where its type belongs (see `for_type`). The same text again names the note
        there is; a taken name gets `-2`.

        Without a description `name` is a sentence, and what is not given is worked out from it.
        `replaces` names notes that it stands in place of: they are superseded. `why` is its reason.
        `cite` are places in the project (`src/app.py#L10-L20`) besides those that the text names.
        """
        if not description:
            fact = capture.fact.state_fact(name, type=type, body=body, kind=kind, why=why)
            return self.state_fact(fact, everywhere, source, cite, replaces)[1]
        body = capture.fact.with_reason(body, why) if why else body
        fact = capture.fact.Fact(body, description, name, type, kind=kind)
        return self._put(fact, everywhere, source, cite, replaces)[1]

    def state_fact(
        self, fact: Fact, everywhere: bool = False, source: str = "manual",
        cite: Sequence[str] = (), replaces: Sequence[str] = (),
    ) -> tuple[Self, Edited]:  # fmt: skip
        """Store what a person states in a sentence, and the store it is in: a note that says it
        already is named."""
        keys = capture.note_text.keys_of_fact(fact.said)
        says, may_say = capture.note_text.stating_test(keys), capture.note_text.may_state(keys)
        for part in self.there() if not replaces else ():
            notes = search.near.those_that(may_say, part.opened.fresh())
            same = [each for each in notes if says(each.note.head.description, each.note.body)]
            for each in store.superseding.in_force(same):
                return part, actions.editing.unchanged_note(each)
        return self._put(fact, everywhere or fact.everywhere, source, cite, replaces)

    def _put(
        self, fact: Fact, everywhere: bool, source: str, cite: Sequence[str],
        replaces: Sequence[str],
    ) -> tuple[Self, Edited]:  # fmt: skip
        """Store a fact, in the store of the notes that it replaces. Raises NotFound, UsageError for
        notes of both."""
        # no store is made for a note that none would take
        text = f"{fact.description}\n{fact.body}"
        actions.editing.check_new(fact.name, fact.type, text)
        owners = [self.holding(name) for name in replaces]
        if len({part.layer for part, _ in owners}) > 1:
            raise UsageError(
                "The notes are in two stores, and a fact replaces those of one.",
                "Add it twice, once for each store.",
            )
        names = [part.note(name).file for part, name in owners]
        part = owners[0][0] if owners else self.for_type(fact.type, everywhere=everywhere)
        writer = part.opened.writer()
        return part, actions.editing.add(
            writer, name=fact.name, type=fact.type, description=fact.description, body=fact.body,
            kind=fact.kind, source=source, today=part.opened.today(), replaces=names,
            near=search.near.near_notes(writer.refresher), cite=cite,
        )  # fmt: skip

    def near(self, text: str) -> list[tuple[str, str]]:
        """The notes near a text, three of each store at most: file and description."""
        return [
            (f"{source.prefix}{note.file}", " ".join(note.note.head.description.split()))
            for source in self.sources()
            for note in store.superseding.in_force(
                search.near.near_notes(source.writer.refresher)(text)
            )[: search.near.NEAREST]
        ]

    def edit(
        self, name: str, *, description: str | None = None, body: str | None = None,
        replaces: str | None = None,
    ) -> Edited:  # fmt: skip
        """Change a note's description or body, and only the lines of these. Raises NoteChanged
        where it is not the note with the digest `replaces` any more."""
        part, name = self._open_holder(name)
        return actions.editing.edit(
            part.writer(), name, description=description, body=body, replaces=replaces,
            today=part.today(),
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

        part, name = self._open_holder(name)
        return (
            actions.editing.edit(part.writer(), name, worded=word_anew, today=part.today()), fresh,
        )  # fmt: skip

    def replace_text(
        self, name: str, text: str, *, replaces: str, seen: str | None = None
    ) -> Edited:
        """Put a note's whole text, which a person wrote after seeing the digest `replaces`. With
        `seen`, the text of then, changes that others made meanwhile in other lines stay."""
        part, name = self._open_holder(name)
        return actions.editing.replace_text(part.writer(), name, text, replaces, seen)

    def rename(self, name: str, new: str) -> Renamed:
        """Give a note another name: its file and all links to it follow; the old one stays as an
        alias. Raises BadNote for a name that is taken or none."""
        part, name = self._open_holder(name)
        return actions.renaming.rename_note(part.writer(), name, new)

    def remove(self, name: str) -> Edited:
        """Remove a note; its text stays in history."""
        part, name = self._open_holder(name)
        return actions.editing.remove_note(part.writer(), name)

    def erase(self, name: str, agree: Callable[[Erasable], bool]) -> Erased:
        """Take a note out of the store's whole history, for good; only of a store of its own, and
        only if `agree` says yes to what that is. There is no undo."""
        part, name = self._open_holder(name)
        return actions.erasing.erase_note(part.writer(), name, agree)

    def confirm(self, name: str) -> Edited:
        """Stand by a note that was unconfirmed, or that waits for its first commit."""
        part, name = self._open_holder(name)
        return actions.editing.confirm_note(part.writer(), name, today=part.today())

    def note(self, name: str) -> StoredNote:
        """One note by its name, stem or file. Raises NotFound."""
        part, name = self._open_holder(name)
        return part.fresh().store.find(name)

    def get(self, file: str, lines: tuple[int, int] | None = None) -> Passage:
        """A note, or its first to last line of `lines`, from 1. Raises NotFound, UsageError."""
        part, file = self._open_holder(file)
        (refresher := part.refresher()).current()
        waiting = refresher.catalog().waiting
        return search.results.read_passage(
            refresher.store, is_secret, file, lines, waiting, part.today()
        )

    def notes(self) -> list[StoredNote]:
        """All notes: the project's, then the person's, sorted by file."""
        return [note for _, part in self.each() for note in part.opened.fresh().store.notes()]

    def listing(
        self, *, digests: bool = True, files: Collection[str] | None = None
    ) -> list[Listed]:
        """Every note, or those of these `files`, with its strength, and whether the index lists it.
        Refreshes the indexes. Without `digests` (each is "" then) no file is read for its own,
        which many notes notice."""
        return [
            row for _, part in self.each()
            for row in actions.listing.list_notes(part.opened.refresher(), digests, files)
        ]  # fmt: skip

    def mark(self, file: str) -> str:
        """`Listed.mark` of one note; "" where it has none, or is gone. Refreshes the index."""
        part, file = self._open_holder(file)
        return actions.listing.mark_of(part.refresher(), file)

    def _open_holder(self, name: str) -> tuple[OpenStore, str]:
        part, name = self.holding(name)
        return part.opened, name

    # --- searching

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Report = lambda *_: None, meaning: bool = True, all_projects: bool = False,
    ) -> Found:  # fmt: skip
        """The `k` best places for a question, best first, each with its `layer`; none where nothing
        fits. `source` is memory (the notes), sessions, files, observations, or all of the first
        three; `at` names a commit: the notes as they stood there. Of the person's store are notes
        as they are now alone. `report(done, total, what)` follows the reading of changed notes;
        without `meaning` no vectors are used. `all_projects` reads the notes of every store in the
        memory folder, and says `project`. Raises UsageError, NotFound.
        """
        search.sources.check_source(source, k, at)
        # the stores to ask, each with the name of its project, if it is another one
        others = [*self.others()] if all_projects else []
        asked = [(part, "") for _, part in self.each()] if self.there() or not others else []
        asked += [(part, name) for name, part in others]
        if at is not None or source not in ("memory", "all"):
            asked = asked[:1]  # what is no note is the project's alone
        answers: list[Found] = []
        for part, name in asked:
            try:
                if source == "observations":
                    answer = part.observations().search(query, k=k)
                else:
                    history = None if at is None else part.opened.history(shown=False)
                    answer = part.opened.search(source, meaning).find(
                        query, k, self._clock().date(), source=source, report=report, at=at,
                        history=history,
                    )  # fmt: skip
            except UsageError:
                raise
            except MdmemoryError as problem:
                if not answers:
                    raise
                # it does not take the first one's answer away
                self._tell(f"A store is left out. {problem.sentences}")
            else:
                hits = (hit._replace(layer=part.layer, project=name) for hit in answer.hits)
                answers.append(answer._replace(hits=tuple(hits)))
            source = "memory"
        joined = search.answer.join_stores(answers, k)
        return joined._replace(hits=self.mark_conflicts(joined.hits))

    def rebuild(self, *, search_only: bool = False, report: Report = lambda *_: None) -> Updated:
        """Make the search database anew, and without `search_only` MEMORY.md and the catalog."""
        if not search_only:
            (self.project.prepare_private() / "catalog").unlink(missing_ok=True)
            self.index()
        return self.opened.search().update(report, anew=True)

    def make_vectors(self, *, report: Report = lambda *_: None) -> Updated:
        """Make the vectors of all notes that have none, where `search.embeddings` is on."""
        return self.opened.search().update(report, vectors=True)

    # --- what notes cite, and link to

    def citations(
        self, files: Collection[str] | None = None, *, since: str | None = None,
        patience: float | None = None,
    ) -> list[CheckedCitation]:  # fmt: skip
        """What the project's notes cite in it and how that stands now, in the order of the notes;
        of these `files` alone, if given, else of all that no newer note replaced. `since` a
        revision of the project: only what stood until then and does not any more. `patience`:
        seconds that a command of git may take; what is not found out in them is unknown. Raises
        NoGit where there is no project, NotFound for a revision.
        """
        if self.of_project is None:
            raise self.question or NoGit(
                f"{self.start} is in no project that has a store, and only a project's notes cite.",
                "Run it in a project, or make its store: `mdmemory init`.",
            )
        catalog = self.opened.refresher().catalog()
        if files is None:
            heads = [head for head in catalog.citing() if head.status != SUPERSEDED]
        else:
            heads = [head for head in catalog.heads_of(files) if head.cites]
        notes = [(head.file, head.cites) for head in heads]
        if since is None:
            return citing.check.check_citations(self.project, notes, patience)
        return citing.check.drifted_since(self.project, notes, since)

    def cited(self, files: Collection[str] | None = None) -> list[CheckedCitation]:
        """The same; [] where nothing can tell."""
        try:
            return self.citations(files)
        except (MdmemoryError, OSError):
            return []

    def known_citations(
        self, files: Collection[str] | None = None
    ) -> dict[str, tuple[CheckedCitation, ...]]:
        """What the last check found out of what these notes cite, or all, by file; nothing is
        checked."""
        catalog = self.opened.refresher().catalog()
        heads = catalog.citing() if files is None else catalog.heads_of(files)
        return citing.check.recorded_citations(
            self.project, [(e.file, e.cites) for e in heads if e.cites]
        )

    def links(self, before: LinkMap | None = None) -> LinkMap:
        """Which note links to which; only what changed since `before` is read."""
        return (before or actions.glance.LinkMap(store.store.Store(self.project.store))).look()

    # --- the store and its index

    def glance(self) -> Glance:
        """How the store looks now: what was found of it holds as long as this stays the same."""
        self._looking = self._looking or self.opened.writer()  # to find the repository takes long
        return actions.glance.glance_at(self._looking, int(self._clock().timestamp() * 1e9))

    def index_place(self, name: str) -> IndexPlace | None:
        """Why the index lists a note or does not, and when it left it; None for a note that is
        gone."""
        part, name = self._open_holder(name)
        writer = part.writer()
        try:
            file = part.fresh().store.find(name).file
        except NotFound:
            return None
        history = actions.note_history.history_shown(writer)
        return actions.listing.index_place(writer.refresher, history, file)

    def index_places(self) -> dict[str, IndexPlace]:
        """The same of every note by its file, without the time when it left."""
        state = (refresher := self.opened.refresher()).current()
        return actions.listing.find_places(refresher, state, state.catalog.heads())

    def counts(self) -> dict[str, int]:
        """How many notes there are, are listed, on hold, unconfirmed, and open conflicts."""
        return actions.listing.count_notes(self.opened.refresher())

    def unread(self) -> list[str]:
        """The files of notes that cannot be read; `doctor` gives the reason of each."""
        return self.opened.fresh().catalog().with_status(UNREADABLE)

    def conflicts(self) -> list[Entry]:
        """The contradictions inside of each store that wait for a person."""
        return [entry for _, part in self.each() for entry in part.opened.fresh().open_conflicts()]

    def resolve(self, id: str, *, keep: str | None = None) -> Resolved:
        """Resolve a conflict, on a person's word: keep one note and not the other, or both."""
        return actions.resolve.resolve_conflict(self.opened.writer(), id, keep=keep)

    def index(self, *, check: bool = False, adopt: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is. With `adopt` what other
        hands did is committed by the same look at the notes."""
        if check:
            return self.opened.refresher().refresh(write=False)
        with (writer := self.opened.writer()).lock_store():
            state = writer.refresher.refresh()
            state.adopted = writer.adopt() if adopt and not self.opened.automatic else None
            return state

    def index_text(self, most: int = 0) -> str:
        """MEMORY.md as it is now, brought up to date where that is possible; with `most` an index
        of at most so many characters, which lists the strongest notes."""
        return self.opened.refresher().text(most)

    def unadopted(self) -> Look | None:
        """What other hands did to the notes that no commit holds; None without git."""
        return self.opened.by_hand()

    def adopt(
        self, *, settled: float = 0.0, accept_loss: bool = False,
        only: Collection[str] | None = None,
    ) -> str | None:  # fmt: skip
        """Commit what other hands did, and give the commit. `settled`, which an automatic command
        has to say: only what stayed as it is for so many seconds, and reads as a note.
        `accept_loss`: many notes were meant to go. `only`: of these files, which are whole."""
        opened = self.opened
        if opened.automatic and not only and not os.path.lexists(opened.project.store / ".git"):
            return None  # without a repository of its own nothing is committed unasked
        writer = opened.writer()
        if writer.automatic and (writer.waits or not (settled or only)):
            return None
        if not (seen := actions.listing.find_unadopted(writer)) or not seen.found:
            return None
        with writer.lock_store():
            return writer.adopt(settled=settled, accept_loss=accept_loss, only=only)

    def sync(
        self, *, rebase: bool = False, remote: str | None = None, push_all: bool = False
    ) -> Synced:
        """Commit, fetch, merge (or rebase) and push, with the person's own git configuration.
        `remote` is the address that a store of its own gets; `push_all` pushes foreign commits."""
        return actions.sync.sync_store(
            self.opened.writer(), person.person_places().environment, self.opened.today(),
            rebase=rebase, remote=remote, push_all=push_all,
        )  # fmt: skip

    def remote(self) -> str | None:
        """The address of the store's remote without a password; None: it is on this disk alone."""
        history = self.opened.writer().history
        return actions.sync.remote_address(history) if history else None

    def refusal(self) -> MdmemoryError | None:
        """Why nothing can be committed now, or None where it can."""
        return self.opened.writer().refusal()

    def git_state(self) -> str:
        """ready, none, or why no commit can be made now."""
        return actions.listing.git_state(self.opened.writer())

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """The problems of the store; `fix` first repairs those that can be repaired safely. A link
        may lead to a note of the other store."""
        elsewhere = {
            name
            for part in self._beside.there() if part.project.root != self.project.root
            for stored in Store(part.project.store).notes()  # a stale index is to be found
            for name in store.note_links.note_names(stored.note)
        }  # fmt: skip
        return actions.doctor.examine_store(
            self.opened.writer(), self._clock(), fix=fix, elsewhere=elsewhere
        )

    # --- what was done

    def log(self, limit: int | None = None) -> list[tuple[Logged, bool, str]]:
        """Our commits by their time, newest first, each with whether it was undone since, and its
        layer."""
        entries, problems = [], []
        for layer, part in self.each():
            try:
                rows = actions.note_history.log_writes(part.opened.history(), limit)
            except MdmemoryError as problem:
                problems.append(problem)
            else:
                entries.append([(*row, layer) for row in rows])
        # one that cannot (it has no git, say, or nothing to find) does not take the other's away
        if not entries:
            raise problems[0]
        for each in problems:
            if not isinstance(each, NotFound):
                self._tell(f"A store is left out. {each.sentences}")
        mixed = heapq.merge(*entries, key=lambda row: _moment_of(row[0]), reverse=True)
        return list(mixed)[:limit]

    def waiting(self) -> list[Logged]:
        """The automatic writes that wait for a command that a person types, newest first."""
        return actions.note_history.waiting_writes(self.opened.writer().history)

    def change(self, id: str) -> Logged:
        """The commit that a Memory-Id or a commit's name means. Raises NotFound."""
        return actions.note_history.find_change(self.opened.history(), id)

    def is_undone(self, change: Logged) -> bool:
        """Whether a change was taken back, and nothing brought it back."""
        return change.commit in self.opened.history().list_undone()

    def file_changes(
        self, commits: Sequence[str], files: Collection[str] | None = None, most: int | None = None
    ) -> dict[str, list[TextChange]]:
        """The texts before and after of the files that each commit changed, but for the index: of
        the first `most`, or of these files."""
        return actions.note_history.file_changes(self.opened.history(), commits, files, most)

    def history(self, name: str) -> list[Step]:
        """The life of a note, newest step first, across renames and merges; it may be gone."""
        return self._trace_life(name)[1]

    def _trace_life(self, name: str) -> tuple[Self, list[Step]]:
        """The store that holds or held a note, and the note's life. Raises NotFound."""
        part, own_name = self.holding(name)
        try:
            return part, _life_of(part.opened, own_name)
        except NotFound:
            if part is self.of_person or self.of_person is None:
                raise
            with suppress(NotFound):
                return self.of_person, _life_of(self.of_person.opened, own_name)
            raise

    def past(self, what: str) -> tuple[Self, list[Step] | Logged]:
        """The store that has the note, or the change, of this name or id, and its life, or the
        change. A note that is there comes first, then a change, then a note that is gone. Raises
        NotFound."""
        part, name = self.holding(what)
        if part.has_file(name):
            return part, part.history(name)
        try:
            part.note(name)
        except NotFound:
            with suppress(NotFound):
                part = self._hold_change(what)
                return part, part.change(what)
        return self._trace_life(what)

    def _hold_change(self, id: str) -> Self:
        """The store with the commit that a Memory-Id or a commit's name means, first looked for in
        the project's. Raises NoGit."""
        parts = [part for _, part in self.each()]
        for part in parts[:-1]:
            with suppress(NotFound):
                part.change(id)
                return part
        # HEAD~1 is what stands in the project
        is_id = set(id.removeprefix("m-")) <= set("0123456789abcdef")
        return parts[-1] if is_id else parts[0]

    def undo(self, id: str | None = None, agree: Agree | None = None) -> Undone:
        """Take back a commit of ours: by Memory-Id or commit, else the newest change. `agree` is
        asked first, and hears what that is."""
        part, id = self.choose_undo(id)
        return actions.undo.undo_changes(part.opened.writer(), id, agree)[0]

    def choose_undo(self, id: str | None) -> tuple[Self, str | None]:
        """The store that `undo` takes something back in, and the commit: of two stores the one with
        the newest change."""
        part, *more = self._certain_parts()
        if more and id is not None:
            known = (
                each for each in (part, *more)
                if actions.undo.knows_commit(each.opened.writer(), id)
            )  # fmt: skip
            part = next(known, part)
        elif more:
            plans = [
                (plan, each) for each in (part, *more)
                if (plan := actions.undo.newest_change(each.opened.writer()))
            ]  # fmt: skip
            if plans:
                plan, part = max(plans, key=_moment_of_plan)
                id = plan.commit
        return part, id

    def undo_session(self, session: str, agree: Agree | None = None) -> list[tuple[Self, Undone]]:
        """Take back all that one session caused, in one commit for each store; answers for each
        that it made."""
        done: list[tuple[Self, Undone]] = []
        missing: NotFound | None = None
        for part in self._certain_parts():
            try:
                undone = actions.undo.undo_changes(
                    part.opened.writer(), agree=agree, session=session
                )
            except NotFound as problem:
                missing = problem
            else:
                done += [(part, each) for each in undone]
        if missing is not None and not done:
            raise missing
        return done

    def _certain_parts(self) -> list[Self]:
        """Both stores. Raises where it is not certain whose the project's is."""
        if self.question is not None:
            raise self.question
        return [part for _, part in self.each()]

    # --- the message of a person, and what an assistant hands over

    def keep_wishes(
        self, texts: Sequence[str], *, session: str, turn: str, message: str = "",
        attended: bool = True,
    ) -> list[Path]:  # fmt: skip
        """Keep what a message asks to remember until its turn has ended, whatever git and the store
        do: the files; `message` is all of it. A run that is not `attended` stores it by a call
        alone, unless the message begins with it. Raises MdmemoryError: no folder takes them."""
        if self.of_project is not None:
            places = capture.wishes.open_inboxes(self.project)
        else:
            places = [capture.wishes.inbox_without_store(self.start)]
        return capture.wishes.keep_wishes(
            places, texts, session, turn, self._clock(), message, attended
        )

    def settle_wishes(self, session: str = "", turn: str = "") -> list[Stored]:
        """Store the wishes that no call answered, as they were said, where their turn is over:
        `session` is at this `turn` now ("": at none). One that cannot be written yet waits."""
        boxes = [each for each in self._inboxes() if each.files()]
        if not boxes or self.question is not None:
            return []
        now, every = self._clock(), (pair for box in boxes for pair in box.wishes())
        due = [(path, wish) for path, wish in every if wish.is_due(now, session, turn)]
        due.sort(key=lambda each: (each[1].at or each[1].since, each[0].name))  # as they were said
        return capture.store_fact.settle_wishes(self, due, now=now) if due else []

    def _answer_wishes(self, text: str, session: str, *, ends: bool = False) -> None:
        """Note what a call says of the wishes of its turn."""
        if boxes := [each for each in self._inboxes() if each.files()]:
            capture.store_fact.answer_wishes(self, boxes, text, session=session, ends=ends)

    def kept_wishes(self) -> list[Path]:
        """The files of wishes that wait to be written in the store."""
        inboxes = capture.wishes.open_inboxes(self.project)
        return [path for inbox in inboxes for path in inbox.kept()]

    def store(self, call: FactCall, caller: Caller) -> Stored:
        """Store a fact that an assistant hands over, where it belongs or in the store of the notes
        that it replaces; files of the person's are `me/FILE`. What the caller's turns do not prove
        is unconfirmed, and replaces nothing. Raises NotStored, NotFound, NoStore."""
        if not caller.turns:
            # what hooks kept here of the user's words, where nothing else is known of them: the
            # first message in a fresh home is heard before there is a store
            from mdmemory.transcripts.turns import Turn

            wishes = [wish for box in self._inboxes() for _, wish in box.wishes()]
            caller = caller._replace(turns=tuple(Turn(e.turn, "user", e.text) for e in wishes))
        done = capture.store_fact.store_fact(self, call, caller, now=self._clock())
        texts = [call.fact, call.why, call.title, *(pair["text"] for pair in done.superseded)]
        texts += [call.quote] if done.declined else []
        text = "\n".join(filter(None, texts))
        self._answer_wishes(text, caller.session, ends=bool(done.declined))
        return done

    def forget(self, names: Sequence[str], quote: str, caller: Caller) -> Forgotten:
        """Remove the notes that an assistant names, if the caller's turns ask for it in the words
        of `quote`; else it waits, or is refused. Raises NotFound, NotProven, NoStore."""
        done = capture.forgetting.forget_notes(
            self.sources(), names, quote, caller, now=self._clock()
        )
        self._answer_wishes(quote, caller.session)
        return done

    def described(self, what: str) -> list[StoredIn]:
        """The notes that a person may mean by `what`, the likeliest first."""
        return capture.forgetting.find_described(self.sources(), what)

    def asked_removals(self) -> list[AskedRemoval]:
        """The notes that an assistant wants forgotten without enough proof: a person decides."""
        return capture.forgetting.waiting_removals(self.project)

    def pending(self) -> list[PendingFact]:
        """Candidates without enough proof, which wait for a person."""
        return capture.pending.waiting_facts(self.project)

    def accept(self, id: str) -> Edited:
        """Store a candidate that waits: a person stands by it."""
        return capture.pending.accept_fact(self.opened.writer(), id, today=self.opened.today())[0]

    def drop(self, id: str) -> PendingFact:
        """Take a candidate off the list; for 30 days it is not proposed again."""
        return capture.pending.drop_fact(self.opened.writer(), id, today=self.opened.today())[0]

    # --- sessions, and passes

    def import_from(self, path: str | Path, *, dry_run: bool = False) -> Imported:
        """Store the facts of another memory, a file or folder, in one commit for each store.
        Raises BadImport, NoStore."""
        if dry_run:
            self.each()
        return imports.run.import_from(self, Path(path), self._clock(), dry_run)

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        again: bool = False, report: Report = lambda *_: None,
    ) -> Extracted:  # fmt: skip
        """Store what the user asked to remember in a transcript, and what `model` finds (default:
        the one that the settings choose, or none) in what it has not read, or `again` in all of
        it; a dry run asks it, too. Raises NoStore."""
        main = self.opened
        ask = partial(llm.choose.asking, "extract", main.project, main.today(), model)
        done = capture.run.extract_facts(
            self, main.writer(), transcript, now=self._clock(), ask=ask,
            dry_run=dry_run, again=again, report=report,
        )  # fmt: skip
        if self.opened is not main and done.watermark:
            with self.state() as state:  # the project's is made now, and asked from now on
                state.set_watermark(done.session, done.watermark)
        return done

    def summary_request(self) -> tuple[str, dict[str, str]]:
        """The text for a host's compaction prompt, and the notes that it numbers: file to digest.
        Raises NoStore."""
        self.each()
        return capture.summary.request_of(self.sources())

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's compaction summary that the user's turns in `said` bear out;
        the others wait in `pending`. Asks no model. Raises NoStore."""
        return capture.summary.take_summary(
            self, self.opened.writer(), session, text, said, now=self._clock(), shown=shown or {}
        )

    @contextmanager
    def session(self, session: str) -> Iterator[SessionMemory]:
        """The memory of one session. Never notes."""
        with self.state() as state:
            yield sessions.session.SessionMemory(state, session, self.project.settings)

    def promote(self, session: str, said: Sequence[Turn]) -> Accounting:
        """Take a session's decisions and candidates through capture, at its compaction. Those that
        the user's turns in `said` do not bear out wait in `pending`. Asks no model."""
        with self.state() as state, self.session(session) as own:
            return sessions.promotion.promote(
                state, session, own.read(), lambda text: self.summary(session, text, said),
                now=self._clock(),
            )  # fmt: skip

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

    def sweep(self) -> Swept:
        """Remove what sessions keep that is too old or too much. Notes are never touched."""
        with self.state() as state:
            return sessions.storage.sweep(state, self._clock())

    def observations(self) -> Observations:
        """The short form of what the assistant's tools showed in earlier work."""
        return observe.observations.Observations(self.project, self.state, self._clock)

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
            self.opened.writer(), self._clock(), plan=plan, model=model, offline=offline,
            if_due=if_due, dry_run=dry_run, everything=everything, report=report,
        )  # fmt: skip

    def due(self) -> str | None:
        """Why a compaction is due, in words, or None."""
        return compact.pass_history.why_due(self.opened.writer(), self._clock())


def _life_of(opened: OpenStore, name: str) -> list[Step]:
    return actions.note_history.trace_life(opened.history(), opened.fresh().store, name)


def _moment_of(change: Logged | Planned) -> datetime:
    """The moment that a commit's time with an offset names, whatever its offset."""
    return datetime.fromisoformat(change.time)


def _moment_of_plan(pair: tuple[Planned, Memory]) -> tuple[datetime, int]:
    written = 0  # the index tells which of two changes of one second is the newer
    with suppress(OSError):
        written = os.lstat(pair[1].project.store / INDEX).st_mtime_ns
    return _moment_of(pair[0]), written
