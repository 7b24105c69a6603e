"""How two facts stand to each other: the same, against each other, or apart.

A question of form, in eight languages. Pure. A fact has one subject and one attribute: where those
are the same and one value is another, the facts contradict; where two places differ, or the
subjects do, they are about different things; where nothing differs, they say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from mdmemory.text.agreement import says_as_much
from mdmemory.text.differences import Differences
from mdmemory.text.facts import ReadFact, ReadWord, fact, told
from mdmemory.text.gaps import Gap, Word, has_article, is_verb, last_link
from mdmemory.text.meanings import KIND, UNIT, language_of, written
from mdmemory.text.words import is_cjk

LONGEST = 400  # characters of a fact that is compared
_ENOUGH = 0.3  # of the shorter fact's words, the share that both have to have
_MOST = 0.6  # of them that subject and attribute take
# Meanings behind which there stands one value.
_TELLING = frozenset(
    "=lies =happens =meets =comes =connects =runs =uses =sends =buys =pays =works =speaks "
    "=reads".split()
)
_STANDS = "=lies"
_WHERE = frozenset(
    "in at on behind under an auf bei hinter unter dans à sur sous chez en sobre bajo em sob su "
    "presso".split()
)
_MEETS = frozenset(("=meets", "=happens"))
_ROLES = frozenset(("=leads", "=approves", "=signs"))


class Kind(Enum):
    """How two facts stand to each other."""

    SAME = "same"
    AGAINST = "against"
    APART = "apart"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Relation:
    """How two facts stand to each other; `why` they contradict, in half a sentence."""

    kind: Kind
    why: str = ""


@lru_cache(maxsize=65_536)
def relation(one: str, other: str) -> Relation:
    """How two facts stand to each other, by their words alone."""
    if max(len(one), len(other)) > LONGEST:
        return Relation(Kind.UNKNOWN)
    language = language_of(one, other)
    return _Pair(fact(one, language), fact(other, language)).relation


class _Pair(Differences):
    """Two facts beside each other, and what that says of them."""

    @property
    def relation(self) -> Relation:
        if self.share < _ENOUGH:
            return Relation(Kind.UNKNOWN)
        if why := self._contradiction:
            return Relation(Kind.AGAINST, why)
        if self.differs or self.are_two:
            return Relation(Kind.APART)
        is_same = not (self.is_only or self.opposed or self.denied) and says_as_much(
            self.one, self.other, self.left, self.right
        )
        return Relation(Kind.SAME if is_same else Kind.UNKNOWN)

    @cached_property
    def _contradiction(self) -> str:
        if (self.denied and self.opposed) or (self._has_other_subject and not self.is_only):
            return ""  # not open, and closed
        if self.denied:
            others = [group for group in self.places if group != "time"]
            fits = self._is_loose or not others
            return "one denies what the other says" if fits and self._is_answered else ""
        if self.opposed:
            if self.are_two:
                return ""
            if self.places and not (self.places == ["time"] and self._lasts):
                return ""
            if self._is_narrower:
                return ""
            sides = zip(self.opposed, (self.one, self.other), strict=True)
            words = (written(name, each.text, each.language) for name, each in sides)
            return " against ".join(words)
        if len(self.places) != 1:
            return ""
        [group] = self.places
        left, right = self.of_group(group) if group else self.words
        if self.is_only or self._is_value(group, left, right):
            return f"{told(left, self.one)} against {told(right, self.other)}"
        return ""

    @property
    def _has_other_subject(self) -> bool:
        """Whether plain words say that the two speak of different things, also words that matter
        little elsewhere: the read timeout and the write timeout."""
        opposed = self.opposed or ()
        plain = {
            id(item.word)
            for item in (*self.left, *self.right)
            if item.group == "" and item.key not in opposed
        }
        for pair in self.facing:
            words = [{id(word) for word in gap.words} for gap in pair]
            heads = all(gap.is_subject for gap in pair) and all(each & plain for each in words)
            if heads:
                return not (self._has_role and all(map(_is_name, pair)))
        return False

    @property
    def _is_narrower(self) -> bool:
        """Whether a fact speaks of something that the other does not name."""
        firsts = {id(gap.words[0]): gap for pair in self._sides for gap in pair if gap.is_subject}
        heads = {id(word) for gap in firsts.values() for word in gap.words}
        return any(id(item.word) in heads for side in self.plain for item in side)

    @property
    def _has_role(self) -> bool:
        """Whether both speak of a role that one person has."""
        return bool(_ROLES & self.one.keys & self.other.keys)

    @property
    def _is_answered(self) -> bool:
        """Whether what is denied is what the other says: each names most of the other's words."""
        if (
            self.share <= 0.5
            or self.one.none_of - self.other.keys
            or self.other.none_of - self.one.keys
        ):
            return False
        for side, whole_fact in ((self.hard[0], self.one), (self.hard[1], self.other)):
            denied = {at for at, state in whole_fact.states.items() if state}
            plain = [item for item in side if item.group in ("", "name")]
            if any(denied):
                plain = [item for item in plain if item.word.clause in denied]
            whole = sum(item.word.weight for item in whole_fact.items)
            if sum(item.word.weight for item in plain) > max(1.0, whole / 4):
                return False
        return True

    @property
    def _lasts(self) -> bool:
        """Whether one says of now what it said of before."""
        return any(each.lasts for each in (self.one, self.other))

    @property
    def _is_loose(self) -> bool:
        """Whether a name stands against a plain word alone."""
        return (
            bool(self.denied)
            and self.mixed
            and not all(self.plain)
            and not all(self.of_group("name"))
        )

    def _is_one_place(self, left: list[ReadWord], right: list[ReadWord]) -> bool:
        """Whether all that differs in the clauses of two values stands in one place."""
        sides = []
        for values, side in ((left, self.hard[0]), (right, self.hard[1])):
            clauses = {item.word.clause for item in values}
            sides.append({id(item.word) for item in side if item.word.clause in clauses})
        for one, two in self.facing:
            if _is_run(one.words) and _is_run(two.words):
                mine, theirs = set(map(id, one.words)), set(map(id, two.words))
                if sides[0] <= mine and sides[1] <= theirs:
                    return True
        return False

    def _is_value(self, group: str, left: list[ReadWord], right: list[ReadWord]) -> bool:
        """Whether the one place in which two facts differ holds a value of the same subject."""
        if group in ("time", "name") and self.one.is_event and self.other.is_event:
            return False
        if group == "time":
            return self._is_one_time(left, right)
        if group == "number":
            return self._is_measure(left, right)
        if self.has_other_head:
            return self._has_role and _are_people(left, right) and self._is_one_place(left, right)
        if any(self._more(left, right)):
            return False
        if group == "name" and not {item.sort for item in left} & {item.sort for item in right}:
            return False
        if self._is_last and self.share >= _MOST:
            return True
        if self._ends_alike and self.share >= 0.5:
            return True
        return self._is_one_place(left, right) and (
            group == "name" or (self._is_told and self.share > 0.5)
        )

    def _is_one_time(self, left: list[ReadWord], right: list[ReadWord]) -> bool:
        """Whether two times are the time of the same."""
        sorts = [{item.time for item in side} for side in (left, right)]
        same = sorts[0] & sorts[1]
        links = {word for item in (*left, *right) for word in item.word.link.split()}
        is_dated = _MEETS & self.one.keys & self.other.keys or any(map(is_verb, links))
        if {"clock", "day"} <= same and not is_dated:
            return False  # at six on Mondays, at eight on Sundays
        if sorts[0] != sorts[1] and any(self._more(left, right)):
            return False
        return bool(same) and not (same == {"date"} and self.has_other_head)

    def _more(self, left: list[ReadWord], right: list[ReadWord]) -> list[bool]:
        """For each side whether the clause of its value speaks of something else that the other
        fact does not name."""
        found = []
        for values, plain in zip((left, right), self.plain, strict=True):
            clauses = {item.word.clause for item in values}
            extra = [item for item in plain if item not in values and item.word.clause in clauses]
            found.append(any(not item.key.startswith(KIND) for item in extra))
        return found

    def _is_measure(self, left: list[ReadWord], right: list[ReadWord]) -> bool:
        """Whether two numbers measure the same."""
        counts = [
            [item.key for item in fact.items if item.is_count] for fact in (self.one, self.other)
        ]
        if len(counts[0]) == len(counts[1]):
            differ = sum(one != two for one, two in zip(*counts, strict=True))
            if differ > 1:
                return False
        units = [[item.key for item in side if not item.is_count] for side in (left, right)]
        if all(units):
            # 30 minutes against 30 days, or 5 minutes against 30 seconds; degrees may be °C
            return len({all(key.startswith(KIND) for key in side) for side in units}) == 1
        if any(units) or self._is_label:
            return False
        unit = any(item.key.startswith(UNIT) for item in self.one.items)
        return unit or not all(self._more(left, right))

    @property
    def _is_label(self) -> bool:
        """Whether a number is part of a name in front of the verb: "Debian 12" and "Debian 13"."""
        return any(
            one.is_subject
            and two.is_subject
            and one.before == two.before != ""
            and all(word.kind == "number" for word in (*one.words, *two.words))
            and not is_cjk(one.words[0].text[0])
            for one, two in self.facing
        )

    @property
    def _is_told(self) -> bool:
        """Whether what differs ends both facts behind the same small word: "is in the library"."""
        for left, right in self.facing:
            if is_cjk(left.words[0].text[0]):
                if all(_tells_cjk(*pair) for pair in ((left, self.one), (right, self.other))):
                    return True
                continue
            if left.after or right.after:
                continue
            one, two = last_link(left.link), last_link(right.link)
            is_same = one == two != "" and has_article(left.link) == has_article(right.link)
            if is_same and left.before == right.before and self._tells(left):
                return True
        return False

    @property
    def _ends_alike(self) -> bool:
        """Whether all that differs ends both facts behind the same small word, in sentences that
        may be built otherwise, and one of them has a verb of which there is one value."""
        links: set[tuple[str, bool]] = set()
        tells = _STANDS in self.one.keys & self.other.keys
        for side, each in zip(self.hard, (self.one, self.other), strict=True):
            end = each.items[-len(side) :] if side else []
            if not end or end != side or is_cjk(side[0].word.text[0]):
                return False
            before = each.items[-len(side) - 1].key if len(side) < len(each.items) else ""
            link = side[0].word.link
            links.add((last_link(link), has_article(link)))  # not in bags, and in the attic
            tells = tells or before in _TELLING or any(map(is_verb, link.split()))
        return tells and len(links) == 1 and all(link in _WHERE for link, _ in links)

    @property
    def _is_last(self) -> bool:
        """Whether what differs ends both facts behind "is" or a colon."""
        for side, has in zip((self.one, self.other), self.has, strict=True):
            first = next((at for at in range(len(has)) if not has[at]), len(has))
            if first == len(has) or any(has[first:]):
                return False
            word = side.items[first].word
            sign = side.cut.clauses[word.clause - 1][1].strip() if word.clause else ""
            if not any(map(is_verb, word.link.split())) and sign not in (":", "："):
                return False
        return True

    def _tells(self, gap: Gap) -> bool:
        """Whether a value stands right behind a verb of which there is one value."""
        if any(map(is_verb, gap.link.split())):
            return True
        before = self.one.items[gap.at - 1].key if gap.at else ""
        return before in _TELLING


def _is_name(gap: Gap) -> bool:
    return all(word.text[0].isupper() or is_cjk(word.text[0]) for word in gap.words)


def _are_people(left: list[ReadWord], right: list[ReadWord]) -> bool:
    """Whether both name people or groups: their words have capitals, or are CJK."""
    return all(item.word.text[0].isupper() or is_cjk(item.word.text[0]) for item in (*left, *right))


def _tells_cjk(gap: Gap, whole: ReadFact) -> bool:
    """Whether a value stands beside the verb that tells it, or who does something behind 由."""
    end = gap.at + len(gap.words)
    if f"由{gap.words[0].text}" in whole.text:
        return True
    if whole.language == "ja":
        return end == len(whole.items) - 1 and whole.items[end].key in _TELLING
    return end == len(whole.items) and gap.at > 0 and whole.items[gap.at - 1].key in _TELLING


def _is_run(words: Sequence[Word]) -> bool:
    """Whether words of CJK stand side by side; others do."""
    length = words[-1].start - words[0].start
    return not is_cjk(words[0].text[0]) or length < len(words)
