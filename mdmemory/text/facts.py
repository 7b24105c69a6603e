"""One fact as it is compared with another: its words with what they mean, and what it denies.

Pure. What two facts are to each other is told in `relation`.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache

from mdmemory.text import polarity
from mdmemory.text.gaps import Cut, Word, begins_alike, cut, last_link
from mdmemory.text.meanings import (
    DENIED,
    ENDED,
    LIGHT,
    NAME,
    NAMED,
    NEVER,
    UNIT,
    goes_on,
    meaning,
    plain,
    small_words,
    tells_of_once,
    written,
)
from mdmemory.text.moments import shown
from mdmemory.text.statements import pieces
from mdmemory.text.words import is_cjk

LACKS, FAILS, ONLY = "=lacks", "=fails", "=only"
PARTS = frozenset(("=nightly", "=daytime", "=morning", "=evening", "=afternoon"))
_OFTEN = PARTS | {"=daily", "=weekly", "=monthly", "=yearly", "=hourly"}
_BEGIN = 4  # letters that two forms of one word begin with, at least
_STATES = frozenset((DENIED, ENDED, NEVER, ONLY))
_NO_DENIAL = frozenset((LACKS, "=forbidden"))
_ELIDED = re.compile(r"(?i)\bn['’](?=\w)")  # n'utilise plus
_NONE = re.compile(
    r"(?i)\b(?:(?<!y )no|kein\w{0,2}|aucune?|ning[uú]na?|nenhuma?|nessun[oa]?)\s+(\w+)"
)


class ReadWord:
    """A word of a fact with what it means."""

    def __init__(self, word: Word, language: str) -> None:
        self.word = word
        is_plain = word.kind != "number" or any(map(str.isalpha, word.key))
        folded = word.text.casefold()
        if word.text.endswith("s") and word.text[:-1].isupper() and len(word.text) > 2:
            folded = folded[:-1]  # SVGs
        self.key = meaning(folded, language) if is_plain else word.key
        self.group = self._group()

    def _group(self) -> str:
        """time, number, name or "" for a plain word."""
        if self.key.startswith("@") or self.key in _OFTEN or self.word.kind in ("day", "time"):
            return "time"
        if self.key.startswith(UNIT) or self.word.kind == "unit":
            return "number"
        if self.key.startswith(NAMED) and not self.key.startswith(NAME):
            return ""
        if self.word.kind == "number":
            return "name" if any(map(str.isalpha, self.key)) else "number"
        return "name" if self.word.kind in ("name", "place") else ""

    @property
    def is_count(self) -> bool:
        """Whether it is a number, no unit."""
        return self.group == "number" and self.key.removeprefix("-")[:1].isdigit()

    @property
    def sort(self) -> str:
        """Of a name what it names: an address or path, a thing with digits in its name, another."""
        if self.word.kind == "place":
            return "place"
        return "code" if any(map(str.isdigit, self.key)) else "name"

    @property
    def time(self) -> str:
        """Of a time what it is: a clock's, a weekday, a date, a part of the day, how often."""
        if self.key in _OFTEN:
            return "part" if self.key in PARTS else "often"
        if ":" in self.key:
            return "clock"
        return "day" if self.key.startswith("@day") else "date"


class ReadFact:
    """One fact as it is compared, read in one language."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language = text, language
        self.cut: Cut = cut(plain(text, language))

    @cached_property
    def _all(self) -> list[ReadWord]:
        return [ReadWord(word, self.language) for word in self.cut.words]

    @cached_property
    def items(self) -> list[ReadWord]:
        """The words that say of what, and what."""
        return [
            each
            for each in self._all
            if each.key not in (*_STATES, LIGHT)
            and each.word.text not in "不没無无未"
            and not (each.key != LACKS and polarity.is_negation(each.word.text.casefold()))
            and not (each.key in (LACKS, FAILS) and each.word.clause in self._needed)
        ]

    @cached_property
    def _needed(self) -> set[int]:
        """The clauses that say that without a thing something fails: it is needed."""
        has = {(each.key, each.word.clause) for each in self._all}
        return {at for key, at in has if key == LACKS and (FAILS, at) in has}

    @cached_property
    def names(self) -> Counter[str]:
        """How often each meaning is named, small words included."""
        tokens = self.cut.text.split()
        read = [token for token in tokens if token[0] in "=@"]
        rest = " ".join(token for token in tokens if token[0] not in "=@")
        return Counter(
            meaning(piece.casefold(), self.language)
            for piece in (*read, *pieces(rest))
            if piece not in polarity.BREAKS
        )

    @cached_property
    def none_of(self) -> frozenset[str]:
        """The words of which there is none, as "tests" in "no tests"."""
        if self.language == "pt":
            return frozenset()
        found = (self._means(match[1]) for match in _NONE.finditer(self.cut.text))
        return frozenset(found) & self.keys

    def links(self, key: str) -> frozenset[str]:
        """The last of the small words in front of a word, in each place where it stands."""
        return frozenset(last_link(item.word.link) for item in self.items if item.key == key)

    def ends(self, section: str) -> frozenset[str]:
        """The keys of the words right behind "from" or "to"."""
        words = set(small_words(section, self.language))
        return frozenset(
            item.key for item in self.items if words & set(item.word.link.split()[-2:])
        )

    @cached_property
    def lasts(self) -> bool:
        """Whether it says since when it holds, or that it still does."""
        return goes_on(self.text, self.language)

    @cached_property
    def is_event(self) -> bool:
        """Whether it tells what happened once."""
        return tells_of_once(self.text, self.language)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(each.key for each in self.items)

    @cached_property
    def has_cjk(self) -> bool:
        """Whether a word of it is a character of Chinese, Japanese or Korean."""
        return any(is_cjk(item.word.text[0]) for item in self.items)

    @cached_property
    def weights(self) -> list[float]:
        """How much each of its `items` counts in a comparison."""
        return [item.word.weight for item in self.items]

    @cached_property
    def states(self) -> dict[int, str]:
        """Of each clause: said, denied, never or ended."""
        found: dict[int, str] = {}
        for at, (clause, _) in enumerate(self.cut.clauses):
            marks = clause.split()
            if self.language == "pt":
                clause = re.sub(r"(?i)\bno\b", " ", clause)  # "in the"
            # "without" denies what follows it, and "forbidden" is the opposite of "allowed"
            bare = re.sub(r"=\w+", " ", clause)
            if self.language == "fr":
                bare = _ELIDED.sub("ne ", bare)
            words = [word for word in pieces(bare) if self._means(word) not in _NO_DENIAL]
            denied = polarity.denials(words) > 0 or DENIED in marks
            if at in self._needed:
                denied = False
            if NEVER in marks:
                found[at] = NEVER
            elif ENDED in marks:
                found[at] = "" if denied else ENDED
            else:
                found[at] = DENIED if denied else ""
        return found

    def _means(self, word: str) -> str:
        return meaning(word.casefold(), self.language)

    def of(self, key: str, *, lacking: bool) -> frozenset[str]:
        """The states of the clauses that have a key; `lacking`: what is missing there is denied."""
        clauses = {each.word.clause for each in self.items if each.key == key}
        lacks = {each.word.clause for each in self.items if each.key == LACKS and lacking}
        found = {self.states[at] or (DENIED if at in lacks else "") for at in clauses}
        # "never deploy without asking" forbids nothing that "ask, then deploy" allows
        return frozenset(
            found | ({""} if any(self.states[at] for at in clauses & lacks) else set())
        )


@lru_cache(maxsize=4_096)
def fact(text: str, language: str) -> ReadFact:
    """A fact, read in a language; one that meets many others is read once."""
    return ReadFact(text, language)


def shared(one: ReadFact, other: ReadFact) -> list[bool]:
    """For each word of a fact whether the other has it in some form."""
    forms = one.cut.shared(other.cut) if one.has_cjk else [False] * len(one.cut.words)
    is_form = dict(zip(map(id, one.cut.words), forms, strict=True))
    strange: dict[str, list[str]] = {}  # by the letters that two forms of one word have alike
    for key in other.keys - one.keys:
        if key.isalpha() and len(key) >= _BEGIN:
            strange.setdefault(key[: _BEGIN - 1], []).append(key)
    found: list[bool] = []
    for item in one.items:
        if item.key in other.keys:
            found.append(True)
        elif is_cjk(item.word.text[0]):
            found.append(is_form[id(item.word)])
        else:
            is_word = not item.group and item.key.isalpha() and len(item.key) >= _BEGIN
            near = strange.get(item.key[: _BEGIN - 1], ()) if is_word else ()
            found.append(any(begins_alike(item.key, each) for each in near))
    return found


def told(items: list[ReadWord], whole: ReadFact) -> str:
    """The first words of a value, as a person is shown them."""
    words = [_spelled(item, whole) for item in items[:4]]
    return ("" if all(is_cjk(word[0]) for word in words) else " ").join(words)


def _spelled(item: ReadWord, whole: ReadFact) -> str:
    if item.key.startswith("@"):
        return shown(item.key)
    is_named = item.word.text[0] == NAMED
    return written(item.key, whole.text, whole.language) if is_named else item.word.text
