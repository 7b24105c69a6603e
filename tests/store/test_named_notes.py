"""Notes that are read by names which a ledger gives: only what the folder would list."""

import os
from pathlib import Path

import pytest

from mdmemory.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (folder := tmp_path / "store").mkdir()
    for file in ("user-tea.md", "user-milk.md", "MEMORY.md", "notes.txt", "_CONFLICTS.md"):
        (folder / file).write_text("text\n", encoding="utf-8")
    (tmp_path / "outside.md").write_text("theirs\n", encoding="utf-8")
    (folder / "user-link.md").symlink_to(tmp_path / "outside.md")
    (folder / "user-folder.md").mkdir()
    os.mkfifo(folder / "user-pipe.md")
    return Store(folder)


def test_only_what_the_folder_lists_is_read(store: Store) -> None:
    names = [*os.listdir(store.folder), "../outside.md", "/etc/passwd", "", ".", "gone.md"]
    names += ["user-tea.md/", "a\0.md", f"{store.folder}/user-tea.md", "\udcff.md", "x" * 300]
    assert sorted(note.file for note in store.those_of(names)) == store.files()


def test_they_come_in_the_order_they_were_asked_for(store: Store) -> None:
    asked = ["user-tea.md", "user-gone.md", "user-milk.md"]
    assert [note.file for note in store.those_of(asked)] == ["user-tea.md", "user-milk.md"]
    assert store.those_of(asked)[0] == store.read("user-tea.md")


def test_the_digests_are_those_of_the_notes(store: Store) -> None:
    assert store.digests() == {note.file: note.digest for note in store.notes()}
