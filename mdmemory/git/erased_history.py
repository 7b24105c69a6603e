"""Texts leave the whole history of a store's own repository, by git-filter-repo.

That works in a bare repository beside, which reads the objects and has no settings of anybody's.
Then all refs move in one transaction of git: until then the old history is whole, and after it
`clear` may be repeated until no object holds the old bytes. HEAD's tree stays as it is.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.files import to_bytes, to_text, write_atomic
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.filter_repo import PYTHON, Run, build_copy, read_refs
from mdmemory.git.log import ERASED_TRAILER, FILES_TRAILER, file_list, read_with_files

ERASED = "(erased)"
_MARK = "erasing"  # in our folder of the git directory until nothing is left to do
_FORMER = "erased"  # the ids of the commits that were made anew: none may come back
_FILTER = (*PYTHON, "mdmemory.git.erased_history")
_HOW = "--force --quiet --partial --prune-empty never --prune-degenerate never".split()
_CACHES = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "logs",
           "rr-cache", "objects/info/commit-graph", "objects/info/commit-graphs")  # fmt: skip
_LIST = f"{FILES_TRAILER}: ".encode()


@dataclass(frozen=True)
class Erasure:
    """What goes: `files` of notes at the top, and every text of `texts` wherever it stands; of the
    files in `generated` the lines that hold a text or name a file."""

    files: Sequence[str]
    texts: Sequence[str]
    generated: Sequence[str]

    def is_in(self, data: bytes) -> bool:
        """Whether bytes hold one of the texts."""
        return any(each.encode() in data for each in self.texts)

    def is_about(self, data: bytes) -> bool:
        """Whether bytes hold one of the texts, or name one of the files."""
        names = (file.removesuffix(".md").encode() for file in self.files)
        return self.is_in(data) or any(name in data for name in names)

    def clean_bytes(self, data: bytes, file: str) -> bytes | None:
        """The bytes of a file without what goes; None where the whole file goes."""
        if file in self.files or (file.startswith(".inbox/") and self.is_about(data)):
            return None
        if file in self.generated:
            rows = data.splitlines(keepends=True)
            return b"".join(row for row in rows if not self.is_about(row))
        for each in sorted(self.texts, key=len, reverse=True):
            data = data.replace(each.encode(), ERASED.encode())
        return data

    def clean_message(self, message: bytes, touched: bool) -> bytes:
        """A commit's message without the lines that are about what goes; its subject goes, too,
        where the commit touched that."""
        if not touched and not self.is_about(message):
            return message
        rows = [self._clean_row(row) for row in message.rstrip(b"\n").split(b"\n")[1:]]
        body = b"\n".join(row for row in rows if row is not None).rstrip(b"\n")
        trailer = f"{ERASED_TRAILER}: yes\n".encode()
        gap = b"\n" if b"\nMemory-Id: " in body else b"\n\n"
        return f"memory: {ERASED}\n".encode() + body + gap + trailer

    def _clean_row(self, row: bytes) -> bytes | None:
        if not row.startswith(_LIST):
            return None if self.is_about(row) else row
        files = [each for each in file_list(to_text(row[len(_LIST) :])) if each not in self.files]
        return _LIST + json.dumps(files).encode() if files else None


def require_plain(history: History) -> None:
    """Raise RepositoryState for a repository whose history cannot be made anew safely."""
    git = history.repository
    packs = git.common_dir / "objects/pack"
    stands = {
        "it is a linked worktree, or has some": git.git_dir != git.common_dir
        or any((git.common_dir / "worktrees").glob("*")),
        "it is a shallow clone": (git.common_dir / "shallow").exists(),
        "it borrows objects of another": (git.common_dir / "objects/info/alternates").exists(),
        "a .keep file keeps one of its packs": any(packs.glob("*.keep")),
        "some of its objects are replaced": git.run("for-each-ref", "refs/replace/") != b"",
        "something is stashed": history.find_commit("refs/stash") is not None,
        "something is staged": git.ask("diff-index", "--cached", "--quiet", "HEAD") is None,
    }
    for why in (why for why, is_so in stands.items() if is_so):
        raise RepositoryState(
            f"The history of {git.top} cannot be rewritten: {why}.",
            "Solve that with git, and run the command again.",
        )


def open_files(history: History) -> list[str]:
    """The files of an erasure that was begun and not finished."""
    with suppress(OSError, ValueError):
        return list(json.loads((history.repository.room / _MARK).read_bytes())["files"])
    return []


def list_versions(history: History, files: Sequence[str]) -> list[bytes]:
    """What these files at the top held in any commit that a ref reaches."""
    words = ("--all", "--full-history", "--", *files)
    touched = [each for entry in read_with_files(history.repository, *words, is_whole=False)
               for each in entry.files]  # fmt: skip
    blobs = dict.fromkeys(each.blob for each in touched if each.blob and each.path in files)
    return [blob.data for blob in history.objects.read([*blobs]) if blob]


def list_former(history: History) -> set[str]:
    """The ids of all commits that were made anew by an erasure."""
    with suppress(OSError):
        return {*(history.repository.room / _FORMER).read_text("ascii").split()}
    return set()


# --- the commits anew


def rewrite(history: History, erasure: Erasure) -> int:
    """Make every commit of every ref anew, and move the refs; how many changed. The caller holds
    the store's lock."""
    git, head = history.repository, history.head()
    refs = read_refs(git.run)
    wanted = {ref: id for ref, id in refs.items() if not ref.startswith("refs/remotes/")}
    git.room.mkdir(mode=0o700, exist_ok=True)
    about = {"files": [*erasure.files], "texts": [*erasure.texts], "top": str(git.top),
             "generated": [*erasure.generated], "head": head}  # fmt: skip
    write_atomic(git.room / _MARK, json.dumps(about).encode(), mode=0o600)
    for left in git.room.glob("erasing-*.git"):  # of one that was killed
        shutil.rmtree(left, ignore_errors=True)
    place = git.room / f"erasing-{os.urandom(4).hex()}.git"
    try:
        beside = build_copy(git, place, wanted, _FILTER)
        new = read_refs(beside)
        if head and not _is_same_tree(beside, head, new[history.branch()]):
            raise GitFailed("git filter-repo changed the files of HEAD; nothing was erased.")
        rows = (place / "filter-repo/commit-map").read_text("ascii").splitlines()[1:]
        pairs = [row.split() for row in rows]
        changed = {old for old, made in pairs if old != made}
        known = "\n".join(sorted(list_former(history) | changed))
        write_atomic(git.room / _FORMER, known.encode(), mode=0o600)
        ids = "\n".join([*new.values(), "--not", *wanted.values(), ""])
        words = ("pack-objects", "--revs", "--stdout", "-q")
        git.run("index-pack", "--stdin", data=beside(*words, data=ids.encode()))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    moves = [f"update {ref} {new[ref]} {id}\n" for ref, id in wanted.items() if new[ref] != id]
    moves += [f"delete {ref} {id}\n" for ref, id in refs.items() if ref not in wanted]
    if moves:
        git.run("update-ref", "--stdin", data=to_bytes("".join(moves)))
    history.objects.forget()
    return len(changed)


def _is_same_tree(run: Run, one: str, other: str) -> bool:
    trees = run("rev-parse", f"{one}^{{tree}}", f"{other}^{{tree}}").split()
    return trees[0] == trees[1]


def _filter_here() -> None:
    """What `rewrite` has a process of its own do in the bare repository: git-filter-repo keeps
    what it knows in its module, and may end the process."""
    import git_filter_repo as filter_repo

    given = json.loads(Path("..", _MARK).read_bytes())
    git = repositories.find(Path(given.pop("top")))
    assert git is not None
    history, head = History(git, git.top), given.pop("head")
    there = {(file, blob.id) for file, blob in history.read_all(head).items()}
    erasure, known = Erasure(**given), dict[tuple[str, str], Any]()
    marks: dict[Any, bytes] = {}  # the ids of what the stream calls by numbers

    def record_mark(blob: Any, _: object) -> None:
        marks[blob.id] = blob.original_id

    def rewrite_blob(file: str, id: str) -> Any:
        """The blob that a file gets in place of another; None for no file."""
        (blob,) = history.objects.read([id])
        data = erasure.clean_bytes(blob.data, file) if blob else b""
        if data is None or blob is None or data == blob.data:
            return None if data is None else id.encode()
        new = filter_repo.Blob(data)
        work.insert(new, direct_insertion=True)
        return new.id

    def rewrite_commit(commit: Any, _: object) -> None:
        touched = False
        for number, each in enumerate(commit.file_changes):
            file, is_gone = to_text(each.filename), False
            if each.type == b"M" and each.mode != b"160000":
                at = file, marks.get(each.blob_id, each.blob_id).decode()
                if at not in known:
                    known[at] = at[1].encode() if at in there else rewrite_blob(*at)
                each.blob_id = known[at]
                is_gone = each.blob_id is None
            if is_gone:
                commit.file_changes[number] = filter_repo.FileChange(b"D", each.filename)
            touched = touched or file in erasure.files
        commit.message = erasure.clean_message(commit.message, touched)

    def clean_tag(tag: Any, _: object) -> None:
        tag.message = erasure.clean_bytes(tag.message, "")

    arguments = filter_repo.FilteringOptions.parse_args(_HOW)
    work = filter_repo.RepoFilter(
        arguments, commit_callback=rewrite_commit, tag_callback=clean_tag,
        # it reads no other names of 64 digits in the stream than those of commits
        blob_callback=record_mark if git.hash_name == "sha256" else None,
    )  # fmt: skip
    with history.objects.open():
        work.run()


# --- the old bytes


def clear(history: History) -> None:
    """Remove every object that no ref needs, and all logs of former refs. May be repeated."""
    git = history.repository
    git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    for path in (git.common_dir / name for name in _CACHES):
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink()
    git.run("repack", "-a", "-d", "-q")
    git.run("prune", "--expire=now")
    git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")


def finish(history: History) -> None:
    """Say that nothing is left to do; until then the same command finds the erasure again."""
    (history.repository.room / _MARK).unlink(missing_ok=True)


def find_objects(history: History, erasure: Erasure) -> list[str]:
    """The ids of the objects in the repository, reachable or not, that hold one of the texts."""
    out = history.repository.run(
        "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    with history.objects.open():
        rows = (row.split(" ") for row in to_text(out).splitlines())
        things = ((id, history.objects.read([id])[0]) for id, kind in rows if kind != "tag")
        return [id for id, thing in things if thing and erasure.is_in(thing.data)]


if __name__ == "__main__":
    _filter_here()
