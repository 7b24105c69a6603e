"""Whether two notes say different things about the same matter: a question of form, no model.

Similar wording plus a differing value (a number, date, identifier or proper noun on each side that
the other lacks), a differing negation, or an antonym pair. Similarity alone ranks contradictions
above duplicates, so it may propose a pair and never settles anything.
"""

from __future__ import annotations

import re
from functools import cached_property

from mdmemory.note.note import Note
from mdmemory.text.relation import Kind, relation
from mdmemory.text.statements import Statement
from mdmemory.text.words import key, sense

SIMILAR = 70.0  # token_sort_ratio; with a differing value: precision .93-.96, recall .87-.97
MAX_COMPARED = 2_000  # characters of a whole note; a longer one is compared by its description

_WHY = re.compile(r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：].*$")

_ANTONYMS = tuple(
    tuple(frozenset(side.split()) for side in pair.split("/"))
    for pair in (
        "always/never",
        "enable enables enabled/disable disables disabled",
        "tab tabs/space spaces",
        "on/off",
        "true/false",
        "allow allows allowed/forbid forbids forbidden deny denied disallow disallowed",
        "required mandatory/optional",
        "include includes included/exclude excludes excluded",
        "above/below",
        "before/after",
        "light/dark",
        "like likes love loves/dislike dislikes hate hates",
        "prefer prefers/avoid avoids",
        "sync synchronous/async asynchronous",
        "single/double multiple",
        "public/private",
        "with/without",
        "merge merges/rebase rebases",
        "uppercase/lowercase",
        "morning mornings/evening evenings",
        "short brief concise terse/long detailed verbose",
        "formal/informal casual",
        "open/closed",
        "internal/external",
        "manual manually/automatic automatically",
        "local/remote",
        "ascending/descending",
        "first/last",
        "early/late",
        "add adds/remove removes",
        "keep keeps/delete deletes drop drops",
        "accept accepts/reject rejects",
    )
)
_SIDES = {
    word: (pair, side)
    for pair, sides in enumerate(_ANTONYMS)
    for side, words in enumerate(sides)
    for word in words
}
_ANTONYMS_CJK = tuple(
    tuple(pair.split("/"))
    for pair in (
        "总是/从不",
        "启用/禁用",
        "喜欢/讨厌",
        "允许/禁止",
        "早上/晚上",
        "制表符/空格",
        "公开/私有",
        "开启/关闭",
        "自动/手动",
        "简短/详细",
    )
)


class Profile:
    """A note as it is compared: by its description, and whole unless it is long."""

    def __init__(self, type: str, description: str, body: str) -> None:
        self.type = type
        self.hook = Statement(description)
        self._whole = (description, body)

    @cached_property
    def whole(self) -> Statement | None:
        description, body = self._whole
        if len(description) + len(body) > MAX_COMPARED:
            return None
        return Statement(f"{description}\n\n{_WHY.sub('', body)}")


def profile(note: Note) -> Profile:
    """The profile of a note; make it once when the note meets many others."""
    return Profile(note.head.type, note.head.description, note.body)


def beside(note: Note, new: Note) -> Profile:
    """The profile of a note as it meets a new one: what is said of the work counts whatever its
    type is, since 0.1 called nearly all of it feedback."""
    head, is_personal = note.head, "user" in (note.head.type, new.head.type)
    return Profile(head.type if is_personal else new.head.type, head.description, note.body)


def contradiction(one: Profile, other: Profile) -> str | None:
    """In half a sentence, what two notes differ in; None when they do not contradict by form.

    Notes of different types are never compared.
    """
    if one.type != other.type:
        return None
    met = relation(one.hook.text, other.hook.text)
    if met.kind in (Kind.AGAINST, Kind.APART):
        return met.why or None
    if met.kind is Kind.SAME and one.whole and other.whole:
        whole = relation(one.whole.text, other.whole.text)
        if whole.kind is Kind.SAME:
            return None  # 18:00 and 6 pm
    found = _difference(one.hook, other.hook) if met.kind is Kind.UNKNOWN else None
    # Where the descriptions are alike and speak of different things, so do the notes.
    settled = _apart(one.hook, other.hook) and _alike(one.hook, other.hook)
    if found is None and not settled and one.whole and other.whole:
        found = _difference(one.whole, other.whole)
    return found


def speaks_against(said: str, claim: str) -> bool:
    """Whether a sentence that somebody said bears a claim out no more: it contradicts it, or has
    nearly its words and another value or the opposite of one, though both may be true."""
    one, other = Profile("", said, ""), Profile("", claim, "")
    return bool(contradiction(one, other) or _difference(one.hook, other.hook))


def _apart(one: Statement, other: Statement) -> bool:
    """Whether each of two texts has a plain word that the other lacks: quick to tell."""
    left = one.alone(other)
    right = other.alone(one) if left else left
    return bool(left and right) and not (left | right) & _SIDES.keys()


def _alike(one: Statement, other: Statement) -> bool:
    from rapidfuzz import fuzz  # only when notes are compared: it costs start-up time

    return bool(one.ordered and fuzz.ratio(one.ordered, other.ordered, score_cutoff=SIMILAR))


def _difference(one: Statement, other: Statement) -> str | None:
    if one.text == other.text or _apart(one, other) or not _alike(one, other):
        return None
    mine, theirs = frozenset(one.tokens), frozenset(other.tokens)
    # A difference of values or antonyms takes a word on each side.
    antonym = opposed(one, other) if mine - theirs and theirs - mine else None
    if mine - theirs and theirs - mine:
        if _matters_differ(one, other, antonym) or _owners_differ(one, other):
            return None
        left, right = one.values - other.values, other.values - one.values
        mine, theirs = (frozenset(map(sense, each)) for each in (left, right))
        left = frozenset(value for value in left if sense(value) not in theirs)
        right = frozenset(value for value in right if sense(value) not in mine)
        if left and right:
            return f"{', '.join(sorted(left))} against {', '.join(sorted(right))}"
    if _denies(one, other):
        return "one denies what the other says"
    return f"{antonym[0]} against {antonym[1]}" if antonym else None


def _owners_differ(one: Statement, other: Statement) -> bool:
    """Whether `alice's` phone meets `bob's` phone: two facts."""
    mine, theirs = (
        {word for word in side.words if word.endswith(("'s", "’s"))} for side in (one, other)
    )
    return bool(mine and theirs) and not mine & theirs


def _matters_differ(one: Statement, other: Statement, antonym: tuple[str, str] | None) -> bool:
    """Whether each speaks of something that the other does not name: then it may well differ."""
    left, right = one.matter - other.matter, other.matter - one.matter
    if antonym:
        mine, theirs = antonym
        left, right = left - {key(mine), *mine}, right - {key(theirs), *theirs}
    return bool(left and right)


def _denies(one: Statement, other: Statement) -> bool:
    if one.negated & other.negated and one.denials == other.denials:
        return False  # both deny the same
    only_one, only_other = one.negated - other.negated, other.negated - one.negated
    return bool(only_one & other.words or only_other & one.words)


def opposed(one: Statement, other: Statement) -> tuple[str, str] | None:
    """Two opposite words, of which each text has one and lacks the other."""
    for pair, side in sorted(_sides(one) & {(pair, 1 - side) for pair, side in _sides(other)}):
        if (pair, 1 - side) not in _sides(one) and (pair, side) not in _sides(other):
            first, second = _ANTONYMS[pair][side], _ANTONYMS[pair][1 - side]
            return min(one.words & first), min(other.words & second)
    if one.text.isascii() or other.text.isascii():
        return None
    for first_word, second_word in _ANTONYMS_CJK:
        has = [(first_word in each.text, second_word in each.text) for each in (one, other)]
        if sorted(has) == [(False, True), (True, False)]:
            return (first_word, second_word) if has[0][0] else (second_word, first_word)
    return None


def are_opposite(one: str, other: str) -> bool:
    """Whether two folded words are the sides of an opposition."""
    left, right = _SIDES.get(one), _SIDES.get(other)
    return bool(left and right) and left != right and left[0] == right[0]  # type: ignore[index]


def _sides(statement: Statement) -> set[tuple[int, int]]:
    """Which antonym pairs it has a word of, and of which side."""
    return {_SIDES[word] for word in statement.words & _SIDES.keys()}
