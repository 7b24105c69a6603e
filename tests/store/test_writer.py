"""What a write does where git is ready, where there is none, and where it must wait.

And what is done to one file: whole or not at all, with a sentence where the disk says no.
"""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import indexed
import pytest
from projects import commit_all, git, tip
from stores import open_writer, write_note

from mdmemory import Memory, files
from mdmemory.actions.editing import edit
from mdmemory.errors import (
    GitFailed,
    MdmemoryError,
    NoGit,
    NoteChanged,
    RepositoryState,
    Unwritable,
)
from mdmemory.files import digest, link_file, read_regular, write_atomic
from mdmemory.git import replacement, repositories
from mdmemory.git.transaction import Change
from mdmemory.store.store import Store
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


def touch(root: Path) -> None:
    """What a command does that writes nothing."""
    with open_writer(root).lock_store():
        pass


@pytest.fixture
def writer(repository: Path, store: Path) -> Writer:
    found = open_writer(repository)
    found.told = []
    found.tell = found.told.append
    return found


@pytest.fixture(autouse=True)
def impatient(monkeypatch: Patch) -> None:
    monkeypatch.setattr(repositories, "PATIENCE", 0.05)


def detached(root: Path) -> None:
    git(root, "switch", "-q", "--detach")


def merging(root: Path) -> None:
    git(root, "switch", "-q", "-c", "other")
    commit_all(root, "theirs", README="theirs\n")
    git(root, "switch", "-q", "main")
    commit_all(root, "ours", README="ours\n")
    with pytest.raises(AssertionError, match="merge"):
        git(root, "merge", "other")


WAITING: dict[str, tuple[Callable[[Path], object], str]] = {
    "detached": (detached, "detached"),
    "merging": (merging, "a merge is under way"),
    "index locked": (lambda root: (root / ".git" / "index.lock").touch(), r"index\.lock"),
    "bare": (lambda root: git(root, "config", "core.bare", "true"), "bare git repository"),
    "broken": (
        lambda root: (root / ".git" / "config").write_text("[core\n"),
        "git refuses this repository",
    ),
}


def test_ready_every_write_is_one_commit(writer: Writer, store: Path) -> None:
    assert writer.refusal() is None
    for act in (add, lambda w: replace(w, "user-name.md"), lambda w: remove(w, "user-fresh.md")):
        head = tip(store)
        done = act(writer)
        assert (tip(store), tip(store, "HEAD~1")) == (done.commit, head)
        assert (done.checkpoint, done.kept) == (None, ())
        assert writer.history.log_of("Memory-Id")[0].get("Memory-Id") == done.id
        assert git(store, "status", "--porcelain") == ""
        assert "MEMORY.md" in os.listdir(store)


def test_what_a_hand_wrote_is_committed_before_it_is_replaced(writer: Writer, store: Path) -> None:
    mine = write_note(store, "user-name.md", "By hand, in no commit.")
    write_note(store, "user-other.md", "By hand, and not touched.")
    assert replace(writer, "user-name.md").checkpoint == tip(store, "HEAD~1")
    assert git(store, "show", "HEAD~1:notes/memory/user-name.md").encode() == mine
    assert "notes/memory/user-other.md" in git(store, "show", "--name-only", "HEAD~1"), "adopted"


def test_a_command_without_a_write_shows_a_hand_edit(repository: Path, store: Path) -> None:
    index = store / "MEMORY.md"
    touch(repository)
    assert "(user-name.md)" in index.read_text("utf-8")
    write_note(store, "user-mine.md", "By hand.")
    touch(repository)
    assert "(user-mine.md)" in index.read_text("utf-8")
    (repository / ".git" / "MERGE_HEAD").write_text(f"{tip(store)}\n")
    write_note(store, "user-merged.md", "A merge is not finished.")
    touch(repository)
    assert "(user-merged.md)" not in index.read_text("utf-8"), "a merge is the person's own"


@pytest.mark.parametrize("state", WAITING)
def test_in_the_middle_of_something_notes_are_written_and_nothing_is_destroyed(
    state: str, repository: Path, store: Path
) -> None:
    before = (store / "user-name.md").read_bytes()
    act, sentence = WAITING[state]
    act(repository)
    writer = open_writer(repository)
    assert writer.refusal().hint
    assert add(writer).commit is None
    assert replace(writer, "user-name.md").commit is None
    assert (store / "user-fresh.md").read_bytes() == FRESH
    if writer.history:
        kept = writer.history.log_of("Memory-Id")[0].commit
        assert git(repository, "show", f"{kept}^:notes/memory/user-name.md").encode() == before
    else:
        aside = repository / ".mdmemory" / "aside" / f"user-name.md.{digest(before)[:12]}"
        assert aside.read_bytes() == before
    assert "user-fresh.md" in (store / "MEMORY.md").read_text()
    for destroy in (
        lambda: remove(writer, "user-name.md"),
        lambda: writer.checkpoint_all(()),
        lambda: replace(writer, "user-name.md", None),  # a removal, whatever it is called
    ):
        with pytest.raises(RepositoryState, match=sentence):
            destroy()
    assert (store / "user-name.md").exists()
    assert Memory.open(repository, store=str(store)).note("user-fresh").digest == digest(FRESH)


def test_what_waited_is_in_the_next_commit(writer: Writer, repository: Path, store: Path) -> None:
    detached(repository)
    for file in ("user-one.md", "user-two.md", "user-gone.md"):
        add(writer, file)
    replace(writer, "user-name.md")
    (store / "user-gone.md").unlink()
    write_note(store, "user-two.md", "Edited by hand since.")
    git(repository, "switch", "-q", "main")
    done = add(writer, "user-three.md")
    ours = git(repository, "log", "-1", "--format=%H", "--grep=^Memory-Op: commit").strip()
    words = ("show", "--format=", "--name-only", "--relative")
    assert git(store, *words, ours).split() == ["MEMORY.md", "user-name.md", "user-one.md"]
    assert "user-two.md" not in git(store, "show", f"{ours}:./MEMORY.md"), "not its own"
    assert git(store, *words, done.checkpoint).split() == ["MEMORY.md", "user-two.md"], "a hand's"
    assert writer.history.kept.list_entries() == []


def test_what_waits_and_is_ignored_since_stops_no_write(repository: Path, store: Path) -> None:
    detached(repository)
    add(open_writer(repository), "user-one.md")
    (repository / ".git" / "info" / "exclude").write_text("user-one.md\n")
    git(repository, "switch", "-q", "main")
    assert add(open_writer(repository), "user-two.md").commit
    assert (store / "user-one.md").read_bytes() == FRESH


def test_without_git_notes_are_written_and_nothing_is_destroyed(tmp_path: Path) -> None:
    (store := tmp_path / "notes" / "memory").mkdir(parents=True)
    before = write_note(store, "user-name.md", "By hand.")
    writer = open_writer(tmp_path)
    assert add(writer) == replace(writer, "user-name.md") == Written()
    (aside,) = (tmp_path / ".mdmemory" / "aside").iterdir()
    assert aside.read_bytes() == before
    for destroy in (lambda: remove(writer, "user-name.md"), lambda: writer.checkpoint_all(())):
        with pytest.raises(NoGit) as told:
            destroy()
        assert "mdmemory init" in told.value.hint
    with pytest.raises(NoteChanged):
        do(writer, Change("user-new.md", None, FRESH), Change("user-name.md", "0" * 64, FRESH))
    assert sorted(os.listdir(store)) == ["MEMORY.md", "user-fresh.md", "user-name.md"]


def test_without_git_it_is_said_what_to_install(repository: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "git is not installed" in open_writer(repository).refusal().message


def test_a_checkpoint_of_all_holds_every_note_as_it_is(writer: Writer, store: Path) -> None:
    (store / "picture.png").write_bytes(b"not a note")
    (store / "README.md").write_text("not a note either")
    write_note(store, "user-name.md", "By hand.")
    write_note(store, "user-new.md", "By hand, new.")
    write_note(store, "user-held.md", "A SECRET that is never committed.")
    (store / "feedback-old.md").unlink()
    with writer.lock_store():
        made = writer.checkpoint_all(["user-name.md"])
    assert made.made
    assert made.digests.keys() == {"project-plan.md", "user-name.md", "user-new.md"}
    rows = git(store, "show", "--format=", "--name-status", "--relative").split()
    assert rows[::2] == ["A", "D", "M", "A"]
    assert rows[1::2] == ["MEMORY.md", "feedback-old.md", "user-name.md", "user-new.md"]
    with writer.lock_store():
        assert not writer.checkpoint_all(["user-name.md"]).made


def test_a_note_a_sparse_checkout_leaves_out_is_not_gone(writer: Writer, store: Path) -> None:
    git(store, "update-index", "--skip-worktree", "user-name.md")
    (store / "user-name.md").unlink()
    with writer.lock_store():
        assert not writer.checkpoint_all(()).made
    assert git(store, "ls-tree", "HEAD", "user-name.md")


def test_a_note_git_is_not_to_see_is_left_out_or_refused(writer: Writer, store: Path) -> None:
    git(store, "update-index", "--assume-unchanged", "user-name.md")
    write_note(store, "user-name.md", "Git calls this clean.")
    with writer.lock_store():
        assert "user-name.md" not in writer.checkpoint_all(()).digests
        with pytest.raises(RepositoryState, match="assume-unchanged"):
            writer.checkpoint_all(["user-name.md"])


def test_a_file_of_a_persons_under_our_name_stops_the_write(writer: Writer, store: Path) -> None:
    (store / "MEMORY.md").write_text("my own list\n")
    head = tip(store)
    with pytest.raises(MdmemoryError, match="not generated"):
        add(writer)
    assert tip(store) == head
    assert not (store / "user-fresh.md").exists()


def test_an_untracked_index_is_written_and_not_committed(repository: Path, store: Path) -> None:
    (repository / "mdmemory.toml").write_text("[index]\ntracked = false\n")
    done = add(open_writer(repository))
    files = git(store, "show", "--format=", "--name-only", done.commit).split()
    assert files == ["notes/memory/user-fresh.md"]
    heads = [note.note.head for note in Store(store).notes()]
    assert (store / "MEMORY.md").read_text() == indexed.build(heads).memory


def test_the_overflow_goes_when_it_is_empty(repository: Path, store: Path) -> None:
    (repository / "mdmemory.toml").write_text("[index]\nmax_entries = 3\n")
    add(open_writer(repository))
    assert git(store, "ls-files", "_MORE.md")
    assert remove(open_writer(repository), "user-fresh.md").kept == ()
    assert not (store / "_MORE.md").exists()
    assert git(store, "ls-files", "_MORE.md") == ""


def test_state_that_git_tracks_is_not_used(writer: Writer, repository: Path) -> None:
    (repository / ".mdmemory").mkdir()
    (repository / ".mdmemory" / "state.db").write_bytes(b"planted")
    git(repository, "add", "-f", ".mdmemory")
    assert add(writer).commit
    with writer.state() as state:
        assert state.last_pass() is None
    assert "git rm -r --cached" in writer.told[0]
    assert os.listdir(repository / ".mdmemory") == ["state.db"]
    assert (repository / ".mdmemory" / "state.db").read_bytes() == b"planted"


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_a_message_is_utf8_whatever_git_is_set_to(
    encoding: str, writer: Writer, store: Path
) -> None:
    git(store, "config", "i18n.commitEncoding", encoding)
    add(writer, "喜欢.md")
    assert "encoding" not in git(store, "cat-file", "commit", "HEAD").split("\n\n")[0]
    assert writer.history.log_of("Memory-Id")[0].ops == ("change 喜欢.md",)


def test_a_commit_that_a_model_caused_has_its_own_author(writer: Writer, store: Path) -> None:
    add(writer)
    assert git(store, "log", "-1", "--format=%an").strip() == "A Person"
    do(writer, Change("user-two.md", None, FRESH), by_model=True)
    assert git(store, "log", "-1", "--format=%an %ae").strip() == "mdmemory mdmemory@localhost"


def test_a_failing_git_is_one_sentence_and_nothing_is_changed(writer: Writer, store: Path) -> None:
    add(writer)
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    git_dir, tree = store.parents[1] / ".git", tip(store, "HEAD:notes")
    (git_dir / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitFailed):
        replace(writer, "user-name.md")
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before
    assert not (git_dir / "index.lock").exists()


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
def test_worktrees_of_one_repository_share_the_lock(store: Path, tmp_path: Path) -> None:
    git(store, "worktree", "add", "-q", str(tmp_path / "linked"))
    roots = [store.parents[1], tmp_path / "linked"]
    acts = [lambda root=root: [add(open_writer(root), f"user-{n}.md") for n in range(3)]
            for root in roots]  # fmt: skip
    assert together(*acts) == [0, 0]
    for root in roots:
        assert git(root, "status", "--porcelain") == ""
        assert len(git(root, "log", "--format=%h", "--", "notes/memory").split()) == 4


# A program that had a note open before it was replaced may still write: that is not lost.

leases = pytest.mark.skipif(
    not hasattr(fcntl, "F_SETLEASE"), reason="only Linux tells who has a file open"
)
NEW = b"---\nname: name\ndescription: Another\n---\n\nAnother text.\n"


def hidden(store: Path) -> list[Path]:
    return sorted(store.glob(".mdmemory-*"))


@leases
@pytest.mark.parametrize("new", [NEW, None])
def test_what_is_appended_through_an_open_file_after_an_edit_is_kept(
    writer: Writer, store: Path, new: bytes | None
) -> None:
    path = store / "user-name.md"
    before = path.read_bytes()
    with path.open("ab") as handle:
        done = replace(writer, "user-name.md", new)
        assert done.commit, "the edit is done all the same"
        assert done.kept == ()
        assert "has its former text open" in writer.told[-1]
        (kept,) = hidden(store)
        replace(writer, "project-plan.md", NEW)
        assert hidden(store) == [kept], "as long as it is open it stays"
        handle.write(b"twenty bytes, by hand\n")
    assert replacement.find_late_texts(store) == [kept], "doctor names it"
    replace(writer, "project-plan.md", NEW + b"\n")
    (grown,) = hidden(store)
    assert grown.read_bytes() == before + b"twenty bytes, by hand\n"
    assert grown.name in writer.told[-1]
    assert (path.read_bytes() if path.exists() else None) == new
    count = len(writer.told)
    replace(writer, "project-plan.md", NEW)
    assert (hidden(store), len(writer.told)) == ([grown], count), "it is told once, and stays"
    assert replacement.find_late_texts(store) == [grown]


@leases
def test_a_file_open_and_not_written_to_leaves_nothing(writer: Writer, store: Path) -> None:
    with (store / "user-name.md").open("rb"):  # who only reads is nobody's business
        replace(writer, "user-name.md", NEW)
    assert (hidden(store), writer.told) == ([], [])
    with (store / "user-name.md").open("ab"):
        replace(writer, "user-name.md", NEW + b"\n")
    assert len(hidden(store)) == 1
    replace(writer, "project-plan.md", NEW)
    assert hidden(store) == []
    assert len(writer.told) == 1


@leases
def test_where_nothing_tells_who_has_a_file_open_all_goes_on(
    writer: Writer, store: Path, monkeypatch: Patch
) -> None:
    def refused(*_: object) -> None:  # as a disk that grants no lease to anybody
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "fcntl", refused)
    assert not files.is_open_for_writing(store / "user-name.md")
    replace(writer, "user-name.md", NEW)
    assert hidden(store) == []


# Files are written whole or not at all, and a disk that says no is one sentence.

SENTENCES = {
    errno.ENOSPC: "Free some space",
    errno.EROFS: "read-only",
    errno.EACCES: "permissions",
    errno.EPERM: "permissions",
    errno.EIO: "Nothing was changed",
}


@pytest.mark.parametrize("code", SENTENCES)
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_what_the_disk_refuses_is_said_and_leaves_the_file_as_it_was(
    code: int, call: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(Unwritable) as refused:
            write_atomic(path, b"new")
    assert SENTENCES[code].casefold() in refused.value.hint.casefold()
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"old"]


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: Patch) -> None:
    def refuse(path: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    # not by chmod: the superuser, whom tests may run as, passes over that
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(MdmemoryError, match="cannot be read: Permission denied") as refused:
        read_regular(tmp_path / "note.md")
    assert "permissions" in refused.value.hint


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_disk_without_hard_links_is_named(code: int, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(os, "link", _without_links(tmp_path, code))
    with pytest.raises(Unwritable, match="no hard links"):
        link_file(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("where", [".git", "notes"])
def test_without_hard_links_nothing_is_changed(where: str, store: Path, monkeypatch: Patch) -> None:
    root = store.parents[1]
    writer, before = open_writer(root), (store / "user-name.md").read_bytes()
    writer.refresher.refresh()
    head, state = tip(root), git(root, "status", "--porcelain")
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", _without_links(root / where, errno.EPERM))
        with pytest.raises(Unwritable, match="no hard links"):
            edit(writer, "name", body="Another.", today="2026-01-01")
    assert (store / "user-name.md").read_bytes() == before
    assert (tip(root), git(root, "status", "--porcelain")) == (head, state)
    assert not list(store.glob(".mdmemory-*"))
    assert edit(writer, "name", body="Another.", today="2026-01-01").written.commit


def _without_links(folder: Path, code: int) -> Callable[..., None]:
    real = os.link

    def refuse(path: Path, other: Path) -> None:
        if Path(other).is_relative_to(folder):
            raise OSError(code, os.strerror(code))
        real(path, other)

    return refuse
