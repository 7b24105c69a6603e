"""The folder of a store at a glance, and in a process that lives on, whether it still looks so.

A glance takes a `stat` of every note. Where Linux reports each change of a folder, as it does on a
disk of its own, the next glance takes one of what changed, and one at which all was known and
settled holds until then.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from bisect import bisect_left
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from stat import S_ISREG

from mdmemory.errors import NoStore
from mdmemory.files import as_given, as_text
from mdmemory.git.private_folder import opened
from mdmemory.store.store import INDEX, LEDGER, OVERFLOW, is_note_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmemory.store.inotify import Watched

MANY = 1_000  # files that changed, from which on all are looked at
LONGEST = 600.0  # seconds that a glance holds without another: what goes unreported ends by then


@dataclass
class Sight:
    """What was seen: the `files` of the notes, sorted, their states as `prints`, and the `times`
    (ns) of their last change; `others` is the state of the generated files and the ledger. `clock`
    is the file system's own now (ns) just before, or 0."""

    folder: Path
    clock: int
    files: list[str] = field(default_factory=list)
    prints: list[str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    others: str = ""
    held: frozenset[str] | None = None  # the notes on hold, where whoever knew all was asked
    _place: tuple[int, int] = (0, 0)  # device and number of the folder
    _until: float = 0.0
    _turn: int = -1  # of the watching, as it stood before the glance; -1: nobody watches
    _is_kept: bool = False

    @cached_property
    def seal(self) -> str:
        """One word for all that was seen."""
        return seal(self, self.others)


_watched: dict[Path, Watched | None] = {}  # None: this folder cannot be watched
_last: dict[Path, Sight] = {}  # with what was told since, it is the folder as it is
_turns: dict[Path, int] = {}  # how often something changed
_changing = threading.Lock()
_is_on = False


@contextmanager
def watching() -> Iterator[None]:
    """Hold what is seen of a folder until it changes. For a process that lives on: the first glance
    at a folder costs a little more."""
    global _is_on
    _is_on = True
    try:
        yield
    finally:
        _is_on = False
        with _changing:
            for watched in filter(None, _watched.values()):
                watched.end()
            for known in (_watched, _last, _turns):
                known.clear()


def take(folder: Path, cache: Path | None) -> Sight:
    """The folder as it is now. `cache` is a file beside which the clock is read, or None. Raises
    NoStore where it cannot be listed."""
    turn = -1
    if _is_on:
        with _changing:
            names, sight = _changed(folder), _last.pop(folder, None)
            if sight is not None and names is not None and _holds(sight):
                if names or not sight._is_kept:
                    sight = _after(sight, names, _clock(cache) if cache else 0)
                if sight is not None:
                    _remember(sight)
                    return sight
            turn = _turns.get(folder, 0) if _watched.get(folder) else -1
    # In this order: what changes after the clock was read is too young to be trusted, and what
    # changes after the look has another print the next time.
    sight = Sight(folder, _clock(cache) if cache else 0, _turn=turn)
    _look(sight)
    if turn >= 0:
        with _changing:
            _remember(sight)
    return sight


def keep(sight: Sight) -> None:
    """Hold what was seen, of which all is known and settled, until something changes."""
    with _changing:
        sight._is_kept = _last.get(sight.folder) is sight


def drop(sight: Sight) -> bool:
    """Hold it no longer; whether it was held."""
    with _changing:
        was_kept, sight._is_kept = sight._is_kept, False
        return was_kept and _last.get(sight.folder) is sight


def _remember(sight: Sight) -> None:
    # what another thread was told of meanwhile may not be in it
    if sight._turn >= 0 and sight._turn == _turns.get(sight.folder, 0):
        _last[sight.folder] = sight


def _changed(folder: Path) -> set[str] | None:
    """The names of what changed in the folder since this was last asked; None where nobody knows,
    and the watching begins."""
    watched = _watched.get(folder)
    if folder not in _watched:
        _watched[folder] = _begun(folder)
    if watched is None:
        return None
    names = watched.changes()
    if names is None or names:
        _turns[folder] = _turns.get(folder, 0) + 1
    if watched.is_over:
        watched.end()
        _watched[folder] = _begun(folder)
    return names if names is None or len(names) <= MANY else None


def _holds(sight: Sight) -> bool:
    """Whether it may still be the folder, but for what was told since."""
    try:
        status = os.stat(sight.folder)
    except OSError:
        return False
    is_same = (status.st_dev, status.st_ino) == sight._place
    return is_same and time.monotonic() < sight._until


def _begun(folder: Path) -> Watched | None:
    from mdmemory.store.inotify import Watched  # a command has no use for it

    try:
        return Watched(folder)
    except OSError:
        return None


def _look(sight: Sight) -> None:
    """The notes in the folder, and the state of the other files that the index depends on."""
    handle = _opened(sight.folder)
    try:
        status = os.fstat(handle)
        sight._place, sight._until = (status.st_dev, status.st_ino), time.monotonic() + LONGEST
        names = map(as_text, os.listdir(handle))  # the index is the same under every locale
        for file in sorted(_utf8([name for name in names if is_note_name(name)])):
            if (found := _stat(handle, file)) is not None:
                sight.files.append(file)
                sight.prints.append(_print(found))
                sight.times.append(found.st_ctime_ns)
                if found.st_nlink > 1:  # what is written by its other name goes unreported
                    sight._turn = -1
    finally:
        os.close(handle)
    sight.others = others(sight.folder)[0]


def _after(sight: Sight, names: set[str], clock: int) -> Sight | None:
    """The folder as it is now, where only these names are others than they were; None where one is
    another name of a file, which may be a note of the folder, too."""
    fresh = Sight(
        sight.folder, clock, sight.files, sight.prints, sight.times, sight.others,
        _place=sight._place, _until=sight._until, _turn=_turns.get(sight.folder, 0),
    )  # fmt: skip
    if not names:
        return fresh
    fresh.files, fresh.prints, fresh.times = [*sight.files], [*sight.prints], [*sight.times]
    handle = _opened(sight.folder)
    try:
        for file in _utf8([name for name in map(as_text, names) if is_note_name(name)]):
            at, found = bisect_left(fresh.files, file), _stat(handle, file)
            there = slice(at, at + (fresh.files[at : at + 1] == [file]))
            fresh.files[there] = [file] if found else []
            fresh.prints[there] = [_print(found)] if found else []
            fresh.times[there] = [found.st_ctime_ns] if found else []
            if found is not None and found.st_nlink > 1:
                return None
    finally:
        os.close(handle)
    fresh.others = others(sight.folder)[0]
    return fresh


def _opened(folder: Path) -> int:
    """The folder, open: relative to it the kernel need not walk the path for each file. Raises
    NoStore."""
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        message = f"The store {folder} cannot be listed: {problem.strerror}."
        raise NoStore(message, "Check the folder, or make one: `mdmemory init`.") from problem


def _stat(handle: int, file: str) -> os.stat_result | None:
    """The state of a note in an open folder; None where there is none of this name."""
    try:
        status = os.stat(as_given(file), dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None  # removed since the listing
    return status if S_ISREG(status.st_mode) else None


def _print(status: os.stat_result) -> str:
    # The change time too: unlike mtime and size it cannot be set, so nobody can forge a print.
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def _utf8(names: list[str]) -> list[str]:
    """Without the names that are no UTF-8: no note can be called by them."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        return [n for n in names if not any("\ud800" <= sign <= "\udfff" for sign in n)]
    return names


def others(folder: Path) -> tuple[str, int]:
    """The state of the index and the ledger, and when the newest of them changed (ns)."""
    prints, newest = [], 0
    for name in (INDEX, OVERFLOW, LEDGER):
        try:
            status = os.lstat(folder / name)
        except OSError:
            prints.append("-")
            continue
        prints.append(_print(status))
        newest = max(newest, status.st_ctime_ns)
    return "\n".join(prints), newest


def seal(sight: Sight, others: str) -> str:
    """One word for the notes as they were seen, and the other files as `others` says. No file
    name holds a NUL."""
    return hashlib.sha256("\0".join([others, *sight.files, "", *sight.prints]).encode()).hexdigest()


def _clock(cache: Path) -> int:
    """The file system's own idea of now (ns), or 0: its clock, not ours, stamps the notes."""
    try:
        handle = opened(cache, os.O_WRONLY | os.O_CREAT)
    except OSError:
        return 0
    try:
        os.utime(handle)
        return os.fstat(handle).st_mtime_ns
    except OSError:
        return 0
    finally:
        os.close(handle)
