"""All notes at a glance: each with its place in the index, how many there are of a kind, and why
the index lists a note or does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from mdmemory.errors import MdmemoryError, NoGit
from mdmemory.files import as_given, digest, read_regular
from mdmemory.note.note import SUPERSEDED, Head
from mdmemory.store.conflicts import IN_CONFLICT
from mdmemory.store.index import CAPS, CAPS_MADE_FOR, note_line, pool_of
from mdmemory.store.refresh import Refreshed, Refresher
from mdmemory.store.store import INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:  # a listing itself must not pay for it
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.log import Logged
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


# --- why the index lists a note or does not, and when a note left it

_LOOKED_AT = 500  # of the newest commits that changed the index


class IndexPlace(NamedTuple):
    """A note's place in the index.

    `why` is "" for a listed note, else held, its status, or budget: then its `rank` among the `of`
    notes that may be listed, and its `pool_rank` among those of its `pool` (a type, or decision),
    which has `pool_places` places before all share the rest, tell how far it is from being listed.
    `strength` is 0.0 to 7.5; ranks count from 1, and are 0 for a note that may not be listed.
    `left` is the commit that took its line out; None where none did.
    """

    listed: bool
    why: str
    strength: float
    rank: int = 0
    of: int = 0
    pool: str = ""
    pool_rank: int = 0
    pool_places: int = 0
    left: Logged | None = None

    def told(self) -> str:
        """A sentence for people; "" for a note that is listed."""
        if self.listed:
            return ""
        why = f"it is {self.why}"
        if self.why == "held":
            why = "it is on hold (`mdmemory doctor`)"
        elif self.why == "budget":
            why = (
                f"place {self.rank} of {self.of} by strength ({self.strength:.2f}), place "
                f"{self.pool_rank} of the type {self.pool}, which has {self.pool_places} places of "
                "its own"
            )
        left = self.left
        since = f" It left it on {left.time[:10]}, with {left.commit[:10]}." if left else ""
        return f"Not in the index: {why}.{since}"


def index_place(refresher: Refresher, history: History | None, file: str) -> IndexPlace | None:
    """The place of the note in `file`; None where there is no such note. Refreshes the index."""
    state = refresher.current()
    for head in state.catalog.heads_of([file]):
        place = find_places(refresher, state, [head])[file]
        return place if place.listed else place._replace(left=_unlisting_commit(history, head))
    return None


def find_places(
    refresher: Refresher, state: Refreshed, heads: Sequence[Head]
) -> dict[str, IndexPlace]:
    """The places of some notes."""
    listed, strengths = {*state.index.listed}, state.index.strengths
    places: dict[str, IndexPlace] = {}
    for head in heads:
        is_listed, strength = head.file in listed, strengths[head.file]
        why = "held" if head.file in state.catalog.held else head.status
        places[head.file] = IndexPlace(is_listed, "" if is_listed else why, strength)
    if all(place.listed for place in places.values()):
        return places
    most = int(refresher.project.settings.whole("index.max_entries"))
    traces, counts = state.catalog.listable(), Counter[str]()
    # stable, also backwards: equals stay in the order of their files
    best = sorted(traces, key=strengths.__getitem__, reverse=True)
    for rank, file in enumerate(best, 1):
        pool = pool_of(traces[file])
        counts[pool] += 1
        if file in places and not places[file].listed:
            room = CAPS[pool] * most // CAPS_MADE_FOR
            places[file] = IndexPlace(
                False, "budget", strengths[file], rank, len(traces), pool, counts[pool], room
            )
    return places


def _unlisting_commit(history: History | None, head: Head) -> Logged | None:
    """The last commit that took the note's line out of the committed index."""
    if history is None or (at := history.head()) is None:
        return None
    target = f"]({note_line(head).partition('](')[2].partition(')')[0]})"
    if target.encode() in (history.read(at, INDEX) or b""):
        return None  # it is still there, and its exit waits for a commit
    path = ("--", f"{history.prefix}{INDEX}")
    newest = history.repository.run("rev-list", f"-{_LOOKED_AT}", at, *path)
    how = ("diff-tree", "--stdin", f"-S{target}", "-s", "--format=%H")
    changed = history.repository.run(*how, *path, data=newest).decode().split()
    return history.load_commits(changed[:1])[0] if changed else None
