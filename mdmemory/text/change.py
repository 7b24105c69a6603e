"""Which stored fact a new one replaces: certainly, perhaps, or none. A question of form. Pure.

A fact replaces another where subject and attribute are the same and the value is another. Two
facts that differ in more than one place speak of different things, however alike they look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

from mdmemory.records import dataclass
from mdmemory.text import polarity
from mdmemory.text.gaps import Cut, Gap, Word, cut, gaps, last_link
from mdmemory.text.new_fact import NewFact
from mdmemory.text.words import is_cjk

_LEAD = 0.3  # by which the best note has to be nearer than the next
_NEAR = 0.3  # weight of shared words below which a note is not looked at
_SUBJECT = 0.9  # of those that a subject takes
_WHOLE = 1.8  # of those that subject and attribute take
_LOOKED = 3  # notes that are looked at
_SHOWN = 4  # words of a value in a reason
_VALUES = frozenset(("number", "time", "day", "unit", "place"))  # kinds with an end to them
_COPULAS = frozenset(("is", "ist", "est", "es", "é", "è"))
_TOWARDS = frozenset("to auf zu à para pra al por pelo pela par".split())
_WITH = frozenset("with mit avec con com".split())
_NAMES = frozenset(("name", "place"))
_COUNTS = frozenset(("number", "time", "day"))
_MEASURES = frozenset(("number", "time", "day", "unit"))


@dataclass(frozen=True, slots=True)
class Former:
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
        _Meeting(new, file, each, has, held)
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


class _Meeting:
    """What was said, beside one stored fact."""

    def __init__(
        self, new: NewFact, file: str, note: Cut, shared: Sequence[bool], held: Sequence[int]
    ) -> None:
        self.new, self.file, self.note = new, file, note
        words = new.cut.words
        hits = [i for i, has in enumerate(shared) if has and words[i].clause not in new.dead]
        self.hits = frozenset(hits)
        self.touched = frozenset(words[i].clause for i in hits)
        weights = {words[i].key: words[i].weight for i in hits}
        rare = {words[i].key: words[i].weight / (1 + math.log(held[i])) for i in hits}
        self.share, self.rank = sum(weights.values()), sum(rare.values())

    # --- what differs

    @cached_property
    def _has(self) -> list[bool]:
        return self.note.shared(self.new.cut)

    @cached_property
    def left(self) -> list[Word]:
        """The words of the note that were not said."""
        return [word for word, has in zip(self.note.words, self._has, strict=True) if not has]

    @cached_property
    def fresh(self) -> list[Word]:
        """The words that were said and are not in the note, in the clauses that speak of it and
        those of change beside them; in any beside them, where these have none."""
        words = self.new.cut.words
        rest = [word for i, word in enumerate(words) if i not in self.hits]
        rest = [word for word in rest if word.clause not in self.new.dead]
        beside = {at + step for at in self.touched for step in (-1, 1)}
        near = self.touched | (beside & self.new.cues)
        same = [word for word in rest if word.clause in near]
        return same or [word for word in rest if word.clause in beside]

    @cached_property
    def covered(self) -> float:
        """The share of the note that was said, by weight."""
        whole = sum(word.weight for word in self.note.words)
        return 1 - sum(word.weight for word in self.left) / (whole or 1.0)

    @cached_property
    def old(self) -> list[Word]:
        """The words of the note that are named as what held before."""
        words = self.new.cut.words
        found = self.hits & self.new.old
        return [words[i] for i in sorted(found or self._aside)]

    @property
    def _aside(self) -> set[int]:
        """What the note ends with, said beside the clause that tells what holds now: "the port is
        81, you took 80"."""
        words = self.new.cut.words
        last = self.note.words[-1].key
        found = {i for i in self.hits if words[i].key == last} if self._has[-1] else set[int]()
        clauses = {words[i].clause for i in found}
        around = {at + step for at in clauses for step in (-1, 1)}
        news = {word.clause for i, word in enumerate(words) if i not in self.hits} & around
        if clauses & self.new.cues or not news - clauses:
            return set()
        firsts = {next(i for i, word in enumerate(words) if word.clause == at) for at in news}
        is_told = self.covered > 0.9 and bool(firsts & self.hits)
        return found if is_told or news & self.new.cues else set()

    @cached_property
    def _pairs(self) -> list[tuple[Gap, Gap]]:
        """The places in which the two differ: what the note says there, and what was said."""
        words = self.new.cut.words
        beside = {at + step for at in self._telling for step in (-1, 1)}
        near = self._telling | ((beside & self.new.cues) - self.touched - self.new.dead)
        live = [i for i, word in enumerate(words) if word.clause in near]
        mine = gaps([words[i] for i in live], [i in self.hits for i in live])
        theirs = gaps(self.note.words, self._has)
        found: dict[Gap, Gap] = {}
        for is_strict in (True, False):
            for gap in theirs:
                free = [each for each in mine if each not in found.values()]
                faced = [each for each in free if gap.faces(each)]
                if is_strict:
                    faced = [each for each in faced if each.is_told == gap.is_told]
                elif not faced and not gap.after and not gap.is_subject:
                    faced = [each for each in mine[-1:] if not each.after and each in free]
                if faced and gap not in found:
                    found[gap] = faced[0]
        return [(gap, found[gap]) for gap in theirs if gap in found]

    @cached_property
    def _telling(self) -> frozenset[int]:
        """The clauses that speak of the note, those left out that only name what held before."""
        words, old = self.new.cut.words, {word.key for word in self.old}
        return frozenset(words[i].clause for i in self.hits if words[i].key not in old)

    # --- what it means

    @cached_property
    def score(self) -> float:
        """How near the note is, for choosing among notes."""
        head = self._has[0] and self._first in self.hits
        extra = (0.6 if head else 0.0) + (0.7 if self.old else 0.0) + (0.5 if self._kinds else 0.0)
        extra += 0.4 if self._is_same_attribute else 0.0
        return self.rank + 0.5 * self.covered + extra - (0.5 if self._is_narrower else 0.0)

    @property
    def _first(self) -> int:
        """The position of the first word of the clause that speaks most of the note."""
        words = self.new.cut.words
        weights = dict.fromkeys(sorted(self._telling or self.touched), 0.0)
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
            for theirs, mine in self._pairs
            if mine.is_told or not theirs.is_told
        ]
        pairs += [(tuple(self.old), tuple(self.fresh))] if self.old else []
        return any(_is_of_kind(theirs, mine) for theirs, mine in pairs)

    def _says(self, clauses: frozenset[int]) -> bool:
        return any(at + step in clauses for at in self.touched for step in (-1, 0, 1))

    @cached_property
    def is_other(self) -> bool:
        """Whether the two speak of different things, for all that they share."""
        heads = [pair for pair in self._pairs if pair[0].is_subject and pair[1].is_subject]
        heads = [pair for pair in heads if pair[1].words[0].clause not in self.new.asks]
        heads = [pair for pair in heads if not self._is_means(pair)]
        if self.note.words[0].key in {word.key for word in self.old}:
            heads = []
        if self.new.is_own and self._is_persons:
            heads = [pair for pair in heads if pair[0].at > 0]
        places = [pair for pair in self._pairs if not self._is_measure(pair)]
        if all(theirs.is_told and mine.is_told for theirs, mine in self._pairs):
            return False
        many = len(places) + (len(places) < len(self._pairs)) > 1
        return bool(heads) or (many and not self._names_old)

    @cached_property
    def _is_same_attribute(self) -> bool:
        """Whether more is shared than the subject: a word behind what differs or behind a verb, or
        the small word in front of the value."""
        words, has = self.note.words, self._has
        first = next((at for at, shared in enumerate(has) if not shared), len(has))
        if any(shared and (words[at].is_told or at > first) for at, shared in enumerate(has)):
            return True
        links = ((last_link(theirs.link), last_link(mine.link)) for theirs, mine in self._pairs)
        return any(one == other != "" and one not in _TOWARDS for one, other in links)

    @property
    def _goes_to(self) -> bool:
        """Whether what was said says towards which value it goes."""
        if any(is_cjk(word.text[0]) for word in self.left):
            return self._says(self.new.made)
        return any(last_link(mine.link) in _TOWARDS for _, mine in self._pairs)

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
        if not self._has[-1] or words[-1].key in {word.key for word in self.old}:
            return False
        pairs = [pair for pair in self._pairs if not pair[0].is_subject]
        if any(theirs.after == mine.after != "" for theirs, mine in pairs):
            return False
        is_counted = len(words) > 1 and not self._has[-2] and words[-2].kind == "number"
        return not is_counted and not (words[0].is_told and not self._has[0])

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
        if self.new.is_own and self._is_persons and self._pairs:
            return True
        if self.share < _SUBJECT or (self.old and self._says(self.new.cues)):
            return bool(self.old) and self._says(self.new.cues)
        if not self.left or not self.fresh:
            return self._says(self.new.cues)
        if not (self._kinds or self._is_same_attribute or self._is_one_place):
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
        is_whole = self.share >= _WHOLE or self.covered >= 0.6
        is_same = self._is_same_attribute or self._goes_to
        enough = self._kinds or self._is_one_place or (is_whole and is_same)
        if self.share < _SUBJECT or not enough or self._is_narrower:
            return False
        is_subject = self.share >= _WHOLE or self._has[0]
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
        if self.old or self._first in self.hits or words[self._first].is_told:
            return False
        if words[self._first].clause in self.new.asks:
            return False  # an order begins with a verb
        return not any(words[i].key == first and words[i].is_told for i in self.hits)

    @property
    def _is_one_place(self) -> bool:
        """Whether both have one name in place of another, and nothing else differs."""
        names = (_NAMES & {word.kind for word in gap.words} for pair in self._pairs for gap in pair)
        return self._is_one_gap and all(names)

    @property
    def _is_one_gap(self) -> bool:
        """Whether all that the note says otherwise stands in one place."""
        if len(self._pairs) != 1:
            return False
        words = self._pairs[0][0].words
        return all(word in words or is_cjk(word.text[0]) for word in self.left)

    @property
    def _is_plain(self) -> bool:
        """Whether nothing differs but one value of a kind with an end to it, or one name that the
        subject is said to be."""
        if len(self._pairs) != 1:
            return False
        theirs, mine = self._pairs[0]
        is_one = all(map(_is_address, (*theirs.words, *mine.words)))  # of a thing there is one
        if self.share < (_SUBJECT if is_one else _WHOLE):
            return False
        kinds = [{word.kind for word in gap.words} for gap in (theirs, mine)]
        if len(self.left) > len(theirs.words) or len(self.fresh) > len(mine.words):
            return False
        is_name = kinds[0] == {"name"} and theirs.link in _COPULAS
        same = kinds[0] == kinds[1] and theirs.link == mine.link
        return same and (is_name or kinds[0] <= _VALUES)

    @cached_property
    def why(self) -> str:
        """The old value and the new one, as a person is shown them: `8080 -> 8443`."""
        return f"{_shown(self.old or self.left)} -> {_shown(self.fresh)}"


def _is_of_kind(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two values are of the same kinds; a day may come with a time, and a time in words."""
    mine, theirs = ({word.kind for word in words} & _VALUES for words in (one, other))
    if not mine & _COUNTS or not theirs & _COUNTS:
        return mine == theirs != set()
    if "time" in mine | theirs or "day" in mine & theirs:
        return mine | theirs <= _MEASURES
    return mine == theirs


def _is_address(word: Word) -> bool:
    return word.text.count(".") == 3 and word.text.replace(".", "").isdigit()


def _shown(words: Sequence[Word]) -> str:
    """The first words of a value, as they were written; what stands in it twice is shown once."""
    found = ""
    for text in list(dict.fromkeys(word.text for word in words))[:_SHOWN]:
        found += text if is_cjk(text[0]) and found[-1:] > "\u3000" else f" {text}"
    return found.strip() or "..."
