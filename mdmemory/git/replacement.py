"""One file from its old bytes to its new ones, so that no crash and no editor loses either.

The new bytes stand ready beside the file. The two change places in one step, and the old file is
looked at; where a system has no such step, it is renamed aside, looked at, and only then does the
new one take the name. Every step can be repeated, so a killed process is just resumed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmemory import debugging
from mdmemory.errors import MdmemoryError, NoteChanged
from mdmemory.files import (
    digest,
    exchange_files,
    is_open_for_writing,
    link_file,
    list_names,
    name_refusals,
    read_if_there,
    require_utf8,
    sync_folder,
)

MARK = ".mdmemory-tx-"  # begins the names of new and aside bytes, beside the file they belong to
OPEN_MARK = ".mdmemory-open-"  # begins the names of old texts that a program holds open for writing
_COPY = r"\.mdmemory-[0-9a-f]{12}\.tmp"
OPEN = "a program still has its former text open"
SOMETHING = ""  # the "digest" of a link, a folder, an unreadable file: never one that we expect

Kept = Mapping[str, str]  # files that somebody changed meanwhile, left as they are, and why

GONE = "it was removed meanwhile"
CHANGED = "it was changed meanwhile"
TAKEN = "another file took its name meanwhile"


class Change(NamedTuple):
    """One file of the folder: `old` is the sha256 it must have now (None: it must not exist).

    `new` None removes it. A `derived` file (the index) is replaced whatever it holds.
    """

    file: str
    old: str | None
    new: bytes | None
    derived: bool = False


class Move(NamedTuple):
    """A change as the journal knows it: digests, and the two hidden names on the way."""

    file: str
    old: str | None
    new: str | None
    fresh: str
    aside: str
    derived: bool


def verify(folder: Path, change: Change) -> None:
    """Raise NoteChanged unless the file is what the change says it is."""
    require_utf8([change.file])
    current = read_state(folder / change.file)
    if not change.derived and current != change.old:
        what = "is gone" if current is None else "has changed" if change.old else "exists already"
        step = "Look at it and run the command again."
        raise NoteChanged(f"{change.file} {what} since it was read.", step)


def plan_moves(changes: Sequence[Change], id: str) -> list[Move]:
    """The moves for these changes, with hidden names that no other transaction uses."""
    return [
        Move(
            change.file,
            change.old,
            None if change.new is None else digest(change.new),
            f"{MARK}{id}-{number}.new",
            f"{MARK}{id}-{number}.old",
            change.derived,
        )
        for number, change in enumerate(changes)
    ]


def write_fresh(
    folder: Path, changes: Sequence[Change], moves: Sequence[Move], executable: Collection[str] = ()
) -> None:
    """Write the new bytes, synced, under their hidden names, with the old file's permissions.

    A removal gets an empty one: the hidden name stands for as long as the move is not done.
    """
    tried: set[Path] = set()
    for change, move in zip(changes, moves, strict=True):
        fresh = hidden_path(folder, move.file, move.fresh)
        with name_refusals(fresh.parent):
            fresh.parent.mkdir(parents=True, exist_ok=True)
            _write_new(fresh, change.new or b"", folder / move.file, move.file in executable)
            if fresh.parent not in tried:
                # see that a second name can be given here while nothing has happened yet
                second = fresh.with_name(f"{move.fresh.removesuffix('.new')}-link.new")
                link_file(fresh, second)
                second.unlink()
                tried.add(fresh.parent)


def forget_fresh(folder: Path, moves: Sequence[Move]) -> None:
    """Remove the new bytes of moves that were never begun."""
    for move in moves:
        hidden_path(folder, move.file, move.fresh).unlink(missing_ok=True)


def sweep_fresh(folder: Path) -> None:
    """Remove new bytes of a process that died before its journal: copies, never the only ones.

    Also those in its hidden folders, such as an inbox.
    """
    for name in os.listdir(folder):
        if name.startswith(MARK) and name.endswith(".new"):
            (folder / name).unlink(missing_ok=True)
        elif name[0] == "." and name != ".git" and (folder / name).is_dir():
            for inner in (folder / name).glob(f"{MARK}*.new"):
                inner.unlink(missing_ok=True)


def sweep_copies(folder: Path, names: Iterable[str]) -> None:
    """Remove the copies that `write_atomic` makes on its way: whoever lives makes his anew."""
    for path in (folder / name for name in names if re.fullmatch(_COPY, name)):
        with suppress(OSError):
            if stat.S_ISREG(path.lstat().st_mode):
                path.unlink()


def install_all(folder: Path, moves: Sequence[Move]) -> Kept:
    """Bring all files from old to new, durably; those that were kept instead, and why."""
    reasons = {move.file: why for move in moves if (why := install(folder, move))}
    if debugging.logger:
        for move in moves:
            done = "removed" if move.new is None else "written"
            outcome = "kept" if move.file in reasons else done
            debugging.log_line("%s: %s", folder / move.file, outcome)
    for parent in {(folder / move.file).parent for move in moves}:
        if parent.is_dir():
            sync_folder(parent)
    return reasons


def install(folder: Path, move: Move) -> str | None:
    """Bring one file from old to new, whatever was done of it before; why it was kept, if so."""
    path = folder / move.file
    fresh, aside = (hidden_path(folder, move.file, name) for name in (move.fresh, move.aside))
    if not os.path.lexists(fresh):
        # done before a crash; what stands there now is a person's business
        return None if read_state(path) == move.new else CHANGED
    if move.derived:
        is_folder = path.is_dir() and not path.is_symlink()
        if move.new is not None and not is_folder:
            os.replace(fresh, path)
            return None
        if not is_folder:
            path.unlink(missing_ok=True)
        fresh.unlink()
        return TAKEN if is_folder else None
    if not os.path.lexists(aside):
        if _is_exchanged(fresh, move):  # before a crash, and not looked at yet
            os.rename(fresh, aside)
            return _look(path, aside, move) or (None if read_state(path) == move.new else CHANGED)
        now = read_state(path)
        if now is None and move.old is None:
            return _take_name(path, fresh, move)  # an addition goes on if the name is free
        if now != move.old or move.old is None:  # a file that is not what it was stays
            fresh.unlink()
            if now == move.new:
                return None
            return GONE if now is None else CHANGED if move.old else TAKEN
        # aside first, looked at afterwards: an editor may save in this very moment
        if move.new is not None and _exchange(path, fresh):
            os.rename(fresh, aside)
            return _look(path, aside, move)
        os.rename(path, aside)
    if read_state(aside) != move.old:
        fresh.unlink()
        return _put_back(aside, path)
    return _take_name(path, fresh, move)


def settle(folder: Path, move: Move) -> str | None:
    """Drop the old bytes, which a commit holds. Return why they stay, else None: they are others by
    now, or a program has them open for writing, and what it appends goes there."""
    path, aside = folder / move.file, hidden_path(folder, move.file, move.aside)
    if not os.path.lexists(aside):
        return None
    if move.old and is_open_for_writing(aside):
        shown = os.path.basename(move.file)
        shown = shown if len(os.fsencode(shown)) <= _LONGEST else "note.md"
        begin = f"{OPEN_MARK}{move.old[:_DIGITS]}-{os.urandom(3).hex()}"
        late = aside.with_name(f"{begin}-{shown}")
        os.rename(aside, late)
        return f"{OPEN}; what that writes goes to {late.name}"
    if read_state(aside) == move.old:
        aside.unlink()
        return None
    # an editor that had the old file open wrote into it after all
    return _put_back(aside, path)


def retract(folder: Path, move: Move) -> str | None:
    """Give up a move: what was put aside gets its name back, or stays aside if that is taken.

    Then where it is.
    """
    path, aside = folder / move.file, hidden_path(folder, move.file, move.aside)
    fresh = hidden_path(folder, move.file, move.fresh)
    if not os.path.lexists(aside) and _is_exchanged(fresh, move):
        os.rename(fresh, aside)
    fresh.unlink(missing_ok=True)
    if not os.path.lexists(aside):
        return None
    if read_state(aside) == read_state(path) != SOMETHING:
        aside.unlink()
        return None
    why = _put_back(aside, path)
    return why if os.path.lexists(aside) else None


def list_awaited(folder: Path, moves: Sequence[Move]) -> list[str]:
    """The notes that are not there and whose new bytes wait beside them, after a crash.

    Whether one never got its name, or got it and a person removed it since, nothing tells.
    """
    return [
        move.file
        for move in moves
        if move.new is not None
        and not move.derived
        and not os.path.lexists(folder / move.file)
        and os.path.lexists(hidden_path(folder, move.file, move.fresh))
    ]


def read_state(path: Path) -> str | None:
    """The digest of what stands at `path`, None for nothing, SOMETHING for what is no file."""
    try:
        data = read_if_there(path)
    except MdmemoryError:
        return SOMETHING
    return None if data is None else digest(data)


def hidden_path(folder: Path, file: str, name: str) -> Path:
    """The path of a hidden name in the folder of `file`: link() needs one file system."""
    return (folder / file).parent / name


def _exchange(path: Path, fresh: Path) -> bool:
    """Put the new file in the old one's place, in one step, where the system can."""
    try:
        return exchange_files(path, fresh)
    except FileNotFoundError:  # it was removed in this very moment
        return False


def _is_exchanged(fresh: Path, move: Move) -> bool:
    """Whether the old file stands under the name of the new one: nobody else writes there."""
    if move.old is None or move.new is None or not os.path.lexists(fresh):
        return False
    return read_state(fresh) != move.new


def _look(path: Path, aside: Path, move: Move) -> str | None:
    """See that what was put aside is what was to be replaced; else it gets its name back."""
    if read_state(aside) == move.old:
        return None
    if read_state(path) == move.new and _exchange(path, aside) and read_state(aside) == move.new:
        aside.unlink()
        return CHANGED
    return f"{CHANGED}, twice; the other text is in {aside.name}"


def _take_name(path: Path, fresh: Path, move: Move) -> str | None:
    is_taken = move.new is None and os.path.lexists(path)
    if move.new is not None:
        try:
            os.link(fresh, path)  # link, not rename: never over a file that came meanwhile
        except FileExistsError:
            is_taken = read_state(path) != move.new
    fresh.unlink()
    return TAKEN if is_taken else None


def _put_back(aside: Path, path: Path) -> str:
    try:
        if stat.S_ISREG(os.lstat(aside).st_mode):
            os.link(aside, path)
            aside.unlink()
        elif not os.path.lexists(path):
            os.rename(aside, path)
    except FileExistsError:
        if os.path.samestat(os.lstat(aside), os.lstat(path)):
            aside.unlink()
    if os.path.lexists(aside):
        return f"{CHANGED}, twice; the other text is in {aside.name}"
    return CHANGED


def _write_new(path: Path, data: bytes, like: Path, executable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    handle = os.open(path, flags, 0o777 if executable else 0o666)
    with open(handle, "wb") as file:
        file.write(data)
        with suppress(FileNotFoundError):
            mode = os.lstat(like).st_mode
            if stat.S_ISREG(mode):
                os.fchmod(file.fileno(), mode & 0o777)
        file.flush()
        os.fsync(file.fileno())


# --- old texts that another program holds open, and may append to

_OPEN_NAME = rf"(?s){re.escape(OPEN_MARK)}([0-9a-f]{{16}})-[0-9a-f]{{6}}-.+"
_DIGITS = 16  # of a digest, in the name
_LONGEST = 200  # bytes of a name; file systems take 255


def find_late_texts(folder: Path) -> list[Path]:
    """Texts that were saved into a note while it was replaced: they found their name taken, or are
    kept texts that a program wrote into."""
    texts = _open_texts(folder, list_names(folder))
    grown = [path for path, old in texts if _short_digest(path) not in (None, old)]
    return sorted([*folder.glob(f"{MARK}*.old"), *grown])


def sweep_open_texts(folder: Path, names: Iterable[str]) -> list[str]:
    """Remove kept texts that no program has open; sentences on those that were written into.

    These stay for a person to look at, under another name, so that each is named once.
    """
    sentences = []
    for path, old in _open_texts(folder, names):
        if is_open_for_writing(path) or (now := _short_digest(path)) is None:
            continue
        if now == old:
            path.unlink()
            continue
        file = path.name.split("-", 4)[4]
        grown = path.with_name(f"{MARK}{path.name.removeprefix(OPEN_MARK)}.old")
        os.rename(path, grown)
        sentences.append(
            f"{file}: a program that had it open while it was changed wrote into its former text, "
            f"which is kept in {grown.name}; take what you need into the note."
        )
    return sentences


def _open_texts(folder: Path, names: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """The kept texts, each with the first digits of the digest that its note had."""
    for name in sorted(name for name in names if name.startswith(OPEN_MARK)):
        if match := re.fullmatch(_OPEN_NAME, name):
            yield folder / name, match[1]


def _short_digest(path: Path) -> str | None:
    # whatever it is by now, it is not what we left
    return (read_state(path) or "")[:_DIGITS] or None
