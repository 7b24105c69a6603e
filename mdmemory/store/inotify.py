"""What changed in a folder since it was last asked, as Linux tells it.

An event is in the queue before the call that changes a file returns, so a folder that is quiet has
not changed. That holds on a disk of this machine; what others do to a shared one goes unreported.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# of <sys/inotify.h>: whatever changes a name, the bytes or the state of a file in the folder, and
# the folder's own end
_CHANGES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_ONLY_FOLDERS = 0x01000000
_OVERFLOW, _IGNORED, _UNMOUNTED = 0x4000, 0x8000, 0x2000
_OVER = 0x400 | 0x800 | _IGNORED | _UNMOUNTED  # removed, moved
_HEAD = struct.Struct("iIII")
_ROOM = 1 << 16  # bytes of events that are read at once
_MOUNTS = "/proc/self/mountinfo"
# whose changes all come by this machine's own kernel
_OWN = frozenset("ext2 ext3 ext4 xfs btrfs tmpfs f2fs zfs bcachefs overlay jfs reiserfs".split())


class Watched:
    """The watching of one folder, without those inside. Raises OSError where that cannot be."""

    is_over = False  # the folder is gone or elsewhere, and nothing more will be told

    def __init__(self, folder: Path) -> None:
        if sys.platform != "linux" or _file_system(folder) not in _OWN:
            raise OSError(errno.ENOTSUP, "no watching here", str(folder))
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        self._handle: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            raise OSError(ctypes.get_errno(), "no inotify", str(folder))
        flags = _CHANGES | _ONLY_FOLDERS
        if library.inotify_add_watch(self._handle, os.fsencode(folder), flags) < 0:
            problem = ctypes.get_errno()
            self.end()
            raise OSError(problem, "not watched", str(folder))

    def changes(self) -> set[str] | None:
        """The names in the folder of all that changed since the last time; None where only a look
        at all of it tells."""
        names: set[str] = set()
        is_known = True
        while True:
            try:
                data = os.read(self._handle, _ROOM)
            except BlockingIOError:
                return names if is_known else None
            except OSError:
                self.is_over = True
                return None
            for mask, name in _events(data):
                self.is_over |= bool(mask & _OVER)
                is_known &= bool(name) and not mask & (_OVER | _OVERFLOW)
                names.add(name)

    def end(self) -> None:
        """Watch no more."""
        os.close(self._handle)


def _events(data: bytes) -> Iterator[tuple[int, str]]:
    """What each event says, and the name of the file that it is about, "" for the folder."""
    at = 0
    while at + _HEAD.size <= len(data):
        _, mask, _, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size + size
        yield mask, os.fsdecode(data[at - size : at].rstrip(b"\0"))


def _file_system(folder: Path) -> str:
    """The kind of the file system that a folder lies on; "" where that is not to be had."""
    device = os.stat(folder).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open(_MOUNTS, encoding="utf-8", errors="replace") as file:
            rows = [line.split() for line in file]
    except OSError:
        return ""
    for row in rows:
        if row[2:3] == [number] and "-" in row:
            return row[row.index("-") + 1]
    # of btrfs and overlays a file's device is another than that of the mount
    real = os.path.realpath(folder)
    mounts = [(row[4].replace("\\040", " ").rstrip("/"), row) for row in rows if "-" in row]
    above = [row for mount, row in mounts if f"{real}/".startswith(f"{mount}/")]
    nearest = max(above, key=lambda row: len(row[4]), default=None)
    return nearest[nearest.index("-") + 1] if nearest else ""
