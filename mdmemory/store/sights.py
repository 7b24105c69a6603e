"""The folder of a store at a glance, and in a process that lives on, whether it still looks so.

A glance takes a `stat` of every note. Where Linux reports each change of a folder, as it does on a
disk of its own, a glance at which all was known and settled holds until the next change.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from stat import S_ISREG

from mdmemory.errors import NoStore
from mdmemory.files import as_given, as_text
from mdmemory.git.private_folder import opened
from mdmemory.records import dataclass, field
from mdmemory.store.store import INDEX, LEDGER, OVERFLOW, is_note_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmemory.store.inotify import Watched

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
    _place: tuple[int, int] = (0, 0)  # device and number of the folder
    _until: float = 0.0
    _turn: int = -1  # of the watching, as it stood before the glance; -1: nobody watches

    @cached_property
    def seal(self) -> str:
        """One word for all that was seen."""
        return seal(self, self.others)


_watched: dict[Path, Watched | None] = {}  # None: this folder cannot be watched
_kept: dict[Path, Sight] = {}
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
            for known in (_watched, _kept, _turns):
                known.clear()


def take(folder: Path, cache: Path | None) -> Sight:
    """The folder as it is now. `cache` is a file beside which the clock is read, or None. Raises
    NoStore where it cannot be listed."""
    turn = -1
    if _is_on:
        with _changing:
            if (sight := _still(folder)) is not None:
                return sight
            turn = _turns.get(folder, 0) if _watched.get(folder) else -1
    # In this order: what changes after the clock was read is too young to be trusted, and what
    # changes after the look has another print the next time.
    sight = Sight(folder, _clock(cache) if cache else 0, _turn=turn)
    _look(sight)
    return sight


def keep(sight: Sight) -> None:
    """Hold what was seen, of which all is known and settled, until something changes."""
    if sight._turn < 0:
        return
    with _changing:
        if sight._turn == _turns.get(sight.folder, 0):
            _kept[sight.folder] = sight


def drop(sight: Sight) -> bool:
    """Hold it no longer; whether it was held."""
    with _changing:
        return _kept.pop(sight.folder, None) is sight


def _still(folder: Path) -> Sight | None:
    """What was seen of the folder, if it cannot have changed since; else the watching begins."""
    sight = _kept.get(folder)
    watched = _watched.get(folder)
    if folder not in _watched:
        _watched[folder] = watched = _begun(folder)
    elif watched is not None and not watched.is_quiet():
        _kept.pop(folder, None)
        _turns[folder] = _turns.get(folder, 0) + 1
        if watched.is_over:
            watched.end()
            _watched[folder] = _begun(folder)
        return None
    if sight is None or watched is None or time.monotonic() >= sight._until:
        return None
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return sight if (status.st_dev, status.st_ino) == sight._place else None


def _begun(folder: Path) -> Watched | None:
    from mdmemory.store.inotify import Watched  # a command has no use for it

    try:
        return Watched(folder)
    except OSError:
        return None


def _look(sight: Sight) -> None:
    """The notes in the folder, and the state of the other files that the index depends on."""
    try:
        # relative to an open folder: the kernel then need not walk the path for each file
        handle = os.open(sight.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        message = f"The store {sight.folder} cannot be listed: {problem.strerror}."
        raise NoStore(message, "Check the folder, or make one: `mdmemory init`.") from problem
    try:
        status = os.fstat(handle)
        sight._place, sight._until = (status.st_dev, status.st_ino), time.monotonic() + LONGEST
        names = map(as_text, os.listdir(handle))  # the index is the same under every locale
        for file in sorted(_utf8([name for name in names if is_note_name(name)])):
            try:
                status = os.stat(as_given(file), dir_fd=handle, follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed since the listing
            if S_ISREG(status.st_mode):
                sight.files.append(file)
                sight.prints.append(_print(status))
                sight.times.append(status.st_ctime_ns)
                if status.st_nlink > 1:  # what is written by its other name goes unreported
                    sight._turn = -1
    finally:
        os.close(handle)
    sight.others = others(sight.folder)[0]


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
    everything = "\0".join([others, *sight.files, "", *sight.prints])
    return hashlib.sha256(everything.encode()).hexdigest()


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
