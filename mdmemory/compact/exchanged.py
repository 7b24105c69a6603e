"""What a rewording puts in the place of something else: another day, another thing in the same
role, two people who change roles, "after" for "before", all cases for some.

Pure. Each finding is the words in question, empty where there is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, product

from mdmemory.text import wordlists
from mdmemory.text.alignment import Clause, Token, Vocabulary, weights
from mdmemory.text.gaps import ARTICLES
from mdmemory.text.words import CJK, is_cjk

# What stands before a noun: articles, those that a preposition holds, "each".
_BEFORE_NOUN = ARTICLES | frozenset(
    "im ins am ans zum zur beim vom du des au aux del al nel nello nella nell nei nelle alla allo "
    "all ai alle della dello dei degli delle sul sulla dal dalla do da dos das no na nos nas ao à "
    "às aos pelo pela pelos pelas l d dell all nell dall sull un each every chaque jede jeder "
    "jedes cada ogni".split()
)
_GOES_ON = 3  # signs that two clauses share behind their first words
_FORM = 4  # letters that a noun and its verb begin with
_DAY_EAST = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])|([月火水木金土日])曜")
_WORD = re.compile(rf"[^\W\d_{CJK}]{{3,24}}")
_CLAUSE_EAST = re.compile(r"[，。；：！？、,;:!?.\n]+")
# Of each two signs one says the reverse of the other.
_SPAN_EAST = r"(?:[smhd\d天周年月点開店閉業]\s?の?|[以之])"
_SIDES_EAST = tuple(
    (re.compile(one), re.compile(other))
    for one, other in (
        (_SPAN_EAST + "前", _SPAN_EAST + "[后後]"),
        ("以上|高于|大于|超え", "以下|未満|低于|小于"),
    )
)

_SIDES = (
    (
        re.compile(r"(?i)\b(?:before|avant|antes|prima (?:d[ei]l?|della?|dello|dell['’]))\b"),
        re.compile(r"(?i)\b(?:after|once|après|después|depois|tras|dopo|una volta)\b"),
    ),
)


def other_days(before: str, after: str) -> list[str]:
    """A day, month or time of day that only the result names, and one that only the sources do."""
    old, new = _days(before), _days(after)
    come, gone = new - old, old - new
    return [min(come), min(gone)] if come and gone else []


def _days(text: str) -> set[str]:
    words = {word.casefold() for word in _WORD.findall(text)}
    return {word[:4] for word in words if _is_day(word)} | {
        match[1] or match[2] for match in _DAY_EAST.finditer(text)
    }


@lru_cache(maxsize=20_000)
def _is_day(folded: str) -> bool:
    return wordlists.is_one_of("change.day", folded)


def other_sides(before: str, after: str) -> list[str]:
    """What says after for before, or the reverse."""
    for pair in _SIDES_EAST if any(map(is_cjk, before)) else _SIDES:
        for one, other in (pair, pair[::-1]):
            was, now = one.search(before), other.search(after)
            if was and now and not one.search(after) and not other.search(before):
                return [now[0], was[0]]
    return []


def other_topics(before: str, after: str) -> list[str]:
    """In Chinese and Japanese: the first or last word of a clause that is otherwise one of the
    sources, in the place of a word that is gone."""
    if not any(map(is_cjk, before)):
        return []
    last = [word[::-1] for word in _other_beginning(before[::-1], after[::-1])]
    return _other_beginning(before, after) or last


def _other_beginning(before: str, after: str) -> list[str]:
    signs, kept = set(before), set(after)
    ends: defaultdict[str, list[str]] = defaultdict(list)
    for topic, rest in _topics(before, kept):
        ends[rest[:_GOES_ON]].append(topic)
    for topic, rest in _topics(after, signs):
        if found := ends.get(rest[:_GOES_ON]):
            return [topic, found[0]]
    return []


def _topics(text: str, known: set[str]) -> Iterator[tuple[str, str]]:
    """The first word of each clause that has no sign of these, and the rest of the clause."""
    for clause in _CLAUSE_EAST.split(text):
        for end in range(2, 5):
            topic, rest = clause[:end], clause[end:]
            is_new = len(rest) >= _GOES_ON and not known & set(topic)
            if is_new and weights([Token(topic, False)]) >= 1:
                yield topic, rest


def unlimited(before: Sequence[Clause], after: Sequence[Clause]) -> list[str]:
    """The words of a condition or an exception that is half gone where the result has none."""
    if any(each.limits or each.excepts or each.excludes or each.denies for each in after):
        return []
    said = Vocabulary(token for clause in after for token in clause.tokens)
    for clause in before:
        gone = said.missing(clause.tokens) if clause.limits or clause.excepts else {}
        if gone and 2 * sum(gone.values()) >= weights(clause.tokens):
            return [*gone]
    return []


def other_things(before: Sequence[Clause], after: Sequence[Clause], known: Vocabulary) -> list[str]:
    """A noun from nowhere, and the one that is gone from beside the same word."""
    said = Vocabulary(token for clause in after for token in clause.tokens)
    new = [gap for clause in after for gap in _gaps(clause, known)]
    old = [gap for clause in before for gap in _gaps(clause, said)] if new else []
    for gone, come in product(old, new):
        if gone.noun[:_FORM] == come.noun[:_FORM] or not (gone.is_alone or come.is_alone):
            continue
        beside = Vocabulary(gone.near)
        if any(map(beside.has, come.near)):
            return [come.noun, gone.noun]
    return []


@dataclass(frozen=True)
class _Gap:
    """A noun, with the words right before its verb or behind it, that the other side lacks."""

    noun: str
    near: tuple[Token, ...]  # what stands on its sides
    is_alone: bool  # whether the rest of its clause stands on the other side


def _gaps(clause: Clause, known: Vocabulary) -> Iterator[_Gap]:
    tokens = [token for token in clause.tokens if "-" not in token.text]
    lacking = known.missing(clause.tokens)
    end = 0
    for at, token in enumerate(tokens):
        if at < end or not _is_noun(token) or token.text not in lacking:
            continue
        end = at + 1
        while (
            end < min(len(tokens), at + 3) and tokens[end].text in lacking and not tokens[end].link
        ):
            end += 1
        near = (*tokens[max(0, at - 1) : at], *tokens[end : end + 1])
        yield _Gap(token.text, near, len(lacking) <= end - at)


def _is_noun(token: Token) -> bool:
    return token.link in _BEFORE_NOUN and not token.is_literal and not token.is_light


def _beside(clause: Clause) -> Iterator[tuple[Token, list[Token]]]:
    """Each word of a clause with the words on its sides."""
    tokens = [token for token in clause.tokens if "-" not in token.text]
    for at, token in enumerate(tokens):
        yield token, [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]


def other_company(
    before: Sequence[Clause], after: Sequence[Clause], forms: Mapping[str, str]
) -> list[str]:
    """What stands right before a word now, and what stood there: "the dogs' room" for "the cats'
    room", where the text speaks of both animals before and after."""
    old, new = _behind(before, {}), _behind(after, forms)
    stay = _words(before, {}) & _words(after, forms)
    for word in sorted(old.keys() & new.keys()):
        if len(old[word]) == len(new[word]) == 1:
            ((mate, link),), ((other, now),) = old[word], new[word]
            if mate != other and link == now and {mate, other} <= stay:
                return [other, mate]
    return []


def _words(found: Sequence[Clause], forms: Mapping[str, str]) -> set[str]:
    return {forms.get(token.text, token.text) for clause in found for token in clause.tokens}


def _behind(found: Sequence[Clause], forms: Mapping[str, str]) -> dict[str, set[tuple[str, str]]]:
    """For each word the nouns right before it, each with its article."""
    behind: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for clause in found:
        for one, other in pairwise(clause.tokens):
            if _is_noun(one) and not other.link and not other.is_literal:
                behind[forms.get(other.text, other.text)].add(
                    (forms.get(one.text, one.text), one.link)
                )
    return behind


def other_roles(
    before: Sequence[Clause], after: Sequence[Clause], forms: Mapping[str, str]
) -> list[str]:
    """Two names that change places around what they do; `forms` has for a word of the result the
    form in which the sources have it."""
    tokens = (token for clause in (*before, *after) for token in clause.tokens)
    names = {token.text for token in tokens if token.is_name}
    old, new = _doings(before, names, {}), _doings(after, names, forms)
    for one, other in combinations(sorted(old.keys() & new.keys()), 2):
        mine, theirs = old[one] - old[other], old[other] - old[one]
        left, right = new[one] - new[other], new[other] - new[one]
        if left & theirs and right & mine and not left & mine and not right & theirs:
            return [one, other]
    return []


def _doings(
    found: Sequence[Clause], names: set[str], forms: Mapping[str, str]
) -> dict[str, set[str]]:
    doings: defaultdict[str, set[str]] = defaultdict(set)
    for clause in found:
        for token, near in _beside(clause):
            if token.text in names:
                doings[token.text] |= {forms.get(each.text, each.text) for each in near}
    return doings
