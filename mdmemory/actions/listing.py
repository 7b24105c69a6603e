"""All notes at a glance: each with its place in the index, and how many there are of a kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import NamedTuple

from mdmemory.errors import MdmemoryError, NoGit
from mdmemory.files import as_given, digest, read_regular
from mdmemory.note.note import SUPERSEDED, UNREADABLE, Head
from mdmemory.store.conflicts import IN_CONFLICT
from mdmemory.store.refresh import Refresher

TYPE_CHECKING = False
if TYPE_CHECKING:  # a listing itself must not pay for it
    from mdmemory.store.adopt import Look
    from mdmemory.store.writer import Writer


_KINDS = {"held": "on hold", "superseded": "superseded", "unconfirmed": "unconfirmed"}


class Listed(NamedTuple):
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


def list_notes(
    refresher: Refresher, digests: bool = True, files: Collection[str] | None = None
) -> list[Listed]:
    """Every note, or those of these `files`, with its strength and whether the index lists it;
    without `digests` no file is read for its own. Refreshes the index."""
    state = refresher.current()
    catalog, index = state.catalog, state.index
    contested, in_index, strengths = _contested_files(refresher), set(index.listed), index.strengths
    rows = []
    for head in catalog.heads() if files is None else catalog.heads_of(files):
        file, read = head.file, ""
        if digests:
            with suppress(MdmemoryError):
                read = digest(read_regular(f"{refresher.store.folder}/{as_given(file)}"))
        status = _status_of(head, catalog.held) or (IN_CONFLICT if file in contested else "")
        rows.append(Listed(head, read, strengths[file], file in in_index, status))
    return rows


def mark_of(refresher: Refresher, file: str) -> str:
    """`Listed.mark` of one note, for whose sake no index is made. Refreshes the index. "" where it
    is gone."""
    catalog = refresher.current().catalog
    for head in catalog.heads_of([file]):
        is_contested = not head.status and file in _contested_files(refresher)
        status = _status_of(head, catalog.held) or (IN_CONFLICT if is_contested else "")
        return Listed(head, "", 0.0, False, status).mark
    return ""


def _contested_files(refresher: Refresher) -> set[str]:
    """The files of the notes in an open conflict."""
    return {file for entry in refresher.open_conflicts() for file in entry.files}


def count_notes(refresher: Refresher) -> dict[str, int]:
    """How many rows `list_notes` has, how many of them are listed, held, unconfirmed and
    superseded, and how many conflicts are open."""
    state = refresher.current()
    catalog = state.catalog
    held_files = catalog.held
    return {
        "notes": len(catalog.files),
        "listed": len(state.index.listed),
        "held": len(held_files.union(catalog.with_status("held"))),
        "unconfirmed": len({*catalog.with_status("unconfirmed")} - held_files),
        "superseded": len({*catalog.with_status(SUPERSEDED)} - held_files),
        "conflicts": len(refresher.open_conflicts()),
    }


def in_words(counts: Mapping[str, int]) -> str:
    """What `count_notes` says of the notes, as every list and overview shows it."""
    notes = counts["notes"]
    counts_said = [f"{notes} note{'' if notes == 1 else 's'}", f"{counts['listed']} in the index"]
    counts_said += [f"{counts[key]} {words}" for key, words in _KINDS.items() if counts[key]]
    return ", ".join(counts_said)


def unreadable_files(refresher: Refresher) -> list[str]:
    """The files of notes that cannot be read."""
    refresher.current()
    return refresher.catalog().with_status(UNREADABLE)


def find_unadopted(writer: Writer) -> Look | None:
    """What other hands did to the notes that no commit holds; None without git."""
    from mdmemory.store.adopt import look_at_folder  # a listing must not pay for it

    writer.refresher.settle()
    if writer.history is None:
        return None
    return look_at_folder(writer.refresher, writer.history)


def git_state(writer: Writer) -> str:
    """ready, none (there is no repository), or why no commit can be made now."""
    if (refusal := writer.refusal()) is None:
        return "ready"
    return "none" if isinstance(refusal, NoGit) else refusal.message


def _status_of(head: Head, held_files: frozenset[str]) -> str:
    return "held" if head.file in held_files else head.status
