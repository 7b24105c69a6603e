"""Facts on their way into one store: held against the notes there are, composed, and written in one
commit. Nothing here judges what words mean: who may replace a note was decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import NamedTuple, Protocol

from mdmemory.actions import replacing
from mdmemory.actions.editing import taken_names
from mdmemory.actions.replacing import UNCONFIRMED, Superseding
from mdmemory.capture import note_text
from mdmemory.capture.fact import Fact, NotStored
from mdmemory.capture.notice import is_personal
from mdmemory.citing.citation import MAY_CITE
from mdmemory.citing.cite import cites_of
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import editing, limits
from mdmemory.note.note import SUPERSEDED, Note, headline, parse
from mdmemory.search.near import NEAREST, UnreadNotes, near_in, near_notes, unread_notes
from mdmemory.store import conflicts, superseding
from mdmemory.store.store import LEDGER, StoredNote
from mdmemory.store.superseding import Chains, in_force
from mdmemory.store.writer import Group, NoteSource, Writer, Written


class Stores(Protocol):
    """What capture asks of them."""

    def sources(self) -> list[NoteSource]:
        """Those that are there, the project's first."""

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """The one that a fact goes to, made where it is missing. Raises NoStore."""


@dataclass(frozen=True, slots=True)
class Route:
    """`folder` is where a fact was said that only the person's store could take: its note names it.
    `said` are the facts that the person's store holds for the project, by their keys, with the
    files: they are not stored twice."""

    folder: str = ""
    said: Mapping[str, str] = field(default_factory=dict)

    def metadata(self, type: str, text: str) -> dict[str, str]:
        """What a note says of the folder that it was said in; {} for what is personal."""
        is_of_folder = self.folder and not is_personal(type, text)
        return {"project": self.folder} if is_of_folder else {}


ALL = Route()


def place_for(stores: Stores, personal: bool, *, dry_run: bool) -> tuple[NoteSource, Route]:
    """The store that a fact goes to; a dry run makes none where there is another."""
    sources = stores.sources() if dry_run else []
    return (sources[-1 if personal else 0], ALL) if sources else stores.open_for(personal)


def shown_notes(sources: Iterable[NoteSource]) -> list[StoredNote]:
    """The notes that a model may see, under the names that they have in answers."""
    return [
        note._replace(file=f"{source.prefix}{note.file}")
        for source in sources
        for note in in_force(visible_notes(source.writer))
    ]


def visible_notes(writer: Writer) -> list[StoredNote]:
    """The notes of a store that are neither on hold nor unreadable."""
    held_files = writer.refresher.catalog().held
    notes = writer.refresher.store.notes()
    return [note for note in notes if note.file not in held_files and note.note.text]


REINFORCE_EVERY = 7  # days, rolling
REINFORCE_MAX = 6
ANOTHERS = "it is another person's note in a shared store"
NOT_EDITABLE = "its head cannot be edited"


class Origin(NamedTuple):
    """Where a fact comes from: `source` as a note's head has it, the session and turn that said it,
    and a quote that nothing has proven. `is_proven`: the user's words stand behind it."""

    source: str
    session: str = ""
    turn: str = ""
    quote: str = ""
    is_proven: bool = True


class Put(NamedTuple):
    """The note of a fact as it will be, and what happens to it: added, confirmed, restored,
    reinforced, or known (nothing). `verb` is what a commit calls that."""

    note: StoredNote
    outcome: str
    verb: str = ""

    @property
    def is_new(self) -> bool:
        """Whether no note said it before."""
        return self.outcome == "added"


class Batch:
    """Facts for one store. The caller holds its lock from the first of them to `write`."""

    def __init__(self, writer: Writer, now: datetime, route: Route = ALL) -> None:
        self.writer, self.seen = writer, Seen(writer)
        self.made: list[Superseding] = []
        self._put: dict[str, Put] = {}  # by file
        self._today, self._route = now.date().isoformat(), route
        self._groups: dict[str, Group] = {}
        self._flags: list[tuple[StoredNote, StoredNote, str]] = []
        self._is_anothers = replacing.tell_anothers(writer)

    def known_elsewhere(self, fact: Fact) -> str:
        """The file in which the person's store says it for all projects; "" for none."""
        there = note_text.keys_of_fact(fact.body) & self._route.said.keys()
        return self._route.said[min(there)] if there else ""

    def stating(self, text: str) -> StoredNote | None:
        """The note that says a fact in the same words: one in force, else a superseded one; of this
        batch's own, too."""
        keys = note_text.keys_of_fact(text)
        for each in self._put.values():
            if keys & note_text.keys_of_text(each.note.note.head.description, each.note.note.body):
                return each.note
        says = self.seen.stating(keys)
        return next(iter(in_force(says) or says), None)

    def add(self, fact: Fact, origin: Origin) -> Put:
        """Take a fact in; the same words again count for the note that says them. Raises BadNote,
        NotStored."""
        if (same := self.stating(fact.body)) is not None:
            return self.say_again(same, origin)
        return self.add_new(fact, {
            "source": origin.source, "created": self._today, "updated": self._today,
            "session": origin.session, "turn": origin.turn,
            "status": "" if origin.is_proven else UNCONFIRMED, "quote": origin.quote,
        })  # fmt: skip

    def add_new(
        self, fact: Fact, metadata: Mapping[str, str], *, verb: str = "store",
        aliases: Sequence[str] = (), own: Mapping[str, object] | None = None,
    ) -> Put:  # fmt: skip
        """Take in a fact that no note says, with a head of these values. Raises BadNote,
        NotStored."""
        name = limits.free_name(fact.name, fact.type, self._names_taken)
        sentences = f"{fact.description}\n{fact.body}"
        text = editing.compose(
            name=name, type=fact.type, description=fact.description, title=fact.title,
            body=note_text.body_beside(fact.description, fact.body), kind=fact.kind,
            aliases=aliases, own=own or {},
            metadata={**metadata, **self._route.metadata(fact.type, fact.body)},
            cites=cites_of(self.writer.project, sentences) if MAY_CITE.search(sentences) else (),
        )  # fmt: skip
        if self.writer.refresher.is_secret(text):
            raise NotStored("secret")  # the parts are clean, and side by side they are not
        file = limits.file_name(fact.type, name)
        self._names_taken.update((name.casefold(), file.casefold()))
        return self._take_put(None, parse(text, file), "added", verb)

    def add_whole(self, note: Note, verb: str) -> Put | None:
        """Take in a note as it is; None where another has its name."""
        names = {note.head.name.casefold(), note.head.file.casefold()}
        if not names.isdisjoint(self._names_taken):
            return None
        self._names_taken.update(names)
        return self._take_put(None, note, "added", verb)

    @cached_property
    def _names_taken(self) -> set[str]:
        refresher = self.writer.refresher
        return taken_names(refresher.store, refresher.catalog().names.values())

    def _take_put(self, old: StoredNote | None, note: Note, outcome: str, verb: str) -> Put:
        """Have a note as it will be, in place of `old`, in the commit."""
        data, file = note.text.encode("utf-8"), note.head.file
        self._groups[file] = Group(
            f"{verb} {file}: {note.head.description}",
            (Change(file, old.digest if old else None, data),),
        )
        self._put.pop(file, None)
        self._put[file] = Put(StoredNote(file, digest(data), note), outcome, verb)
        return self._put[file]

    def replace(
        self, new: StoredNote, replaced: Sequence[tuple[StoredNote, str]]
    ) -> list[tuple[StoredNote, str]]:
        """Mark notes as replaced by `new`, each for its reason; those that stay, and why."""
        done = {new.file, *(each.old.file for each in self.made)}
        meant = [pair for pair in replaced if pair[0].file not in done]
        meant = [pair for pair in meant if pair[0].note.head.status != SUPERSEDED]
        others = [pair for pair in meant if self._is_anothers(pair[0])]
        for old, why in others:
            self.flag_pair(old, new, f"{why} ({ANOTHERS})")
        free = [pair for pair in meant if pair not in others]
        marks_made = replacing.make_marks(new, free, self._today)
        self.made += marks_made.made
        left = [(old, ANOTHERS) for old, _ in others]
        return [*left, *((old, NOT_EDITABLE) for old, _ in marks_made.left)]

    def flag_pair(self, old: StoredNote, new: StoredNote, why: str) -> None:
        """Say in the conflict ledger that two notes may not hold together."""
        if old.file != new.file:
            self._flags.append((old, new, why))

    def take_out(self, old: StoredNote, by: StoredNote) -> None:
        """Have the note `by` stand in the place of one that was only kept until it came."""
        group = self._groups.get(by.file)
        if group is not None and old.file != by.file:
            gone = Change(old.file, old.digest, None)
            line = f"{group.line}\nreword {old.file}"
            self._groups[by.file] = Group(line, (*group.changes, gone))

    def write(
        self, kind: str, *, session: str = "", trailers: Sequence[tuple[str, str]] = (),
        by_model: bool = True,
    ) -> Written:  # fmt: skip
        """Write all of it in one commit, which names the session; nothing where nothing changed."""
        ledger = self.writer.refresher.store.ledger()
        groups = [*self._groups.values()]
        if (flags := self._flag_group(ledger)) is not None:
            groups.append(flags)
        groups = replacing.with_marks(groups, self.made, ledger)
        if not groups:
            return Written()
        heads = [each.note.note.head for each in self._put.values() if each.outcome != "known"]
        subject_line = subject(kind, [headline(head) for head in heads] or [groups[0].line])
        trailers = [*([("Memory-Session", session)] if session else []), *trailers]
        return self.writer.write(
            subject_line, groups, kind=kind, trailers=trailers, by_model=by_model
        )

    # --- a note that there is

    def say_again(self, same: StoredNote, origin: Origin) -> Put:
        """Count a note that is said again; the user's word confirms it, or puts it in force."""
        note, outcome = same.note, "known"
        if origin.is_proven and same.file not in self._put:
            with suppress(BadNote):
                note, outcome = self._as_said_again(same.note, origin)
        if note is same.note:
            self._put.pop(same.file, None)
            self._put[same.file] = Put(same, "known")
            return self._put[same.file]
        verb = {"confirmed": "confirm", "restored": "restore"}.get(outcome, "reinforce")
        done = self._take_put(same, note, outcome, verb)
        if same.note.head.status == SUPERSEDED and (
            last := Chains(self.seen.all_notes()).last(same)
        ):
            self.replace(done.note, [(last, "what it said before is said again")])
        return done

    def _as_said_again(self, note: Note, origin: Origin) -> tuple[Note, str]:
        head = note.head
        if head.status == SUPERSEDED:
            return superseding.unmark_superseded(note, self._today), "restored"
        changes: dict[str, str | None] = {}
        if head.status == UNCONFIRMED:
            changes = {**editing.confirm(note, origin.source), "metadata.updated": self._today}
            return editing.edit(note, set=changes), "confirmed"
        days = -1  # since the last time; a date that is none, or lies ahead, counts as long ago
        with suppress(ValueError):
            last = date.fromisoformat(head.last_reinforced)
            days = (date.fromisoformat(self._today) - last).days
        is_same_turn = (head.session, head.turn) == (origin.session, origin.turn)
        if is_same_turn or 0 <= days < REINFORCE_EVERY:
            return note, "known"
        count = min(head.reinforced + 1, max(head.reinforced, REINFORCE_MAX))
        changes = {"metadata.reinforced": str(count), "metadata.last_reinforced": self._today}
        return editing.edit(note, set=changes), "reinforced"

    def _flag_group(self, ledger: str) -> Group | None:
        """The entries of the ledger on what may not hold together."""
        gone = {each.old.file for each in self.made}
        pairs = [each for each in self._flags if each[0].file not in gone]
        fresh = conflicts.add(ledger, pairs, self._today) if pairs else ledger
        if fresh == ledger:
            return None
        old = digest(ledger.encode("utf-8", "surrogateescape")) if ledger else None
        change = Change(LEDGER, old, fresh.encode("utf-8", "surrogateescape"))
        lines = [f"flag {new.file} × {note.file}: {why}" for note, new, why in pairs]
        return Group("\n".join(lines), (change,))


class Seen:
    """The notes of a store that are neither on hold nor unreadable; of a large one only those are
    read that a fact meets."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._held = writer.refresher.catalog().held
        self._unread = unread_notes(writer.refresher)
        self._notes = [] if self._unread is not None else visible_notes(writer)

    def stating(self, keys: Collection[str]) -> list[StoredNote]:
        """Those that state a fact with one of these keys."""
        has, may = note_text.stating_test(keys), note_text.may_state(keys)
        notes = self._those(lambda few: few.holding(may))
        return [note for note in notes if has(note.note.head.description, note.note.body)]

    def nearest(self, text: str) -> list[StoredNote]:
        """The three nearest to a text, sorted by file."""
        refresher = self._writer.refresher
        if self._unread is None:
            near = near_in(refresher)(text, self._notes)
        else:
            near = near_notes(refresher)(text)
        return sorted(self._free_notes(near)[:NEAREST], key=lambda note: note.file)

    def quoting(self, quote: str) -> list[StoredNote]:
        """Those whose heads hold a text."""
        return self._those(lambda few: few.quoting(quote))

    def all_notes(self) -> list[StoredNote]:
        """All of them, sorted by file."""
        return self._those(lambda few: few.all())

    def _those(self, choose: Callable[[UnreadNotes], Iterable[StoredNote]]) -> list[StoredNote]:
        return self._notes if self._unread is None else self._free_notes(choose(self._unread))

    def _free_notes(self, notes: Iterable[StoredNote]) -> list[StoredNote]:
        return [note for note in notes if note.file not in self._held and note.note.text]
