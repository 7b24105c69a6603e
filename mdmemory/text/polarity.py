"""What a text denies: the words that stand under a negation.

English, German, the Romance languages and Chinese deny what follows, Japanese and Korean what went
before. Works on the pieces that a statement is cut into; a reach of three words, inside a clause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from mdmemory.text.words import CJK, GRAMMAR, normal

REACH = 3  # words that one negation denies
_RUN = 6  # characters of a run of CJK that it denies
_CLAUSE = frozenset(".,;:!?，。；：！？、")
NEW_LINE = "\n\n"  # a line that begins anew
BREAKS = _CLAUSE | {"\n", NEW_LINE}

_WORD = re.compile(
    r"not|never|no|none|nothing|neither|nor|cannot|dont|without|avoid(?:s|ed|ing)?|stop(?:s|ped)?|"
    r"skip(?:s|ped|ping)?|omit(?:s|ted|ting)?|überspring(?:e|t|en)|unterlass(?:e|t|en)|"
    r"verzichte[nt]?|refuses?|forbid(?:s|den)?|prohibit(?:s|ed)?|disallow(?:s|ed)?|"
    r"nicht|kein(?:e[mnrs]?|erlei)?|nie|niemals|ohne|weder|vermeide[nt]?|"
    r"ne|pas|non|não|jamais|aucune?|sans|évite[rz]?|nunca|jamás|sin|tampoco|ningun[oa]?|ningún|evitar?"
)
_SHORT = re.compile(r"\w*n['’]t")  # don't
_ELIDED = re.compile(r"n['’](\w{3,})")  # n'utilise (pas)
_OF_TWO = {"instead": "of", "rather": "than"}
_ONLY = frozenset(("only", "just", "merely", "nur", "seulement", "solo"))  # not only
_AFTER = re.compile(
    r"不要|不用|不再|不会|不需要|不得|不准|不许|不能|从不|從不|从来不|禁止|避免|没有|沒有|"
    r"不(?![错錯同仅僅但管断斷过過止妨])|没(?!关系|關係)|沒|(?<![特级級类類区區个個性分])[别別](?![的人处處])|"
    r"勿|莫|并非|無(?=[くし])|无需|无须"
)
_BEFORE = re.compile(
    r"(?<!少)(?<!かもしれ)(?:ない|ません|なかった)(?!と(?:いけ|なら|だめ))|ずに|禁止|않|지마|말고|말것|"
    r"없|금지|못|안(?=돼|된|됨|되)"
)
_L = rf"[^\W{CJK}]"  # words of other scripts may touch these
_ANY = re.compile(
    rf"(?i)(?<!{_L})(?:{_WORD.pattern}|{'|'.join(_OF_TWO)})(?!{_L})|n['’]\w"
    rf"|{_AFTER.pattern}|{_BEFORE.pattern}"
)


def may_deny(text: str) -> bool:
    """Whether anything in a text looks like a negation: quick, and true for all that is one."""
    plain = normal(text)
    return _ANY.search(plain) is not None


def negated(pieces: Sequence[str]) -> frozenset[str]:
    """The folded words under a negation. A clause ends at punctuation, and where a line begins
    anew."""
    return frozenset(_negated(list(pieces), frozenset((NEW_LINE,)), cased=False))


def surely_negated(pieces: Sequence[str]) -> frozenset[str]:
    """The same as far as it holds however lines are broken: no word beyond a break, or a capital
    that may begin a sentence."""
    return frozenset(_negated(list(pieces), frozenset(("\n", NEW_LINE)), cased=True))


def possibly_negated(pieces: Sequence[str]) -> Counter[str]:
    """The same with line breaks counting for nothing; how often each is denied."""
    return Counter(_negated(list(pieces), frozenset(), cased=False))


def denials(pieces: Sequence[str]) -> int:
    """How many words or parts of runs deny."""
    folded = [piece.casefold() for piece in pieces]
    others = (run for run in folded if not run.isascii())
    runs = (len(_AFTER.findall(run)) + len(_BEFORE.findall(run)) for run in others)
    return sum(runs) + sum(_denies(word, folded, at) for at, word in enumerate(folded))


@lru_cache(maxsize=20_000)
def is_negation(folded: str) -> bool:
    """Whether a folded word denies, whatever stands around it."""
    if folded[-1:] == "t" and _SHORT.fullmatch(folded):
        return True
    return folded in _OF_TWO or _WORD.fullmatch(folded) is not None


def without_negation(run: str) -> str:
    """A run of CJK without what denies in it, less the verb that such a word may hold."""
    return _BEFORE.sub("", _AFTER.sub(lambda found: found.group()[1:2].replace("止", ""), run))


def _negated(pieces: list[str], ends: frozenset[str], *, cased: bool) -> Iterator[str]:
    for at, piece in enumerate(pieces):
        if piece in BREAKS:
            continue
        folded = piece.casefold()
        if elided := _ELIDED.fullmatch(folded):
            yield elided[1]
        if _denies(folded, pieces, at) or elided:
            yield from _following(pieces[at + 1 : at + 13], ends, cased, REACH)
        if folded.isascii():
            continue
        for match in _AFTER.finditer(folded):
            run = folded[match.end() : match.end() + _RUN]
            yield from _after(run, pieces[at + 1 : at + 9], ends, cased)
        for match in _BEFORE.finditer(folded):
            run = folded[max(0, match.start() - _RUN) : match.start()]
            yield from _preceding(run, pieces[max(0, at - 12) : at], ends)


def _denies(folded: str, pieces: Sequence[str], at: int) -> bool:
    if not is_negation(folded):
        return False
    after = pieces[at + 1].casefold() if at + 1 < len(pieces) else ""
    return after == _OF_TWO[folded] if folded in _OF_TWO else after not in _ONLY


def _following(
    pieces: Sequence[str], ends: frozenset[str], cased: bool, reach: int
) -> Iterator[str]:
    found = 0
    for piece in pieces:
        if piece in ends or piece in _CLAUSE or found == reach:
            return
        folded = piece.casefold()
        if piece in BREAKS or folded in GRAMMAR:
            continue
        if cased and found and piece[0].isupper():
            return
        found += 1
        yield folded


def _after(rest: str, pieces: Sequence[str], ends: frozenset[str], cased: bool) -> Iterator[str]:
    """The beginning of the run, and the first word in another script behind it."""
    reach = 3 if cased else _RUN
    for at, piece in enumerate(pieces):
        if piece in ends or piece in _CLAUSE or len(rest) >= reach:
            break
        if piece not in BREAKS and piece[0] > "\u2e80":
            rest += "" if cased else piece
        elif piece not in BREAKS:
            yield from _following(pieces[at : at + 1], ends, cased, 1)
            break
    yield from _pairs(rest[:reach])


def _preceding(rest: str, pieces: Sequence[str], ends: frozenset[str]) -> Iterator[str]:
    """The end of the run, and up to three words before it."""
    yield from _pairs(rest)
    found = 0
    for piece in reversed(pieces):
        if piece in ends or piece in _CLAUSE or found == REACH:
            return
        if piece not in BREAKS:
            found += 1
            folded = piece.casefold()
            yield from (folded, *(_pairs(folded[-_RUN:]) if folded[0] > "\u2e80" else ()))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
