"""What is private or secret in a text, and how it is taken out. Knows text alone."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

_MOST = 200_000  # texts that are remembered, 16 bytes of each


def is_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    from mdmemory.privacy.redaction import has_secret  # loads the tables: only where it is needed

    return has_secret(text)


def redacted(text: str) -> str:
    """A text with a mark in place of each secret."""
    from mdmemory.privacy.redaction import redact

    return redact(text)[0]


class AskedOnce:
    """`is_secret`, asked once of each text: a command judges a note for the index, and the same
    bytes for search. Of texts without a secret the hashes are kept; another text has another."""

    def __init__(self, is_secret: Callable[[str], bool]) -> None:
        self._is_secret = is_secret
        self._free: set[bytes] = set()

    def __call__(self, text: str) -> bool:
        hash = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if hash in self._free:
            return False
        found = self._is_secret(text)
        if not found and len(self._free) < _MOST:
            self._free.add(hash)
        return found
