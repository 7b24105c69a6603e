"""git's objects by their ids: read through one process for a whole command, written through one.

What is read is hashed again: it is what its id says, or a failure.
"""

from __future__ import annotations

import hashlib
import os
import select
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mdmemory.errors import GitFailed
from mdmemory.git import repositories
from mdmemory.git.repositories import Repository

AT_ONCE = 50  # names asked for before their answers are read: far below what a pipe holds

_TYPES = {"commit": 1, "tree": 2, "blob": 3}  # in a pack


@dataclass(frozen=True, slots=True)
class Object:
    """A commit, a tree or a blob; `data` as git hashes it."""

    kind: str
    data: bytes


class Objects:
    """The objects of one repository. Used by one thread at a time."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._reader: _Reader | None = None
        self._holders = 0

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep the reading process for the block; within another block it is the same one."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders and self._reader:
                self._reader.close()
                self._reader = None

    def id(self, thing: Object) -> str:
        """The id that git gives an object, computed without git."""
        head = b"%s %d\0" % (thing.kind.encode(), len(thing.data))
        new = hashlib.sha256 if self.repository.hash_name == "sha256" else hashlib.sha1
        return new(head + thing.data, usedforsecurity=False).hexdigest()

    def read(self, names: Sequence[str]) -> list[Object | None]:
        """The objects of these ids (or other names without line breaks); None: there is none.

        Raises GitFailed where git cannot read one, or reads other bytes than the id says.
        """
        found: list[Object | None] = []
        with self.open():
            reader = self._reader = self._reader or _Reader(self.repository)
            for start in range(0, len(names), AT_ONCE):
                some = names[start : start + AT_ONCE]
                reader.ask(some)
                found += [self._checked(reader) for _ in some]
        return found

    def _checked(self, reader: _Reader) -> Object | None:
        answer = reader.answer()
        if answer is None:
            return None
        id, thing = answer
        if self.id(thing) != id:
            raise GitFailed(f"git's object {id} is damaged: run `git fsck`.")
        return thing

    def write(self, things: Sequence[Object]) -> None:
        """Put objects into git, synced; those that it has already stay as they are."""
        different = {(thing.kind, thing.data): thing for thing in things}
        if different:
            pack = _pack([*different.values()], self.repository.hash_name)
            self.repository.run("unpack-objects", "-q", data=pack)


class _Reader:
    """A running `git cat-file --batch`."""

    def __init__(self, repository: Repository) -> None:
        words = ("cat-file", "--batch")
        self._process = repositories.start(repository.top, words)
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

    def answer(self) -> tuple[str, Object] | None:
        """The next object and its id, or None for a name that git has nothing for."""
        while (end := self._rest.find(b"\n")) < 0:
            self._more()
        head = self._rest[:end].decode("utf-8", "replace")
        del self._rest[: end + 1]
        if head.endswith((" missing", " ambiguous")):
            return None
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
        return GitFailed(
            f"git cat-file failed: {repositories.last_line(self._process.stderr.read())}"
        )

    def close(self) -> None:
        self._process.kill()  # it only reads
        for pipe in (self._in, self._out, self._process.stderr):
            try:
                if pipe:
                    pipe.close()
            except BrokenPipeError:
                pass  # what it was asked last it will not answer any more
        self._process.wait()


def _pack(things: Sequence[Object], hash_name: str) -> bytes:
    """A pack of whole objects, not compressed: git does that when it stores them."""
    import zlib  # only where something is written

    parts = [b"PACK", struct.pack(">II", 2, len(things))]
    for thing in things:
        parts += [_head(_TYPES[thing.kind], len(thing.data)), zlib.compress(thing.data, 0)]
    body = b"".join(parts)
    return body + hashlib.new(hash_name, body, usedforsecurity=False).digest()


def _head(type: int, size: int) -> bytes:
    """Type and size as a pack has them: four bits of size in the first byte, then seven each."""
    byte, size = type << 4 | size & 15, size >> 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    return bytes([*out, byte])
