"""A store under the person's own git: revert, merge, rebase, pull, between two clones.

The matrix: 9 kinds of our commits reverted; 7 x 7 changes on different notes, merged and rebased
(98 cases), 7 more in 3 ways with MEMORY.md ignored and 7 with converted line ends: no conflict in
any, and the next command gives both clones the same fresh index. 3 real conflicts, in 2 ways: each
is one, on the note alone. Without `merge=union` some of the quick cases fail.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from pace import FULL, HUNG, sample

from mdmemory import Memory

Git = Callable[..., str]
Change = Callable[[Memory, str], object]
INSIDE = "notes/memory/"


def opened(folder: Path) -> Memory:
    return Memory(Memory.open(folder).project, clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def write(memory: Memory, name: str, text: str) -> str:
    return memory.add(name, type="user", description=text, body=text).file


def seed(memory: Memory, side: str) -> None:
    """Four notes whose names begin with the side's, for each side to work on."""
    write(memory, f"{side}-drinks", f"Drinks tea at {side}.")
    write(memory, f"{side}-drinks-too", f"Drinks much tea at {side}.")
    write(memory, f"{side}-reads", f"Reads in bed at {side}.")
    path = memory.project.store / f"user-{side}-maybe.md"
    path.write_text(
        f"---\nname: {side}-maybe\ndescription: Perhaps {side}\nmetadata:\n  type: user\n"
        "  status: unconfirmed\n---\n\nPerhaps.\n",
        encoding="utf-8",
    )


def compact(memory: Memory, *ops: dict[str, object]) -> None:
    outcome = memory.compact(plan=json.dumps({"ops": ops}))
    assert outcome.outcome == "applied", outcome


def merge(memory: Memory, side: str) -> None:
    names = [f"user-{side}-drinks.md", f"user-{side}-drinks-too.md"]
    compact(memory, {
        "op": "merge", "sources": names, "target": names[0], "name": f"{side}-drinks",
        "type": "user", "description": f"Drinks tea at {side}.", "body": f"Drinks tea at {side}.",
    })  # fmt: skip


def flag(memory: Memory, side: str) -> None:
    files = [f"user-{side}-drinks.md", f"user-{side}-reads.md"]
    compact(memory, {"op": "flag", "files": files, "reason": "not both"})


def delete(memory: Memory, side: str) -> None:
    compact(memory, {"op": "delete", "file": f"user-{side}-reads.md", "reason": "outdated"})


def extract(memory: Memory, side: str) -> None:
    part = {"id": "prt_1", "type": "text", "text": f"Remember that the {side} garden has a pond."}
    about = {"id": "msg_1", "role": "user", "time": {"created": 1780300000000}}
    session = {"info": {"id": f"ses_{side}"}, "messages": [{"info": about, "parts": [part]}]}
    assert memory.extract(json.dumps(session).encode()).added


def undo(memory: Memory, side: str) -> None:
    memory.edit(f"{side}-reads", body="Reads nothing.")
    memory.undo()


CHANGES: dict[str, Change] = {
    "add": lambda memory, side: write(memory, f"{side}-new", f"Has new plans at {side}."),
    "edit": lambda memory, side: memory.edit(f"{side}-reads", body="Reads in the train."),
    "describe": lambda memory, side: memory.edit(f"{side}-reads", description=f"Trains, {side}."),
    "remove": lambda memory, side: memory.remove(f"{side}-reads"),
    "compact": merge,
    "flag": flag,
    "extract": extract,
}
REVERTED: dict[str, Change] = {
    **{name: CHANGES[name] for name in ("add", "edit", "remove", "compact", "flag", "extract")},
    "delete": delete,
    "confirm": lambda memory, side: memory.confirm(f"{side}-maybe"),
}


def texts(memory: Memory) -> dict[str, str]:
    return {note.file: note.note.text for note in memory.notes()}


def index_of(memory: Memory) -> bytes:
    """MEMORY.md after the next command."""
    memory.listing()
    assert memory.index(check=True).changed == ()
    data = (memory.project.store / "MEMORY.md").read_bytes()
    (memory.project.store / "MEMORY.md").unlink()
    memory.index()
    assert (memory.project.store / "MEMORY.md").read_bytes() == data  # it is a function of files
    return data


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Path]]:
    """Two remotes to be copied: with MEMORY.md tracked, and ignored."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        for tracked in (True, False):
            folder = tmp_path_factory.mktemp("remote")
            run(folder, "init", "-q", "-b", "main", "first")
            first = identify(folder / "first")
            if not tracked:
                (first / "mdmemory.toml").write_text(
                    'store = "notes/memory"\n[index]\ntracked = false\n', encoding="utf-8"
                )
                run(first, "add", "-A")
                run(first, "commit", "-qm", "settings")
            Memory.init(first)
            for side in ("home", "work"):
                seed(opened(first), side)
            run(first, "add", "-A")
            run(first, "commit", "-q", "-m", "by hand")
            opened(first).index()
            run(first, "commit", "-q", "--allow-empty", "-am", "index")
            run(folder, "clone", "-q", "--bare", "first", "remote")
            made[tracked] = folder / "remote"
        yield made


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=HUNG,
    )
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}{done.stdout}"
    return done.stdout


def identify(folder: Path) -> Path:
    run(folder, "config", "user.name", "A Person")
    run(folder, "config", "user.email", "person@example.com")
    return folder


def clone_twice(remote: Path, folder: Path, *options: str) -> tuple[Memory, Memory]:
    run(folder, "clone", "-q", "--bare", str(remote), "remote")
    for name in ("home", "work"):
        run(folder, "clone", "-q", *options, "remote", name)
        identify(folder / name)
    return opened(folder / "home"), opened(folder / "work")


JOIN = {
    "merge": [("fetch", "-q"), ("merge", "-q", "--no-edit", "@{upstream}")],
    "rebase": [("fetch", "-q"), ("rebase", "-q", "@{upstream}")],
    "pull": [("pull", "-q", "--no-rebase", "--no-edit")],
}


def join(home: Memory, work: Memory, way: str) -> None:
    """Home pushes, work takes it in and pushes, home pulls: by plain git alone."""
    run(home.project.root, "push", "-q")
    for words in JOIN[way]:
        run(work.project.root, *words)
    run(work.project.root, "push", "-q")
    run(home.project.root, "pull", "-q", "--ff-only")


def check_same(home: Memory, work: Memory) -> None:
    assert texts(home) == texts(work)
    assert index_of(home) == index_of(work)


# --- revert ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REVERTED)
def test_git_revert_takes_back_each_kind_of_commit_byte_for_byte(
    remote: dict[bool, Path], tmp_path: Path, kind: str
) -> None:
    memory, _ = clone_twice(remote[True], tmp_path)
    before, index = texts(memory), index_of(memory)
    REVERTED[kind](memory, "home")
    assert kind == "flag" or texts(memory) != before
    run(memory.project.root, "revert", "--no-edit", "HEAD")
    assert texts(memory) == before
    assert index_of(memory) == index


def test_git_revert_takes_back_an_undo(remote: dict[bool, Path], tmp_path: Path) -> None:
    memory, _ = clone_twice(remote[True], tmp_path)
    undo(memory, "home")
    run(memory.project.root, "revert", "--no-edit", "HEAD")
    assert "Reads nothing." in texts(memory)["user-home-reads.md"]
    index_of(memory)


@pytest.mark.slow
def test_git_revert_of_an_older_commit_leaves_what_came_later(
    remote: dict[bool, Path], tmp_path: Path
) -> None:
    memory, _ = clone_twice(remote[True], tmp_path)
    merge(memory, "home")
    for name in ("edit", "add", "flag"):
        CHANGES[name](memory, "work")
    later = texts(memory)
    run(memory.project.root, "revert", "--no-edit", "HEAD~3")
    now = texts(memory)
    assert "user-home-drinks-too.md" in now
    assert all(now[file] == text for file, text in later.items() if "work" in file)
    index_of(memory)


# --- two clones, different notes -----------------------------------------------------------------


def joined(remote: Path, folder: Path, one: str, other: str, way: str) -> tuple[Memory, Memory]:
    home, work = clone_twice(remote, folder)
    CHANGES[one](home, "home")
    CHANGES[other](work, "work")
    join(home, work, way)
    check_same(home, work)
    return home, work


@pytest.mark.parametrize(("one", "other", "way"), [
    ("add", "add", "merge"), ("compact", "edit", "rebase"), ("flag", "flag", "pull"),
    ("remove", "add", "rebase"),
])  # fmt: skip
def test_changes_to_different_notes_never_conflict(
    remote: dict[bool, Path], tmp_path: Path, one: str, other: str, way: str
) -> None:
    home, _ = joined(remote[True], tmp_path, one, other, way)
    if one == other == "flag":
        assert home.index(check=True).index.memory.count("2 conflicts need a person") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("one", "way"), sample([*product(CHANGES, ("merge", "rebase"))], 5))
def test_no_pair_of_changes_to_different_notes_conflicts(
    remote: dict[bool, Path], tmp_path: Path, one: str, way: str
) -> None:
    for other in CHANGES:
        (tmp_path / other).mkdir()
        joined(remote[True], tmp_path / other, one, other, way)


@pytest.mark.slow
@pytest.mark.parametrize("way", sample([*JOIN], 2))
def test_an_ignored_index_never_conflicts_either(
    remote: dict[bool, Path], tmp_path: Path, way: str
) -> None:
    for one in CHANGES:
        (tmp_path / one).mkdir()
        home, work = joined(remote[False], tmp_path / one, one, one, way)
        for memory in (home, work):
            assert "MEMORY.md" not in run(memory.project.root, "ls-files")
            assert run(memory.project.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_clone_that_converts_line_ends_takes_part(
    remote: dict[bool, Path], tmp_path: Path
) -> None:
    for one in CHANGES:
        (tmp_path / one).mkdir()
        home, work = clone_twice(remote[True], tmp_path / one, "-c", "core.autocrlf=true")
        CHANGES[one](home, "home")
        CHANGES[one](work, "work")
        join(home, work, "merge")
        check_same(home, work)
        for path in run(home.project.root, "ls-tree", "-r", "--name-only", "HEAD", INSIDE).split():
            assert "\r" not in run(home.project.root, "cat-file", "blob", f"HEAD:{path}")


@pytest.mark.slow
def test_many_rounds_of_syncs_stay_the_same_on_both_sides(
    remote: dict[bool, Path], tmp_path: Path
) -> None:
    home, work = clone_twice(remote[True], tmp_path)
    for at in range(8 if FULL else 4):
        write(home, f"home-{at}", f"Home has plan {at}.")
        write(work, f"work-{at}", f"Work has plan {at}.")
        if at % 3 == 1:
            home.edit(f"work-{at - 1}", body="Home knows better.")
        if at % 4 == 2:
            work.remove(f"home-{at - 1}")
        done = [home.sync(rebase=at % 2 == 1), work.sync(rebase=at % 3 == 1), home.sync()]
        assert [step.conflicts for step in done] == [[], [], []]
        check_same(home, work)
        assert run(home.project.root, "status", "--porcelain") == ""


# --- real conflicts --------------------------------------------------------------------------


def edit_both(home: Memory, work: Memory) -> str:
    home.edit("home-reads", body="Reads at noon.")
    work.edit("home-reads", body="Reads at night.")
    return "user-home-reads.md"


def edit_against_delete(home: Memory, work: Memory) -> str:
    home.remove("home-reads")
    work.edit("home-reads", body="Reads at night.")
    return "user-home-reads.md"


def same_new_name(home: Memory, work: Memory) -> str:
    write(home, "pond", "Has a pond with frogs.")
    return write(work, "pond", "Has a pond without frogs.")


@pytest.mark.parametrize("way", ["merge", pytest.param("rebase", marks=pytest.mark.slow)])
@pytest.mark.parametrize("clash", [edit_both, edit_against_delete, same_new_name])
def test_a_real_conflict_is_on_the_note_alone_and_both_texts_are_there(
    remote: dict[bool, Path], tmp_path: Path, clash: Callable[[Memory, Memory], str], way: str
) -> None:
    home, work = clone_twice(remote[True], tmp_path)
    file = clash(home, work)
    run(home.project.root, "push", "-q")
    run(work.project.root, "fetch", "-q")
    with pytest.raises(AssertionError, match="CONFLICT"):
        run(work.project.root, *(["merge"] if way == "merge" else ["rebase"]), "@{upstream}")
    unmerged = run(work.project.root, "diff", "--name-only", "--diff-filter=U").split()
    assert unmerged == [INSIDE + file]
    work.listing()  # reading still works, and says what there is
    run(work.project.root, "checkout", "-q", "--theirs" if way == "rebase" or clash is not
        edit_against_delete else "--ours", "--", INSIDE + file)  # fmt: skip
    run(work.project.root, "add", "-A", INSIDE)
    run(work.project.root, "-c", "core.editor=true", way, "--continue")
    assert work.git_state() == "ready"
    index_of(work)
