"""The line in a person's git hooks: it keeps the index fresh, and nobody notices it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from stores import BeginStore

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.errors import MdmemoryError
from mdmemory.hosts import git_hooks

Git = Callable[..., str]
HOOKS = ("post-checkout", "post-commit", "post-merge", "post-rewrite")
PROGRAM = [sys.executable, "-P", "-m", "mdmemory"]


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store()


@pytest.fixture
def hooks(repository: Path) -> Path:
    return repository / ".git/hooks"


@pytest.fixture
def installed(memory: Memory) -> Memory:
    """The store with a line in each hook."""
    git_hooks.install_hooks(memory.project, git_hooks.program_words())
    return memory


def put(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return path


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mode) for p in folder.iterdir()}


def note(root: Path, text: str = "Uses tabs.", name: str = "a") -> None:
    (root / f"notes/memory/{name}.md").write_text(f"{text}\n", "utf-8")


def commit(git: Git, root: Path, subject: str, *names: str) -> None:
    git(root, "add", *(names or ["-A"]))
    git(root, "commit", "-qm", subject)


def add(memory: Memory, *names: str) -> None:
    for name in names:
        memory.add(name, type="user", description=f"Is {name}.", body=f"Is {name}.")


def index(repository: Path) -> str:
    return (repository / "notes/memory/MEMORY.md").read_text("utf-8")


def test_install_and_remove_leave_what_was_there(memory: Memory, hooks: Path) -> None:
    mine = put(hooks / "post-commit", "#!/usr/bin/env bash\nset -eu\necho mine\nexit 0\n", 0o700)
    put(hooks / "post-checkout", "echo without a shebang")
    before = snapshot(hooks)
    assert git_hooks.install_hooks(memory.project, PROGRAM) == [
        "MEMORY.md now follows git: a line in post-commit, post-merge, post-checkout and "
        f"post-rewrite in {hooks}."
    ]
    installed, text = snapshot(hooks), mine.read_text("utf-8")
    assert (sorted(installed), text.count(" mdmemory index ")) == (sorted(HOOKS), 1)
    assert text.startswith("#!/usr/bin/env bash\n[ -n ")
    assert mine.stat().st_mode & 0o777 == 0o700
    assert all(os.access(hooks / name, os.X_OK) for name in HOOKS)
    assert (git_hooks.install_hooks(memory.project, PROGRAM), snapshot(hooks)) == ([], installed)
    assert (len(git_hooks.remove_hooks(memory.project)), snapshot(hooks)) == (4, before)
    assert git_hooks.remove_hooks(memory.project) == []


def test_a_program_that_moved_replaces_the_line(memory: Memory, hooks: Path) -> None:
    hook = hooks / "post-merge"
    git_hooks.install_hooks(memory.project, ["/old/mdmemory"])
    put(hook, hook.read_text("utf-8") + "echo mine\n")
    git_hooks.install_hooks(memory.project, ["/new place/mdmemory"])
    text = hook.read_text("utf-8")
    assert ("'/new place/mdmemory' index" in text, "/old/" in text) == (True, False)
    git_hooks.remove_hooks(memory.project)
    assert ([*hooks.iterdir()], hook.read_text("utf-8")) == ([hook], "#!/bin/sh\necho mine\n")


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        ("#!/usr/bin/env python3\nprint()\n", 0o755, "it is written for python3, no shell"),
        ("#!/usr/bin/env -S A=b node --x\n", 0o755, "it is written for node, no shell"),
        ("\x7fELF\0", 0o755, "it is a compiled program"),
        ("#!/bin/sh\n", 0o644, "it is not executable"),
        ("#!/bin/sh\n", 0o755, "it is a link"),
    ],
)
def test_a_hook_that_the_line_does_not_fit_is_left_and_named(
    memory: Memory, hooks: Path, tmp_path: Path, content: str, mode: int, words: str
) -> None:
    hook = put(tmp_path / "shared" if "link" in words else hooks / "post-merge", content, mode)
    if "link" in words:
        (hooks / "post-merge").symlink_to(hook)
    before = hook.read_bytes()
    said = git_hooks.install_hooks(memory.project, PROGRAM)
    assert said[0].endswith(f"a line in post-commit, post-checkout and post-rewrite in {hooks}.")
    assert words in said[1]
    assert (hook.read_bytes(), hook.stat().st_mode & 0o777) == (before, mode)


@pytest.mark.slow
def test_the_index_follows_commit_checkout_merge_and_rebase(
    installed: Memory, repository: Path, git: Git
) -> None:
    note(repository)
    commit(git, repository, "by hand")
    assert "(a.md)" in index(repository)  # post-commit
    commit(git, repository, "index")
    git(repository, "switch", "-qc", "side", "HEAD~2")
    assert "(a.md)" not in index(repository)
    note(repository, "Drinks tea.", "b")
    commit(git, repository, "tea")
    git(repository, "checkout", "-q", "main", "--", "notes/memory/a.md")  # post-checkout
    assert "(a.md)" in index(repository)
    git(repository, "reset", "-q", "--hard", "side")
    git(repository, "rebase", "-q", "main")  # post-rewrite
    assert [f"({name}.md)" in index(repository) for name in "ab"] == [True, True]
    commit(git, repository, "index")
    git(repository, "switch", "-q", "main")
    git(repository, "merge", "-q", "side")  # post-merge
    assert "(b.md)" in index(repository)


def test_a_rebase_of_stale_indexes_is_not_stopped_by_a_fresh_one(
    memory: Memory, repository: Path, git: Git
) -> None:
    """Each commit on the branch holds a MEMORY.md that is not what the notes then say."""
    git(repository, "switch", "-qc", "side")
    add(memory, "a", "b")
    git(repository, "switch", "-q", "main")
    add(memory, "c", "d")
    note(repository, "not in any index", "e")
    commit(git, repository, "without the index", "notes/memory/e.md")
    git_hooks.install_hooks(memory.project, git_hooks.program_words())
    git(repository, "switch", "-q", "side")
    git(repository, "checkout", "-q", "HEAD", "--", "notes/memory/MEMORY.md")
    git(repository, "rebase", "-q", "main")
    assert [f"user-{name}.md" in index(repository) for name in "abcd"] == [True] * 4
    assert memory.index(check=True).changed == ()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["rebase", "merge"])
def test_what_git_stashed_by_itself_is_given_back(
    memory: Memory, repository: Path, git: Git, way: str
) -> None:
    git(repository, "switch", "-qc", "side")
    add(memory, "a")
    git(repository, "switch", "-q", "main")
    add(memory, "b")
    note(repository, "not in any index", "e")
    commit(git, repository, "without the index", "notes/memory/e.md")
    git(repository, "checkout", "-qf", "side")
    git_hooks.install_hooks(memory.project, git_hooks.program_words())
    note(repository, "not committed", "c")
    memory.index()
    (repository / "README").write_text("work\n", "utf-8")
    git(repository, way, "-q", "--autostash", "main")
    assert (repository / "README").read_text("utf-8") == "work\n"
    assert git(repository, "stash", "list") == ""


def test_a_failing_or_disabled_mdmemory_is_not_noticed(
    memory: Memory, repository: Path, hooks: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hooks / "post-checkout", "#!/bin/sh\nset -eu\nexit 3\n")
    git_hooks.install_hooks(memory.project, ["/nowhere/mdmemory"])
    done = subprocess.run(["git", "-C", repository, "switch", "-c", "x"], capture_output=True)
    # git passes on that the hook of the person failed, as it did before
    assert (done.returncode, done.stdout, b"nowhere" in done.stderr) == (1, b"", False)
    git_hooks.install_hooks(memory.project, git_hooks.program_words())
    monkeypatch.setenv("MDMEMORY_DISABLE", "1")
    note(repository)
    commit(git, repository, "by hand")
    assert "(a.md)" not in index(repository)


def test_a_branch_without_a_store_gets_none(installed: Memory, repository: Path, git: Git) -> None:
    git(repository, "switch", "-q", "--detach", "HEAD~1")
    assert sorted(path.name for path in repository.iterdir()) == [".git", ".mdmemory", "README"]


@pytest.mark.slow
def test_a_project_below_the_top_and_a_linked_worktree_are_found(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    memory, _ = Memory.init(repository / "it's one")
    git_hooks.install_hooks(memory.project, git_hooks.program_words())
    other = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", "-b", "side", str(other))
    note(other / "it's one")
    commit(git, other, "by hand")
    assert "(a.md)" in index(other / "it's one")
    assert "(a.md)" not in index(memory.project.root)


def test_a_store_that_is_its_own_repository_has_its_own_hooks(repository: Path, git: Git) -> None:
    memory, _ = Memory.init(repository, own_repo=True)
    git_hooks.install_hooks(memory.project, git_hooks.program_words())
    store = memory.project.store
    (store / "a.md").write_text("Uses tabs.\n", "utf-8")
    git(store, "add", "-A")
    git(store, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "by hand")
    assert "(a.md)" in (store / "MEMORY.md").read_text("utf-8")
    assert not (store / ".mdmemory").exists()


def test_a_folder_of_hooks_in_the_work_tree_is_used_and_said_to_be_shared(
    memory: Memory, repository: Path, hooks: Path, git: Git
) -> None:
    shared = repository / ".husky"
    git(repository, "config", "core.hooksPath", ".husky")
    told = f"git tracks {shared}, so the line goes to whoever gets your commits."
    assert git_hooks.install_hooks(memory.project, PROGRAM)[1] == told
    assert [(each / "post-merge").exists() for each in (shared, hooks)] == [True, False]
    (shared / ".gitignore").write_text("*\n", "utf-8")
    git_hooks.remove_hooks(memory.project)
    assert len(git_hooks.install_hooks(memory.project, PROGRAM)) == 1


def test_hooks_for_all_repositories_find_the_store_by_themselves(
    memory: Memory, repository: Path, git: Git, tmp_path: Path
) -> None:
    git(repository, "config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    git_hooks.install_hooks(memory.project, ["/bin/mdmemory"])
    assert "*) /bin/mdmemory index <" in (tmp_path / "hooks/post-merge").read_text("utf-8")
    below, _ = Memory.init(repository / "below")
    with pytest.raises(MdmemoryError, match="are for all your repositories"):
        git_hooks.install_hooks(below.project, ["/bin/mdmemory"])


def test_hooks_that_are_switched_off_or_somebody_elses_are_left(
    memory: Memory, repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    git(repository, "config", "core.hooksPath", "/dev/null")
    with pytest.raises(MdmemoryError, match="git runs no hooks"):
        git_hooks.install_hooks(memory.project, PROGRAM)
    (tmp_path / "theirs").mkdir()
    git(repository, "config", "core.hooksPath", str(tmp_path / "theirs"))
    monkeypatch.setattr(os, "getuid", lambda: -1)
    with pytest.raises(MdmemoryError, match="not yours alone"):
        git_hooks.install_hooks(memory.project, PROGRAM)
    assert git_hooks.remove_hooks(memory.project)[0].startswith("No hook was changed")
    assert list((tmp_path / "theirs").iterdir()) == []


def test_init_installs_and_removes_and_keeps_the_notes(
    repository: Path, hooks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name for path in repository.iterdir()}
    assert main(["init", str(repository), "--git-hooks", "--opencode"]) == 0
    assert "MEMORY.md now follows git" in capsys.readouterr().out
    note(repository)
    assert main(["init", str(repository), "--remove"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"The notes stay in {repository / 'notes/memory'}."
    after = {path.name for path in repository.iterdir()} - before
    assert after == {".mdmemory", "mdmemory.toml", "notes"}
    assert (repository / "notes/memory/a.md").exists()
    assert (list(hooks.iterdir()), main(["init", str(repository), "--remove"])) == ([], 0)
    assert capsys.readouterr().out == "Nothing to remove.\n"
    assert main(["init", str(repository), "--remove", "--git-hooks"]) == 2


def test_a_store_outside_the_project_gets_the_hooks_and_the_project_no_second_store(
    repository: Path, hooks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(repository)]) == 0
    store = Path.home() / "mdmemory" / repository.name
    capsys.readouterr()
    assert main(["init", str(repository), "--git-hooks"]) == 2
    assert f"`mdmemory init {store} --git-hooks`" in capsys.readouterr().err
    assert (list(hooks.iterdir()), (repository / "notes").exists()) == ([], False)
    assert main(["init", str(store), "--git-hooks"]) == 0
    assert {path.name for path in (store / ".git/hooks").iterdir()} >= {*HOOKS}
