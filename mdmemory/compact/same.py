"""Whether two notes say the same but for case, punctuation and the order of sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable

from mdmemory.note.note import Note
from mdmemory.text import literals

_CLOSING = re.compile(r"(?<![.,;:!…。，；：！、])[.,;:!…。，；：！、]++(?=\s|$)")
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_FORM = re.compile(r"(?m)^[ \t]*(?:[-*+•>#]+[ \t]+|\d{1,2}[.)][ \t]+)+|[`*\"“”]")


def plain(text: str) -> str:
    """A text without what does not matter: case, width, runs of space, closing punctuation.

    A question mark matters, and so does punctuation inside words: C is not C++.
    """
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(_CLOSING.sub(" ", folded.casefold()).split())


def wording(note: Note) -> Hashable:
    """Equal for two notes of one type and kind that have the same sentences, in whatever order; a
    body that says the description once more counts as none."""
    head = note.head
    description, body = _sentences(head.description), _sentences(note.body)
    return (head.type, head.kind, description, body - description)


def same_key(note: Note) -> Hashable:
    """Equal for two notes that say exactly the same: type, kind, sentences and literals."""
    text = f"{note.head.description}\n{note.body}"
    return wording(note), frozenset(literals.literal_tokens(text))


def _sentences(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(plain, _ENDS.split(_FORM.sub("", text)))))
