"""How good the memory is: where its notes come from, and what became of what was found.

Counts only. Notes without a source were made by hand, or before sources were written down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdmemory.note.note import Head
from mdmemory.store import evidence
from mdmemory.store.evidence import KEPT_DAYS

if TYPE_CHECKING:
    from mdmemory.store.writer import Writer

HISTORICAL = "historical"  # the source of a note that names none
# Ops of the commits by which facts come to the notes without a person typing a command for each.
_CAPTURED = frozenset({"extract", "store"})


@dataclass(frozen=True, slots=True)
class Quality:
    """Counts of one store.

    `sources`, `types` and `statuses` count notes (a status of "" is left out), `reinforced` those
    that were said again, `unread` those that cannot be read. `found` counts the candidates of the
    last 90 days by outcome, `reasons` why those were turned down or wait. `captures` are the
    commits that stored what was found, `undone` those of them that were taken back.
    """

    notes: int
    sources: Mapping[str, int]
    types: Mapping[str, int]
    statuses: Mapping[str, int]
    reinforced: int
    found: Mapping[str, int]
    reasons: Mapping[str, int]
    captures: int
    undone: int
    days: int = KEPT_DAYS


def measure_quality(writer: Writer) -> Quality:
    """The counts of a store, whose index is brought up to date. Raises NoState."""
    refresher = writer.refresher
    refresher.current()
    heads, held_files = [*refresher.catalog().heads()], refresher.catalog().held
    with writer.state() as state:
        seen = evidence.recorded_evidence(state)
    rows = [each for each in seen if each.phase != "run"]
    captures, undone = _count_captures(writer)
    return Quality(
        notes=len(heads),
        sources=_count_words(head.source or HISTORICAL for head in heads),
        types=_count_words(_type_of(head) for head in heads),
        statuses=_count_words(
            filter(None, ("on hold" if h.file in held_files else h.status for h in heads))
        ),
        reinforced=sum(head.reinforced > 0 for head in heads),
        found=_count_words(each.outcome for each in rows),
        reasons=_count_words(why for each in rows for why in each.reasons),
        captures=captures,
        undone=undone,
    )


def _type_of(head: Head) -> str:
    return "decision" if (head.type, head.kind) == ("project", "decision") else head.type


def _count_captures(writer: Writer) -> tuple[int, int]:
    """How many commits stored what was found, and how many of them were taken back."""
    if writer.history is None:
        return 0, 0
    undone = [gone for each, gone in writer.history.logged() if each.get("Memory-Op") in _CAPTURED]
    return len(undone), sum(undone)


def _count_words(words: Iterable[str]) -> dict[str, int]:
    """How often each stands there, the most frequent first, equals by name."""
    return dict(sorted(Counter(words).items(), key=lambda each: (-each[1], each[0])))
