"""All notes at a glance: each with its place in the index, and how many there are of a kind."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mdmemory.errors import MdmemoryError, NoGit
from mdmemory.files import as_given, digest, read_regular
from mdmemory.note.note import SUPERSEDED, UNREADABLE, Head
from mdmemory.records import dataclass
from mdmemory.store.conflicts import IN_CONFLICT, open_entries
from mdmemory.store.refresh import Refresher

TYPE_CHECKING = False
if TYPE_CHECKING:  # a listing itself must not pay for it
    from mdmemory.store.adopt import Look
    from mdmemory.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Listed:
    """A note as `list` shows it. `status` is "", unconfirmed, superseded, in conflict, held (on
    hold), or unreadable; `digest` is "" where the file cannot be read."""

    head: Head
    digest: str
    strength: float
    listed: bool
    status: str

    @property
    def mark(self) -> str:
        """The status in words, with the successor; "" for none."""
        by = self.head.superseded_by if self.status == SUPERSEDED else ""
        return f"{self.status} by {by}" if by else self.status


def listing(
    refresher: Refresher, digests: bool = True, files: Collection[str] | None = None
) -> list[Listed]:
    """Every note, or those of these `files`, with its strength and whether the index lists it;
    without `digests` no file is read for its own. Refreshes the index."""
    state = refresher.current()
    index, held, heads = state.index, state.catalog.held, state.catalog.heads()
    contested = _contested(refresher, heads)
    in_index = set(index.listed)
    return [
        Listed(
            head, _digest(f"{refresher.store.folder}/{as_given(head.file)}") if digests else "",
            index.strengths[head.file], head.file in in_index,
            _status(head, held) or (IN_CONFLICT if head.file in contested else ""),
        )
        for head in (heads if files is None else [head for head in heads if head.file in files])
    ]  # fmt: skip


def _contested(refresher: Refresher, heads: Sequence[Head]) -> set[str]:
    """The files of the notes in an open conflict."""
    ledger = refresher.store.ledger()
    if not ledger:
        return set()
    superseded = {head.file for head in heads if head.status == SUPERSEDED}
    return {file for entry in open_entries(ledger, superseded) for file in entry.files}


def counts(refresher: Refresher) -> dict[str, int]:
    """How many notes are in force, are listed, held, unconfirmed, how many were superseded, and how
    many conflicts are open."""
    state = refresher.current()
    heads = state.catalog.heads()
    statuses = [_status(head, state.catalog.held) for head in heads]
    superseded = {head.file for head in heads if head.status == SUPERSEDED}
    return {
        "notes": len(statuses) - len(superseded),
        "listed": len(state.index.listed),
        "held": statuses.count("held"),
        "unconfirmed": statuses.count("unconfirmed"),
        "superseded": len(superseded),
        "conflicts": len(open_entries(refresher.store.ledger(), superseded)),
    }


def unread(refresher: Refresher) -> list[str]:
    """The files of notes that cannot be read."""
    refresher.keep_fresh()
    return [head.file for head in refresher.catalog().heads() if head.status == UNREADABLE]


def unadopted(writer: Writer) -> Look | None:
    """What other hands did to the notes that no commit holds; None without git."""
    from mdmemory.store.adopt import look  # a listing must not pay for it

    writer.refresher.settle()
    if writer.history is None:
        return None
    found = look(writer.refresher, writer.history)
    writer.refresher.keep_learned()
    return found


def git_state(writer: Writer) -> str:
    """ready, none (there is no repository), or why no commit can be made now."""
    if (refusal := writer.refusal()) is None:
        return "ready"
    return "none" if isinstance(refusal, NoGit) else refusal.message


def _digest(path: str) -> str:
    try:
        return digest(read_regular(path))
    except MdmemoryError:
        return ""


def _status(head: Head, held: frozenset[str]) -> str:
    return "held" if head.file in held else head.status
