"""`init`: one commit of exactly its own files, and nothing of the person's is touched."""

from pathlib import Path

import pytest
from projects import Git, Patch, bytes_below

from mdmemory import Memory
from mdmemory.actions.setup import remove_store
from mdmemory.errors import BadSetting, MdmemoryError, NoStore, RepositoryState, UsageError
from mdmemory.store.index import MARKER

OWN_FILES = ["mdmemory.toml", "notes/memory/.gitattributes", "notes/memory/MEMORY.md"]


def committed(git: Git, folder: Path, commit: str = "HEAD") -> list[str]:
    names = git(folder, "show", "--format=", "--name-only", "-z", commit)
    return [name for name in names.split("\0") if name]


def made(root: Path) -> Path:
    """A folder that is to be a store."""
    store = root / "notes" / "memory"
    store.mkdir(parents=True)
    return store


def test_init_commits_exactly_its_files_and_leaves_what_is_staged(
    repository: Path, git: Git
) -> None:
    (repository / "staged.txt").write_text("mine\n", encoding="utf-8")
    git(repository, "add", "staged.txt")
    (repository / "README").write_text("changed\n", encoding="utf-8")
    Memory.init(repository)
    assert committed(git, repository) == OWN_FILES
    assert git(repository, "status", "--porcelain") == " M README\nA  staged.txt\n"


def test_init_makes_a_repository_where_there_is_none(tmp_path: Path, git: Git) -> None:
    Memory.init(tmp_path / "fresh" / "deep")
    assert committed(git, tmp_path / "fresh" / "deep") == OWN_FILES


def test_a_persons_own_memory_file_becomes_a_note_at_once(repository: Path, git: Git) -> None:
    store = made(repository)
    own = b"\xef\xbb\xbf# What I know\r\n\r\n- by hand\r\n"
    (store / "MEMORY.md").write_bytes(own)
    git(repository, "add", "notes")
    git(repository, "commit", "-qm", "mine")
    _, setup = Memory.init(repository)
    assert (store / "memory-before-mdmemory.md").read_bytes() == own
    text = (store / "MEMORY.md").read_text(encoding="utf-8")
    assert text.startswith(MARKER)
    assert "(memory-before-mdmemory.md)" in text
    assert "notes/memory/memory-before-mdmemory.md" in committed(git, repository)
    assert any("memory-before-mdmemory.md" in sentence for sentence in setup.said)
    assert git(repository, "status", "--porcelain") == ""


def test_an_untracked_memory_file_of_a_person_becomes_a_note_under_a_free_name(
    repository: Path,
) -> None:
    store = made(repository)
    (store / "MEMORY.md").write_bytes(b"mine\n")
    (store / "memory-before-mdmemory.md").write_bytes(b"taken\n")
    Memory.init(repository)
    assert (store / "memory-before-mdmemory.md").read_bytes() == b"taken\n"
    assert (store / "memory-before-mdmemory-2.md").read_bytes() == b"mine\n"


def test_notes_that_were_there_are_indexed_and_not_committed(repository: Path, git: Git) -> None:
    store = made(repository)
    (store / "by-hand.md").write_bytes(b"Something by hand.\n")
    Memory.init(repository)
    assert "(by-hand.md)" in (store / "MEMORY.md").read_text(encoding="utf-8")
    assert git(repository, "status", "--porcelain") == "?? notes/memory/by-hand.md\n"


def test_a_person_s_gitattributes_keep_their_lines(repository: Path) -> None:
    store = made(repository)
    (store / ".gitattributes").write_bytes(b"*.png binary")
    Memory.init(repository)
    lines = (store / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "*.png binary"
    assert set(lines) >= {"*.md -text", "MEMORY.md merge=union", "_CONFLICTS.md merge=union"}


def test_converted_line_ends_are_not_turned_into_changes(repository: Path, git: Git) -> None:
    store = made(repository)
    (store / "one.md").write_bytes(b"one\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "notes")
    git(repository, "config", "core.autocrlf", "true")
    (store / "one.md").unlink()
    git(repository, "checkout", "--", "notes")
    assert (store / "one.md").read_bytes() == b"one\r\n"
    _, setup = Memory.init(repository)
    assert "-text" not in (store / ".gitattributes").read_text(encoding="utf-8")
    assert any("doctor" in sentence for sentence in setup.said)
    assert git(repository, "status", "--porcelain") == ""


def test_an_untracked_index_is_ignored_and_written(repository: Path, git: Git) -> None:
    text = 'store = "notes/memory"\n[index]\ntracked = false\n'
    (repository / "mdmemory.toml").write_text(text, encoding="utf-8")
    memory, _ = Memory.init(repository)
    expected = ["notes/memory/.gitattributes", "notes/memory/.gitignore"]
    assert committed(git, repository) == expected
    memory.add("a-note", type="user", description="A note.", body="A note.")
    assert committed(git, repository) == ["notes/memory/user-a-note.md"]
    assert "(user-a-note.md)" in (memory.project.store / "MEMORY.md").read_text(encoding="utf-8")


def test_a_store_of_its_own_is_shared_by_worktrees_and_unseen_by_the_outer_repository(
    tmp_path: Path, repository: Path, git: Git
) -> None:
    memory, setup = Memory.init(repository, own_repo=True)
    store = memory.project.store
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "log", "--format=%s") == "first\n"
    assert committed(git, store) == [".gitattributes", "MEMORY.md"]
    memory.add("a-note", type="user", description="A note.", body="A note.")
    assert "user-a-note.md" in committed(git, store)
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked))
    assert Memory.open(linked).project.store == store
    _, again = Memory.init(repository, own_repo=True)
    assert again.commit is None
    assert any("of its own" in sentence for sentence in setup.said)


def test_a_store_of_its_own_is_taken_out_whole_while_it_has_no_note(repository: Path) -> None:
    exclude = repository / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("/mine\n")
    before = bytes_below(repository), exclude.read_bytes()
    memory, _ = Memory.init(repository, own_repo=True)
    assert len(remove_store(memory.project)) == 1
    assert (bytes_below(repository), exclude.read_bytes()) == before
    memory, _ = Memory.init(repository, own_repo=True)
    memory.add("a", type="project", description="A")
    kept = bytes_below(repository)
    assert "it stays" in remove_store(memory.project)[0]
    assert bytes_below(repository) == kept


@pytest.mark.parametrize("ref", ["refs/heads/old", "refs/tags/v1", "refs/remotes/origin/old"])
def test_a_store_of_its_own_never_lies_where_a_branch_or_tag_has_files(
    ref: str, repository: Path, git: Git
) -> None:
    (repository / "notes/memory").mkdir(parents=True)
    (repository / "notes/memory/plan.md").write_text("a plan")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "once")
    git(repository, "update-ref", ref, "HEAD")
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    before = sorted(repository.rglob("*"))
    with pytest.raises(RepositoryState, match="a switch to it") as refused:
        Memory.init(repository, own_repo=True)
    assert ref in str(refused.value)
    assert "--store" in refused.value.hint
    assert sorted(repository.rglob("*")) == before


def test_a_store_of_its_own_needs_an_outer_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Memory.init(tmp_path / "plain", own_repo=True)
    assert not (tmp_path / "plain" / "mdmemory.toml").exists()


def test_a_shared_repository_is_named_as_what_others_read(repository: Path, git: Git) -> None:
    git(repository, "remote", "add", "origin", "nowhere")
    other = ("-c", "user.email=other@example.com")
    git(repository, *other, "commit", "-q", "--allow-empty", "-m", "x")
    _, setup = Memory.init(repository)
    assert any("--here" in sentence for sentence in setup.said)


def test_the_file_s_word_on_the_store_wins_over_another_option(repository: Path) -> None:
    Memory.init(repository, store="memory")
    with pytest.raises(BadSetting, match="says that the store is memory"):
        Memory.init(repository, store="elsewhere")
    assert Memory.open(repository).project.store == repository / "memory"


def test_init_is_refused_where_notes_would_not_be_safe(repository: Path, git: Git) -> None:
    def is_refused(kind: type[MdmemoryError], says: str) -> None:
        before = bytes_below(repository)
        with pytest.raises(kind, match=says) as problem:
            Memory.init(repository)
        assert problem.value.hint
        assert bytes_below(repository) == before

    attributes, notes = repository / ".gitattributes", repository / "notes"
    attributes.write_text("*.md filter=crypt\n", encoding="utf-8")
    is_refused(RepositoryState, "content filter")
    attributes.unlink()
    notes.symlink_to(repository.parent)
    is_refused(NoStore, "symbolic link")
    notes.unlink()
    notes.write_text("a file", encoding="utf-8")
    is_refused(NoStore, "is a file")
    notes.unlink()
    git(repository, "checkout", "-q", "--detach")
    is_refused(RepositoryState, "detached")


def test_without_git_a_store_says_what_it_cannot_do(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    store = made(tmp_path / "p")
    (store / "MEMORY.md").write_bytes(b"mine\n")
    memory, setup = Memory.init(tmp_path / "p")
    assert (store / "memory-before-mdmemory.md").read_bytes() == b"mine\n"
    assert "git is not installed" in setup.said[0]
    memory.add("a-note", type="user", description="A note.", body="A note.")
    assert "(user-a-note.md)" in (store / "MEMORY.md").read_text(encoding="utf-8")


# A store inside a project is named by doctor: what is built or cleaned there may touch it.


def findings_of(project: Path, check: str) -> list[str]:
    return [each.message for each in Memory.open(project).doctor() if each.check == check]


def project_with(repository: Path, **how: bool) -> Memory:
    memory, _ = Memory.init(repository, **how)
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    return memory


def test_of_a_store_in_a_project_doctor_says_what_may_take_it(repository: Path, git: Git) -> None:
    project_with(repository, own_repo=True)
    (message,) = findings_of(repository, "packages")
    assert "add `notes/memory/` and `.mdmemory/` to .npmignore, .dockerignore" in message
    assert len(findings_of(repository, "place")) == 1
    git(repository, "clean", "-fdxq")
    assert (repository / "notes/memory/user-tea.md").exists(), "one -f passes over it"
    git(repository / "notes/memory", "remote", "add", "origin", "elsewhere")
    assert findings_of(repository, "place") == []
    assert len(findings_of(repository, "packages")) == 1


@pytest.mark.parametrize("how", [{"home": True}, {}])
def test_of_a_store_elsewhere_or_of_the_projects_git_it_says_nothing(
    repository: Path, how: dict[str, bool]
) -> None:
    checks = {each.check for each in project_with(repository, **how).doctor()}
    assert not checks & {"packages", "place"}
