"""Batches hold every note once, near notes together, and no more than the limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmemory.compact.model_question import batches, may_be_shown, size, whole
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]


def chars(note: StoredNote) -> int:
    return size(whole(note))


def test_a_store_within_the_limit_is_one_batch(make: Make) -> None:
    notes = [make("b"), make("a"), make("c", type="project")]
    (batch,) = batches(notes, chars, 60_000)
    assert [note.file for note in batch] == ["project-c.md", "user-a.md", "user-b.md"]
    assert batches([], chars, 60_000) == []


def test_neighbours_stay_together_whatever_their_names(make: Make) -> None:
    pets = ["the cat eats tuna at noon", "the cat eats salmon at noon"]
    work = ["deploys leave on friday evening", "deploys leave on monday evening"]
    texts = zip("abcd", (pets[0], work[0], pets[1], work[1]), strict=True)
    notes = [make(name, text, text) for name, text in texts]
    limit = max(map(chars, notes)) * 2
    found = [{note.file for note in batch} for batch in batches(notes, chars, limit)]
    assert found == [{"user-a.md", "user-c.md"}, {"user-b.md", "user-d.md"}]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_every_note_stands_in_one_batch_that_keeps_the_limit(
    make: Make, data: st.DataObject
) -> None:
    word = st.sampled_from(["tea", "port", "deploy", "tabs", "喜欢", "8080", "night"])
    words = st.lists(word, max_size=5)
    notes = [
        make(f"n-{at}", " ".join(text), type=kind)
        for at, (text, kind) in enumerate(
            data.draw(st.lists(st.tuples(words, st.sampled_from(["user", "project"])), max_size=30))
        )
    ]
    limit = data.draw(st.integers(1, 2_000))
    found = batches(notes, chars, limit)
    assert all(batch and sum(map(chars, batch)) <= limit for batch in found)
    files = [note.file for batch in found for note in batch]
    assert sorted(files) == sorted(note.file for note in notes if chars(note) <= limit)
    assert found == batches(notes[::-1], chars, limit)


@pytest.mark.parametrize(
    ("name", "more", "shown"),
    [
        ("a", {}, True),
        ("b", {"body": "The code is hunter2."}, False),
        ("c", {"description": "Its code is hunter2"}, False),
        ("d", {"secrets": "allowed"}, False),
        ("喜欢", {}, True),
    ],
)
def test_a_note_that_redaction_would_change_is_not_shown(
    make: Make, name: str, more: dict[str, str], shown: bool
) -> None:
    note = make(name, **more)
    assert may_be_shown(note, lambda text: text.replace("hunter2", "[redacted]")) == shown
