"""Sentences that are the same but for a word or two: there the words that differ are the fact.

"Sarah owns billing" and "Marek owns billing", "run the tests" and "skip the tests". Pure. Scripts
that put no space between words are not compared here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import product

from mdmemory.text import polarity
from mdmemory.text.contradiction import are_opposite
from mdmemory.text.statements import is_small, pieces
from mdmemory.text.words import is_cjk, sense, stem

SHARED = 0.6  # of the shorter sentence's words, the share that makes a frame
_OF_TWO = 0.5  # where it has only two words
_WIDEST = 3  # words; a longer stretch that differs is another way to say it
_LONGEST = 60  # words of a sentence that are compared
_MOST = 2_000  # sentences of a text; a note has a few
_LOOKED = 4  # sentences that are compared with one
_ENDS = frozenset(".!?;。！？；\n\n")


@dataclass(frozen=True)
class Sentence:
    """The words of one sentence in their order, as they are written."""

    words: tuple[str, ...]

    @cached_property
    def senses(self) -> tuple[str, ...]:
        return tuple(map(sense, self.words))

    @cached_property
    def said(self) -> frozenset[str]:
        """What its words mean, small ones left out."""
        return frozenset(sense(word) for word in self.words if not is_small(word))


@lru_cache(maxsize=64)  # one op looks at its few texts several times
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text that puts spaces between words."""
    found: list[Sentence] = []
    words: list[str] = []
    for piece in [*pieces(text), "."]:
        if piece in _ENDS or piece == "\n\n":
            if words and not any(is_cjk(word[0]) for word in words):
                found.append(Sentence(tuple(words[:_LONGEST])))
            words = []
        elif piece not in polarity.BREAKS:
            words.append(piece)
    return tuple(found[:_MOST])


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The senses of all words of some texts, those of compounds with hyphens and slashes, too."""
    words = {piece for text in texts for piece in pieces(text)}
    parts = {part for word in words for part in _parts(word)}
    return frozenset(map(sense, words | parts))


def holds(known: frozenset[str], word: str) -> bool:
    """Whether a vocabulary has a word, or all parts of one that is put together."""
    return sense(word) in known or all(sense(part) in known for part in _parts(word))


def _parts(word: str) -> list[str]:
    for sign in "-/:@.":
        word = word.replace(sign, " ")
    return word.split()


def rivals(one: str, other: str) -> set[str]:
    """The words in which sentences of two texts differ that are the same otherwise."""
    theirs = sentences(other)
    found: set[str] = set()
    index = _Index(theirs)
    same = {each.senses for each in theirs}
    for mine in sentences(one):
        if mine.said and mine.senses not in same:
            for near in index.near(mine):
                for left, right in _slots(mine, near):
                    found.update(left, right)
    # what is denied is judged as such
    return {word for word in found if not _denies((word,))}


def replaced(
    sources: Sequence[str], result: str, counts: Callable[[str, str], bool] | None = None
) -> tuple[str, str] | None:
    """What a sentence of the result says in place of what the sources say there: (new, old).

    A sentence that another one of the sources bears out is fine, and so is one like none of them.
    Of new words in the place of old ones `counts` tells whether they say something else.
    """
    known = [each for text in sources for each in sentences(text)]
    index = _Index(known)
    same = {each.senses for each in known}
    for mine in sentences(result):
        near = index.near(mine) if mine.senses not in same else []
        clear = [each for each in near if _conflict(mine, each, counts) is None]
        for known_one in near:
            found = _conflict(mine, known_one, counts)
            if found and not any(_has(each, found[0]) for each in clear):
                return found
    return None


def _has(sentence: Sentence, words: str) -> bool:
    return all(sense(word) in sentence.said for word in words.split())


class _Index:
    """Sentences by what they say, so that few are compared with each other."""

    def __init__(self, known: Sequence[Sentence]) -> None:
        self._known = list(dict.fromkeys(known))
        self._holders: dict[str, list[int]] = defaultdict(list)
        for at, each in enumerate(self._known):
            for word in each.said:
                self._holders[word].append(at)

    def near(self, sentence: Sentence) -> list[Sentence]:
        """Those that share its frame, the most alike first."""
        counts = Counter(at for word in sentence.said for at in self._holders.get(word, ())[:200])
        likely = sorted(counts, key=lambda at: (-counts[at], at))[: 2 * _LOOKED]
        found = [(_alike(sentence, self._known[at]), at) for at in likely]
        found = [pair for pair in found if pair[0] >= self._enough(sentence, pair[1])]
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [self._known[at] for _, at in found[:_LOOKED]]

    def _enough(self, sentence: Sentence, at: int) -> float:
        lengths = len(sentence.words), len(self._known[at].words)
        return _OF_TWO if min(lengths) == 2 and max(lengths) <= 3 else SHARED


def _alike(one: Sentence, other: Sentence) -> float:
    """The share of the shorter sentence's words that stand in the other, in the same order; all of
    them where only the order differs."""
    if sorted(one.senses) == sorted(other.senses):
        return 1.0
    blocks = _matcher(one, other).get_matching_blocks()
    return sum(block.size for block in blocks) / min(len(one.words), len(other.words))


def _matcher(one: Sentence, other: Sentence) -> SequenceMatcher[str]:
    return SequenceMatcher(None, one.senses, other.senses, autojunk=False)


def _slots(one: Sentence, other: Sentence) -> Iterator[tuple[list[str], list[str]]]:
    """What stands in one place of two sentences, where each lacks the other's words."""
    for kind, start, end, begin, stop in _matcher(one, other).get_opcodes():
        if kind == "replace" and max(end - start, stop - begin) <= _WIDEST:
            left = _lacking(one.words[start:end], other)
            right = _lacking(other.words[begin:stop], one)
            if left and right:
                yield left, right


def _lacking(words: Sequence[str], other: Sentence) -> list[str]:
    return [word for word in words if not is_small(word) and sense(word) not in other.said]


def _denies(words: Iterable[str]) -> bool:
    return any(polarity.is_negation(word.casefold()) for word in words)


def _opposed(mine: Sentence, known: Sentence) -> tuple[str, str] | None:
    """Small words that stand in one place and say the opposite, as "before" and "after" do."""
    for kind, start, end, begin, stop in _matcher(mine, known).get_opcodes():
        if kind == "replace" and max(end - start, stop - begin) <= _WIDEST:
            for one, other in product(mine.words[start:end], known.words[begin:stop]):
                pair = one.casefold(), other.casefold()
                if are_opposite(*pair) or frozenset(pair) in _GERMAN:
                    return one, other
    return None


def _conflict(
    mine: Sentence, known: Sentence, counts: Callable[[str, str], bool] | None
) -> tuple[str, str] | None:
    if found := _opposed(mine, known):
        return found
    for left, right in _slots(mine, known):
        if _denies(left) and _denies(right):
            continue
        new, old = " ".join(left), " ".join(right)
        if counts is None or counts(new, old):
            return new, old
    return _swapped(mine, known)


def _swapped(mine: Sentence, known: Sentence) -> tuple[str, str] | None:
    """Two words that changed places around a third: "Anna reviews Bob's code"."""
    left, right = (tuple(map(stem, each.words)) for each in (mine, known))
    if len(left) != len(right) or left == right:
        return None
    differ = [at for at, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1]]
    if len(differ) != 2:
        return None
    first, last = differ
    is_swap = left[first] == right[last] and left[last] == right[first]
    between = mine.words[first + 1 : last]
    # "tea and coffee" may stand the other way round
    if not is_swap or all(word.casefold() in _JOINS for word in between):
        return None
    return mine.words[first], known.words[first]


_GERMAN = frozenset(
    frozenset(pair.split("/"))
    for pair in ("vor/nach", "mit/ohne", "an/aus", "ein/aus", "immer/nie", "bevor/nachdem")
)
_JOINS = frozenset(("and", "or", "und", "oder", "et", "ou", "y", "o", "as", "well"))


# --- of whom or what a sentence speaks, where its first words tell: "Sarah" of "Sarah owns billing"
# A name at the beginning has a capital that says nothing, so the verb behind it has to.


def word_set(text: str) -> frozenset[str]:
    """The words of a string, as a set."""
    return frozenset(text.split())


_FURTHEST = 4  # words in front of the verb
_ARTICLES = word_set(
    "the a an our my your his her its their this that these those every each all both "
    "der die das den dem ein eine unser unsere mein meine sein seine ihr ihre dieser diese jeder "
    "jede jedes alle"
)
_VERBS = word_set(
    "is are was were be has have had do does did can could must should shall may might will would "
    "use need want like prefer take run go come get give keep make live lie own work belong depend "
    "happen start stop end begin wait fail expire lead know say said wrote made took went came "
    "ist sind war waren hat haben hatte hatten kann können muss müssen soll sollen sollte darf "
    "dürfen wird werden will wollen mag mögen möchte nutzt nutzen liegt liegen läuft laufen gehört "
    "gehören steht stehen"
)
# Words that begin an order; what follows them is no verb: "Keep answers short".
_ORDERS = word_set(
    "add allow always answer ask assign avoid bring build bump call cap change check choose clean "
    "close collect commit compare compile configure confirm copy count create cut define delete "
    "deploy describe do document don't draw drop enable ensure escape expect explain export extend "
    "fetch fill find first fix follow format generate give group handle have hide import include "
    "install keep label lead leave let limit link list load log look maintain make mark measure "
    "merge mind mock mount move name never no not note only open order pack parse pass pick pin "
    "place plan post prefer prepare print publish pull push put query quote raise read rebase "
    "record release remember remove rename repeat replace reply report request reset restart "
    "restore retry return review rotate round run save say schedule see send serve set share ship "
    "show sign skip sort split squash start state stop store strip sync tag take tell test throw "
    "track translate treat trim try turn update upgrade upload use validate verify wait watch wrap "
    "write"
)
_GERMAN_WORDS = word_set(
    "der die das und nicht ist sind mit für auf ein eine wird immer kein keine"
)
# What says little about whom a sentence speaks of.
_VAGUE = word_set(
    "new old slow fast quick big small main long short good bad clean simple other more most many "
    "few first last next project projects work thing things "
    "neu neue neuer neues alt alte alter langsam langsame schnell schnelle groß große klein kleine "
    "lang lange kurz kurze gut gute erste letzte nächste projekt projekte arbeit"
)
_NO_VERBS = word_set("nicht jetzt sonst seit erst fast zuerst selbst gut mit rest")


def each_subject(text: str) -> list[list[str]]:
    """The words that each sentence of a text speaks of, where its first words tell."""
    found = ([_bare(word) for word in _subject(sentence)] for sentence in sentences(text))
    return [subject for subject in found if subject]


def _subject(sentence: Sentence) -> Sequence[str]:
    words = list(sentence.words)
    has_article = False
    while words and words[0].casefold() in _ARTICLES:
        has_article = True
        del words[0]
    if not words or (not has_article and words[0].casefold() in _ORDERS):
        return ()
    if words[0][0].isupper() and words[0].endswith(("'s", "’s")):
        return words[:1]
    german = not _GERMAN_WORDS.isdisjoint(map(str.casefold, sentence.words))
    loose = has_article or not words[0].casefold().endswith("s")
    for at, word in enumerate(words[1 : _FURTHEST + 1], 1):
        if word in _VERBS or (loose and _looks_like_verb(word, german)):
            return [each for each in words[:at] if not is_small(each) and _is_word(each)]
    return ()


def _looks_like_verb(word: str, german: bool) -> bool:
    if not word.islower() or not word.isalpha() or len(word) < 4 or is_small(word):
        return False
    if german:
        return word.endswith("t") and word not in _NO_VERBS
    return word.endswith("s") and not word.endswith(("ss", "us", "is", "ous"))


def _is_word(word: str) -> bool:
    return _bare(word).isalpha() and len(word) > 1 and _bare(word).casefold() not in _VAGUE


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
