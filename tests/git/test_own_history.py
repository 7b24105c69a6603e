"""A folder's history becomes a repository's own: what was said of the notes, by whom and when."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG
from projects import commit_all, git, tip

from mdmemory.errors import GitFailed
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.filter_repo import FROM, Carried, carry

Take = Callable[..., Carried]
TOLD = "--format=%an %ae %at %ai|%cn %ce %ct|%B"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Where the history goes: a repository without a commit."""
    folder = tmp_path / "own"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--template=")
    return folder


@pytest.fixture
def old(repository: Path, store: Path) -> Path:
    """The project's repository, with a store in it."""
    return repository


@pytest.fixture
def take(repository: Path, own: Path) -> Take:
    """`take()` carries the history of notes/memory in `repository` to `own`."""

    def run(folder: str = "notes/memory") -> Carried:
        before = sorted((repository / ".git").rglob("*"))
        done = carry_from(repository, own, folder)
        assert sorted((repository / ".git").rglob("*")) == before, "the project was written to"
        return done

    return run


def carry_from(repository: Path, own: Path, folder: str = "notes/memory") -> Carried:
    return carry(
        History(repositories.find(repository), repository / folder), repositories.find(own)
    )


def commit(repository: Path, message: str, **files: str | None) -> str:
    for name, text in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if text is None else path.write_text(text)
    return commit_all(repository, message)


def test_all_that_was_said_stays_and_no_code_comes(old: Path, own: Path, take: Take) -> None:
    commit(old, "code alone", src="1")
    commit(old, "both\n\nMemory-Id: m-1", src="2", notes__memory__a="one")
    git(old, "commit", "-q", "--amend", "--no-edit", "--author=Zoë <z@x>",
        "--date=2020-01-02T03:04:05+0530")  # fmt: skip
    commit(old, "memory: remove a", notes__memory__a=None)
    assert take().head == tip(own)
    assert git(own, "log", TOLD) == git(old, "log", TOLD, "--", "notes/memory")
    assert tip(own, "HEAD^{tree}") == tip(old, "HEAD:notes/memory")
    assert git(own, "ls-tree", "-r", "--name-only", "HEAD~1").split()[0] == "a"
    assert "src" not in git(own, "log", "--name-only", "--format=")


def test_a_side_that_was_not_taken_is_in_the_history(old: Path, own: Path, take: Take) -> None:
    git(old, "switch", "-q", "-c", "side")
    commit(old, "thrown away later", notes__memory__side="s")
    git(old, "switch", "-q", "main")
    commit(old, "on main", notes__memory__main="m")
    git(old, "merge", "-q", "-s", "ours", "-m", "ours", "side")
    take()
    assert git(own, "rev-list", "--merges", "--count", "HEAD").strip() == "1"
    assert {"thrown away later", "on main"} <= {*git(own, "log", "--format=%s").split("\n")}


def test_the_history_begins_where_the_folder_got_its_name(old: Path, own: Path, take: Take) -> None:
    git(old, "mv", "notes/memory", "kept")
    commit(old, "the store moves")
    commit(old, "another", kept__b="b")
    take("kept")
    assert git(own, "log", "--format=%s").splitlines() == ["another", "the store moves"]
    assert git(own, "show", "HEAD~1:user-name.md") == git(old, "show", "HEAD:kept/user-name.md")


def test_a_commit_is_named_as_it_is_called_now(old: Path, own: Path, take: Take) -> None:
    first = commit(old, "memory: a", notes__memory__a="1")
    code = commit(old, "code", src="1")
    said = f"back\n\nThis reverts commit {first}.\n\nSee {code}.\n\nMemory-Checkpoint: {first[:9]}"
    commit(old, said, notes__memory__a=None)
    now = take().new[first]
    message = git(own, "log", "-1", "--format=%B")
    assert message == said.replace(first, now).replace(first[:9], now[:9]) + "\n\n"
    history = History(repositories.find(own), own)  # type: ignore[arg-type]
    assert history.list_undone() == {now}


def test_a_signature_stays_behind_and_is_counted(old: Path, own: Path, take: Take) -> None:
    raw = git(old, "cat-file", "commit", "HEAD")
    signed = raw.replace("\n\n", "\ngpgsig -----BEGIN\n \n line\n -----END\n\n", 1)
    id = git(old, "hash-object", "-t", "commit", "-w", "--stdin", text=signed).strip()
    git(old, "reset", "-q", "--soft", id)
    assert take().signed == 1
    assert "gpgsig" not in git(own, "cat-file", "commit", "HEAD")
    git(own, "fsck", "--strict")


def test_a_message_in_another_encoding_keeps_its_bytes(old: Path, own: Path, take: Take) -> None:
    (old / "notes/memory/c").write_text("c")
    git(old, "add", ".")
    words = ["git", "-c", "i18n.commitEncoding=latin-1", "commit", "-q", "-F-"]
    subprocess.run(words, cwd=old, input="Käse".encode("latin-1"), check=True, timeout=HUNG)
    take()
    assert git(own, "log", "-1", "--encoding=UTF-8", "--format=%s") == "Käse\n"


def test_another_branch_has_a_branch_of_its_own(old: Path, own: Path, take: Take) -> None:
    git(old, "branch", "old")
    git(old, "switch", "-q", "-c", "team/idea")
    commit(old, "an idea", notes__memory__idea="i")
    git(old, "switch", "-q", "main")
    git(old, "switch", "-q", "-c", "code")
    commit(old, "code", src="1")
    git(old, "switch", "-q", "main")
    commit(old, "on main", notes__memory__main="m")
    assert [*take().refs] == [f"{FROM}team/idea"]
    assert git(own, "show", "from/team/idea:idea") == "i"


def test_without_a_commit_there_is_no_history(repository: Path, own: Path, take: Take) -> None:
    assert take().head is None
    git(repository, "switch", "-q", "--orphan", "fresh")
    git(repository, "branch", "-q", "-D", "main")
    assert take().head is None


def test_a_shallow_clone_gives_what_it_has(old: Path, own: Path, tmp_path: Path) -> None:
    for number in range(4):
        commit(old, f"change {number}", notes__memory__n=str(number))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{old}", str(clone))
    assert carry_from(clone, own).is_shallow
    assert git(own, "log", "--format=%s").split() == "change 3 change 2".split()
    git(own, "fsck", "--strict")


def test_a_repository_that_lacks_bytes_is_refused(old: Path, own: Path, take: Take) -> None:
    blob = tip(old, "HEAD:notes/memory/user-name.md")
    os.unlink(old / ".git" / "objects" / blob[:2] / blob[2:])
    with pytest.raises(GitFailed):
        take()


def test_an_object_folder_with_an_odd_name_is_read(tmp_path: Path) -> None:
    top, own = tmp_path / 'a:b "c\\', tmp_path / "own"
    for folder in (top, own):
        folder.mkdir()
        git(folder, "init", "-q", "--object-format=sha256", "--template=")
        git(folder, "config", "user.name", "A Person")
        git(folder, "config", "user.email", "person@example.com")
    commit(top, "first", notes__memory__a="1")
    carry_from(top, own)
    assert git(own, "show", "HEAD:a") == "1"
