"""A write changes our files, in one commit, and nothing of anybody else's, not a byte or a flag."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mdmemory.errors import GitFailed, MdmemoryError, NoteChanged, RepositoryState
from mdmemory.files import digest
from mdmemory.git import index_file, transaction
from mdmemory.git import repositories as our_git
from mdmemory.git.commits_of_store import KEEP, History, Message
from mdmemory.git.index_file import KEPT
from mdmemory.git.journal import Journals
from mdmemory.git.transaction import Applied, Change, Checkpoint, Transactions

Git = Callable[..., str]
WriteNote = Callable[[Path, str, str], bytes]
FRESH = b"---\nname: fresh\n---\n\nFresh.\n"
MESSAGE = Message("memory: a test", trailers=(("Memory-Id", "m-test"),))


def of(folder: Path) -> Transactions:
    repository = our_git.find(folder)
    assert repository
    return Transactions(History(repository, folder))


def write(folder: Path, *changes: Change) -> Applied:
    """The changes, behind a checkpoint of what they replace."""
    transactions = of(folder)
    old = [change.file for change in changes if change.old is not None]
    return transactions.apply(changes, transactions.checkpoint(old, KEEP), MESSAGE)


def add(folder: Path, file: str = "user-fresh.md") -> Applied:
    return write(folder, Change(file, None, FRESH))


def edit(folder: Path, file: str = "user-name.md", new: bytes | None = FRESH) -> Applied:
    return write(folder, Change(file, digest((folder / file).read_bytes()), new))


def everything(root: Path) -> dict[str, bytes]:
    """All files but new objects, of which nothing can be told by name."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "objects" not in path.parts
    }


def texts(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.iterdir()}


def assert_clean(root: Path, git: Git) -> None:
    """Nothing of ours is left lying about, and the repository is sound."""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    git_dir = Path(git(root, "rev-parse", "--absolute-git-dir").strip())
    assert not (git_dir / "index.lock").exists()
    assert [*(git_dir / "mdmemory").iterdir()] == []
    assert [path for path in root.rglob(".mdmemory-*") if path.is_file()] == []


# what is not ours


@pytest.fixture
def busy(store: Path, git: Git) -> Path:
    """A store whose repository is in the middle of a person's day."""
    root = store.parents[1]
    for name in ("staged", "both", "changed", "hidden", "sparse", "gone", "moved", "run"):
        (root / name).write_text(f"{name} one\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "files")
    for name in ("staged", "both"):
        (root / name).write_text(f"{name} two\n")
    (root / "run").chmod(0o755)
    git(root, "add", "staged", "both", "run")
    git(root, "mv", "moved", "moved-away")
    git(root, "rm", "-q", "gone")
    git(root, "update-index", "--assume-unchanged", "hidden")
    git(root, "update-index", "--skip-worktree", "sparse")
    (root / "both").write_text("both three\n")
    (root / "changed").write_text("changed two\n")
    (root / "hidden").write_text("hidden two\n")
    (root / "intended").write_text("soon\n")
    git(root, "add", "--intent-to-add", "intended")
    (root / "untracked").write_text("untracked\n")
    (store / "picture.png").write_bytes(b"\x00 not ours, though it lies in the store")
    return store


def others(root: Path, git: Git) -> tuple[str, str, dict[str, bytes]]:
    """The index but for the store, to the last time stamp; and the files."""
    files = {name: data for name, data in everything(root).items() if not name.startswith(".git/")}
    mine = {name: data for name, data in files.items() if not name.endswith(".md")}
    return (
        git(root, "ls-files", "-s", "-v", "--debug", ":!notes"),
        git(root, "diff", "--cached", ":!notes"),
        mine,
    )


WRITES: dict[str, Callable[[Path], object]] = {
    "add": add,
    "edit": edit,
    "remove": lambda store: edit(store, new=None),
    "checkpoint": lambda store: of(store).checkpoint(["project-loose.md"], KEEP),
    "edit of what is in no commit": lambda store: edit(store, "project-loose.md"),
    "removal by hand": lambda store: of(store).checkpoint([], KEEP, gone=["feedback-lost.md"]),
}


@pytest.mark.parametrize("kind", WRITES)
def test_a_persons_work_elsewhere_stays_to_the_last_byte_and_flag(
    kind: str, busy: Path, git: Git, write_note: WriteNote
) -> None:
    root = busy.parents[1]
    write_note(busy, "feedback-lost.md", "To be removed by hand.")
    git(root, "add", "notes/memory/feedback-lost.md")
    git(root, "commit", "-q", "-m", "lost", "--", "notes/memory/feedback-lost.md")
    (busy / "feedback-lost.md").unlink()
    write_note(busy, "project-loose.md", "In no commit yet.")
    before, head = others(root, git), git(root, "rev-parse", "HEAD").strip()
    WRITES[kind](busy)
    assert others(root, git) == before
    made = git(root, "log", "--format=", "--name-only", f"{head}..HEAD").split()
    assert made
    assert all(name.startswith("notes/memory/") and name.endswith(".md") for name in made)
    assert_clean(root, git)


@pytest.mark.parametrize("kind", ["add", "edit", "remove", "edit of what is in no commit"])
def test_the_next_plain_commit_does_not_revert_ours(
    kind: str, busy: Path, git: Git, write_note: WriteNote
) -> None:
    write_note(busy, "project-loose.md", "In no commit yet.")
    WRITES[kind](busy)
    ours = git(busy, "rev-parse", "HEAD:notes/memory")
    git(busy, "commit", "-q", "-m", "what was staged")
    assert git(busy, "rev-parse", "HEAD:notes/memory") == ours
    assert "staged" in git(busy, "show", "--format=", "--name-only", "HEAD").split()


def test_a_change_in_the_same_second_is_still_seen_by_git(store: Path, git: Git) -> None:
    root = store.parents[1]
    git(root, "config", "core.trustCTime", "false")
    git(root, "config", "core.checkStat", "minimal")
    (root / "quick").write_text("one\n")
    git(root, "add", "quick")
    git(root, "commit", "-q", "-m", "quick")
    stamp = (root / "quick").stat().st_mtime_ns
    os.utime(root / ".git" / "index", ns=(stamp, stamp))
    (root / "quick").write_text("two\n")  # as long as before, and as old as the index
    os.utime(root / "quick", ns=(stamp, stamp))
    time.sleep(1.1)
    add(store)
    assert git(root, "status", "--porcelain") == " M quick\n"


def test_a_submodule_that_is_staged_is_not_swept_along(
    store: Path, git: Git, tmp_path: Path
) -> None:
    root = store.parents[1]
    git(tmp_path, "clone", "-q", str(root), "other")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "sub")
    git(root, "commit", "-q", "-m", "sub")
    git(root, "config", "submodule.sub.ignore", "all")
    git(root, "config", "diff.ignoreSubmodules", "all")
    git(root / "sub", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty",
        "-m", "further")  # fmt: skip
    git(
        root,
        "update-index",
        "--cacheinfo",
        f"160000,{git(root / 'sub', 'rev-parse', 'HEAD').strip()},sub",
    )
    add(store)
    assert git(root, "show", "--format=", "--name-only").split() == ["notes/memory/user-fresh.md"]
    assert "sub" in git(root, "diff", "--cached", "--name-only", "--ignore-submodules=none")


def test_unmerged_files_elsewhere_stay_unmerged(store: Path, git: Git) -> None:
    root = store.parents[1]
    (root / "README").write_text("stashed\n")
    git(root, "stash", "-q")
    (root / "README").write_text("committed\n")
    git(root, "commit", "-q", "-a", "-m", "other")
    with pytest.raises(AssertionError, match="stash pop"):
        git(root, "stash", "pop")
    before = git(root, "ls-files", "-u")
    assert before
    add(store)
    edit(store)
    assert git(root, "ls-files", "-u") == before
    assert_clean(root, git)


# what is staged of a note


def test_text_that_is_staged_and_nowhere_else_stays_behind_a_ref(
    store: Path, git: Git, write_note: WriteNote
) -> None:
    kept = []
    for body in ("Staged first.", "Staged second."):
        kept.append(write_note(store, "user-name.md", body))
        git(store, "add", "user-name.md")
        write_note(store, "user-name.md", f"{body} Then edited.")
        edit(store, new=FRESH + body.encode())
    for back, data in enumerate(reversed(kept)):
        assert git(store, "show", f"{KEPT}~{back}:notes/memory/user-name.md").encode() == data
    assert git(store, "for-each-ref", "--format=%(refname)", "refs/mdmemory").split() == [KEPT]


def test_a_ref_is_made_only_for_bytes_that_would_be_lost(
    store: Path, git: Git, write_note: WriteNote
) -> None:
    add(store)
    write_note(store, "user-name.md", "Staged, and still there.")
    write_note(store, "user-new.md", "Only intended.")
    git(store, "add", "user-name.md")
    git(store, "add", "--intent-to-add", "user-new.md")
    edit(store)
    edit(store, "user-new.md")
    edit(store, "project-plan.md", None)
    assert git(store, "for-each-ref", "refs/mdmemory") == ""
    assert_clean(store, git)


# what git was told not to see


HIDDEN: dict[str, Callable[[Path, Git], object]] = {
    "assume-unchanged": lambda store, git: git(
        store, "update-index", "--assume-unchanged", "user-name.md"
    ),
    "skip-worktree": lambda store, git: git(
        store, "update-index", "--skip-worktree", "user-name.md"
    ),
}


@pytest.mark.parametrize("how", HIDDEN)
@pytest.mark.parametrize("changed", [True, False])
def test_a_note_that_git_does_not_look_at_is_not_touched(
    how: str, changed: bool, store: Path, git: Git, write_note: WriteNote
) -> None:
    HIDDEN[how](store, git)
    if changed:
        write_note(store, "user-name.md", "Git calls this clean.")
        with pytest.raises(RepositoryState, match="assume-unchanged"):
            of(store).checkpoint(["user-name.md"], KEEP)
    before = everything(store.parents[1])
    with pytest.raises(RepositoryState, match="assume-unchanged"):
        edit(store)
    assert everything(store.parents[1]) == before
    assert [*of(store).list_unseen(["user-name.md", "project-plan.md"])] == ["user-name.md"]


def test_a_name_that_a_sparse_checkout_leaves_out_is_taken(store: Path, git: Git) -> None:
    HIDDEN["skip-worktree"](store, git)
    (store / "user-name.md").unlink()
    with pytest.raises(RepositoryState, match="skip-worktree"):
        add(store, "user-name.md")


def test_an_ignored_note_is_refused_and_one_that_is_tracked_all_the_same_is_not(
    store: Path, git: Git, write_note: WriteNote
) -> None:
    (store / ".gitignore").write_text("*.md\n")
    write_note(store, "project-loose.md", "Ignored.")
    with pytest.raises(RepositoryState, match="ignored by git"):
        of(store).checkpoint(["project-loose.md"], KEEP)
    with pytest.raises(RepositoryState, match="ignored by git"):
        add(store)
    assert edit(store).commit
    assert_clean(store, git)


def test_a_derived_file_that_git_is_told_not_to_see_is_left_out(store: Path, git: Git) -> None:
    HIDDEN["skip-worktree"](store, git)
    derived = Change("user-name.md", None, b"index", derived=True)
    head = git(store, "rev-parse", "HEAD:notes/memory/user-name.md")
    assert write(store, derived) == Applied(None)
    assert write(store, derived, Change("user-fresh.md", None, FRESH)).commit
    assert git(store, "rev-parse", "HEAD:notes/memory/user-name.md") == head
    assert git(store, "ls-files", "-v", "user-name.md")[0] == "S"


# the checkpoint


def test_a_checkpoint_is_a_commit_that_holds_the_bytes(
    store: Path, git: Git, write_note: WriteNote
) -> None:
    seen = {file: write_note(store, file, "By hand.") for file in ("user-name.md", "user-two.md")}
    made = of(store).checkpoint([*seen, "project-plan.md"], KEEP)
    assert made.made
    assert made.digests["user-two.md"] == digest(seen["user-two.md"])
    for file, data in seen.items():
        assert git(store, "show", f"{made.commit}:notes/memory/{file}").encode() == data
    again = of(store).checkpoint([*seen, "project-plan.md"], KEEP)
    assert (again.made, again.commit, again.digests) == (False, made.commit, made.digests)


def test_line_ends_and_filters_do_not_change_the_bytes(store: Path, git: Git) -> None:
    git(store, "config", "core.autocrlf", "true")
    git(store, "config", "filter.upper.clean", "tr a-z A-Z")
    (store / ".gitattributes").write_text("*.md filter=upper text eol=crlf\n")
    data = b"---\r\nname: crlf\r\n---\r\n\r\nmixed\nends\r"
    (store / "user-name.md").write_bytes(data)
    made = of(store).checkpoint(["user-name.md"], KEEP)
    out = ["git", "-C", str(store), "cat-file", "blob", f"{made.commit}:notes/memory/user-name.md"]
    assert subprocess.run(out, capture_output=True, check=True).stdout == data


def test_a_checkpoint_that_is_not_in_the_commit_is_none(
    store: Path, git: Git, write_note: WriteNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_note(store, "user-name.md", "By hand.")
    before = everything(store.parents[1])
    monkeypatch.setattr(History, "build", lambda history, base, *words: base)
    with pytest.raises(GitFailed, match=r"does not hold user-name\.md"):
        of(store).checkpoint(["user-name.md"], KEEP)
    assert everything(store.parents[1]) == before


def test_without_a_checkpoint_nothing_is_replaced(store: Path) -> None:
    old = digest((store / "user-name.md").read_bytes())
    for empty in (Checkpoint(None, {}, False), Checkpoint("HEAD", {"user-name.md": "0"}, False)):
        with pytest.raises(MdmemoryError, match="No checkpoint holds"):
            of(store).apply([Change("user-name.md", old, FRESH)], empty, MESSAGE)
    assert digest((store / "user-name.md").read_bytes()) == old


def test_a_note_that_came_back_the_same_is_written_all_the_same(store: Path, git: Git) -> None:
    data = (store / "user-name.md").read_bytes()
    (store / "user-name.md").unlink()
    assert write(store, Change("user-name.md", None, data)) == Applied(None)
    assert (store / "user-name.md").read_bytes() == data
    assert git(store, "status", "--porcelain") == ""


# what else may happen


CHANGED: dict[str, Callable[[Path], object]] = {
    "edited": lambda path: path.write_bytes(b"by hand"),
    "gone": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link": lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("how", CHANGED)
def test_a_file_that_is_not_what_was_read_stops_the_write(how: str, store: Path, git: Git) -> None:
    path = store / "user-name.md"
    transactions, old = of(store), digest(path.read_bytes())
    checkpoint = transactions.checkpoint(["user-name.md"], KEEP)
    CHANGED[how](path)
    before = everything(store.parents[1])
    changes = [Change("user-fresh.md", None, FRESH), Change("user-name.md", old, None)]
    with pytest.raises(NoteChanged):
        transactions.apply(changes, checkpoint, MESSAGE)
    assert everything(store.parents[1]) == before


@pytest.mark.parametrize("how", [*CHANGED][1:])
def test_what_has_taken_a_name_is_never_replaced(how: str, store: Path) -> None:
    (store / "user-fresh.md").touch()
    if how == "gone":
        (store / "user-fresh.md").write_bytes(b"somebody's")
    else:
        CHANGED[how](store / "user-fresh.md")
    with pytest.raises(NoteChanged, match="exists already"):
        add(store)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Have somebody act between the building of the commit and the moving of the branch."""
    real = History.build

    def build(*words: Any) -> str:
        made = real(*words)
        act()
        return made

    monkeypatch.setattr(History, "build", build)


def test_when_the_branch_moved_meanwhile_everything_stays_as_it_was(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store.parents[1]
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    other = git(root, "commit-tree", tree, "-p", "HEAD", "-m", "theirs").strip()
    before = everything(root)
    meanwhile(monkeypatch, lambda: git(root, "update-ref", "HEAD", other))
    with pytest.raises(RepositoryState, match="committed to main in this moment"):
        edit(store)
    assert git(root, "rev-parse", "HEAD").strip() == other
    after = everything(root)
    moved = {name for name in after if name.startswith((".git/refs", ".git/logs"))}
    assert {n: d for n, d in after.items() if n not in moved} == {
        n: d for n, d in before.items() if n not in moved
    }
    assert_clean(root, git)


def test_a_foreign_index_lock_is_refused_and_left_alone(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = store.parents[1] / ".git" / "index.lock"
    lock.write_bytes(b"theirs")
    before = everything(store.parents[1])
    monkeypatch.setattr(index_file, "PATIENCE", 0.1)
    with pytest.raises(RepositoryState, match=r"index\.lock"):
        edit(store)
    assert everything(store.parents[1]) == before


def test_while_we_write_git_keeps_out_of_the_index(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def somebody_stages() -> None:
        (store / "picture.png").write_bytes(b"x")
        with pytest.raises(AssertionError, match=r"index\.lock"):
            git(store, "add", "picture.png")

    meanwhile(monkeypatch, somebody_stages)
    assert edit(store).commit
    assert_clean(store, git)


# kinds of repositories and names


def unborn(root: Path, git: Git) -> Path:
    git(root.parent, "init", "-q", "-b", "main", "unborn")
    return root.parent / "unborn"


def configured(*words: str) -> Callable[[Path, Git], Path]:
    def make(root: Path, git: Git) -> Path:
        git(root, *words)
        return root

    return make


def worktree(root: Path, git: Git) -> Path:
    git(root, "worktree", "add", "-q", "-b", "side", str(root.parent / "linked"))
    return root.parent / "linked"


def submodule(root: Path, git: Git) -> Path:
    git(root.parent, "init", "-q", "outer")
    words = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "in")
    git(root.parent / "outer", *words)
    return root.parent / "outer" / "in"


def shallow(root: Path, git: Git) -> Path:
    git(root.parent, "clone", "-q", "--depth=1", f"file://{root}", "shallow")
    return root.parent / "shallow"


def partial(root: Path, git: Git) -> Path:
    git(root, "config", "uploadpack.allowFilter", "true")
    words = ("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{root}", "partial")
    git(root.parent, *words)
    git(root.parent / "partial", "read-tree", "HEAD")  # README is promised, and not there
    return root.parent / "partial"


def sparse(*words: str) -> Callable[[Path, Git], Path]:
    def make(root: Path, git: Git) -> Path:
        (root / "src").mkdir()
        (root / "src" / "code").write_text("code\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "code")
        git(root, "sparse-checkout", "set", *words)
        assert not (root / "src").exists()
        return root

    return make


def sha256(root: Path, git: Git) -> Path:
    git(root.parent, "init", "-q", "--object-format=sha256", "sha256")
    return root.parent / "sha256"


def nobody(root: Path, git: Git) -> Path:
    git(root, "config", "--unset", "user.name")
    git(root, "config", "--unset", "user.email")
    git(root, "config", "user.useConfigOnly", "true")
    return root


KINDS: dict[str, Callable[[Path, Git], Path]] = {
    "unborn branch": unborn,
    "linked worktree": worktree,
    "submodule": submodule,
    "shallow clone": shallow,
    "partial clone": partial,
    "names without case": configured("config", "core.ignoreCase", "true"),
    "sparse checkout": sparse("--no-cone", "/notes/"),
    "sparse checkout of folders": sparse("--cone", "notes"),
    "sparse index": sparse("--cone", "--sparse-index", "notes"),
    "sha256": sha256,
    "index version 4": configured("update-index", "--index-version", "4"),
    "split index": configured("update-index", "--split-index"),
    "untracked cache": configured("update-index", "--untracked-cache"),
    "many files": configured("config", "feature.manyFiles", "true"),
    "no identity": nobody,
    "packed": configured("gc", "-q"),
    "no reflog": configured("config", "core.logAllRefUpdates", "false"),
    "file mode is not trusted": configured("config", "core.fileMode", "false"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_repository_works(kind: str, repository: Path, git: Git) -> None:
    root = KINDS[kind](repository, git)
    store = root / "notes" / "memory"
    store.mkdir(parents=True)
    before = git(root, "ls-files", "-s", "-v")
    (store / "user-hand.md").write_bytes(b"by hand")
    assert add(store).commit
    assert edit(store, "user-hand.md").unchanged == ()
    assert edit(store, "user-fresh.md", b"again").commit
    assert edit(store, "user-hand.md", None).commit
    assert [path.name for path in store.iterdir()] == ["user-fresh.md"]
    assert git(root, "status", "--porcelain", "--", "notes") == ""
    assert git(root, "show", "HEAD:notes/memory/user-fresh.md") == "again"
    ours = "100644 " + git(root, "rev-parse", "HEAD:notes/memory/user-fresh.md").strip()
    rows = git(root, "ls-files", "-s", "-v").splitlines()
    assert f"H {ours} 0\tnotes/memory/user-fresh.md" in rows
    assert [row for row in rows if "notes/" not in row] == before.splitlines()
    assert git(root, "rev-list", "--count", "HEAD", "--", "notes").strip() == "5"
    assert_clean(root, git)


NAMES = [
    "with space.md", 'quote"\'s.md', "back\\slash.md", "line\nbreak.md", "tab\t.md", "-dash.md",
    ":(glob)x.md", "[x].md", "$(touch x).md", "喜欢-简短.md", "e\u0301.md", "\u00e9.md",
    "l" * 252 + ".md", os.fsdecode(b"\xff\xfe.md"),
]  # fmt: skip


def test_notes_may_be_called_anything(store: Path, git: Git) -> None:
    root = store.parents[1]
    for name in NAMES[::2]:
        (store / name).write_bytes(os.fsencode(name))
    write(store, *(Change(name, None, os.fsencode(name)) for name in NAMES[1::2]))
    write(store, *(Change(name, digest(os.fsencode(name)), FRESH) for name in NAMES))
    assert all((store / name).read_bytes() == FRESH for name in NAMES)
    assert git(root, "status", "--porcelain") == ""
    write(store, *(Change(name, digest(FRESH), None) for name in NAMES))
    assert not any((store / name).exists() for name in NAMES)
    assert git(root, "status", "--porcelain") == ""
    assert_clean(root, git)


def test_at_the_top_of_a_repository_names_are_names_too(repository: Path, git: Git) -> None:
    for name in (":(top)x.md", ":!x.md", "*.md", "[x].md", "x.md"):
        assert add(repository, name).commit
        assert edit(repository, name, b"again").commit
    assert git(repository, "status", "--porcelain") == ""


def test_a_repository_may_lie_anywhere(tmp_path: Path, git: Git) -> None:
    root = tmp_path / "two\nlines 'and' \"quotes\" é :(top)"
    git(tmp_path, "init", "-q", str(root))
    store = root / "notes [1]" / "-m"
    store.mkdir(parents=True)
    assert add(store).commit
    assert edit(store, "user-fresh.md", b"again").commit
    assert git(root, "status", "--porcelain") == ""
    assert_clean(root, git)


def test_the_executable_bit_stays_on_disk_and_in_git(store: Path, git: Git) -> None:
    for name in ("committed.md", "loose.md"):
        (store / name).write_bytes(b"#!/bin/sh\n")
        (store / name).chmod(0o755)
    git(store, "add", "committed.md")
    git(store, "commit", "-q", "-m", "x")
    for name in ("committed.md", "loose.md"):
        edit(store, name)
        assert (store / name).stat().st_mode & 0o777 == 0o755
        assert git(store, "ls-files", "-s", name).startswith("100755")
    assert git(store, "status", "--porcelain") == ""


def test_a_link_in_git_that_became_a_note_is_committed_as_a_file(store: Path, git: Git) -> None:
    (store / "user-link.md").symlink_to("user-name.md")
    git(store, "add", ".")
    git(store, "commit", "-q", "-m", "link")
    (store / "user-link.md").unlink()
    (store / "user-link.md").write_bytes(b"text")
    edit(store, "user-link.md")
    assert git(store, "ls-files", "-s", "user-link.md").startswith("100644")
    assert git(store, "status", "--porcelain") == ""


# after a crash: see test_crash.py; here what a person did before the next start


def interrupted(store: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> Sequence[str]:
    """A write of three files that stops, as if killed, at the named function of the protocol."""
    changes = [
        Change("user-name.md", digest((store / "user-name.md").read_bytes()), FRESH),
        Change("project-plan.md", digest((store / "project-plan.md").read_bytes()), None),
        Change("user-fresh.md", None, FRESH),
    ]
    transactions = of(store)
    checkpoint = transactions.checkpoint(["user-name.md", "project-plan.md"], KEEP)

    class Killed(BaseException):
        pass

    def die(*words: object) -> None:
        raise Killed

    owner, _, name = at.rpartition(".")
    target = {"": transactions, "staging": transactions.staging, "journals": transactions.journals}
    with monkeypatch.context() as patch:
        patch.setattr(target[owner], name, die)
        patch.setattr(transactions.staging, "release", lambda: None)
        if at == "move_branch":
            patch.setattr(transactions.journals, "drop", lambda: None)
        with pytest.raises(Killed):
            transactions.apply(changes, checkpoint, MESSAGE)
    assert transactions.is_open()
    return [change.file for change in changes]


def recover(store: Path, git: Git) -> None:
    assert transaction.recover(of(store))
    assert_clean(store.parents[1], git)
    before = everything(store.parents[1])
    assert not transaction.recover(of(store))
    assert everything(store.parents[1]) == before


def test_a_write_stopped_before_the_branch_moved_is_finished(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, "move_branch")
    head = git(store, "rev-parse", "HEAD")
    recover(store, git)
    assert git(store, "rev-parse", "HEAD~1") == head
    assert git(store, "status", "--porcelain") == ""
    assert (store / "user-fresh.md").read_bytes() == FRESH


def test_a_write_that_is_interrupted_when_the_branch_has_moved_is_finished_next_time(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(journals: Journals) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journals, "mark_moved", interrupt)
        with pytest.raises(KeyboardInterrupt):
            edit(store)
    assert git(store, "log", "-1", "--format=%s") == "memory: a test\n"
    recover(store, git)
    assert (store / "user-name.md").read_bytes() == FRESH
    assert git(store, "status", "--porcelain") == ""


def test_a_commit_made_meanwhile_wins_over_a_write_that_had_not_happened(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, "move_branch")
    (store.parents[1] / ".git" / "index.lock").unlink()
    git(store, "commit", "-q", "--allow-empty", "-m", "theirs")
    head = git(store, "rev-parse", "HEAD")
    recover(store, git)
    assert git(store, "rev-parse", "HEAD") == head
    assert not (store / "user-fresh.md").exists()
    assert git(store, "status", "--porcelain") == ""


STOPPED = ("journals.finish", "staging.put", "journals.drop")


@pytest.mark.parametrize("at", STOPPED)
def test_a_branch_that_went_on_is_followed(
    at: str, store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, at)
    root = store.parents[1]
    (root / ".git" / "index.lock").unlink()
    (root / "README").write_text("theirs\n")
    git(root, "commit", "-q", "-m", "theirs", "--", "README")
    recover(store, git)
    assert git(root, "status", "--porcelain") == ""
    assert (store / "user-fresh.md").read_bytes() == FRESH


@pytest.mark.parametrize("at", STOPPED)
def test_a_commit_of_other_texts_of_our_files_is_a_persons_word(
    at: str, store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, at)
    (store.parents[1] / ".git" / "index.lock").unlink()
    (store / "user-name.md").write_bytes(b"committed after the crash")
    git(store, "commit", "-q", "-m", "theirs", "--", "user-name.md")
    recover(store, git)
    assert (store / "user-name.md").read_bytes() == b"committed after the crash"
    assert (store / "user-fresh.md").read_bytes() == FRESH
    assert not (store / "project-plan.md").exists()
    assert git(store, "status", "--porcelain") == ""


def test_a_branch_taken_back_to_the_old_texts_keeps_them(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = texts(store)
    interrupted(store, monkeypatch, "journals.finish")
    (store.parents[1] / ".git" / "index.lock").unlink()
    git(store, "commit", "-q", "-m", "what the index says")
    recover(store, git)
    assert texts(store) == old
    assert git(store, "status", "--porcelain") == ""


def test_while_it_recovers_git_keeps_out_of_the_index(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, "journals.finish")
    lock = store.parents[1] / ".git" / "index.lock"
    lock.unlink()
    lock.write_bytes(b"theirs")
    before = texts(store)
    with monkeypatch.context() as patch:
        patch.setattr(index_file, "PATIENCE", 0.1)
        with pytest.raises(RepositoryState, match=r"index\.lock"):
            transaction.recover(of(store))
    assert texts(store) == before
    assert lock.read_bytes() == b"theirs"
    lock.unlink()
    recover(store, git)
    assert git(store, "status", "--porcelain") == ""


@pytest.mark.parametrize("at", STOPPED)
def test_a_branch_that_was_reset_stays_reset(
    at: str, store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = texts(store)
    interrupted(store, monkeypatch, at)
    (store.parents[1] / ".git" / "index.lock").unlink()
    git(store, "reset", "-q", "--hard", "HEAD~1")
    head = git(store, "rev-parse", "HEAD")
    recover(store, git)
    assert git(store, "rev-parse", "HEAD") == head
    assert {name: (store / name).read_bytes() for name in old} == old
    assert git(store, "status", "--porcelain").replace("?? user-fresh.md\n", "") in (
        "", "?? notes/memory/user-fresh.md\n",
    )  # fmt: skip


@pytest.mark.parametrize("at", STOPPED)
def test_another_branch_that_is_checked_out_is_not_written_to(
    at: str, store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(store, "branch", "other")
    interrupted(store, monkeypatch, at)
    (store.parents[1] / ".git" / "index.lock").unlink()
    git(store, "switch", "-q", "--force", "other")
    (store / "user-fresh.md").unlink(missing_ok=True)
    recover(store, git)
    assert git(store, "status", "--porcelain") == ""
    assert git(store, "log", "-1", "--format=%s", "main") == "memory: a test\n"


@pytest.mark.parametrize("at", STOPPED)
def test_what_a_person_edits_stages_or_removes_before_the_next_start_stays(
    at: str, store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, at)
    (store.parents[1] / ".git" / "index.lock").unlink()
    (store / "user-name.md").write_bytes(b"edited after the crash")
    (store / "project-plan.md").write_bytes(b"new after the crash")
    (store / "user-fresh.md").write_bytes(b"staged after the crash")
    git(store, "add", "user-fresh.md")
    git(store, "update-index", "--assume-unchanged", "feedback-old.md")
    recover(store, git)
    assert (store / "user-name.md").read_bytes() == b"edited after the crash"
    assert (store / "project-plan.md").read_bytes() == b"new after the crash"
    assert (store / "user-fresh.md").read_bytes() == b"staged after the crash"
    assert git(store, "show", ":notes/memory/user-fresh.md") == "staged after the crash"
    assert git(store, "ls-files", "-v", "feedback-old.md")[0] == "h"


def test_a_commit_that_gc_removed_is_given_up(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, "move_branch")
    git(store, "prune", "--expire=now")
    head = git(store, "rev-parse", "HEAD")
    recover(store, git)
    assert git(store, "rev-parse", "HEAD") == head
    assert git(store, "status", "--porcelain") == ""


def test_a_project_that_was_moved_since_is_recovered_where_it_is(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, "journals.finish")
    moved = store.parents[2] / "moved"
    store.parents[1].rename(moved)
    recover(moved / "notes" / "memory", git)
    assert git(moved, "status", "--porcelain") == ""


def test_a_store_that_is_gone_stops_no_recovery(
    store: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(store, monkeypatch, "journals.finish")
    for path in store.iterdir():
        path.unlink()
    store.rmdir()
    root = store.parents[1]
    assert transaction.recover(of(root))
    assert not (root / ".git" / "index.lock").exists()
    assert not of(root).is_open()
