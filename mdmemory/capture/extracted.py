"""Who calls on the memory in a turn, and what a capture run did, as it is told. Data alone: whoever
only tells it loads nothing more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mdmemory.capture.judge import SecondLook
    from mdmemory.errors import MdmemoryError
    from mdmemory.transcripts.turns import Turn


class Caller(NamedTuple):
    """The host's session and its turns, as far as the host reports them. `hears`: it reports all
    that the user types, so that a quote which is not among these turns is none."""

    session: str = ""
    turns: tuple[Turn, ...] = ()
    hears: bool = True


@dataclass
class Extracted:
    """What a run did (or, on a dry run, would do): files, and what was dropped with its reasons.

    `superseded` are the notes that were replaced: file, the file `by` which, the old `text` and the
    `new` one (their descriptions). `pending` are ids of candidates that wait for a person (they
    stand in `dropped`, too), `model` is who was asked, `unread` counts turns that are left for the
    next run, `older` those of a session's first reading that lie before what a model is shown,
    `passed_over` those of which it gave no answer that could be read, `unreadable` candidates that
    did not come whole, `torn` lines of the session that are no whole record. `failure`: no answer
    of the model could be used; what the user asked for was stored all the same. `waits`: it is in
    no branch yet, and the next command that a person types commits it. `second` is the model's
    second look at what it proposed.
    """

    session: str
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)
    superseded: list[dict[str, str]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    dropped: list[dict[str, object]] = field(default_factory=list)
    id: str | None = None
    commit: str | None = None
    waits: bool = False
    watermark: str = ""
    model: str = ""
    unread: int = 0
    older: int = 0
    passed_over: int = 0
    unreadable: int = 0
    torn: int = 0

    failure: MdmemoryError | None = None
    second: SecondLook | None = None

    def files(self) -> list[str]:
        """The files of all notes that it made or changed."""
        return [*self.added, *self.updated, *self.reinforced, *self.flagged]


def prefix_pair(pair: dict[str, str], prefix: str) -> dict[str, str]:
    """A replaced note and its successor, with `prefix` before both files."""
    return {**pair, "file": f"{prefix}{pair['file']}", "by": f"{prefix}{pair['by']}"}
