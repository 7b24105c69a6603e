"""A fact cut into the words that tell it from others, each with its kind and its clause. Pure.

Chinese, Japanese and Korean come character by character; two neighbours make a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from mdmemory.text import wordlists
from mdmemory.text.units import number
from mdmemory.text.words import CJK, LIGHT, STOP, STOP_CJK, is_cjk, key, normal

LONGEST = 2_000  # characters of a text that are looked at
_MOST = 120  # words of it
_BEGIN = 5  # letters that two forms of one word begin with, at least

_BREAK = re.compile(r"(?:[.!?;:,…]+(?=[\s\"'”»)]|$)|\n+|[，。；：！？、]|\s[—–-]+\s|[—→()]|->|=>)")
_ASKS = re.compile(r"[?？]")
_WORD = re.compile(rf"[{CJK}]+|[^\s{CJK}]+")
_EDGE = "\"'`*_“”‘’«»<>[]{}()|„「」『』《》.,;:!?…#"
_JOINED = re.compile(r"^([^\W\d_]{1,6})['’](?=\w{3})")
_OWNER = re.compile(r"['’]s?$")
_MEASURE = re.compile(r"^([$€£¥~]?\d[\d.,:/]*)([^\W\d_]{1,4}|[%°€$£])$")
_TIME = re.compile(r"^\d{1,2}(?:[:.h]\d{2}|h|am|pm|uhr)$")
_PLACE = re.compile(r"://|@\w|/\w|\w/|^~|\d\.\d+\.\d|\w\.[a-z]{2,}$|_|::")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_NOISE = re.compile(f"(?:{STOP_CJK})")


@dataclass(frozen=True, slots=True)
class Word:
    """One word that carries meaning."""

    text: str
    key: str
    kind: str  # number, time, day, unit, place, name, or "" for a plain word
    link: str  # the small words right before it, folded
    clause: int
    start: int  # in its clause
    is_light: bool

    @property
    def weight(self) -> float:
        if is_cjk(self.text[0]):
            return 0.5
        return 0.35 if self.is_light else 1.0


class Cut:
    """A text, cut; every part is worked out when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = normal(text[:LONGEST])

    @cached_property
    def clauses(self) -> list[tuple[str, str]]:
        """The clauses, each with the sign that ends it."""
        found: list[tuple[str, str]] = []
        at = 0
        for sign in _BREAK.finditer(self.text):
            found.append((self.text[at : sign.start()], sign.group()))
            at = sign.end()
        return [*found, (self.text[at:], "")]

    @cached_property
    def asked(self) -> frozenset[int]:
        """The clauses of a question."""
        found: set[int] = set()
        open_: list[int] = []
        for at, (_, sign) in enumerate(self.clauses):
            open_.append(at)
            if _ASKS.search(sign):
                found.update(open_)
            if re.search(r"[.!?…\n。！？]", sign):
                open_ = []
        return frozenset(found)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words that carry meaning, words of change left out."""
        found: list[Word] = []
        for at, (clause, _) in enumerate(self.clauses):
            plain = wordlists.pattern("{change.word}", clause).sub(_blank, clause)
            found.extend(_cut(plain, at))
            if len(found) > _MOST:
                break
        return tuple(found[:_MOST])

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)

    @cached_property
    def begins(self) -> dict[str, tuple[str, ...]]:
        """The keys of its plain words by their first letters."""
        found: dict[str, tuple[str, ...]] = {}
        for each in sorted(self.keys):
            if each.isalpha() and len(each) >= _BEGIN:
                found[each[:_BEGIN]] = (*found.get(each[:_BEGIN], ()), each)
        return found

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Each two characters of CJK that stand side by side."""
        words = self.words
        return frozenset(
            one.text + two.text
            for one, two in pairwise(words)
            if is_cjk(one.text[0]) and is_cjk(two.text[0]) and one.clause == two.clause
        )

    def shared(self, other: Cut) -> list[bool]:
        """For each word whether the other text has it in some form."""
        words, found = self.words, list[bool]()
        for at, word in enumerate(words):
            if is_cjk(word.text[0]):
                before = words[at - 1].text + word.text if at else ""
                after = word.text + words[at + 1].text if at + 1 < len(words) else ""
                found.append(before in other.pairs or after in other.pairs)
            else:
                found.append(word.key in other.keys or _is_form(word.key, other))
        return found


@lru_cache(maxsize=4_096)
def cut(text: str) -> Cut:
    """The cut of a text; one that meets many others is cut once."""
    return Cut(text)


def _is_form(word: str, other: Cut) -> bool:
    """Whether the other text has another form of a plain word, by how both begin."""
    if not word.isalpha() or len(word) < _BEGIN:
        return False
    return any(_begins_alike(word, each) for each in other.begins.get(word[:_BEGIN], ()))


def _begins_alike(one: str, other: str) -> bool:
    same = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return same >= 0.6 * max(len(one), len(other))


def _cut(clause: str, at: int) -> list[Word]:
    found: list[Word] = []
    link: list[str] = []
    for match in _WORD.finditer(clause):
        piece = match.group()
        if is_cjk(piece[0]):
            found.extend(_characters(match, at))
            link = []
            continue
        for part, owner in _parts(piece):
            folded = part.casefold()
            if is_small(folded):
                link.append(folded)
                continue
            kind = _kind(part, is_first=match.start() == 0 or not clause[: match.start()].strip())
            light = key(folded) in LIGHT or folded in LIGHT
            place = (at, match.start())
            found.append(Word(part, _key(folded), kind, " ".join(link[-3:]), *place, light))
            link = ["'s"] if owner else []
    return found


def _parts(piece: str) -> list[tuple[str, bool]]:
    """The words of what stands between two blanks, each with whether it owns the next one."""
    piece = piece.strip(_EDGE)
    if joined := _JOINED.match(piece):
        return [(joined[1], False), *_parts(piece[joined.end() :])]
    bare = _OWNER.sub("", piece)
    if measure := _MEASURE.match(bare):
        if _TIME.match(bare.casefold()):
            return [(bare, False)]
        return [(measure[1].rstrip(".,:/"), False), (measure[2], False)]
    if "-" in bare and bare.replace("-", "").isalpha():
        return [(part, False) for part in bare.split("-") if part]
    return [(bare, bare != piece)] if bare else []


def _characters(match: re.Match[str], at: int) -> list[Word]:
    run = _HIRAGANA.sub(_blank, _NOISE.sub(_blank, match.group()))
    start = match.start()
    return [
        Word(char, char, "", "", at, start + offset, False)
        for offset, char in enumerate(run)
        if char != " "
    ]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


@lru_cache(maxsize=20_000)
def is_small(folded: str) -> bool:
    """Whether a folded word joins others and says nothing by itself."""
    if folded in STOP or (len(folded) == 1 and folded.isalpha() and folded.isascii()):
        return folded not in _KEPT
    return wordlists.fullmatch("{change.small}", folded) is not None


_KEPT = frozenset(("a", "b", "c", "x", "y", "z")) - {"a", "y"}


@lru_cache(maxsize=20_000)
def _key(folded: str) -> str:
    if digits := number(folded):
        return digits
    if day := wordlists.fullmatch("{change.day}", folded):
        return day.group()[:4]
    return key(folded.replace(",", "."))


@lru_cache(maxsize=20_000)
def _kind(word: str, *, is_first: bool) -> str:
    folded = word.casefold()
    if _TIME.match(folded):
        return "time"
    if _PLACE.search(word):
        return "place"
    if any(map(str.isdigit, word)) or number(folded):
        return "number"
    if wordlists.fullmatch("{change.day}", folded):
        return "day"
    if wordlists.fullmatch("{change.unit}", folded):
        return "unit"
    shaped = any(map(str.isupper, word[1:])) or (word[0].isupper() and not is_first)
    return "name" if shaped else ""
