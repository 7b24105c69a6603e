"""The order of hits, from scores alone."""

from datetime import date

import pytest
from rows import each

from mdmemory.search import ranking
from mdmemory.search.ranking import Channel, TermMatch

TODAY = date(2026, 6, 12)


def test_channels_meet_between_their_least_and_their_best() -> None:
    keywords = Channel({1: 2e-6, 2: 1e-6})
    vectors = Channel({1: 0.2, 3: 0.8}, low=0.2)
    assert ranking.fuse_channels([keywords, vectors]) == {1: 0.5, 2: 0.25, 3: 0.5}


def test_a_channel_alone_counts_whole_and_an_empty_one_not_at_all() -> None:
    assert ranking.fuse_channels([Channel({1: 4.0, 2: 1.0}), Channel({})]) == {1: 1.0, 2: 0.25}
    assert ranking.fuse_channels([]) == {}


def test_a_hit_by_words_stays_a_hit_whatever_the_vectors_say() -> None:
    assert ranking.fuse_channels([Channel({1: 1.0}), Channel({2: 0.9}, low=-1.0)])[1] == 0.5


def test_what_stands_high_in_one_list_or_in_both_comes_first() -> None:
    assert ranking.by_rank("abc", "cxy") == ["c", "a", "b", "x", "y"]
    assert ranking.by_rank("abab") == ["a", "b"]
    assert ranking.by_rank([], "ab") == ["a", "b"]


def test_rare_words_say_more_and_none_says_nothing() -> None:
    assert (
        ranking.word_rarity(0, 100) > ranking.word_rarity(1, 100) > ranking.word_rarity(99, 100) > 0
    )
    assert ranking.word_rarity(1, 2) > ranking.word_rarity(2, 2) > 0


def test_a_name_is_asked_for_when_all_its_words_are_and_signs_or_capitals_as_written() -> None:
    actions = ("uses-github-actions", "GHA", "build pipeline")

    def check(names: tuple[str, ...], asked: str, signs: str, found: bool) -> None:
        assert ranking.is_named(names, frozenset(asked.split()), frozenset(signs.split())) is found

    each(
        [
            (("monorepo-layout",), "monorepo layout is", "", True),
            (("monorepo-layout",), "monorepo", "", False),
            (("--",), "x", "", False),
            (actions, "why is gha slow", "", True),
            (actions, "slow pipeline build", "", True),
            (actions, "build slow", "", False),
            (("information-technology", "IT"), "why is it slow", "", False),
            (("C#",), "c style", "c#", True),
            (("C#",), "c style", "c++", False),
            ((".NET",), "net mask", "", False),
            (("IT",), "who is it", "IT", True),
            (("Yahoo!",), "yahoo", "", True),
        ],
        check,
    )


def test_words_that_no_chunk_has_change_no_share() -> None:
    asked = [TermMatch(3.0, {1}), TermMatch(1.0, {1, 2})]
    unknown = TermMatch(9.0, (), held=0)
    assert (
        ranking.word_shares([*asked, unknown], [1, 2])
        == ranking.word_shares(asked, [1, 2])
        == {1: 1.0, 2: 0.5}
    )
    assert ranking.word_shares([unknown], [1]) == {1: 1.0}


def test_a_turn_that_has_no_word_itself_keeps_a_part_of_what_stands_beside_it() -> None:
    found = ranking.word_shares([TermMatch(3.0, {1}), TermMatch(1.0, {1})], [1, 2])
    assert 0 < found[2] < found[1]


def test_a_name_that_is_asked_for_is_better_and_one_is_still_the_most() -> None:
    found = ranking.raise_named({1: 1.0, 2: 0.9, 3: 0.5}, {2})
    assert found[2] == 1.0 > found[1] > found[3]
    assert ranking.raise_named({1: 1.0, 2: 0.5}, ()) == {1: 1.0, 2: 0.5}


LONG = "the quick brown fox jumps over a lazy dog and then runs home to eat all of its dinner"


def test_only_what_says_nothing_else_is_folded() -> None:
    for one, other, folds in (
        ("Use pnpm, never npm.", "use pnpm never npm", False),  # another capital may be a name
        ("Use pnpm.", "Use pnpm!", True),
        (f"{LONG} quickly", LONG, True),
        *(
            (f"{LONG} {a}".strip(), f"{LONG} {b}".strip(), False)
            for a, b in (("30", "60"), ("not", ""), ("Vienna", "Graz"))
        ),
    ):
        assert ranking.says_same(one, other) is folds, (one, other)


def test_one_place_a_file_and_no_repetition() -> None:
    hits = [(1, "a.md", "tea"), (2, "a.md", "milk"), (3, "b.md", "tea"), (4, "c.md", "rum")]
    assert ranking.fold_hits(hits, 5) == [1, 4]
    assert ranking.fold_hits(hits, 1) == [1]


def test_a_turn_counts_for_its_neighbours_and_a_session_may_have_several_places() -> None:
    found = ranking.smooth_scores({2: 1.0, 3: 0.5, 9: 0.2}, {1: [2], 2: [1, 3], 3: [2], 9: []})
    assert found == pytest.approx({1: 0.3, 2: 1.15, 3: 0.8, 9: 0.2})
    assert ranking.fold_hits([(n, "ses", f"turn {n}") for n in range(5)], 9, 3) == [0, 1, 2]


def test_a_channel_that_is_scaled_already_stays_so() -> None:
    scaled = Channel({1: 0.4}, high=1.0)
    assert ranking.fuse_channels([scaled, Channel({2: 0.9, 3: 0.1}, low=0.1)]) == {
        1: 0.2,
        2: 0.5,
        3: 0.0,
    }
