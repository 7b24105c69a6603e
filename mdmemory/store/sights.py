"""The folder of a store at a glance, and in a process that lives on, whether it still looks so.

A glance takes a `stat` of every note. Where Linux reports each change of a folder, as it does on a
disk of its own, the next glance takes one of what changed.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from stat import S_ISREG

from mdmemory.errors import NoStore
from mdmemory.files import as_given, as_text
from mdmemory.store.store import INDEX, LEDGER, OVERFLOW, is_note_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Collection, Iterator

MANY = 1_000  # files that changed, from which on all are looked at
RACY = 2_000_000_000  # ns; a file changed so recently may change again under the same time stamp
LONGEST = 600.0  # seconds that a glance holds without another: what goes unreported ends by then


class Sight:
    """What was seen: the states of the notes as `prints` and the `times` (ns) of their last change,
    both by file, sorted; `others` is the state of the generated files and the ledger. `clock` is
    the file system's own now (ns), or 0: until then nothing changed. Where nothing does, a process
    that lives on has the same sight again."""

    def __init__(self, folder: Path, clock: int, place: tuple[int, int], until: float) -> None:
        self.folder, self.clock = folder, clock
        self.prints, self.times, self.others = dict[str, str](), dict[str, int](), ""
        self._place, self._until = place, until  # `place`: device and number of the folder
        self._has_other_names = False  # of a file: what is written by those goes unreported

    def trusted_prints(self) -> dict[str, str]:
        """The states to be remembered: "" for a file that changed so recently that it may change
        again unseen."""
        young = (file for file, time in self.times.items() if time >= self.clock - RACY)
        return self.prints | dict.fromkeys(young, "")

    @cached_property
    def seal(self) -> str:
        """One word for all that was seen."""
        return self.seal_with(self.others)

    def is_valid(self) -> bool:
        """Whether it may still be the folder, but for what was told since."""
        with suppress(OSError):
            status = os.stat(self.folder)
            is_same = (status.st_dev, status.st_ino) == self._place
            return is_same and time.monotonic() < self._until
        return False

    def seal_with(self, others: str) -> str:
        """One word for the notes as they were seen, and the other files as `others` says. No file
        name holds a NUL."""
        whole = "\0".join([others, *self.prints, "", *self.prints.values()])
        return hashlib.sha256(whole.encode()).hexdigest()


class _Watch:
    """A folder that is watched: with what was told since, the last sight is the folder as it is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: Sight | None = None
        self._handle = _open_watch(folder)

    def sight(self, clock: int) -> Sight:
        """The folder as it is now."""
        names = self._changed_names()
        last, self._last = self._last, None
        if last is None or names is None or not last.is_valid():
            sight = _see_folder(self._folder, clock)
        elif names:
            sight = _see_folder(self._folder, clock, last, names)
        else:
            sight, last.clock = last, max(clock, last.clock)
        if sight._has_other_names and sight is not last:
            sight = _see_folder(self._folder, clock)  # they may be notes, which nobody told of
        is_told = self._handle is not None and not sight._has_other_names
        self._last = sight if is_told else None
        return sight

    def _changed_names(self) -> set[str] | None:
        """The notes and the generated files that changed since; None where only a look tells."""
        if self._handle is None:
            return None
        names: set[str] = set()
        is_known, is_over = True, False
        try:
            while data := os.read(self._handle, _ROOM):
                for mask, name in _read_events(data):
                    is_over |= bool(mask & _OVER)
                    is_known &= bool(name) and not mask & (_OVER | _OVERFLOW)
                    names.add(name)
        except BlockingIOError:
            pass
        except OSError:
            is_known, is_over = False, True
        if is_over:  # the folder is gone or elsewhere, and nothing more will be told
            self.end()
            self._handle = _open_watch(self._folder)
        if not is_known or len(names) > MANY:
            return None
        return {name for name in map(as_text, names) if is_note_name(name) or name in _OTHERS}

    def end(self) -> None:
        """Watch no more."""
        if self._handle is not None:
            os.close(self._handle)


_OTHERS = (INDEX, OVERFLOW, LEDGER)
_watches: dict[Path, _Watch] = {}
_watching = threading.Lock()
_is_on = False


@contextmanager
def watch_folders() -> Iterator[None]:
    """Hold what is seen of a folder until it changes. For a process that lives on: the first glance
    at a folder costs a little more."""
    global _is_on
    _is_on = True
    try:
        yield
    finally:
        _is_on = False
        with _watching:
            while _watches:
                _watches.popitem()[1].end()


def take_sight(folder: Path, cache: Path | None) -> Sight:
    """The folder as it is now. `cache` is a file beside which the clock is read, or None. Raises
    NoStore where it cannot be listed."""
    # In this order: what changes after the clock was read is too young to be trusted, and what
    # changes after the look has another print the next time.
    clock = 0
    with suppress(OSError):
        if cache:  # the file system's own idea of now (ns): its clock, not ours, stamps the notes
            os.utime(cache.parent, follow_symlinks=False)
            clock = os.lstat(cache.parent).st_mtime_ns
    if not _is_on:
        return _see_folder(folder, clock)
    with _watching:
        if folder not in _watches:
            _watches[folder] = _Watch(folder)
        return _watches[folder].sight(clock)


def _see_folder(
    folder: Path, clock: int, before: Sight | None = None, names: Collection[str] = ()
) -> Sight:
    """The notes in the folder, and the state of the other files that the index depends on; after
    another sight, only those of these `names` are looked at."""
    try:
        # relative to it the kernel need not walk the path for each file
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        message = f"The store {folder} cannot be listed: {problem.strerror}."
        raise NoStore(message, "Check the folder, or make one: `mdmemory init`.") from problem
    try:
        status = os.fstat(handle)
        until = before._until if before else time.monotonic() + LONGEST
        sight = Sight(folder, clock, (status.st_dev, status.st_ino), until)
        if before is None:
            names = [*map(as_text, os.listdir(handle))]  # the index is the same under every locale
        notes = [name for name in names if is_note_name(name)]
        # a note's name is UTF-8
        for file in sorted(n for n in notes if n.encode(errors="ignore").decode() == n):
            with suppress(FileNotFoundError):  # removed since the listing
                now = os.stat(as_given(file), dir_fd=handle, follow_symlinks=False)
                if S_ISREG(now.st_mode):
                    sight.prints[file], sight.times[file] = _stat_print(now), now.st_ctime_ns
                    sight._has_other_names |= now.st_nlink > 1
    finally:
        os.close(handle)
    if before is not None:  # what was seen then of the notes that have none of these names
        known = {*before.prints}.difference(names)
        sight.prints |= {file: before.prints[file] for file in known}
        sight.prints = dict(sorted(sight.prints.items()))
        sight.times |= {file: before.times[file] for file in known}
    sight.others = other_states(folder)[0]
    return sight


def _stat_print(status: os.stat_result) -> str:
    # The change time too: unlike mtime and size it cannot be set, so nobody can forge a print.
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def other_states(folder: Path) -> tuple[str, int]:
    """The state of the index and the ledger, and when the newest of them changed (ns)."""
    prints, newest = [], 0
    for name in _OTHERS:
        prints.append("-")
        with suppress(OSError):
            status = os.lstat(folder / name)
            prints[-1], newest = _stat_print(status), max(newest, status.st_ctime_ns)
    return "\n".join(prints), newest


# --- what changed in a folder, as Linux tells it: an event is in the queue before the call that
# changes a file returns, so a folder that is quiet has not changed. That holds on a disk of this
# machine; what others do to a shared one goes unreported.

# of <sys/inotify.h>: whatever changes a name, the bytes or the state of a file in the folder, and
# the folder's own end
_CHANGES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_ONLY_FOLDERS = 0x01000000
_OVERFLOW, _IGNORED, _UNMOUNTED = 0x4000, 0x8000, 0x2000
_OVER = 0x400 | 0x800 | _IGNORED | _UNMOUNTED  # removed, moved
_HEAD = struct.Struct("iIII")
_ROOM = 1 << 16  # bytes of events that are read at once
# file systems whose changes all come by this machine's own kernel: ext2 to ext4, xfs, btrfs, tmpfs,
# f2fs, zfs, bcachefs, overlay, jfs, reiserfs
_OWN = frozenset((
    0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010,
    0x2FC12FC1, 0xCA451A4E, 0x794C7630, 0x3153464A, 0x52654973,
))  # fmt: skip


def _open_watch(folder: Path) -> int | None:
    """The handle by which Linux tells of one folder, without those inside; None where it cannot."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux" or _file_system(library, folder) not in _OWN:
        return None
    handle: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if handle < 0:
        return None
    flags = _CHANGES | _ONLY_FOLDERS
    if library.inotify_add_watch(handle, os.fsencode(folder), flags) < 0:
        os.close(handle)
        return None
    return handle


def _read_events(data: bytes) -> Iterator[tuple[int, str]]:
    """What each event says, and the name of the file that it is about, "" for the folder."""
    at = 0
    while at + _HEAD.size <= len(data):
        _, mask, _, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size + size
        yield mask, os.fsdecode(data[at - size : at].rstrip(b"\0"))


def _file_system(library: ctypes.CDLL, folder: Path) -> int:
    """The kind of the file system that a folder lies on, as Linux numbers it."""
    import ctypes

    filesystem = ctypes.create_string_buffer(_ROOM)  # a `struct statfs`, which begins with the kind
    library.statfs(os.fsencode(folder), filesystem)
    return ctypes.c_long.from_buffer(filesystem).value & 0xFFFFFFFF
