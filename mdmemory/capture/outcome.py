"""What a capture run comes to: its commit, what is told of it, and the lines of the log.

Every text that is told or logged here is clean of secrets.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdmemory.actions.replacing import Superseding, with_marks
from mdmemory.capture import pending
from mdmemory.capture.extract import Proposal
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.note_text import description_of
from mdmemory.capture.pending import PendingFact
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note.note import headline, parse
from mdmemory.privacy.redaction import redact
from mdmemory.store import conflicts
from mdmemory.store.evidence import PREVIEW, Evidence
from mdmemory.store.store import LEDGER, StoredNote, is_note_name
from mdmemory.store.writer import Group, Writer
from mdmemory.transcripts.turns import cleaned

if TYPE_CHECKING:  # a request alone asks no model
    from mdmemory.capture.scene import Judged

# The turns whose requests were stored while they were said, one after the other.
ANSWERED = "answered"


def words_id(text: str) -> str:
    """A name for a turn by what it says, where a host's hooks and its sessions name it apart."""
    said = " ".join(cleaned(text).split())
    return f"said-{digest(said.encode('utf-8', 'replace'))[:16]}"


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found in one reading: by the user's requests, and by a model.

    `unreadable` are candidates that could not be judged: what each seems to say, and why. `phase`
    is model or summary: where the candidates come from.
    """

    session: str
    asked: Proposal
    judged: Sequence[Judged] = ()
    unreadable: Sequence[tuple[str, str]] = ()
    phase: str = "model"

    def told(self) -> Extracted:
        """The findings as a person is told of them."""
        left_out = [
            (each.candidate.text, _reasons(each))
            for each in self.judged
            if each.outcome in ("dropped", "pending")
        ]
        left_out += [(text, [why]) for text, why in self.unreadable]
        dropped: list[dict[str, object]] = [
            {"text": _clean(text), "reasons": why} for text, why in left_out
        ]
        return Extracted(
            session=self.session,
            added=[*(file for file, _ in self.asked.added), *self._files("added")],
            updated=[
                *(stored.file for stored, _ in self.asked.restored), *self._files("updated"),
            ],
            reinforced=[
                *(stored.file for stored, _ in self.asked.reinforced), *self._files("reinforced"),
            ],
            flagged=[*(file for file, _, _ in self.asked.flagged), *self._files("flagged")],
            superseded=[each.told() for each in self.superseded],
            doubtful=[pair for each in self._flagged() for pair in each.told()],
            pending=[each.id for each in self.waiting("")],
            dropped=[*self.asked.dropped, *dropped],
        )  # fmt: skip

    @property
    def superseded(self) -> list[Superseding]:
        """The notes that are replaced, in the order in which that was said."""
        return [*self.asked.superseded, *(more for each in self.judged for more in each.superseded)]

    def waiting(self, today: str) -> list[PendingFact]:
        """The candidates that wait for a person."""
        found = [each for each in self.judged if each.outcome == "pending"]
        return [
            PendingFact(
                each.candidate.type, each.candidate.kind, each.candidate.name,
                description_of(each.candidate.description), each.candidate.body, self.session,
                today, each.reasons, each.candidate.quote,
            )
            for each in found
        ]  # fmt: skip

    def evidence(self) -> Iterator[Evidence]:
        """Why each was kept or dropped."""
        for file, _ in self.asked.added:
            yield self._row("asked", "added", (), file)
        for stored, _ in self.asked.reinforced:
            yield self._row("asked", "reinforced", (), stored.file)
        for stored, _ in self.asked.restored:
            yield self._row("asked", "restored", (), stored.file)
        for each in self.superseded:
            yield self._row("asked", "superseded", (), each.old.file, (each.new,))
        for file, _, against in self.asked.flagged:
            near = tuple(note.file for note, _ in against)
            yield self._row("asked", "flagged", (), file, near)
        for drop in self.asked.dropped:
            why = drop["reasons"]
            assert isinstance(why, list)
            yield self._row("asked", "dropped", why, str(drop["text"]))
        for one in self.judged:
            text = one.candidate.text
            yield self._row(self.phase, one.outcome, one.reasons, text, one.near)
        for text, reason in self.unreadable:
            yield self._row(self.phase, "dropped", (reason,), text)

    @property
    def has_words_of_a_model(self) -> bool:
        """Whether anything of it was a model's to say."""
        return any(each.outcome not in ("dropped", "pending") for each in self.judged)

    def groups(self, ledger: str, today: str) -> list[Group]:
        """All of it as the ops of a commit; `ledger` is the conflict ledger's text."""
        found = [*self._by_requests(), *self._by_model(), *self._flags(ledger, today)]
        return with_marks(found, self.superseded, ledger)

    def _by_requests(self) -> list[Group]:
        added = [_group(f"add {file}", file, None, text) for file, text in self.asked.added]
        reinforced = [
            _group(f"reinforce {stored.file}", stored.file, stored, fresh.text)
            for stored, fresh in self.asked.reinforced
        ]
        restored = [
            _group(f"restore {old.file}: {headline(fresh.head)}", old.file, old, fresh.text)
            for old, fresh in self.asked.restored
        ]
        return [*added, *restored, *reinforced]

    def _by_model(self) -> list[Group]:
        return [
            _group(_line(each), each.file, each.old, each.text)
            for each in self.judged
            if each.text is not None and each.outcome in ("added", "updated", "reinforced")
        ]

    def _flags(self, ledger: str, today: str) -> list[Group]:
        """What contradicts a note, and the ledger, as one op: an entry without its note would name
        nothing."""
        found = self._flagged()
        if not found:
            return []
        fresh = conflicts.add(ledger, [pair for each in found for pair in each.pairs()], today)
        changes = [
            Change(each.file, None, each.text.encode("utf-8"))
            for each in found
            if each.text is not None
        ]
        if fresh != ledger:
            old = digest(_bytes(ledger)) if ledger else None
            changes.append(Change(LEDGER, old, _bytes(fresh)))
        lines = "\n".join(each.line() for each in found)
        return [Group(lines, tuple(changes))] if changes else []

    def _flagged(self) -> list[_Flag]:
        found = [_Flag(file, None, text, against) for file, text, against in self.asked.flagged]
        found += [
            _Flag(each.file, each.old, each.text, each.against)
            for each in self.judged
            if each.outcome == "flagged"
        ]
        return found

    def _files(self, outcome: str) -> list[str]:
        return [each.file for each in self.judged if each.outcome == outcome]

    def _row(
        self, phase: str, outcome: str, reasons: Sequence[str], text: str,
        near: tuple[str, ...] = (),
    ) -> Evidence:  # fmt: skip
        # again after the cut: half of a text may look like what the whole did not
        preview = redact(_clean(text)[:PREVIEW])[0]
        return Evidence(self.session, phase, outcome, tuple(reasons), preview, near)


@dataclass(frozen=True, slots=True)
class _Flag:
    """A fact that contradicts notes: a new one (`text`), or one that there is (`old`)."""

    file: str
    old: StoredNote | None
    text: str | None
    against: Sequence[tuple[StoredNote, str]]

    def pairs(self) -> Iterator[tuple[StoredNote, StoredNote, str]]:
        """The two notes that contradict each other, and what made that known."""
        other = self.old if self.text is None else stored_as(self.file, self.text)
        if other is not None:
            yield from ((note, other, why) for note, why in self.against)

    def told(self) -> Iterator[dict[str, str]]:
        """The pairs, as receipts show them."""
        for note, other, _ in self.pairs():
            old, new = note.note.head.description, other.note.head.description
            yield {"file": note.file, "by": other.file, "text": old, "new": new}

    def line(self) -> str:
        """What the commit says of it."""
        return "\n".join(f"flag {self.file} × {note.file}: {why}" for note, why in self.against)


def stored_as(file: str, text: str) -> StoredNote:
    """A note that is about to be written."""
    return StoredNote(file, digest(text.encode("utf-8")), parse(text, file))


def _group(line: str, file: str, old: StoredNote | None, text: str) -> Group:
    return Group(line, (Change(file, old.digest if old else None, text.encode("utf-8")),))


def _line(each: Judged) -> str:
    match each.outcome:
        case "added":
            return f"add {each.file}: {description_of(each.candidate.description)}"
        case "updated":
            gone = ", ".join(" ".join(word.split()) for word in each.candidate.superseded)
            line = f"update {each.file}: {description_of(each.candidate.description)}"
            return f"{line} (superseded: {gone})" if gone else line
        case _:
            return f"reinforce {each.file}"


def _reasons(each: Judged) -> list[str]:
    return [*(["pending"] if each.outcome == "pending" else []), *each.reasons]


def _clean(text: str) -> str:
    return description_of(redact(text)[0])


def _bytes(ledger: str) -> bytes:
    return ledger.encode("utf-8", "surrogateescape")


def write(
    writer: Writer, found: Findings, model: str, done: Extracted, today: str,
    waited: Sequence[PendingFact] = (),
) -> None:  # fmt: skip
    """Write what was found, in one commit, and tell `done` of it; `waited` are the facts of it that
    waited in the inbox until now. The caller holds the lock."""
    groups = found.groups(writer.refresher.store.ledger(), today)
    if not groups:
        return
    if waited and (left := pending.leaves(writer, waited)):
        groups.append(Group("\n".join(f"leave {each.file}" for each in left), tuple(left)))
    marked = {each.old.file for each in found.superseded}
    by_model = found.has_words_of_a_model
    about = [("Memory-Session", done.session)]
    if by_model:
        about.append(("Memory-Model", " ".join(model.split())))
    said = _subject(groups, marked)
    written = writer.write(said, groups, kind="extract", trailers=about, by_model=by_model)
    done.id, done.commit, done.waits = written.id, written.commit, written.waits
    if waited:
        pending.gone(writer, waited)
    for file, _ in written.kept:
        # somebody saved it at the very moment of the write: a hand's edit wins
        for listed in (done.added, done.updated, done.reinforced, done.flagged):
            listed[:] = [each for each in listed if each != file]
        done.superseded[:] = [
            each for each in done.superseded if file not in (each["file"], each["by"])
        ]
        done.dropped.append({"text": file, "reasons": ["note_changed"]})


def _subject(groups: Sequence[Group], marked: Container[str]) -> str:
    """What was done first (add, update, reinforce, flag), and the facts of all that was done."""
    verb, _, line = groups[0].line.partition("\n")[0].partition(" ")
    return subject(verb, facts_of(groups, marked) or [line])


def facts_of(groups: Sequence[Group], but: Container[str] = ()) -> list[str]:
    """What these ops leave in notes, `but` in these files, as the subject of a commit calls it."""
    return [
        headline(parse(change.new.decode("utf-8"), change.file).head)
        for group in groups
        for change in group.changes
        if change.new is not None and is_note_name(change.file) and change.file not in but
    ]
