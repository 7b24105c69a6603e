"""A write changes our files, in one commit, and nothing of anybody else's, not a byte or a flag."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from projects import commit_all, git, tip
from stores import write_note

from mdmemory.errors import GitFailed, MdmemoryError, NoteChanged, RepositoryState
from mdmemory.files import digest
from mdmemory.git import index_file, repositories, transaction
from mdmemory.git.commits_of_store import KEEP, History, Message
from mdmemory.git.index_file import KEPT
from mdmemory.git.journal import Journals
from mdmemory.git.transaction import Applied, Change, Checkpoint, Transactions

Act = Callable[[Path], object]
Stop = Callable[..., None]
Patch = pytest.MonkeyPatch
FRESH = b"---\nname: fresh\n---\n\nFresh.\n"
SUBJECT = "memory: a test"
MESSAGE = Message(SUBJECT, trailers=(("Memory-Id", "m-test"),))


def of(folder: Path) -> Transactions:
    return Transactions(History(repositories.find(folder), folder))  # type: ignore[arg-type]


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


def assert_clean(root: Path) -> None:
    """Nothing of ours is left lying about, and the repository is sound."""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    git_dir = Path(tip(root, "--absolute-git-dir"))
    assert not (git_dir / "index.lock").exists()
    assert [*(git_dir / "mdmemory").iterdir()] == []
    assert [path for path in root.rglob(".mdmemory-*") if path.is_file()] == []


@pytest.fixture
def busy(store: Path) -> Path:
    """A store whose repository is in the middle of a person's day."""
    root = store.parents[1]
    for name in ("staged", "both", "changed", "hidden", "sparse", "gone", "moved", "run"):
        (root / name).write_text(f"{name} one\n")
    commit_all(root, "files")
    (root / "staged").write_text("staged two\n")
    (root / "both").write_text("both two\n")
    (root / "run").chmod(0o755)
    git(root, "add", "staged", "both", "run")
    git(root, "mv", "moved", "moved-away")
    git(root, "rm", "-q", "gone")
    git(root, "update-index", "--assume-unchanged", "hidden")
    git(root, "update-index", "--skip-worktree", "sparse")
    for name in ("both", "changed", "hidden", "intended", "untracked"):
        (root / name).write_text(f"{name} three\n")
    git(root, "add", "--intent-to-add", "intended")
    (store / "picture.png").write_bytes(b"\x00 not ours, though it lies in the store")
    return store


def others(root: Path) -> tuple[str, str, dict[str, bytes]]:
    """The index but for the store, to the last time stamp; and the files."""
    files = {name: data for name, data in everything(root).items() if not name.startswith(".git/")}
    mine = {name: data for name, data in files.items() if not name.endswith(".md")}
    staged = git(root, "ls-files", "-s", "-v", "--debug", ":!notes")
    return staged, git(root, "diff", "--cached", ":!notes"), mine


WRITES: dict[str, Act] = {
    "add": add,
    "edit": edit,
    "remove": lambda store: edit(store, new=None),
    "checkpoint": lambda store: of(store).checkpoint(["project-loose.md"], KEEP),
    "edit of what is in no commit": lambda store: edit(store, "project-loose.md"),
    "removal by hand": lambda store: of(store).checkpoint([], KEEP, gone=["feedback-lost.md"]),
}


@pytest.mark.parametrize("kind", WRITES)
def test_a_persons_work_elsewhere_stays_to_the_last_byte_and_flag(kind: str, busy: Path) -> None:
    root = busy.parents[1]
    write_note(busy, "feedback-lost.md", "To be removed by hand.")
    git(busy, "add", "feedback-lost.md")
    git(busy, "commit", "-q", "-m", "lost", "--", "feedback-lost.md")
    (busy / "feedback-lost.md").unlink()
    write_note(busy, "project-loose.md", "In no commit yet.")
    before, head = others(root), tip(root)
    WRITES[kind](busy)
    assert others(root) == before
    made = git(root, "log", "--format=", "--name-only", f"{head}..HEAD").split()
    assert made
    assert all(name.startswith("notes/memory/") and name.endswith(".md") for name in made)
    assert_clean(root)


@pytest.mark.parametrize("kind", ["add", "edit", "remove", "edit of what is in no commit"])
def test_the_next_plain_commit_does_not_revert_ours(kind: str, busy: Path) -> None:
    write_note(busy, "project-loose.md", "In no commit yet.")
    WRITES[kind](busy)
    ours = tip(busy, "HEAD:notes/memory")
    git(busy, "commit", "-q", "-m", "what was staged")
    assert tip(busy, "HEAD:notes/memory") == ours
    assert "staged" in git(busy, "show", "--format=", "--name-only", "HEAD").split()


def test_a_change_in_the_same_second_is_still_seen_by_git(store: Path) -> None:
    root = store.parents[1]
    git(root, "config", "core.trustCTime", "false")
    git(root, "config", "core.checkStat", "minimal")
    (root / "quick").write_text("one\n")
    commit_all(root)
    stamp = (root / "quick").stat().st_mtime_ns
    os.utime(root / ".git" / "index", ns=(stamp, stamp))
    (root / "quick").write_text("two\n")  # as long as before, and as old as the index
    os.utime(root / "quick", ns=(stamp, stamp))
    time.sleep(1.1)
    add(store)
    assert git(root, "status", "--porcelain") == " M quick\n"


def test_a_submodule_that_is_staged_is_not_swept_along(store: Path, tmp_path: Path) -> None:
    root = store.parents[1]
    git(tmp_path, "clone", "-q", str(root), "other")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "sub")
    git(root, "commit", "-q", "-m", "sub")
    git(root, "config", "submodule.sub.ignore", "all")
    git(root, "config", "diff.ignoreSubmodules", "all")
    who = ("-c", "user.name=x", "-c", "user.email=x")
    git(root / "sub", *who, "commit", "-q", "--allow-empty", "-m", "further")
    git(root, "update-index", "--cacheinfo", f"160000,{tip(root / 'sub')},sub")
    add(store)
    assert git(root, "show", "--format=", "--name-only").split() == ["notes/memory/user-fresh.md"]
    assert "sub" in git(root, "diff", "--cached", "--name-only", "--ignore-submodules=none")


def test_unmerged_files_elsewhere_stay_unmerged(store: Path) -> None:
    root = store.parents[1]
    (root / "README").write_text("stashed\n")
    git(root, "stash", "-q")
    (root / "README").write_text("committed\n")
    commit_all(root)
    with pytest.raises(AssertionError, match="stash pop"):
        git(root, "stash", "pop")
    assert (before := git(root, "ls-files", "-u")) != ""
    add(store)
    edit(store)
    assert git(root, "ls-files", "-u") == before
    assert_clean(root)


def test_text_that_is_staged_and_nowhere_else_stays_behind_a_ref(store: Path) -> None:
    kept = []
    for body in ("Staged first.", "Staged second."):
        kept.append(write_note(store, "user-name.md", body))
        git(store, "add", "user-name.md")
        write_note(store, "user-name.md", f"{body} Then edited.")
        edit(store, new=FRESH + body.encode())
    for back, data in enumerate(reversed(kept)):
        assert git(store, "show", f"{KEPT}~{back}:notes/memory/user-name.md").encode() == data
    assert git(store, "for-each-ref", "--format=%(refname)", "refs/mdmemory").split() == [KEPT]


def test_a_ref_is_made_only_for_bytes_that_would_be_lost(store: Path) -> None:
    add(store)
    write_note(store, "user-name.md", "Staged, and still there.")
    write_note(store, "user-new.md", "Only intended.")
    git(store, "add", "user-name.md")
    git(store, "add", "--intent-to-add", "user-new.md")
    edit(store)
    edit(store, "user-new.md")
    edit(store, "project-plan.md", None)
    assert git(store, "for-each-ref", "refs/mdmemory") == ""
    assert_clean(store)


def hide(store: Path, how: str = "skip-worktree") -> None:
    git(store, "update-index", f"--{how}", "user-name.md")


@pytest.mark.parametrize("how", ["assume-unchanged", "skip-worktree"])
@pytest.mark.parametrize("stands", ["changed", "as it was", "not at all"])
def test_a_note_git_does_not_look_at_is_not_touched(how: str, stands: str, store: Path) -> None:
    hide(store, how)
    write = edit
    if stands == "changed":
        write_note(store, "user-name.md", "Git calls this clean.")
        with pytest.raises(RepositoryState, match="assume-unchanged"):
            of(store).checkpoint(["user-name.md"], KEEP)
    elif stands == "not at all":  # a sparse checkout leaves it out, and the name is taken
        (store / "user-name.md").unlink()
        write = add
    before = everything(store.parents[1])
    with pytest.raises(RepositoryState, match=r"assume-unchanged.*skip-worktree"):
        write(store, "user-name.md")
    assert everything(store.parents[1]) == before
    assert [*of(store).list_unseen(["user-name.md", "project-plan.md"])] == ["user-name.md"]


def test_an_ignored_note_is_refused_and_one_that_is_tracked_is_not(store: Path) -> None:
    (store / ".gitignore").write_text("*.md\n")
    write_note(store, "project-loose.md", "Ignored.")
    for write in (lambda: of(store).checkpoint(["project-loose.md"], KEEP), lambda: add(store)):
        with pytest.raises(RepositoryState, match="ignored by git"):
            write()
    assert edit(store).commit
    assert_clean(store)


def test_a_derived_file_that_git_is_told_not_to_see_is_left_out(store: Path) -> None:
    hide(store)
    derived = Change("user-name.md", None, b"index", derived=True)
    head = tip(store, "HEAD:notes/memory/user-name.md")
    assert write(store, derived) == Applied(None)
    assert write(store, derived, Change("user-fresh.md", None, FRESH)).commit
    assert tip(store, "HEAD:notes/memory/user-name.md") == head
    assert git(store, "ls-files", "-v", "user-name.md")[0] == "S"


def test_a_checkpoint_is_a_commit_that_holds_the_bytes(store: Path) -> None:
    seen = {file: write_note(store, file, "By hand.") for file in ("user-name.md", "user-two.md")}
    made = of(store).checkpoint([*seen, "project-plan.md"], KEEP)
    assert made.made
    assert made.digests["user-two.md"] == digest(seen["user-two.md"])
    for file, data in seen.items():
        assert git(store, "show", f"{made.commit}:notes/memory/{file}").encode() == data
    again = of(store).checkpoint([*seen, "project-plan.md"], KEEP)
    assert (again.made, again.commit, again.digests) == (False, made.commit, made.digests)


def test_line_ends_and_filters_do_not_change_the_bytes(store: Path) -> None:
    git(store, "config", "core.autocrlf", "true")
    git(store, "config", "filter.upper.clean", "tr a-z A-Z")
    (store / ".gitattributes").write_text("*.md filter=upper text eol=crlf\n")
    data = b"---\r\nname: crlf\r\n---\r\n\r\nmixed\nends\r"
    (store / "user-name.md").write_bytes(data)
    made = of(store).checkpoint(["user-name.md"], KEEP)
    out = ["git", "-C", str(store), "cat-file", "blob", f"{made.commit}:notes/memory/user-name.md"]
    assert subprocess.run(out, capture_output=True, check=True).stdout == data


def test_a_checkpoint_that_is_not_in_the_commit_is_none(store: Path, monkeypatch: Patch) -> None:
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


def test_a_note_that_came_back_the_same_is_written_all_the_same(store: Path) -> None:
    data = (store / "user-name.md").read_bytes()
    (store / "user-name.md").unlink()
    assert write(store, Change("user-name.md", None, data)) == Applied(None)
    assert (store / "user-name.md").read_bytes() == data
    assert git(store, "status", "--porcelain") == ""


CHANGED: dict[str, Act] = {
    "edited": lambda path: path.write_bytes(b"by hand"),
    "gone": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link": lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("how", CHANGED)
def test_a_file_that_is_not_what_was_read_stops_the_write(how: str, store: Path) -> None:
    transactions, old = of(store), digest((store / "user-name.md").read_bytes())
    checkpoint = transactions.checkpoint(["user-name.md"], KEEP)
    CHANGED[how](store / "user-name.md")
    before = everything(store.parents[1])
    changes = [Change("user-fresh.md", None, FRESH), Change("user-name.md", old, None)]
    with pytest.raises(NoteChanged):
        transactions.apply(changes, checkpoint, MESSAGE)
    assert everything(store.parents[1]) == before


@pytest.mark.parametrize("how", CHANGED)
def test_what_has_taken_a_name_is_never_replaced(how: str, store: Path) -> None:
    (store / "user-fresh.md").touch()
    CHANGED[how](store / "user-fresh.md")
    if how == "gone":
        (store / "user-fresh.md").touch()
    with pytest.raises(NoteChanged, match="exists already"):
        add(store)


def meanwhile(monkeypatch: Patch, act: Callable[[], object]) -> None:
    """Have somebody act between the building of the commit and the moving of the branch."""
    real = History.build

    def build(*words: Any) -> str:
        made = real(*words)
        act()
        return made

    monkeypatch.setattr(History, "build", build)


def test_when_the_branch_moved_meanwhile_all_is_as_it_was(store: Path, monkeypatch: Patch) -> None:
    root = store.parents[1]
    tree = tip(root, "HEAD^{tree}")
    other = git(root, "commit-tree", tree, "-p", "HEAD", "-m", "theirs").strip()
    before = everything(root)
    meanwhile(monkeypatch, lambda: git(root, "update-ref", "HEAD", other))
    with pytest.raises(RepositoryState, match="committed to main in this moment"):
        edit(store)
    assert tip(root) == other
    after = everything(root)
    moved = {name for name in after if name.startswith((".git/refs", ".git/logs"))}
    assert after == before | {name: after[name] for name in moved}
    assert_clean(root)


def test_a_foreign_index_lock_is_refused_and_left_alone(store: Path, monkeypatch: Patch) -> None:
    lock = store.parents[1] / ".git" / "index.lock"
    lock.write_bytes(b"theirs")
    before = everything(store.parents[1])
    monkeypatch.setattr(index_file, "PATIENCE", 0.1)
    with pytest.raises(RepositoryState, match=r"index\.lock"):
        edit(store)
    assert everything(store.parents[1]) == before


def test_while_we_write_git_keeps_out_of_the_index(store: Path, monkeypatch: Patch) -> None:
    def somebody_stages() -> None:
        (store / "picture.png").write_bytes(b"x")
        with pytest.raises(AssertionError, match=r"index\.lock"):
            git(store, "add", "picture.png")

    meanwhile(monkeypatch, somebody_stages)
    assert edit(store).commit
    assert_clean(store)


def made(*words: str) -> Callable[[Path], Path]:
    """Another repository beside `root`, made by this command of git."""

    def make(root: Path) -> Path:
        git(root.parent, *(word.format(root) for word in words), "made")
        return root.parent / "made"

    return make


def configured(*words: str) -> Callable[[Path], Path]:
    def make(root: Path) -> Path:
        git(root, *words)
        return root

    return make


def worktree(root: Path) -> Path:
    git(root, "worktree", "add", "-q", "-b", "side", "../linked")
    return root.parent / "linked"


def submodule(root: Path) -> Path:
    git(root.parent, "init", "-q", "outer")
    words = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "in")
    git(root.parent / "outer", *words)
    return root.parent / "outer" / "in"


def partial(root: Path) -> Path:
    git(root, "config", "uploadpack.allowFilter", "true")
    clone = made("clone", "-q", "--filter=blob:none", "--no-checkout", "file://{}")(root)
    git(clone, "read-tree", "HEAD")  # README is promised, and not there
    return clone


def sparse(*words: str) -> Callable[[Path], Path]:
    def make(root: Path) -> Path:
        (root / "src").mkdir()
        (root / "src" / "code").write_text("code\n")
        commit_all(root, "code")
        git(root, "sparse-checkout", "set", *words)
        assert not (root / "src").exists()
        return root

    return make


def nobody(root: Path) -> Path:
    for words in (("--unset", "user.name"), ("--unset", "user.email")):
        git(root, "config", *words)
    git(root, "config", "user.useConfigOnly", "true")
    return root


KINDS: dict[str, Callable[[Path], Path]] = {
    "unborn branch": made("init", "-q", "-b", "main"),
    "linked worktree": worktree,
    "submodule": submodule,
    "shallow clone": made("clone", "-q", "--depth=1", "file://{}"),
    "partial clone": partial,
    "names without case": configured("config", "core.ignoreCase", "true"),
    "sparse checkout": sparse("--no-cone", "/notes/"),
    "sparse checkout of folders": sparse("--cone", "notes"),
    "sparse index": sparse("--cone", "--sparse-index", "notes"),
    "sha256": made("init", "-q", "--object-format=sha256"),
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
def test_every_kind_of_repository_works(kind: str, repository: Path) -> None:
    root = KINDS[kind](repository)
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
    ours = "100644 " + tip(root, "HEAD:notes/memory/user-fresh.md")
    rows = git(root, "ls-files", "-s", "-v").splitlines()
    assert f"H {ours} 0\tnotes/memory/user-fresh.md" in rows
    assert [row for row in rows if "notes/" not in row] == before.splitlines()
    assert git(root, "rev-list", "--count", "HEAD", "--", "notes").strip() == "5"
    assert_clean(root)


NAMES = [
    "with space.md", 'quote"\'s.md', "back\\slash.md", "line\nbreak.md", "tab\t.md", "-dash.md",
    ":(glob)x.md", "[x].md", "$(touch x).md", "喜欢-简短.md", "e\u0301.md", "\u00e9.md",
    "l" * 252 + ".md", os.fsdecode(b"\xff\xfe.md"),
]  # fmt: skip


def test_notes_may_be_called_anything(store: Path) -> None:
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
    assert_clean(root)


def test_at_the_top_of_a_repository_names_are_names_too(repository: Path) -> None:
    for name in (":(top)x.md", ":!x.md", "*.md", "[x].md", "x.md"):
        assert add(repository, name).commit
        assert edit(repository, name, b"again").commit
    assert git(repository, "status", "--porcelain") == ""


def test_a_repository_may_lie_anywhere(tmp_path: Path) -> None:
    root = tmp_path / "two\nlines 'and' \"quotes\" é :(top)"
    git(tmp_path, "init", "-q", str(root))
    store = root / "notes [1]" / "-m"
    store.mkdir(parents=True)
    assert add(store).commit
    assert edit(store, "user-fresh.md", b"again").commit
    assert git(root, "status", "--porcelain") == ""
    assert_clean(root)


def test_the_executable_bit_stays_on_disk_and_in_git(store: Path) -> None:
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


def test_a_link_in_git_that_became_a_note_is_committed_as_a_file(store: Path) -> None:
    (store / "user-link.md").symlink_to("user-name.md")
    commit_all(store, "link")
    (store / "user-link.md").unlink()
    (store / "user-link.md").write_bytes(b"text")
    edit(store, "user-link.md")
    assert git(store, "ls-files", "-s", "user-link.md").startswith("100644")
    assert git(store, "status", "--porcelain") == ""


# after a crash: see test_crash.py; here what a person did before the next start


class Killed(BaseException):
    pass


@pytest.fixture
def stop(store: Path) -> Stop:
    """`stop(at)` begins a write of three files, and ends as if killed at this function of it.
    The lock on the index that is left then goes, unless it is `locked`."""

    def interrupt(at: str, locked: bool = False) -> None:
        name, plan = store / "user-name.md", store / "project-plan.md"
        changes = [
            Change(name.name, digest(name.read_bytes()), FRESH),
            Change(plan.name, digest(plan.read_bytes()), None),
            Change("user-fresh.md", None, FRESH),
        ]
        transactions = of(store)
        checkpoint = transactions.checkpoint([name.name, plan.name], KEEP)

        def die(*words: object) -> None:
            raise Killed

        owner, _, function = at.rpartition(".")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(getattr(transactions, owner) if owner else transactions, function, die)
            patch.setattr(transactions.staging, "release", lambda: None)
            if at == "move_branch":
                patch.setattr(transactions.journals, "drop", lambda: None)
            with pytest.raises(Killed):
                transactions.apply(changes, checkpoint, MESSAGE)
        assert transactions.journals.is_open()
        if not locked:
            (store.parents[1] / ".git" / "index.lock").unlink()

    return interrupt


def recover(store: Path) -> str:
    """Recover, and once more, which is idle; what git says of the work tree."""
    root = store.parents[1]
    assert transaction.recover(of(store))
    assert_clean(root)
    before = everything(root)
    assert not transaction.recover(of(store))
    assert everything(root) == before
    return git(root, "status", "--porcelain")


def test_a_write_stopped_before_the_branch_moved_is_finished(stop: Stop, store: Path) -> None:
    stop("move_branch", locked=True)
    head = tip(store)
    assert recover(store) == ""
    assert tip(store, "HEAD~1") == head
    assert (store / "user-fresh.md").read_bytes() == FRESH


def test_a_write_interrupted_behind_the_move_is_finished(store: Path, monkeypatch: Patch) -> None:
    def interrupt(journals: Journals) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journals, "mark_moved", interrupt)
        with pytest.raises(KeyboardInterrupt):
            edit(store)
    assert git(store, "log", "-1", "--format=%s") == "memory: a test\n"
    assert recover(store) == ""
    assert (store / "user-name.md").read_bytes() == FRESH


def test_a_commit_made_meanwhile_wins_over_a_write_not_done(stop: Stop, store: Path) -> None:
    stop("move_branch")
    git(store, "commit", "-q", "--allow-empty", "-m", "theirs")
    head = tip(store)
    assert recover(store) == ""
    assert tip(store) == head
    assert not (store / "user-fresh.md").exists()


def test_a_branch_taken_back_to_the_old_texts_keeps_them(stop: Stop, store: Path) -> None:
    old = texts(store)
    stop("journals.finish")
    git(store, "commit", "-q", "-m", "what the index says")
    assert recover(store) == ""
    assert texts(store) == old


THEIRS = b"written after the crash"
DONE = {"user-name.md": FRESH, "project-plan.md": None, "user-fresh.md": FRESH}
Stood = dict[str, bytes | None]


def go_on(store: Path, before: Stood) -> Stood:
    (store.parents[1] / "README").write_text("theirs\n")
    git(store.parents[1], "commit", "-q", "-m", "theirs", "--", "README")
    return DONE


def commit_others(store: Path, before: Stood) -> Stood:
    (store / "user-name.md").write_bytes(THEIRS)
    git(store, "commit", "-q", "-m", "theirs", "--", "user-name.md")
    return DONE | {"user-name.md": THEIRS}


def reset(store: Path, before: Stood) -> Stood:
    git(store, "reset", "-q", "--hard", "HEAD~1")
    stands = store / "user-fresh.md"  # untracked, if it stands there: reset leaves it
    return before | {"user-fresh.md": stands.read_bytes() if stands.exists() else None}


def switch(store: Path, before: Stood) -> Stood:
    git(store, "switch", "-q", "--force", "other")
    (store / "user-fresh.md").unlink(missing_ok=True)
    return before


def edit_all(store: Path, before: Stood) -> Stood:
    for name in DONE:
        (store / name).write_bytes(THEIRS)
    git(store, "add", "user-fresh.md")
    git(store, "update-index", "--assume-unchanged", "feedback-old.md")
    return dict.fromkeys(DONE, THEIRS)


@pytest.mark.parametrize("at", ["journals.finish", "staging.put", "journals.drop"])
@pytest.mark.parametrize("act", [go_on, commit_others, reset, switch, edit_all])
def test_what_a_person_commits_resets_switches_to_edits_or_stages_before_the_next_start_stays(
    act: Callable[[Path, Stood], Stood], at: str, stop: Stop, store: Path
) -> None:
    git(store, "branch", "other")
    before = {name: texts(store).get(name) for name in DONE}
    stop(at)
    after = act(store, before)
    head = tip(store)
    status = recover(store)
    assert {name: texts(store).get(name) for name in DONE} == after
    assert tip(store) == head
    subjects = {reset: "notes", go_on: "theirs", commit_others: "theirs"}
    assert git(store, "log", "-1", "--format=%s", "main") == f"{subjects.get(act, SUBJECT)}\n"
    if act is edit_all:
        assert git(store, "show", ":./user-fresh.md").encode() == THEIRS
        assert git(store, "ls-files", "-v", "feedback-old.md")[0] == "h"
    else:
        fresh = "?? notes/memory/user-fresh.md\n" if act is reset and after["user-fresh.md"] else ""
        assert status == fresh


def test_recovering_keeps_git_out_of_the_index(stop: Stop, store: Path, monkeypatch: Patch) -> None:
    stop("journals.finish")
    lock = store.parents[1] / ".git" / "index.lock"
    lock.write_bytes(b"theirs")
    before = texts(store)
    with monkeypatch.context() as patch:
        patch.setattr(index_file, "PATIENCE", 0.1)
        with pytest.raises(RepositoryState, match=r"index\.lock"):
            transaction.recover(of(store))
    assert texts(store) == before
    assert lock.read_bytes() == b"theirs"
    lock.unlink()
    assert recover(store) == ""


def test_a_commit_that_gc_removed_is_given_up(stop: Stop, store: Path) -> None:
    stop("move_branch", locked=True)
    git(store, "prune", "--expire=now")
    head = tip(store)
    assert recover(store) == ""
    assert tip(store) == head


def test_a_project_that_was_moved_since_is_recovered_where_it_is(stop: Stop, store: Path) -> None:
    stop("journals.finish", locked=True)
    moved = store.parents[1].rename(store.parents[2] / "moved")
    assert recover(moved / "notes" / "memory") == ""


def test_a_store_that_is_gone_stops_no_recovery(stop: Stop, store: Path) -> None:
    stop("journals.finish", locked=True)
    shutil.rmtree(store)
    root = store.parents[1]
    assert transaction.recover(of(root))
    assert not (root / ".git" / "index.lock").exists()
    assert not of(root).journals.is_open()
