"""Texts leave the whole history of a store's own repository: each commit is made anew without them.

Authors, dates and messages stay, but for lines that repeat what goes. All refs move in one
transaction of git; until then the old history is whole, and after it `clear` may be repeated until
no object holds the old bytes. HEAD's tree stays as it is, so index and work tree need no change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.files import write_atomic
from mdmemory.git.commits_of_store import History, text
from mdmemory.git.log import ERASED_TRAILER, FILES_TRAILER, file_list
from mdmemory.git.objects import Object, packed, tree
from mdmemory.git.own_history import CommitNames, made_anew

ERASED = "(erased)"
_MARK = "erasing"  # in our folder of the git directory until nothing is left to do
_FORMER = "erased"  # the ids of the commits that were made anew: none may come back
_REMOTES = "refs/remotes/"
_LOOSE = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG")
_GRAPH = "objects/info/commit-graph"  # a cache of `git gc`; it would name commits that are gone
_INBOX = b".inbox"
_FOLDER, _LINK = b"40000", b"160000"


@dataclass
class Erasure:
    """What goes: `files` of notes at the top, and every `text` wherever it stands; of the files in
    `generated` the lines that hold a text or name a file."""

    files: Sequence[str]
    texts: Sequence[str]
    generated: Sequence[str]
    new: dict[str, str] = field(default_factory=dict)  # commits by their former ids

    def __post_init__(self) -> None:
        self._gone = {file.encode() for file in self.files}
        self._stems = [file.removesuffix(".md").encode() for file in self.files]
        self._texts = sorted((each.encode() for each in self.texts), key=len, reverse=True)
        self._lines = {file.encode() for file in self.generated}

    def is_in(self, data: bytes) -> bool:
        """Whether bytes hold one of the texts."""
        return any(each in data for each in self._texts)

    def names(self, data: bytes) -> bool:
        """Whether bytes name one of the files."""
        return any(stem in data for stem in self._stems)

    def drops(self, name: bytes) -> bool:
        """Whether a file at the top goes as a whole."""
        return name in self._gone

    def cleaned(self, data: bytes, name: bytes) -> bytes:
        """The bytes of another file without the texts."""
        if name in self._lines:
            kept = [
                row for row in data.splitlines(keepends=True)
                if not self.is_in(row) and not self.names(row)
            ]  # fmt: skip
            return b"".join(kept)
        for each in self._texts:
            data = data.replace(each, ERASED.encode())
        return data

    def message(self, message: bytes, touched: bool) -> bytes:
        """A commit's message without what goes; its subject, too, where the commit touched it."""
        if not touched and not self.is_in(message) and not self.names(message):
            return message
        rows = [row for row in message.split(b"\n")[1:] if not self._is_said(row)]
        rows = [row for row in map(self._trailer, rows) if row is not None]
        said = b"\n".join(rows).rstrip(b"\n")
        trailer = f"{ERASED_TRAILER}: yes\n".encode()
        is_ours = any(row.startswith(b"Memory-Id: ") for row in rows)
        body = said + (b"\n" if is_ours else b"\n\n") + trailer
        return f"memory: {ERASED}\n".encode() + body

    def _is_said(self, row: bytes) -> bool:
        return not row.startswith(f"{FILES_TRAILER}: ".encode()) and (
            self.is_in(row) or self.names(row)
        )

    def _trailer(self, row: bytes) -> bytes | None:
        """A row of the message; of the one that lists files only those that stay."""
        begin = f"{FILES_TRAILER}: ".encode()
        if not row.startswith(begin):
            return row
        files = [each for each in file_list(text(row[len(begin) :])) if each not in self.files]
        return begin + json.dumps(files).encode() if files else None


# --- whether it can be done ----------------------------------------------------------------------


def require_plain(history: History) -> None:
    """Raise RepositoryState for a repository whose history cannot be made anew safely."""
    git = history.repository
    stands = {
        "it is a linked worktree, or has some": git.git_dir != git.common_dir
        or any((git.common_dir / "worktrees").glob("*")),
        "it is a shallow clone": (git.common_dir / "shallow").exists(),
        "it borrows objects of another": (git.common_dir / "objects/info/alternates").exists(),
        "a .keep file keeps one of its packs": any(
            (git.common_dir / "objects/pack").glob("*.keep")
        ),
        "something is stashed": history.commit("refs/stash") is not None,
        "something is staged": git.ask("diff-index", "--cached", "--quiet", "HEAD") is None,
    }
    for why in (why for why, is_so in stands.items() if is_so):
        raise RepositoryState(
            f"The history of {git.top} cannot be rewritten: {why}.",
            "Solve that with git, and run the command again.",
        )


def open_files(history: History) -> list[str]:
    """The files of an erasure that was begun and not finished."""
    with suppress(OSError):
        return file_list((history.repository.room / _MARK).read_text("utf-8"))
    return []


def versions(history: History, files: Sequence[str]) -> list[bytes]:
    """What these files at the top held in any commit that a ref reaches."""
    blobs: dict[str, None] = {}
    names = [file.encode() for file in files]
    with history.objects.open():
        tips = "".join(f"{commit}\n" for commit, _ in _refs(history).values())
        out = history.repository.run("rev-list", "--stdin", data=tips.encode()) if tips else b""
        for commit in text(out).split():
            entries = history.objects.folder(history.objects.root(commit))
            blobs |= {entries[name][1].hex(): None for name in names if name in entries}
        return [found.data for found in history.objects.read([*blobs]) if found]


def former(history: History) -> set[str]:
    """The ids of all commits that were made anew by an erasure."""
    with suppress(OSError):
        return {*(history.repository.room / _FORMER).read_text("ascii").split()}
    return set()


# --- the commits anew ----------------------------------------------------------------------------


def rewrite(history: History, erasure: Erasure) -> int:
    """Make every commit of every ref anew, and move the refs; how many changed. The caller holds
    the store's lock."""
    with history.objects.open():
        refs = _refs(history)
        made = _Anew(history, erasure).made([id for id, _ in refs.values()])
    changed = {old: new for old, new in erasure.new.items() if old != new}
    git = history.repository
    git.room.mkdir(mode=0o700, exist_ok=True)
    write_atomic(git.room / _MARK, json.dumps([*erasure.files]).encode(), mode=0o600)
    known = sorted(former(history) | changed.keys())
    write_atomic(git.room / _FORMER, "\n".join(known).encode(), mode=0o600)
    if made:
        git.run("index-pack", "--stdin", data=packed(made, git.hash_name))
    rows = []
    for ref, (commit, there) in sorted(refs.items()):
        if ref.startswith(_REMOTES):
            rows.append(f"delete {ref} {there}\n")
        elif erasure.new[commit] != there:
            rows.append(f"update {ref} {erasure.new[commit]} {there}\n")
    if rows:
        git.run("update-ref", "--stdin", data="".join(rows).encode("utf-8", "surrogateescape"))
    history.objects.forget()
    return len(changed)


def _refs(history: History) -> dict[str, tuple[str, str]]:
    """By name the commit of each ref, and what it holds itself (a tag, maybe)."""
    form = "--format=%(objectname) %(symref)|%(refname)"
    found: dict[str, tuple[str, str]] = {}
    for row in text(history.repository.run("for-each-ref", form)).splitlines():
        about, _, ref = row.partition("|")
        id, _, points_to = about.partition(" ")
        commit = None if points_to else history.commit(ref)
        if commit is not None:
            found[ref] = commit, id
    return found


class _Anew:
    """Makes commits and trees anew, parents first."""

    def __init__(self, history: History, erasure: Erasure) -> None:
        self.history, self.erasure = history, erasure
        self.things: list[Object] = []
        self.trees: dict[tuple[str, bytes], str | None] = {}
        self.blobs: dict[tuple[str, bytes], str | None] = {}

    def made(self, tips: Iterable[str]) -> list[Object]:
        """The new objects of all that the tips reach; `erasure.new` then maps the commits."""
        objects, new = self.history.objects, self.erasure.new
        if head := self.history.head():
            root = objects.root(head)
            self.trees[root, b""] = root  # the index and the work tree are of it
        words = ("rev-list", "--topo-order", "--reverse", "--parents", "--stdin")
        data = "".join(f"{tip}\n" for tip in dict.fromkeys(tips)).encode()
        names = CommitNames(new)
        for row in text(self.history.repository.run(*words, data=data)).splitlines():
            commit, *parents = row.split()
            new[commit] = self._commit(commit, parents, names)
            names.add(commit)
        return self.things

    def _commit(self, commit: str, parents: Sequence[str], names: CommitNames) -> str:
        objects, new = self.history.objects, self.erasure.new
        old = objects.commit(commit)
        root = self._tree(objects.root(commit), b"") or objects.id(Object("tree", b""))
        if root == objects.id(Object("tree", b"")):
            self.things.append(Object("tree", b""))
        head, _, message = old.partition(b"\n\n")
        said = self.erasure.message(message, self._touches(commit, parents))
        is_same = all(new[each] == each for each in parents) and root == objects.root(commit)
        if is_same and said == message and names.anew(message) == message:
            return commit
        data, _ = made_anew(head + b"\n\n" + said, root, [new[each] for each in parents], names)
        self.things.append(Object("commit", data))
        return objects.id(self.things[-1])

    def _touches(self, commit: str, parents: Sequence[str]) -> bool:
        mine = self._erased(commit)
        return any(self._erased(each) != mine for each in parents) if parents else bool(mine)

    def _erased(self, commit: str) -> dict[bytes, bytes]:
        entries = self.history.objects.folder(self.history.objects.root(commit))
        return {name: id for name, (_, id) in entries.items() if self.erasure.drops(name)}

    def _tree(self, id: str, path: bytes) -> str | None:
        """A tree without what goes; None for one that is empty then."""
        if (id, path) not in self.trees:
            self.trees[id, path] = self._tree_anew(id, path)
        return self.trees[id, path]

    def _tree_anew(self, id: str, path: bytes) -> str | None:
        entries = self.history.objects.folder(id)
        after: dict[bytes, tuple[bytes, bytes]] = {}
        for name, (mode, blob) in entries.items():
            if mode.endswith(_FOLDER):
                new = self._tree(blob.hex(), name if not path else path + b"/" + name)
            elif mode == _LINK:
                new = blob.hex()
            else:
                new = None if not path and self.erasure.drops(name) else self._blob(
                    blob.hex(), name if not path else path + b"/" + name
                )  # fmt: skip
            if new is not None:
                after[name] = mode, bytes.fromhex(new)
        if after == entries:
            return id
        if not after:
            return None
        self.things.append(tree(after))
        return self.history.objects.id(self.things[-1])

    def _blob(self, id: str, path: bytes) -> str | None:
        if (id, path) not in self.blobs:
            self.blobs[id, path] = self._blob_anew(id, path)
        return self.blobs[id, path]

    def _blob_anew(self, id: str, path: bytes) -> str | None:
        (found,) = self.history.objects.read([id])
        if found is None:
            raise GitFailed(f"git has lost the object {id}.")
        has_text, is_named = self.erasure.is_in(found.data), self.erasure.names(found.data)
        if path.startswith(_INBOX + b"/") and (has_text or is_named):
            return None
        if not (has_text or is_named):
            return id
        data = self.erasure.cleaned(found.data, path)
        if data == found.data:
            return id
        self.things.append(Object("blob", data))
        return self.history.objects.id(self.things[-1])


# --- the old bytes -------------------------------------------------------------------------------


def clear(history: History) -> None:
    """Remove every object that no ref needs, and all logs of former refs. May be repeated."""
    import shutil  # only here

    git = history.repository
    git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    shutil.rmtree(git.common_dir / "logs", ignore_errors=True)
    shutil.rmtree(git.common_dir / "rr-cache", ignore_errors=True)
    for name in (*_LOOSE, _GRAPH):
        (git.common_dir / name).unlink(missing_ok=True)
    shutil.rmtree(git.common_dir / f"{_GRAPH}s", ignore_errors=True)
    git.run("repack", "-a", "-d", "-q")
    git.run("prune", "--expire=now")
    git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")


def finish(history: History) -> None:
    """Say that nothing is left to do; until then the same command finds the erasure again."""
    (history.repository.room / _MARK).unlink(missing_ok=True)


def holding(history: History, erasure: Erasure) -> list[str]:
    """The ids of the objects in the repository, reachable or not, that hold one of the texts."""
    git = history.repository
    out = git.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    found = []
    with history.objects.open():
        for row in text(out).splitlines():
            id, kind = row.split(" ")
            (thing,) = history.objects.read([id]) if kind != "tag" else (None,)
            if thing is not None and erasure.is_in(thing.data):
                found.append(id)
    return found
