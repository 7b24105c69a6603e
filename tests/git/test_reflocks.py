"""A lock on a branch that a killed git of ours left blocks nobody; somebody else's stays."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pace import seldom
from projects import git
from stores import BeginStore

from mdmemory import Memory
from mdmemory.errors import GitFailed, MdmemoryError, RepositoryState
from mdmemory.git import index_file
from mdmemory.git.commits_of_store import Blob
from mdmemory.git.index_file import Staging
from mdmemory.git.journal import Journal, Journals
from mdmemory.git.replacement import MARK, Move
from mdmemory.git.repositories import Repository

Patch = pytest.MonkeyPatch
Said = Callable[[str], bytes]  # what a lock holds, of the commit that the branch was to move to
THEIRS = b"ab" * 20 + b"\n"
LEFT: dict[str, Said] = {
    "nothing": lambda commit: b"",
    "all": lambda commit: f"{commit}\n".encode(),
    "a part": lambda commit: commit[:17].encode(),
    "all but the line's end": lambda commit: commit.encode(),
    "NULs": lambda commit: b"\0" * 41,
    "a part, then NULs": lambda commit: commit[:20].encode() + b"\0" * 21,
}


class Killed(BaseException):
    """Stands for a process that ends here."""


@pytest.fixture
def memory(begin_store: BeginStore, monkeypatch: Patch) -> Memory:
    opened = begin_store()
    monkeypatch.setattr(index_file, "ALIVE", 0.3)
    return opened


def add(memory: Memory, name: str) -> str | None:
    done = memory.add(name, type="user", description=f"About {name}", body=f"All of {name}.")
    return done.written.commit


def lock(memory: Memory) -> Path:
    return memory.project.root / ".git" / "refs" / "heads" / "main.lock"


@contextmanager
def update_ref_dies(said: Said, problem: BaseException, memory: Memory) -> Iterator[None]:
    """In the block git leaves its lock on the branch with what `said` says, and then `problem`."""
    run = Repository.run

    def dying(self: Repository, *words: str, **more: object) -> bytes:
        if words[0] == "update-ref" and "refs/heads/main" in words:
            lock(memory).write_bytes(said(words[-2]))
            (memory.project.root / ".git" / "HEAD.lock").touch()
            raise problem
        return run(self, *words, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repository, "run", dying)
        yield


@contextmanager
def killed(memory: Memory, said: Said) -> Iterator[None]:
    """In the block a process dies with its git: nothing is tidied up."""
    with update_ref_dies(said, Killed(), memory), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journals, "drop", lambda self: None)
        patch.setattr(Staging, "release", lambda self: None)
        with pytest.raises(Killed):
            yield


@pytest.mark.parametrize("left", seldom(LEFT, 3))
def test_a_lock_that_a_crash_left_half_written_blocks_nobody(left: str, memory: Memory) -> None:
    with killed(memory, LEFT[left]):
        add(memory, "one")
    root = memory.project.root
    assert lock(memory).exists()
    memory.doctor(fix=True)
    assert not lock(memory).exists()
    assert not (root / ".git" / "HEAD.lock").exists()
    assert memory.note("one").note.body.strip() == "All of one."
    assert add(memory, "two")
    git(root, "commit", "-q", "--allow-empty", "-m", "theirs")
    assert git(root, "status", "--porcelain") == ""


OTHERS: dict[str, Said] = {
    "another commit": lambda commit: THEIRS,
    "half of another commit": lambda commit: bytes([commit.encode()[0] ^ 1]) + b"ab",
    "more than a commit": lambda commit: f"{commit}\nmore".encode(),
    "NULs without end": lambda commit: b"\0" * 4096,
    "text after NULs": lambda commit: b"\0\0" + commit[:4].encode(),
}


@pytest.mark.parametrize("said", seldom(OTHERS, 3))
def test_a_lock_that_holds_something_else_stays_and_is_named(said: str, memory: Memory) -> None:
    with killed(memory, OTHERS[said]):
        add(memory, "one")
    before = lock(memory).read_bytes()
    for _ in range(2):
        with pytest.raises(RepositoryState, match=r"main\.lock") as problem:
            add(memory, "two")
        assert "remove that file" in problem.value.hint
    assert lock(memory).read_bytes() == before
    lock(memory).unlink()
    assert add(memory, "two")
    assert memory.note("one")


def test_a_lock_older_than_our_write_or_a_link_stays(memory: Memory, tmp_path: Path) -> None:
    with killed(memory, LEFT["a part"]):
        add(memory, "one")
    os.utime(lock(memory), ns=(0, 0))
    for is_link in (False, True):
        with pytest.raises(RepositoryState, match=r"main\.lock"):
            add(memory, "two")
        assert lock(memory).is_symlink() == is_link
        lock(memory).unlink()
        (tmp_path / "elsewhere").touch()
        lock(memory).symlink_to(tmp_path / "elsewhere")


def test_a_git_that_is_alive_keeps_its_lock(memory: Memory) -> None:
    with killed(memory, LEFT["nothing"]):
        add(memory, "one")
    writes = threading.Timer(0.1, lambda: lock(memory).write_bytes(THEIRS))
    writes.start()
    with pytest.raises(RepositoryState, match=r"main\.lock"):
        add(memory, "two")
    writes.join()
    assert lock(memory).read_bytes() == THEIRS


def test_a_git_of_ours_that_was_killed_alone_leaves_no_lock(memory: Memory) -> None:
    died = GitFailed("git update-ref was killed.")
    with update_ref_dies(LEFT["a part"], died, memory), pytest.raises(GitFailed, match="killed"):
        add(memory, "one")
    assert not lock(memory).exists()
    assert add(memory, "one")


def test_a_lock_that_no_git_holds_so_long_is_named_by_doctor(memory: Memory) -> None:
    lock(memory).write_bytes(THEIRS)
    assert memory.doctor() == [], "a living git may hold it for a moment"
    long_ago = time.time() - 100
    os.utime(lock(memory), (long_ago, long_ago))
    (finding,) = memory.doctor()
    assert (finding.check, finding.path) == ("git", str(lock(memory)))
    assert "remove it" in finding.message
    assert memory.doctor(fix=True) == [finding]


# The journal is followed when it is ours, and only inside the folder that it is for.

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def journals(tmp_path: Path) -> Journals:
    (tmp_path / "tree" / "notes").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return Journals(tmp_path / "room", tmp_path / "tree")


def journal_in(folder: Path) -> Journal:
    file = "line\nbreak \udcff.md"
    move = Move(file, "a" * 64, None, f"{MARK}1-0.new", f"{MARK}1-0.old", False)
    entries = {file: None, "b.md": Blob("100644", COMMIT)}
    return Journal("0123456789ab", str(folder), [move], "refs/heads/main", None, COMMIT, entries)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return journal_in(tmp_path / "tree" / "notes")


def test_it_is_read_as_it_was_written_and_says_that_the_branch_moved_until_it_is_dropped(
    journals: Journals, journal: Journal
) -> None:
    assert journals.read() is None
    assert not journals.is_open()
    journals.write(journal)
    assert (journals.is_open(), journals.has_moved()) == (True, False)
    assert journals.read() == journal
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
    "a link in the tree": lambda raw: raw["entries"]["b.md"].update(mode="120000"),
    "a field of its own": lambda raw: raw.update(more=1),
    "no moves": lambda raw: raw.pop("moves"),
    "no files": lambda raw: raw.update(moves=[1]),
    "no folder": lambda raw: raw.update(folder=7),
}


@pytest.mark.parametrize("way", BENT)
def test_a_bent_journal_is_not_followed(way: str, journals: Journals, journal: Journal) -> None:
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


def test_a_folder_behind_a_link_is_elsewhere(journals: Journals, tmp_path: Path) -> None:
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "outside")
    journals.write(journal_in(tmp_path / "tree" / "link"))
    with pytest.raises(MdmemoryError, match="lies elsewhere"):
        journals.read()


def test_nothing_is_written_through_a_link_in_the_place_of_the_room(
    journals: Journals, journal: Journal, tmp_path: Path
) -> None:
    journals.room.symlink_to(tmp_path / "outside")
    with pytest.raises(RepositoryState, match="symbolic link"):
        journals.write(journal)
    (tmp_path / "outside" / "journal.json").write_text("{}")
    with pytest.raises(RepositoryState, match="symbolic link"):
        journals.read()
