"""Commits read back: the one reader of their messages and trailers, for log, diff, history, undo.

Only reads. `git rev-list` and not `git log`, which fails at a display setting of the person's that
it cannot parse.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from mdmemory.files import to_text
from mdmemory.git.repositories import Repository

ID_TRAILER = "Memory-Id"
FILES_TRAILER = "Memory-Files"  # one an op: the files it wrote, as a JSON list
UNDOES = "Memory-Undoes"  # the commit that an undo took back
ERASED_TRAILER = "Memory-Erased"  # on a commit that lost something

# how `git revert` says what it takes back; git may shorten the id (revert.reference)
REVERTS = "This reverts commit "

# the words by which `git rev-list` lists commits of ours, and those that take one back
OURS = ("--basic-regexp", f"--grep=^{ID_TRAILER}: ")
TAKING_BACK = ("--basic-regexp", f"--grep=^{REVERTS}", f"--grep=^{UNDOES}: ")

# A message holds no NUL, so the text between two is one field whatever it says.
_FORMAT = "--format=%x00%H%x00%cI%x00%s%x00%b%x00"
_UNSAID = "--format=%x00%H%x00%cI%x00%x00%x00"
RENAMES = 1000  # files with changes that git compares in pairs, whatever a person's settings say
_TRAILER = re.compile(r"^(Memory-[A-Za-z]+): (.*)$", re.MULTILINE)
_TAKES_BACK = re.compile(rf"^(?:{REVERTS}|{UNDOES}: )([0-9a-f]{{7,64}})", re.MULTILINE)


class Touched(NamedTuple):
    """A file that a commit changed: git's status letter, path, and new object id (None: removed).

    `old_path` is the former path of a file that git takes for renamed or copied; `before` the
    object id that it had in the first parent (None: it is new).
    """

    status: str
    path: str
    blob: str | None
    old_path: str | None = None
    before: str | None = None


class Logged(NamedTuple):
    """One commit. `waits`: no branch has it yet; `is_merge`: where parents were asked for.

    `ops` are the lines between subject and trailers, and `trailers` the Memory-* lines of the last
    paragraph. `takes_back` are the commits, perhaps shortened, that it reverts or undoes. `files`
    are set where they were asked for.
    """

    commit: str
    time: str  # ISO 8601 with offset
    subject: str
    ops: tuple[str, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()
    takes_back: tuple[str, ...] = ()
    files: tuple[Touched, ...] = ()
    waits: bool = False
    is_merge: bool = False

    def get(self, name: str) -> str | None:
        """The value of a trailer, or None."""
        return next((value for key, value in self.trailers if key == name), None)

    def groups(self) -> list[list[str]]:
        """The files that each op wrote, op by op: what an undo takes back together."""
        values = [value for key, value in self.trailers if key == FILES_TRAILER]
        return [files for value in values if (files := file_list(value))]


def read(repository: Repository, *words: str, data: bytes = b"") -> Iterator[Logged]:
    """The commits that `git rev-list words...` lists, in its order."""
    return _parse_commits(repository.run("rev-list", _FORMAT, *words, data=data))


def list_with_trailer(
    repository: Repository, inside: Sequence[str], trailer: str, value: str | None
) -> list[Logged]:
    """Our commits of HEAD that have a trailer (of this value, if one is given) and touch one of
    these paths, if any; newest first. The messages are looked at first: to compare the trees of
    all commits takes ten times as long."""
    if "\n" in (value or ""):
        return []
    line = f"^{trailer}: "
    if value is not None:  # literally, in an expression of git's
        line += "".join(f"\\{char}" if char in "\\.[]*^$" else char for char in value) + "$"
    entries = [
        entry
        for entry in read(repository, "--all-match", *OURS, f"--grep={line}", "HEAD", "--")
        if (text := entry.get(trailer)) is not None and value in (None, text)
    ]
    if not entries or not inside:
        return entries
    ids = "\n".join(entry.commit for entry in entries).encode()
    touching = repository.run("rev-list", "--no-walk", "--stdin", "--", *inside, data=ids)
    return [entry for entry in entries if entry.commit.encode() in touching.split()]


_ORIGIN = "%(trailers:key=Memory-Origin,valueonly,separator=%x2C)"


def list_authors(repository: Repository, path: str) -> list[tuple[str, str]]:
    """Who wrote the commits of HEAD that touched a path, the first one first: the address, and what
    the commit says of a `Memory-Origin`. [] where no commit has it."""
    form = f"--format=%ae%x00{_ORIGIN}"
    out = repository.ask("rev-list", "--reverse", form, "HEAD", "--", path) or b""
    lines = out.decode("utf-8", "replace").splitlines()
    rows = (line.partition("\0") for line in lines if "\0" in line)
    return [(email, origin) for email, _, origin in rows]


def list_all_authors(repository: Repository, folder: str) -> dict[str, list[tuple[str, str]]]:
    """The same of every file in a folder, by its path from the top, in one walk. A merge counts
    where it took a file as none of its parents has it. Names that git quotes are left out."""
    where = ("--", folder or ".")
    commits = repository.ask("rev-list", "--reverse", "HEAD", *where) or b""
    how = ("diff-tree", "--stdin", "--always", "--root", "-r", "-c", "--name-only", "--no-renames")
    out = repository.run(*how, f"--format=%x00%ae%x00{_ORIGIN}", *where, data=commits)
    parts = to_text(out).split("\0")
    authors: dict[str, list[tuple[str, str]]] = {}
    for email, rest in zip(parts[1::2], parts[2::2], strict=True):
        origin, *files = rest.split("\n")
        for file in filter(None, files):
            authors.setdefault(file, []).append((email, origin))
    return authors


def read_with_files(
    repository: Repository, *words: str, inside: Sequence[str] | None = None, is_whole: bool = True,
    data: bytes = b"",
) -> Iterator[Logged]:  # fmt: skip
    """The same, each commit with the files that it touched: of those after "--" in `words`, or of
    these paths. Without what it says unless `is_whole`: of a commit of 10,000 notes it is much."""
    commits = repository.run("rev-list", *words, data=data)
    how = ("diff-tree", "--stdin", "--always", "-r", "-z", "--raw", "-M", "-c", "--no-abbrev")
    if inside is None:
        inside = words[words.index("--") + 1 :] if "--" in words else ()
    form = _FORMAT if is_whole else _UNSAID
    out = repository.run(*how, "--root", form, "--", *inside, data=commits)
    return _parse_commits(out)


def _parse_commits(out: bytes) -> Iterator[Logged]:
    commit: Logged | None = None
    files: list[Touched] = []
    is_merge = False
    fields = iter(to_text(out).split("\0"))
    for field in fields:
        field = field.lstrip("\n")
        if field.startswith(":"):
            files.append(parse_touched(field, fields))
        elif field.startswith("commit "):  # with which rev-list announces each, and its parents
            is_merge = len(field.split()) > 3
        elif field:
            if commit:
                yield commit._replace(files=tuple(files)) if files else commit
            commit, files = parse(field, next(fields), next(fields), next(fields)), []
            commit = commit._replace(is_merge=True) if is_merge else commit
    if commit:
        yield commit._replace(files=tuple(files)) if files else commit


def parse_touched(field: str, fields: Iterator[str]) -> Touched:
    """A row of `diff --raw -z`, and its paths; of a merge (`::`) it names one path only."""
    *modes_and_ids, status = field.lstrip(":").split(" ")
    ids = [id if id.strip("0") else None for id in modes_and_ids[len(modes_and_ids) // 2 :]]
    renamed = status[0] in "RC" and not field.startswith("::")
    old_path = next(fields) if renamed else None
    return Touched(status, next(fields), ids[-1], old_path, ids[0])


def parse(commit: str, time: str, subject: str, body: str) -> Logged:
    """A commit as its message tells it; `body` is all below the subject."""
    before, _, last = body.strip("\n").rpartition("\n\n")
    trailers = tuple(_TRAILER.findall(last))
    ops = tuple(filter(None, before.splitlines())) if trailers else ()
    time = time.replace("Z", "+00:00")  # as newer versions of git write it
    return Logged(commit, time, subject, ops, trailers, tuple(_TAKES_BACK.findall(body)))


def taken_back(commits: Iterable[tuple[str, Collection[str]]]) -> set[str]:
    """The commits that are taken back, of commits each with what it takes back, children first.

    One that was taken back in its turn counts for nothing, to any depth: what it took back stands
    again, unless another commit took it back, too.
    """
    gone: set[str] = set()
    for commit, targets in commits:
        if commit not in gone:
            gone.update(targets)
    return gone


def file_list(value: str) -> list[str]:
    """The files of a Memory-Files trailer, which anybody can write: none, unless all are names in
    the folder."""
    try:
        files = json.loads(value)
    except ValueError:
        return []
    for file in files if isinstance(files, list) else ("",):
        if not isinstance(file, str) or not file or os.path.isabs(file):
            return []
        if os.path.normpath(file) != file or file.split("/")[0] in ("..", ".", ".git"):
            return []
    return list(files)
