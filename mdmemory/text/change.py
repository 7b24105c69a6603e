"""Which stored fact a new one replaces: certainly, perhaps, or none. A question of form. Pure.

A fact replaces another where subject and attribute are the same and the value is another. Two
facts that differ in more than one place speak of different things, however alike they look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from mdmemory.text import polarity
from mdmemory.text.everyday import everyday_words
from mdmemory.text.gaps import Gap, Word, cut, has_article, last_link
from mdmemory.text.meeting import VALUES, Meeting
from mdmemory.text.new_fact import NewFact
from mdmemory.text.words import is_cjk

_LEAD = 0.3  # by which the best note has to be nearer than the next
_NEAR = 0.3  # weight of shared words below which a note is not looked at
_SUBJECT = 0.9  # of those that a subject takes
_WHOLE = 1.8  # of those that subject and attribute take
_LOOKED = 3  # notes that are looked at
_SHOWN = 4  # words of a value in a reason
_COPULAS = frozenset(("is", "ist", "est", "es", "é", "è"))
_CALLED = frozenset(("called", "named", "heisst"))
_TOWARDS = frozenset("to auf zu à para pra al por pelo pela par".split())
_OWNS = frozenset("has have had hat habe haben tiene tengo tenemos tem tenho ha ho abbiamo".split())
_MANY = frozenset("speak play know learn read own sprech spiel kenn".split())  # many things at once
_WITH = frozenset("with mit avec con com".split())
# How words for a state end in Latin languages: laggy, broken, unstable, langsam, lento.
_OF_STATES = tuple("y ed en ing ble ful less ish ig lich sam bar isch".split())
_NAMES = frozenset(("name", "place"))
_COUNTS = frozenset(("number", "time", "day"))
_MEASURES = frozenset(("number", "time", "day", "unit"))


class Former(NamedTuple):
    """A stored fact that a new one replaces, or may replace."""

    file: str
    is_certain: bool
    why: str  # half a sentence for people: "freight carrier -> parcel service"


def changes(said: str, known: Mapping[str, str]) -> list[Former]:
    """The stored facts that a sentence of the user's replaces: one for certain, or some perhaps,
    the nearest first.

    `known` holds the text of each file: description, blank line, body. A request for the moment, a
    question, more about the same subject and a look-alike replace nothing.
    """
    new = NewFact(cut(said))
    cuts = [(file, cut(text)) for file, text in sorted(known.items())]
    shared = [new.cut.shared(each) for _, each in cuts]
    held = [sum(column) for column in zip(*shared, strict=True)]
    meetings = [
        _Judged(new, file, each, has, held)
        for (file, each), has in zip(cuts, shared, strict=True)
        if any(has) and not new.is_same(each)
    ]
    near = sorted(
        (each for each in meetings if each.rank >= _NEAR), key=lambda each: (-each.score, each.file)
    )[:_LOOKED]
    if not near:
        return []
    lead = near[0].score - near[1].score if len(near) > 1 else near[0].score
    if lead >= _LEAD and near[0].is_certain:
        return [Former(near[0].file, True, near[0].why)]
    close = [each for each in near if each.score >= near[0].score - _LEAD]
    return [Former(each.file, False, each.why) for each in close if each.is_possible]


class _Judged(Meeting):
    """A stored fact beside what was said, and whether it still holds."""

    @cached_property
    def score(self) -> float:
        """How near the note is, for choosing among notes."""
        head = self.has[0] and self._first in self.hits
        extra = (0.6 if head else 0.0) + (0.7 if self.old else 0.0) + (0.5 if self._kinds else 0.0)
        extra += 0.4 if self._is_same_attribute else 0.0
        extra += 0.3 if self._is_one_place else 0.0
        return self.rank + 0.5 * self.covered + extra - (0.5 if self._is_narrower else 0.0)

    @property
    def _first(self) -> int:
        """The position of the first word of the clause that speaks most of the note."""
        words = self.new.cut.words
        weights = dict.fromkeys(sorted(self.telling or self.touched), 0.0)
        for i in self.hits:
            if words[i].clause in weights:
                weights[words[i].clause] += words[i].weight
        clause = max(weights, key=lambda number: weights[number])
        return next(i for i, word in enumerate(words) if word.clause == clause)

    @cached_property
    def _kinds(self) -> bool:
        """Whether values of the same kinds stand in one place, or such a value is named as old."""
        pairs = [
            (theirs.words, mine.words)
            for theirs, mine in self.pairs
            if (mine.is_told or not theirs.is_told) and not _has_object(theirs, mine)
        ]
        pairs += [(tuple(self.old), tuple(self.fresh))] if self.old else []
        return any(_is_of_kind(theirs, mine) for theirs, mine in pairs)

    def _says(self, clauses: frozenset[int]) -> bool:
        return any(at + step in clauses for at in self.touched for step in (-1, 0, 1))

    @cached_property
    def is_other(self) -> bool:
        """Whether the two speak of different things, for all that they share."""
        if self.is_anothers:
            return True
        heads = [pair for pair in self.pairs if pair[0].is_subject and pair[1].is_subject]
        heads = [pair for pair in heads if pair[1].words[0].clause not in self.new.asks]
        heads = [pair for pair in heads if not self._is_means(pair)]
        if self.note.words[0].key in {word.key for word in self.old}:
            heads = []
        if self.new.is_own and self._is_persons:
            heads = [pair for pair in heads if pair[0].at > 0]
        places = [pair for pair in self.pairs if not self._is_measure(pair)]
        if all(theirs.is_told and mine.is_told for theirs, mine in self.pairs):
            return False
        many = len(places) + (len(places) < len(self.pairs)) > 1
        return bool(heads) or (many and not self._names_old)

    @cached_property
    def _is_same_attribute(self) -> bool:
        """Whether more is shared than the subject: a word behind what differs or behind a verb, or
        the small word in front of the value."""
        words, has = self.note.words, self.has
        first = next((at for at, shared in enumerate(has) if not shared), len(has))
        if any(
            shared and (at > first or (words[at].is_told and not self._is_subject(words[at])))
            for at, shared in enumerate(has)
        ):
            return True
        links = ((last_link(theirs.link), last_link(mine.link)) for theirs, mine in self.pairs)
        return any(one == other != "" and one not in _TOWARDS for one, other in links)

    def _is_subject(self, word: Word) -> bool:
        """Whether what was said says something of this word of the note, and not by it."""
        words = self.new.cut.words
        at = [i for i in self.hits if words[i].key == word.key]
        told = {each.clause for each in words if each.is_told}
        begun = {each.clause: last_link(each.link) for each in reversed(words)}
        return bool(at) and all(
            not words[i].is_told and words[i].clause in told and not begun[words[i].clause]
            for i in at
        )

    @property
    def _goes_to(self) -> bool:
        """Whether what was said says towards which value it goes."""
        if any(is_cjk(word.text[0]) for word in self.left):
            return self._says(self.new.made)
        return any(last_link(mine.link) in _TOWARDS for _, mine in self.pairs)

    @staticmethod
    def _is_measure(pair: tuple[Gap, Gap]) -> bool:
        return all({word.kind for word in slot.words} <= _MEASURES for slot in pair)

    def _is_means(self, pair: tuple[Gap, Gap]) -> bool:
        """Whether a measure says with what something is done, behind a verb that begins an order:
        "indent with 2 spaces"."""
        return self._is_measure(pair) and all(last_link(slot.link) in _WITH for slot in pair)

    @cached_property
    def _is_persons(self) -> bool:
        """Whether the note may speak of the user by name."""
        first = self.note.words[:1]
        return bool(first) and first[0].text[:1].isupper() and first[0].text.isalpha()

    @cached_property
    def _keeps_value(self) -> bool:
        """Whether what the note ends with was said again, and not as what held before."""
        words = self.note.words
        if not self.has[-1] or words[-1].key in {word.key for word in self.old}:
            return False
        pairs = [pair for pair in self.pairs if not pair[0].is_subject]
        if any(theirs.after == mine.after != "" for theirs, mine in pairs):
            return False
        is_counted = len(words) > 1 and not self.has[-2] and words[-2].kind == "number"
        return not is_counted and not (words[0].is_told and not self.has[0])

    @property
    def _is_barred(self) -> bool:
        return self._says(self.new.moments) or (self._says(self.new.more) and not self.old)

    @property
    def _ends(self) -> bool:
        """Whether it is said of the whole note that it no longer holds."""
        return self.covered >= 0.6 and polarity.may_deny(self.new.cut.text)

    @property
    def is_possible(self) -> bool:
        """Whether the note may say what no longer holds."""
        if self._is_barred or self.is_other:
            return False
        if self.new.is_own and self._is_persons and self.pairs:
            return True
        if self.share < _SUBJECT or (self.old and self._says(self.new.cues)):
            return bool(self.old) and self._says(self.new.cues)
        if not self.left or not self.fresh:
            return self._says(self.new.cues)
        if not (self._kinds or self._is_same_attribute or self._has_one_name):
            return False
        return self.covered >= 0.4 or self._is_one_gap

    @property
    def is_certain(self) -> bool:
        """Whether the note may be marked at once."""
        if self._is_barred or self.is_other:
            return False
        if self.fresh and self._names_old:
            return True
        if not self._says(self.new.cues):
            return self._is_plain
        if not self.fresh:
            return self._ends
        if self._is_opposite:
            return True
        if self._is_one_of_many:
            return False
        is_whole = self.share >= _WHOLE or self.covered >= 0.6
        is_same = self._is_same_attribute or self._goes_to
        enough = self._kinds or self._is_one_place or self._is_renamed or (is_whole and is_same)
        if self.share < _SUBJECT or not enough or self._is_narrower:
            return False
        is_subject = self.share >= _WHOLE or self.has[0]
        return is_subject and bool(self.left) and not self._keeps_value

    @cached_property
    def _names_old(self) -> bool:
        """Whether what held before is named, and of what it held."""
        told = {word.key for word in self.note.words if word.is_told}
        value = [word for word in self.old if word.key in told] or self.old
        if len(value) == len(self.hits):
            value = [word for word in value if word.key == self.note.words[-1].key]
        return bool(value) and self.share - sum(word.weight for word in value) >= _NEAR

    @cached_property
    def _is_narrower(self) -> bool:
        """Whether it was said of something that the note does not name."""
        words, first = self.new.cut.words, self.note.words[0].key
        if self.is_qualified:
            return True
        if self.old or self._first in self.hits or words[self._first].is_told:
            return False
        if words[self._first].clause in self.new.asks:
            return False  # an order begins with a verb
        return not any(words[i].key == first and words[i].is_told for i in self.hits)

    @property
    def _is_one_place(self) -> bool:
        """Whether both have one name in place of another, and nothing else differs."""
        if not self._has_one_name:
            return False
        [(theirs, mine)] = self.pairs
        if _OWNS.isdisjoint(theirs.link.split()) != _OWNS.isdisjoint(mine.link.split()):
            return False  # what it is, and what it has
        if theirs.words[0].kind in _NAMES and mine.words[0].kind in _NAMES:
            return True
        # another verb may stand before it, where the small word before it is the same
        links, others = (
            {last_link(word.link) for word in gap.words if word.kind in _NAMES}
            for gap in (theirs, mine)
        )
        return not (links & others) <= {""}

    @property
    def _has_one_name(self) -> bool:
        """The same, or one beside other words."""
        names = (_NAMES & {word.kind for word in gap.words} for pair in self.pairs for gap in pair)
        return self._is_one_gap and all(names)

    @property
    def _is_renamed(self) -> bool:
        """Whether the two are one sentence but for the name that the subject is said to have."""
        if not self._is_all_but_one or not self.has[0]:
            return False
        [(theirs, mine)] = self.pairs
        is_told = theirs.is_told and mine.is_told and theirs.link == mine.link
        return is_told and all(map(_is_named, (*theirs.words, *mine.words)))

    @property
    def _is_one_of_many(self) -> bool:
        """Whether the note says one of many things that hold at once: I speak Polish."""
        does = any(word.key in _MANY for word in self.note.words)
        return does and any(not last_link(theirs.link) for theirs, _ in self.pairs)

    @property
    def _is_opposite(self) -> bool:
        """Whether the two are one sentence but for a word and its opposite."""
        if not self._is_all_but_one:
            return False
        from mdmemory.text.contradiction import are_opposite  # few sentences need its tables

        [(theirs, mine)] = self.pairs
        words = (theirs.words[0].text.casefold(), mine.words[0].text.casefold())
        return len(theirs.words) == len(mine.words) == 1 and are_opposite(*words)

    @property
    def _is_all_but_one(self) -> bool:
        """Whether nothing differs but what stands in one place."""
        if len(self.pairs) != 1:
            return False
        [(theirs, mine)] = self.pairs
        return self.left == [*theirs.words] and self.fresh == [*mine.words]

    @property
    def _is_one_gap(self) -> bool:
        """Whether all that the note says otherwise stands in one place."""
        if len(self.pairs) != 1:
            return False
        words = self.pairs[0][0].words
        return all(word in words or is_cjk(word.text[0]) for word in self.left)

    @property
    def _is_plain(self) -> bool:
        """Whether nothing differs but one value of a kind with an end to it, or one name that the
        subject is said to be."""
        if len(self.pairs) != 1:
            return False
        theirs, mine = self.pairs[0]
        is_called = not _CALLED.isdisjoint(theirs.link.split()[-1:])
        # of a thing there is one
        is_one = is_called or all(map(_is_address, (*theirs.words, *mine.words)))
        if self.share < (_SUBJECT if is_one else _WHOLE):
            return False
        kinds = [{word.kind for word in gap.words} for gap in (theirs, mine)]
        if len(self.left) > len(theirs.words) or len(self.fresh) > len(mine.words):
            return False
        is_name = kinds[0] == {"name"} and (is_called or theirs.link in _COPULAS)
        same = kinds[0] == kinds[1] and theirs.link == mine.link
        return same and (is_name or kinds[0] <= VALUES)

    @cached_property
    def why(self) -> str:
        """The old value and the new one, as a person is shown them: `8080 -> 8443`."""
        return f"{_shown(self.old or self.left)} -> {_shown(self.fresh)}"


def _is_of_kind(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two values are of the same kinds; a day may come with a time, and a time in words."""
    mine, theirs = ({word.kind for word in words} & VALUES for words in (one, other))
    if all(words and words[0].kind not in VALUES for words in (one, other)):
        return False  # of what, and how much: two things differ
    if not mine & _COUNTS or not theirs & _COUNTS:
        return mine == theirs != set()
    if "time" in mine | theirs or "day" in mine & theirs:
        return mine | theirs <= _MEASURES
    return mine == theirs


def _has_object(theirs: Gap, mine: Gap) -> bool:
    """Whether in front of a value it was said of what it is: the docs on Fridays, not Fridays."""
    firsts = [gap.words[0].kind in VALUES for gap in (theirs, mine)]
    return firsts == [True, False] and has_article(mine.link)


def _is_address(word: Word) -> bool:
    return word.text.count(".") == 3 and word.text.replace(".", "").isdigit()


def _is_named(word: Word) -> bool:
    """Whether a word may be the name of something: it has no everyday meaning, as a state has."""
    text = word.text.casefold()
    return word.kind in ("name", "place") or not (
        is_cjk(text[0]) or text in everyday_words() or word.is_light or text.endswith(_OF_STATES)
    )


def _shown(words: Sequence[Word]) -> str:
    """The first words of a value, as they were written; what stands in it twice is shown once."""
    found = ""
    for text in list(dict.fromkeys(word.text for word in words))[:_SHOWN]:
        found += text if is_cjk(text[0]) and found[-1:] > "\u3000" else f" {text}"
    return found.strip() or "..."
