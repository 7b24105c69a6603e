"""The index follows every write, and looks at no more than it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.store import catalog as catalogs
from mdmemory.store import index
from mdmemory.store.store import Store


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory, _ = Memory.init(tmp_path)
    memory.add("tea", type="user", description="Likes tea", body="Green.")
    return memory


def expected(memory: Memory) -> str:
    heads = [note.note.head for note in Store(memory.project.store).notes()]
    return index.build(heads).memory


def shown(memory: Memory) -> str:
    return (memory.project.store / "MEMORY.md").read_text(encoding="utf-8")


def test_a_write_looks_at_the_folder_once_and_arranges_the_index_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for module, name in ((catalogs, "load"), (index, "arrange")):
        before = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, _b=before, _n=name, **k: (done.append(_n), _b(*a, **k))[1]
        )
    memory.add("coffee", type="user", description="Likes coffee", body="Black.")
    memory.remove("tea")
    assert done == ["load", "arrange"] * 2
    assert shown(memory) == expected(memory)


def test_a_hand_edit_during_a_write_is_in_the_index_after_the_next_command(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand = memory.project.store / "user-tea.md"
    before = catalogs.save

    def save(catalog: catalogs.Catalog) -> bool:
        text = by_hand.read_text(encoding="utf-8")
        by_hand.write_text(text.replace("Likes tea", "Loves tea"), encoding="utf-8")
        return before(catalog)

    monkeypatch.setattr(catalogs, "save", save)
    memory.add("coffee", type="user", description="Likes coffee", body="Black.")
    monkeypatch.undo()
    memory.listing()
    assert "Loves tea" in shown(memory)
    assert shown(memory) == expected(memory)


def test_a_write_whose_index_git_is_told_not_to_see_still_has_one(memory: Memory) -> None:
    text = 'store = "notes/memory"\n[index]\ntracked = false\n'
    (memory.project.root / "mdmemory.toml").write_text(text, encoding="utf-8")
    memory = Memory.open(memory.project.root)
    memory.add("coffee", type="user", description="Likes coffee", body="Black.")
    assert shown(memory) == expected(memory)


def test_an_index_that_somebody_changed_meanwhile_is_made_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mdmemory.store.transaction import Transactions

    before = Transactions.apply

    def apply(self: Transactions, *words: object) -> object:
        done = before(self, *words)  # type: ignore[arg-type]
        (memory.project.store / "MEMORY.md").write_text(f"{index.MARKER}\nold\n", encoding="utf-8")
        return done

    monkeypatch.setattr(Transactions, "apply", apply)
    memory.add("coffee", type="user", description="Likes coffee", body="Black.")
    assert shown(memory) == expected(memory)
