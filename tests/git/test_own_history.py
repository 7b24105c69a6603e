"""A folder's history becomes a repository's own: what was said of the notes, by whom and when."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.errors import GitFailed
from mdmemory.files import digest
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.own_history import FROM, Carried, carry
from mdmemory.git.transaction import Change
from mdmemory.git.waiting import PAST, Waiting
from mdmemory.store.writer import Group, Writer

Git = Callable[..., str]
Take = Callable[..., Carried]
TOLD = "--format=%an %ae %at %ai|%cn %ce %ct|%B"


@pytest.fixture
def own(tmp_path: Path, git: Git) -> Path:
    """Where the history goes: a repository without a commit."""
    folder = tmp_path / "own"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--template=")
    return folder


@pytest.fixture
def take(repository: Path, own: Path) -> Take:
    """`take()` carries the history of notes/memory in `repository` to `own`."""

    def run(folder: str = "notes/memory") -> Carried:
        before = sorted((repository / ".git").rglob("*"))
        old, new = repositories.find(repository), repositories.find(own)
        assert old is not None
        assert new is not None
        done = carry(History(old, repository / folder), new)
        assert sorted((repository / ".git").rglob("*")) == before, "the project was written to"
        return done

    return run


def commit(git: Git, repository: Path, message: str, **files: str | None) -> str:
    for name, text in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", message)
    return git(repository, "rev-parse", "HEAD").strip()


def test_authors_dates_messages_and_trailers_stay_and_code_does_not_come(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    commit(git, repository, "code alone", src="1")
    commit(git, repository, "both\n\nMemory-Id: m-1", src="2", notes__memory__a="one")
    git(repository, "commit", "-q", "--amend", "--no-edit", "--author=Zoë <z@x>",
        "--date=2020-01-02T03:04:05+0530")  # fmt: skip
    commit(git, repository, "memory: remove a", notes__memory__a=None)
    assert take().head == git(own, "rev-parse", "HEAD").strip()
    assert git(own, "log", TOLD) == git(repository, "log", TOLD, "--", "notes/memory")
    assert git(own, "rev-parse", "HEAD^{tree}") == git(repository, "rev-parse", "HEAD:notes/memory")
    assert git(own, "ls-tree", "-r", "--name-only", "HEAD~1").split()[0] == "a"
    assert "src" not in git(own, "log", "--name-only", "--format=")


def test_both_sides_of_a_merge_come_along(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    git(repository, "switch", "-q", "-c", "side")
    commit(git, repository, "on the side", notes__memory__side="s")
    git(repository, "switch", "-q", "main")
    commit(git, repository, "on main", notes__memory__main="m")
    git(repository, "merge", "-q", "-m", "together", "side")
    take()
    assert git(own, "rev-list", "--merges", "--count", "HEAD").strip() == "1"
    assert {"on the side", "on main"} <= {*git(own, "log", "--format=%s").split("\n")}


def test_a_side_whose_notes_were_not_taken_is_still_in_the_history(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    git(repository, "switch", "-q", "-c", "side")
    commit(git, repository, "thrown away later", notes__memory__side="s")
    git(repository, "switch", "-q", "main")
    commit(git, repository, "on main", notes__memory__main="m")
    git(repository, "merge", "-q", "-s", "ours", "-m", "ours", "side")
    take()
    assert "thrown away later" in git(own, "log", "--format=%s")


def test_the_time_before_the_store_was_moved_belongs_to_it(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    git(repository, "mv", "notes", "elsewhere")
    commit(git, repository, "the store moves")
    commit(git, repository, "another", elsewhere__memory__b="b")
    git(repository, "mv", "elsewhere/memory", "kept")
    commit(git, repository, "and moves again")
    take("kept")
    subjects = git(own, "log", "--format=%s").split("\n")[:-1]
    assert subjects == ["and moves again", "another", "the store moves", "notes"]
    assert git(own, "ls-tree", "--name-only", "HEAD~3") == git(own, "ls-tree", "--name-only",
                                                              "HEAD~2")  # fmt: skip


def test_a_message_that_names_another_commit_names_it_as_it_is_called_now(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    first = commit(git, repository, "memory: a", notes__memory__a="1")
    code = commit(git, repository, "code", src="1")
    said = f"back\n\nThis reverts commit {first}.\n\nSee {code}.\n\nMemory-Checkpoint: {first[:9]}"
    commit(git, repository, said, notes__memory__a=None)
    done = take()
    now = done.new[first]
    message = git(own, "log", "-1", "--format=%B")
    assert message == said.replace(first, now).replace(first[:9], now[:9]) + "\n\n"
    history = History(repositories.find(own), own)  # type: ignore[arg-type]
    assert history.undone() == {now}


def test_a_signature_stays_behind_and_is_counted(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    raw = git(repository, "cat-file", "commit", "HEAD")
    signed = raw.replace("\n\n", "\ngpgsig -----BEGIN\n \n line\n -----END\n\n", 1)
    id = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", text=signed).strip()
    git(repository, "reset", "-q", "--soft", id)
    assert take().signed == 1
    assert "gpgsig" not in git(own, "cat-file", "commit", "HEAD")
    git(own, "fsck", "--strict")


def test_a_message_in_another_encoding_keeps_its_bytes(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    (store / "c").write_text("c")
    git(repository, "add", ".")
    words = ["git", "-c", "i18n.commitEncoding=latin-1", "commit", "-q", "-F-"]
    subprocess.run(words, cwd=repository, input="Käse".encode("latin-1"), check=True, timeout=HUNG)
    take()
    assert git(own, "log", "-1", "--encoding=UTF-8", "--format=%s") == "Käse\n"


def test_notes_of_another_branch_are_on_a_branch_of_their_own(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    git(repository, "branch", "old")
    git(repository, "switch", "-q", "-c", "team/idea")
    commit(git, repository, "an idea", notes__memory__idea="i")
    git(repository, "switch", "-q", "main")
    git(repository, "switch", "-q", "-c", "code")
    commit(git, repository, "code", src="1")
    git(repository, "switch", "-q", "main")
    commit(git, repository, "on main", notes__memory__main="m")
    done = take()
    assert [*done.refs] == [f"{FROM}team/idea"]
    assert git(own, "show", "from/team/idea:idea") == "i"


def test_what_waits_goes_on_waiting_and_is_committed_by_the_next_command(
    repository: Path, store: Path, own: Path, git: Git, take: Take,
    open_writer: Callable[..., Writer],
) -> None:  # fmt: skip
    (own / "mdmemory.toml").write_text('store = "."\n')
    writer = open_writer(repository)
    writer.automatic = True
    old = (store / "user-name.md").read_bytes()
    new = old + b"More.\n"
    loose = (store / "project-plan.md").read_bytes() + b"By hand.\n"
    (store / "project-plan.md").write_bytes(loose)
    with writer.locked():
        for file, before in (("user-name.md", old), ("project-plan.md", loose)):
            change = Change(file, digest(before), new)
            writer.write(f"memory: change {file}", [Group("edit", (change,))], kind="edit")
    done = take()
    assert Waiting.ref_of() in done.refs
    for path in store.glob("*.md"):
        (own / path.name).write_bytes(path.read_bytes())
    git(own, "read-tree", "HEAD")
    git(own, "config", "user.name", "A Person")
    git(own, "config", "user.email", "person@example.com")
    with open_writer(own, ".").locked():
        pass
    assert "memory: change user-name.md" in git(own, "log", "--format=%s")
    assert git(own, "show", "HEAD:user-name.md").encode() == new
    everything = git(own, "rev-list", "--objects", "--all")
    kept = git(own, "hash-object", "--stdin", text=loose.decode()).strip()
    assert kept in everything, "bytes that an automatic write replaced are lost"


def test_kept_and_staged_bytes_stay_reachable(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    for number, ref in enumerate((PAST, "refs/mdmemory/staged", "refs/mdmemory/keep/waiting/ab12")):
        git(repository, "switch", "-q", "--detach", "main")
        commit(git, repository, "kept", notes__memory__kept=f"kept {number}")
        git(repository, "update-ref", ref, "HEAD")
    git(repository, "switch", "-q", "main")
    done = take()
    texts = {git(own, "show", f"{ref}:kept") for ref in done.refs}
    assert texts == {"kept 0", "kept 1", "kept 2"}


def test_a_store_in_no_commit_has_no_history(repository: Path, own: Path, take: Take) -> None:
    assert take().head is None


def test_a_branch_without_commits_has_no_history(
    repository: Path, own: Path, git: Git, take: Take
) -> None:
    git(repository, "switch", "-q", "--orphan", "fresh")
    git(repository, "branch", "-q", "-D", "main")
    assert take().head is None


def test_a_shallow_clone_gives_what_it_has(
    repository: Path, store: Path, own: Path, tmp_path: Path, git: Git
) -> None:
    for number in range(4):
        commit(git, repository, f"change {number}", notes__memory__n=str(number))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{repository}", str(clone))
    old, new = repositories.find(clone), repositories.find(own)
    assert old is not None
    assert new is not None
    done = carry(History(old, clone / "notes" / "memory"), new)
    assert done.is_shallow
    assert git(own, "log", "--format=%s").split() == "change 3 change 2".split()
    git(own, "fsck", "--strict")


def test_a_repository_that_lacks_bytes_is_refused(
    repository: Path, store: Path, own: Path, git: Git, take: Take
) -> None:
    blob = git(repository, "rev-parse", "HEAD:notes/memory/user-name.md").strip()
    os.unlink(repository / ".git" / "objects" / blob[:2] / blob[2:])
    with pytest.raises(GitFailed):
        take()


def test_an_object_folder_with_an_odd_name_is_read(tmp_path: Path, git: Git) -> None:
    top, own = tmp_path / 'a:b "c\\', tmp_path / "own"
    for folder in (top, own):
        folder.mkdir()
        git(folder, "init", "-q", "--object-format=sha256", "--template=")
        git(folder, "config", "user.name", "A Person")
        git(folder, "config", "user.email", "person@example.com")
    commit(git, top, "first", notes__memory__a="1")
    old, new = repositories.find(top), repositories.find(own)
    assert old is not None
    assert new is not None
    carry(History(old, top / "notes" / "memory"), new)
    assert git(own, "show", "HEAD:a") == "1"
