"""A fact cut into the words that tell it from others, each with its kind and its clause. Pure.

Chinese, Japanese and Korean come character by character; two neighbours make a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from mdmemory.text import wordlists
from mdmemory.text.units import number
from mdmemory.text.words import CJK, LIGHT, STOP, STOP_CJK, WantedKeys, is_cjk, key, normal

CHANGED = "{change.word}|{change.made}"
LONGEST = 2_000  # characters of a text that are looked at
_MOST = 120  # words of it
_BEGIN = 4  # letters that two forms of one word begin with, at least

_BREAK = re.compile(r"(?:[.!?;:,…]+(?=[\s\"'”»)]|$)|\n+|[，。；：！？、]|\s[—–-]+\s|[—→()]|->|=>)")
_ASKS = re.compile(r"[?？]")
_WORD = re.compile(rf"[{CJK}]+|[^\s{CJK}]+")
_PLAIN = re.compile(r"\S+")  # the same of a text without CJK
_EDGE = "\"'`*_“”‘’«»<>[]{}()|„「」『』《》.,;:!?…#"
_THAT = frozenset(("that", "dass", "que", "che"))
# Where such a word stands, a capital names nothing.
_GERMAN = frozenset("der die das den dem des und ist wird sind im mit nicht für auf".split())
_GENDERS = frozenset("aeo")  # the last letters of "jefe" and "jefa"
_JOINED = re.compile(r"^([^\W\d_]{1,6})['’](?=\w{3})")
_OWNER = re.compile(r"['’]s?$")
_MEASURE = re.compile(r"^([$€£¥~]?\d[\d.,:/]*)([^\W\d_]{1,4}|[%°€$£])$")
_TIME = re.compile(r"^\d{1,2}(?:[:.h]\d{2}|h|am|pm|uhr)$")
_PLACE = re.compile(r"://|@\w|/\w|\w/|^~|\d\.\d+\.\d|\w\.[a-z]{2,}$|_|::")
ARTICLES = frozenset(
    "the a an der die das dem den ein eine einem einen le la les un une el los las o os as um uma "
    "il lo gli i our my your own unser unsere mein meine notre nos mon ma nuestro mi nosso "
    "meu".split()
)
# Small words that hold an article.
_HOLDING = {
    word: words.split()[0]
    for words in (
        "in im ins nel nello nella nell nei nelle", "an am ans", "zu zum zur", "bei beim",
        "von vom", "à au aux", "em no na nos nas", "a al alla allo all ai alle", "su sul sulla",
    )
    for word in words.split()
}  # fmt: skip
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_DAY = re.compile("(?:周|星期|礼拜)[一二三四五六日天末]|[月火水木金土日]曜日?")
_DIGITS = frozenset("一二三四五六七八九十百千万两半零")
_COUNTED = frozenset("点時时分秒年月日号度元円人页頁歳岁块週周折倍米吨枚個个回次天本台张字")
_NOISE = re.compile(f"(?:{STOP_CJK})")


class Word(NamedTuple):
    """One word that carries meaning. What takes long to find out is found when it is asked for:
    of most texts that a fact is held against, few words matter."""

    text: str
    link: str  # the small words right before it, folded
    clause: int
    start: int  # in its clause
    is_told: bool  # whether a verb stands before it in its clause: it says something of the subject
    is_first: bool = False  # a capital names nothing there
    sign: str | None = None  # the kind of a character of CJK; None: a word of another script

    @property
    def key(self) -> str:
        """One word for all its forms and spellings."""
        return _key(self.text.casefold()) if self.sign is None else self.text

    @property
    def kind(self) -> str:
        """number, time, day, unit, place, name, or "" for a plain word."""
        return _kind(self.text, is_first=self.is_first) if self.sign is None else self.sign

    @property
    def is_light(self) -> bool:
        """Whether it is a word of asking and doing, which says little."""
        folded = self.text.casefold()
        return self.sign is None and (key(folded) in LIGHT or folded in LIGHT)

    @property
    def weight(self) -> float:
        """How much it counts in a comparison: from 0.35 to 1; a CJK character is half a word."""
        if self.sign is not None:
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
            found.extend(_cut(clause, at))
            if len(found) > _MOST:
                break
        return tuple(found[:_MOST])

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(word.key for word in self.words)

    @cached_property
    def _wanted(self) -> WantedKeys:
        return WantedKeys(self.keys)

    def has_keys_of(self, other: Cut) -> bool:
        """Whether both have the same keys."""
        mine, theirs = self._meet(other)
        return len(mine) + len(theirs) == len(self.words) + len(other.words) and (
            self.keys == other.keys
        )

    def _meet(self, other: Cut) -> tuple[Sequence[Word], Sequence[Word]]:
        """The words of both without those of the longer text that certainly are in the shorter one
        in no form: to find their keys takes longer than all else."""
        if len(self.words) > len(other.words):
            theirs, mine = other._meet(self)
            return mine, theirs
        may_be = self._wanted.may_be
        return self.words, [word for word in other.words if may_be(_plainly(word.text))]

    @cached_property
    def _joined(self) -> list[bool]:
        """For each word whether it is CJK and touches the next one."""
        return [*(_touch(one, two) for one, two in pairwise(self.words)), False]

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Each two characters of CJK that stand side by side."""
        words = self.words
        return frozenset(
            words[at].text + words[at + 1].text for at, has in enumerate(self._joined) if has
        )

    @cached_property
    def alone(self) -> frozenset[str]:
        """The characters of CJK that stand alone, numbers left out."""
        joined = self._joined
        return frozenset(
            word.text
            for at, word in enumerate(self.words)
            if not joined[at] and not (at and joined[at - 1]) and word.kind != "number"
        )

    def shared(self, other: Cut) -> list[bool]:
        """For each word whether the other text has it in some form."""
        mine, theirs = self._meet(other)
        known = _Known(frozenset(word.key for word in mine), Counter(word.key for word in theirs))
        starts = {(word.clause, word.start) for word in mine}
        seen = Counter[tuple[int, str]]()
        found: list[bool] = []
        for at, word in enumerate(self.words):
            if (word.clause, word.start) not in starts:
                found.append(False)
                continue
            place = word.clause, word.key
            seen[place] += 1
            # of "parcels go with the parcel service" the second may be another thing
            is_again = 0 < known.times[word.key] < seen[place] and word.sign is None
            found.append(not is_again and self._is_shared(at, other, known))
        return found

    def _is_shared(self, at: int, other: Cut, known: _Known) -> bool:
        words, word = self.words, self.words[at]
        if word.sign is None:
            return word.key in known.times or known.is_form(word.key)
        if at and self._joined[at - 1] and words[at - 1].text + word.text in other.pairs:
            return True
        if self._joined[at] and word.text + words[at + 1].text in other.pairs:
            return True
        return word.text in (other.alone & known.mine | self.alone & known.times.keys())


class _Known:
    """The keys of the words of two texts that may be in both; those of the other one with how often
    it has them."""

    def __init__(self, mine: frozenset[str], times: Counter[str]) -> None:
        self.mine, self.times = mine, times

    @cached_property
    def _begins(self) -> dict[str, tuple[str, ...]]:
        """The keys of the other's plain words by their first letters."""
        found: dict[str, tuple[str, ...]] = {}
        for each in sorted(self.times):
            if each.isalpha() and len(each) >= _BEGIN:
                found[each[: _BEGIN - 1]] = (*found.get(each[: _BEGIN - 1], ()), each)
        return found

    def is_form(self, word: str) -> bool:
        """Whether the other text has another form of a plain word, by how both begin; a word that
        both have is no form of yet another one."""
        if not word.isalpha() or len(word) < _BEGIN:
            return False
        near = self._begins.get(word[: _BEGIN - 1], ())
        return any(each not in self.mine and begins_alike(word, each) for each in near)


def _plainly(text: str) -> str:
    """A word as its key begins: a number by its digits, any other folded."""
    folded = text.casefold()
    return number(folded) or folded.replace(",", ".")


def _touch(one: Word, two: Word) -> bool:
    """Whether two characters of CJK stand side by side."""
    if not (is_cjk(one.text[0]) and is_cjk(two.text[0])):
        return False
    return one.clause == two.clause and one.start + 1 == two.start


class Gap(NamedTuple):
    """Words side by side that the other text lacks, and what stands around them."""

    at: int  # how many words stand before it
    words: tuple[Word, ...]
    before: str  # the shared word before it, by its first letters; "" for none
    after: str
    is_subject: bool  # whether it says of what the text speaks

    @property
    def link(self) -> str:
        """The small words right before it, folded."""
        return self.words[0].link

    @property
    def is_told(self) -> bool:
        """Whether a verb stands before it in its clause."""
        return self.words[0].is_told

    def faces(self, other: Gap) -> bool:
        """Whether the two stand in the same place of their texts."""
        if self.before == other.before and (self.before or self.is_told == other.is_told):
            return True
        return bool(self.after) and self.after == other.after


def gaps(words: Sequence[Word], shared: Sequence[bool]) -> list[Gap]:
    """What of a text the other one lacks, by place; a verb parts two places."""
    found: list[Gap] = []
    start = 0
    for at, word in enumerate(words):
        nearest = words[at + 1] if at + 1 < len(words) else None
        ends = nearest is None or shared[at + 1] or _parted(word, nearest)
        if shared[at]:
            start = at + 1
        elif ends:
            found.append(_gap(words, shared, start, at + 1))
            start = at + 1
    return found


def _parted(one: Word, two: Word) -> bool:
    """Whether a verb or the end of a clause stands between two words."""
    return one.clause != two.clause or one.is_told != two.is_told


def _gap(words: Sequence[Word], shared: Sequence[bool], start: int, end: int) -> Gap:
    clause = words[start].clause
    before = [at for at in range(start) if shared[at] and words[at].clause == clause]
    behind = [at for at in range(end, len(words)) if words[at].clause == clause]
    after = [at for at in behind if shared[at]]
    follows = bool(after) or any(words[at].is_told for at in behind)
    is_subject = not words[start].is_told and follows and len(before) <= 1
    return Gap(
        start,
        tuple(words[start:end]),
        words[before[-1]].key[:_BEGIN] if before else "",
        words[after[0]].key[:_BEGIN] if after else "",
        is_subject,
    )


def last_link(link: str) -> str:
    """The last of some small words that is no article."""
    last = next((word for word in reversed(link.split()) if word not in ARTICLES), "")
    return _HOLDING.get(last, last)


def has_article(link: str) -> bool:
    """Whether the last of some small words is an article, or holds one."""
    last = link.split()[-1:]
    return any(word in ARTICLES or _HOLDING.get(word, word) != word for word in last)


@lru_cache(maxsize=4_096)
def cut(text: str) -> Cut:
    """The cut of a text; one that meets many others is cut once."""
    return Cut(text)


def begins_alike(one: str, other: str) -> bool:
    """Whether two plain words begin as two forms of one word do."""
    longest = max(len(one), len(other))
    if one[:-1] == other[:-1] and {one[-1], other[-1]} <= _GENDERS:
        return True
    same = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return same >= (0.75 if longest < 6 else 0.6) * longest


def _cut(whole: str, at: int) -> list[Word]:
    """The words of a clause. A word of change is none of them; inside it counts as a verb."""
    changed = wordlists.spans(CHANGED, whole)
    made = wordlists.spans("{change.made}", whole) if changed else []
    told = made[0][0] if made else len(whole)
    clause = whole
    for start, end in changed:
        clause = f"{clause[:start]}{' ' * (end - start)}{clause[end:]}"
    begin = len(clause) - len(clause.lstrip())
    is_german = not _GERMAN.isdisjoint(whole.casefold().split())
    found: list[Word] = []
    link: list[str] = []
    for match in (_WORD if max(clause, default="") > "\u3000" else _PLAIN).finditer(clause):
        piece = match.group()
        if is_cjk(piece[0]):
            found.extend(_characters(match, at, told))
            link = []
            continue
        for part, owner in _parts(piece):
            folded, is_first = part.casefold(), match.start() == begin
            if is_small(folded) and not (part.isupper() and (len(part) > 1 or not is_first)):
                link.append(folded)
                told = min(told, match.start() if is_verb(folded) else told)
                if folded in _THAT and not found:
                    told = len(whole)  # "we decided that ...": there the sentence begins
                continue
            words, is_told = " ".join(link[-3:]), told < match.start()
            found.append(
                Word(part, words, at, match.start(), is_told, is_first=is_first or is_german)
            )
            link = ["'s"] if owner else []
    return found


def _parts(piece: str) -> list[tuple[str, bool]]:
    """The words of what stands between two blanks, each with whether it owns the next one."""
    piece = piece.strip(_EDGE).rstrip("/")
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


def _characters(match: re.Match[str], at: int, told: int) -> list[Word]:
    run = match.group()
    kinds = {i: "day" for day in _DAY.finditer(run) for i in range(*day.span())}
    kinds |= {i: "number" for i, char in enumerate(run) if char in _DIGITS and i not in kinds}
    before = match.string[: match.start()].rstrip()[-1:]
    counted = [
        i for i in range(len(run)) if (kinds.get(i - 1) == "number" or (not i and before.isdigit()))
    ]
    kinds |= {i: "unit" for i in counted if run[i] in _COUNTED}
    run = _HIRAGANA.sub(_blank, _NOISE.sub(_blank, run))
    return [
        Word(char, "", at, match.start() + i, told < match.start() + i, sign=kinds.get(i, ""))
        for i, char in enumerate(run)
        if char != " "
    ]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


@lru_cache(maxsize=20_000)
def is_small(folded: str) -> bool:
    """Whether a folded word joins others and says nothing by itself."""
    if folded in STOP or is_verb(folded):
        return True
    return wordlists.is_one_of("change.small", folded)


@lru_cache(maxsize=20_000)
def is_verb(folded: str) -> bool:
    """Whether a folded word is a verb that any sentence may have."""
    return wordlists.is_one_of("change.verb", folded)


@lru_cache(maxsize=20_000)
def _key(folded: str) -> str:
    if digits := number(folded):
        return digits
    if wordlists.is_one_of("change.day", folded):
        return folded[:4]
    return key(folded.replace(",", "."))


@lru_cache(maxsize=20_000)
def _kind(word: str, *, is_first: bool) -> str:
    folded = word.casefold()
    if _TIME.match(folded):
        return "time"
    if _PLACE.search(word):
        return "place"
    is_named = word[:1].isupper() and not is_first  # Otto is eight in Italian
    if any(map(str.isdigit, word)) or (number(folded) and not is_named):
        return "number"
    if wordlists.is_one_of("change.day", folded):
        return "day"
    if wordlists.is_one_of("change.unit", folded):
        return "unit"
    shaped = any(map(str.isupper, word[1:])) or (word[0].isupper() and not is_first)
    return "name" if shaped else ""
