"""One sentence of the user's, and what it says of change: words of change, what held before, and
what makes it a request or more of the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from mdmemory.text import polarity, wordlists
from mdmemory.text.gaps import CHANGED, Cut, is_verb
from mdmemory.text.words import is_cjk

_REACH = 3  # words beside a word like "not" that it speaks of


class NewFact:
    """What was said: its words, and what it says of change."""

    def __init__(self, said: Cut) -> None:
        self.cut = said
        self.clauses = said.clauses
        self.asks = self._where("{change.ask}", bare=True)
        self.dead = said.asked | (self.asks - self._where("{change.standing}"))
        self.cues = self._where(CHANGED)
        self.made = self._where("{change.made}")
        self.moments = self._where("{change.moment}")
        self.more = self._where("{change.also}")
        self.is_own = bool(self._where("{change.me}"))

    def _where(self, section: str, *, bare: bool = False) -> frozenset[int]:
        """The clauses that have a word of a section, those of questions left out; `bare`: without
        the words of change that they begin with."""
        found: set[int] = set()
        for at, (clause, _) in enumerate(self.clauses):
            text = wordlists.without(CHANGED, clause) if bare else clause
            if at not in self.cut.asked and wordlists.spans(section, text.strip()):
                found.add(at)
        return frozenset(found)

    def is_same(self, note: Cut) -> bool:
        """Whether a note has the same words, and denies as little or as much."""
        if not self.cut.has_keys_of(note):
            return False
        return polarity.may_deny(self.cut.text) == polarity.may_deny(note.text)

    @cached_property
    def ending(self) -> frozenset[int]:
        """The positions of the words that say only that something is over or away."""
        found: set[int] = set()
        for number, (clause, _) in enumerate(self.clauses):
            for begin, end in wordlists.spans("{change.gone}", clause):
                found.update(
                    i for i, word in enumerate(self.cut.words)
                    if word.clause == number and begin <= word.start < end
                )  # fmt: skip
        return frozenset(found)

    @cached_property
    def old(self) -> frozenset[int]:
        """The positions of the words that are named as what held before."""
        found: set[int] = set()
        for number, (clause, sign) in enumerate(self.clauses):
            at = [i for i, word in enumerate(self.cut.words) if word.clause == number]
            for match in wordlists.pattern("{change.old}", clause).finditer(clause):
                behind = [i for i in at if self.cut.words[i].start >= match.end()]
                found.update(self._phrase(behind, match.end(), clause))
            for match in wordlists.pattern("{change.gone}", clause).finditer(clause):
                before = [i for i in at if self.cut.words[i].start < match.start()]
                found.update(self._phrase(before[::-1], match.start(), clause))
            if sign.strip() in ("→", "->", "=>"):
                found.update(at[-1:])
        return frozenset(found)

    def _phrase(self, at: Sequence[int], begin: int, clause: str) -> list[int]:
        """The positions that belong together, from the first on: as far as the next verb or, in
        CJK, the next particle."""
        found: list[int] = []
        words = self.cut.words
        for i in at:
            word = words[i]
            if is_cjk(word.text[0]):
                edge = words[found[-1]].start if found else begin
                gap = clause[min(edge, word.start) + 1 : max(edge, word.start)]
                ends = found and any(sign in gap for sign in "はがを的、,， ")
                if ends or len(found) >= 3 * _REACH:
                    break
            elif found and (words[found[0]].kind or any(map(is_verb, word.link.split()))):
                if word.link or len(found) >= _REACH:
                    break
            elif len(found) >= _REACH:
                break
            found.append(i)
        return found
