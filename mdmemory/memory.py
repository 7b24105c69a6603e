"""The Python interface, `from mdmemory import Memory`: one method for each thing to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from mdmemory.config import person
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.learning import Learning
from mdmemory.note.note import SUPERSEDED
from mdmemory.opened import actions, capture, citing, search, store
from mdmemory.privacy import is_secret
from mdmemory.store.project import find
from mdmemory.store.refresh import Refreshed
from mdmemory.store.store import StoredNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from mdmemory.actions.doctor import Finding
    from mdmemory.actions.editing import Edited
    from mdmemory.actions.erasing import Erasable, Erased
    from mdmemory.actions.glance import Glance
    from mdmemory.actions.index_place import IndexPlace
    from mdmemory.actions.link_map import LinkMap
    from mdmemory.actions.listing import Listed
    from mdmemory.actions.note_history import Step, TextChange
    from mdmemory.actions.quality import Quality
    from mdmemory.actions.renaming import Renamed
    from mdmemory.actions.resolve import Conflict, Resolved
    from mdmemory.actions.setup import Setup
    from mdmemory.actions.sync import Synced
    from mdmemory.actions.undo import Agree, Planned, Undone
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.git.lock import Patience
    from mdmemory.git.log import Logged
    from mdmemory.note.note import Note
    from mdmemory.search.notes import Report
    from mdmemory.search.project import Updated
    from mdmemory.search.results import Found, Passage
    from mdmemory.store.adopt import Look
    from mdmemory.store.writer import Writer


class Memory(Learning):
    """One store, with all that can be done with it."""

    _looking: Writer | None = None

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
        self, name: str, *, type: str = "", description: str = "", body: str = "", kind: str = "",
        source: str = "manual", replaces: Sequence[str] = (), cite: Sequence[str] = (),
    ) -> Edited:  # fmt: skip
        """Store a note. The same text again names the note there is; a taken name gets `-2`.

        Without a description `name` is a sentence, and what is not given is worked out from it.
        `replaces` names notes that it stands in place of: they are superseded.
        `cite` are places in the project (`src/app.py#L10-L20`) besides those that the text names.
        """
        if not description:
            fact = capture.fact.stated(name, type=type, body=body, kind=kind)
            if (same := self.stating(fact.said)) is not None and not replaces:
                return actions.editing.unchanged(same)
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
        says, may_say = capture.note_text.stating(keys), capture.note_text.may_state(keys)
        notes = search.unread.those_that(may_say, self._fresh())
        found = [each for each in notes if says(each.note.head.description, each.note.body)]
        return next(iter(store.superseding.in_force(found)), None)

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

        def worded(note: Note) -> tuple[str | None, str | None]:
            nonlocal fresh
            says = capture.note_text.said_anew(note.head.description, note.body, text)
            if says is None:
                return None, text
            fresh = says[0]
            return fresh, says[1] or None

        writer, today = self._writer(), self._today()
        return actions.editing.edit(writer, name, worded=worded, today=today), fresh

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

    def erase(self, name: str, agree: Callable[[Erasable], bool]) -> Erased:
        """Take a note out of the store's whole history, for good; only of a store of its own, and
        only if `agree` says yes to what that is. There is no undo."""
        return actions.erasing.erase(self._writer(), name, agree)

    def confirm(self, name: str) -> Edited:
        """Stand by a note that was unconfirmed, or that waits for its first commit."""
        return actions.editing.confirm(self._writer(), name, today=self._today())

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
        return search.results.passage(
            refresher.store, is_secret, file, lines, waiting, self._today()
        )

    def listing(
        self, *, digests: bool = True, files: Collection[str] | None = None
    ) -> list[Listed]:
        """Every note, or those of these `files`, with its strength, and whether the index lists it.
        Refreshes the index. Without `digests` (each is "" then) no file is read for its own, which
        many notes notice."""
        return actions.listing.listing(self._refresher(), digests, files)

    def mark(self, file: str) -> str:
        """`Listed.mark` of one note; "" where it has none, or is gone. Refreshes the index."""
        return actions.listing.mark(self._refresher(), file)

    def glance(self) -> Glance:
        """How the store looks now: what was found of it holds as long as this stays the same."""
        self._looking = self._looking or self._writer()  # to find the repository takes a process
        now = int(self._clock().timestamp() * 1e9)
        return actions.glance.glance(self._looking, now)

    def index_place(self, name: str) -> IndexPlace | None:
        """Why the index lists a note or does not, and when it left it; None for a note that is
        gone."""
        writer = self._writer()
        try:
            file = self.note(name).file
        except NotFound:
            return None
        history = actions.note_history.shown(writer)
        return actions.index_place.index_place(writer.refresher, history, file)

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
            return citing.check.check(self.project, notes, patience)
        return citing.check.drifted_since(self.project, notes, since)

    def known_citations(
        self, files: Collection[str] | None = None
    ) -> dict[str, tuple[CheckedCitation, ...]]:
        """What the last check found out of what these notes cite, or all, by file; nothing is
        checked."""
        catalog = self._refresher().catalog()
        heads = catalog.citing() if files is None else catalog.heads_of(files)
        return citing.check.recorded(self.project, [(e.file, e.cites) for e in heads if e.cites])

    def index_places(self) -> dict[str, IndexPlace]:
        """The same of every note by its file, without the time when it left."""
        return actions.index_place.places(self._refresher())

    def links(self, before: LinkMap | None = None) -> LinkMap:
        """Which note links to which; only what changed since `before` is read."""
        return (before or actions.link_map.LinkMap(store.store.Store(self.project.store))).look()

    def quality(self) -> Quality:
        """Counts that tell how good the memory is: sources of the notes, and what became of what
        was found in sessions."""
        return actions.quality.quality(self._writer())

    def counts(self) -> dict[str, int]:
        """How many notes there are, are listed, on hold, unconfirmed, and open conflicts."""
        return actions.listing.counts(self._refresher())

    def unread(self) -> list[str]:
        """The files of notes that cannot be read; `doctor` gives the reason of each."""
        return actions.listing.unread(self._refresher())

    def conflicts(self) -> list[Conflict]:
        """The contradictions that wait for a person."""
        return actions.resolve.waiting(self._fresh())

    def resolve(self, id: str, *, keep: str | None = None) -> Resolved:
        """Resolve a conflict, on a person's word: keep one note and not the other, or both."""
        return actions.resolve.resolve(self._writer(), id, keep=keep)

    def index(self, *, check: bool = False, adopt: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is. With `adopt` what other
        hands did is committed by the same look at the notes."""
        if check:
            return self._refresher().refresh(write=False)
        with (writer := self._writer()).locked():
            state = writer.refresher.refresh()
            seen = actions.listing.unadopted(writer) if adopt and not self._automatic else None
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
            return actions.listing.unadopted(self._writer())
        if not self._by_hand:
            self._by_hand.append(actions.listing.unadopted(self._at_hand))
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
        if not (seen := actions.listing.unadopted(writer)) or not seen.found:
            return None
        with writer.locked():
            return writer.adopt(settled=settled, accept_loss=accept_loss, only=only)

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

    def rebuild(self, *, search_only: bool = False, report: Report = lambda *_: None) -> Updated:
        """Make the search database anew, and without `search_only` MEMORY.md and the catalog."""
        if not search_only:
            (self.project.prepare_private() / "catalog").unlink(missing_ok=True)
            self.index()
        return self._search().update(report, anew=True)

    def make_vectors(self, *, report: Report = lambda *_: None) -> Updated:
        """Make the vectors of all notes that have none, where `search.embeddings` is on."""
        return self._search().make_vectors(report=report)

    def change(self, id: str) -> Logged:
        """The commit that a Memory-Id or a commit's name means. Raises NotFound."""
        return actions.note_history.change(self._history(), id)

    def undo(self, id: str | None = None, agree: Agree | None = None) -> Undone:
        """Take back a commit of ours: by Memory-Id or commit, else the newest change. `agree` is
        asked first, and hears what that is."""
        return actions.undo.undo(self._writer(), id, agree)

    def undo_session(self, session: str, agree: Agree | None = None) -> list[Undone]:
        """Take back all that one session caused, in one commit; answers for each that it made."""
        return actions.undo.undo_session(self._writer(), session, agree)

    def newest_change(self) -> Planned | None:
        """The change that `undo` takes back without an id; None where there is none."""
        return actions.undo.newest(self._writer())

    def has_change(self, id: str) -> bool:
        """Whether a Memory-Id or a commit names a commit of ours in this store."""
        return actions.undo.knows(self._writer(), id)

    def log(self, limit: int | None = None) -> list[tuple[Logged, bool]]:
        """Our commits, newest first, each with whether it was undone since."""
        return actions.note_history.log(self._history(), limit)

    def waiting(self) -> list[Logged]:
        """The automatic writes that wait for a command that a person types, newest first."""
        return actions.note_history.waiting(self._writer().history)

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

    def doctor(self, *, fix: bool = False, elsewhere: Collection[str] = ()) -> list[Finding]:
        """The problems of the store; `fix` first repairs those that can be repaired safely. A link
        to a name `elsewhere` (folded) is not dead."""
        return actions.doctor.examine(self._writer(), self._clock(), fix=fix, elsewhere=elsewhere)
