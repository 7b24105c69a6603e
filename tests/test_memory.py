"""The Python interface: typed, with the clock and the environment of whoever calls."""

import ast
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from projects import Patch, Say
from rows import each
from stores import BeginStore

import mdmemory
from mdmemory import Memory
from mdmemory.errors import NoStore
from mdmemory.git.commits_of_store import History
from mdmemory.store import adopt, sights
from mdmemory.store.catalog import Catalog
from mdmemory.store.refresh import Refresher

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def memory(begin_store: BeginStore, repository: Path) -> Memory:
    """A new store in a repository, on a day of the test's own."""
    return begin_store(clock=lambda: NOON)


def stored(memory: Memory, name: str = "prefers-pnpm", body: str = "Use pnpm.") -> str:
    return memory.add(name, type="feedback", description=f"About {name}", body=body).file


def test_the_package_gives_memory_and_its_version() -> None:
    assert mdmemory.Memory is Memory
    assert mdmemory.__version__
    with pytest.raises(AttributeError, match="Store"):
        mdmemory.Store  # type: ignore[attr-defined]  # noqa: B018


def names_in(annotations: Iterable[ast.expr | None]) -> set[str]:
    """The names in type annotations."""
    nodes = [node for each in annotations if each is not None for node in ast.walk(each)]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def test_the_package_gives_every_type_that_a_method_takes_or_returns() -> None:
    files = [sys.modules[each.__module__].__file__ for each in Memory.__mro__[:-1]]
    trees = [ast.parse(Path(str(file)).read_bytes()) for file in files]
    ours = {
        alias.name
        for node in chain.from_iterable(map(ast.walk, trees))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("mdmemory")
        for alias in node.names
    }
    facade = [each for tree in trees for each in tree.body if isinstance(each, ast.ClassDef)]
    used = set()
    for method in chain.from_iterable(map(ast.walk, facade)):
        if isinstance(method, ast.FunctionDef) and not re.match("_[^_]", method.name):
            arguments = [*method.args.args, *method.args.kwonlyargs]
            used |= names_in([method.returns, *(each.annotation for each in arguments)]) & ours
    assert used <= {*mdmemory.__all__}
    assert {"Edited", "Found", "Model", "Project", "Turn"} <= used


def test_each_name_that_the_package_gives_is_there_at_run_time_and_for_a_type_checker() -> None:
    checked = ast.parse(Path(mdmemory.__file__).read_bytes())
    imported = {
        str(alias.asname): str(node.module)
        for node in ast.walk(checked)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for name in mdmemory.__all__:
        given = getattr(mdmemory, name)
        assert name == "__version__" or getattr(import_module(imported[name]), name) is given


def test_open_finds_the_store_from_below_and_by_name_which_counts_over_the_environment(
    memory: Memory, tmp_path: Path
) -> None:
    root, store = memory.project.root, memory.project.store
    for start, named, environment in (
        (store, None, {}), (tmp_path, root, {}), (tmp_path, None, {"MDMEMORY_STORE": str(store)}),
        (tmp_path, root, {"MDMEMORY_STORE": "/nowhere"}),
    ):  # fmt: skip
        name = str(named) if named else None
        opened = Memory.open(start, store=name, environment=environment)
        assert (opened.project.root, opened.project.store) == (root, store)
    with pytest.raises(NoStore):
        Memory.open(tmp_path)
    opened = Memory.open(root, environment={"MDMEMORY_DAILY_CALLS": "3"})
    assert opened.project.settings.whole("llm.daily_calls") == 3


def test_dates_are_those_of_the_clock_that_is_handed_in(memory: Memory) -> None:
    head = memory.note(stored(memory)).note.head
    assert (head.created, head.updated, head.source) == ("2026-06-01", "2026-06-01", "manual")
    later = Memory.open(memory.project.root, clock=lambda: NOON + timedelta(days=3))
    later.edit("prefers-pnpm", body="Use pnpm 9.")
    head = memory.note("prefers-pnpm").note.head
    assert (head.created, head.updated) == ("2026-06-01", "2026-06-04")


def test_a_command_looks_at_the_folder_once_for_all(memory: Memory, monkeypatch: Patch) -> None:
    memory.add("milk", type="user", description="Drinks milk")
    looks: list[Path] = []
    take = sights.take_sight
    monkeypatch.setattr(sights, "take_sight", lambda *where: looks.append(where[0]) or take(*where))
    (memory.project.store / "user-tea.md").write_text("Drinks tea.\n")
    assert "user-tea.md" in memory.index().catalog.files
    assert len(looks) == 1
    memory.index(adopt=True)  # what is found is looked at again before it is committed
    looks.clear()
    memory.index(adopt=True)
    assert len(looks) == 1
    assert (seen := memory.unadopted()) is not None
    assert not seen.found
    looks.clear()
    edited, description = memory.say_anew("milk", "Drinks oat milk")
    assert len(looks) == 1
    assert (edited.same, description) == (False, "Drinks oat milk")


def test_a_fact_is_found_in_a_note_whose_text_writes_it_in_another_way(memory: Memory) -> None:
    head = '---\nname: coffee\ndescription: "Drinks caf\\u00e9 au lait"\n---\n'
    (memory.project.store / "user-coffee.md").write_text(head, encoding="utf-8")
    (memory.project.store / "user-tea.md").write_text("\nDrinks tea in the garden\n")
    (memory.project.store / "user-odd.md").write_bytes(b"\xff Drinks caf\xe9 au lait")
    for fact, file in (
        ("Drinks café au lait", "user-coffee.md"), ("drinks tea in the garden.", "user-tea.md"),
    ):  # fmt: skip
        done = memory.add(fact)
        assert (done.file, done.same) == (file, True)
    assert not memory.add("Drinks water").same


def test_compact_merges_and_is_due_by_the_clock(memory: Memory) -> None:
    for name, description in (("a", "Lives in Graz"), ("b", "Lives in Graz.")):
        memory.add(name, type="user", description=description, body="Yes.")
    assert memory.due() == "no pass is recorded"
    outcome = memory.compact(if_due=True)
    assert (outcome.outcome, len(outcome.applied)) == ("applied", 1)
    assert memory.due() is None
    assert memory.compact(if_due=True).outcome == "not_due"
    stored(memory)
    assert memory.due() is None
    later = Memory.open(memory.project.root, clock=lambda: NOON + timedelta(hours=12))
    assert later.due() == "the last pass was at 2026-06-01 12:00"


def test_derived_state_may_be_deleted_at_any_moment(memory: Memory) -> None:
    stored(memory)
    index = (memory.project.store / "MEMORY.md").read_bytes()
    shutil.rmtree(memory.project.root / ".mdmemory")
    (memory.project.store / "MEMORY.md").unlink()
    assert len(Memory.open(memory.project.root).listing()) == 1
    assert (memory.project.store / "MEMORY.md").read_bytes() == index


def test_list_and_status_look_as_often_at_all_notes_however_many_there_are(
    memory: Memory, monkeypatch: Patch
) -> None:
    looks: list[str] = []
    rows = Catalog._query_rows

    def counted(known: Catalog, columns: str, *words: Any) -> list[Any]:
        looks.append(columns)
        return rows(known, columns, *words)

    def count(notes: int) -> tuple[int, int]:
        for number in range(notes):
            name = f"{notes}-{number}"
            text = f"---\nname: {name}\ndescription: It says {name}\n---\n{name}\n"
            (memory.project.store / f"reference-{name}.md").write_text(text, encoding="utf-8")
        memory.index()
        looks.clear()
        memory.listing()
        listing = len(looks)
        memory.counts()
        return listing, len(looks) - listing

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "_query_rows", counted)
        few, many = count(5), count(100)
    # the lists need not be the same ones: some are asked for only where not every note fits
    assert many[0] < few[0] + 20
    assert many[1] < few[1] + 20
    assert memory.counts()["notes"] == len(memory.listing()) == 105


STATUS = "---\nname: {0}\nmetadata:\n  status: {0}\n---\nIt is.{1}\n"
KEY = " AKIA2E0A8F3B244C9986"
KINDS = {"plain": "It is.", "key": KEY, "odd": "\udcff", "empty": "", **{
    f"{status}{len(more)}": STATUS.format(status, more)
    for status in ("unconfirmed", "superseded") for more in ("", KEY)
}}  # fmt: skip


def test_status_and_list_count_alike(memory: Memory, say: Say, monkeypatch: Patch) -> None:
    store = memory.project.store
    monkeypatch.chdir(memory.project.root)

    def are_counted_alike(*kinds: str) -> None:
        for file in store.glob("*-kind.md"):
            file.unlink()
        for kind in kinds:
            (store / f"{kind}-kind.md").write_bytes(KINDS[kind].encode("utf-8", "surrogateescape"))
        counts, rows = Memory.open(memory.project.root).counts(), memory.listing()
        statuses = Counter(row.status for row in rows)
        assert (counts["notes"], counts["listed"]) == (len(rows), sum(row.listed for row in rows))
        assert [each for each in ("held", "unconfirmed", "superseded")
                if counts[each] != statuses[each]] == []  # fmt: skip
        total = say("list").splitlines()[-1]
        assert total.startswith(f"{store}: {len(rows)} note")
        assert total in say("status")

    each([*list(combinations(KINDS, 2))[::2], (), (*KINDS,)], are_counted_alike)


def test_at_one_look_what_hands_did_is_found_once(memory: Memory, monkeypatch: Patch) -> None:
    (memory.project.store / "feedback-by-hand.md").write_text("Written in an editor.\n")
    asked: list[object] = []
    look = adopt.look_at_folder

    def counted(refresher: Refresher, history: History) -> adopt.Look:
        asked.append(refresher)
        return look(refresher, history)

    monkeypatch.setattr(adopt, "look_at_folder", counted)
    with memory.at_one_look():
        first, second = memory.unadopted(), memory.unadopted()
        assert first is not None
        assert first is second
        assert [each.file for each in first.found] == ["feedback-by-hand.md"]
        assert len(asked) == 1
    (memory.project.store / "feedback-by-hand.md").unlink()
    again = memory.unadopted()
    assert again is not None
    assert not again.found  # it holds for that look alone
