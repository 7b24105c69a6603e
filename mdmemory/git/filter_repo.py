"""History that git-filter-repo makes anew, and by it that of one folder as a repository's own.

It works in a bare repository beside, which borrows the objects and has no settings of anybody's.
Author, dates, message and trailers stay; a message names commits as they are called now. Where the
folder had another name before, its history begins with the commit that moved it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.files import to_bytes, to_text, write_atomic
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import ERASED_TRAILER, FILES_TRAILER, file_list, read_with_files
from mdmemory.git.repositories import Repository

FROM = "refs/heads/from/"  # branches of the project that hold notes which its HEAD does not

_OURS_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_PATIENCE = 3_600.0  # seconds for a history of 100,000 commits
PYTHON = (sys.executable, "-P", "-m")
_HOW = (
    "--force --quiet --partial --preserve-commit-encoding --prune-empty always "
    "--subdirectory-filter"
).split()
# with the bytes of all blobs, which takes longer, it reads the ids of SHA-256 as well
_LONG_IDS = ("--blob-callback", "pass")
Run = Callable[..., bytes]  # as Repository.run
ERASED = "(erased)"
_MARK = "erasing"  # in our folder of the git directory until nothing is left to do
_FORMER = "erased"  # the ids of the commits that were made anew: none may come back
_FILTER = (*PYTHON, "mdmemory.git.filter_repo")
_ERASE = "--force --quiet --partial --prune-empty never --prune-degenerate never".split()
_CACHES = tuple(
    "ORIG_HEAD FETCH_HEAD COMMIT_EDITMSG MERGE_MSG SQUASH_MSG logs rr-cache "
    "objects/info/commit-graph objects/info/commit-graphs".split()
)
_LIST = f"{FILES_TRAILER}: ".encode()


def _build_copy(
    git: Repository, place: Path, refs: Mapping[str, str], command: Sequence[str]
) -> tuple[Run, dict[str, str], dict[str, str]]:
    """Make these refs with their whole history anew in a bare repository at `place`, where
    `command` does it; what runs git there, the refs, and by old ids the new ones. Raises GitFailed.
    """
    import subprocess

    git.run("init", "-q", "--bare", "--template=", f"--object-format={git.hash_name}", str(place))
    (place / "objects/info").mkdir(exist_ok=True)
    objects = os.fsencode(git.common_dir / "objects")
    (place / "objects/info/alternates").write_bytes(objects + b"\n")
    if repositories.is_shallow(git):
        shutil.copy(git.common_dir / "shallow", place)
    # named, for a person may have git refuse the bare ones that it finds
    beside = partial(git.run, folder=place, extra={"GIT_DIR": str(place)})
    rows = "".join(f"create {ref} {id}\n" for ref, id in refs.items())
    beside("update-ref", "--stdin", data=to_bytes(rows))
    try:
        done = subprocess.run(
            command, cwd=place, env=repositories.environment(_OURS_ALONE), capture_output=True,
            stdin=subprocess.DEVNULL, timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as problem:
        raise GitFailed("git filter-repo did not come to an end; nothing was changed.") from problem
    if done.returncode:
        last = repositories.last_line(done.stderr).rstrip(".")
        raise GitFailed(f"git filter-repo failed: {last}; nothing was changed.")
    text = (place / "filter-repo/commit-map").read_text("ascii")
    commits = (row.partition(" ") for row in text.splitlines()[1:])
    return beside, read_refs(beside), {old: new.strip() for old, _, new in commits}


def read_refs(run: Run) -> dict[str, str]:
    """By name what each ref holds, but for those that only point at another ref."""
    out = to_text(run("for-each-ref", "--format=%(objectname) %(symref) %(refname)"))
    rows = (row.split(" ", 2) for row in out.splitlines())
    return {ref: id for id, points_to, ref in rows if not points_to}


@dataclass
class Carried:
    """What went along: `head` is the new commit of HEAD's (None: the folder is in no commit),
    `refs` the other new refs, `signed` how many of the commits were, `new` maps old ids to new
    ones."""

    head: str | None = None
    refs: dict[str, str] = field(default_factory=dict)
    signed: int = 0
    is_shallow: bool = False
    new: dict[str, str] = field(default_factory=dict)


def carry(history: History, own: Repository) -> Carried:
    """Give the fresh repository `own` (no commit, same hash) the history of the folder: HEAD's on
    its branch, branches with notes that HEAD lacks below `FROM`.

    Raises GitFailed where an object of it is not to be had; then `own` is of no use.
    """
    old, head = history.repository, history.head()
    if history.prefix == "" or "\n" in history.prefix:
        raise RepositoryState(f"{history.folder} is no folder inside a repository.")
    done = Carried(is_shallow=repositories.is_shallow(old))
    branch = to_text(own.run("symbolic-ref", "HEAD")).strip()
    # the branches that HEAD does not hold, by their new names
    apart = [f"--no-merged={head}"] if head else []
    words = ("for-each-ref", "--format=%(objectname) %(refname)", *apart, "refs/heads/")
    rows = (row.partition(" ") for row in to_text(old.run(*words)).splitlines())
    wanted = {FROM + ref.removeprefix("refs/heads/"): commit for commit, _, ref in rows}
    wanted |= {branch: head} if head else {}
    if not wanted:
        return done
    place = own.git_dir / "carried.git"
    more = _LONG_IDS if old.hash_name == "sha256" else ()
    command = (*PYTHON, "git_filter_repo", *_HOW, history.prefix, *more)
    beside, refs, commits = _build_copy(old, place, wanted, command)
    done.head = refs.pop(branch, None)
    apart = [f"--no-merged={done.head}"] if done.head else []
    names = to_text(beside("for-each-ref", "--format=%(refname)", *apart, FROM)).split("\n")
    done.refs = {ref: id for ref, id in refs.items() if ref in names}
    done.new = {old: new for old, new in commits.items() if new.strip("0")}
    objects = history.objects.read([*done.new])
    done.signed = sum(b"\ngpgsig" in e.data.partition(b"\n\n")[0] for e in objects if e)
    tips = {**done.refs, **({branch: done.head} if done.head else {})}
    if tips:
        data = "\n".join([*tips.values(), ""]).encode()
        packed = beside("pack-objects", "--revs", "--stdout", "-q", data=data)
        own.run("index-pack", "--stdin", data=packed)
        moves = "".join(f"create {ref} {id}\n" for ref, id in tips.items())
        own.run("update-ref", "--stdin", data=to_bytes(moves))
    shutil.rmtree(place)
    own.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    return done


def has_all(old: Repository, new: Repository) -> bool:
    """Whether a repository has what another's refs, log and index refer to."""
    named = old.run("rev-list", "--no-walk", "--ignore-missing", "--all", "--reflog", "HEAD")
    staged = to_text(old.run("ls-files", "-s", "-z")).split("\0")[:-1]
    ids = [*named.decode().split(), *(row.split(" ")[1] for row in staged)]
    data = "".join(f"{id}\n" for id in ids).encode()
    output = new.run("cat-file", "--batch-check=%(objecttype)", data=data)
    return not any(row.endswith(b"missing") for row in output.splitlines())


# --- texts that leave the whole history of a store's own repository
#
# All refs move in one transaction of git: until then the old history is whole, and after it `clear`
# may be repeated until no object holds the old bytes. HEAD's tree stays as it is.


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
        rows: list[bytes] = []
        for row in message.rstrip(b"\n").split(b"\n")[1:]:
            if not row.startswith(_LIST):
                rows += [] if self.is_about(row) else [row]
                continue
            listed = file_list(to_text(row[len(_LIST) :]))
            files = [each for each in listed if each not in self.files]
            rows += [_LIST + json.dumps(files).encode()] if files else []
        body = b"\n".join(rows).rstrip(b"\n")
        trailer = f"{ERASED_TRAILER}: yes\n".encode()
        gap = b"\n" if b"\nMemory-Id: " in body else b"\n\n"
        return f"memory: {ERASED}\n".encode() + body + gap + trailer


def require_plain(history: History) -> None:
    """Raise RepositoryState for a repository whose history cannot be made anew safely."""
    git = history.repository
    packs = git.common_dir / "objects/pack"
    stands = {
        "it is a linked worktree, or has some": git.git_dir != git.common_dir
        or any((git.common_dir / "worktrees").glob("*")),
        "it is a shallow clone": repositories.is_shallow(git),
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
        beside, new, commits = _build_copy(git, place, wanted, _FILTER)
        if head:
            trees = (f"{head}^{{tree}}", f"{new[history.branch()]}^{{tree}}")
            before, after = beside("rev-parse", *trees).split()
            if before != after:
                raise GitFailed("git filter-repo changed the files of HEAD; nothing was erased.")
        changed = {old for old, made in commits.items() if old != made}
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
            file = to_text(each.filename)
            if each.type == b"M" and each.mode != b"160000":
                at = file, marks.get(each.blob_id, each.blob_id).decode()
                if at not in known:
                    known[at] = at[1].encode() if at in there else rewrite_blob(*at)
                each.blob_id = known[at]
                if each.blob_id is None:
                    commit.file_changes[number] = filter_repo.FileChange(b"D", each.filename)
            touched = touched or file in erasure.files
        commit.message = erasure.clean_message(commit.message, touched)

    def clean_tag(tag: Any, _: object) -> None:
        tag.message = erasure.clean_bytes(tag.message, "")

    def record_mark(blob: Any, _: object) -> None:
        marks[blob.id] = blob.original_id

    arguments = filter_repo.FilteringOptions.parse_args(_ERASE)
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
    words = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    out = history.repository.run(*words)
    with history.objects.open():
        rows = (row.split(" ") for row in to_text(out).splitlines())
        things = ((id, history.objects.read([id])[0]) for id, kind in rows if kind != "tag")
        return [id for id, thing in things if thing and erasure.is_in(thing.data)]


if __name__ == "__main__":
    _filter_here()
