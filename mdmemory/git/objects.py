"""git's objects and the trees made of them, read through one process and written through one.

What is read is hashed again: it is what its id says, or a failure. Of a tree that is edited, the
other entries keep every byte. Nothing here moves a ref or a file.
"""

from __future__ import annotations

import hashlib
import os
import re
import select
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from mdmemory import debugging
from mdmemory.errors import Busy, GitFailed
from mdmemory.files import list_names, to_bytes, to_text
from mdmemory.git import repositories
from mdmemory.git.lock import hold_turn
from mdmemory.git.repositories import Repository

AT_ONCE = 50  # names asked for before their answers are read: far below what a pipe holds

FOLDER = b"40000"  # the mode of a folder; some old trees have a zero before it

MANY = 100  # objects that are one file in git's own eyes (fetch.unpackLimit)
_AS_PACK, _ONE_BY_ONE = ("index-pack", "--stdin"), ("unpack-objects", "-q")
_TYPES = {"commit": 1, "tree": 2, "blob": 3}  # in a pack
_Entries = dict[bytes, tuple[bytes, bytes]]  # name: its mode, and its id as bytes


class Object(NamedTuple):
    """A commit, a tree or a blob; `data` as git hashes it."""

    kind: str
    data: bytes


class Blob(NamedTuple):
    """A file in a tree: its mode ("100644", "100755") and its object id."""

    mode: str
    id: str


Entries = Mapping[str, Blob | None]  # what a commit sets in the folder; None: removed


class Objects:
    """The objects of one repository, trees among them. Used by one thread at a time.

    What was read of trees is known until the last open block ends.
    """

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        width = 32 if repository.hash_name == "sha256" else 20
        self._entry = re.compile(rb"(\d+) ([^\0]+)\0(.{%d})" % width, re.DOTALL)
        self._roots: dict[str, str] = {}
        self._known: dict[str, _Entries] = {}
        self._reader: _Reader | None = None
        self._holders = 0

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep the reading process, and what is read, for the block; also within another block."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self.forget()
                if self._reader:
                    self._reader.close()
                    self._reader = None

    def forget(self) -> None:
        """Read all trees anew at the next question."""
        self._roots.clear()
        self._known.clear()

    def hash(self, thing: Object) -> str:
        """The id that git gives an object, computed without git."""
        head = b"%s %d\0" % (thing.kind.encode(), len(thing.data))
        new = hashlib.sha256 if self.repository.hash_name == "sha256" else hashlib.sha1
        return new(head + thing.data, usedforsecurity=False).hexdigest()

    def read(self, names: Sequence[str]) -> list[Object | None]:
        """The objects of these ids (or other names without line breaks); None: there is none.

        Raises GitFailed where git cannot read one, or reads other bytes than the id says.
        """
        objects: list[Object | None] = []
        with self.open():
            reader = self._reader = self._reader or _Reader(self.repository)
            for start in range(0, len(names), AT_ONCE):
                some = names[start : start + AT_ONCE]
                reader.ask(some)
                for id, thing in map(reader.answer, some):
                    if thing and self.hash(thing) != id:
                        raise GitFailed(f"git's object {id} is damaged.")
                    objects.append(thing)
        return objects

    def write(self, things: Sequence[Object]) -> None:
        """Put objects into git, synced; those that it has already stay as they are."""
        different = {(thing.kind, thing.data): thing for thing in things}
        if different:
            pack = pack_objects([*different.values()], self.repository.hash_name)
            # as git does with what it fetches: many stay one file, which is synced once
            is_much = len(different) >= MANY
            self.repository.run(*(_AS_PACK if is_much else _ONE_BY_ONE), data=pack)

    def files(self, commit: str, folder: str) -> dict[str, Blob]:
        """The files (links too) directly in a folder ("" for the top, no slash at its end)."""
        entries = self._read_folder(commit, folder)
        return {
            to_text(n): Blob(entry[0].decode(), entry[1].hex())
            for n, entry in entries.items() if _is_file(entry)
        }  # fmt: skip

    def ids(self, commit: str, folder: str) -> dict[str, str]:
        """Their object ids alone: of thousands, in a third of the time."""
        entries = self._read_folder(commit, folder)
        return {to_text(n): entry[1].hex() for n, entry in entries.items() if _is_file(entry)}

    def find_files(self, commit: str, paths: Iterable[str]) -> dict[str, Blob]:
        """Those of the files at these paths, from the top, that a commit has."""
        entries = self._find_entries(commit, paths)
        return {
            path: Blob(entry[0].decode(), entry[1].hex())
            for path, entry in entries if entry and _is_file(entry)
        }  # fmt: skip

    def _find_entries(
        self, commit: str, paths: Iterable[str]
    ) -> Iterator[tuple[str, tuple[bytes, bytes] | None]]:
        folders: dict[str, _Entries] = {}
        with self.open():
            for path in paths:
                folder, _, name = path.rpartition("/")
                if folder not in folders:
                    folders[folder] = self._read_folder(commit, folder)
                yield path, folders[folder].get(to_bytes(name))

    def edit_root(
        self, commit: str | None, entries: Mapping[str, Blob | None]
    ) -> tuple[str, list[Object]]:
        """The root tree of `commit` with these paths set (None: removed), and what is new of it.

        Raises GitFailed where a folder stands under a file's name, or a file under a folder's.
        """
        made: list[Object] = []
        with self.open():
            root = None if commit is None else self.root(commit)
            paths = {tuple(to_bytes(path).split(b"/")): blob for path, blob in entries.items()}
            id = self._edit(root, paths, made)
            if id is None:  # the last file is gone
                made.append(Object("tree", b""))
                id = self.hash(made[-1])
        return id, made

    def _edit(
        self, id: str | None, paths: Mapping[tuple[bytes, ...], Blob | None], made: list[Object]
    ) -> str | None:
        entries = {} if id is None else self._read_tree(id).copy()
        below: dict[bytes, dict[tuple[bytes, ...], Blob | None]] = {}
        for (name, *rest), blob in paths.items():
            there = entries.get(name)
            if rest:
                below.setdefault(name, {})[tuple(rest)] = blob
            elif there and _is_folder(there):
                if blob is not None:
                    raise GitFailed(f"{to_text(name)} is a folder in git, and no file.")
            elif blob is None:
                entries.pop(name, None)
            else:
                entries[name] = (blob.mode.encode(), bytes.fromhex(blob.id))
        for name, inside in below.items():
            there = entries.get(name)
            if there and not _is_folder(there):
                if not any(inside.values()):
                    continue  # nothing is there that could be removed
                raise GitFailed(f"{to_text(name)} is a file in git, and no folder.")
            folder = self._edit(there[1].hex() if there else None, inside, made)
            entries.pop(name, None)
            if folder is not None:
                entries[name] = (FOLDER, bytes.fromhex(folder))
        if not entries:
            return None  # git has no empty folders
        # git sorts a folder as if its name ended with a slash
        names = {n + b"/" if _is_folder(e) else n: n for n, e in entries.items()}
        order = [names[each] for each in sorted(names)]  # most come so already: quickly sorted
        rows = [b"%s %s\0%s" % (entries[n][0], n, entries[n][1]) for n in order]
        made.append(Object("tree", b"".join(rows)))
        return self.hash(made[-1])

    def folder_id(self, commit: str, folder: str) -> str:
        """The id of the tree of a folder; "" where there is none."""
        with self.open():
            id = self.root(commit)
            for name in to_bytes(folder).split(b"/") if folder else ():
                there = self._read_tree(id).get(name)
                if there is None or not _is_folder(there):
                    return ""
                id = there[1].hex()
            return id

    def _read_folder(self, commit: str, folder: str) -> _Entries:
        with self.open():
            id = self.folder_id(commit, folder)
            return self._read_tree(id) if id else {}

    def read_commit(self, name: str) -> bytes:
        """A commit as git has it. Raises GitFailed where there is none."""
        (commit,) = self.read([f"{name}^{{commit}}"])
        if commit is None:
            raise GitFailed(
                f"git has no commit {name}.",
                "A shallow clone lacks what came before; else `git fsck` tells what is damaged.",
            )
        return commit.data

    def root(self, commit: str) -> str:
        """The id of a commit's tree."""
        if commit not in self._roots:
            line, _, _ = self.read_commit(commit).partition(b"\n")
            self._roots[commit] = line.decode().removeprefix("tree ")
        return self._roots[commit]

    def _read_tree(self, id: str) -> _Entries:
        if id in self._known:
            return self._known[id]
        (tree,) = self.read([id])
        if tree is None:
            raise GitFailed(f"git has no tree {id}, which a commit names.")
        entries = {name: (mode, blob) for mode, name, blob in self._entry.findall(tree.data)}
        self._known[id] = entries
        return entries


class _Reader:
    """A running `git cat-file --batch`."""

    def __init__(self, repository: Repository) -> None:
        self._process = repository.start(repository.top, ("cat-file", "--batch"))
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._rest = bytearray()

    def ask(self, names: Sequence[str]) -> None:
        try:
            self._in.write("".join(f"{name}\n" for name in names).encode())
            self._in.flush()
        except BrokenPipeError as problem:
            raise self._failure() from problem

    def answer(self, name: str) -> tuple[str, Object | None]:
        """The id and the object of `name`, the next that was asked for; None: there is none."""
        while (end := self._rest.find(b"\n")) < 0:
            self._more()
        head = self._rest[:end].decode("utf-8", "replace")
        del self._rest[: end + 1]
        if head.endswith((" missing", " ambiguous")):
            return name, None
        id, kind, size = head.split(" ")
        while len(self._rest) <= int(size):
            self._more()
        data = bytes(self._rest[: int(size)])
        del self._rest[: int(size) + 1]
        return id, Object(kind, data)

    def _more(self) -> None:
        if not self._poll.poll(repositories.TIMEOUT * 1000):
            raise GitFailed(f"git cat-file did not answer within {repositories.TIMEOUT:.0f} s.")
        part = os.read(self._out.fileno(), 1 << 18)
        if not part:
            raise self._failure()
        self._rest += part

    def _failure(self) -> GitFailed:
        assert self._process.stderr
        why = repositories.last_line(self._process.stderr.read())
        return GitFailed(f"git cat-file failed: {why}")

    def close(self) -> None:
        self._process.kill()  # it only reads
        for pipe in (self._in, self._out, self._process.stderr):
            try:
                if pipe:
                    pipe.close()
            except BrokenPipeError:
                pass  # what it was asked last it will not answer any more
        self._process.wait()


def pack_objects(things: Sequence[Object], hash_name: str) -> bytes:
    """A pack of whole objects, not compressed: git does that when it stores them."""
    import zlib  # only where something is written

    pack = bytearray(b"PACK" + struct.pack(">II", 2, len(things)))
    for thing in things:
        # type and size: four bits of the size in the first byte, then seven each
        byte, size = _TYPES[thing.kind] << 4 | len(thing.data) & 15, len(thing.data) >> 4
        while size:
            pack.append(byte | 0x80)
            byte, size = size & 0x7F, size >> 7
        pack.append(byte)
        pack += zlib.compress(thing.data, 0)
    return bytes(pack) + hashlib.new(hash_name, pack, usedforsecurity=False).digest()


def _is_folder(entry: tuple[bytes, bytes]) -> bool:
    return entry[0].endswith(FOLDER)


def _is_file(entry: tuple[bytes, bytes]) -> bool:
    return entry[0][:2] in (b"10", b"12")  # neither a folder (40000) nor a submodule (160000)


# Objects that lie one by one become packs, as behind a person's own `git commit` now and then. Each
# commit holds the tree of its folder anew: 2.5 MB at 100,000 notes while it lies by itself, some
# hundred bytes in a pack. Only for a repository that is the memory's: a project's git packs by
# itself.

LOOSE = 512  # objects that lie one by one; a commit makes about four
_PACKING = 60.0  # seconds that an erasure waits for a packing that began before
_LONGEST = 1_800.0  # seconds; 100,000 notes take one minute
_FOLDERS = 256  # among which git spreads its objects evenly


@contextmanager
def hold_packing(repository: Repository, patience: float = _PACKING) -> Iterator[None]:
    """Keep others from packing for the block. Raises Busy where one goes on for longer."""
    path = repository.common_dir / "mdmemory-packing.lock"
    with hold_turn(path, patience, "The history of the memory is being packed."):
        yield


def count_loose(repository: Repository) -> int:
    """About how many objects lie one by one, as `git gc --auto` counts: by one folder of them."""
    return len(list_names(repository.common_dir / "objects/17")) * _FOLDERS


def pack_if_due(repository: Repository) -> bool:
    """Pack what lies one by one if it is much; whether that was done. Writers go on meanwhile.

    Nothing is removed but what a pack holds by then, and what no ref names is packed as well.
    """
    if count_loose(repository) < LOOSE:
        return False
    words = ("repack", "--geometric=2", "-d", "-q")
    try:
        with hold_packing(repository, 0.0):
            done = repositories.run(repository.top, words, seconds=_LONGEST)
    except (Busy, GitFailed) as problem:  # nothing is lost by it, and the next pass tries again
        debugging.log_line("git repack: %s", problem)
        return False
    return done.returncode == 0
