"""What a new note does to those that it replaces: marks in their heads, and flags.

A fact that surely replaces notes is written with their marks in one op. Every text stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.git.log import list_all_authors, list_authors
from mdmemory.git.persons_git import AUTHOR
from mdmemory.git.transaction import Change
from mdmemory.note.note import SUPERSEDED
from mdmemory.store import conflicts, superseding
from mdmemory.store.store import LEDGER, Store, StoredNote, decode_note
from mdmemory.store.superseding import Chains, in_force
from mdmemory.store.writer import Group, Writer

UNCONFIRMED = "unconfirmed"
SAID_AGAIN = "what it said before is said again"
_ANOTHERS = "another person's note"
_UNDONE = "the one replaced the other, and that was undone"

Pairs = tuple[tuple[StoredNote, str], ...]  # notes, each with half a sentence on why
IsAnothers = Callable[[StoredNote], bool]


class Superseding(NamedTuple):
    """A note that is replaced: `old` as it was, and `text`, its text with the mark. `by` and `new`
    are name and file of the note that replaces it, `fact` what that says."""

    old: StoredNote
    text: str
    by: str
    new: str
    fact: str
    why: str

    def told(self) -> dict[str, str]:
        """The pair as answers in JSON have it."""
        before = self.old.note.head.description
        return {"file": self.old.file, "by": self.new, "text": before, "new": self.fact}

    def line(self) -> str:
        """The line of the commit."""
        return f"supersede {self.old.file} by {self.new}: {self.why}"


class Marks(NamedTuple):
    """The marks that could be made, and the pairs whose old note cannot be edited."""

    made: list[Superseding]
    left: list[tuple[StoredNote, str]]


def make_marks(new: StoredNote, replaced: Iterable[tuple[StoredNote, str]], today: str) -> Marks:
    """The marks by which `new` replaces notes. One that cannot be edited is left as it is."""
    marks, head = Marks([], []), new.note.head
    for old, why in replaced:
        if old.file == new.file:
            continue
        try:
            text = superseding.mark_superseded(old.note, head.name, today).text
        except BadNote:
            marks.left.append((old, why))
            continue
        marks.made.append(Superseding(old, text, head.name, new.file, head.description, why))
    return marks


def tell_anothers(writer: Writer, *, many: bool = False) -> IsAnothers:
    """Tells of the notes of a store whose note is another person's, or nobody knows whose; in a
    store of its own, none is. `many`: the history is read once for all notes."""
    history = writer.history
    if history is None or writer.is_own:
        return lambda _: False

    @cache
    def my_address() -> str:
        ident = history.repository.ask("var", "GIT_AUTHOR_IDENT") or b""
        match = re.search(r"<([^<>]*)>", ident.decode("utf-8", "replace"))
        return match[1] if match else AUTHOR[1]  # as the commits of who has no identity are

    @cache
    def authors_known() -> dict[str, list[tuple[str, str]]]:
        return list_all_authors(history.repository, history.prefix) if many else {}

    def is_anothers(note: StoredNote) -> bool:
        path, me = f"{history.prefix}{note.file}", my_address()
        wrote = authors_known().get(path) or list_authors(history.repository, path)
        people = {email for email, _ in wrote} - {AUTHOR[1]}
        unknown = any(origin == "unknown" for _, origin in wrote)
        return bool(wrote) and (unknown or not people <= {me} or wrote[0][0] != me)

    return is_anothers


class Met(NamedTuple):
    """What a note does to others, as it is written: marks, and pairs to be flagged."""

    new: StoredNote
    made: tuple[Superseding, ...] = ()
    doubtful: Pairs = ()

    def in_doubt(self) -> list[dict[str, str]]:
        """The pairs that are flagged, as answers have them."""
        now = self.new.note.head.description
        return [
            {"file": old.file, "by": self.new.file, "text": old.note.head.description, "new": now}
            for old, _ in self.doubtful
        ]

    def joined_groups(self, groups: Sequence[Group], ledger: str, today: str) -> list[Group]:
        """The ops that write the note, with the marks and flags in the first one."""
        pairs = [(old, self.new, why) for old, why in self.doubtful]
        fresh = conflicts.add(ledger, pairs, today) if pairs else ledger
        first, *rest = groups
        if fresh != ledger:
            change = change_ledger(ledger, fresh)
            lines = [f"flag {self.new.file} × {old.file}: {why}" for old, why in self.doubtful]
            first = Group("\n".join([first.line, *lines]), (*first.changes, change))
        return with_marks([first, *rest], self.made, ledger)


def met_by(
    writer: Writer, new: StoredNote, replaced: Sequence[StoredNote], near: Sequence[StoredNote],
    today: str,
) -> Met:  # fmt: skip
    """What the note `new` does to the notes that a person says it replaces, and to those near it:
    one that has the same words but for one literal is flagged."""
    from mdmemory.text.conflict import other_literal, why_contrary

    is_anothers = tell_anothers(writer)
    mine = [note for note in replaced if not is_anothers(note)]
    done = make_marks(new, [(note, "you said so") for note in mine], today)
    doubtful = [(note, _ANOTHERS) for note in replaced if note not in mine] + done.left
    known = {note.file for note, _ in doubtful} | {note.file for note in replaced} | {new.file}
    for note in in_force(near):
        pair = other_literal(note.note.head.description, new.note.head.description)
        if pair and note.file not in known:
            doubtful.append((note, why_contrary(pair)))
    return Met(new, tuple(done.made), tuple(doubtful))


def taken_back(writer: Writer, new: StoredNote, last: StoredNote | None, today: str) -> Met:
    """What a note that is in force again does to the one that was in force in its place."""
    if last is None:
        return Met(new)
    if last.file in writer.refresher.catalog().held or tell_anothers(writer)(last):
        return Met(new, doubtful=((last, SAID_AGAIN),))
    done = make_marks(new, ((last, SAID_AGAIN),), today)
    return Met(new, tuple(done.made), tuple(done.left))


def in_force_again(
    store: Store, former: Mapping[str, bytes], ledger: bytes | None, gone: Collection[str]
) -> dict[str, bytes]:
    """The bytes of the superseded notes among these, as they were before, and those of the ledger
    with a flag for each and the note that stands in its place, unless that is `gone`."""
    notes: dict[str, bytes] = {}
    pairs: list[tuple[StoredNote, StoredNote, str]] = []
    chains, days = Chains(store.notes()), []
    for file, data in former.items():
        now, then = store.read(file), decode_note(data, file)
        if now.note.head.status != SUPERSEDED or then.head.status == SUPERSEDED:
            continue
        notes[file] = data
        last = chains.last(now)
        if last is not None and last.file not in gone:
            pairs.append((StoredNote(file, digest(data), then), last, _UNDONE))
            days.append(now.note.head.superseded)
    if pairs:
        text = (ledger or b"").decode("utf-8", "surrogateescape")
        notes[LEDGER] = conflicts.add(text, pairs, max(days)).encode("utf-8", "surrogateescape")
    return notes


# --- as ops of a commit


def change_ledger(before: str, after: str) -> Change:
    """What puts one text of the ledger in the place of another, "" where there was none."""
    old, new = (text.encode("utf-8", "surrogateescape") for text in (before, after))
    return Change(LEDGER, digest(old) if old else None, new)


def with_marks(groups: Sequence[Group], made: Sequence[Superseding], ledger: str) -> list[Group]:
    """The ops of a commit with these marks: what replaces and what is replaced goes back together.

    `ledger` is the text of the conflict ledger; the pairs in it are settled.
    """
    groups_marked = [*groups]
    for each in made:
        old, data = each.old, each.text.encode("utf-8")
        mine = [g for g in groups_marked if {each.new, old.file} & {c.file for c in g.changes}]
        groups_marked = [group for group in groups_marked if group not in mine]
        # of a note that comes in the same commit the mark is in its text
        changes = [
            change._replace(new=data) if change.file == old.file else change
            for group in mine
            for change in group.changes
        ]
        if all(change.file != old.file for change in changes):
            changes.append(Change(old.file, old.digest, data))
        lines = [*(group.line for group in mine), each.line()]
        groups_marked.append(Group("\n".join(lines), tuple(changes)))
    return _settle_groups(groups_marked, made, ledger)


def _settle_groups(
    groups: Sequence[Group], made: Sequence[Superseding], ledger: str
) -> list[Group]:
    """The ops with the ticks of the pairs that the marks settle, in the op that has the ledger or
    in that of the first such pair."""
    ids = {conflicts.entry_id(each.old.file, each.new): each for each in made}
    before = ledger
    place = next((g for g in groups if LEDGER in (c.file for c in g.changes)), None)
    if place is not None:
        change = next(change for change in place.changes if change.file == LEDGER)
        ledger = (change.new or b"").decode("utf-8", "surrogateescape")
    closed = [entry.id for entry in conflicts.open_entries(ledger) if entry.id in ids]
    if not closed:
        return [*groups]
    for id in closed:
        ledger = conflicts.clear_entry(ledger, id)
    ticked = change_ledger(before, ledger)
    first = next(g for g in groups if ids[closed[0]].old.file in (c.file for c in g.changes))
    joined = [group for group in groups if group in (first, place)]
    rest = [change for g in joined for change in g.changes if change.file != LEDGER]
    group = Group("\n".join(g.line for g in joined), (*rest, ticked))
    return [*(each for each in groups if each not in joined), group]
