"""What a capture run comes to: the groups of its commit, what is told of it, what the log keeps.

Pure. Every text that is told or logged here is clean of secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mdmemory.capture.extract import Proposal, description_of
from mdmemory.capture.judge import Judged
from mdmemory.capture.pending import Waiting
from mdmemory.capture.privacy import redact
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest
from mdmemory.note import parse
from mdmemory.store import conflicts
from mdmemory.store.evidence import PREVIEW, Evidence
from mdmemory.store.store import LEDGER, StoredNote
from mdmemory.store.transaction import Change
from mdmemory.store.writer import Group


@dataclass
class Extracted:
    """What a run did (or, on a dry run, would do): files, and what was dropped with its reasons.

    `pending` are ids of candidates that wait for a person (they stand in `dropped`, too), `model`
    is who was asked, `unread` counts turns that are left for the next run. `failure`: no answer of
    the model could be used; what the user asked for was stored all the same.
    """

    session: str
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    dropped: list[dict[str, object]] = field(default_factory=list)
    id: str | None = None
    commit: str | None = None
    watermark: str = ""
    model: str = ""
    unread: int = 0
    failure: MdmemoryError | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found in one reading: by the user's requests, and by a model.

    `unreadable` are candidates that could not be judged: what each seems to say, and why.
    """

    session: str
    asked: Proposal
    judged: Sequence[Judged] = ()
    unreadable: Sequence[tuple[str, str]] = ()

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
            updated=self._files("updated"),
            reinforced=[
                *(stored.file for stored, _ in self.asked.reinforced), *self._files("reinforced"),
            ],
            flagged=self._files("flagged"),
            pending=[each.id for each in self.waiting("")],
            dropped=[*self.asked.dropped, *dropped],
        )  # fmt: skip

    def waiting(self, today: str) -> list[Waiting]:
        """The candidates that wait for a person."""
        found = [each for each in self.judged if each.outcome == "pending"]
        return [
            Waiting(
                each.candidate.type, each.candidate.kind, each.candidate.name,
                description_of(each.candidate.description), each.candidate.body, self.session,
                today, each.reasons,
            )
            for each in found
        ]  # fmt: skip

    def evidence(self) -> Iterator[Evidence]:
        """Why each was kept or dropped."""
        for file, _ in self.asked.added:
            yield self._row("asked", "added", (), file)
        for stored, _ in self.asked.reinforced:
            yield self._row("asked", "reinforced", (), stored.file)
        for drop in self.asked.dropped:
            why = drop["reasons"]
            assert isinstance(why, list)
            yield self._row("asked", "dropped", why, str(drop["text"]))
        for each in self.judged:
            text = each.candidate.text
            yield self._row("model", each.outcome, each.reasons, text, each.near)
        for text, reason in self.unreadable:
            yield self._row("model", "dropped", (reason,), text)

    def by_requests(self) -> list[Group]:
        """What the user asked for, as the ops of a commit."""
        added = [_group(f"add {file}", file, None, text) for file, text in self.asked.added]
        reinforced = [
            _group(f"reinforce {stored.file}", stored.file, stored, fresh.text)
            for stored, fresh in self.asked.reinforced
        ]
        return [*added, *reinforced]

    def by_model(self, ledger: str, today: str) -> list[Group]:
        """What a model found, as the ops of a commit; `ledger` is the conflict ledger's text."""
        groups = [
            _group(_line(each), each.file, each.old, each.text)
            for each in self.judged
            if each.text is not None and each.outcome in ("added", "updated", "reinforced")
        ]
        flagged = [each for each in self.judged if each.outcome == "flagged"]
        return [*groups, *_flags(flagged, ledger, today)]

    def _files(self, outcome: str) -> list[str]:
        return [each.file for each in self.judged if each.outcome == outcome]

    def _row(
        self, phase: str, outcome: str, reasons: Sequence[str], text: str,
        near: tuple[str, ...] = (),
    ) -> Evidence:  # fmt: skip
        # again after the cut: half of a text may look like what the whole did not
        preview = redact(_clean(text)[:PREVIEW])[0]
        return Evidence(self.session, phase, outcome, tuple(reasons), preview, near)


def stored_as(file: str, text: str) -> StoredNote:
    """A note that is about to be written."""
    return StoredNote(file, digest(text.encode("utf-8")), parse(text, file))


def _group(line: str, file: str, old: StoredNote | None, text: str) -> Group:
    return Group(line, (Change(file, old.digest if old else None, text.encode("utf-8")),))


def _flags(flagged: Sequence[Judged], ledger: str, today: str) -> list[Group]:
    """The new facts and the ledger, one op: an entry without its note would name nothing."""
    fresh = conflicts.add(ledger, [pair for each in flagged for pair in _pair(each)], today)
    changes = [
        Change(each.file, None, each.text.encode("utf-8"))
        for each in flagged
        if each.text is not None
    ]
    if fresh != ledger:
        old = digest(_bytes(ledger)) if ledger else None
        changes.append(Change(LEDGER, old, _bytes(fresh)))
    return [Group("\n".join(map(_line, flagged)), tuple(changes))] if changes else []


def _pair(each: Judged) -> Iterator[tuple[StoredNote, StoredNote, str]]:
    """The two notes that contradict each other, and what made that known."""
    other = each.old if each.text is None else stored_as(each.file, each.text)
    if each.against is not None and other is not None:
        yield each.against, other, f"the user said: {each.candidate.quote}"


def _line(each: Judged) -> str:
    match each.outcome:
        case "added":
            return f"add {each.file}: {description_of(each.candidate.description)}"
        case "updated":
            gone = ", ".join(" ".join(word.split()) for word in each.candidate.superseded)
            line = f"update {each.file}: {description_of(each.candidate.description)}"
            return f"{line} (superseded: {gone})" if gone else line
        case "flagged":
            against = each.against.file if each.against else ""
            return f"flag {each.file} × {against}: {description_of(each.candidate.description)}"
        case _:
            return f"reinforce {each.file}"


def _reasons(each: Judged) -> list[str]:
    return [*(["pending"] if each.outcome == "pending" else []), *each.reasons]


def _clean(text: str) -> str:
    return description_of(redact(text)[0])


def _bytes(ledger: str) -> bytes:
    return ledger.encode("utf-8", "surrogateescape")
