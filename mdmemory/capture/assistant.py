"""What an assistant asks to keep in the middle of its work, through the same pipeline as the rest.

Its word alone is no proof: what no turn of the user bears out is stored unconfirmed, and the index
does not list it until a person, or a turn of theirs, stands by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from mdmemory import unseen
from mdmemory.actions.editing import taken_names
from mdmemory.actions.replacing import UNCONFIRMED, Superseding, anothers, with_marks
from mdmemory.capture.fact import BorneOut, Fact, NotStored, borne_out, fact_of, is_borne_out
from mdmemory.capture.note_text import beside, description_of, keys_of_fact, may_state, stating
from mdmemory.capture.routes import ALL, Route, visible
from mdmemory.capture.standing import Standing, is_new_in
from mdmemory.capture.triggers import FLOOR, holds_everywhere, weight
from mdmemory.citing.cite import cites_of
from mdmemory.errors import NoteChanged
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import editing, limits
from mdmemory.note.note import SUPERSEDED, Head, headline, parse
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact
from mdmemory.search.near import NEAREST, near_in, nearest
from mdmemory.search.unread import unread
from mdmemory.store import conflicts, evidence
from mdmemory.store.evidence import PREVIEW, Evidence
from mdmemory.store.store import LEDGER, StoredNote
from mdmemory.store.superseding import in_force
from mdmemory.store.writer import Group, Writer, Written
from mdmemory.text.similarity import likeness
from mdmemory.text.words import keys as words_of
from mdmemory.transcripts.turns import is_id

BY_ONE_QUOTE = 3  # notes that the index lists on the same unproven words
NEAR = 0.3  # from this share of words on, a note is told as near


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a text. `existed`: a note says it already, and `file` names that one.

    `near` are other notes on the matter with a score from 0 to 1, `conflicts` those it contradicts,
    `superseded` those it replaced, as in `Extracted`; `redacted` are the kinds of secrets that were
    taken out; `quoted`: it stands on words that nothing has proven yet. `commit` is None where none
    was made; `waits` then says that the next command that a person types makes it. `id` is its
    Memory-Id.
    """

    file: str
    name: str
    digest: str
    commit: str | None
    status: str = ""
    existed: bool = False
    near: tuple[tuple[str, float], ...] = ()
    redacted: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    waits: bool = False
    superseded: tuple[dict[str, str], ...] = ()
    id: str | None = None
    quoted: bool = False


def store(
    writer: Writer, content: str, *, title: str = "", type: str = "", session: str = "",
    said: Sequence[str] = (), now: datetime, route: Route = ALL,
    against: tuple[str, str] = ("", ""), quote: str = "",
) -> Stored:  # fmt: skip
    """Keep a text as a note, in at most one commit. `said` are the user's turns of the session,
    `route` is how the fact came to this store, `against` the file of a note that it is flagged
    with in any case, and why.

    `type` is one of the four, or "" to guess; `quote` are words of the user that
    nothing can prove yet: then the index lists the note, with a mark. `now` is UTC. Raises
    NotStored with the reasons, BadNote for a text that no note may hold, and whatever a write
    raises.
    """
    session = session if is_id(session) else ""
    with writer.state() as state:
        try:
            fact = fact_of(content, title, type)
            proof = borne_out(fact.body, said)
            with writer.locked():
                today = now.date().isoformat()
                done = _stored(writer, fact, session, proof, today, route, against, quote)
        except NotStored as refused:
            # what the user does not want remembered is not even repeated
            preview = "" if "negated" in refused.reasons else _preview(content)
            evidence.record(state, [_row(session, "dropped", preview, refused.reasons)], now)
            raise
        outcome = "known" if done.existed else done.status or "added"
        near = tuple(file for file, _ in done.near)
        evidence.record(state, [_row(session, outcome, done.file, near=near)], now)
    return done


# --- the store, under the lock -------------------------------------------------------------------


class _Seen:
    """The notes of a store that are neither on hold nor unreadable; of a large one only those are
    read that a fact meets."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._held = writer.refresher.catalog().held
        self._unread = unread(writer.refresher)
        self._notes = [] if self._unread is not None else visible(writer)

    def stating(self, keys: Collection[str]) -> list[StoredNote]:
        """Those that state a fact with one of these keys."""
        has = stating(keys)
        few = self._unread
        notes = self._notes if few is None else self._free(few.holding(may_state(keys)))
        return [note for note in notes if has(note.note.head.description, note.note.body)]

    def nearest(self, text: str) -> list[StoredNote]:
        """The three nearest to a text, sorted by file."""
        near = None if self._unread is None else self._unread.near(text)
        if near is None:
            every, find = self.every(), near_in(self._writer.refresher)
            files = nearest(text, every, find)
            near = [note for note in every if note.file in files]
        return sorted(self._free(near)[:NEAREST], key=lambda note: note.file)

    def quoting(self, quote: str) -> list[StoredNote]:
        """Those whose heads hold a text."""
        return self.every() if self._unread is None else self._free(self._unread.quoting(quote))

    def note(self, file: str) -> StoredNote | None:
        """One of them."""
        if self._unread is None:
            return next((note for note in self._notes if note.file == file), None)
        return next(iter(self._free(filter(None, [self._unread.get(file)]))), None)

    def standing(self, today: str) -> Standing:
        """All of them, as a fact is compared with them."""
        return Standing(
            self._notes if self._unread is None else self._unread, held=self._held,
            near=near_in(self._writer.refresher), is_anothers=anothers(self._writer), today=today,
        )  # fmt: skip

    def every(self) -> list[StoredNote]:
        """All of them, sorted by file."""
        return self._notes if self._unread is None else self._free(self._unread.all())

    def _free(self, notes: Iterable[StoredNote]) -> list[StoredNote]:
        return [note for note in notes if note.file not in self._held and note.note.text]


def _stored(
    writer: Writer, fact: Fact, session: str, proof: BorneOut, today: str, route: Route,
    flagged: tuple[str, str], quote: str,
) -> Stored:  # fmt: skip
    seen = _Seen(writer)
    confirmed = bool(proof.sentence)
    keys = keys_of_fact(fact.body)
    says = seen.stating(keys)
    if same := (in_force(says) or says)[:1]:
        return _again(writer, same[0], seen, fact, session, proof, today)
    if there := keys & route.said.keys():
        known = route.said[min(there)]
        name = known.rpartition("/")[2].removesuffix(".md")
        return Stored(known, name, "", None, existed=True, redacted=fact.redacted)
    quoted = "" if confirmed else _unproven(quote, seen)
    new = _composed(writer, fact, session, confirmed, today, route, quoted)
    nearby = seen.nearest(f"{fact.description}\n{fact.body}")
    standing = seen.standing(today)
    words = "" if flagged[0] else proof.sentence
    found = standing.meets(words, new, claims="", later=_is_said_in(proof.later))
    against = [*found.doubtful, *standing.put(new, found.replaced)]
    told = [note.file for note, _ in against]
    other = seen.note(flagged[0])
    against += [(other, flagged[1])] if other and other.file not in told else []
    ledger = writer.refresher.store.ledger()
    groups = with_marks([group("store", new, None, against, ledger, today)], standing.made, ledger)
    written = _write(writer, new.note.head, groups, "store", session)
    said = {*words_of(fact.body)}
    near = tuple(
        (note.file, score) for note in nearby
        if (score := round(likeness(said, {*words_of(_text(note))}), 2)) >= NEAR
    )  # fmt: skip
    head = new.note.head
    return Stored(
        new.file, head.name, new.digest, written.commit, head.status,
        near=tuple(sorted(near, key=lambda pair: (-pair[1], pair[0]))),
        redacted=fact.redacted, conflicts=tuple(note.file for note, _ in against),
        waits=written.waits, superseded=tuple(each.told() for each in standing.made),
        id=written.id, quoted=bool(head.quote),
    )  # fmt: skip


def _is_said_in(turns: Sequence[str]) -> Callable[[StoredNote], bool]:
    """Tells whether the user says in these turns what a note says."""

    def is_said(note: StoredNote) -> bool:
        try:
            return is_borne_out(note.note.head.description, turns)
        except NotStored:  # they want it forgotten
            return False

    return is_said


def _text(note: StoredNote) -> str:
    return f"{note.note.head.description}\n{note.note.body}"


def _again(
    writer: Writer, same: StoredNote, seen: _Seen, fact: Fact, session: str,
    proof: BorneOut, today: str,
) -> Stored:  # fmt: skip
    """The note that says it; where it waited for the user's word, or was replaced, and they say it
    now, it is in force from now on."""
    head, known, written = same.note.head, same.digest, Written()
    status, made = head.status, list[Superseding]()
    groups: list[Group] = []
    if proof.sentence and status == UNCONFIRMED:
        wanted = editing.confirming(same.note, "extraction") | {"metadata.updated": today}
        data = editing.edit(same.note, set=wanted).text.encode("utf-8")
        line = f"confirm {same.file}: {head.description}"
        groups = [Group(line, (Change(same.file, same.digest, data),))]
        written = _write(writer, head, groups, "confirm", session)
        known, status = digest(data), ""
    elif proof.sentence and status == SUPERSEDED:
        standing = Standing(seen.every(), is_anothers=anothers(writer), today=today)
        found = standing.restored(same)
        is_later = _is_said_in(proof.later)
        if (
            found
            and found.fresh
            and all(
                is_new_in(proof.sentence, found.note, note) and not is_later(note)
                for note, _ in found.replaced
            )
        ):
            standing.put(found.note, found.replaced)
            made = standing.made
            line = f"restore {same.file}: {head.description}"
            change = Change(same.file, same.digest, found.fresh.text.encode("utf-8"))
            groups = with_marks([Group(line, (change,))], made, writer.refresher.store.ledger())
            written = _write(writer, head, groups, "restore", session)
            known, status = found.note.digest, ""
    return Stored(
        same.file, head.name, known, written.commit, status, True, (), fact.redacted,
        waits=written.waits, superseded=tuple(each.told() for each in made), id=written.id,
    )  # fmt: skip


def _unproven(quote: str, seen: _Seen) -> str:
    """A quote as a note keeps it; "" for one too short to prove anything, or that so many notes
    stand on already that this one has to wait."""
    clean = description_of(redact(unseen.without(strip_private(quote)[0]))[0])
    if weight(clean) < FLOOR:
        return ""
    others = sum(note.note.head.quote == clean for note in seen.quoting(clean))
    return clean if others < BY_ONE_QUOTE else ""


def _composed(
    writer: Writer, fact: Fact, session: str, confirmed: bool, today: str, route: Route, quote: str
) -> StoredNote:
    taken = taken_names(writer.refresher.store, writer.refresher.catalog().names)
    name = limits.free_name(fact.name, fact.type, taken)
    text = editing.compose(
        name=name, type=fact.type, description=fact.description,
        body=beside(fact.description, fact.body), kind=fact.kind,
        metadata={
            "source": "assistant", "created": today, "updated": today, "session": session,
            "status": "" if confirmed else UNCONFIRMED, "quote": quote,
            **route.metadata(fact.type, holds_everywhere(fact.body)),
        },
        cites=cites_of(writer.project, f"{fact.description}\n{fact.body}"),
    )  # fmt: skip
    if writer.refresher.is_secret(text):
        raise NotStored("secret")  # the parts are clean, and side by side they are not
    file = limits.file_name(fact.type, name)
    return StoredNote(file, digest(text.encode("utf-8")), parse(text, file))


def group(
    kind: str, new: StoredNote, before: str | None, against: Sequence[tuple[StoredNote, str]],
    ledger: str, today: str,
) -> Group:  # fmt: skip
    """The note in place of the digest `before`, and what it contradicts: one op, for an entry
    without its note says nothing."""
    changes = [Change(new.file, before, new.note.text.encode("utf-8"))]
    lines = [f"{kind} {new.file}: {new.note.head.description}"]
    fresh = conflicts.add(ledger, [(note, new, why) for note, why in against], today)
    if fresh != ledger:
        old = digest(ledger.encode("utf-8", "surrogateescape")) if ledger else None
        changes.append(Change(LEDGER, old, fresh.encode("utf-8", "surrogateescape")))
        lines += [f"flag {new.file} × {note.file}: {why}" for note, why in against]
    return Group("\n".join(lines), tuple(changes))


def _write(writer: Writer, head: Head, groups: Sequence[Group], kind: str, session: str) -> Written:
    about = [("Memory-Session", session)] if session else []
    said = subject(kind, [headline(head)])
    written = writer.write(said, groups, kind=kind, trailers=about, by_model=True)
    if written.kept:
        file = written.kept[0][0]
        raise NoteChanged(f"{file} was changed at this very moment.", "Look at it and try again.")
    return written


# --- the log -------------------------------------------------------------------------------------


def _row(
    session: str, outcome: str, preview: str, reasons: tuple[str, ...] = (),
    near: tuple[str, ...] = (),
) -> Evidence:  # fmt: skip
    return Evidence(session, "assistant", outcome, reasons, preview, near)


def _preview(content: str) -> str:
    clean = description_of(redact(strip_private(content)[0])[0])
    # again after the cut: half of a text may look like what the whole did not
    return redact(clean[:PREVIEW])[0]
