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
from itertools import product

from mdmemory.text.agreement import says_as_much
from mdmemory.text.facts import FAILS, LACKS, ONLY, ReadFact, ReadWord, fact, shared, told
from mdmemory.text.gaps import Gap, Word, gaps, has_article, is_verb, last_link
from mdmemory.text.meanings import (
    ENDED,
    KIND,
    NAMED,
    NEVER,
    UNIT,
    are_opposite,
    language_of,
    soft,
    written,
)
from mdmemory.text.words import is_cjk

LONGEST = 400  # characters of a fact that is compared
_ENOUGH = 0.3  # of the shorter fact's words, the share that both have to have
_MOST = 0.6  # of them that subject and attribute take
# Meanings behind which there stands one value.
_TELLING = frozenset(
    "=lies =happens =meets =comes =connects =runs =uses =sends =buys =pays =works =speaks "
    "=reads".split()
)
# Of what sort a thing is: in front of it they tell it from another.
_SORTS = frozenset(
    "=internal =external =public =private =manual =automatic =wired =wireless =short =long =full "
    "=partial =fast =slow =encrypted =plain =remote =onsite =first =last =empty =warm =cold =wet "
    "=dry =left =right =top =bottom =inside =outside =even =odd".split()
)
_STANDS = "=lies"
_WHERE = frozenset(
    "in at on behind under an auf bei hinter unter dans à sur sous chez en sobre bajo em sob su "
    "presso".split()
)
_MEETS = frozenset(("=meets", "=happens"))
_REFLEXIVE = frozenset(("si", "se", "sich"))
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
    language = language_of(f"{one}\n{other}")
    return _Pair(fact(one, language), fact(other, language)).relation


class _Pair:
    """Two facts beside each other."""

    def __init__(self, one: ReadFact, other: ReadFact) -> None:
        self.one, self.other = one, other
        self.has = shared(one, other), shared(other, one)
        self.left = [item for item, has in zip(one.items, self.has[0], strict=True) if not has]
        self.right = [item for item, has in zip(other.items, self.has[1], strict=True) if not has]

    @property
    def relation(self) -> Relation:
        if self._share < _ENOUGH:
            return Relation(Kind.UNKNOWN)
        if why := self._contradiction:
            return Relation(Kind.AGAINST, why)
        if self._differs or self._are_two:
            return Relation(Kind.APART)
        is_same = not (self._is_only or self._opposed or self._denied) and says_as_much(
            self.one, self.other, self.left, self.right
        )
        return Relation(Kind.SAME if is_same else Kind.UNKNOWN)

    @property
    def _share(self) -> float:
        weights = []
        for each, has in ((self.one, self.has[0]), (self.other, self.has[1])):
            whole = sum(item.word.weight for item in each.items)
            common = zip(each.items, has, strict=True)
            weights.append(sum(item.word.weight for item, is_in in common if is_in) / (whole or 1))
        return max(weights)

    # --- what differs

    def _of(self, group: str) -> tuple[list[ReadWord], list[ReadWord]]:
        return (
            [item for item in self.left if item.group == group],
            [item for item in self.right if item.group == group],
        )

    @cached_property
    def _plain(self) -> tuple[list[ReadWord], list[ReadWord]]:
        """The plain words that one has and the other lacks, those left out that matter little."""
        opposed = set(self._opposed or ())
        left, right = (
            [item for item in side if item.key not in soft() | opposed | {ONLY, LACKS, FAILS}]
            for side in self._of("")
        )
        return left, right

    @property
    def _words(self) -> tuple[list[ReadWord], list[ReadWord]]:
        """The plain words and names of each side that the other lacks."""
        left, right = ([item for item in side if item.group in ("", "name")] for side in self._hard)
        return left, right

    @cached_property
    def _places(self) -> list[str]:
        """The groups of words in which each has one that the other lacks."""
        found = [group for group in ("time", "number", "name") if all(self._of(group))]
        if self._is_plain or self._mixed:
            found = [group for group in found if group != "name" or not self._mixed] + [""]
        return found

    @property
    def _is_plain(self) -> bool:
        """Whether each has a plain word that the other lacks; what says of what kind a thing is
        counts only where it stands in the place of another word."""
        if not all(self._plain):
            return False
        if all(any(not item.key.startswith(KIND) for item in side) for side in self._plain):
            return True
        mine, theirs = ({id(item.word) for item in side} for side in self._plain)
        return any(
            mine & set(map(id, one.words)) and theirs & set(map(id, two.words))
            for one, two in self._gaps
        )

    @property
    def _mixed(self) -> bool:
        """Whether a name stands against a plain word."""
        names, words = self._of("name"), self._plain
        return bool(
            (names[0] and words[1] and not names[1]) or (names[1] and words[0] and not names[0])
        )

    @property
    def _differs(self) -> bool:
        return bool(self._places)

    @cached_property
    def _opposed(self) -> tuple[str, str] | None:
        mine, theirs = self.one.names - self.other.names, self.other.names - self.one.names
        # of "when it is deleted, they are kept" and "deleting it deletes them" both delete
        for left, right in product(sorted(mine), sorted(theirs)):
            if left.startswith(NAMED) and right.startswith(NAMED) and are_opposite(left, right):
                return left, right
        return None

    @cached_property
    def _are_two(self) -> bool:
        """Whether opposite words tell two things apart: the internal and the external interface."""
        sides = zip(self._opposed or (), (self.one, self.other), strict=False)
        found = [_is_told_apart(key, each) for key, each in sides]
        return bool(found) and all(found)

    @cached_property
    def _denied(self) -> bool:
        """Whether one denies what the other says of a word that both have."""
        lacking = (LACKS in self.one.keys) != (LACKS in self.other.keys)
        for key in self.one.keys & self.other.keys:
            mine, theirs = (each.of(key, lacking=lacking) for each in (self.one, self.other))
            if mine & theirs:
                continue
            both = mine | theirs
            if "" in both or both == {NEVER, ENDED}:
                return True
        return False

    @cached_property
    def _is_only(self) -> bool:
        """Whether one alone excludes all else."""
        return (ONLY in self.one.names) != (ONLY in self.other.names)

    @cached_property
    def _sides(self) -> list[list[Gap]]:
        """Of each fact what the other lacks, by place."""
        facts = zip((self.one, self.other), self.has, strict=True)
        return [gaps([item.word for item in fact.items], has) for fact, has in facts]

    @cached_property
    def _gaps(self) -> list[tuple[Gap, Gap]]:
        """The places in which the two differ, each with what stands there on either side."""
        return [(one, two) for one, two in product(*self._sides) if one.faces(two)]

    @property
    def _heads(self) -> bool:
        """Whether the two differ in of what they speak."""
        return any(one.is_subject and two.is_subject for one, two in self._gaps)

    @cached_property
    def _contradiction(self) -> str:
        if (self._denied and self._opposed) or (self._has_other_subject and not self._is_only):
            return ""  # not open, and closed
        if self._denied:
            others = [group for group in self._places if group != "time"]
            fits = self._is_loose or not others
            return "one denies what the other says" if fits and self._is_answered else ""
        if self._opposed:
            if self._are_two:
                return ""
            if self._places and not (self._places == ["time"] and self._lasts):
                return ""
            if self._is_narrower:
                return ""
            sides = zip(self._opposed, (self.one, self.other), strict=True)
            words = (written(name, each.text, each.language) for name, each in sides)
            return " against ".join(words)
        if len(self._places) != 1:
            return ""
        [group] = self._places
        left, right = self._of(group) if group else self._words
        if self._is_only or self._is_value(group, left, right):
            return f"{told(left, self.one)} against {told(right, self.other)}"
        return ""

    @property
    def _has_other_subject(self) -> bool:
        """Whether plain words say that the two speak of different things, one of which may be a
        word that matters little elsewhere: the read timeout and the write timeout."""
        plain, hard = (
            {id(item.word) for side in sides for item in side if item.group == ""}
            - {
                id(item.word)
                for side in sides
                for item in side
                if item.key in (self._opposed or ())
            }
            for sides in ((self.left, self.right), self._plain)
        )
        for pair in self._gaps:
            words = [{id(word) for word in gap.words} for gap in pair]
            heads = all(gap.is_subject for gap in pair) and all(each & plain for each in words)
            if heads and any(each & hard for each in words):
                return not (self._has_role and all(map(_is_name, pair)))
        return False

    @property
    def _is_narrower(self) -> bool:
        """Whether a fact speaks of something that the other does not name."""
        firsts = {id(gap.words[0]): gap for pair in self._sides for gap in pair if gap.is_subject}
        heads = {id(word) for gap in firsts.values() for word in gap.words}
        return any(id(item.word) in heads for side in self._plain for item in side)

    @property
    def _has_role(self) -> bool:
        """Whether both speak of a role that one person has."""
        return bool(_ROLES & self.one.keys & self.other.keys)

    @property
    def _is_answered(self) -> bool:
        """Whether what is denied is what the other says: each names most of the other's words."""
        if (
            self._share <= 0.5
            or self.one.none_of - self.other.keys
            or self.other.none_of - self.one.keys
        ):
            return False
        for side, whole_fact in ((self._hard[0], self.one), (self._hard[1], self.other)):
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
            bool(self._denied)
            and self._mixed
            and not all(self._plain)
            and not all(self._of("name"))
        )

    def _is_one_place(self, left: list[ReadWord], right: list[ReadWord]) -> bool:
        """Whether all that differs in the clauses of two values stands in one place."""
        sides = []
        for values, side in ((left, self._hard[0]), (right, self._hard[1])):
            clauses = {item.word.clause for item in values}
            sides.append({id(item.word) for item in side if item.word.clause in clauses})
        for one, two in self._gaps:
            if _is_run(one.words) and _is_run(two.words):
                mine, theirs = set(map(id, one.words)), set(map(id, two.words))
                if sides[0] <= mine and sides[1] <= theirs:
                    return True
        return False

    @cached_property
    def _hard(self) -> tuple[list[ReadWord], list[ReadWord]]:
        """The words of each side that the other lacks and that matter."""
        left, right = (
            [item for item in side if item.key not in soft()] for side in (self.left, self.right)
        )
        return left, right

    def _is_value(self, group: str, left: list[ReadWord], right: list[ReadWord]) -> bool:
        """Whether the one place in which two facts differ holds a value of the same subject."""
        if group in ("time", "name") and self.one.is_event and self.other.is_event:
            return False
        if group == "time":
            return self._is_one_time(left, right)
        if group == "number":
            return self._is_measure(left, right)
        if self._heads:
            return self._has_role and _are_people(left, right) and self._is_one_place(left, right)
        if any(self._more(left, right)):
            return False
        if group == "name" and not {item.sort for item in left} & {item.sort for item in right}:
            return False
        if self._is_last and self._share >= _MOST:
            return True
        if self._ends_alike and self._share >= 0.5:
            return True
        return self._is_one_place(left, right) and (
            group == "name" or (self._is_told and self._share > 0.5)
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
        return bool(same) and not (same == {"date"} and self._heads)

    def _more(self, left: list[ReadWord], right: list[ReadWord]) -> list[bool]:
        """For each side whether the clause of its value speaks of something else that the other
        fact does not name."""
        found = []
        for values, plain in zip((left, right), self._plain, strict=True):
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
            for one, two in self._gaps
        )

    @property
    def _is_told(self) -> bool:
        """Whether what differs ends both facts behind the same small word: "is in the library"."""
        for left, right in self._gaps:
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
        for side, each in zip(self._hard, (self.one, self.other), strict=True):
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


def _is_told_apart(key: str, whole: ReadFact) -> bool:
    """Whether a word says which thing a fact speaks of: it stands in front of the verb."""
    at = next((at for at, item in enumerate(whole.items) if item.key == key), None)
    if at is None or at + 1 == len(whole.items) or whole.items[at].word.is_told:
        return False
    word, behind = whole.items[at].word, whole.items[at + 1].word
    if behind.clause != word.clause:
        return False
    if key in _SORTS and any(
        item.word.is_told for item in whole.items[at + 1 :] if item.word.clause == word.clause
    ):
        return True
    if key in _SORTS and not _REFLEXIVE.isdisjoint(behind.link.split()):
        return True
    is_named = key in _SORTS or has_article(word.link)
    return at == 0 and not behind.link and is_named


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
