"""Files on disk, read without following links and written so that no half file is ever seen.

Ground floor: bytes and paths only, nothing about notes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import mdmemory.debugging as debugging
from mdmemory.errors import MdmemoryError, NotFound, Unwritable

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
# what link() says on FAT, on some network disks, and where it does not exist
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
MAX_FILE = 4 * 1024 * 1024  # bytes; larger is not a note but an accident


IS_UTF8 = sys.getfilesystemencoding() == "utf-8"  # whether Python takes file names for that here


def to_text(data: bytes) -> str:
    """UTF-8 as text; bytes that are none survive the way there and back."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The bytes of which `to_text` made `text`."""
    return text.encode("utf-8", "surrogateescape")


def as_text(name: str) -> str:
    """A file's name as Python gave it, as UTF-8 text whatever the locale is.

    Bytes that are no UTF-8 are halves of surrogate pairs in it.
    """
    return name if IS_UTF8 else to_text(os.fsencode(name))


def as_given(text: str) -> str:
    """The name under which Python finds a file of which `as_text` gave `text`."""
    return text if IS_UTF8 else os.fsdecode(to_bytes(text))


def require_utf8(names: Iterable[str]) -> None:
    """Raise MdmemoryError for a name that Python would give to the system in other bytes."""
    odd = next((name for name in names if not name.isascii()), None) if not IS_UTF8 else None
    if odd is not None:
        raise MdmemoryError(
            f"Python takes file names for {sys.getfilesystemencoding()} here, so {odd!r} is not "
            "looked at; nothing was changed.",
            "Start it with PYTHONUTF8=1 in the environment.",
            code="not_utf8",
        )


def digest(data: bytes | str) -> str:
    """The sha256 of a file's bytes, as 64 hex digits: how we know that a file is what we saw.
    Of a text a lone half of a surrogate pair counts as "?"."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()


def read_regular(path: Path | str, limit: int = MAX_FILE) -> bytes:
    """The bytes of a regular file. Never follows a link at the last step, never blocks on a FIFO.

    Whoever reads thousands gives text, which is made in a fraction of the time of a Path. Raises
    NotFound when nothing is there, MdmemoryError for links, folders, devices, and files over
    `limit` bytes.
    """
    data = read_if_there(path, limit)
    if data is None:
        raise NotFound(f"{Path(path).name} is not there.", "`mdmemory list` shows what is.")
    return data


def read_if_there(path: Path | str, limit: int = MAX_FILE) -> bytes | None:
    """The bytes of a regular file, None when nothing is there. Otherwise as `read_regular`."""
    opened = _open_regular(path)
    if opened is None:
        return None
    handle, size = opened
    try:
        if size > limit:
            raise MdmemoryError(
                f"{Path(path).name} has {size} bytes; more than {limit} are not read.",
                "Move it out of the store or shorten it.",
            )
        return _read_all(handle, size)
    finally:
        os.close(handle)


def read_start(path: Path | str, size: int) -> bytes:
    """The first `size` bytes of a regular file of any length, none when nothing is there.

    Raises MdmemoryError for links, folders and devices.
    """
    opened = _open_regular(path)
    if opened is None:
        return b""
    try:
        return os.read(opened[0], size)
    finally:
        os.close(opened[0])


def lines_of(path: Path | str, limit: int, longest: int) -> Iterator[bytes]:
    """The lines of a regular file of at most `limit` bytes, one at a time, with their ends.

    Of a line of more than `longest` bytes nothing comes. Raises as `read_regular` does.
    """
    opened = _open_regular(path)
    if opened is None:
        raise NotFound(f"{Path(path).name} is not there.", "It was removed meanwhile.")
    with open(opened[0], "rb") as file:
        if opened[1] > limit:
            raise MdmemoryError(
                f"{Path(path).name} has {opened[1]} bytes; more than {limit} are not read.",
                "Split it, or leave it.",
            )
        goes_on = False
        while piece := file.readline(longest + 1):
            is_too_long = len(piece) > longest
            if not goes_on and not is_too_long:
                yield piece
            goes_on = not piece.endswith(b"\n")


def holds_bytes(path: Path | str, data: bytes) -> bool:
    """Whether there is a regular file of exactly these bytes. Raises as `read_start` does."""
    opened = _open_regular(path)
    if opened is None:
        return False
    handle, size = opened
    try:
        return size == len(data) and _read_all(handle, size) == data
    finally:
        os.close(handle)


def _open_regular(path: Path | str) -> tuple[int, int] | None:
    """A handle on a regular file, and its size in bytes; None when nothing is there."""
    # O_NONBLOCK: opening a FIFO named x.md would otherwise wait for a writer for ever.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as problem:
        name, sentence = Path(path).name, f"cannot be read: {problem.strerror}."
        hint = "Check its permissions."
        if problem.errno == errno.ELOOP:
            sentence = "is a symbolic link, and links are not followed."
            hint = "Replace it by the file itself."
        raise MdmemoryError(f"{name} {sentence}", hint) from problem
    except UnicodeEncodeError:
        require_utf8([str(path)])
        raise
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode):
        return handle, status.st_size
    os.close(handle)
    raise MdmemoryError(f"{Path(path).name} is not a regular file.", "Move it out of the store.")


def _read_all(handle: int, size: int) -> bytes:
    # one byte more than there should be, so that the usual file takes a single call; no file
    # object, which costs twice as much as the reading
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def write_atomic(path: Path, data: bytes, *, replace: bool = True, mode: int = 0o644) -> None:
    """Write the whole file or nothing: temporary name, fsync, then rename.

    With `replace=False` the name must be free: FileExistsError otherwise. A link at `path` is
    replaced, never written through. Raises Unwritable when the file system refuses.
    """
    with name_refusals(path):
        fresh = write_beside(path, data, mode)
        try:
            if replace:
                os.replace(fresh, path)
            else:
                # link, not rename: fails when the name was taken meanwhile
                os.link(fresh, path)
        except FileNotFoundError:  # whoever has the store took it for a killed process's
            write_atomic(path, data, replace=replace, mode=mode)
        finally:
            fresh.unlink(missing_ok=True)
        sync_folder(path.parent)
    if debugging.logger:
        debugging.log_line("%s: %d bytes written", path, len(data))


def write_beside(path: Path, data: bytes, mode: int = 0o644) -> Path:
    """Write `data`, synced, under a fresh hidden name beside `path`; that name."""
    # not the secrets module: it costs every command 3 ms to import
    fresh = path.with_name(f".mdmemory-{os.urandom(6).hex()}.tmp")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    return fresh


def link_file(path: Path, other: Path) -> None:
    """Give a file another name. Raises FileExistsError where that is taken, and Unwritable, in
    words, where the file system has no hard links."""
    try:
        os.link(path, other)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        raise Unwritable(
            f"The file system of {other.parent} has no hard links, and only by these a note is "
            "never written over another.",
            "Keep the project on a disk that has them, such as ext4, XFS, Btrfs or APFS.",
        ) from problem


def exchange_files(one: Path, other: Path) -> bool:
    """Let two files take each other's names, in one step. False, with nothing done, where the
    system cannot: only Linux can, on most of its file systems. Raises OSError as a rename does."""
    import ctypes  # only where a note is replaced

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def is_open_for_writing(path: Path) -> bool:
    """Whether another program has the file open to write into it. False where that cannot be
    known, as on macOS and for another user's file: only Linux tells, by refusing a lease."""
    import fcntl  # only where a note was replaced

    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    if _grants_lease(path):
        return False
    # some network disks refuse every lease: a file that nobody can have open tells
    probe = write_beside(path, b"")
    try:
        return os.path.lexists(path) and _grants_lease(probe)
    finally:
        probe.unlink(missing_ok=True)


def _grants_lease(path: Path) -> bool:
    """Whether nobody writes, or it cannot be known; the lease is given back at once."""
    import fcntl
    import signal

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        # whoever opens it in this very moment makes the kernel send a signal: one that is ignored
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        os.close(handle)
    return True


def list_names(folder: Path) -> list[str]:
    """The names in a folder; none where it cannot be listed."""
    with suppress(OSError):
        return os.listdir(folder)
    return []


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable; quietly nothing where a file system cannot."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


@contextmanager
def name_refusals(path: Path) -> Iterator[None]:
    """Turns what the file system refuses into one sentence that names the path."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as problem:
        # the step that fits the cause
        hints = {
            errno.ENOSPC: "Free some space and run the command again; nothing was changed.",
            errno.EROFS: "The file system is read-only; nothing was changed.",
            errno.EACCES: "Check the permissions of that folder; nothing was changed.",
            errno.EPERM: "Check the permissions of that folder; nothing was changed.",
        }
        hint = hints.get(problem.errno or 0, "Nothing was changed.")
        sentence = f"{path} cannot be written: {problem.strerror or problem}."
        raise Unwritable(sentence, hint) from problem


def is_inside(path: Path, folder: Path) -> bool:
    """Whether `path`, with every link resolved, lies in `folder` or is it."""
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
