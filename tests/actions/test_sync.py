"""sync: two clones come together, and nothing is lost, guessed or sent behind anybody's back."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from machines import Two, add, identify
from projects import Ask, Git, Patch, Say, script
from stores import BeginStore

from mdmemory import Memory
from mdmemory.actions import sync as syncing
from mdmemory.errors import GitFailed, MdmemoryError, RepositoryState
from mdmemory.hosts import git_hooks


@pytest.fixture
def bare(begin_store: BeginStore, repository: Path, git: Git, tmp_path: Path) -> Path:
    """A remote that holds a project with an empty store."""
    begin_store()
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote")
    git(repository, "remote", "add", "origin", "../remote")
    git(repository, "push", "-q", "-u", "origin", "main")
    return tmp_path / "remote"


@pytest.fixture
def clones(bare: Path, git: Git, tmp_path: Path) -> Two:
    for name in ("one", "two"):
        git(tmp_path, "clone", "-q", "remote", name)
        identify(git, tmp_path / name, name)
    one, two = (
        Memory.open(tmp_path / name, clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))
        for name in ("one", "two")
    )
    return one, two


def is_fresh(memory: Memory, git: Git) -> bool:
    clean = git(memory.project.root, "status", "--porcelain") == ""
    return clean and memory.index(check=True).changed == ()


@pytest.mark.parametrize("rebase", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_two_clones_end_alike_with_a_fresh_index(clones: Two, git: Git, rebase: bool) -> None:
    one, two = clones
    add(one, "tea")
    add(two, "coffee")
    (two.project.store / "by-hand.md").write_text("Likes rain.\n", encoding="utf-8")
    first = one.sync(rebase=rebase)
    assert (first.fetched, first.merged, first.pushed) == (0, None, 1)
    second = two.sync(rebase=rebase)
    assert (bool(second.committed), bool(second.merged), second.fetched) == (True, True, 1)
    assert one.sync(rebase=rebase).fetched == second.pushed
    heads = [git(memory.project.root, "rev-parse", "HEAD") for memory in clones]
    assert heads[0] == heads[1]
    assert [note.file for note in one.notes()] == ["by-hand.md", "user-coffee.md", "user-tea.md"]
    assert all(is_fresh(memory, git) for memory in clones)
    merges = git(one.project.root, "rev-list", "--count", "--merges", "HEAD").strip()
    assert merges == ("0" if rebase else "1")
    again = two.sync(rebase=rebase)
    assert (again.committed, again.fetched, again.merged, again.pushed) == (None, 0, None, 0)


def test_work_elsewhere_in_the_repository_is_left_as_it_was(clones: Two, git: Git) -> None:
    one, two = clones
    add(one, "tea")
    one.sync()
    root = two.project.root
    (root / "README").write_text("unstaged\n", encoding="utf-8")
    (root / "new").write_text("untracked\n", encoding="utf-8")
    two.sync()
    assert git(root, "status", "--porcelain") == " M README\n?? new\n"
    assert (root / "README").read_text(encoding="utf-8") == "unstaged\n"
    assert [note.file for note in two.notes()] == ["user-tea.md"]


def test_a_change_that_the_merge_would_overwrite_is_named_and_nothing_is_merged(
    clones: Two, git: Git
) -> None:
    one, two = clones
    (one.project.root / "README").write_text("theirs\n", encoding="utf-8")
    git(one.project.root, "commit", "-qam", "readme")
    one.sync(push_all=True)
    (two.project.root / "README").write_text("mine\n", encoding="utf-8")
    add(two, "tea")
    with pytest.raises(RepositoryState, match="README") as caught:
        two.sync()
    assert "run `mdmemory sync` again" in caught.value.hint
    assert (two.project.root / "README").read_text(encoding="utf-8") == "mine\n"
    assert two.git_state() == "ready"


def test_a_held_note_is_neither_committed_nor_pushed(clones: Two, bare: Path, git: Git) -> None:
    one, _ = clones
    token = "ghp_" + "a1B2" * 9
    (one.project.store / "held.md").write_text(f"token {token}\n", encoding="utf-8")
    add(one, "tea")
    one.sync()
    assert "held.md" not in git(bare, "ls-tree", "-r", "--name-only", "main")
    assert git(one.project.root, "status", "--porcelain") == "?? notes/memory/held.md\n"


def edited_apart(one: Memory, two: Memory) -> None:
    """Both have edited the same note of a project's store, and `one` has pushed."""
    add(one, "tea")
    one.sync()
    two.sync()
    one.edit("tea", body="Green tea.")
    two.edit("tea", body="Black tea.")
    one.sync()


@pytest.mark.parametrize("rebase", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_conflict_in_a_projects_repository_is_named_and_nothing_is_merged(
    clones: Two, bare: Path, git: Git, say: Say, ask: Ask, monkeypatch: Patch, rebase: bool
) -> None:
    one, two = clones
    edited_apart(one, two)
    tip, head = git(bare, "rev-parse", "main"), git(two.project.root, "rev-parse", "HEAD")
    options, verb = (["--rebase"], "rebase") if rebase else ([], "merge")
    monkeypatch.chdir(two.project.store)
    said = say("sync", *options, code=1)
    assert "  user-tea.md\n" in said
    assert f"`git {verb} origin/main`" in said
    assert "`git add user-tea.md`" in said
    assert git(bare, "rev-parse", "main") == tip
    assert git(two.project.root, "rev-parse", "HEAD") == head
    assert two.git_state() == "ready"
    assert git(two.project.root, "status", "--porcelain") == ""
    assert "Black tea." in (two.project.store / "user-tea.md").read_text(encoding="utf-8")
    answer = ask("sync", *options, code=1)
    assert answer["conflicts"] == ["notes/memory/user-tea.md"]
    assert (answer["merged"], answer["pushed"]) == (None, 0)


def test_a_conflict_that_the_person_resolved_by_git_goes_on(clones: Two, git: Git) -> None:
    one, two = clones
    edited_apart(one, two)
    assert two.sync().conflicts
    with pytest.raises(AssertionError, match="merge origin/main"):
        git(two.project.root, "merge", "origin/main")
    with pytest.raises(RepositoryState, match="a merge is under way"):
        two.sync()
    (two.project.store / "user-tea.md").write_text("Any tea.\n", encoding="utf-8")
    git(two.project.root, "add", "-A")
    git(two.project.root, "commit", "-q", "--no-edit")
    assert two.sync().pushed > 0
    assert is_fresh(two, git)


def test_a_merge_that_a_hook_refuses_is_not_left_half_done(clones: Two, git: Git) -> None:
    one, two = clones
    add(one, "tea")
    one.sync()
    add(two, "coffee")
    script(two.project.root / ".git/hooks/commit-msg", "echo no such merges >&2\nexit 1")
    with pytest.raises(RepositoryState, match="no such merges"):
        two.sync()
    assert two.git_state() == "ready"
    assert git(two.project.root, "status", "--porcelain") == ""


def test_a_persons_own_commit_of_notes_is_the_memorys(clones: Two, bare: Path, git: Git) -> None:
    one, _ = clones
    path = add(one, "tea")
    git(one.project.root, "revert", "--no-edit", "HEAD")
    (one.project.store / "user-rain.md").write_text("Likes rain.\n", encoding="utf-8")
    git(one.project.root, "add", "notes")
    git(one.project.root, "commit", "-qm", "a note")
    assert one.sync().pushed >= 3
    held = git(bare, "ls-tree", "-r", "--name-only", "main")
    assert ("user-rain.md" in held, path.name in held) == (True, False)


def test_commits_that_are_not_the_memorys_are_pushed_on_the_persons_word_alone(
    clones: Two, bare: Path, git: Git, say: Say, fail: Say, monkeypatch: Patch
) -> None:
    one, two = clones
    add(two, "coffee")
    two.sync()
    (one.project.root / "README").write_text("half done\n", encoding="utf-8")
    git(one.project.root, "commit", "-qam", "WIP do not push")
    add(one, "tea")
    tip, head = git(bare, "rev-parse", "main"), git(one.project.root, "rev-parse", "HEAD")
    monkeypatch.chdir(one.project.root)
    said = fail("sync")
    assert "(WIP do not push) is not the memory's, and origin/main lacks it." in said
    assert "`mdmemory sync --all`" in said
    assert git(bare, "rev-parse", "main") == tip
    assert git(one.project.root, "rev-parse", "HEAD") == head
    say("sync", "--all")
    assert "WIP do not push" in git(bare, "log", "--format=%s", "main")


def test_a_clone_of_an_empty_remote_can_begin(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty")
    git(tmp_path, "clone", "-q", "empty", "first")
    identify(git, tmp_path / "first", "first")
    done = Memory.init(tmp_path / "first")[0].sync()
    assert (done.pushed, done.upstream) == (1, "origin/main")


@pytest.mark.parametrize(("remote", "hint"), [
    (False, "`git remote add origin URL`, then `git push -u origin main`"),
    (True, "Once: `git push -u work main`"),
])  # fmt: skip
def test_without_an_upstream_it_says_how_to_get_one_and_changes_nothing(
    repository: Path, git: Git, remote: bool, hint: str
) -> None:
    memory, _ = Memory.init(repository)
    if remote:
        git(repository, "remote", "add", "work", "../nowhere")
    (memory.project.store / "a.md").write_text("one\n", encoding="utf-8")
    with pytest.raises(RepositoryState, match="follows no branch of a remote") as caught:
        memory.sync()
    assert hint in caught.value.hint
    assert git(repository, "status", "--porcelain") == "?? notes/memory/a.md\n"


def test_a_remote_that_cannot_be_reached_leaves_the_notes_committed(clones: Two, git: Git) -> None:
    one, _ = clones
    git(one.project.root, "remote", "set-url", "origin", "../nowhere")
    (one.project.store / "a.md").write_text("one\n", encoding="utf-8")
    with pytest.raises(GitFailed, match="could not fetch from origin"):
        one.sync()
    assert git(one.project.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_push_that_others_overtake_goes_on_top_of_theirs(clones: Two, monkeypatch: Patch) -> None:
    one, two = clones
    add(one, "tea")
    add(two, "coffee")
    push = syncing._push_branch
    late = [two]

    def overtaken(*arguments: object) -> bool:
        while late:
            late.pop().sync()
        return push(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(syncing, "_push_branch", overtaken)
    done = one.sync()
    assert (done.fetched, bool(done.merged)) == (1, True)
    two.sync()
    assert [n.file for n in one.notes()] == [n.file for n in two.notes()]


@pytest.mark.slow
def test_notes_that_vanished_are_not_removed_from_the_other_side(clones: Two, git: Git) -> None:
    one, _ = clones
    for name in ("tea", "rain", "snow", "salt", "moss"):
        path = add(one, name)
    one.sync()
    for note in one.project.store.glob("user-*.md"):
        note.unlink()
    with pytest.raises(MdmemoryError, match="5 of 5 notes are gone") as caught:
        one.sync()
    assert caught.value.code == "sudden_loss"
    git(one.project.store, "restore", ".")
    path.unlink()  # one removal by hand is a removal
    assert one.sync().committed


def test_the_persons_own_hooks_run_and_ours_do_not_wait_for_the_lock(clones: Two) -> None:
    one, two = clones
    add(two, "coffee")
    two.sync()
    git_hooks.install_hooks(one.project, git_hooks.program_words())
    hook = script(one.project.root / ".git/hooks/pre-push", "echo secrets found >&2\nexit 1")
    add(one, "tea")
    with pytest.raises(GitFailed, match="could not push to origin: secrets found"):
        one.sync()
    hook.unlink()
    assert one.sync().pushed > 0


def test_a_variable_that_names_another_repository_is_not_obeyed(
    clones: Two, repository: Path, monkeypatch: Patch
) -> None:
    one, _ = clones
    add(one, "tea")
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository))
    assert one.sync().pushed == 1
