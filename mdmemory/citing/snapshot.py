"""The project of a store as git has it: its work tree as a commit, and the history before that.

All is read through a repository of our own in a temporary folder, which borrows the project's
objects: nothing that the project's configuration names is run, and nothing is written there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from mdmemory.citing.lines import Hunk, Squeezed, hunks_of
from mdmemory.errors import MdmemoryError
from mdmemory.files import as_given, to_bytes, to_text
from mdmemory.git import repositories
from mdmemory.git.gitpython import ShownRepository
from mdmemory.git.log import RENAMES, Touched, parse_touched
from mdmemory.git.objects import Blob, Objects
from mdmemory.git.persons_git import BY_US
from mdmemory.git.repositories import Repository, has_commit
from mdmemory.store import home
from mdmemory.store.project import Project

MOST_BYTES = 4 * 1024 * 1024  # of a file whose lines are judged
_BATCH = 500  # paths on one command line
_EDITS = 300  # of a file that are looked into
FOLDERS = ("040000", "160000", "120000")  # modes of what may be called a folder


class FileEdit(NamedTuple):
    """What a commit made of a file of its parent: the blobs before and after, "" for none."""

    commit: str
    parent: str
    before: str
    after: str


class Snapshot:
    """A project at the commit `now`. `project` is its own repository."""

    def __init__(self, project: Repository, ours: Repository, now: str) -> None:
        self.project, self.now = project, now
        self.objects = Objects(ours)
        about = (ours.top, ours.git_dir, ours.common_dir, ours.hash_name, ours.patience)
        self._shown = ShownRepository(*about)
        self._entries: dict[tuple[str, str], Blob | None] = {}
        self._blobs: dict[str, str] = {}
        for name in ("data", "text", "blob_hunks", "path_edits", "changes"):
            setattr(self, name, lru_cache(maxsize=500)(getattr(self, name)))

    @cached_property
    def is_cut_off(self) -> bool:
        """Whether the clone may lack commits or files that the project has."""
        packs = self.project.common_dir / "objects" / "pack"
        return repositories.is_shallow(self.project) or any(packs.glob("*.promisor"))

    def look(self, paths: Iterable[str], commit: str = "") -> None:
        """Read at once what a commit has at these paths: each alone would cost a process."""
        commit = commit or self.now
        new = [path for path in dict.fromkeys(paths) if (commit, path) not in self._entries]
        self._entries |= {(commit, path): None for path in new}
        for at in range(0, len(new) if commit else 0, _BATCH):
            out = self._git("ls-tree", "-z", "--full-tree", commit, "--", *new[at : at + _BATCH])
            for row in filter(None, out.split("\0")):
                about, _, path = row.partition("\t")
                mode, _, id = about.split(" ")
                self._entries[commit, path] = Blob(mode, id)

    def entry(self, path: str, commit: str = "") -> Blob | None:
        """What a commit (the one of now) has at a path without a slash at its end."""
        self.look([path], commit)
        return self._entries[commit or self.now, path]

    def ids(self, names: Sequence[str], kind: str) -> list[str]:
        """The whole ids of what git has under each of these names, "" where it is not of a kind."""
        data = to_bytes("".join(f"{name}\n" for name in names))
        out = self.objects.repository.run("cat-file", "--batch-check", data=data) if names else b""
        rows = [row.split(" ") for row in to_text(out).splitlines()]
        most = MOST_BYTES if kind == "blob" else float("inf")
        return [r[0] if r[1:2] == [kind] and int(r[2]) <= most else "" for r in rows]

    def _git(self, *words: str) -> str:
        return to_text(self._shown.run(*words))

    def look_for_blobs(self, names: Iterable[str]) -> None:
        """Learn at once which of these blobs are at hand and not too large."""
        new = [name for name in dict.fromkeys(names) if name and name not in self._blobs]
        self._blobs |= zip(new, self.ids(new, "blob"), strict=True)

    def blob(self, name: str) -> str:
        """The whole id of a blob, whose id begins so; "" where it is not at hand, or too large."""
        self.look_for_blobs([name])
        return self._blobs[name] if name else ""

    def data(self, blob: str) -> bytes | None:
        """What a blob holds; None where it is not at hand, or too much."""
        id = self.blob(blob)
        [thing] = self.objects.read([id]) if id else [None]
        return thing.data if thing else None

    def text(self, blob: str) -> Squeezed | None:
        """The lines of a blob."""
        data = self.data(blob)
        return None if data is None else Squeezed(data)

    def blob_hunks(self, old: str, new: str) -> list[Hunk]:
        """In what two blobs differ but for white space."""
        plain = ("-U0", "-w", "--no-color", "--no-ext-diff", "--no-textconv", "--text")
        out = self._git("diff", *plain, "--patience", old, new) if old != new else ""
        return hunks_of(out)

    def path_edits(self, path: str) -> list[FileEdit]:
        """The newest commits that changed a file, or something in a folder, newest first."""
        how = ("-m", "--raw", "--no-abbrev", "--no-ext-diff", f"-n{_EDITS}", "--format=%H %P")
        out = self._git("log", *how, self.now, "--", path) if self.now else ""
        edits_found: list[FileEdit] = []
        commit, parents = "", list[str]()
        for row in filter(None, out.split("\n")):
            if not row.startswith(":"):
                commit, *parents = row.split(" ")
                continue
            before, after = (id if id.strip("0") else "" for id in row.split(" ")[2:4])
            for parent in parents:
                entry = self.entry(path, parent) if parents[1:] else None
                if not parents[1:] or (entry.id if entry else "") == before:
                    edits_found.append(FileEdit(commit, parent, before, after))
        return edits_found

    def changes(self, old: str, new: str) -> list[Touched]:
        """The files that differ between two commits; a renamed one counts once."""
        how = ("--raw", "-z", "-M", f"-l{RENAMES}", "--no-abbrev", "--no-ext-diff")
        fields = iter(self._git("diff", *how, old, new).split("\0"))
        fields_read = [parse_touched(field, fields) for field in filter(None, fields)]
        renamed = [each for each in fields_read if each.old_path]
        self.look(each.path for each in renamed)  # which are asked for one by one
        self.look_for_blobs(each.blob for each in renamed if each.blob)
        return fields_read


@contextmanager
def take_snapshot(project: Repository) -> Iterator[tuple[Snapshot, str]]:
    """The project as its work tree is now, for the block, and its HEAD ("": none)."""
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mdmemory-") as folder:
        top = Path(folder)
        form = f"--object-format={project.hash_name}"
        repositories.run(top, ("init", "-q", "--template=", form, "."))
        ours = Repository(top, top / ".git", top / ".git", project.hash_name, project.patience)
        for name in ("objects/info", "info"):
            (ours.git_dir / name).mkdir(exist_ok=True)
        objects = os.fsencode(project.common_dir / "objects")
        (ours.git_dir / "objects/info/alternates").write_bytes(objects + b"\n")
        shared = [project.common_dir / name for name in ("shallow", "info/exclude")]
        for source in (*shared, project.git_dir / "index", *project.git_dir.glob("sharedindex.*")):
            if source.is_file():  # with its times: they tell which files are to be looked into
                place = "info/exclude" if source.name == "exclude" else source.name
                shutil.copy2(source, ours.git_dir / place)
        tip = repositories.read_head(project)
        snapshot = Snapshot(project, ours, _work_tree(project, ours, tip))
        with snapshot.objects.open():
            yield snapshot, tip


def _work_tree(project: Repository, ours: Repository, tip: str) -> str:
    """A commit of what lies in the work tree, which its HEAD `tip` comes before."""
    where = {"GIT_DIR": os.fspath(ours.git_dir), "GIT_WORK_TREE": os.fspath(project.top)}
    words = ("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard")
    out = to_text(ours.run(*words, folder=project.top, extra=where))
    changed = [path for path in dict.fromkeys(out.split("\0")) if _is_fit(project.top, path)]
    data = to_bytes("".join(f"{path}\0" for path in changed))
    add = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
    ours.run(*add, folder=project.top, extra=where, data=data)
    tree = ours.ask("write-tree", "--missing-ok")
    if tree is None:  # a merge is under way
        return tip
    if tip and ours.ask("rev-parse", f"{tip}^{{tree}}") == tree:
        return tip
    words = ("commit-tree", "-m", "now", *(("-p", tip) if tip else ()), tree.decode().strip())
    return ours.run(*words, extra=BY_US).decode().strip()


def _is_fit(top: Path, path: str) -> bool:
    """Whether a file that was changed can be put into a tree: it is gone, a link, or not large."""
    if not path or path.endswith("/"):  # a repository in this one
        return False
    try:
        status = os.lstat(f"{top}/{as_given(path)}")
    except OSError:
        return True
    if not stat.S_ISREG(status.st_mode):
        return stat.S_ISLNK(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return status.st_size <= MOST_BYTES and os.access(f"{top}/{as_given(path)}", os.R_OK)


def repository_of(project: Project) -> Repository | None:
    """The repository of the project that a store serves; None where it is not here."""
    # around where we are, else where the store says it was seen
    folders, known = [project.top], None
    if project.around is None and project.root == project.store:
        with suppress(MdmemoryError):
            known = home.read(project.root)
        folders = [Path(each).parent for each in reversed(known.folders)] if known else []
    for folder in folders:
        try:
            repository = repositories.find(folder) if folder.is_dir() else None
        except MdmemoryError:  # bare, damaged, somebody else's
            continue
        if repository is None or os.path.samefile(repository.top, project.store):
            continue
        roots = known.roots if known and folder != project.top else None
        if roots is not None and not any(has_commit(repository, root) for root in roots):
            continue  # another repository lies there by now
        return repository
    return None
