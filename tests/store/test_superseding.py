"""A note that another replaced: its marks, its chain, and every place that leaves it out."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.compact import guards
from mdmemory.compact.plan import parse as parse_plan
from mdmemory.files import digest
from mdmemory.note import editing
from mdmemory.note.note import parse
from mdmemory.store import superseding
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import Chains, lead_on, orphan_notes

DAY = "2026-07-01"


def note(name: str, by: str = "", body: str = "") -> StoredNote:
    body = body or f"What {name} says."
    text = editing.compose(name=name, type="project", description=body, body=body)
    file = f"project-{name}.md"
    found = parse(text, file)
    if by:
        found = superseding.mark_superseded(found, by, DAY)
    return StoredNote(file, digest(found.text.encode()), found)


def test_a_mark_adds_its_lines_and_goes_without_a_trace() -> None:
    hand = parse(
        "---\r\nname: tea  # mine\r\nmetadata:\r\n  type: user\r\n  owner: me\r\n---\r\nTea.",
        "user-tea.md",
    )
    marked = superseding.mark_superseded(hand, "coffee", DAY)
    lines = "status: superseded", "superseded_by: coffee", f"superseded: {DAY}"
    assert marked.text == hand.text.replace("me\r\n---", "\r\n  ".join(("me", *lines)) + "\r\n---")
    back = superseding.unmark_superseded(marked, "2026-07-02")
    assert back.text == hand.text.replace("me\r\n---", "me\r\n  updated: 2026-07-02\r\n---")


def test_a_chain_leads_to_the_note_in_force() -> None:
    one, two, three = note("one", "two"), note("two", "three"), note("three")
    chains = Chains([one, two, three])
    assert chains.successor(one) == two
    assert chains.last(one) == chains.last(two) == chains.last(three) == three
    assert chains.replaced_notes(three) == [two, one]
    assert [chains.has_replaced(each) for each in (one, two, three)] == [False, True, True]
    assert orphan_notes([one, two, three]) == []


def test_asking_of_each_note_what_it_replaced_looks_at_each_mark_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = [*(note(f"old{at}", "new") for at in range(200)), note("new")]
    chains, looked = Chains(notes), list[str]()
    look = Chains.successor
    monkeypatch.setattr(
        Chains, "successor", lambda self, each: looked.append(each.file) or look(self, each)
    )
    assert [each for each in notes if chains.has_replaced(each)] == notes[-1:]
    assert [len(chains.replaced_notes(each)) for each in notes] == [0] * 200 + [200]
    assert len(looked) <= 3 * len(notes)


def test_a_chain_follows_a_file_an_alias_and_a_name_taken_over() -> None:
    new = note("new")
    aliased = StoredNote(new.file, "", parse(new.note.text.replace("[new", "[new, was"), new.file))
    text = new.note.text.replace("  type:", "  merged: gone\n  type:")
    merged = StoredNote(new.file, "", parse(text, new.file))
    for by, now in (
        ("project-new", new),
        ("project-new.md", new),
        ("was", aliased),
        ("gone", merged),
    ):
        assert Chains([note("old", by), now]).last(note("old", by)) == now


@pytest.mark.parametrize(
    ("notes", "why"),
    [
        ([note("one", "two"), note("two", "nobody")], ["missing", "missing"]),
        ([note("one", "two"), note("two", "one")], ["circle", "circle"]),
        ([note("one", "one")], ["circle"]),
    ],
)
def test_a_mark_that_leads_nowhere_is_told(notes: list[StoredNote], why: list[str]) -> None:
    assert [each.why for each in Chains(notes).broken_marks()] == why
    assert orphan_notes(notes) == notes


def test_names_of_now_tell_that_every_mark_leads_to_a_note_in_force() -> None:
    """And never say so where one does not: all notes are read then."""
    walk, seen = random.Random(3), set[bool]()
    for _ in range(400):
        names = [f"n{at}" for at in range(walk.randint(1, 6))]
        words = [*names, *(f"project-{name}.md" for name in names), "nobody", "", "", ""]
        notes = [note(name, walk.choice(words)) for name in names]
        says = lead_on(each.note.head for each in notes)
        assert says == (not orphan_notes(notes))
        seen.add(says)
    assert seen == {True, False}
    unnamed = parse(
        note("one", "two").note.text.replace("superseded_by: two", ""), "project-one.md"
    )
    assert not lead_on([unnamed.head])
    new = note("new")
    text = new.note.text.replace("  type:", "  merged: gone\n  type:")
    assert not lead_on([note("old", "gone").note.head, parse(text, new.file).head])


def test_marks_of_notes_in_force_never_make_a_circle() -> None:
    walk = random.Random(14)
    notes = {each.file: each for each in (note(f"n{at}") for at in range(12))}
    for _ in range(300):
        old, new = walk.sample(list(notes), 2)
        chains = Chains([*notes.values()])
        new_note, old_note = notes[new], chains.last(notes[old])
        assert old_note is not None
        if new_note.note.head.status:
            new_note = StoredNote(new, "", superseding.unmark_superseded(new_note.note, DAY))
        if old_note.file != new:
            by = new_note.note.head.name
            notes[old_note.file] = StoredNote(
                old_note.file, "", superseding.mark_superseded(old_note.note, by, DAY)
            )
        notes[new] = new_note
        assert orphan_notes([*notes.values()]) == []


# --- where it is left out


@pytest.fixture
def memory(repository: Path) -> Memory:
    opened, _ = Memory.init(repository, own_repo=True)
    body = "Parcels above 31.5 kg go with the {}."
    for name, text in (("freight", body.format("freight carrier")),
                       ("parcels", body.format("parcel service"))):  # fmt: skip
        opened.add(name, type="project", description=text, body=text)
    old = opened.note("freight")
    marked = superseding.mark_superseded(old.note, "parcels", DAY)
    opened.replace_text("freight", marked.text, replaces=old.digest)
    return opened


def test_index_counts_and_conflicts_leave_it_out_and_search_shows_it_last(memory: Memory) -> None:
    index = (memory.project.store / "MEMORY.md").read_text()
    assert "parcels.md" in index
    assert "freight.md" not in index
    assert memory.counts() == {
        "notes": 2, "listed": 1, "held": 0, "unconfirmed": 0, "superseded": 1, "conflicts": 0,
    }  # fmt: skip
    rows = {row.head.name: (row.status, row.listed) for row in memory.listing()}
    assert rows == {"freight": ("superseded", False), "parcels": ("", True)}
    hits = memory.search("freight carrier for parcels above 31.5 kg").hits
    assert [(hit.name, hit.mark) for hit in hits] == [
        ("parcels", ""), ("freight", "superseded by parcels"),
    ]  # fmt: skip
    marks = {row.head.name: row.mark for row in memory.listing()}
    assert marks == {"freight": "superseded by parcels", "parcels": ""}


def test_a_conflict_of_a_superseded_note_waits_only_while_the_note_holds(memory: Memory) -> None:
    store = memory.project.store
    pair = memory.note("freight"), memory.note("parcels"), "freight against parcel"
    from mdmemory.store import conflicts

    (store / "_CONFLICTS.md").write_text(conflicts.add("", [pair], DAY))
    memory.index()
    assert memory.conflicts() == []
    assert memory.counts()["conflicts"] == 0
    assert "_CONFLICTS.md" not in (store / "MEMORY.md").read_text()
    old = memory.note("freight")
    back = superseding.unmark_superseded(old.note, DAY)
    memory.replace_text("freight", back.text, replaces=old.digest)
    assert len(memory.conflicts()) == 1
    assert "1 conflict needs a person" in (store / "MEMORY.md").read_text()


def test_doctor_names_a_mark_that_leads_nowhere(memory: Memory) -> None:
    (memory.project.store / memory.note("parcels").file).unlink()
    (finding,) = [each for each in memory.doctor() if each.check == "superseded"]
    assert (finding.path, "there is no such note" in finding.message) == (
        "project-freight.md",
        True,
    )


def test_a_compaction_neither_sees_nor_touches_it(memory: Memory) -> None:
    before = memory.note("freight").digest
    lately = datetime.fromisoformat(f"{DAY}T12:00:00+00:00")
    done = Memory.open(memory.project.root, clock=lambda: lately).compact(offline=True)
    assert done.outcome == "noop"
    plan = parse_plan(
        '{"ops": [{"op": "delete", "file": "project-freight.md", "reason": "old"},'
        ' {"op": "delete", "file": "project-parcels.md", "reason": "old"}]}'
    )
    verdict = guards.check(plan, memory.notes(), has_secret=lambda _: False)
    assert "empties_store" in [code for code, _ in verdict.refusals]
    assert verdict.accepted == ()
    assert memory.note("freight").digest == before
