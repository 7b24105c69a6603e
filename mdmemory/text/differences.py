"""Two facts beside each other: which words each has alone, in which places they differ, and which
of them are opposite or denied. Pure."""

from __future__ import annotations

from functools import cached_property
from itertools import product

from mdmemory.text.facts import FAILS, LACKS, ONLY, ReadFact, ReadWord, shared
from mdmemory.text.gaps import Gap, gaps, has_article
from mdmemory.text.meanings import ENDED, KIND, NAMED, NEVER, are_opposite, soft

# Of what sort a thing is: in front of it they tell it from another.
_SORTS = frozenset(
    "=internal =external =public =private =manual =automatic =wired =wireless =short =long =full "
    "=partial =fast =slow =encrypted =plain =remote =onsite =first =last =empty =warm =cold =wet "
    "=dry =left =right =top =bottom =inside =outside =even =odd".split()
)
_REFLEXIVE = frozenset(("si", "se", "sich"))


class Differences:
    """What two facts differ in. `left` and `right` are the words that the one or the other has
    alone."""

    def __init__(self, one: ReadFact, other: ReadFact) -> None:
        self.one, self.other = one, other
        self.has = shared(one, other), shared(other, one)
        self.left = [item for item, has in zip(one.items, self.has[0], strict=True) if not has]
        self.right = [item for item, has in zip(other.items, self.has[1], strict=True) if not has]

    @property
    def share(self) -> float:
        weights = []
        for each, has in ((self.one, self.has[0]), (self.other, self.has[1])):
            common = zip(each.weights, has, strict=True)
            whole = sum(each.weights)
            weights.append(sum(weight for weight, is_in in common if is_in) / (whole or 1))
        return max(weights)

    # --- what differs

    def of_group(self, group: str) -> tuple[list[ReadWord], list[ReadWord]]:
        return (
            [item for item in self.left if item.group == group],
            [item for item in self.right if item.group == group],
        )

    @cached_property
    def plain(self) -> tuple[list[ReadWord], list[ReadWord]]:
        """The plain words that one has and the other lacks, those left out that matter little."""
        opposed = set(self.opposed or ())
        left, right = (
            [item for item in side if item.key not in soft() | opposed | {ONLY, LACKS, FAILS}]
            for side in self.of_group("")
        )
        return left, right

    @property
    def words(self) -> tuple[list[ReadWord], list[ReadWord]]:
        """The plain words and names of each side that the other lacks."""
        left, right = ([item for item in side if item.group in ("", "name")] for side in self.hard)
        return left, right

    @cached_property
    def places(self) -> list[str]:
        """The groups of words in which each has one that the other lacks."""
        found = [group for group in ("time", "number", "name") if all(self.of_group(group))]
        if self._is_plain or self.mixed:
            found = [group for group in found if group != "name" or not self.mixed] + [""]
        return found

    @property
    def _is_plain(self) -> bool:
        """Whether each has a plain word that the other lacks; what says of what kind a thing is
        counts only where it stands in the place of another word."""
        if not all(self.plain):
            return False
        if all(any(not item.key.startswith(KIND) for item in side) for side in self.plain):
            return True
        mine, theirs = ({id(item.word) for item in side} for side in self.plain)
        return any(
            mine & set(map(id, one.words)) and theirs & set(map(id, two.words))
            for one, two in self.facing
        )

    @property
    def mixed(self) -> bool:
        """Whether a name stands against a plain word."""
        names, words = self.of_group("name"), self.plain
        return bool(
            (names[0] and words[1] and not names[1]) or (names[1] and words[0] and not names[0])
        )

    @property
    def differs(self) -> bool:
        return bool(self.places)

    @cached_property
    def opposed(self) -> tuple[str, str] | None:
        names = self.one.names, self.other.names
        mine, theirs = (
            sorted(name for name in one if name.startswith(NAMED) and one[name] > other[name])
            for one, other in (names, names[::-1])
        )
        # of "when it is deleted, they are kept" and "deleting it deletes them" both delete
        for left, right in product(mine, theirs):
            if are_opposite(left, right):
                return left, right
        return None

    @cached_property
    def are_two(self) -> bool:
        """Whether opposite words tell two things apart: the internal and the external interface."""
        sides = zip(self.opposed or (), (self.one, self.other), strict=False)
        found = [_is_told_apart(key, each) for key, each in sides]
        return bool(found) and all(found)

    @cached_property
    def denied(self) -> bool:
        """Whether one denies what the other says of a word that both have."""
        lacking = (LACKS in self.one.keys) != (LACKS in self.other.keys)
        if not (lacking or any(self.one.states.values()) or any(self.other.states.values())):
            return False
        for key in self.one.keys & self.other.keys:
            mine, theirs = (each.of(key, lacking=lacking) for each in (self.one, self.other))
            if mine & theirs:
                continue
            both = mine | theirs
            if "" in both or both == {NEVER, ENDED}:
                return True
        return False

    @cached_property
    def is_only(self) -> bool:
        """Whether one alone excludes all else."""
        return (ONLY in self.one.names) != (ONLY in self.other.names)

    @cached_property
    def _sides(self) -> list[list[Gap]]:
        """Of each fact what the other lacks, by place."""
        facts = zip((self.one, self.other), self.has, strict=True)
        return [gaps([item.word for item in fact.items], has) for fact, has in facts]

    @cached_property
    def facing(self) -> list[tuple[Gap, Gap]]:
        """The places in which the two differ, each with what stands there on either side."""
        return [(one, two) for one, two in product(*self._sides) if one.faces(two)]

    @property
    def has_other_head(self) -> bool:
        """Whether the two differ in of what they speak."""
        return any(one.is_subject and two.is_subject for one, two in self.facing)

    @cached_property
    def hard(self) -> tuple[list[ReadWord], list[ReadWord]]:
        """The words of each side that the other lacks and that matter."""
        left, right = (
            [item for item in side if item.key not in soft()] for side in (self.left, self.right)
        )
        return left, right


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
