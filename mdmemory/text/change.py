"""Which stored fact a new one replaces: certainly, perhaps, or none. A question of form. Pure.

A fact replaces another where subject and attribute are the same and the value is another. Two
facts that differ in more than one place speak of different things, however alike they look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mdmemory.text import polarity, wordlists
from mdmemory.text.slots import Cut, Word, cut
from mdmemory.text.words import is_cjk

_CERTAIN = 0.3  # by which the best note has to lead
_ENOUGH = 0.9  # weight of shared words below which nothing is the same subject
_REACH = 3  # words behind a word like "not" that it speaks of
_SHOWN = 4  # words of a value in a reason


@dataclass(frozen=True, slots=True)
class Former:
    """A stored fact that a new one replaces, or may replace."""

    file: str
    is_certain: bool
    why: str  # half a sentence for people: "freight carrier -> parcel service"


def changes(said: str, known: Mapping[str, str]) -> list[Former]:
    """The stored facts that a sentence of the user's replaces, certain ones first, by file.

    `known` holds the text of each file: description, blank line, body. A request for the moment, a
    question, more about the same subject and a look-alike replace nothing.
    """
    new = _New(cut(said))
    cuts = {file: cut(text) for file, text in sorted(known.items())}
    shared = {file: new.cut.shared(each) for file, each in cuts.items()}
    held = [sum(column) for column in zip(*shared.values(), strict=True)] if shared else []
    meetings = [_Meeting(new, file, each, shared[file], held) for file, each in cuts.items()]
    near = [each for each in meetings if each.is_near]
    near.sort(key=lambda each: (-each.score, each.file))
    found: list[Former] = []
    for at, each in enumerate(near[:3]):
        lead = each.score - near[1].score if at == 0 and len(near) > 1 else 1.0
        is_certain = at == 0 and each.is_certain(lead)
        if is_certain:
            return [Former(each.file, True, each.why)]
        if each.is_possible and (at == 0 or each.score >= near[0].score - _CERTAIN):
            found.append(Former(each.file, False, each.why))
    return found


class _New:
    """What was said: its words, and what it says of change."""

    def __init__(self, said: Cut) -> None:
        self.cut = said
        self.clauses = [clause for clause, _ in said.clauses]
        self.dead = said.asked | {
            at for at, clause in enumerate(self.clauses) if self._has("{change.ask}", clause)
        }
        self.cues = self._where("{change.word}")
        self.moments = self._where("{change.moment}")
        self.more = self._where("{change.also}")

    def _where(self, section: str) -> frozenset[int]:
        """The clauses that have a word of a section, those of questions left out."""
        return frozenset(
            at
            for at, clause in enumerate(self.clauses)
            if at not in self.cut.asked and self._has(section, clause)
        )

    @staticmethod
    def _has(section: str, clause: str) -> bool:
        return wordlists.search(section, clause.strip()) is not None

    @cached_property
    def old(self) -> frozenset[int]:
        """The positions of the words that are named as what held before."""
        found: set[int] = set()
        for number, (clause, sign) in enumerate(self.cut.clauses):
            at = [i for i, word in enumerate(self.cut.words) if word.clause == number]
            for match in wordlists.pattern("{change.old}", clause).finditer(clause):
                behind = [i for i in at if self.cut.words[i].start >= match.end()]
                reach = _REACH * 3 if behind and is_cjk(self.cut.words[behind[0]].text) else _REACH
                found.update(behind[:reach])
            for match in wordlists.pattern("{change.gone}", clause).finditer(clause):
                found.update(i for i in at if self.cut.words[i].start < match.start())
            if sign.strip() in ("→", "->", "=>"):
                found.update(at)
        return frozenset(found)


class _Meeting:
    """What was said, beside one stored fact."""

    def __init__(
        self, new: _New, file: str, note: Cut, shared: list[bool], held: list[int]
    ) -> None:
        self.new, self.file, self.note = new, file, note
        words = new.cut.words
        self.hits = [i for i, has in enumerate(shared) if has and words[i].clause not in new.dead]
        self.touched = {words[i].clause for i in self.hits}
        seen: dict[str, float] = {}
        for i in self.hits:
            seen[words[i].key] = words[i].weight / (1 + math.log(held[i]))
        self.share = sum(seen.values())

    @property
    def is_near(self) -> bool:
        return self.share >= 0.5

    @cached_property
    def _in_note(self) -> list[bool]:
        return self.note.shared(self.new.cut)

    @cached_property
    def left(self) -> list[Word]:
        """The words of the note that were not said."""
        return [word for word, has in zip(self.note.words, self._in_note, strict=True) if not has]

    @cached_property
    def covered(self) -> float:
        """The share of the note that was said, by weight."""
        whole = sum(word.weight for word in self.note.words)
        return 1 - sum(word.weight for word in self.left) / (whole or 1.0)

    @cached_property
    def fresh(self) -> list[Word]:
        """The words that were said and are not in the note, near those that are."""
        words, hits = self.new.cut.words, set(self.hits)
        rest = [word for i, word in enumerate(words) if i not in hits]
        rest = [word for word in rest if word.clause not in self.new.dead]
        same = [word for word in rest if word.clause in self.touched]
        beside = {at + step for at in self.touched for step in (-1, 1)}
        return same or [word for word in rest if word.clause in beside]

    @cached_property
    def old(self) -> list[int]:
        return [i for i in self.hits if i in self.new.old]

    def _says(self, clauses: frozenset[int]) -> bool:
        return any(at + step in clauses for at in self.touched for step in (-1, 0, 1))

    @cached_property
    def score(self) -> float:
        return self.share + 0.5 * self.covered + self._kinds + (0.7 if self.old else 0.0)

    @cached_property
    def _kinds(self) -> float:
        mine = {word.kind for word in self.fresh} - {""}
        theirs = {word.kind for word in self.left} - {""}
        if mine & theirs:
            return 0.5
        return 0.3 if {"time", "number"} <= mine | theirs else 0.0

    @cached_property
    def is_other(self) -> bool:
        """Whether the two begin with different subjects."""
        words, hits = self.new.cut.words, set(self.hits)
        mine = [i for i, word in enumerate(words) if word.clause in self.touched]
        head = mine[: next((at for at, i in enumerate(mine) if i in hits), 0)]
        theirs = next((at for at, has in enumerate(self._in_note) if has), 0)
        return bool(head and theirs)

    @property
    def is_possible(self) -> bool:
        if self.share < _ENOUGH or self._says(self.new.moments) or self._says(self.new.more):
            return False
        if not self.left or not self.fresh:
            return self._says(self.new.cues)
        return not self.is_other and self.covered >= 0.4

    def is_certain(self, lead: float) -> bool:
        """Whether the note may be marked at once."""
        if lead < _CERTAIN or self._says(self.new.moments) or self._says(self.new.more):
            return False
        if not self.fresh and not self._turns:
            return False
        if self.old and len({self.new.cut.words[i].key for i in self.hits}) > len(self.old):
            return self.share >= _ENOUGH
        return self._says(self.new.cues) and self.share >= _ENOUGH and not self.is_other

    @property
    def _turns(self) -> bool:
        return polarity.may_deny(self.new.cut.text) != polarity.may_deny(self.note.text)

    @cached_property
    def why(self) -> str:
        words = self.new.cut.words
        old = [words[i] for i in self.old] or self.left
        return f"{_shown(old)} -> {_shown(self.fresh)}"


def _shown(words: list[Word]) -> str:
    """The first words of a value, as they were written."""
    found = [word.text for word in words[:_SHOWN]]
    return ("" if found and is_cjk(found[0][0]) else " ").join(found) or "..."
