"""Other names of a note: they find it, and nobody's list of them is written anew."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from rows import each

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import NotFound
from mdmemory.note import editing
from mdmemory.note.note import parse
from mdmemory.store.note_links import with_aliases


@pytest.fixture
def memory(repository: Path) -> Memory:
    opened, _ = Memory.init(repository)
    return Memory(opened.project, clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def by_hand(memory: Memory, file: str, aliases: str, body: str = "Uses it.") -> Path:
    path = memory.project.store / file
    kind, _, name = file.removesuffix(".md").partition("-")
    head = f"name: {name}\ndescription: About {name}\n{aliases}metadata:\n  type: {kind}\n"
    path.write_text(f"---\n{head}---\n\n{body}\n", encoding="utf-8")
    return path


def test_a_note_that_we_write_has_its_name_among_its_aliases(memory: Memory) -> None:
    memory.add("prefers-pnpm", type="feedback", description="Uses pnpm.", body="Uses pnpm.")
    memory.store(FactCall("The staging server is bravo.", title="Staging server"), Caller())
    for stored in memory.notes():
        assert stored.note.head.aliases == (stored.note.head.name,)
        assert f"\naliases: [{stored.note.head.name}]\nmetadata:\n" in stored.note.text


@pytest.mark.parametrize(
    "written",
    [
        "aliases: [Package manager, npm]\n",
        "aliases:\n  - Package manager\n  - npm # old\n",
        "aliases:\n- 'Package manager'\n- npm\n",
        "aliases: Package manager, npm\n",
        'aliases: ["Package manager", npm] # mine\n',
    ],
)
def test_a_note_is_found_by_each_of_its_aliases(memory: Memory, written: str) -> None:
    file = by_hand(memory, "feedback-prefers-pnpm.md", written).name
    for name in ("npm", "package manager", "NPM"):
        assert memory.note(name).file == file
        assert memory.get(name).file == file
    assert [hit.file for hit in memory.search("package manager").hits] == [file]
    assert [step.file for step in memory.history("npm")] == [file]
    by_hand(memory, "user-links.md", "", "See [[npm]] and [[Package manager]].")
    assert [f for f in memory.doctor() if f.check in ("links", "names", "note")] == []


def test_a_list_of_aliases_survives_every_edit_byte_for_byte(memory: Memory) -> None:
    def check(written: str) -> None:
        path = by_hand(memory, "user-tea.md", written)
        before = path.read_text(encoding="utf-8")
        memory.edit("tea", description="Drinks green tea")
        after = path.read_text(encoding="utf-8")
        assert after.replace("Drinks green tea", "About tea") == before.replace(
            "  type: user\n", "  type: user\n  updated: 2026-06-01\n"
        )

    listed = "aliases:\n  # mine\n  - 'chai'\n\n  - [deep]\n"
    each((listed, "aliases: [ chai ,x ]  # c\n", "aliases: chai\n", "aliases: {a: b}\n"), check)


def test_two_notes_with_one_alias_are_both_named(memory: Memory) -> None:
    by_hand(memory, "user-tea.md", "aliases: [drink]\n")
    by_hand(memory, "user-milk.md", "aliases: [Drink]\n")
    with pytest.raises(NotFound) as refused:
        memory.note("drink")
    assert refused.value.message == "drink names 2 notes: user-milk.md and user-tea.md."
    (finding,) = [f for f in memory.doctor() if f.check == "names"]
    assert "user-milk.md" in finding.message
    by_hand(memory, "project-drink.md", "")
    assert memory.note("drink").file == "project-drink.md"
    assert [f for f in memory.doctor() if f.check == "names"] == []


def test_what_is_no_list_of_names_is_told_and_left_alone(memory: Memory) -> None:
    by_hand(memory, "user-tea.md", "aliases: {chai: 1}\n")
    assert memory.note("tea").note.head.aliases == ()
    (finding,) = [f for f in memory.doctor() if f.check == "note"]
    assert finding.message == "`aliases` is not a list of names: write one."


def test_aliases_in_a_head_that_yaml_refuses_count_too() -> None:
    head = "name: a\ndescription: fix: it\naliases:\n  - one\n  - two words\n"
    assert parse(f"---\n{head}---\n\nA.\n", "user-a.md").head.aliases == ("one", "two words")


def test_more_aliases_join_a_list_in_its_own_form() -> None:
    def check(before: str, after: str) -> None:
        note = parse(f"---\nname: a\n{before}metadata:\n  type: user\n---\n\nA.\n", "user-a.md")
        wanted = note.text.replace(before, after) if before else note.text.replace("a\n", after, 1)
        assert with_aliases(note, ["a b", "x"]).text == wanted

    cases = (
        ("aliases: [x] # c\n", 'aliases: [x, "a b"] # c\n'),
        ("aliases:\n- x\n", 'aliases:\n- x\n- "a b"\n'),
        ("aliases: x\n", 'aliases: [x, "a b"]\n'),
        ("aliases: z, x\n", 'aliases: [z, x, "a b"]\n'),
        ("", 'a\naliases: ["a b", x]\n'),
    )
    each(cases, check)


def test_a_merge_keeps_the_names_of_all_as_aliases(memory: Memory) -> None:
    for name in ("a-pnpm", "b-pnpm"):
        memory.add(
            name, type="feedback", description="Uses pnpm!", body=f"Uses pnpm{'.' * (name > 'b')}"
        )
    assert memory.compact().outcome == "applied"
    (stored,) = memory.notes()
    assert set(stored.note.head.aliases) == {"a-pnpm", "b-pnpm"}
    assert editing.edit(stored.note, set={"description": "x"})
