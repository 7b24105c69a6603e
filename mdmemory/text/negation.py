"""Which words of a text stand in a clause that denies something. Pure, and by one short list.

A clause is cut twice: at punctuation, and also at the small words that join. A word whose two cuts
disagree counts as both, so a doubt never makes two texts opposite.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator

from mdmemory.text.words import CJK, normal_text, word_keys

_LETTER = rf"[^\W_{CJK}]"
# The words that deny, a row for each language: English, German, French, Spanish, Portuguese,
# Italian. What a language writes without blanks stands below.
_NEGATING = re.compile(
    rf"(?i)(?<!{_LETTER})(?:"
    r"not|never|no|nope|nein|none|nothing|neither|nor|cannot|dont|doesnt|without|avoid\w*|stop(?:s|ped)?"
    rf"|instead of|rather than|forbid\w*|prohibit\w*|{_LETTER}+n['’]t"
    r"|nicht\w?|kein\w*|nie|niemals|ohne|weder|statt|vermeid\w*"
    r"|pas|jamais|aucune?|sans|ni|plus de|au lieu d\w*"
    r"|nunca|jamás|sin|tampoco|ningun\w*|en vez de"
    r"|não|nem|sem|nenhum\w*|em vez de"
    r"|non|mai|senza|nessun\w*|invece di"
    rf")(?!{_LETTER})"
    r"|不|没|別|别|勿|禁止|而非"
    r"|ない|ません|なく|ずに"
    r"|않|지\s?마|말고|없|안\s|못"
)
_CLAUSE = re.compile(r"[,;:!?。、，；：！？()\n—]|\.(?=\s|\Z)")
_JOINS = re.compile(
    rf"(?i)(?<!{_LETTER})(?:and|but|or|und|aber|oder|sondern|et|mais|ou|y|pero|o|e|ma|mas)(?!{_LETTER})"
)


def count_negations(text: str) -> int:
    """How many words of a text deny something; "no" is no such word in Portuguese."""
    from mdmemory.text.normal_form import is_portuguese  # only where something may deny

    denials = [each[0].casefold() for each in _NEGATING.finditer(normal_text(text))]
    if "no" in denials and is_portuguese(text):
        return len(denials) - denials.count("no")
    return len(denials)


def find_polarities(text: str, old: Collection[str] = ()) -> dict[str, frozenset[bool]]:
    """The telling words of a text, each as its key, with what it may stand in: a clause that denies
    (True), or one that does not (False). Where a clause has one of the `old` words, that may be
    what it denies, and so it may state the others."""
    words_found: dict[str, set[bool]] = defaultdict(set)
    for clause in _CLAUSE.split(normal_text(text)):
        denies = _NEGATING.search(clause) is not None
        if denies and not {*word_keys(clause)}.isdisjoint(old):
            for word in word_keys(clause):
                words_found[word].add(False)
        for part in clause_parts(clause):
            is_denied = _NEGATING.search(part) is not None
            for word in word_keys(part):
                words_found[word] |= {denies, is_denied}
    return {word: frozenset(both) for word, both in words_found.items()}


def clause_parts(text: str) -> Iterator[str]:
    """The clauses of a text, also cut at the words that join."""
    for clause in _CLAUSE.split(normal_text(text)):
        yield from (part for part in _JOINS.split(clause) if part.strip())


def reversed_words(claim: str, source: str, replaced: str = "") -> list[str]:
    """The words that a claim states and the source denies, or the other way round.

    Of a claim in place of a text that is `replaced`, the source may deny what that says: "on 5441,
    not 5433". What both say alike counts only where the claim says nothing new that the source has.
    """
    claimed, before = find_polarities(claim), find_polarities(replaced)
    old = {*word_keys(_NEGATING.sub(" ", normal_text(replaced)))} - claimed.keys()
    polarities_before = find_polarities(source, old)
    odd = [
        word
        for word in claimed
        if word in polarities_before and claimed[word].isdisjoint(polarities_before[word])
    ]
    fresh = [word for word in claimed if word in polarities_before and word not in before]
    if not set(fresh) - set(odd):
        return odd
    return [word for word in odd if word not in before or claimed[word].isdisjoint(before[word])]
