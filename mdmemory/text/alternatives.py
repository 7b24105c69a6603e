"""An expression of many words, compiled for one text with the words that this may hold. Pure.

Most texts hold none of a word list. To see that takes a tenth of the time that it takes to compile
the list, and a command meets few texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from mdmemory.expressions import lazy

LONGEST = 4_000  # characters of a text; a longer one holds most words
_BEGIN = 3  # letters by which words are looked up in a text
_LOOK = 20  # characters of an expression that are compiled as fast as a text is looked at

_TOKEN = lazy(
    r"([^\\\[()|?*+{.^$]+)|(\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]"
    r"|\((?:\?(?:[:=!]|<[=!]))?|[?*+][?+]?|\{\d*,?\d*\}[?+]?|(?s:.))"
)
# Letters that are another one, too, where case is ignored: none of Latin beside these, nor of CJK.
_TWICE = frozenset("µıſ")
_LAST_LATIN, _FIRST_CJK, _LAST_CJK = "\u024f", "\u3000", "\ud7a3"
_GROUPS = ("(?:", "(?=")  # how groups begin whose words stand in the text
_NOTHING = re.compile("(?!)")


class Alternatives:
    """Gives compiled expressions, each of which finds in its text what the whole one finds."""

    def __init__(self, expression: str, flags: int = 0) -> None:
        """`expression` has its words in small letters."""
        self._whole, self._flags = expression, flags
        self._all: re.Pattern[str] | None = None
        self._index: _Index | None = None
        self._made: dict[str, re.Pattern[str]] = {}
        self._last: tuple[str | None, re.Pattern[str]] = None, _NOTHING
        self._spent = 0

    def whole(self) -> re.Pattern[str]:
        """The whole expression, for any text."""
        if self._all is None:
            self._all = re.compile(self._whole, self._flags)
            self._index, self._made, self._last = None, {}, (None, _NOTHING)  # not needed any more
        return self._all

    def fitting(self, small: str) -> re.Pattern[str]:
        """The expression for a text, which is given in small letters."""
        if self._all is not None:
            return self._all
        last = self._last  # another thread may put another one there
        if small != last[0]:
            self._last = last = small, self._fitting(small)
        return last[1]

    def _fitting(self, small: str) -> re.Pattern[str]:
        self._spent += _LOOK
        # a process that meets so many texts has the whole one sooner
        if self._spent > len(self._whole) or len(small) > LONGEST:
            return self.whole()
        index, made = self._index, self._made
        if index is None:
            index = _Index(_parsed(self._whole, bool(self._flags & re.IGNORECASE)))
            self._index = index
        left = index.left(small)
        if left is None:
            return _NOTHING
        if left not in made:
            self._spent += len(left)
            made[left] = re.compile(left, self._flags)
        return made[left]


class _Word(str):
    """A part of a branch that stands in a text as it is, where the branch matches."""

    __slots__ = ()


class _Group:
    """A part of a branch: branches of which one matches, as often as `times` says ("": once).
    `begin` is how it begins: it stands in the text, or behind what was matched."""

    __slots__ = ("begin", "branches", "times")

    def __init__(self, begin: str, branches: list[_Branch], times: str = "") -> None:
        self.begin, self.branches, self.times = begin, branches, times

    @property
    def may_lack(self) -> bool:
        return self.times.startswith(("?", "*", "{0", "{,"))


_Branch = list["str | _Word | _Group"]  # a plain text is a part that is not looked into


class _Index:
    """The branches of an expression by words, one of which stands wherever the branch matches."""

    def __init__(self, branches: Iterable[_Branch]) -> None:
        self._branches = [*_flattened(branches)]
        self._always: list[int] = []
        self._short: list[tuple[str, int]] = []
        self._by_begin: dict[str, list[tuple[str, int]]] = {}
        for number, branch in enumerate(self._branches):
            words = _needed(branch)
            if not words:
                self._always.append(number)
            for word in words:
                begin = self._by_begin.setdefault(word[:_BEGIN], [])
                (begin if len(word) >= _BEGIN else self._short).append((word, number))

    def left(self, text: str) -> str | None:
        """The expression without what this text cannot match; None where that is all."""
        found = {*self._always, *(number for word, number in self._short if word in text)}
        for begin in self._by_begin.keys() & _begins(text):
            found.update(number for word, number in self._by_begin[begin] if word in text)
        return _joined((self._branches[number] for number in sorted(found)), text)


@lru_cache(maxsize=4)
def _begins(text: str) -> frozenset[str]:
    """How longer words of a text may begin; one text is held against many expressions."""
    return frozenset(text[at : at + _BEGIN] for at in range(len(text) - _BEGIN + 1))


def _parsed(expression: str, ignores_case: bool) -> list[_Branch]:
    """The branches of an expression; one with groups that are numbered stays in one piece."""
    branches: list[_Branch] = [[]]
    above: list[tuple[str, int, list[_Branch]]] = []
    pairs = _TOKEN.findall(expression)
    for at, (word, sign) in enumerate(pairs):
        if word:
            word = word.lower() if ignores_case else word
            branches[-1].append(_Word(word) if _is_told_by_small_letters(word) else word)
        elif sign == "(":
            return [[expression]]
        elif sign[0] == "(":
            above.append((sign, at, branches))
            branches = [[]]
        elif sign == ")":
            opened, start, upper = above.pop()
            is_group = opened in _GROUPS
            text = "" if is_group else "".join(map("".join, pairs[start : at + 1]))
            upper[-1].append(_Group(opened, branches) if is_group else text)
            branches = upper
        elif sign == "|":
            branches.append([])
        elif sign[0] in "?*+{":
            _repeat(branches[-1], sign)
        else:
            branches[-1].append(sign)
    return branches


def _is_told_by_small_letters(word: str) -> bool:
    """Whether a word stands in the text in small letters wherever it matches, in any case."""
    if word.isascii():
        return word == word.lower()
    is_known = all(c <= _LAST_LATIN or _FIRST_CJK <= c <= _LAST_CJK for c in word)
    return is_known and word == word.lower() and _TWICE.isdisjoint(word)


def _repeat(branch: _Branch, times: str) -> None:
    """Let the last part of a branch match so often; of a word, its last letter."""
    last = branch.pop()
    if isinstance(last, _Group):
        branch.append(_Group(last.begin, last.branches, times))
    elif isinstance(last, _Word):
        branch += [_Word(last[:-1]), last[-1] + times]
    else:
        branch.append(last + times)


def _flattened(branches: Iterable[_Branch]) -> Iterator[_Branch]:
    """The branches; those of a group in place of one that is a group and nothing else."""
    for branch in branches:
        only = branch[0] if len(branch) == 1 else None
        if isinstance(only, _Group) and (only.begin, only.times) == ("(?:", ""):
            yield from _flattened(only.branches)
        else:
            yield branch


def _needed(branch: _Branch) -> list[str]:
    """Words of which one stands wherever the branch matches, the longest that there are; none
    where it matches without any."""
    best: list[str] = []
    for part in branch:
        if isinstance(part, _Group):
            each = [] if part.may_lack else [_needed(branch) for branch in part.branches]
            words = [word for words in each for word in words] if all(each) else []
        else:
            words = [part] if isinstance(part, _Word) and len(part) > 0 else []
        if words and (not best or min(map(len, words)) > min(map(len, best))):
            best = words
    return best


def _joined(branches: Iterable[_Branch], text: str) -> str | None:
    """The expression of those branches that the text may match; None where there are none."""
    texts = [each for branch in branches if (each := _left(branch, text)) is not None]
    return "|".join(texts) if texts else None


def _left(branch: _Branch, text: str) -> str | None:
    """The expression of a branch without what the text cannot match; None where that is all."""
    parts: list[str] = []
    for part in branch:
        if isinstance(part, _Group):
            inner = _joined(part.branches, text)
            if inner is not None:
                parts.append(f"{part.begin}{inner}){part.times}")
            elif not part.may_lack:
                return None
        elif isinstance(part, _Word) and part not in text:
            return None
        else:
            parts.append(part)
    return "".join(parts)
