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
    import ctypes
    from collections.abc import Iterator

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


class Watched:
    """The watching of one folder, without those inside. Raises OSError where that cannot be."""

    is_over = False  # the folder is gone or elsewhere, and nothing more will be told

    def __init__(self, folder: Path) -> None:
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform != "linux" or _file_system(library, folder) not in _OWN:
            raise OSError(errno.ENOTSUP, "no watching here", str(folder))
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


def _file_system(library: ctypes.CDLL, folder: Path) -> int:
    """The kind of the file system that a folder lies on, as Linux numbers it."""
    import ctypes

    said = ctypes.create_string_buffer(_ROOM)  # a `struct statfs`, which begins with the kind
    library.statfs(os.fsencode(folder), said)
    return ctypes.c_long.from_buffer(said).value & 0xFFFFFFFF
