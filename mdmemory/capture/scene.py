"""What candidates are held against, and what becomes of each. Values only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from mdmemory.actions.replacing import IsAnothers, Superseding
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.proof import STORED, Fate
from mdmemory.capture.routes import ALL, Route
from mdmemory.capture.standing import nobodys
from mdmemory.citing.cite import Cite, cites_nothing
from mdmemory.search.near import Near, scan
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

# What speaks against a text of this type as a note: reason codes, () for nothing.
Gate = Callable[[str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Scene:
    """What candidates are held against.

    `turns` are those that the model read, `notes` all of the store's as they are now; `shown` is
    the digest of each note that the model saw, `opened` those it saw with their body. `asked` are
    file and text of the notes that the user asks for in these turns, `touched` those that change
    because of it, `stated` the keys of what they ask for and another store gets.
    """

    turns: Sequence[Turn]
    notes: Sequence[StoredNote]
    session: str
    today: str
    gate: Gate
    shown: Mapping[str, str] = field(default_factory=dict)
    opened: Collection[str] = ()
    held: Collection[str] = ()
    in_conflict: Collection[str] = ()
    asked: Sequence[tuple[str, str]] = ()
    touched: Collection[str] = ()
    stated: Collection[str] = ()
    reserved: Collection[str] = ()
    revertible: bool = True
    near: Near = scan
    doubtful: bool = False  # what nobody said waits for a person, instead of being dropped
    route: Route = ALL
    fate: Callable[[Candidate], Fate] = lambda _: STORED  # as far as its time goes
    is_anothers: IsAnothers = nobodys
    cite: Cite = cites_nothing


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate's fate: `outcome` is added, updated, reinforced, flagged, pending or dropped.

    `file` is the note's, `old` it as it is (None: new), `text` its new text (None: unchanged);
    `against` are the notes that a flagged one contradicts, each with what they differ in;
    `superseded` are the notes that it replaces.
    """

    candidate: Candidate
    outcome: str
    reasons: tuple[str, ...] = ()
    file: str = ""
    old: StoredNote | None = None
    text: str | None = None
    against: tuple[tuple[StoredNote, str], ...] = ()
    near: tuple[str, ...] = ()
    superseded: tuple[Superseding, ...] = ()
