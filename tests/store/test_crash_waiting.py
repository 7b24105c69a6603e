"""A process killed while it keeps what nobody typed, or while that is committed at last.

Then a person types a command, and what was written stands in a commit, or nothing of it does.
"""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from moments import DIED, DONE, TOLD, blob, child, die, everything, full, spread
from pace import FULL
from projects import commit_all, git, tip
from stores import open_writer, write_note

from mdmemory.files import digest
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

NEW = b"---\nname: new\ndescription: New\n---\n\nNew text.\n"
CHANGES = {"feedback-old.md": NEW, "project-loose.md": None, "reference-new.md": NEW}
TRIALS = 60 if FULL else 7


class Trial:
    """A repository in the middle of work, copied for each trial."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root, self.place = root, place
        self.kept = self._texts(root)
        self.head = tip(root)
        self.before = self.notes(root)

    def notes(self, root: Path) -> dict[str, bytes | None]:
        folder = root / "notes" / "memory"
        files = {file: folder / file for file in CHANGES}
        return {file: path.read_bytes() if path.exists() else None for file, path in files.items()}

    def _texts(self, root: Path) -> dict[str, bytes]:
        store = root / "notes" / "memory"
        datas = [path.read_bytes() for path in store.glob("*.md") if path.name != "MEMORY.md"]
        return {blob(data): data for data in datas}

    def fresh(self) -> Path:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.root, self.place, symlinks=True)
        git(self.place, "status")
        return self.place

    def act(self, root: Path) -> None:
        """What an assistant's tool does: replace, remove and add, each in a write of its own."""
        writer = open_writer(root)
        writer.automatic = True
        for file, new in CHANGES.items():
            path = root / "notes" / "memory" / file
            with writer.lock_store():
                old = digest(path.read_bytes()) if path.exists() else None
                if old != (new and digest(new)):
                    group = Group(f"change {file}", (Change(file, old, new),))
                    writer.write(f"memory: change {file}", [group], kind="edit")

    def type(self, root: Path) -> None:
        """What every command does first that a person types and that writes."""
        with open_writer(root).lock_store():
            pass

    def check(self) -> int:
        """Every promise, after a command that was typed; how many of the changes took place."""
        root = self.place
        rows = git(root, "rev-list", "--objects", "--all").splitlines()
        reached = {row.split()[0] for row in rows}
        assert self.kept.keys() <= reached | self._texts(root).keys(), "bytes are lost"
        now, done = self.notes(root), 0
        for file, new in CHANGES.items():
            assert now[file] in (self.before[file], new), "neither all nor nothing"
            done += now[file] == new
        said = git(root, "log", "--format=%b", "HEAD").split("\n")
        changed = [line for line in said if line.startswith("change ")]
        assert sorted(changed) == sorted({*changed}), "a change was committed twice"
        assert len(changed) >= done
        for file in CHANGES:
            if now[file] == CHANGES[file]:
                assert self.held(file) == now[file], "what stands there is in no commit"
        left = [path.name for path in (root / "notes" / "memory").glob(".mdmemory-*")]
        left += [path.name for path in (root / ".git" / "mdmemory").glob("*")]
        left += [path.name for path in (root / ".git").rglob("*.lock") if path.stat().st_size == 0
                 and not path.name.startswith("mdmemory.lock")]  # fmt: skip
        assert left == [], "something was left behind"
        git(root, "fsck", "--strict")
        return done

    def held(self, file: str) -> bytes | None:
        path = f"notes/memory/{file}"
        if not git(self.place, "ls-tree", "HEAD", path):
            return None
        return git(self.place, "show", f"HEAD:{path}").encode()


@pytest.fixture
def trial(repository: Path, store: Path, tmp_path: Path) -> Trial:
    open_writer(repository).refresher.refresh()
    (repository / "both").write_text("one\n")
    commit_all(repository, "all")
    (repository / "both").write_text("two, staged\n")
    write_note(store, "feedback-old.md", "A second text, staged and nowhere else.")
    git(repository, "add", ".")
    (repository / "both").write_text("three, not staged\n")
    for file in ("feedback-old.md", "user-name.md", "project-loose.md"):
        write_note(store, file, "A third text, by hand, in no commit.")
    return Trial(repository, tmp_path / "trial")


def steps(trial: Trial, act: Callable[[Path], None], root: Path) -> int:
    code, count = child(partial(act, root), partial(die, at=0))
    assert code == DONE
    return count


def test_killed_in_the_middle_of_an_automatic_write_nothing_is_lost(trial: Trial) -> None:
    last = steps(trial, trial.act, trial.fresh())
    ends = []
    for at in spread(1, last, TRIALS):
        root = trial.fresh()
        code, _ = child(partial(trial.act, root), partial(die, at=at))
        assert code == DIED
        assert tip(root) == trial.head, "a branch was moved"
        trial.type(root)
        ends.append(trial.check())
        before = everything(root)
        trial.type(root)
        assert everything(root) == before, "a second recovery is not idle"
    assert ends == sorted(ends)
    assert {ends[0], ends[-1]} == {0, 3}


@pytest.mark.slow
def test_killed_while_what_waits_is_committed_nothing_is_lost_or_doubled(trial: Trial) -> None:
    whole = trial.fresh()
    trial.act(whole)
    trial.root = shutil.copytree(whole, trial.place.with_name("waiting"), symlinks=True)
    last = steps(trial, trial.type, trial.fresh())
    for at in spread(1, last, TRIALS):
        root = trial.fresh()
        code, _ = child(partial(trial.type, root), partial(die, at=at))
        assert code == DIED
        trial.type(root)
        assert trial.check() == 3
        assert git(root, "diff", "--name-only", "HEAD", "--", *[
            f"notes/memory/{file}" for file in CHANGES]) == ""  # fmt: skip


@pytest.mark.slow
def test_a_recovery_that_is_killed_in_its_turn_goes_on_later(trial: Trial) -> None:
    last = steps(trial, trial.act, trial.fresh())
    for at in spread(last // 3, last - 3, 3):
        for again in spread(2, 40, 4 if FULL else 2):
            root = trial.fresh()
            child(partial(trial.act, root), partial(die, at=at))
            child(partial(trial.type, root), partial(die, at=again))
            trial.type(root)
            trial.check()


@pytest.mark.slow
def test_on_a_full_disk_an_automatic_write_says_so_and_nothing_is_lost(trial: Trial) -> None:
    last, codes = steps(trial, trial.act, trial.fresh()), set()
    for at in spread(1, last, TRIALS):
        root = trial.fresh()
        code, _ = child(partial(trial.act, root), partial(full, at=at))
        codes.add(code)
        assert code in (DONE, TOLD)
        trial.type(root)
        trial.check()
    assert TOLD in codes
