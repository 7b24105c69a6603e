"""A note that another replaced: its marks, its chain, and every place that leaves it out."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rows import each
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.compact import guards
from mdmemory.compact.plan import parse as parse_plan
from mdmemory.errors import NotFound
from mdmemory.files import digest
from mdmemory.note import editing
from mdmemory.note.note import Note, parse
from mdmemory.store import conflicts
from mdmemory.store.note_links import with_aliases
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import (
    Chains,
    lead_on,
    mark_superseded,
    orphan_notes,
    unmark_superseded,
)

Patch = pytest.MonkeyPatch
DAY = "2026-07-01"


def note(name: str, by: str = "", body: str = "") -> StoredNote:
    body = body or f"What {name} says."
    text = editing.compose(name=name, type="project", description=body, body=body)
    found = parse(text, f"project-{name}.md")
    return stored(mark_superseded(found, by, DAY) if by else found)


def stored(note: Note) -> StoredNote:
    return StoredNote(note.head.file, digest(note.text.encode()), note)


def rewritten(old: StoredNote, before: str, after: str) -> StoredNote:
    """The same note, with other words in its head."""
    assert before in old.note.text
    return stored(parse(old.note.text.replace(before, after), old.file))


def test_a_mark_adds_its_lines_and_goes_without_a_trace() -> None:
    text = "---\nname: tea  # mine\nmetadata:\n  type: user\n  owner: me\n---\nTea."
    hand = parse(text.replace("\n", "\r\n"), "user-tea.md")
    marked = mark_superseded(hand, "coffee", DAY)
    lines = "status: superseded", "superseded_by: coffee", f"superseded: {DAY}"
    assert marked.text == hand.text.replace("me\r\n---", "\r\n  ".join(("me", *lines)) + "\r\n---")
    back = unmark_superseded(marked, "2026-07-02")
    assert back.text == hand.text.replace("me\r\n---", "me\r\n  updated: 2026-07-02\r\n---")


def test_a_chain_leads_to_the_note_in_force() -> None:
    one, two, three = note("one", "two"), note("two", "three"), note("three")
    chains = Chains([one, two, three])
    assert chains.successor(one) == two
    assert chains.last(one) == chains.last(two) == chains.last(three) == three
    assert chains.replaced_notes(three) == [two, one]
    assert [chains.has_replaced(each) for each in (one, two, three)] == [False, True, True]
    assert orphan_notes([one, two, three]) == []


def test_asking_what_each_note_replaced_looks_at_each_mark_few_times(monkeypatch: Patch) -> None:
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
    aliased = rewritten(new, "[new", "[new, was")
    merged = rewritten(new, "  type:", "  merged: gone\n  type:")
    rows = (("project-new", new), ("project-new.md", new), ("was", aliased), ("gone", merged))
    for by, now in rows:
        assert Chains([note("old", by), now]).last(note("old", by)) == now


def test_a_mark_that_leads_nowhere_is_told() -> None:
    for notes, why in [
        ([note("one", "two"), note("two", "nobody")], ["missing", "missing"]),
        ([note("one", "two"), note("two", "one")], ["circle", "circle"]),
        ([note("one", "one")], ["circle"]),
    ]:
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
    unnamed = rewritten(note("one", "two"), "superseded_by: two", "")
    assert not lead_on([unnamed.note.head])
    merged = rewritten(note("new"), "  type:", "  merged: gone\n  type:")
    assert not lead_on([note("old", "gone").note.head, merged.note.head])


def test_marks_of_notes_in_force_never_make_a_circle() -> None:
    walk = random.Random(14)
    notes = {each.file: each for each in (note(f"n{at}") for at in range(12))}
    for _ in range(300):
        old, new = walk.sample(list(notes), 2)
        chains = Chains([*notes.values()])
        new_note, old_note = notes[new], chains.last(notes[old])
        assert old_note is not None
        if new_note.note.head.status:
            new_note = stored(unmark_superseded(new_note.note, DAY))
        if old_note.file != new:
            by = new_note.note.head.name
            notes[old_note.file] = stored(mark_superseded(old_note.note, by, DAY))
        notes[new] = new_note
        assert orphan_notes([*notes.values()]) == []


def fill(opened: Memory) -> None:
    body = "Parcels above 31.5 kg go with the {}."
    for name, by in (("freight", "freight carrier"), ("parcels", "parcel service")):
        text = body.format(by)
        opened.add(name, type="project", description=text, body=text)
    old = opened.note("freight")
    marked = mark_superseded(old.note, "parcels", DAY)
    opened.replace_text("freight", marked.text, replaces=old.digest)


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(own_repo=True, fill=fill)


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
    marks = {"parcels": "", "freight": "superseded by parcels"}
    assert [(hit.name, hit.mark) for hit in hits] == [*marks.items()]
    assert {row.head.name: row.mark for row in memory.listing()} == marks


def test_a_conflict_of_a_superseded_note_waits_only_while_the_note_holds(memory: Memory) -> None:
    store = memory.project.store
    pair = memory.note("freight"), memory.note("parcels"), "freight against parcel"
    (store / "_CONFLICTS.md").write_text(conflicts.add("", [pair], DAY))
    memory.index()
    assert memory.conflicts() == []
    assert memory.counts()["conflicts"] == 0
    assert "_CONFLICTS.md" not in (store / "MEMORY.md").read_text()
    old = memory.note("freight")
    back = unmark_superseded(old.note, DAY)
    memory.replace_text("freight", back.text, replaces=old.digest)
    assert len(memory.conflicts()) == 1
    assert "1 conflict needs a person" in (store / "MEMORY.md").read_text()


def test_doctor_names_a_mark_that_leads_nowhere(memory: Memory) -> None:
    (memory.project.store / memory.note("parcels").file).unlink()
    (finding,) = [each for each in memory.doctor() if each.check == "superseded"]
    assert finding.path == "project-freight.md"
    assert "there is no such note" in finding.message


def test_a_compaction_neither_sees_nor_touches_it(memory: Memory) -> None:
    before = memory.note("freight").digest
    lately = datetime.fromisoformat(f"{DAY}T12:00:00+00:00")
    done = Memory.open(memory.project.root, clock=lambda: lately).compact(offline=True)
    assert done.outcome == "noop"
    files = ("project-freight.md", "project-parcels.md")
    ops = [{"op": "delete", "file": file, "reason": "old"} for file in files]
    verdict = guards.check(
        parse_plan(json.dumps({"ops": ops})), memory.notes(), has_secret=lambda _: False
    )
    assert "empties_store" in [code for code, _ in verdict.refusals]
    assert verdict.accepted == ()
    assert memory.note("freight").digest == before


# Other names of a note: they find it, and nobody's list of them is written anew.


@pytest.fixture
def aliased(begin_store: BeginStore) -> Memory:
    return begin_store(clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def by_hand(aliased: Memory, file: str, aliases: str, body: str = "Uses it.") -> Path:
    path = aliased.project.store / file
    kind, _, name = file.removesuffix(".md").partition("-")
    head = f"name: {name}\ndescription: About {name}\n{aliases}metadata:\n  type: {kind}\n"
    path.write_text(f"---\n{head}---\n\n{body}\n", encoding="utf-8")
    return path


def test_a_note_that_we_write_has_its_name_among_its_aliases(aliased: Memory) -> None:
    aliased.add("prefers-pnpm", type="feedback", description="Uses pnpm.", body="Uses pnpm.")
    aliased.store(FactCall("The staging server is bravo.", title="Staging server"), Caller())
    for stored in aliased.notes():
        assert stored.note.head.aliases == (stored.note.head.name,)
        assert f"\naliases: [{stored.note.head.name}]\nmetadata:\n" in stored.note.text


@pytest.mark.parametrize(
    "written",
    [
        " [Package manager, npm]",
        "\n  - Package manager\n  - npm # old",
        "\n- 'Package manager'\n- npm",
        " Package manager, npm",
        ' ["Package manager", npm] # mine',
    ],
)
def test_a_note_is_found_by_each_of_its_aliases(aliased: Memory, written: str) -> None:
    file = by_hand(aliased, "feedback-prefers-pnpm.md", f"aliases:{written}\n").name
    for name in ("npm", "package manager", "NPM"):
        assert aliased.note(name).file == file
        assert aliased.get(name).file == file
    assert [hit.file for hit in aliased.search("package manager").hits] == [file]
    assert [step.file for step in aliased.history("npm")] == [file]
    by_hand(aliased, "user-links.md", "", "See [[npm]] and [[Package manager]].")
    assert [f for f in aliased.doctor() if f.check in ("links", "names", "note")] == []


def test_a_list_of_aliases_survives_every_edit_byte_for_byte(aliased: Memory) -> None:
    def check(written: str) -> None:
        path = by_hand(aliased, "user-tea.md", written)
        before = path.read_text(encoding="utf-8")
        aliased.edit("tea", description="Drinks green tea")
        after = path.read_text(encoding="utf-8")
        assert after.replace("Drinks green tea", "About tea") == before.replace(
            "  type: user\n", "  type: user\n  updated: 2026-06-01\n"
        )

    listed = "aliases:\n  # mine\n  - 'chai'\n\n  - [deep]\n"
    each((listed, "aliases: [ chai ,x ]  # c\n", "aliases: chai\n", "aliases: {a: b}\n"), check)


def test_two_notes_with_one_alias_are_both_named(aliased: Memory) -> None:
    by_hand(aliased, "user-tea.md", "aliases: [drink]\n")
    by_hand(aliased, "user-milk.md", "aliases: [Drink]\n")
    with pytest.raises(NotFound) as refused:
        aliased.note("drink")
    assert refused.value.message == "drink names 2 notes: user-milk.md and user-tea.md."
    (finding,) = [f for f in aliased.doctor() if f.check == "names"]
    assert "user-milk.md" in finding.message
    by_hand(aliased, "project-drink.md", "")
    assert aliased.note("drink").file == "project-drink.md"
    assert [f for f in aliased.doctor() if f.check == "names"] == []


def test_what_is_no_list_of_names_is_told_and_one_in_a_bad_head_counts(aliased: Memory) -> None:
    by_hand(aliased, "user-tea.md", "aliases: {chai: 1}\n")
    assert aliased.note("tea").note.head.aliases == ()
    (finding,) = [f for f in aliased.doctor() if f.check == "note"]
    assert finding.message == "`aliases` is not a list of names: write one."
    head = "name: a\ndescription: fix: it\naliases:\n  - one\n  - two words\n"
    assert parse(f"---\n{head}---\n\nA.\n", "user-a.md").head.aliases == ("one", "two words")


def test_more_aliases_join_a_list_in_its_own_form() -> None:
    for before, after in (
        ("aliases: [x] # c\n", 'aliases: [x, "a b"] # c\n'),
        ("aliases:\n- x\n", 'aliases:\n- x\n- "a b"\n'),
        ("aliases: x\n", 'aliases: [x, "a b"]\n'),
        ("aliases: z, x\n", 'aliases: [z, x, "a b"]\n'),
        ("", 'aliases: ["a b", x]\n'),
    ):
        end = "metadata:\n  type: user\n---\n\nA.\n"
        note = parse(f"---\nname: a\n{before}{end}", "user-a.md")
        assert with_aliases(note, ["a b", "x"]).text == f"---\nname: a\n{after}{end}"


def test_a_merge_keeps_the_names_of_all_as_aliases(aliased: Memory) -> None:
    for name, body in (("a-pnpm", "Uses pnpm"), ("b-pnpm", "Uses pnpm.")):
        aliased.add(name, type="feedback", description="Uses pnpm!", body=body)
    assert aliased.compact().outcome == "applied"
    (stored,) = aliased.notes()
    assert set(stored.note.head.aliases) == {"a-pnpm", "b-pnpm"}
    assert editing.edit(stored.note, set={"description": "x"})
