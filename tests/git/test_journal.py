"""The journal is followed when it is ours, and only inside the folder that it is for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rows import replace

from mdmemory.errors import MdmemoryError, RepositoryState
from mdmemory.git.commits_of_store import Blob
from mdmemory.git.journal import Journal, Journals
from mdmemory.git.replacement import MARK, Move

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def journals(tmp_path: Path) -> Journals:
    (tmp_path / "tree" / "notes").mkdir(parents=True)
    return Journals(tmp_path / "room", tmp_path / "tree")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    file = "line\nbreak \udcff.md"
    move = Move(file, "a" * 64, None, f"{MARK}1-0.new", f"{MARK}1-0.old", False)
    return Journal(
        "0123456789ab", str(tmp_path / "tree" / "notes"), [move], "refs/heads/main", None, COMMIT,
        {file: None, "b.md": Blob("100644", COMMIT)},
    )  # fmt: skip


def test_it_is_read_as_it_was_written(journals: Journals, journal: Journal) -> None:
    assert journals.read() is None
    assert not journals.is_open()
    journals.write(journal)
    assert journals.is_open()
    assert not journals.has_moved()
    assert journals.read() == journal


def test_once_the_branch_has_moved_it_says_so_until_it_is_dropped(
    journals: Journals, journal: Journal
) -> None:
    journals.write(journal)
    journals.mark_moved()
    journals.mark_moved()
    assert journals.has_moved()
    assert journals.read() == journal
    journals.drop()
    journals.drop()
    assert (journals.is_open(), journals.has_moved()) == (False, False)
    assert [*journals.room.iterdir()] == []


BENT: dict[str, Callable[[dict[str, Any]], object]] = {
    "a folder elsewhere": lambda raw: raw.update(folder="/etc"),
    "a folder above": lambda raw: raw.update(folder=f"{raw['folder']}/../.."),
    "a file above": lambda raw: raw["moves"][0].update(file="../../x"),
    "an absolute file": lambda raw: raw["moves"][0].update(file="/etc/passwd"),
    "a file of git's": lambda raw: raw["moves"][0].update(file=".git/config"),
    "an entry above": lambda raw: raw["entries"].update({"../x": None}),
    "new bytes from elsewhere": lambda raw: raw["moves"][0].update(fresh="../../evil"),
    "new bytes of a person": lambda raw: raw["moves"][0].update(fresh="mine.md"),
    "aside to elsewhere": lambda raw: raw["moves"][0].update(aside=f"{MARK}/../../x"),
    "an option for a commit": lambda raw: raw.update(commit="--help"),
    "an option for a branch": lambda raw: raw.update(branch="--stdin"),
    "a branch that is a path": lambda raw: raw.update(branch="refs/heads/../../x"),
    "a ref of another kind": lambda raw: raw.update(branch="refs/tags/x"),
    "an id that is a path": lambda raw: raw.update(id="../../x"),
    "a link in the tree": lambda raw: raw["entries"].update(
        {"b.md": {"mode": "120000", "id": COMMIT}}
    ),
    "a field of its own": lambda raw: raw.update(more=1),
    "no moves": lambda raw: raw.pop("moves"),
    "no files": lambda raw: raw.update(moves=[1]),
    "no folder": lambda raw: raw.update(folder=7),
}


@pytest.mark.parametrize("way", BENT)
def test_a_journal_that_is_not_ours_is_not_followed(
    way: str, journals: Journals, journal: Journal
) -> None:
    journals.write(journal)
    path = journals.room / "journal.json"
    raw = json.loads(path.read_bytes())
    BENT[way](raw)
    path.write_text(json.dumps(raw))
    with pytest.raises(MdmemoryError, match="cannot be followed") as told:
        journals.read()
    assert str(path) in told.value.message
    assert journals.is_open(), "it is not removed: it may be all that tells what happened"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "{}", "\udcff"])
def test_a_journal_that_cannot_be_read_is_named(text: str, journals: Journals) -> None:
    journals.prepare()
    (journals.room / "journal.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(MdmemoryError, match="cannot be followed"):
        journals.read()


def test_a_folder_behind_a_link_is_elsewhere(
    journals: Journals, journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "outside")
    journals.write(replace(journal, folder=str(tmp_path / "tree" / "link")))
    with pytest.raises(MdmemoryError, match="lies elsewhere"):
        journals.read()


def test_nothing_is_written_through_a_link_in_the_place_of_the_room(
    journals: Journals, journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    journals.room.symlink_to(tmp_path / "outside")
    with pytest.raises(RepositoryState, match="symbolic link"):
        journals.write(journal)
    (tmp_path / "outside" / "journal.json").write_text("{}")
    with pytest.raises(RepositoryState, match="symbolic link"):
        journals.read()
