"""Strength is a pure function of the notes: weights, half-life, and time as the dates tell it."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed import strengths

from mdmemory.note.note import Head
from mdmemory.store.index import CAPS, CAPS_MADE_FOR, pool_of, trace_of

DAY_ONE = date(2026, 1, 1)


def day(number: int) -> str:
    return (DAY_ONE + timedelta(days=number)).isoformat()


def head(file: str = "n.md", type: str = "reference", **fields: object) -> Head:
    return Head(file, file.removesuffix(".md"), "a hook", type, **fields)  # type: ignore[arg-type]


def strength(note: Head, *others: Head) -> float:
    return strengths([note, *others])[note.file]


def aged(days: int, step: int = 14, **fields: object) -> float:
    """The strength of a note `days` old in a store with a date every `step` days since."""
    others = [head(f"o{n}.md", created=day(n)) for n in range(step, days, step)]
    return strength(head(created=day(0), **fields), *others, head("now.md", created=day(days)))


@pytest.mark.parametrize(
    ("fields", "initial"),
    [
        ({"type": "project", "kind": "decision"}, 2.5),
        ({"type": "feedback"}, 2.25),
        ({"type": "user"}, 2.25),
        ({"type": "project"}, 1.25),
        ({"type": "reference"}, 1.0),
        ({"type": "recipe"}, 1.0),
        ({"type": "decision"}, 1.0),
        ({"type": "feedback", "kind": "decision"}, 2.25),
        ({"type": "feedback", "source": "explicit"}, 4.5),
        ({"type": "feedback", "source": "manual"}, 3.15),
        ({"type": "feedback", "source": "assistant"}, 2.25),
        ({"type": "feedback", "importance": "low"}, 1.575),
        ({"type": "feedback", "importance": "high"}, 3.375),
        ({"type": "project", "kind": "decision", "source": "explicit", "importance": "high"}, 7.5),
        ({"type": "reference", "importance": "low"}, 0.7),
    ],
)
def test_a_fresh_note_weighs_type_times_source_times_importance(
    fields: dict[str, str], initial: float
) -> None:
    assert strength(head(created=day(0), **fields)) == initial


def test_each_reinforcement_slows_forgetting_up_to_six() -> None:
    # 2 ** (-45 / h) for h = 45, 52.94, 62.28, 73.27, 86.21, 101.42, 119.32 days
    rows = {0: 0.5, 1: 0.554785, 2: 0.606046, 3: 0.653326, 6: 0.769957, 7: 0.769957}
    assert {times: aged(45, step=9, reinforced=times) for times in rows} == rows


def test_idle_days_count_in_full_for_two_weeks_and_then_a_quarter() -> None:
    for idle, count in [(14, 14), (28, 17.5), (366, 14 + 352 / 4)]:
        note, now = head(created=day(0)), head("now.md", created=day(idle))
        assert strength(note, now) == round(2 ** (-count / 45), 6)


def test_only_the_pauses_in_a_notes_own_life_count() -> None:
    """28 days of pause before it was written do not make it younger or older."""
    old, note, now = (head(f"{n}.md", created=day(n)) for n in (0, 28, 38))
    found = strengths([old, note, now])
    assert found["28.md"] == round(2 ** (-10 / 45), 6)
    assert found["0.md"] == round(2 ** (-27.5 / 45), 6)


def test_every_date_of_every_note_shows_that_the_store_was_awake() -> None:
    busy = head("busy.md", created=day(14), updated=day(28))
    assert strength(head(created=day(0)), busy) == round(2 ** (-28 / 45), 6)


def test_the_newest_of_a_notes_dates_counts() -> None:
    now = head("now.md", created=day(10))
    for fields in ({"updated": day(10)}, {"last_reinforced": day(10)}):
        assert strength(head(created=day(0), **fields), now) == 1.0


def test_a_date_far_in_the_future_ages_nobody() -> None:
    notes = [head("a.md", created=day(0)), head("b.md", created=day(7))]
    slip = head("slip.md", created="2099-01-01", updated="2099-01-01")
    before, after = strengths(notes), strengths([*notes, slip])
    assert {file: after[file] for file in before} == before
    assert after["slip.md"] == 1.0


def test_what_is_no_date_is_no_date() -> None:
    odd = ("", "soon", "2026-02-30", "20260101", "2026-W01-1", "2026-1-1", "2026-01-01T10:00")
    for text in odd:
        assert strength(head(created=text), head("now.md", created=day(300))) == 1.0
        assert strength(head(created=day(0), updated=text), head("now.md", created=day(14))) < 1.0


def test_the_places_are_those_of_28() -> None:
    assert CAPS == {"decision": 10, "feedback": 10, "user": 10, "project": 8, "reference": 6}
    assert CAPS_MADE_FOR == 28
    assert pool_of(trace_of(head(type="project", kind="decision"))) == "decision"
    assert pool_of(trace_of(head(type="recipe"))) == "reference"


dates = st.one_of(
    st.dates(date(2020, 1, 1), date(2027, 1, 1)).map(date.isoformat), st.sampled_from(["", "soon"])
)
heads = st.builds(
    Head,
    file=st.uuids().map(lambda id: f"{id}.md"),
    name=st.just("n"),
    description=st.just("d"),
    type=st.sampled_from(["user", "feedback", "project", "reference", "x", "", "two words"]),
    kind=st.sampled_from(["", "decision"]),
    source=st.sampled_from(["", "explicit", "manual", "extraction", "a b"]),
    importance=st.sampled_from(["", "low", "normal", "high"]),
    created=dates,
    updated=dates,
    last_reinforced=dates,
    reinforced=st.integers(-2, 99),
)
stores = st.lists(heads, max_size=12, unique_by=lambda note: note.file)


@pytest.mark.slow
@given(stores)
def test_strength_lies_between_nothing_and_seven_and_a_half(store: list[Head]) -> None:
    found = strengths(store)
    assert list(found) == [note.file for note in store]
    assert all(0 <= value <= 7.5 and value == round(value, 6) for value in found.values())


@pytest.mark.slow
@given(stores, st.randoms())
def test_strength_does_not_depend_on_order(store: list[Head], random: object) -> None:
    shuffled = list(store)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert strengths(shuffled) == strengths(store)


@given(st.integers(0, 400), st.integers(0, 400), st.integers(1, 60))
def test_older_is_never_stronger(one: int, other: int, step: int) -> None:
    assert (aged(one, step) >= aged(other, step)) or one > other


@given(st.integers(0, 400), st.integers(0, 9), st.integers(0, 9))
def test_reinforcing_never_weakens(days: int, one: int, other: int) -> None:
    less, more = sorted((one, other))
    assert aged(days, reinforced=less) <= aged(days, reinforced=more)


@pytest.mark.slow
@given(stores)
def test_without_dates_nothing_ages(store: list[Head]) -> None:
    bare = [head(note.file, note.type, reinforced=note.reinforced) for note in store]
    fresh = [head(note.file, note.type, created=day(0)) for note in store]
    assert strengths(bare) == strengths(fresh)
