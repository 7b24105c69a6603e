"""The files of a project as they are now, or as they were in a commit. Only reads, and no link is
followed.

Now: the work tree's file; where a sparse checkout leaves it out, what git's index has for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from mdmemory.citing.lines import MOST_BYTES
from mdmemory.errors import MdmemoryError
from mdmemory.files import as_given, read_regular
from mdmemory.git.objects import Object, Objects
from mdmemory.git.repositories import Repository
from mdmemory.records import dataclass

_BATCH = 500  # paths on one command line
_LEFT_OUT, _SUBMODULE = "S", "160000"  # as `git ls-files` says it
_ABOUT = 6  # lines that `git ls-files --debug` prints for a file
_FOLDERS = ("040000", _SUBMODULE, "120000")  # modes of what may be called a folder
Prints = Mapping[str, tuple[str, str, str]]  # by path: the file's state, and its two ids then


@dataclass(frozen=True, slots=True)
class Version:
    """A file at one moment: `id` as git calls its bytes, `plain` the same with the line ends of
    Unix (both "" where it is too large to be judged, or no plain file)."""

    path: str
    id: str = ""
    plain: str = ""
    is_here: bool = False  # in the work tree

    def is_blob(self, begin: str) -> bool:
        """Whether it is the blob whose id begins so."""
        return bool(begin) and (self.id.startswith(begin) or self.plain.startswith(begin))


class ProjectFiles:
    """The repository of a project, for reading."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.top = Path(os.path.realpath(repository.top))
        self.objects = Objects(repository)
        self._real: dict[str, bool] = {"": True}

    @cached_property
    def is_partial(self) -> bool:
        """Whether the clone was made without some objects, which git would fetch one by one."""
        return any((self.repository.common_dir / "objects" / "pack").glob("*.promisor"))

    # --- bytes -----------------------------------------------------------------------------------

    def data(self, version: Version) -> bytes | None:
        """What a file holds; None where that is not at hand, or too much."""
        if version.is_here:
            return self._read(version.path)
        return self.blobs([version.id]).get(version.id) if version.id else None

    def blobs(self, ids: Collection[str]) -> dict[str, bytes]:
        """The blobs with these ids, or beginnings of ids, as far as they are at hand and not too
        large."""
        asked = [id for id in dict.fromkeys(ids) if id]
        rows = self._checked(asked)
        small = [
            id for id, row in zip(asked, rows, strict=True)
            if row[1:2] == ["blob"] and int(row[2]) <= MOST_BYTES
        ]  # fmt: skip
        found: Sequence[Object | None] = self.objects.read(small) if small else ()
        return {id: thing.data for id, thing in zip(small, found, strict=True) if thing}

    def ids(self, names: Sequence[str], kind: str) -> list[str]:
        """The whole ids of what git has under each of these names, "" where it is not of a kind."""
        return [row[0] if row[1:2] == [kind] else "" for row in self._checked(names)]

    def _checked(self, names: Sequence[str]) -> list[list[str]]:
        if not names:
            return []
        data = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        out = self.repository.run("cat-file", form, data=data)
        rows = out.decode("utf-8", "surrogateescape").splitlines()
        return [[] if row.endswith((" missing", " ambiguous")) else row.split(" ") for row in rows]

    def _read(self, path: str) -> bytes | None:
        if not self._is_real(path.rpartition("/")[0]):
            return None
        try:
            return read_regular(f"{self.top}/{as_given(path)}", MOST_BYTES)
        except MdmemoryError:
            return None

    def _is_real(self, folder: str) -> bool:
        """Whether no part of a folder's path is a link."""
        if folder not in self._real:
            above = folder.rpartition("/")[0]
            try:
                mode = os.lstat(f"{self.top}/{as_given(folder)}").st_mode
            except OSError:
                mode = 0
            self._real[folder] = stat.S_ISDIR(mode) and self._is_real(above)
        return self._real[folder]

    # --- now -------------------------------------------------------------------------------------

    def now(
        self, paths: Iterable[str], known: Prints = MappingProxyType({}),
        remember: Callable[[str, str, Version], None] = lambda *_: None,
    ) -> dict[str, Version]:  # fmt: skip
        """The files at these paths as they are now, those that are there. `known` are states of
        files whose ids need not be worked out again, and `remember` hears of others."""
        found: dict[str, Version] = {}
        missing = []
        for path in paths:
            state = self._state(path)
            if state is None:
                missing.append(path)
            elif path in known and known[path][0] == state:
                found[path] = Version(path, *known[path][1:], is_here=True)
            else:
                found[path] = self._identified(path)
                remember(path, state, found[path])
        return found | self._in_index(missing) if missing else found

    def _state(self, path: str) -> str | None:
        """What tells whether a file of the work tree changed; None where there is none."""
        if not self._is_real(path.rpartition("/")[0]):
            return None
        try:
            status = os.lstat(f"{self.top}/{as_given(path)}")
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(status.st_mode):
            return None
        return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"

    def _identified(self, path: str) -> Version:
        data = self._read(path)
        if data is None:
            return Version(path, self._link_id(path), is_here=True)
        id = self.objects.id(Object("blob", data))
        plain = data.replace(b"\r\n", b"\n")
        other = id if len(plain) == len(data) else self.objects.id(Object("blob", plain))
        return Version(path, id, other, is_here=True)

    def _link_id(self, path: str) -> str:
        """The id that git gives a link; "" for what is none."""
        try:
            data = os.readlink(os.fsencode(f"{self.top}/{as_given(path)}"))
        except OSError:
            return ""
        return self.objects.id(Object("blob", data))

    def is_link(self, version: Version) -> bool:
        """Whether a link lies there now."""
        return version.is_here and bool(self._link_id(version.path))

    def _in_index(self, paths: Sequence[str]) -> dict[str, Version]:
        """Those of the paths that the work tree lacks on purpose: what a sparse checkout leaves
        out, and submodules. The index has them."""
        found: dict[str, Version] = {}
        for at in range(0, len(paths), _BATCH):
            out = self.repository.run("ls-files", "-s", "-t", "-z", "--", *paths[at : at + _BATCH])
            for row in out.decode("utf-8", "surrogateescape").split("\0"):
                about, _, path = row.partition("\t")
                if path:  # under a folder's name it lists what lies there
                    tag, mode, id, _ = about.split(" ")
                    if tag == _LEFT_OUT or mode == _SUBMODULE:
                        found[path] = Version(path, id, id)
        return {path: found[path] for path in paths if path in found}

    def edited(self) -> Iterator[str]:
        """The files that are not as old, or not as long, as the index has them. `git diff-files`
        would tell, too, and run a filter that the repository names."""
        out = self.repository.run("ls-files", "-z", "--debug").decode("utf-8", "surrogateescape")
        path, *rest = out.split("\0")
        for text in rest:
            *about, following = text.split("\n", _ABOUT)  # the next path
            fields = " ".join(about).split()
            if not self._is_so_old(path, dict(zip(fields[::2], fields[1::2], strict=False))):
                yield path
            path = following

    def _is_so_old(self, path: str, known: Mapping[str, str]) -> bool:
        try:
            status = os.lstat(f"{self.top}/{as_given(path)}")
        except OSError:
            return True
        seconds, rest = map(int, known["mtime:"].split(":"))
        nanoseconds = status.st_mtime_ns - seconds * 1_000_000_000
        is_then = nanoseconds == rest or (not rest and 0 <= nanoseconds < 1_000_000_000)
        return is_then and status.st_size & 0xFFFFFFFF == int(known["size:"])

    def is_tracked(self, tip: str, path: str) -> bool:
        """Whether git has a file that is there, or would take it: it is not ignored."""
        if tip and self.objects.some(tip, [path]):
            return True
        words = ("ls-files", "-z", "-c", "-o", "--exclude-standard", "--", path)
        return f"{path}\0".encode("utf-8", "surrogateescape") in self.repository.run(*words)

    def blob_of(self, version: Version, tip: str) -> str:
        """The id under which git has a file, or would: that of HEAD where they are the same."""
        blob = self.objects.some(tip, [version.path]).get(version.path) if tip else None
        if blob and (version.is_blob(blob.id) or not version.id):
            return blob.id
        return version.plain if blob else version.id

    # --- in a commit -----------------------------------------------------------------------------

    def at(self, commit: str, paths: Collection[str]) -> dict[str, Version]:
        """The files at these paths in a commit, those that are there."""
        blobs = self.objects.some(commit, paths)
        return {path: Version(path, blob.id, blob.id) for path, blob in blobs.items()}

    def paths(self, commit: str, most: int) -> list[str]:
        """The paths of all files of a commit; none where the list has more bytes than `most`."""
        out = self.repository.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        return [] if len(out) > most else out.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def folders(self, commit: str, paths: Collection[str]) -> set[str]:
        """Those of the folders (with a slash at the end) that a commit has; a submodule is one, and
        so is a link."""
        every = [*paths] if commit else []
        there: set[str] = set()
        for at in range(0, len(every), _BATCH):
            names = [path.rstrip("/") for path in every[at : at + _BATCH]]
            out = self.repository.run("ls-tree", "-z", "--full-tree", commit, "--", *names)
            rows = out.decode("utf-8", "surrogateescape").split("\0")
            there |= {row.partition("\t")[2] for row in rows if row.startswith(_FOLDERS)}
        return {path for path in every if path.rstrip("/") in there}
