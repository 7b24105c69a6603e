"""Moments of a process: what happens to it at its n-th change of state.

The work runs in a forked child. Just before that change (a file opened for writing, a link, a
rename, a removal, a sync, a git command) the child leaves by `os._exit`: no handler and no
`finally` runs, as after `kill -9`. Or the disk is full from there on, or an editor saves.
"""

import errno
import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.git import replacement

DONE, FAILED, TOLD, DIED = 0, 1, 3, 9  # how a child ends; TOLD: with a sentence for a person
TAKING_SPACE = {"os.link", "os.rename", "os.mkdir", "open", "fsync"}
CHANGING = TAKING_SPACE | {
    "os.remove", "os.rmdir", "os.truncate", "os.utime", "subprocess.Popen", "exchange",
}  # fmt: skip


def die(event: str, step: int, at: int) -> None:
    """What happens in the child at its call number `step`, if `at` is the one."""
    if step == at:
        os._exit(DIED)


def full(event: str, step: int, at: int) -> None:
    """From `at` on nothing can be created; what is there can still be removed."""
    if step >= at and event in TAKING_SPACE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_once(event: str, step: int, at: int) -> None:
    """Only one call fails, and what cleans up after it works again."""
    if step == at:
        full(event, step, at)


def child(act: Callable[[], object], trouble: Callable[[str, int], None]) -> tuple[int, int]:
    """Do `act` in a child with `trouble` before each change of state: how it ended, and after
    how many."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        code = FAILED
        try:
            steps = _watch(trouble)
            act()
            code = DONE
        except MdmemoryError:
            code = TOLD
        except Exception:  # noqa: BLE001
            traceback.print_exc()  # pytest shows it
        finally:
            os.write(write, str(len(steps)).encode())
            os._exit(code)
    os.close(write)
    with open(read, "rb") as pipe:
        count = int(pipe.read() or b"0")
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), count


def _watch(trouble: Callable[[str, int], None]) -> list[str]:
    """Call `trouble` before every change of state of this process, which never ends again."""
    steps: list[str] = []
    busy = False

    def before(event: str, words: tuple[object, ...]) -> None:
        nonlocal busy
        if busy or event not in CHANGING or (event == "open" and not _writes(words)):
            return
        steps.append(event)
        busy = True  # what an editor does is no step of ours
        try:
            trouble(event, len(steps))
        finally:
            busy = False

    sync = os.fsync

    def fsync(handle: int) -> None:
        before("fsync", ())
        sync(handle)

    os.fsync = fsync
    swap = replacement.exchange_files

    def exchange(one: Path, other: Path) -> bool:
        before("exchange", ())
        return swap(one, other)

    replacement.exchange_files = exchange  # type: ignore[attr-defined]
    sys.addaudithook(before)
    return steps


def _writes(words: tuple[object, ...]) -> bool:
    path, _, flags = words
    wanted = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    return bool(wanted) and not isinstance(path, int)  # a number is a pipe to a child


def blob(data: bytes) -> str:
    """The name that git has for the bytes of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def ids(rows: str) -> dict[str, str]:
    """Object ids by path, from `git ls-tree` or `git ls-files -s`."""
    pairs = (row.split("\t") for row in rows.splitlines())
    return {path: max(about.split(), key=len) for about, path in pairs}


def everything(root: Path) -> dict[str, bytes]:
    """Every file, git's own included, but for locks and what belongs to this machine."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
        and not path.name.startswith("mdmemory.lock")
        and ".mdmemory" not in path.parts
    }


def spread(first: int, last: int, count: int) -> Iterator[int]:
    """About `count` numbers from first to last, evenly."""
    yield from sorted({first + round(n * (last - first) / (count - 1)) for n in range(count)})
