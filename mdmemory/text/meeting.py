"""What a sentence of the user shares with a stored fact, and in which places they differ. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from mdmemory.text.gaps import Cut, Gap, Word, gaps, last_link
from mdmemory.text.new_fact import NewFact

VALUES = frozenset(("number", "time", "day", "unit", "place"))  # kinds with an end to them
# Small words in front of a word that say who does it, or whose it is.
_WE = frozenset("i i'm i’m i've i’ve we we're we’re ich wir je j'ai j’ai nous yo eu io noi".split())
_OURS = frozenset(
    "my our mein meine unser unsere mon ma notre mi nuestro nuestra meu minha nosso".split()
)
_THEIRS = frozenset("'s his her their sein seine ihr ihre son sa leur su suo sua seu".split())
_MINE = frozenset("my mein meine mon ma mi meu minha".split())
_WHOSE = frozenset("of von vom de du des del di della dello dei do da dos das".split())


class Meeting:
    """What was said, beside one stored fact. `hits` are the positions of the words of `new` that
    the note has in some form, `touched` their clauses, `share` their weight; `rank` is that weight
    where a word counts less that many notes have."""

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

    @cached_property
    def has(self) -> list[bool]:
        return self.note.shared(self.new.cut)

    @cached_property
    def left(self) -> list[Word]:
        """The words of the note that were not said."""
        return [word for word, has in zip(self.note.words, self.has, strict=True) if not has]

    @cached_property
    def fresh(self) -> list[Word]:
        """The words that were said and are not in the note, in the clauses that speak of it and
        those of change beside them; in any beside them, where these have none."""
        words = self.new.cut.words
        told = self.hits | self.new.ending
        rest = [word for i, word in enumerate(words) if i not in told]
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
        found = {i for i in self.hits if words[i].key == last} if self.has[-1] else set[int]()
        clauses = {words[i].clause for i in found}
        around = {at + step for at in clauses for step in (-1, 1)}
        news = {word.clause for i, word in enumerate(words) if i not in self.hits} & around
        if clauses & self.new.cues or not news - clauses:
            return set()
        firsts = {next(i for i, word in enumerate(words) if word.clause == at) for at in news}
        is_told = self.covered > 0.9 and bool(firsts & self.hits)
        return found if is_told or news & self.new.cues else set()

    @cached_property
    def pairs(self) -> list[tuple[Gap, Gap]]:
        """The places in which the two differ: what the note says there, and what was said."""
        words = self.new.cut.words
        beside = {at + step for at in self.telling for step in (-1, 1)}
        near = self.telling | ((beside & self.new.cues) - self.touched - self.new.dead)
        live = [i for i, word in enumerate(words) if word.clause in near]
        mine = gaps([words[i] for i in live], [i in self.hits for i in live])
        theirs = gaps(self.note.words, self.has)
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
    def telling(self) -> frozenset[int]:
        """The clauses that speak of the note, those left out that only name what held before."""
        words, old = self.new.cut.words, {word.key for word in self.old}
        return frozenset(words[i].clause for i in self.hits if words[i].key not in old)

    @property
    def is_anothers(self) -> bool:
        """Whether the note is of the user, or of what is theirs, and it was said of others: my son
        swims, their rabbit."""
        words = self.new.cut.words
        noted = {word.key: {*word.link.split()} for word in self.note.words}
        begun = {word.clause: word for word in reversed(words)}
        for word in (words[i] for i in self.hits):
            there, here = noted.get(word.key, set()), {*word.link.split()}
            if (there & _OURS and here & _THEIRS) or (there & _THEIRS and here & _MINE):
                return True
            first = begun[word.clause]
            is_named = first is not word and first in self.fresh and first.kind in ("", "name")
            is_named = (is_named and not last_link(first.link)) or bool(here & (_OURS | _THEIRS))
            if there & _WE and not here & _WE and is_named:
                return True
        return False

    @property
    def is_qualified(self) -> bool:
        """Whether behind the subject it was said whose or of what it is, which the note does not
        say: the cat of my neighbour, the staging database."""
        faced = [word for _, mine in self.pairs for word in mine.words]
        words = self.new.cut.words
        last = {word.clause: word.is_told for word in words}
        for i, word in enumerate(words):
            if i - 1 not in self.hits or word.is_told or word not in self.fresh or word in faced:
                continue
            is_joined = not word.link and last[word.clause]
            if word.kind not in VALUES and (is_joined or _WHOSE & {*word.link.split()}):
                return True
        return False
