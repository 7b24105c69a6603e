"""What a person erases is in no object of git, and in no file of the store's folder."""

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pace import FULL, HUNG
from projects import Git, Patch, Run, script
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import GitFailed, MdmemoryError, NotFound, RepositoryState
from mdmemory.git import filter_repo
from mdmemory.git.repositories import Repository
from mdmemory.store import receipt_box
from mdmemory.transcripts.turns import Turn

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
SECRET = "The affair with Graz Media ended over the unpaid invoice of May"
FIRST = "The affair with Graz Media began over the invoice of the spring"
OTHER = "Parcels above 31.5 kg go with the freight carrier"
KEPT = ["Carriers are paid monthly", OTHER]
YES = lambda _: True  # noqa: E731


def said(root: Path) -> bytes:
    """All that git's objects hold, reachable or not, and every file below the folder."""
    words = ("cat-file", "--batch-all-objects", "--batch", "--unordered")
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, timeout=HUNG)
    assert done.returncode == 0
    return done.stdout + b"".join(p.read_bytes() for p in root.rglob("*") if p.is_file())


def fill(memory: Memory) -> None:
    memory.add("freight", type="project", description=OTHER, body=OTHER)
    memory.add("graz-affair", type="project", description=FIRST, body=f"{FIRST}.\n\nWhy: May.")
    memory.edit("graz-affair", description=SECRET, body=SECRET)
    memory.add("carriers", type="project", description="Carriers are paid monthly",
               body="Carriers are paid monthly. See [[freight]].")  # fmt: skip
    memory.forget(["graz-affair"], "", Caller())  # waits in the inbox
    memory.store(FactCall(SECRET, quote=SECRET), Caller("ses_1", (Turn("msg_1", "user", SECRET),)))
    memory.opened.search(meaning=False).update()
    cut = f"Learned: {SECRET[:40]}…"  # a receipt shortens what it says
    receipt_box.leave_receipt(memory.project, receipt_box.Receipt(cut), NOON)


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(own_repo=True, fill=fill, clock=lambda: NOON)


def folder(memory: Memory) -> Path:
    return memory.project.store


def test_an_erased_note_is_in_no_object_and_no_file(memory: Memory, git: Git) -> None:
    store = folder(memory)
    head = "--format=%an %ae %aI %cI"
    times = git(store, "log", head)
    assert SECRET.encode() in said(store)
    git(store, "gc", "-q")  # leaves a cache of the commits
    assert (store / ".git/objects/info/commit-graph").is_file()
    done = memory.erase("graz-affair", YES)
    assert done.files[0] == "project-graz-affair.md"
    assert not done.left
    for text in (SECRET, FIRST, "graz-affair", "Graz Media", "The affair"):
        assert text.encode() not in said(store), text
    assert git(store, "status", "--porcelain") == ""
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    before = times.splitlines()
    assert git(store, "log", head).splitlines()[-len(before) :] == before
    assert [note.note.head.description for note in memory.notes()] == KEPT
    subjects = git(store, "log", "--format=%s")
    assert "memory: (erased)" in subjects
    assert f"memory: add {OTHER}" in subjects
    assert memory.history("freight")
    assert memory.search("Graz Media").hits == ()
    assert not memory.asked_removals()


def test_what_was_about_the_erased_note_alone_and_no_more_is_past_undo(memory: Memory) -> None:
    ids = [entry.get("Memory-Id") for entry, *_ in memory.log() if "Graz" in entry.subject]
    memory.erase("graz-affair", YES)
    assert ids
    for id in ids:
        with pytest.raises(NotFound, match="was about a note that was erased"):
            memory.undo(id)
    assert memory.undo().facts == ("Carriers are paid monthly",)


def test_a_note_that_was_removed_earlier_is_erased_by_its_name(memory: Memory) -> None:
    memory.remove("graz-affair")
    memory.erase("graz-affair", YES)
    assert b"Graz Media" not in said(folder(memory))
    with pytest.raises(NotFound):
        memory.erase("graz-affair", YES)


def test_what_another_note_says_too_stays_there_and_is_named(memory: Memory) -> None:
    body = f"{SECRET}. It is told again."
    memory.add("again", type="reference", description="Told again in May", body=body)
    assert memory.erase("graz-affair", YES).said_by == ("reference-again.md",)
    assert body in memory.note("again").note.text
    assert FIRST.encode() not in said(folder(memory))


def test_without_a_yes_and_in_a_projects_repository_nothing_is_erased(
    memory: Memory, tmp_path: Path, git: Git
) -> None:
    before = git(folder(memory), "rev-parse", "HEAD")
    with pytest.raises(MdmemoryError, match="Nothing was erased"):
        memory.erase("graz-affair", lambda _: False)
    (folder(memory) / "staged.txt").write_text("x", "utf-8")
    git(folder(memory), "add", "staged.txt")
    with pytest.raises(RepositoryState, match="something is staged"):
        memory.erase("graz-affair", YES)
    git(folder(memory), "reset", "-q")
    kept = folder(memory) / ".git/objects/pack/pack-1.keep"
    kept.touch()
    with pytest.raises(RepositoryState, match=r"a \.keep file keeps one"):
        memory.erase("graz-affair", YES)
    assert git(folder(memory), "rev-parse", "HEAD") == before
    shared = tmp_path / "shared"
    shared.mkdir()
    git(shared, "init", "-q", "-b", "main")
    (shared / "code.py").write_text("print()\n", "utf-8")
    theirs, _ = Memory.init(shared)
    theirs.add("graz-affair", type="project", description=SECRET, body=SECRET)
    with pytest.raises(RepositoryState, match="not the memory's to rewrite") as refused:
        theirs.erase("graz-affair", YES)
    assert "git filter-repo" in refused.value.hint


def test_where_an_object_has_the_text_a_rerun_finishes(memory: Memory, monkeypatch: Patch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(filter_repo, "find_objects", lambda *_: ["1234567"])
        with pytest.raises(GitFailed, match="still holds the text"):
            memory.erase("graz-affair", YES)
    assert "project-graz-affair.md" in memory.erase("graz-affair", YES).files
    with pytest.raises(NotFound):
        memory.erase("graz-affair", YES)


def test_only_a_person_at_a_terminal_erases(memory: Memory, run: Run, monkeypatch: Patch) -> None:
    monkeypatch.chdir(memory.project.root)
    words = ["forget", "graz-affair", "--erase"]
    done = run(*words)
    assert (done.code, "Only a person at a terminal" in done.err) == (2, True)
    monkeypatch.setattr("mdmemory.cli.notes.is_terminal", lambda: True)
    for answer, code in (("yes", 1), ("graz-affair", 0)):
        monkeypatch.setattr("builtins.input", lambda _, said=answer: said)
        done = run(*words)
        assert (done.code, "This cannot be undone." in done.out) == (code, True)
    assert b"Graz Media" not in said(folder(memory))


def test_a_remote_is_never_pushed_and_its_old_history_never_comes_back(
    memory: Memory, tmp_path: Path, git: Git
) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    memory.sync(remote=str(remote))
    there = git(remote, "rev-parse", "HEAD")
    done = memory.erase("graz-affair", YES)
    assert git(remote, "rev-parse", "HEAD") == there
    assert "push --force origin" in done.push
    with pytest.raises(RepositoryState, match="still has the history from before"):
        memory.sync()
    assert b"Graz Media" not in said(folder(memory))
    subprocess.run(done.push.split(), check=True, capture_output=True, timeout=HUNG)
    memory.sync()
    assert b"Graz Media" not in said(folder(memory))


def test_killed_at_any_call_of_git_the_history_is_old_or_new_and_a_rerun_finishes(
    memory: Memory, monkeypatch: Patch, git: Git
) -> None:
    run, left = Repository.run, 0

    class Killed(BaseException):
        pass

    def dies(self: Repository, *words: str, **how: Any) -> bytes:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return run(self, *words, **how)

    real = filter_repo.rewrite
    for calls in range(0, 40, 1 if FULL else 3):

        def armed(*given: Any) -> int:
            nonlocal left
            left = calls  # noqa: B023
            monkeypatch.setattr(Repository, "run", dies)
            return real(*given)

        monkeypatch.setattr(filter_repo, "rewrite", armed)
        try:
            memory.erase("graz-affair", YES)
        except Killed:
            monkeypatch.setattr(Repository, "run", run)
            assert git(folder(memory), "fsck", "--strict", "--no-dangling") == ""
            assert [note.note.head.description for note in memory.notes()] == KEPT
            continue
        except NotFound:  # it had come to its end
            pass
        break
    else:
        pytest.fail("it never came to its end")
    monkeypatch.setattr(Repository, "run", run)
    assert calls > 5
    assert b"Graz Media" not in said(folder(memory))


def test_merges_tags_and_odd_names_stay_and_no_program_of_anybody_is_run(
    memory: Memory, git: Git, tmp_path: Path, empty_home: Path
) -> None:
    store, ran = folder(memory), tmp_path / "ran"
    for name in ("name", "email"):
        git(store, "config", f"user.{name}", "a@example.org")
    odd = 'odd "name"\t喜.md'
    git(store, "switch", "-q", "-c", "side")
    (store / odd).write_text(f"Before.\n{SECRET}\nAfter.\n", "utf-8")
    git(store, "add", "-A")
    git(store, "commit", "-q", "-m", f"by hand: {SECRET}")
    (store / odd).write_text("Before.\nAfter.\n", "utf-8")
    git(store, "commit", "-q", "-a", "-m", "shorter")
    git(store, "switch", "-q", "-")
    git(store, "commit", "-q", "--allow-empty", "-m", "meanwhile")
    git(store, "merge", "-q", "--no-edit", "side")
    git(store, "tag", "-a", "old", "-m", f"About {SECRET}", "side")
    for place in (store / ".git/hooks", empty_home / "hooks"):
        for name in ("reference-transaction", "post-rewrite", "pre-auto-gc", "post-checkout"):
            script(place / name, f"touch '{ran}'")
    mine = f"[core]\nhooksPath = {empty_home}/hooks\n[init]\ntemplateDir = {store}/.git\n"
    mine += "[safe]\nbareRepository = explicit\n"
    (empty_home / ".gitconfig").write_text(mine, "utf-8")
    (store / ".git/info/attributes").write_text("* filter=spy\n", "utf-8")
    for way in ("clean", "smudge"):
        git(store, "config", f"filter.spy.{way}", f"touch '{ran}'; cat")
    ran.unlink(missing_ok=True)
    assert len(git(store, "log", "-1", "--format=%p").split()) == 2
    done = memory.erase("graz-affair", YES)
    assert not ran.exists()
    assert done.commits > 3
    (store / ".git/info/attributes").unlink()
    assert SECRET.encode() not in said(store)
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert git(store, "show", "side~1:" + odd) == "Before.\n(erased)\nAfter.\n"
    assert git(store, "cat-file", "-t", "old") == "tag\n"
    assert "Merge branch 'side'" in git(store, "log", "--merges", "--format=%s")
    assert git(store, "log", "--all", "-S", "Graz Media", "--format=%h") == ""


def test_a_history_with_the_longer_hash_is_made_anew_too(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "long")
    store = tmp_path / "long"
    for name in ("name", "email"):
        git(store, "config", f"user.{name}", "a@example.org")
    memory, _ = Memory.init(store, store=".")
    memory.add("freight", type="project", description=OTHER, body=OTHER)
    memory.add("graz-affair", type="project", description=FIRST, body=FIRST)
    memory.erase("graz-affair", YES)
    assert b"Graz Media" not in said(store)
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert memory.undo().facts == (OTHER,)


def test_an_undo_still_names_what_it_took_back(memory: Memory, git: Git) -> None:
    memory.add("paid", type="project", description="Bills are paid late", body="Bills: late.")
    memory.undo()
    memory.erase("graz-affair", YES)
    (undo,) = [entry for entry, *_ in memory.log() if entry.get("Memory-Undoes")]
    subject = git(folder(memory), "log", "-1", "--format=%s", str(undo.get("Memory-Undoes")))
    assert subject == "memory: add Bills are paid late\n"
    assert memory.undo().facts == ("Carriers are paid monthly",), "what is undone is done again"


def test_where_filter_repo_fails_nothing_goes(memory: Memory, git: Git, monkeypatch: Patch) -> None:
    before = git(folder(memory), "for-each-ref")
    broken = (sys.executable, "-c", "raise SystemExit('it broke')")
    with monkeypatch.context() as patch:
        patch.setattr(filter_repo, "_FILTER", broken)
        with pytest.raises(GitFailed, match="filter-repo failed: it broke; nothing was changed"):
            memory.erase("graz-affair", YES)
    assert git(folder(memory), "cat-file", "-t", before.split()[0]) == "commit\n"
    assert SECRET.encode() in said(folder(memory))
    assert not list((folder(memory) / ".git/mdmemory").glob("erasing-*"))
    memory.erase("graz-affair", YES)
    assert b"Graz Media" not in said(folder(memory))


def test_a_process_that_is_killed_while_the_history_is_made_anew_leaves_the_old_one(
    memory: Memory, git: Git
) -> None:
    kills = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    code = (
        "import sys; from pathlib import Path; from mdmemory import Memory\n"
        "from mdmemory.git import filter_repo\n"
        f"filter_repo._FILTER = (sys.executable, '-c', {kills!r})\n"
        "Memory.open(Path(sys.argv[1])).erase('graz-affair', lambda _: True)\n"
    )
    words = (sys.executable, "-P", "-c", code, str(memory.project.root))
    assert subprocess.run(words, timeout=HUNG, check=False).returncode == -signal.SIGKILL
    store = folder(memory)
    assert SECRET.encode() in said(store)
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert len(memory.notes()) == 2
    memory.erase("graz-affair", YES)
    assert b"Graz Media" not in said(store)
    assert not list((store / ".git/mdmemory").glob("erasing*"))
