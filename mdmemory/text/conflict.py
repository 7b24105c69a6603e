"""Where two sentences differ: in a word that one of them denies, or in one literal. Pure, and by
one short list of words that deny; what they mean is a person's to say.

A clause is cut twice: at punctuation, and also at the small words that join. A word whose two cuts
disagree counts as both, so a doubt never makes two texts opposite.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from mdmemory.text.numbers import NUMBERS
from mdmemory.text.words import CJK, compiled, normal_text, word_key, word_keys

_L = rf"(?-i:[^\W_{CJK}])"
# The words that deny, a row for each language: English, German, French, Spanish, Portuguese,
# Italian. What a language writes without blanks stands below.
_NEGATING = (
    rf"(?i)(?<!{_L})(?:"
    r"not|never|no|nope|nein|none|nothing|neither|nor|cannot|dont|doesnt|without|avoid\w*|stop(?:s|ped)?"
    rf"|instead of|rather than|forbid\w*|prohibit\w*|{_L}+n['’]t"
    r"|nicht\w?|kein\w*|nie|niemals|ohne|weder|statt|vermeid\w*"
    r"|pas|jamais|aucune?|sans|ni|plus de|au lieu d\w*"
    r"|nunca|jamás|sin|tampoco|ningun\w*|en vez de"
    r"|não|nem|sem|nenhum\w*|em vez de"
    r"|non|mai|senza|nessun\w*|invece di"
    rf")(?!{_L})"
    r"|不|没|別|别|勿|禁止|而非"
    r"|ない|ません|なく|ずに"
    r"|않|지\s?마|말고|없|안\s|못"
)
SENTENCE_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# No mark within a value: 10:30, 1,000, an address; nor between one and its words: 8080: web.
_CLAUSE = r"[。、，；：！？()|\n—]|[,;](?!\d)|(?:(?<!\d):|[!?])(?![0-9A-Za-z/\\])|\.(?=\s|\Z)"
_JOINS = rf"(?i)(?<!{_L})(?:and|but|or|und|aber|oder|sondern|et|mais|ou|y|pero|o|e|ma|mas)(?!{_L})"


def count_negations(text: str) -> int:
    """How many words of a text deny something; "no" is no such word in Portuguese."""
    from mdmemory.text.normal_form import is_portuguese  # only where something may deny

    denials = [each[0].casefold() for each in compiled(_NEGATING).finditer(normal_text(text))]
    if "no" in denials and is_portuguese(text):
        return len(denials) - denials.count("no")
    return len(denials)


def find_polarities(text: str, old: Collection[str] = ()) -> dict[str, frozenset[bool]]:
    """The telling words of a text, each as its key, with what it may stand in: a clause that denies
    (True), or one that does not (False). Where a clause has one of the `old` words, that may be
    what it denies, and so it may state the others."""
    words_found: dict[str, set[bool]] = defaultdict(set)
    for clause in compiled(_CLAUSE).split(normal_text(text)):
        denies = compiled(_NEGATING).search(clause) is not None
        if denies and not {*word_keys(clause)}.isdisjoint(old):
            for word in word_keys(clause):
                words_found[word].add(False)
        for part in clause_parts(clause):
            is_denied = compiled(_NEGATING).search(part) is not None
            for word in word_keys(part):
                words_found[word] |= {denies, is_denied}
    return {word: frozenset(both) for word, both in words_found.items()}


def clause_parts(text: str) -> Iterator[str]:
    """The clauses of a text, also cut at the words that join."""
    for clause in compiled(_CLAUSE).split(normal_text(text)):
        yield from (part for part in compiled(_JOINS).split(clause) if part.strip())


def reversed_words(claim: str, source: str, replaced: str = "") -> list[str]:
    """The words that a claim states and the source denies, or the other way round.

    Of a claim in place of a text that is `replaced`, the source may deny what that says: "on 5441,
    not 5433". What both say alike counts only where the claim says nothing new that the source has.
    """
    claimed, before = find_polarities(claim), find_polarities(replaced)
    old = {*word_keys(compiled(_NEGATING).sub(" ", normal_text(replaced)))} - claimed.keys()
    sourced = find_polarities(source, old)
    odd = [word for word in claimed if word in sourced and claimed[word].isdisjoint(sourced[word])]
    if {*claimed} & {*sourced} <= {*before, *odd}:
        return odd
    return [word for word in odd if word not in before or claimed[word].isdisjoint(before[word])]


_LONGEST = 600  # characters of a fact
_TOKEN = rf"[{CJK}]|[^\s{CJK}]*[^\W{CJK}][^\s{CJK}]*"
_AROUND = "\"'“”‘’«»„.,;:!?()[]…`*"
LEAST = 3  # words that both share
FEW = 10  # others with the same words that a fact is set against


def other_literal(one: str, other: str) -> tuple[str, str] | None:
    """The one literal in which two facts differ, as each has it; None where they differ in nothing,
    or in more. A literal is a number, or has a sign or a capital; a day or a month counts."""
    mine, theirs = _literal_tokens(one), _literal_tokens(other)
    if len(mine) != len(theirs) or len(mine) <= LEAST:
        return None
    pairs = zip(mine, theirs, strict=True)
    odd = [(one, other) for one, other in pairs if _same_key(one) != _same_key(other)]
    if len(odd) != 1:
        return None
    first, second = odd[0]
    if mine[0] == first and theirs[0] == second:  # what they are about, with a sentence's capital
        return None
    return (first, second) if _is_literal(first) and _is_literal(second) else None


def find_pairs(
    facts: Sequence[str], kinds: Sequence[str], wanted: Collection[int] | None = None
) -> list[tuple[int, int]]:
    """The places, sorted, of facts of one kind that have the same words but perhaps for one
    literal: no look at each two is taken. With `wanted`, one of the two is among these."""
    tokens = [_literal_tokens(fact) for fact in facts]
    mine = frozenset(range(len(facts)) if wanted is None else wanted)
    lengths = {len(tokens[at]) for at in mine}
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, each in enumerate(tokens):
        if len(each) > LEAST and len(each) in lengths:  # the others are not brought to their stems
            same = [*map(_same_key, each)]
            for place, token in enumerate(each):  # its words without one literal, with its place
                if place and _is_literal(token):
                    rest = (*same[:place], *same[place + 1 :])
                    alike[kinds[at], str(place), *rest].append(at)
    pairs = {
        (at, other) for group in alike.values() for place, at in enumerate(group)
        for other in group[place + 1 : place + 1 + FEW]
    }  # fmt: skip
    return sorted(pair for pair in pairs if not mine.isdisjoint(pair))


def why_contrary(pair: tuple[str, str]) -> str:
    """Half a sentence on two facts that differ in one literal."""
    return f"the same words but for {pair[0]} and {pair[1]}"


def _literal_tokens(text: str) -> list[str]:
    tokens = compiled(_TOKEN).findall(text[:_LONGEST])
    return [*filter(None, (token.strip(_AROUND) for token in tokens))]


def _same_key(token: str) -> str:
    return word_key(token.casefold())


def _is_literal(token: str) -> bool:
    has_sign = re.search(r"\d|[^\W_][^\w\s'’-]+[^\W_]|_", token) is not None
    return has_sign or token != token.lower() or token in NUMBERS
