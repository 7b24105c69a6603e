"""The journal: what a write still has to do, on disk before the first thing that cannot be undone.

No journal means that nothing happened; a journal means that the next start finishes the write.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.errors import MdmemoryError, RepositoryState, Unwritable
from mdmemory.files import is_inside, read_regular, require_utf8, sync_folder, write_atomic
from mdmemory.git import replacement
from mdmemory.git.objects import Blob
from mdmemory.git.replacement import MARK, Change, Move

_BEGUN, _MOVED = "journal.json", "journal-moved.json"
_LIMIT = 64 * 1024 * 1024  # bytes; ten thousand files take four million
_HEX = re.compile(r"[0-9a-f]{12,64}")


class Journal(NamedTuple):
    """One transaction in `folder`. `entries` are what the commit's tree says of its files (None:
    removed).

    `base` and `commit` are where the branch was and where it goes; without a `branch` none moves.
    """

    id: str
    folder: str
    moves: list[Move]
    branch: str = ""
    base: str | None = None
    commit: str | None = None
    entries: Mapping[str, Blob | None] = MappingProxyType({})


class Journals:
    """The place of the one journal in `room`; `within`: the folder that it may speak of."""

    def __init__(self, room: Path, within: Path) -> None:
        self.room = room
        self.within = within

    def prepare(self) -> Path:
        """Make the room. Raises RepositoryState when somebody put a link there."""
        if self.room.is_symlink():
            raise RepositoryState(
                f"{self.room} is a symbolic link, and nothing is written through links.",
                f"Remove it: `rm {self.room}`.",
            )
        self.room.mkdir(mode=0o700, exist_ok=True)
        return self.room

    def is_open(self) -> bool:
        """Whether there is a journal: a write that is not finished."""
        return self._find_path() is not None

    def has_moved(self) -> bool:
        """Whether the branch was moved: from then on it is a person who moved it elsewhere."""
        return os.path.lexists(self.room / _MOVED)

    def write(self, journal: Journal) -> None:
        """Put the journal on disk, synced."""
        # relative: the project may be moved before the next start
        folder = os.path.relpath(os.path.realpath(journal.folder), os.path.realpath(self.within))
        moves = [move._asdict() for move in journal.moves]
        entries = {file: blob and blob._asdict() for file, blob in journal.entries.items()}
        values = {"id": journal.id, "folder": folder, "moves": moves, "branch": journal.branch,
                  "base": journal.base, "commit": journal.commit, "entries": entries}  # fmt: skip
        data = json.dumps(values).encode()
        write_atomic(self.prepare() / _BEGUN, data, mode=0o600)

    def begin(self, folder: Path, changes: Sequence[Change], id: str) -> Journal:
        """Write the new bytes beside their files, then the journal of a write that commits nothing.
        What fails before that has changed nothing."""
        journal = Journal(id, str(folder), replacement.plan_moves(changes, id))
        try:
            replacement.write_fresh(folder, changes, journal.moves)
            self.write(journal)
        except BaseException:
            if not self.is_open():
                replacement.forget_fresh(folder, journal.moves)
            raise
        return journal

    def mark_moved(self) -> None:
        """Remember that the branch was moved."""
        if not self.has_moved():
            os.rename(self.room / _BEGUN, self.room / _MOVED)

    def finish(
        self, folder: Path, journal: Journal, put_index: Callable[[str], None] | None = None
    ) -> replacement.Kept:
        """Bring all files from old to new, and git's index if there is one to `put_index`; what was
        kept instead, and why.

        Each step may have been done already. Raises Unwritable when the disk does not let it: this
        is after the point of no return, and the next start goes on.
        """
        try:
            unchanged = replacement.install_all(folder, journal.moves)
            if put_index:
                put_index(journal.id)
            # only now: an editor that was about to save has had its time
            for move in journal.moves:
                if reason := replacement.settle(folder, move):
                    unchanged = {**unchanged, move.file: reason}
            self.drop()
        except OSError as problem:
            why = problem.strerror or problem
            raise Unwritable(
                f"The change is safe, but not every file could follow: {why}.",
                "Mend that; then the next mdmemory command that writes finishes the rest.",
            ) from problem
        return unchanged

    def resume(
        self,
        folder: Path,
        journal: Journal,
        late: replacement.Kept = MappingProxyType({}),
        put_index: Callable[[str], None] | None = None,
    ) -> tuple[str, ...]:
        """Finish what a killed process began; the sentences on notes that were not there before,
        and on kept files, of which some are known of (`late`)."""
        awaited = replacement.list_awaited(folder, journal.moves)
        reasons = {**late, **self.finish(folder, journal, put_index)}
        put = [file for file in awaited if file not in reasons]
        again = f"{', '.join(put)}: put in place; if you had removed it since, remove it again."
        stays = (f"{file}: {why}." for file, why in reasons.items())
        return ("A write that was interrupted is finished.", *([again] if put else []), *stays)

    def drop(self) -> None:
        """The write is finished, or has not happened."""
        for name in (_MOVED, _BEGUN):
            (self.room / name).unlink(missing_ok=True)
        sync_folder(self.room)

    def written_ns(self) -> int:
        """When the open journal was written, by the file system's clock (ns)."""
        path = self._find_path()
        return path.stat().st_mtime_ns if path else 0

    def read(self) -> Journal | None:
        """The open journal, or None. Raises MdmemoryError for one that is not ours to follow."""
        path = self._find_path()
        if path is None:
            return None
        self.prepare()
        try:
            raw = json.loads(read_regular(path, _LIMIT))
            raw["folder"] = os.path.join(self.within, raw["folder"])
            moves, entries = raw.pop("moves"), raw.pop("entries")
            if not isinstance(moves, list) or not isinstance(entries, dict):
                raise ValueError("it has no lists")
            blobs = {file: Blob(**blob) if blob else None for file, blob in entries.items()}
            journal = Journal(moves=[Move(**move) for move in moves], entries=blobs, **raw)
            self._check(journal)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise MdmemoryError(
                f"The journal of an interrupted write, {path}, cannot be followed: {problem}.",
                f"Look for {MARK}*.old beside the notes, which hold earlier texts; then move the "
                "journal away.",
            ) from problem
        require_utf8(move.file for move in journal.moves)
        return journal

    def _find_path(self) -> Path | None:
        paths = (self.room / _MOVED, self.room / _BEGUN)
        return next((path for path in paths if os.path.lexists(path)), None)

    def _check(self, journal: Journal) -> None:
        """A repository that came in an archive may bring a journal that points anywhere."""
        folder = Path(journal.folder)
        if not is_inside(folder, self.within):
            raise ValueError(f"{folder} lies elsewhere")
        files = [*journal.entries, *(move.file for move in journal.moves)]
        if not all(_is_plain(file) for file in files) or not all(
            is_inside(folder / parent, folder) for parent in {os.path.dirname(f) for f in files}
        ):
            raise ValueError("it names files outside its folder")
        hidden = [name for move in journal.moves for name in (move.fresh, move.aside)]
        if not all(name.startswith(MARK) and "/" not in name for name in hidden):
            raise ValueError("it names files that are not ours")
        blobs = [blob for blob in journal.entries.values() if blob]
        names = [journal.id, *(blob.id for blob in blobs), journal.base, journal.commit]
        if not all(_HEX.fullmatch(name) for name in names if name is not None):
            raise ValueError("it names an object that is none")
        branch = journal.branch or "refs/heads/none"  # of a write that commits nothing
        if not (branch.startswith("refs/heads/") and _is_plain(branch)):
            raise ValueError("it names a branch that is none")
        if {blob.mode for blob in blobs} - {"100644", "100755"}:
            raise ValueError("it is not of our making")


def _is_plain(file: str) -> bool:
    clean = os.path.normpath(file) == file and not os.path.isabs(file)
    return clean and not {"..", ".", ".git"} & set(file.split("/"))
