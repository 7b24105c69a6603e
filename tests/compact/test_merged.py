"""The names of notes that were merged away lead to the note that took them over."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mdmemory.compact.guards import check
from mdmemory.compact.plan import Delete, Merge, Plan
from mdmemory.compact.result import changes
from mdmemory.note.note import Note, fields, parse
from mdmemory.store.merged import former, joined, merged_names, names
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]
FromText = Callable[[str, str], StoredNote]


def merge(*notes: StoredNote, target: str = "", name: str = "") -> Note:
    """The note that a merge of these writes."""
    target = target or notes[0].file
    name = name or notes[0].note.head.name
    op = Merge(tuple(note.file for note in notes), target, name, "user", "All", "All of it.")
    (file, _, data), *_ = changes(op, {note.file: note for note in notes}, "2026-01-01")
    assert data is not None
    return parse(data.decode(), file)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ({}, set()),
        ({"metadata": {"type": "user"}}, set()),
        ({"metadata": {"type": "user", "merged": "a, B"}}, {"a", "b", "user-a", "user-b"}),
        ({"metadata": {"type": "user", "merged": ["a", "b.md"]}}, {"a", "b", "user-a", "user-b"}),
        ({"type": "user", "merged": "a"}, {"a", "user-a"}),
        ({"metadata": {"merged": ", ,"}}, set()),
        ({"metadata": "text"}, set()),
    ],
)
def test_the_names_are_read_from_the_head(head: dict[str, object], found: set[str]) -> None:
    assert merged_names(head) == found


def test_a_merge_names_what_it_took_in(make: Make) -> None:
    note = merge(make("a"), make("b"), make("c"))
    assert "\n  merged: b, c\n" in note.text
    assert names(note) == {"a", "user-a", "b", "user-b", "c", "user-c"}


def test_a_note_that_is_renamed_keeps_its_old_name(make: Make) -> None:
    note = merge(make("a"), make("b"), target="user-both.md", name="both")
    assert names(note) == {"both", "user-both", "a", "user-a", "b", "user-b"}


def test_a_note_that_stays_under_another_name_keeps_its_old_one(make: Make) -> None:
    note = merge(make("a"), make("b"), name="both")
    assert names(note) == {"both", "user-a", "a", "b", "user-b"}
    assert former(note) == {"a": "both", "b": "both", "user-a": "user-a", "user-b": "user-a"}


def test_names_are_handed_on_and_stand_once(make: Make) -> None:
    first = merge(make("a"), make("b"))
    again = StoredNote("user-a.md", "0" * 64, first)
    note = merge(make("c"), again, make("b"))
    assert "\n  merged: b, a\n" in note.text or "\n  merged: a, b\n" in note.text
    assert joined(note, "c", []) is None


def test_a_file_that_does_not_follow_from_the_name_is_named_too(from_text: FromText) -> None:
    by_hand = from_text("Tea Notes.md", "I like tea.\n")
    other = from_text("user-x.md", "---\nname: tea\nmetadata:\n  type: user\n---\n\nTea.\n")
    assert {"tea notes", "tea"} <= names(merge(other, by_hand))


def test_a_note_by_hand_gets_a_head_and_keeps_its_text(from_text: FromText) -> None:
    one, two = from_text("a.md", "Drinks tea.\r\n"), from_text("b.md", "Drinks tea.\r\n")
    sources = (one.file, two.file)
    op = Merge(sources, "a.md", "a", "reference", "Drinks tea.", "Drinks tea.")
    (_, _, data), *_ = changes(op, {note.file: note for note in (one, two)}, "2026-01-01")
    assert data is not None
    assert data.endswith(b"\r\n\r\nDrinks tea.\r\n")
    assert merged_names(fields(parse(data.decode(), "a.md"))) >= {"b"}


def test_a_note_is_not_deleted_while_a_former_name_is_linked_to(make: Make) -> None:
    kept = StoredNote("user-a.md", "0" * 64, merge(make("a"), make("b")))
    linking = make("c", "Has links", "See [[b]].")
    plan = Plan((Delete("user-a.md", "old"),))
    refused = check(plan, [kept, linking], has_secret=lambda text: False).refused
    assert [code for _, code, _ in refused] == ["dangling_link"]
    other = make("c", "Has links", "See [[d]].")
    assert check(plan, [kept, other], has_secret=lambda text: False).accepted == plan.ops
