"""Where a turn says what a quote gives with small changes: an ellipsis, a name in front, other
marks, a mended typo, a filler less. Pure.

What counts then are the words of the turn. A quote with another number, name or negation is none.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from mdmemory.capture.triggers import FLOOR, weight
from mdmemory.text import polarity
from mdmemory.text.statements import pieces
from mdmemory.text.words import CJK, GRAMMAR, STOP, VAGUE, is_cjk, key

if TYPE_CHECKING:
    from rapidfuzz.distance import Opcode

LONGEST = 1_000  # characters of a quote that is looked for word by word; a good one has 200
MOST_GAP = 400  # characters of the turn that an ellipsis stands for
FEWEST = 3  # words of a piece that need not be there word for word
LEFT_OUT = 3  # words of the turn in a row that a quote may lack
EDITED = 0.25  # of the words of a quote that may differ; two always may
SHARED = 0.6  # of its words that the turn has, in their order, for a quote to be nearly there
CLAUSE = 200  # characters around a quote in which its sentence begins and ends

_ELLIPSIS = re.compile(r"[\[(]\s?(?:\.{3}|…)\s?[\])]|\.{3,}|[…⋯]+")
_SPEAKER = re.compile(
    r"(?i)[\s*_>\"'“「-]{0,6}(?:the )?(?:user|human|me|nutzer(?:in)?|benutzer|ich|utilisateur|moi|"
    r"usuario|usuário|yo|eu|utente|io|用户|用戶|我|ユーザー|私|사용자|나)[*_]{0,2}\s?[:：][*_\s]{0,4}"
)
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+(?:['’][^\W\d_{CJK}]+)*")
_SENTENCE = re.compile(r"[.!?;]\s|[\n。！？；]")
_SHORT_FORMS = {
    "can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"),
    "shan't": ("shall", "not"),
}  # fmt: skip
_ENDINGS = {
    "n't": "not", "'m": "am", "'re": "are", "'ll": "will", "'ve": "have", "'d": "would", "'s": "is",
}  # fmt: skip
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_MARKS = re.compile("[\u0300-\u036f]")
_SMALL = STOP | VAGUE | GRAMMAR
# What a quote never lacks: it limits what is said.
_LIMITS = frozenset(
    (
        "only if unless when until till except without before after against instead while nur "
        "wenn falls außer bis ohne vor nach gegen statt si sauf sans avant après contre "
        "seulement quand jusqu solo solamente cuando hasta salvo sin antes después contra só "
        "somente quando até sem depois se soltanto senza prima dopo fino tranne "
    ).split()
)
_FILLERS = frozenset(
    (
        "well so basically really actually honestly literally simply like okay ok yeah anyway "
        "always please kind sort quite pretty eben halt eigentlich einfach mal ja doch wohl "
        "also eh immer bitte bon ben alors donc en fait quoi vraiment toujours pues bueno "
        "entonces es que siempre la verdad na verdade então sempre pois bem allora dunque cioè "
        "insomma proprio i a o os as e et y um uma un une le les l d el los las il lo gli the "
        "that is am are will would have "
    ).split()
)


class QuotePlace(NamedTuple):
    """Where a turn says a quote: its own `words` there, as they stand, and whether they `surely`
    are what was quoted."""

    words: str
    surely: bool


class Words:
    """A text as words: each as it is compared, and where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain: list[str] = []
        self.shown: list[str] = []
        self.spans: list[tuple[int, int]] = []
        for match in _WORD.finditer(text):
            for part in _parts(match[0]):
                self.plain.append(_bare(part.casefold()))
                self.shown.append(part)
                self.spans.append(match.span())

    @cached_property
    def joined(self) -> str:
        return " ".join(self.plain)

    @cached_property
    def starts(self) -> list[int]:
        """Where each word begins in `joined`."""
        found, at = [], 0
        for word in self.plain:
            found.append(at)
            at += len(word) + 1
        return found

    @cached_property
    def forms(self) -> list[str]:
        """The words, all forms of one alike."""
        return [word if is_cjk(word[0]) else key(word) for word in self.plain]

    def between(self, first: int, last: int) -> str:
        """The text from one word to another, both included."""
        return self.text[self.spans[first][0] : self.spans[last][1]]


def find(quote: str, turn: Words) -> QuotePlace | None:
    """Where a turn says the quote, or nearly says it; None where it does not."""
    if len(quote) > LONGEST:
        return None
    speaker = _SPEAKER.match(quote)
    said = None if speaker is None else _in_pieces(quote[speaker.end() :], turn)
    return said if said and said.surely else _in_pieces(quote, turn) or said


@lru_cache(maxsize=128)
def words_of(text: str) -> Words:
    """The words of a turn, which each candidate is looked for in."""
    return Words(text)


def is_cut_off(words: str, text: str) -> bool:
    """Whether the sentence around these words of a text denies what they, alone, say: "use yarn"
    in "we do not use yarn"."""
    at = text.find(words)
    if at < 0 or not polarity.may_deny(text):
        return False
    end = at + len(words)
    before = _SENTENCE.split(text[max(0, at - CLAUSE) : at])[-1]
    after = _SENTENCE.split(text[end : end + CLAUSE])[0]
    alone, whole = pieces(words), pieces(before + words + after)
    said = {piece.casefold() for piece in alone}
    denied = polarity.negated(whole) - polarity.negated(alone)
    if not denied:
        return False
    return bool(denied & said) or any(
        each in words.casefold() for each in denied if is_cjk(each[0])
    )


def _in_pieces(quote: str, turn: Words) -> QuotePlace | None:
    """The stretch of the turn that holds the pieces of a quote, one after the other."""
    parts = [part for part in map(Words, _ELLIPSIS.split(quote)) if part.plain]
    if not parts:
        return None
    begin, end, surely, ends = -1, 0, True, 0
    for number, part in enumerate(parts):
        span = _stretch(part, turn, ends)
        if span is None:
            return None
        first, last, is_sure = span
        surely = surely and is_sure
        if number:
            surely = surely and _may_be_left_out(turn, ends, first)
        begin = first if begin < 0 else begin
        end = ends = last + 1
    if len(parts) > 1:
        surely = surely and all(weight(part.joined) >= FLOOR for part in parts)
    return QuotePlace(turn.between(begin, end - 1), surely)


def _may_be_left_out(turn: Words, start: int, end: int) -> bool:
    """Whether an ellipsis may stand for these words: they deny nothing, and are not too many."""
    if start >= end:
        return True
    gap = turn.between(start, end - 1)
    return len(gap) <= MOST_GAP and not polarity.may_deny(gap)


def _stretch(part: Words, turn: Words, start: int) -> tuple[int, int, bool] | None:
    """First and last word of the turn, from word `start` on, that a piece of a quote is made of,
    and whether it surely is."""
    if start >= len(turn.plain):
        return None
    at = _exactly(part, turn, start)
    if at is not None:
        return at, at + len(part.plain) - 1, True
    first = _likest(part.forms, turn.forms, start)
    return _aligned(part, turn, first, min(first + _width(part.forms), len(turn.plain)))


def _width(forms: Sequence[str]) -> int:
    """The words of a turn in which so many of a quote may stand."""
    return len(forms) + len(forms) // 4 + 2 * LEFT_OUT


def _likest(mine: Sequence[str], theirs: Sequence[str], start: int) -> int:
    """Where the stretch of the turn begins that has most words of a piece; of several the last."""
    missing = Counter(mine)
    width = _width(mine)
    shared = most = 0
    found = start
    for at in range(start, len(theirs)):
        shared += missing[theirs[at]] > 0
        missing[theirs[at]] -= 1
        gone = at - width
        if gone >= start:
            missing[theirs[gone]] += 1
            shared -= missing[theirs[gone]] > 0
        if shared > most or (shared == most and theirs[at] == mine[-1]):
            most, found = shared, max(start, at - width + 1)
    return found


def _exactly(part: Words, turn: Words, start: int) -> int | None:
    """The word of the turn at which the same words begin, of several places the last."""
    offset = turn.starts[start]
    at = f" {turn.joined[offset:]} ".rfind(f" {part.joined} ")
    return None if at < 0 else bisect_left(turn.starts, offset + at)


def _aligned(part: Words, turn: Words, first: int, last: int) -> tuple[int, int, bool] | None:
    """Of the words `first` to `last` of the turn those that a piece stands for, when nothing that
    counts differs in them, and whether what differs is small."""
    from rapidfuzz.distance import Levenshtein  # most quotes are word for word

    mine = part.forms
    steps = [*Levenshtein.opcodes(mine, turn.forms[first:last])]
    equal = [step for step in steps if step.tag == "equal"]
    same = sum(step.src_end - step.src_start for step in equal)
    if len(mine) < FEWEST or not equal or same < SHARED * len(mine):
        return None
    begin, end = _ends(steps, equal[0].dest_start, equal[-1].dest_end)
    inside = [step for step in steps if step.tag != "insert" or begin <= step.dest_start < end]
    pairs = [pair for step in inside for pair in _pairs(step, part, turn, first)]
    if any(map(_counts, pairs)) or not _deny_alike(part, turn, first + begin, first + end - 1):
        return None
    differ = [pair for pair in pairs if not _is_spelling(pair)]
    is_small = all(map(_is_small, differ)) and len(differ) <= max(2, EDITED * len(mine))
    gaps = (step.dest_end - step.dest_start for step in inside if step.tag == "insert")
    return first + begin, first + end - 1, is_small and max(gaps, default=0) <= LEFT_OUT


def _ends(steps: Sequence[Opcode], begin: int, end: int) -> tuple[int, int]:
    """The stretch with the words at its ends that a mended typo stands for."""
    for step in steps:
        if step.tag == "replace" and step.dest_end == begin:
            begin = step.dest_start
        elif step.tag == "replace" and step.dest_start == end:
            end = step.dest_end
    return begin, end


def _pairs(step: Opcode, part: Words, turn: Words, first: int) -> list[_Pair]:
    """The words of a quote and of the turn that differ in a step from one to the other."""
    if step.tag == "equal":
        return []
    mine = [_word(part, at) for at in range(step.src_start, step.src_end)]
    theirs = [_word(turn, first + at) for at in range(step.dest_start, step.dest_end)]
    return list(zip_longest(mine, theirs))


class _Word(NamedTuple):
    """A word as it is compared, as it is written, and whether a sentence begins with it."""

    plain: str
    shown: str
    opens: bool


def _word(words: Words, at: int) -> _Word:
    before = words.text[: words.spans[at][0]].rstrip(" \"'“”«»*_`([")[-1:]
    return _Word(words.plain[at], words.shown[at], not before or before in ".!?:;\n。！？：；")


_Pair = tuple[_Word | None, _Word | None]


def _counts(pair: _Pair) -> bool:
    """Whether words differ in what a proof goes by: a number, an identifier or a name."""
    if _is_spelling(pair):
        return False
    there = [word for word in pair if word is not None]
    if any("_" in word.shown or any(map(str.isdigit, word.shown)) for word in there):
        return True
    names = [word.shown[0].isupper() and not word.opens for word in there]
    return len(names) == 2 and all(names)


def _is_spelling(pair: _Pair) -> bool:
    """Whether two words are one word, inflected, shortened or mended."""
    mine, theirs = pair
    if mine is None or theirs is None:
        return False
    one, other = mine.plain, theirs.plain
    if {one, _spelled(mine.shown)} & {other, _spelled(theirs.shown)} or key(one) == key(other):
        return True
    is_name = mine.shown[0].isupper() and not mine.opens and len(one) < 10
    return not is_name and _is_typo(one, other)


def _is_typo(one: str, other: str) -> bool:
    """Whether one word is the other with a letter too many or too few, two letters exchanged, or
    another vowel. Another consonant makes another word of it: Martin, Marvin."""
    from rapidfuzz.distance import OSA

    least = min(len(one), len(other))
    if least < 5 or one[0] != other[0] or not (one + other).isalpha():
        return False
    if OSA.distance(one, other, score_cutoff=1) > 1:
        return False
    if len(one) != len(other) or sorted(one) == sorted(other):
        return True
    letters = {
        letter for pair in zip(one, other, strict=True) if pair[0] != pair[1] for letter in pair
    }
    return least >= 7 and letters <= set("aeiouy")


def _is_small(pair: _Pair) -> bool:
    """Whether the words that differ say nothing by themselves."""
    return all(
        word is None
        or (
            (word.plain in _FILLERS or word.plain in _SMALL)
            and word.plain not in _LIMITS
            and not polarity.is_negation(word.shown.casefold())
        )
        for word in pair
    )


def _deny_alike(part: Words, turn: Words, first: int, last: int) -> bool:
    """Whether a piece of a quote denies as much, and by the same words, as the turn there."""
    there = turn.between(first, last)
    if polarity.denials(pieces(part.text)) != polarity.denials(pieces(there)):
        return False
    mine, theirs = _negations(part.shown), _negations(turn.shown[first : last + 1])
    return mine == theirs


def _negations(words: Iterable[str]) -> Counter[str]:
    return Counter(word for word in map(str.casefold, words) if polarity.is_negation(word))


def _parts(word: str) -> Iterator[str]:
    """A word without its contractions: "don't" is "do" and "not"."""
    folded = word.casefold().replace("’", "'")
    if folded in _SHORT_FORMS:
        yield from _SHORT_FORMS[folded]
        return
    for ending, full in _ENDINGS.items():
        if folded.endswith(ending) and len(folded) > len(ending):
            yield word[: -len(ending)]
            yield full
            return
    yield from filter(None, re.split("['’]", word))


def _bare(folded: str) -> str:
    """A word without accents."""
    if folded.isascii():
        return folded
    return (
        _MARKS.sub("", unicodedata.normalize("NFKD", folded)) if not is_cjk(folded[0]) else folded
    )


def _spelled(word: str) -> str:
    """A word with ae for ä, as on a keyboard without umlauts."""
    return _bare(word.casefold().translate(_UMLAUTS))
