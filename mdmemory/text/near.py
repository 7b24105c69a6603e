"""Which notes lie near each other, without comparing all pairs.

Notes of one type are found by the rare words and word pairs they share, through an inverted
index; few notes are compared one with each other. What a pair means is decided elsewhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations, islice, pairwise

from mdmemory.note.note import Note
from mdmemory.text.similarity import likeness
from mdmemory.text.words import WantedKeys, keys, telling

ALL_PAIRS = 100  # this many notes of a type are compared one with each other
MAX_SHARED = 50  # a word in more notes than this says nothing about any of them
MIN_SHARED = 20  # unless the store is so small that 5 % of it is fewer
MAX_LOOKED = 100  # notes that are looked at for one, those that share its rarest words
MAX_NEAR = 10  # candidates per note
MAX_LOOSE = 2  # of them those that share a single rare word
ALIKE = 0.4  # share of words below which no two texts are similar enough to matter
SHORT = 6  # words of a short description
MAX_PAIRED = 12  # words of a description whose neighbours are indexed with them
FEW_ASKED = 40  # notes asked about, after which an index of all words has paid
MAX_INDEXED = 24  # words of one note that are indexed, the description's first
MAX_WORDS = 40  # words of one note that are compared
_MAX_BODY = 400  # characters of a body that are looked at


class Neighbours:
    """The notes of a store, ready to be asked which of them lie near each other."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._cuts = [_Cut(note.head.description, note.body) for note in notes]
        types: dict[str, list[int]] = defaultdict(list)
        for at, note in enumerate(notes):
            types[note.head.type].append(at)
        cut = self._cuts.__getitem__
        self._rooms = {kind: _Room(cut, positions) for kind, positions in types.items()}
        self._types = [note.head.type for note in notes]

    def hook(self, at: int) -> tuple[str, ...]:
        """The words of a description, stop words left out."""
        return self._cuts[at].hook

    def near(self, at: int) -> list[int]:
        """The positions of the notes that may say the same as this one or the opposite, sorted."""
        mine = self._cuts[at]
        room = self._rooms[self._types[at]]
        few = room.is_small
        return sorted(other for other in room.near(at) if mine.is_like(self._cuts[other], few=few))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs, each once, sorted."""
        cuts = self._cuts
        found: set[tuple[int, int]] = set()
        for room in self._rooms.values():
            few = room.is_small
            found.update(
                pair for pair in room.pairs() if cuts[pair[0]].is_like(cuts[pair[1]], few=few)
            )
        yield from sorted(found)


class _Cut:
    """The words of one note, as they are indexed and compared."""

    def __init__(self, description: str, body: str = "") -> None:
        self.hook = tuple(keys(description))
        self._body = body[:_MAX_BODY]

    @cached_property
    def words(self) -> list[str]:
        """Of description and body, each once, and not too many."""
        mine = self.hook[:MAX_WORDS]
        return list(dict.fromkeys([*mine, *keys(self._body)[: MAX_WORDS - len(mine)]]))

    def indexed(self) -> list[str]:
        """What it is found by: its words, and the pairs of neighbours in its description. In a
        short one they may be one word apart, for any word may be the one that differs."""
        hook = self.hook[:MAX_PAIRED]
        pairs = [f"{one} {two}" for one, two in pairwise(hook)]
        if len(hook) <= SHORT:
            pairs += [f"{one} {two}" for one, two in zip(hook, hook[2:], strict=False)]
        return [*self.words[:MAX_INDEXED], *dict.fromkeys(pairs)]

    @cached_property
    def _sets(self) -> tuple[frozenset[str], frozenset[str]]:
        return frozenset(self.hook), frozenset(self.words)

    def is_like(self, other: _Cut, *, few: bool = False) -> bool:
        """Whether either the descriptions or the whole notes share their words; `few`: or a
        third of the shorter description stands in the other, since one may say more."""
        (hook, words), (their_hook, their_words) = self._sets, other._sets
        if few and 3 * len(hook & their_hook) >= min(len(hook), len(their_hook)) > 0:
            return True
        return likeness(hook, their_hook) >= ALIKE or likeness(words, their_words) >= ALIKE


class _Room:
    """The notes of one type, and which of them hold a word."""

    def __init__(self, cut: Callable[[int], _Cut], positions: list[int]) -> None:
        self.positions = positions
        self.is_small = len(positions) <= ALL_PAIRS
        self._cut = cut

    @cached_property
    def _holders(self) -> dict[int, list[list[int]]]:
        """For each note the notes that hold one of its words, word by word, the rarest first."""
        keys = [self._cut(at).indexed() for at in self.positions]
        counts = Counter(chain.from_iterable(keys))
        limit = max(MIN_SHARED, min(MAX_SHARED, len(keys) // 20))
        holders: dict[str, list[int]] = defaultdict(list)
        mine: dict[int, list[list[int]]] = {}
        for at, words in zip(self.positions, keys, strict=True):
            found = [word for word in words if 1 < counts[word] <= limit]
            found.sort(key=counts.__getitem__)
            mine[at] = [holders[word] for word in found]
            for same in mine[at]:
                same.append(at)
        return mine

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Every two that may be near, the earlier note first."""
        if self.is_small:
            return combinations(self.positions, 2)
        return ((min(at, near), max(at, near)) for at in self.positions for near in self.near(at))

    def near(self, at: int) -> list[int]:
        """The positions that share the most of the rarest words, few."""
        if self.is_small:
            return [other for other in self.positions if other != at]
        return _closest(at, self._holders[at])


class NearDescriptions:
    """What `Neighbours` finds of notes that have a description and no body, for a few of them: of
    the others most are seen to share no word, and their words are not brought to their stems. Of
    many all words are indexed: to look at all texts for each of them would take a time squared."""

    def __init__(self, texts: Sequence[str], kinds: Sequence[str]) -> None:
        self._texts, self._kinds = texts, kinds
        self._words: dict[int, list[str]] = {}
        self._cuts: dict[int, _Cut] = {}
        self._asked: Counter[str] = Counter()
        positions: dict[str, list[int]] = defaultdict(list)
        for at, kind in enumerate(kinds):
            positions[kind].append(at)
        self._rooms = {kind: _Room(self._cut, each) for kind, each in positions.items()}

    def near(self, at: int) -> list[int]:
        """The positions of those that may say the same as this one or the opposite, sorted."""
        kind, mine = self._kinds[at], self._cut(at)
        room = self._rooms[kind]
        self._asked[kind] += 1
        if room.is_small or self._asked[kind] > FEW_ASKED:
            found = room.near(at)
        else:
            found = _closest(at, self._holders(mine, room.positions))
        few = room.is_small
        return sorted(other for other in found if mine.is_like(self._cut(other), few=few))

    def _cut(self, at: int) -> _Cut:
        if at not in self._cuts:
            self._cuts[at] = _Cut(self._texts[at])
        return self._cuts[at]

    def _told(self, at: int) -> list[str]:
        if at not in self._words:
            self._words[at] = telling(self._texts[at])
        return self._words[at]

    def _holders(self, mine: _Cut, room: Sequence[int]) -> list[list[int]]:
        """The notes that hold one of these words, word by word, the rarest first."""
        limit = max(MIN_SHARED, min(MAX_SHARED, len(room) // 20))
        wanted = WantedKeys({*mine.words[:MAX_INDEXED]})
        seen: dict[str, list[int]] = defaultdict(list)
        for other in room:
            for word in {key for word in self._told(other) if (key := wanted.key(word))}:
                seen[word].append(other)
        found = []
        for word in mine.indexed():
            one, _, two = word.partition(" ")
            holders = seen[one] if not two else sorted({*seen[one]}.intersection(seen[two]))
            # all words of a short one are indexed; of another it has to be seen which
            certain = [] if two else [h for h in holders if len(self._told(h)) <= MAX_INDEXED]
            if len(certain) <= limit:
                holders = [other for other in holders if word in self._cut(other).indexed()]
                if 1 < len(holders) <= limit:
                    found.append(holders)
        return sorted(found, key=len)


def _closest(at: int, holders: Iterable[list[int]]) -> list[int]:
    """The positions that share the most of the rarest words with the one at `at`, few."""
    shared: list[list[int]] = []
    looked = 0
    for each in holders:
        shared.append(each)
        looked += len(each)
        if looked > MAX_LOOKED:
            break
    counts = Counter(chain.from_iterable(shared))
    del counts[at]
    close = [other for other, count in counts.items() if count > 1]
    if len(close) > MAX_NEAR:
        return _rarest(close, shared)[:MAX_NEAR]
    loose = (other for other in chain.from_iterable(shared) if counts[other] == 1)
    return [*close, *islice(loose, MAX_LOOSE)]


def _rarest(close: Sequence[int], shared: Sequence[Sequence[int]]) -> list[int]:
    """Those that share the rarer words first."""
    weights = dict.fromkeys(close, 0.0)
    for holders in shared:
        for other in holders:
            if other in weights:
                weights[other] += 1 / len(holders)
    return sorted(close, key=lambda other: (-weights[other], other))
