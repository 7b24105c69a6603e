"""One text as it is compared with another: its words, what it denies, the values it names.

Words are folded; Chinese, Japanese and Korean, which put no space between words, come as bigrams.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from mdmemory.text import polarity
from mdmemory.text.words import CJK, ENGLISH, SMALL, VAGUE, grams, is_cjk, key, normal, stem

LETTER = rf"[^\W{CJK}]"
_TOKEN = re.compile(
    rf"[{CJK}]+|{LETTER}(?:{LETTER}|[+#]|[.@/:'’-](?={LETTER}))*|[.,;:!?，。；：！？、]|\n\s*\n|\n"
)
_MARKS = re.compile(r"(?<!\w)[*_#]+|[*_]+(?!\w)|[`>\[\]()\"“”]+")
# A line that begins anew, whatever the one before it ends with: a bullet, a heading, a reason.
_NEW_LINE = re.compile(r"\n(?=[ \t]*(?:[-*+•>#|]|\d{1,2}[.)][ \t]|[Ww]hy\b))")


_TIMES = frozenset(
    (
        "monday tuesday wednesday thursday friday saturday sunday january february april june july "
        "august september october november december two three four five six seven eight nine ten "
        "eleven twelve daily weekly monthly yearly hourly"
    ).split()
)
_TIMES_CJK = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六日天]|[一二三四五六七八九十百千两]{1,12}(?=[点月号天个次年周时分])"
)

_GERMAN = 0.15  # share of capitals inside sentences beyond which a capital says nothing
_ENOUGH = 20  # words inside sentences that such a share takes
# A line break of hard-wrapped prose is inside a sentence.
_WRAP = re.compile(r"(?<=[^\n]{40}[\w,])\n(?=[^\W\d_])")
_INSIDE = re.compile(rf"(?<=[\w,;:)] )(?![{CJK}])[^\W\d_][\w'’.-]*")
_SHAPED = re.compile(rf"(?<![\w'’])[^\W\d_{CJK}]{{2,}}+(?![\d_])")
_NOT_NAMES = frozenset(("I", "Why", "I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"))


class Statement:
    """One text, cut up for comparing; every part is worked out when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def pieces(self) -> list[str]:
        """Words, runs of CJK, punctuation and line breaks in their order, not folded."""
        return pieces(self.text)

    @cached_property
    def tokens(self) -> list[str]:
        """The words and runs alone, folded."""
        return [piece.casefold() for piece in self.pieces if piece not in polarity.BREAKS]

    @cached_property
    def ordered(self) -> str:
        """Its words, sorted: what token_sort_ratio compares."""
        return " ".join(sorted(self.tokens))

    @cached_property
    def words(self) -> frozenset[str]:
        if self.text.isascii():
            return frozenset(self.tokens)  # no bigrams there, and this is asked of every op
        return frozenset(word for token in self.tokens for word in (token, *grams(token)))

    @cached_property
    def negated(self) -> frozenset[str]:
        return polarity.negated(self.pieces) if polarity.may_deny(self.text) else frozenset()

    @cached_property
    def denials(self) -> int:
        """How many words deny something."""
        return polarity.denials(self.pieces)

    @cached_property
    def values(self) -> frozenset[str]:
        return frozenset(_values(self.text, self.tokens))

    @cached_property
    def lower(self) -> frozenset[str]:
        """The words that are written in small letters alone: no names."""
        return frozenset(filter(str.islower, self.pieces))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Its words, each as its key."""
        return frozenset(map(key, self.tokens))

    def alone(self, other: Statement) -> set[str]:
        """Plain words that the other does not have in any form: quick to tell."""
        return {
            word
            for word in self.lower - other.lower
            if word.isalpha()
            and word not in SMALL
            and word.removesuffix("s") not in _TIMES
            and not polarity.is_negation(word)
            and key(word) not in other.keys
        }

    @cached_property
    def matter(self) -> frozenset[str]:
        """What it speaks of: its words less values, negations and small words; of CJK the
        characters, because any two of them may make a word."""
        found: set[str] = set()
        for token in self.tokens:
            if is_cjk(token[0]):
                found.update(polarity.without_negation(_TIMES_CJK.sub("", token)))
            elif token not in SMALL and not polarity.is_negation(token):
                found.update((self._subject(token),) if not self._names(token) else ())
        return frozenset(found)

    def _subject(self, token: str) -> str:
        """The key of a word; but a mailer that sends mail is not the mail."""
        is_doer = token.endswith("er") and token[:-2] in self.words
        return token if is_doer else key(token)

    def _names(self, token: str) -> bool:
        return not {token, token.removeprefix("v"), stem(token)}.isdisjoint(self.values)


def pieces(text: str) -> list[str]:
    """A text cut into words, runs of CJK, punctuation, and line breaks.

    A line break that begins something new (a paragraph, a bullet) is a piece of two breaks.
    """
    plain = normal(text)
    if "\n" in plain:
        plain = _NEW_LINE.sub("\n\n", plain)
    found = _TOKEN.findall(_MARKS.sub(" ", plain))
    return [piece if piece.strip() else "\n" * min(2, piece.count("\n")) for piece in found]


def is_small(word: str) -> bool:
    """Whether a word carries no fact of its own; a negation does."""
    folded = word.casefold()
    return folded in VAGUE and not polarity.is_negation(folded)


def turned(sources: Sequence[str], result: str) -> list[str]:
    """The words that the sources deny and the result says, or the reverse; sorted.

    Of each source that denies something, and of the result, something must stay denied as well.
    """
    if not any(map(polarity.may_deny, (*sources, result))):
        return []
    denied = [polarity.surely_negated(pieces(text)) for text in sources]
    before, after = pieces("\n".join(sources)), pieces(result)
    may, may_after = polarity.possibly_negated(before), polarity.possibly_negated(after)
    said, said_after = _said(before), _said(after)
    sure = polarity.surely_negated(after)
    found = {
        word
        for word in frozenset().union(*denied) - may_after.keys()
        if said_after[word] > said[word] - may[word]
    }
    found |= (sure & said.keys()) - may.keys()
    for words, kept in (*((words, may_after) for words in denied), (sure, may)):
        found |= frozenset() if _roots(words) & _roots(kept) else words
    return sorted(found)


def _roots(words: Iterable[str]) -> set[str]:
    """The beginnings of words: "class" and "classes" deny the same."""
    return {word[:5] for word in words}


def flipped(old: Sequence[str], new: str, whole: str) -> list[str]:
    """The words that one of the `old` texts denies and the `new` one says, or the reverse, where
    nothing in the `whole` of the old text says so; sorted. Unlike with `turned`, the new text may
    leave out what is denied."""
    if not any(map(polarity.may_deny, (*old, new))):
        return []
    before, after = pieces(whole), pieces(new)
    may, may_after = polarity.possibly_negated(before), polarity.possibly_negated(after)
    told, told_after = _said(before), _said(after)
    denied = frozenset().union(*(polarity.surely_negated(pieces(text)) for text in old))
    found = {
        word for word in denied if told_after[word] > may_after[word] and told[word] <= may[word]
    }
    found |= (polarity.surely_negated(after) & told.keys()) - may.keys()
    return sorted(found)


def _said(found: Iterable[str]) -> Counter[str]:
    """How often each word stands there, denied or not."""
    folded = [piece.casefold() for piece in found if piece not in polarity.BREAKS]
    return Counter(word for piece in folded for word in (dict.fromkeys((piece, *grams(piece)))))


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
    words = [word for word in inside if len(word) > 1]
    nouns = [word for word in capital if len(word) > 1]
    return len(words) >= _ENOUGH and len(nouns) > _GERMAN * len(words)


def _bare(word: str) -> str:
    return word.rstrip(".'’-").removesuffix("'s").removesuffix("’s")


def _values(text: str, tokens: list[str]) -> set[str]:
    found = {token for token in tokens if _is_identifier(token)}
    found.update(stem(token) for token in tokens if token.removesuffix("s") in _TIMES)
    found.update(token.removeprefix("v") for token in tokens if any(map(str.isdigit, token)))
    found.update(match.group() for match in _TIMES_CJK.finditer(text))
    return found | proper_nouns(text).keys()


def _is_identifier(token: str) -> bool:
    return "_" in token or bool(re.search(r"\w[.@/]\w|[+#]$", token))
