"""Which edited protocol a person stands by: a file of their own, never of the project.

A repository can bring any PROTOCOL.md along; it reaches a model only by the digest recorded here.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, read_regular, write_atomic, writing
from mdmemory.records import dataclass


@dataclass(frozen=True, slots=True)
class Trust:
    """The record at `path`: real path of a file to the sha256 of its bytes. It may be missing."""

    path: Path

    def has(self, file: Path, data: bytes) -> bool:
        """Whether a person stood by exactly these bytes in this place."""
        return self._read().get(os.path.realpath(file)) == digest(data)

    def add(self, file: Path, data: bytes) -> None:
        """Stand by these bytes in this place, and by no others there. Raises Unwritable."""
        self._write({**self._read(), os.path.realpath(file): digest(data)})

    def forget(self, file: Path) -> bool:
        """Stand by nothing in this place; whether there was anything. Raises Unwritable."""
        known = self._read()
        found = known.pop(os.path.realpath(file), None)
        if found:
            self._write(known)
        return found is not None

    def _read(self) -> dict[str, str]:
        """What is recorded; of a record that cannot be read, nothing: then nothing is trusted."""
        try:
            found = json.loads(read_regular(self.path))
        except (MdmemoryError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, known: dict[str, str]) -> None:
        with writing(self.path):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps(known, indent=2, ensure_ascii=True, sort_keys=True)
        write_atomic(self.path, f"{text}\n".encode(), mode=0o600)
