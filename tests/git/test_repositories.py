"""Running git in a repository that may be in any state, anywhere, and anybody's."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from machines import add
from pace import HUNG
from projects import commit_all, git, tip
from stores import BeginStore

from mdmemory import Memory
from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.gitpython import open_history
from mdmemory.git.repositories import Identity, find, identify, refusal

Patch = pytest.MonkeyPatch
SUBMODULE = ("-c", "protocol.file.allow=always", "submodule", "add", "-q")


def test_without_git_on_the_path_there_is_no_repository(
    repository: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    assert find(tmp_path) is None
    monkeypatch.setenv("PATH", "/nonexistent")
    assert find(repository) is None
    assert not repositories.is_installed()


def test_every_folder_finds_its_top_and_git_folders(repository: Path, tmp_path: Path) -> None:
    (repository / "a" / "b").mkdir(parents=True)
    git(repository, "worktree", "add", "-q", "../linked")
    for outer in ("outer", "two\nlines \"and\" 'quotes' é"):
        git(tmp_path, "init", "-q", outer)
    git(tmp_path / "outer", *SUBMODULE, str(repository), "in")
    whole, module = repository / ".git", tmp_path / "outer/.git/modules/in"
    odd = tmp_path / outer
    for folder, top, git_dir, common_dir in (
        (repository / "a" / "b", repository, whole, whole),
        (tmp_path / "linked", tmp_path / "linked", whole / "worktrees" / "linked", whole),
        (tmp_path / "outer/in", tmp_path / "outer/in", module, module),
        (odd, odd, odd / ".git", odd / ".git"),
    ):
        here = find(folder)
        assert (here.top, here.git_dir, here.common_dir) == (top, git_dir, common_dir)
        assert here.hash_name == "sha1"


def test_a_bare_repository_is_refused_with_one_sentence(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    with pytest.raises(RepositoryState, match="bare git repository"):
        find(tmp_path / "bare")


def test_a_repository_that_git_refuses_is_not_taken_for_none(repository: Path) -> None:
    (repository / ".git" / "config").write_text("[core\n")
    with pytest.raises(RepositoryState, match="git refuses this repository"):
        find(repository)


def diverge(repository: Path) -> None:
    """Two branches that conflict in README; `other` is not the one that is checked out."""
    git(repository, "switch", "-q", "-c", "other")
    commit_all(repository, "theirs", README="theirs\n")
    git(repository, "switch", "-q", "main")
    commit_all(repository, "ours", README="ours\n")


def attempt(repository: Path, *words: str) -> int:
    """How a command of git ends that may fail."""
    return subprocess.run(["git", "-C", repository, *words], capture_output=True).returncode


STATES = {
    "merge": (["merge", "other"], "a merge is under way"),
    "rebase": (["rebase", "other"], "a rebase is under way"),
    "rebase by patches": (["rebase", "--apply", "other"], "a rebase is under way"),
    "cherry-pick": (["cherry-pick", "other"], "a cherry-pick is under way"),
    "revert": (["revert", "--no-edit", "HEAD~1"], "a revert is under way"),
}


@pytest.mark.parametrize("state", STATES)
def test_what_a_person_has_not_finished_is_named(state: str, repository: Path) -> None:
    diverge(repository)
    words, sentence = STATES[state]
    if state == "revert":
        commit_all(repository, README="later\n")
    assert attempt(repository, *words) != 0, "the conflict that this test needs"
    problem = refusal(find(repository))
    assert sentence in problem.message
    assert "--abort" in problem.hint


def test_between_two_commits_of_a_series_is_not_finished(repository: Path) -> None:
    diverge(repository)
    git(repository, "switch", "-q", "other")
    commit_all(repository, "second", new="new\n")
    git(repository, "switch", "-q", "main")
    assert attempt(repository, "cherry-pick", "other~1", "other") != 0
    (repository / "README").write_text("both\n")
    git(repository, "commit", "-q", "-a", "-m", "first picked")
    assert "picked" in refusal(find(repository)).message


@pytest.mark.parametrize(
    ("words", "sentence", "way_out"),
    [
        (["bisect", "start"], "a bisection is under way", "`git bisect reset`"),
        (["bisect", "start", "HEAD", "HEAD~2"], "a bisection is under way", "`git bisect reset`"),
        (["am", "../patch"], "patches are being applied", "`git am --abort`"),
    ],
)
def test_a_bisection_and_a_mailbox_have_their_own_way_out(
    words: list[str], sentence: str, way_out: str, repository: Path
) -> None:
    diverge(repository)
    commit_all(repository, README="later\n")
    patch = git(repository, "format-patch", "--stdout", "-1", "other")
    (repository.parent / "patch").write_text(patch)
    attempt(repository, *words)
    problem = refusal(find(repository))
    assert sentence in problem.message
    assert way_out in problem.hint


def test_a_foreign_index_lock_is_waited_for(repository: Path) -> None:
    lock = repository / ".git" / "index.lock"
    lock.touch()
    begun = time.monotonic()
    threading.Timer(0.2, lock.unlink).start()
    assert refusal(find(repository), patience=HUNG) is None
    assert 0.2 <= time.monotonic() - begun < HUNG / 2


def test_the_index_lock_of_a_killed_process_of_ours_is_no_foreign_one(repository: Path) -> None:
    here = find(repository)
    here.room.mkdir()
    (here.room / "0123456789ab.held").touch()
    os.link(here.room / "0123456789ab.held", repository / ".git" / "index.lock")
    assert refusal(here) is None


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG"]
)
def test_git_variables_of_the_caller_point_us_nowhere_else(
    name: str, repository: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    git(tmp_path, "init", "-q", "another")
    elsewhere = {"GIT_WORK_TREE": "another"}.get(name, "another/.git")
    monkeypatch.setenv(name, str(tmp_path / elsewhere))
    here = find(repository)
    assert here.top == repository
    assert here.run("ls-files") == b"README\n"


def test_a_git_of_the_repository_is_not_run(
    repository: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    program(repository / "git", tmp_path / "ran")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    find(repository).run("status")
    assert not (tmp_path / "ran").exists()


def test_what_git_says_is_the_sentence_and_one_without_end_is_given_up(repository: Path) -> None:
    here = find(repository)
    with pytest.raises(GitFailed, match=r"git cat-file failed: .*no-such"):
        here.run("cat-file", "blob", "no-such")
    here.patience = 0.1
    os.mkfifo(repository / "pipe")
    with pytest.raises(GitFailed, match="did not end"):
        here.run("hash-object", "pipe")  # nobody writes into it


# a hostile repository


def program(path: Path, mark: Path) -> Path:
    """A program that tells that it ran, and does what a filter or an editor would: nothing."""
    path.write_text(f"#!/bin/sh\necho $0 $* >>'{mark}'\ncat\n")
    path.chmod(0o755)
    return path


HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change",
    "reference-transaction", "post-checkout", "post-rewrite", "pre-auto-gc", "fsmonitor-watchman",
)  # fmt: skip


def poison(root: Path, mark: Path) -> None:
    evil = program(root / ".git" / "evil", mark)
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        program(root / ".git" / "hooks" / hook, mark)
    shutil.copytree(root / ".git" / "hooks", root / ".git" / "hooks-2")
    for name in (
        "core.fsmonitor", "gpg.program", "gpg.ssh.program", "core.sshCommand", "core.editor",
        "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver",
        "credential.helper", "core.alternateRefsCommand", "core.askPass", "sequence.editor",
        "core.gitProxy", "uploadpack.packObjectsHook", "trailer.evil.command",
    ):  # fmt: skip
        git(root, "config", name, str(evil))
    for name, value in {
        "core.hooksPath": str(root / ".git" / "hooks-2"), "commit.gpgSign": "true",
        "tag.gpgSign": "true", "log.showSignature": "true", "filter.evil.required": "true",
        "alias.commit-tree": f"!{evil}", "alias.log": f"!{evil}", "gc.auto": "1",
        "core.untrackedCache": "true",
    }.items():  # fmt: skip
        git(root, "config", name, value)
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("* diff=evil merge=evil filter=evil\n")


def test_no_program_that_a_repository_names_is_run(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    Memory.init(repository)
    poison(repository, mark)
    memory = Memory.open(repository)
    add(memory, "one")
    add(memory, "two")
    memory.edit("one", body="One and a half.")
    (repository / "notes" / "memory" / "user-two.md").write_text("by hand\n")
    memory.compact()
    memory.remove("two")
    memory.undo()
    assert len(memory.log()) >= 5
    done = memory.file_changes([each.commit for each, *_ in memory.log()])
    assert any("Is fond of two." in each.after for changes in done.values() for each in changes)
    assert memory.history("one")
    memory.index_place("one")
    memory.doctor()
    memory.index()
    with pytest.raises(RepositoryState, match="content filter"):
        Memory.init(repository)
    assert not mark.exists(), mark.read_text()


def test_a_signature_calls_nobody(
    begin_store: BeginStore, repository: Path, tmp_path: Path
) -> None:
    mark, memory = tmp_path / "ran", begin_store()
    add(memory, "tea")
    signature = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"
    raw = git(repository, "cat-file", "commit", "HEAD").replace("\n\n", signature, 1)
    signed = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", text=raw).strip()
    git(repository, "update-ref", "HEAD", signed)
    poison(repository, mark)
    assert len(memory.log()) == 2
    assert "Is fond of tea." in memory.file_changes([signed])[signed][0].after
    assert not mark.exists(), mark.read_text()


def test_a_missing_object_is_not_fetched(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    git(repository, "config", "extensions.partialClone", "origin")
    evil = str(program(tmp_path / "evil", mark))
    for name, value in (("url", str(tmp_path)), ("promisor", "true"), ("uploadpack", evil)):
        git(repository, "config", f"remote.origin.{name}", value)
    blob = tip(repository, "HEAD:README")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitFailed):
        History(find(repository), repository).read("HEAD", "README")
    assert not mark.exists(), mark.read_text()


# What a person is shown comes through GitPython, from the right repository, whatever it is.


def test_a_repository_of_sha_256_is_shown_as_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "~ $HOME"  # which GitPython would read as other folders
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    memory, _ = Memory.init(folder)
    memory.add("tea", type="user", description="Drinks tea", body="Green.")
    memory.edit("tea", body="Black.")
    assert [step.kind for step in memory.history("tea")] == ["edit", "add"]
    ((newest, undone, _),) = memory.log(1)
    (change,) = memory.file_changes([newest.commit])[newest.commit]
    assert (len(newest.commit), undone, "Black." in change.after) == (64, False, True)


def test_no_variable_of_the_caller_leads_to_another_repository(
    begin_store: BeginStore, tmp_path: Path, monkeypatch: Patch
) -> None:
    memory = begin_store()
    add(memory, "tea")
    git(tmp_path, "init", "-q", "other")
    expected = [entry.commit for entry, *_ in memory.log()]
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "bogus")
    assert [entry.commit for entry, *_ in memory.log()] == expected
    assert [step.kind for step in memory.history("tea")] == ["add"]


def test_what_git_refuses_is_said_as_everywhere(store: Path) -> None:
    history = open_history(History(find(store), store))
    with pytest.raises(GitFailed, match="git rev-list failed: bad revision 'nothing'"):
        history.repository.run("rev-list", "nothing", "--")
    assert history.find_commit("nothing") is None
    assert history.read("HEAD", "user-name.md")


def test_loading_it_runs_no_git_of_the_present_folder(tmp_path: Path) -> None:
    program(tmp_path / "git", tmp_path / "ran")
    code = "from mdmemory.git import gitpython as it; print(it._import_gitpython().__name__)"
    env = {**os.environ, "PATH": f".:{os.environ['PATH']}", "GIT_PYTHON_GIT_EXECUTABLE": "./git"}
    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(
        words, cwd=tmp_path, timeout=HUNG, check=True, capture_output=True, env=env
    )
    assert done.stdout == b"git\n"
    assert not (tmp_path / "ran").exists()


def test_only_what_shows_history_loads_gitpython(begin_store: BeginStore) -> None:
    memory = begin_store()
    add(memory, "tea")
    code = "import sys; from mdmemory.cli import main\n"
    code += "for words in (['add', 'Tea at four'], ['status'], ['list']): main(words)\n"
    code += "sys.exit('git' in sys.modules)"
    words = [sys.executable, "-P", "-c", code]
    subprocess.run(words, cwd=memory.project.root, timeout=HUNG, check=True)


# A project is known again by its first commit and where it was cloned from.


def known(folder: Path) -> Identity | None:
    return identify(find(folder))


def test_a_clone_has_the_first_commit_of_its_origin(repository: Path, tmp_path: Path) -> None:
    first = tip(repository)
    commit_all(repository, "two")
    git(tmp_path, "clone", "-q", str(repository), "clone")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    git(repository, "worktree", "add", "-q", "../linked")
    clone, there = known(tmp_path / "clone"), known(repository)
    assert clone.roots == there.roots == (first,)
    assert clone.remotes == (str(repository),)
    assert clone.common_dir != there.common_dir
    assert known(tmp_path / "linked").common_dir == there.common_dir
    assert known(tmp_path / "shallow").roots == (), "its oldest commit is not the first"


def test_a_repository_without_a_commit_has_no_identity(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert known(tmp_path) is None


def test_every_way_to_reach_a_remote_names_one_place() -> None:
    for url, place in [
        ("git@example.org:team/app.git", "example.org/team/app"),
        ("https://name:word@Example.org/team/app.git", "example.org/team/app"),
        ("ssh://git@example.org:2222/team/app", "example.org/team/app"),
        ("https://example.org/team/app/", "example.org/team/app"),
        ("example.org:team/app", "example.org/team/app"),
        ("/srv/git/app.git", "/srv/git/app.git"),
        ("../app", "../app"),
        ("file:///srv/git/app.git", "/srv/git/app.git"),
    ]:
        assert repositories.parse_remote(url) == place
