"""Hears from the system which stores changed, so that no page has to look at each of their files.

Where the system cannot say (some network disks, too many watches), pages look for themselves.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles import Change

_STEP, _DEBOUNCE = 10, 60  # ms that changes are gathered for
_WAKE = 1_000  # ms between two looks at whether it is over


class FolderWatch:
    """Counts the changes of files in one folder, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._over = threading.Event()
        self._is_working = False
        threading.Thread(target=self._run, name="mdmemory-watch", daemon=True).start()

    def mark(self) -> int | None:
        """What stands for the files as they are; None where they have to be looked at.

        What is renamed into the folder, as every write of ours is, shows at once in the time of
        the folder itself; what an editor writes in place a few hundredths of a second later.
        """
        if not self._is_working:
            return None
        try:
            status = os.stat(self._folder)
        except OSError:
            return None
        return hash((self._count, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))

    def stop(self) -> None:
        """End the thread."""
        self._over.set()

    def _run(self) -> None:
        import watchfiles  # 30 ms, and only a run that goes on watches

        def is_file_of_ours(_: Change, path: str) -> bool:
            return path.endswith(".md") and os.path.dirname(path) == str(self._folder)

        with suppress(Exception):  # whatever it is, pages then look for themselves
            for some in watchfiles.watch(
                self._folder, watch_filter=is_file_of_ours, debounce=_DEBOUNCE, step=_STEP,
                stop_event=self._over, recursive=False, raise_interrupt=False,
                yield_on_timeout=True, rust_timeout=_WAKE,
            ):  # fmt: skip
                # from the first time on the watch is known to stand; what came before is looked at
                self._count += bool(some) or not self._is_working
                self._is_working = True
        self._is_working = False
