"""The words of a text as they are written, and its proper nouns. Pure."""

from __future__ import annotations

import re

from mdmemory.text.words import CJK, ENGLISH, normal

_LETTER = rf"[^\W{CJK}]"
_TOKEN = re.compile(
    rf"[{CJK}]+|{_LETTER}(?:{_LETTER}|[+#]|[.@/:'’-](?={_LETTER}))*|[.,;:!?，。；：！？、]|\n\s*\n|\n"
)
_MARKS = re.compile(r"(?<!\w)[*_#]+|[*_]+(?!\w)|[`>\[\]()\"“”]+")
# A line that begins anew, whatever the one before it ends with: a bullet, a heading, a reason.
_NEW_LINE = re.compile(r"\n(?=[ \t]*(?:[-*+•>#|]|\d{1,2}[.)][ \t]|[Ww]hy\b))")
_GERMAN = 0.15  # share of capitals inside sentences beyond which a capital says nothing
# Small words by which a German text is known, and how many of all words they are at least.
_OF_GERMAN = frozenset(
    "der die das den dem des und nicht ist sind wird werden ein eine einen mit auf für von zum zur "
    "wir im am bei aus nur nach bis".split()
)
_OFTEN = 5
_ENOUGH = 20  # words inside sentences that such a share takes
# A line break of hard-wrapped prose is inside a sentence.
_WRAP = re.compile(r"(?<=[^\n]{40}[\w,])\n(?=[^\W\d_])")
_INSIDE = re.compile(rf"(?<=[\w,;:)] )(?![{CJK}])[^\W\d_][\w'’.-]*")
_SHAPED = re.compile(rf"(?<![\w'’])[^\W\d_{CJK}]{{2,}}+(?![\d_])")
_NOT_NAMES = frozenset(("I", "Why", "I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"))


def pieces(text: str) -> list[str]:
    """A text cut into words, runs of CJK, punctuation, and line breaks.

    A line break that begins something new (a paragraph, a bullet) is a piece of two breaks.
    """
    plain = normal(text)
    if "\n" in plain:
        plain = _NEW_LINE.sub("\n\n", plain)
    found = _TOKEN.findall(_MARKS.sub(" ", plain))
    return [piece if piece.strip() else "\n" * min(2, piece.count("\n")) for piece in found]


def proper_nouns(text: str, *, german: bool | None = None) -> dict[str, str]:
    """The proper nouns of a text, folded, each with one way it is written there.

    A word with a capital inside a sentence, one of mixed case, or all capitals. Where more than
    15 % of the words inside sentences begin with a capital, as in German, a capital there says
    nothing; `german` settles that from outside.
    """
    text = _WRAP.sub(" ", normal(text))
    shaped = [word for word in _SHAPED.findall(text) if any(map(str.isupper, word[1:]))]
    inside, capital = _capitals(text)
    if german is None:
        german = _is_german(inside, capital)
    found = shaped if german else [*capital, *shaped]
    return {_bare(word).casefold(): _bare(word) for word in found}


def is_german(text: str) -> bool:
    """Whether a text writes so many capitals inside sentences that they name nothing."""
    return _is_german(*_capitals(_WRAP.sub(" ", text)))


def _capitals(text: str) -> tuple[list[str], list[str]]:
    inside = _INSIDE.findall(text)
    capital = (word for word in inside if word[0].isupper() and word not in _NOT_NAMES)
    return inside, [word for word in capital if _bare(word).casefold() not in ENGLISH]


def _is_german(inside: list[str], capital: list[str]) -> bool:
    if sum(word.casefold() in _OF_GERMAN for word in inside) * _OFTEN >= len(inside) > 3:
        return True
    words = [word for word in inside if len(word) > 1]
    nouns = [word for word in capital if len(word) > 1]
    return len(words) >= _ENOUGH and len(nouns) > _GERMAN * len(words)


def _bare(word: str) -> str:
    return word.rstrip(".'’-").removesuffix("'s").removesuffix("’s")
