"""What an accepted op writes, and what it leaves as it was."""

from collections.abc import Callable, Mapping

import pytest
import yaml

from mdmemory.compact.plan import Merge, Rewrite
from mdmemory.compact.result import changes
from mdmemory.git.replacement import Change
from mdmemory.note.note import Note, parse
from mdmemory.store.note_links import former_names, join_merged, note_names
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]
FromText = Callable[[str, str], StoredNote]
TODAY = "2026-07-01"


def by_file(*notes: StoredNote) -> Mapping[str, StoredNote]:
    return {note.file: note for note in notes}


def written(changes: list[Change]) -> Note:
    assert changes[0].new is not None
    return parse(changes[0].new.decode(), changes[0].file)


def merge(
    *notes: StoredNote, target: str = "", name: str = "", says: str = "All", today: str = TODAY
) -> Note:
    """The note that a merge of these writes."""
    files = tuple(note.file for note in notes)
    name = name or notes[0].note.head.name
    op = Merge(files, target or files[0], name, "user", says, f"{says}.")
    return written(changes(op, by_file(*notes), today))


def test_a_merge_keeps_one_file_and_removes_the_others(make: Make) -> None:
    one, two, three = make("a"), make("b"), make("c")
    op = Merge((one.file, two.file, three.file), two.file, "b", "user", "A, b, c", "All of it.")
    found = changes(op, by_file(one, two, three), TODAY)
    assert [(each.file, each.old, each.new is None) for each in found] == [
        *[(two.file, two.digest, False), (one.file, one.digest, True)],
        (three.file, three.digest, True),
    ]
    note = written(found)
    assert (note.head.name, note.head.description, note.body) == ("b", "A, b, c", "All of it.")


def test_a_merge_into_a_new_file_keeps_what_a_person_added(make: Make, from_text: FromText) -> None:
    head = "name: a\ndescription: About a\ncolour: red # mine\nmetadata:\n  type: user\n"
    mine = from_text("user-a.md", f"---\n{head}  source: explicit\n---\n\nA.\n")
    other = make("b", source="extraction", created="2026-01-01")
    op = Merge((mine.file, other.file), "user-both.md", "both", "user", "Both", "A.\n\nB.")
    found = changes(op, by_file(mine, other), TODAY)
    gone = [(mine.file, mine.digest), (other.file, other.digest)]
    assert [(each.file, each.old) for each in found] == [("user-both.md", None), *gone]
    note = written(found)
    assert "colour: red # mine\n" in note.text
    assert (note.head.name, note.head.type, note.head.source) == ("both", "user", "explicit")
    assert (note.head.created, note.head.updated) == ("2026-01-01", TODAY)


def test_a_merge_keeps_the_oldest_date_and_the_most_reinforcements(make: Make) -> None:
    one = make("a", created="2026-03-01", reinforced="2", last_reinforced="2026-05-05")
    two = make("b", created="2026-01-01", reinforced="5", source="explicit", importance="high")
    head = merge(one, two, today=TODAY).head
    assert (head.created, head.updated, head.last_reinforced) == ("2026-01-01", TODAY, "2026-05-05")
    assert (head.reinforced, head.source, head.importance) == (5, "explicit", "high")


def test_a_merge_of_the_same_words_makes_nothing_younger(make: Make) -> None:
    one = make("a", "Same", "Same.", updated="2026-02-02")
    two = make("b", "Same", "Same.", updated="2026-03-03", status="unconfirmed")
    for target in (one, two):
        head = merge(one, two, target=target.file, name=target.note.head.name, says="Same").head
        assert (head.updated, head.status) == ("2026-03-03", "")


def test_a_rewrite_touches_only_the_lines_that_change(from_text: FromText) -> None:
    text = (
        "\ufeff---\r\n# mine\r\nname: a\r\nextra: [1, 2]\r\ndescription: About a\r\nmetadata:\r\n"
        "  type: user\r\n  updated: 2026-01-01\r\n---\r\n\r\nOld.\r\n"
    )
    note = from_text("user-a.md", text)
    found = changes(Rewrite(note.file, "New.\nSecond."), by_file(note), TODAY)
    wanted = text.replace("2026-01-01", TODAY).replace("Old.", "New.\r\nSecond.")
    assert found == [Change(note.file, note.digest, wanted.encode())]


def test_a_rewrite_that_says_the_same_changes_nothing(make: Make) -> None:
    note = make("a", "About a", "One.\nTwo.")
    for body in ("One.\nTwo.", "One.\r\nTwo.\r\n", "\nOne.\nTwo.\n\n"):
        for description in (None, "About a"):
            assert changes(Rewrite(note.file, body, description), by_file(note), TODAY) == []


# --- the names of notes that were merged away lead to the note that took them over ---------------


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
    text = f"---\n{yaml.safe_dump(head)}---\n\nTea.\n" if head else "Tea.\n"
    assert former_names(parse(text, "user-n.md")).keys() == found


def test_a_note_that_stays_under_another_name_keeps_its_old_one(make: Make) -> None:
    note = merge(make("a"), make("b"), name="both")
    assert note_names(note) == {"both", "user-a", "a", "b", "user-b"}
    assert former_names(note) == {"a": "both", "b": "both", "user-a": "user-a", "user-b": "user-a"}


def test_names_are_handed_on_from_merge_to_merge_and_stand_once(make: Make) -> None:
    first = merge(make("a"), make("b"))
    again = StoredNote("user-a.md", "0" * 64, first)
    note = merge(make("c"), again, make("b"))
    assert "\n  merged: b, a\n" in note.text or "\n  merged: a, b\n" in note.text
    assert former_names(note).keys() == {"a", "user-a", "b", "user-b"}
    assert join_merged(note, "c", []) is None


def test_a_file_that_does_not_follow_from_the_name_is_named_too(from_text: FromText) -> None:
    by_hand = from_text("Tea Notes.md", "I like tea.\n")
    other = from_text("user-x.md", "---\nname: tea\nmetadata:\n  type: user\n---\n\nTea.\n")
    assert {"tea notes", "tea"} <= note_names(merge(other, by_hand))


def test_a_note_by_hand_gets_a_head_and_keeps_its_text(from_text: FromText) -> None:
    notes = [from_text(file, "Drinks tea.\r\n") for file in ("a.md", "b.md")]
    op = Merge(("a.md", "b.md"), "a.md", "a", "reference", "Drinks tea.", "Drinks tea.")
    found = changes(op, by_file(*notes), TODAY)
    assert (found[0].new or b"").endswith(b"\r\n\r\nDrinks tea.\r\n")
    assert former_names(written(found)).keys() >= {"b"}
