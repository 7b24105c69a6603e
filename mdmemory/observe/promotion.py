"""Facts of observations on their way to notes: through capture, and no other way.

A tool's output proves nothing: a fact becomes a note only where a user's turn says it, else it
waits for a person, and what the gate turns down goes nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mdmemory.capture.outcome import Extracted
from mdmemory.capture.summary import take
from mdmemory.observe.observation import Observation
from mdmemory.session.cleaning import LEFT_OUT
from mdmemory.store.writer import Writer
from mdmemory.transcripts.turns import Turn


def promote(
    writer: Writer, observation: Observation, said: Sequence[Turn], *, now: datetime
) -> Extracted:
    """Offer the facts of an observation (its title, where it has none) to capture.

    `said` are turns of its session; only the user's count. What they do not bear out is in
    `pending`. Raises whatever a write raises.
    """
    draft = observation.draft
    type = "decision" if draft.type == "decision" else "project"
    facts = [fact for fact in draft.facts or (draft.title,) if fact != LEFT_OUT]
    session = observation.session or "observations"
    if not facts:
        return Extracted(session, dropped=[{"text": LEFT_OUT, "reasons": ["injection"]}])
    lines = [f"- [{type}] {fact}" for fact in facts]
    return take(writer, session, "\n".join(["Memory candidates:", *lines]), said, now=now, shown={})
