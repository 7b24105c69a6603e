"""One capture run: a transcript in, at most one commit out, and the watermark moved after it.

A run that fails leaves the watermark where it was, so that the same turns are read again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from mdmemory.capture.extract import Proposal, propose
from mdmemory.capture.transcript import read, since
from mdmemory.store.state import State
from mdmemory.store.transaction import Change
from mdmemory.store.writer import Group, Writer


@dataclass
class Extracted:
    """What a run did (or, on a dry run, would do): files, and what was dropped with its reasons."""

    session: str
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)
    dropped: list[dict[str, object]] = field(default_factory=list)
    id: str | None = None
    commit: str | None = None
    watermark: str = ""


def extract(writer: Writer, transcript: bytes, *, today: str, dry_run: bool = False) -> Extracted:
    """Store what the user asked to remember since this session was last read.

    `transcript` is a session in any form that `transcript.read` knows. Raises BadTranscript, and
    whatever a write raises.
    """
    told = read(transcript)
    with writer.locked(), State(writer.project.prepare_private() / "state.db") as state:
        before = state.watermark(told.session) or ""
        # all of them: a request is found without a model, so no number of turns is too many
        turns = since(told, before, len(told.turns), sys.maxsize)
        existing = writer.refresher.store.notes()
        reserved = [path.name for path in writer.project.store.iterdir()]
        proposal = propose(turns, existing, session=told.session, today=today, reserved=reserved)
        held = writer.refresher.catalog().held
        proposal.reinforced[:] = [pair for pair in proposal.reinforced if pair[0].file not in held]
        done = _told(told.session, proposal, before)
        groups = _groups(proposal)
        if dry_run:
            return done
        if groups:
            about = (("Memory-Session", told.session),)
            subject = f"memory: keep what was asked in {told.session}"
            written = writer.write(subject, groups, kind="extract", trailers=about)
            done.id, done.commit = written.id, written.commit
        if proposal.watermark:
            state.set_watermark(told.session, proposal.watermark)
    return done


def _told(session: str, proposal: Proposal, before: str) -> Extracted:
    return Extracted(
        session=session,
        added=[file for file, _ in proposal.added],
        reinforced=[stored.file for stored, _ in proposal.reinforced],
        dropped=list(proposal.dropped),
        watermark=proposal.watermark or before,
    )


def _groups(proposal: Proposal) -> Sequence[Group]:
    added = [
        Group(f"add {file}", (Change(file, None, text.encode("utf-8")),))
        for file, text in proposal.added
    ]
    reinforced = [
        Group(
            f"reinforce {stored.file}",
            (Change(stored.file, stored.digest, fresh.text.encode("utf-8")),),
        )
        for stored, fresh in proposal.reinforced
    ]
    return [*added, *reinforced]
