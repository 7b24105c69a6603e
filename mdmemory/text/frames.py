"""Sentences that are the same but for a word or two: there the words that differ are the fact.

"Sarah owns billing" and "Marek owns billing", "run the tests" and "skip the tests". Pure. Scripts
that put no space between words are not compared here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import product

from mdmemory.text import polarity
from mdmemory.text.contradiction import are_opposite
from mdmemory.text.statements import is_small, pieces
from mdmemory.text.words import is_cjk, sense, stem

SHARED = 0.6  # of the shorter sentence's words, the share that makes a frame
_OF_TWO = 0.5  # where it has only two words
_WIDEST = 3  # words; a longer stretch that differs is another way to say it
_LONGEST = 60  # words of a sentence that are compared
_MOST = 2_000  # sentences of a text; a note has a few
_LOOKED = 4  # sentences that are compared with one
_ENDS = frozenset(".!?;。！？；\n\n")


@dataclass(frozen=True)
class Sentence:
    """The words of one sentence in their order, as they are written."""

    words: tuple[str, ...]

    @cached_property
    def senses(self) -> tuple[str, ...]:
        return tuple(map(sense, self.words))

    @cached_property
    def said(self) -> frozenset[str]:
        """What its words mean, small ones left out."""
        return frozenset(sense(word) for word in self.words if not is_small(word))


@lru_cache(maxsize=64)  # one op looks at its few texts several times
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text that puts spaces between words."""
    found: list[Sentence] = []
    words: list[str] = []
    for piece in [*pieces(text), "."]:
        if piece in _ENDS or piece == "\n\n":
            if words and not any(is_cjk(word[0]) for word in words):
                found.append(Sentence(tuple(words[:_LONGEST])))
            words = []
        elif piece not in polarity.BREAKS:
            words.append(piece)
    return tuple(found[:_MOST])


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The senses of all words of some texts, those of compounds with hyphens and slashes, too."""
    words = {piece for text in texts for piece in pieces(text)}
    parts = {part for word in words for part in _parts(word)}
    return frozenset(map(sense, words | parts))


def holds(known: frozenset[str], word: str) -> bool:
    """Whether a vocabulary has a word, or all parts of one that is put together."""
    return sense(word) in known or all(sense(part) in known for part in _parts(word))


def _parts(word: str) -> list[str]:
    for sign in "-/:@.":
        word = word.replace(sign, " ")
    return word.split()


def rivals(one: str, other: str) -> set[str]:
    """The words in which sentences of two texts differ that are the same otherwise."""
    theirs = sentences(other)
    found: set[str] = set()
    index = _Index(theirs)
    same = {each.senses for each in theirs}
    for mine in sentences(one):
        if mine.said and mine.senses not in same:
            for near in index.near(mine):
                for left, right in _slots(mine, near):
                    found.update(left, right)
    # what is denied is judged as such
    return {word for word in found if not _denies((word,))}


def replaced(sources: Sequence[str], result: str) -> tuple[str, str] | None:
    """What a sentence of the result says in place of what the sources say there: (new, old).

    A sentence that another one of the sources bears out is fine, and so is one like none of them.
    """
    known = [each for text in sources for each in sentences(text)]
    index = _Index(known)
    same = {each.senses for each in known}
    for mine in sentences(result):
        near = index.near(mine) if mine.senses not in same else []
        clear = [each for each in near if _conflict(mine, each) is None]
        for known_one in near:
            found = _conflict(mine, known_one)
            if found and not any(_has(each, found[0]) for each in clear):
                return found
    return None


def _has(sentence: Sentence, words: str) -> bool:
    return all(sense(word) in sentence.said for word in words.split())


class _Index:
    """Sentences by what they say, so that few are compared with each other."""

    def __init__(self, known: Sequence[Sentence]) -> None:
        self._known = list(dict.fromkeys(known))
        self._holders: dict[str, list[int]] = defaultdict(list)
        for at, each in enumerate(self._known):
            for word in each.said:
                self._holders[word].append(at)

    def near(self, sentence: Sentence) -> list[Sentence]:
        """Those that share its frame, the most alike first."""
        counts = Counter(at for word in sentence.said for at in self._holders.get(word, ())[:200])
        likely = sorted(counts, key=lambda at: (-counts[at], at))[: 2 * _LOOKED]
        found = [(_alike(sentence, self._known[at]), at) for at in likely]
        found = [pair for pair in found if pair[0] >= self._enough(sentence, pair[1])]
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [self._known[at] for _, at in found[:_LOOKED]]

    def _enough(self, sentence: Sentence, at: int) -> float:
        lengths = len(sentence.words), len(self._known[at].words)
        return _OF_TWO if min(lengths) == 2 and max(lengths) <= 3 else SHARED


def _alike(one: Sentence, other: Sentence) -> float:
    """The share of the shorter sentence's words that stand in the other, in the same order; all of
    them where only the order differs."""
    if sorted(one.senses) == sorted(other.senses):
        return 1.0
    blocks = _matcher(one, other).get_matching_blocks()
    return sum(block.size for block in blocks) / min(len(one.words), len(other.words))


def _matcher(one: Sentence, other: Sentence) -> SequenceMatcher[str]:
    return SequenceMatcher(None, one.senses, other.senses, autojunk=False)


def _slots(one: Sentence, other: Sentence) -> Iterator[tuple[list[str], list[str]]]:
    """What stands in one place of two sentences, where each lacks the other's words."""
    for kind, start, end, begin, stop in _matcher(one, other).get_opcodes():
        if kind == "replace" and max(end - start, stop - begin) <= _WIDEST:
            left = _lacking(one.words[start:end], other)
            right = _lacking(other.words[begin:stop], one)
            if left and right:
                yield left, right


def _lacking(words: Sequence[str], other: Sentence) -> list[str]:
    return [word for word in words if not is_small(word) and sense(word) not in other.said]


def _denies(words: Iterable[str]) -> bool:
    return any(polarity.is_negation(word.casefold()) for word in words)


def _opposed(mine: Sentence, known: Sentence) -> tuple[str, str] | None:
    """Small words that stand in one place and say the opposite, as "before" and "after" do."""
    for kind, start, end, begin, stop in _matcher(mine, known).get_opcodes():
        if kind == "replace" and max(end - start, stop - begin) <= _WIDEST:
            for one, other in product(mine.words[start:end], known.words[begin:stop]):
                pair = one.casefold(), other.casefold()
                if are_opposite(*pair) or frozenset(pair) in _GERMAN:
                    return one, other
    return None


def _conflict(mine: Sentence, known: Sentence) -> tuple[str, str] | None:
    if found := _opposed(mine, known):
        return found
    for left, right in _slots(mine, known):
        if _denies(left) and _denies(right):
            continue
        return " ".join(left), " ".join(right)
    return _swapped(mine, known)


def _swapped(mine: Sentence, known: Sentence) -> tuple[str, str] | None:
    """Two words that changed places around a third: "Anna reviews Bob's code"."""
    left, right = (tuple(map(stem, each.words)) for each in (mine, known))
    if len(left) != len(right) or left == right:
        return None
    differ = [at for at, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1]]
    if len(differ) != 2:
        return None
    first, last = differ
    is_swap = left[first] == right[last] and left[last] == right[first]
    between = mine.words[first + 1 : last]
    # "tea and coffee" may stand the other way round
    if not is_swap or all(word.casefold() in _JOINS for word in between):
        return None
    return mine.words[first], known.words[first]


_GERMAN = frozenset(
    frozenset(pair.split("/"))
    for pair in ("vor/nach", "mit/ohne", "an/aus", "ein/aus", "immer/nie", "bevor/nachdem")
)
_JOINS = frozenset(("and", "or", "und", "oder", "et", "ou", "y", "o", "as", "well"))
