"""Whether two notes say the same, or one says all that the other does, by their words alone.

No similarity decides here: sentences are compared as sequences of words, less what carries no
meaning, so that a merge of such notes loses nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable
from functools import lru_cache

from mdmemory.note.note import Note
from mdmemory.text import literals
from mdmemory.text.relation import Kind, relation
from mdmemory.text.words import key, spellings, stem

Sentence = tuple[str, ...]

_CLOSING = re.compile(r"(?<![.,;:!…。，；：！、])[.,;:!…。，；：！、]++(?=\s|$)")
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_FORM = re.compile(r"^[ \t]*(?:[-*+•>#]+[ \t]+|\d{1,2}[.)][ \t]+)+|[`*\"“”]")
_FILLERS = frozenset(("a", "an", "the", "please", "also"))
_FILLERS_CJK = re.compile(r"[的请請]")


def plain(text: str) -> str:
    """A text without what does not matter: case, width, runs of space, closing punctuation.

    A question mark matters, and so does punctuation inside words: C is not C++.
    """
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(_CLOSING.sub(" ", folded.casefold()).split())


def wording(note: Note) -> Hashable:
    """Equal for two notes of one type and kind whose texts are `plain` the same."""
    head = note.head
    return (head.type, head.kind, plain(head.description), plain(note.body))


def same_key(note: Note) -> Hashable:
    """Equal for two notes that say exactly the same: type, kind, wording and literals."""
    text = f"{note.head.description}\n{note.body}"
    return wording(note), frozenset(literals.tokens(text))


def sentences(note: Note) -> frozenset[Sentence]:
    """What a note says, description and body: each sentence as its words in their order.

    Articles, "please" and "also", a final s, list marks and emphasis are form.
    """
    parts = [note.head.description, *_ENDS.split(note.body)]
    return frozenset(filter(None, map(_sentence, parts)))


def in_other_words(one: Note, other: Note) -> bool:
    """Whether two notes of one type and kind say the same fact in other words."""
    if (one.head.type, one.head.kind) != (other.head.type, other.head.kind):
        return False
    if relation(one.head.description, other.head.description).kind is not Kind.SAME:
        return False
    texts = (as_one(note.head.description, note.body) for note in (one, other))
    return relation(*texts).kind is Kind.SAME


def as_one(description: str, body: str) -> str:
    """Description and body as one text; what the body begins with once more stands there once."""
    description, body = description.strip(), body.strip()
    if plain(body).startswith(plain(description)):
        return body
    return f"{description}\n{body}" if body else description


def _sentence(text: str) -> Sentence:
    words = plain(_FORM.sub("", text)).split()
    return tuple(kept for word in words if word not in _FILLERS and (kept := _kept(word)))


@lru_cache(maxsize=20_000)
def _kept(word: str) -> str:
    if not word.isascii():
        return _FILLERS_CJK.sub("", word)
    if not word.isalnum():
        return word
    return f"={key(word)}" if word in spellings() else stem(word)
