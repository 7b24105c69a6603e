"""What a write does where git is ready, where there is none, and where it must wait."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from projects import git, tip
from stores import open_writer, write_note

from mdmemory import Memory
from mdmemory.errors import GitFailed, MdmemoryError, NoGit, NoteChanged, RepositoryState
from mdmemory.files import digest
from mdmemory.git import repositories as our_git
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group, Writer, Written

Patch = pytest.MonkeyPatch

FRESH = b"---\nname: fresh\ndescription: Fresh\nmetadata:\n  type: user\n---\n\nFresh.\n"


def do(writer: Writer, *changes: Change, **more: Any) -> Written:
    groups = [Group(f"change {change.file}", (change,)) for change in changes]
    with writer.lock_store():
        return writer.write("memory: a test", groups, kind=more.pop("kind", "edit"), **more)


def add(writer: Writer, file: str = "user-fresh.md") -> Written:
    return do(writer, Change(file, None, FRESH))


def replace(writer: Writer, file: str, new: bytes | None = FRESH, **more: Any) -> Written:
    old = digest((writer.project.store / file).read_bytes())
    return do(writer, Change(file, old, new), **more)


def remove(writer: Writer, file: str) -> Written:
    return replace(writer, file, None, destructive=True, kind="remove")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: Patch) -> None:
    monkeypatch.setattr(our_git, "PATIENCE", 0.05)


# the table: what happens to a note, and what git is in the middle of


def detached(root: Path) -> None:
    git(root, "switch", "-q", "--detach")


def merging(root: Path) -> None:
    git(root, "switch", "-q", "-c", "other")
    (root / "README").write_text("theirs\n")
    git(root, "commit", "-q", "-a", "-m", "theirs")
    git(root, "switch", "-q", "main")
    (root / "README").write_text("ours\n")
    git(root, "commit", "-q", "-a", "-m", "ours")
    with pytest.raises(AssertionError, match="merge"):
        git(root, "merge", "other")


def index_locked(root: Path) -> None:
    (root / ".git" / "index.lock").touch()


def bare(root: Path) -> None:
    git(root, "config", "core.bare", "true")


def broken(root: Path) -> None:
    (root / ".git" / "config").write_text("[core\n")


WAITING: dict[str, tuple[Callable[[Path], None], str]] = {
    "detached": (detached, "detached"),
    "merging": (merging, "a merge is under way"),
    "index locked": (index_locked, r"index\.lock"),
    "bare": (bare, "bare git repository"),
    "broken": (broken, "git refuses this repository"),
}


def test_ready_every_write_is_one_commit(store: Path) -> None:
    root = store.parents[1]
    writer = open_writer(root)
    assert writer.refusal() is None
    for number, act in enumerate((add, lambda w: replace(w, "user-name.md"),
                                  lambda w: remove(w, "user-fresh.md"))):  # fmt: skip
        head = tip(root)
        done = act(writer)
        assert done.commit == tip(root)
        assert tip(root, "HEAD~1") == head
        assert (done.checkpoint, done.kept) == (None, ())
        entry = writer.history.log_of("Memory-Id")[0] if writer.history else None
        assert entry.get("Memory-Id") == done.id
        assert git(root, "status", "--porcelain") == "", number
        assert "MEMORY.md" in os.listdir(store)


def test_what_a_hand_wrote_is_committed_before_it_is_replaced(store: Path) -> None:
    mine = write_note(store, "user-name.md", "By hand, in no commit.")
    write_note(store, "user-other.md", "By hand, and not touched.")
    done = replace(open_writer(store.parents[1]), "user-name.md")
    assert done.checkpoint == tip(store, "HEAD~1")
    assert git(store, "show", "HEAD~1:notes/memory/user-name.md").encode() == mine
    assert "notes/memory/user-other.md" in git(store, "show", "--name-only", "HEAD~1"), "adopted"


def test_a_command_that_writes_nothing_still_shows_a_hand_edit_in_the_index(store: Path) -> None:
    root, index = store.parents[1], store / "MEMORY.md"
    with open_writer(root).lock_store():
        pass
    assert "(user-name.md)" in index.read_text("utf-8")
    write_note(store, "user-mine.md", "By hand.")
    with open_writer(root).lock_store():
        pass
    assert "(user-mine.md)" in index.read_text("utf-8")
    (root / ".git" / "MERGE_HEAD").write_text(tip(root))
    write_note(store, "user-merged.md", "A merge is not finished.")
    with open_writer(root).lock_store():
        pass
    assert "(user-merged.md)" not in index.read_text("utf-8"), "a merge is the person's own"


@pytest.mark.parametrize("state", WAITING)
def test_in_the_middle_of_something_notes_are_written_and_nothing_is_destroyed(
    state: str, store: Path
) -> None:
    root, before = store.parents[1], (store / "user-name.md").read_bytes()
    act, sentence = WAITING[state]
    act(root)
    writer = open_writer(root)
    refusal = writer.refusal()
    assert refusal.hint
    assert add(writer).commit is None
    assert replace(writer, "user-name.md").commit is None
    assert (store / "user-fresh.md").read_bytes() == FRESH
    if writer.history:
        kept = writer.history.log_of("Memory-Id")[0].commit
        assert git(root, "show", f"{kept}^:notes/memory/user-name.md").encode() == before
    else:
        aside = root / ".mdmemory" / "aside" / f"user-name.md.{digest(before)[:12]}"
        assert aside.read_bytes() == before
    assert "user-fresh.md" in (store / "MEMORY.md").read_text()
    for destroy in (lambda: remove(writer, "user-name.md"), lambda: writer.checkpoint_all(())):
        with pytest.raises(RepositoryState, match=sentence):
            destroy()
    with pytest.raises(RepositoryState, match=sentence):
        replace(writer, "user-name.md", None)  # a removal destroys, whatever it is called
    assert (store / "user-name.md").exists()
    assert Memory.open(root, store=str(store)).note("user-fresh").digest == digest(FRESH)


def test_what_had_to_wait_is_in_the_next_commit(store: Path) -> None:
    root = store.parents[1]
    detached(root)
    writer = open_writer(root)
    add(writer, "user-one.md")
    add(writer, "user-two.md")
    add(writer, "user-gone.md")
    replace(writer, "user-name.md")
    (store / "user-gone.md").unlink()
    write_note(store, "user-two.md", "Edited by hand since.")
    git(root, "switch", "-q", "main")
    done = add(writer, "user-three.md")
    ours = git(root, "log", "-1", "--format=%H", "--grep=^Memory-Op: commit").strip()
    files = {
        commit: git(root, "show", "--format=", "--name-only", "--relative=notes/memory", commit)
        for commit in (ours, str(done.checkpoint))
    }
    assert files[ours].split() == ["user-name.md", "user-one.md"]
    assert files[str(done.checkpoint)].split() == ["MEMORY.md", "user-two.md"], "a hand's"
    assert writer.history.kept.list_entries() == []


def test_what_waits_and_is_ignored_since_stops_no_other_write(store: Path) -> None:
    root = store.parents[1]
    detached(root)
    add(open_writer(root), "user-one.md")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text("user-one.md\n")
    git(root, "switch", "-q", "main")
    assert add(open_writer(root), "user-two.md").commit
    assert (store / "user-one.md").read_bytes() == FRESH


def test_without_git_notes_are_written_and_nothing_is_destroyed(tmp_path: Path) -> None:
    store = tmp_path / "plain" / "notes" / "memory"
    store.mkdir(parents=True)
    before = write_note(store, "user-name.md", "By hand.")
    writer = open_writer(tmp_path / "plain")
    assert add(writer) == Written()
    assert replace(writer, "user-name.md") == Written()
    (aside,) = (tmp_path / "plain" / ".mdmemory" / "aside").iterdir()
    assert aside.read_bytes() == before
    for destroy in (lambda: remove(writer, "user-name.md"), lambda: writer.checkpoint_all(())):
        with pytest.raises(NoGit) as told:
            destroy()
        assert "mdmemory init" in told.value.hint
    with pytest.raises(NoteChanged):
        do(writer, Change("user-new.md", None, FRESH), Change("user-name.md", "0" * 64, FRESH))
    assert sorted(os.listdir(store)) == ["MEMORY.md", "user-fresh.md", "user-name.md"]


def test_without_a_git_program_it_is_said_what_to_install(store: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    refusal = open_writer(store.parents[1]).refusal()
    assert "git is not installed" in refusal.message


def test_a_checkpoint_of_all_holds_every_note_as_it_is(store: Path) -> None:
    (store / "picture.png").write_bytes(b"not a note")
    (store / "README.md").write_text("not a note either")
    write_note(store, "user-name.md", "By hand.")
    write_note(store, "user-new.md", "By hand, new.")
    write_note(store, "user-held.md", "A SECRET that is never committed.")
    (store / "feedback-old.md").unlink()
    writer = open_writer(store.parents[1])
    with writer.lock_store():
        made = writer.checkpoint_all(["user-name.md"])
    assert made.made
    assert made.digests.keys() == {"project-plan.md", "user-name.md", "user-new.md"}
    assert git(store, "show", "--format=", "--name-status", "--relative").splitlines() == [
        "A\tMEMORY.md", "D\tfeedback-old.md", "M\tuser-name.md", "A\tuser-new.md",
    ]  # fmt: skip
    with writer.lock_store():
        assert not writer.checkpoint_all(["user-name.md"]).made


def test_a_note_that_a_sparse_checkout_leaves_out_was_not_removed(store: Path) -> None:
    git(store, "update-index", "--skip-worktree", "user-name.md")
    (store / "user-name.md").unlink()
    writer = open_writer(store.parents[1])
    with writer.lock_store():
        assert not writer.checkpoint_all(()).made
    assert git(store, "ls-tree", "HEAD", "user-name.md")


def test_a_note_that_git_is_told_not_to_see_is_left_out_or_refused(store: Path) -> None:
    git(store, "update-index", "--assume-unchanged", "user-name.md")
    write_note(store, "user-name.md", "Git calls this clean.")
    writer = open_writer(store.parents[1])
    with writer.lock_store():
        assert "user-name.md" not in writer.checkpoint_all(()).digests
        with pytest.raises(RepositoryState, match="assume-unchanged"):
            writer.checkpoint_all(["user-name.md"])


def test_a_file_of_a_persons_under_our_name_stops_the_write(store: Path) -> None:
    (store / "MEMORY.md").write_text("my own list\n")
    head = tip(store)
    with pytest.raises(MdmemoryError, match="not generated"):
        add(open_writer(store.parents[1]))
    assert tip(store) == head
    assert not (store / "user-fresh.md").exists()


def test_an_index_that_is_not_tracked_is_written_and_not_committed(store: Path) -> None:
    root = store.parents[1]
    (root / "mdmemory.toml").write_text("[index]\ntracked = false\n")
    done = add(open_writer(root))
    assert git(root, "show", "--format=", "--name-only", str(done.commit)).split() == [
        "notes/memory/user-fresh.md"
    ]
    assert "user-fresh.md" in (store / "MEMORY.md").read_text()


def test_the_overflow_goes_when_it_is_empty(store: Path) -> None:
    root = store.parents[1]
    (root / "mdmemory.toml").write_text("[index]\nmax_entries = 3\n")
    add(open_writer(root))
    assert git(root, "ls-files", "notes/memory/_MORE.md")
    assert remove(open_writer(root), "user-fresh.md").kept == ()
    assert not (store / "_MORE.md").exists()
    assert git(root, "ls-files", "notes/memory/_MORE.md") == ""


def test_state_that_git_tracks_is_not_used(store: Path) -> None:
    root = store.parents[1]
    (root / ".mdmemory").mkdir()
    (root / ".mdmemory" / "state.db").write_bytes(b"planted")
    git(root, "add", "-f", ".mdmemory")
    told: list[str] = []
    writer = open_writer(root)
    writer.tell = told.append
    assert add(writer).commit
    with writer.state() as state:
        assert state.last_pass() is None
    assert "git rm -r --cached" in told[0]
    assert os.listdir(root / ".mdmemory") == ["state.db"]
    assert (root / ".mdmemory" / "state.db").read_bytes() == b"planted"


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_a_message_is_utf8_whatever_a_person_writes_in(encoding: str, store: Path) -> None:
    git(store, "config", "i18n.commitEncoding", encoding)
    writer = open_writer(store.parents[1])
    add(writer, "喜欢.md")
    assert "encoding" not in git(store, "cat-file", "commit", "HEAD").split("\n\n")[0]
    assert writer.history.log_of("Memory-Id")[0].ops == ("change 喜欢.md",)


def test_a_commit_that_a_model_caused_has_its_own_author(store: Path) -> None:
    writer = open_writer(store.parents[1])
    add(writer)
    assert git(store, "log", "-1", "--format=%an").strip() == "A Person"
    do(writer, Change("user-two.md", None, FRESH), by_model=True)
    assert git(store, "log", "-1", "--format=%an %ae").strip() == "mdmemory mdmemory@localhost"


def test_a_failing_git_is_one_sentence_and_nothing_is_changed(store: Path) -> None:
    writer = open_writer(store.parents[1])
    add(writer)
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    objects = store.parents[1] / ".git" / "objects"
    tree = tip(store, "HEAD:notes")
    (objects / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitFailed):
        replace(writer, "user-name.md")
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before
    assert not (store.parents[1] / ".git" / "index.lock").exists()


def together(*acts: Callable[[], object]) -> list[int]:
    """Run these at the same time, each in a process; how each ended."""
    children = []
    for act in acts:
        if (child := os.fork()) == 0:
            code = 1
            try:
                act()
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_writers_in_several_processes_lose_nothing(store: Path) -> None:
    root = store.parents[1]

    def adder(who: int) -> Callable[[], object]:
        return lambda: [add(open_writer(root), f"user-{who}-{n}.md") for n in range(3)]

    assert together(*(adder(who) for who in range(3))) == [0, 0, 0]
    assert {f"user-{who}-{n}.md" for who in range(3) for n in range(3)} <= {*os.listdir(store)}
    assert git(root, "status", "--porcelain") == ""
    assert int(git(root, "rev-list", "--count", "HEAD")) == 2 + 9
    assert git(root, "fsck", "--strict") == ""


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_worktrees_of_one_repository_share_the_lock(store: Path, tmp_path: Path) -> None:
    git(store, "worktree", "add", "-q", str(tmp_path / "linked"))
    roots = [store.parents[1], tmp_path / "linked"]
    acts = [lambda root=root: [add(open_writer(root), f"user-{n}.md") for n in range(3)]
            for root in roots]  # fmt: skip
    assert together(*acts) == [0, 0]
    for root in roots:
        assert git(root, "status", "--porcelain") == ""
        assert len(git(root, "log", "--format=%h", "--", "notes/memory").split()) == 4


@pytest.mark.slow
def test_two_commands_at_the_same_time_lose_nothing(repository: Path) -> None:
    Memory.init(repository)
    words = [sys.executable, "-P", "-m", "mdmemory", "add"]
    running = [
        subprocess.Popen(
            [*words, f"note-{n}", "--type", "feedback", "--description", f"Note {n}", f"Body {n}."],
            cwd=repository,
            stdout=subprocess.DEVNULL,
        )
        for n in range(6)
    ]
    assert [process.wait() for process in running] == [0] * 6
    assert len(Memory.open(repository).notes()) == 6
    assert git(repository, "status", "--porcelain") == ""
    shutil.rmtree(repository / ".mdmemory")
    assert len(Memory.open(repository).notes()) == 6
