"""What an accepted op writes, and what it leaves as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mdmemory.compact.plan import Delete, Flag, Merge, Rewrite
from mdmemory.compact.result import changes, pairs
from mdmemory.note.note import Note, parse
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]
TODAY = "2026-07-01"


def by_file(*notes: StoredNote) -> Mapping[str, StoredNote]:
    return {note.file: note for note in notes}


def written(changes: list[tuple[str, str | None, bytes | None]]) -> Note:
    file, _, data = changes[0]
    assert data is not None
    return parse(data.decode(), file)


def test_a_merge_keeps_one_file_and_removes_the_others(make: Make) -> None:
    one, two, three = make("a"), make("b"), make("c")
    op = Merge((one.file, two.file, three.file), two.file, "b", "user", "A, b, c", "All of it.")
    found = changes(op, by_file(one, two, three), TODAY)
    assert [(file, old) for file, old, _ in found] == [
        (two.file, two.digest),
        (one.file, one.digest),
        (three.file, three.digest),
    ]
    assert [new is None for _, _, new in found] == [False, True, True]
    note = written(found)
    assert (note.head.name, note.head.description, note.body) == ("b", "A, b, c", "All of it.")


def test_a_merge_into_a_new_file_keeps_what_a_person_added(
    make: Make, from_text: Callable[[str, str], StoredNote]
) -> None:
    mine = from_text(
        "user-a.md",
        "---\nname: a\ndescription: About a\ncolour: red # mine\nmetadata:\n  type: user\n"
        "  source: explicit\n---\n\nA.\n",
    )
    other = make("b", source="extraction", created="2026-01-01")
    op = Merge((mine.file, other.file), "user-both.md", "both", "user", "Both", "A.\n\nB.")
    found = changes(op, by_file(mine, other), TODAY)
    assert [(file, old) for file, old, _ in found] == [
        ("user-both.md", None),
        (mine.file, mine.digest),
        (other.file, other.digest),
    ]
    note = written(found)
    assert "colour: red # mine\n" in note.text
    assert (note.head.name, note.head.type, note.head.source) == ("both", "user", "explicit")
    assert (note.head.created, note.head.updated) == ("2026-01-01", TODAY)


def test_a_merge_keeps_the_oldest_date_and_the_most_reinforcements(make: Make) -> None:
    one = make("a", created="2026-03-01", reinforced="2", last_reinforced="2026-05-05")
    two = make("b", created="2026-01-01", reinforced="5", source="explicit", importance="high")
    head = written(
        changes(
            Merge((one.file, two.file), one.file, "a", "user", "New", "New."),
            by_file(one, two),
            TODAY,
        )
    ).head
    assert (head.created, head.updated, head.last_reinforced) == ("2026-01-01", TODAY, "2026-05-05")
    assert (head.reinforced, head.source, head.importance) == (5, "explicit", "high")


def test_a_merge_of_the_same_words_makes_nothing_younger(make: Make) -> None:
    one = make("a", "Same", "Same.", updated="2026-02-02")
    two = make("b", "Same", "Same.", updated="2026-03-03", status="unconfirmed")
    op = Merge((one.file, two.file), one.file, "a", "user", "Same", "Same.")
    head = written(changes(op, by_file(one, two), TODAY)).head
    assert (head.updated, head.status) == ("2026-03-03", "")
    back = Merge((one.file, two.file), two.file, "b", "user", "Same", "Same.")
    assert written(changes(back, by_file(one, two), TODAY)).head.status == ""


def test_a_rewrite_touches_only_the_lines_that_change(
    from_text: Callable[[str, str], StoredNote],
) -> None:
    text = (
        "\ufeff---\r\n# mine\r\nname: a\r\nextra: [1, 2]\r\ndescription: About a\r\nmetadata:\r\n"
        "  type: user\r\n  updated: 2026-01-01\r\n---\r\n\r\nOld.\r\n"
    )
    note = from_text("user-a.md", text)
    found = changes(Rewrite(note.file, "New.\nSecond."), by_file(note), TODAY)
    wanted = text.replace("2026-01-01", TODAY).replace("Old.", "New.\r\nSecond.")
    assert found == [(note.file, note.digest, wanted.encode())]


def test_a_rewrite_that_says_the_same_changes_nothing(make: Make) -> None:
    note = make("a", "About a", "One.\nTwo.")
    for body in ("One.\nTwo.", "One.\r\nTwo.\r\n", "\nOne.\nTwo.\n\n"):
        for description in (None, "About a"):
            assert changes(Rewrite(note.file, body, description), by_file(note), TODAY) == []


def test_a_delete_removes_and_a_flag_writes_no_note(make: Make) -> None:
    one, two, three = make("a"), make("b"), make("c")
    notes = by_file(one, two, three)
    assert changes(Delete(one.file, "r"), notes, TODAY) == [(one.file, one.digest, None)]
    flag = Flag((one.file, two.file, three.file), "why")
    assert changes(flag, notes, TODAY) == []
    assert pairs(flag, notes) == [(one, two, "why"), (one, three, "why"), (two, three, "why")]
