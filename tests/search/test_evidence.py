"""Which hits are strong: what an answer has, and what shares words only by chance."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mdmemory.search.evidence import STRONG, by_words, identifiers, names, settled
from mdmemory.search.query import Term
from mdmemory.search.ranking import TermMatch, rarity
from mdmemory.text.search_words import ways

TOTAL = 200


def support(*asked: tuple[str, set[int]], named: frozenset[str] = frozenset()) -> dict[int, float]:
    """For words with the chunks that have each; a word that more have is as common."""
    terms = tuple(Term(((word,),)) for word, _ in asked)
    matches = [TermMatch(rarity(len(chunks), TOTAL), chunks) for _, chunks in asked]
    return by_words(terms, matches, TOTAL, named)


def strong(*asked: tuple[str, set[int]], named: frozenset[str] = frozenset()) -> set[int]:
    found = support(*asked, named=named)
    return {chunk for chunk, sure in settled(found, files(found)).items() if sure >= STRONG}


def files(chunks: Iterable[int]) -> dict[int, str]:
    return {chunk: f"{chunk}.md" for chunk in chunks}


MANY = set(range(50, 110))


def test_two_rare_words_are_strong_whatever_else_is_asked_that_no_note_has() -> None:
    assert strong(("kiln", {1}), ("glaze", {1}), ("which", set()), ("should", set())) == {1}


def test_one_common_word_alone_is_never_strong() -> None:
    assert strong(("service", MANY)) == set()
    assert strong(("service", MANY), ("which", set())) == set()


def test_one_rare_word_is_enough_only_where_it_is_all_that_is_asked_for() -> None:
    assert strong(("outbox", {1})) == {1}
    assert strong(("outbox", {1}), ("invoice", {2})) == set()
    assert strong(("outbox", {1}), ("colour", set()), ("font", set())) == set()


def test_a_name_that_no_note_has_lowers_what_the_others_say() -> None:
    asked = [("kafka", {1}), ("region", {1}), ("finnish", set()), ("elastic", set())]
    assert support(*asked)[1] > support(*asked, named=frozenset({"finnish", "elastic"}))[1]


def test_what_has_far_less_than_the_best_is_weak_beside_it() -> None:
    asked = [(word, {1}) for word in ("kiln", "glaze", "cone")]
    assert strong(*asked, ("shelf", {1, 2}), ("brick", {2})) == {1}
    assert strong(("shelf", {1, 2}), ("brick", {2})) == {2}


def test_a_superseded_note_puts_no_other_behind_it() -> None:
    found = {1: 4.0, 2: 1.5}
    assert settled(found, files({1, 2}))[2] < STRONG
    assert settled(found, files({2}))[2] >= STRONG


def test_what_many_notes_have_alike_tells_none_of_them_apart() -> None:
    few, many = settled({1: 1.1, 2: 1.1}, files({1, 2})), dict.fromkeys(range(9), 1.1)
    assert few[1] >= STRONG
    assert settled(many, files(many))[1] < STRONG
    assert settled(many, dict.fromkeys(many, "one.md"))[1] >= STRONG  # pieces of one file


def test_a_word_that_several_have_says_more_among_a_few_notes_than_among_many() -> None:
    terms = (Term((("kiln",),)), Term((("glaze",),)), Term((("cone",),)))

    def had(total: int) -> float:
        chunks = set(range(total // 4))
        matches = [TermMatch(rarity(len(chunks), total), chunks), *[TermMatch(1.0, ())] * 2]
        return by_words(terms, matches, total, frozenset())[0]

    assert had(12) > had(200)


def test_pairs_of_characters_overlap_and_count_less_than_words() -> None:
    word = support(("kiln", {1}), ("glaze", set()), ("cone", set()))[1]
    pair = support(("窑炉", {1}), ("glaze", set()), ("cone", set()))[1]
    assert pair < word


def test_nothing_that_is_found_gives_no_evidence() -> None:
    assert support(("kiln", set())) == {}
    assert settled({}, {}) == {}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Which Elasticsearch analyzer handles Finnish text here", {"elasticsearch", "finnish"}),
        ("does gpio27 work on macOS", {"gpio27", "macos"}),
        ("Wann hat die Buchhaltung die Rechnung vom Steuerberater", set()),
        ("how often", set()),
    ],
)
def test_names_and_values_of_a_query_are_known_by_their_form(query: str, found: set[str]) -> None:
    assert names(query) == {stem for word in found for stem in ways(word)}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("what is index.max_chars set to", ("index.max_chars",)),
        ("who is on-call at 10:30", ()),
        ("see src/App.tsx", ("src/app.tsx",)),
    ],
)
def test_names_of_code_are_found_whole(query: str, found: tuple[str, ...]) -> None:
    assert identifiers(query) == found
