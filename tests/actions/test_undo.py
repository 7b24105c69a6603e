"""Any commit of ours can be taken back byte for byte, and what was written since stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.actions.undo import BY_DEFAULT, Undone, undo
from mdmemory.errors import NotFound, RepositoryState
from mdmemory.files import digest
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group, Writer, Written

Git = Callable[..., str]
OpenWriter = Callable[..., Writer]
WriteNote = Callable[[Path, str, str], bytes]


def note(body: str, **more: str) -> bytes:
    lines = "".join(f"  {key}: {value}\n" for key, value in more.items())
    return f"---\nname: n\ndescription: D\nmetadata:\n  type: user\n{lines}---\n\n{body}\n".encode()


def change(store: Path, file: str, new: bytes | None) -> Change:
    path = store / file
    return Change(file, digest(path.read_bytes()) if path.exists() else None, new)


def do(writer: Writer, *groups: dict[str, bytes | None], kind: str = "compact") -> Written:
    """One commit with these ops, each a mapping from files to what they become."""
    store = writer.project.store
    made = [
        Group(f"op {' '.join(op)}", tuple(change(store, file, new) for file, new in op.items()))
        for op in groups
    ]
    with writer.locked():
        return writer.write("memory: a test", made, kind=kind)


def notes(store: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in store.iterdir()
        if path.suffix == ".md" and path.name != "MEMORY.md"
    }


@pytest.fixture
def writer(store: Path, open_writer: OpenWriter) -> Writer:
    made = open_writer(store.parents[1])
    do(made, {"user-first.md": note("First.")}, kind="add")
    return made


MERGE: dict[str, bytes | None] = {
    "user-name.md": note("Merged."), "project-plan.md": None, "user-made.md": note("Made."),
}  # fmt: skip


def test_it_is_taken_back_byte_for_byte(store: Path, git: Git, writer: Writer) -> None:
    odd = b"\xef\xbb\xbf---\r\nname: hand\r\n---\r\n\r\nno final newline"
    (store / "user-hand.md").write_bytes(odd)
    before = notes(store)
    done = do(writer, MERGE, {"user-hand.md": note("Rewritten.")}, {"feedback-old.md": None})
    back = undo(writer)
    assert notes(store) == before
    assert back.undone == done.commit
    assert sorted(back.restored) == sorted([*MERGE, "user-hand.md", "feedback-old.md"])
    assert back.kept == ()
    assert git(store, "status", "--porcelain") == ""
    assert git(store, "log", "-1", "--format=%(trailers:key=Memory-Undoes,valueonly)").strip() == (
        done.commit
    )


def test_notes_that_were_written_since_survive(store: Path, writer: Writer) -> None:
    before = notes(store)
    done = do(writer, MERGE)
    do(writer, {"user-later.md": note("Later.")}, kind="add")
    undo(writer, done.id)
    assert notes(store) == before | {"user-later.md": note("Later.")}


def test_an_op_goes_back_whole_or_not_at_all(store: Path, writer: Writer) -> None:
    before = notes(store)
    do(writer, MERGE, {"feedback-old.md": None})
    (store / "user-made.md").write_bytes(note("By hand."))
    back = undo(writer)
    assert back.restored == ("feedback-old.md",)
    assert back.kept == tuple((file, "it was changed since") for file in MERGE)
    assert (store / "feedback-old.md").read_bytes() == before["feedback-old.md"]
    assert not (store / "project-plan.md").exists()
    assert (store / "user-made.md").read_bytes() == note("By hand.")


def test_where_everything_was_changed_nothing_is_committed(
    store: Path, git: Git, writer: Writer
) -> None:
    do(writer, {"user-name.md": note("New.")}, kind="edit")
    (store / "user-name.md").write_bytes(note("By hand."))
    head = git(store, "rev-parse", "HEAD")
    back = undo(writer)
    assert (back.restored, back.written) == ((), Written())
    assert git(store, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("stands", ["folder", "link"])
def test_what_is_no_note_any_more_is_kept(stands: str, store: Path, writer: Writer) -> None:
    do(writer, {"user-name.md": note("New.")}, {"project-plan.md": note("New.")})
    (store / "user-name.md").unlink()
    if stands == "folder":
        (store / "user-name.md").mkdir()
    else:
        (store / "user-name.md").symlink_to("/etc/passwd")
    back = undo(writer)
    assert back.restored == ("project-plan.md",)
    assert [file for file, _ in back.kept] == ["user-name.md"]


def test_being_met_again_is_no_change_of_a_note(store: Path, writer: Writer) -> None:
    before = (store / "user-name.md").read_bytes()
    do(writer, {"user-name.md": note("New.", updated="2026-01-01")})
    met = note("New.", updated="2026-02-02", reinforced="3", last_reinforced="2026-02-02")
    do(writer, {"user-name.md": met}, kind="extract")
    log = writer.history.log() if writer.history else []
    assert undo(writer, log[1].commit).restored == ("user-name.md",)
    assert (store / "user-name.md").read_bytes() == before


def test_a_line_of_the_body_that_looks_like_a_counter_is_text(store: Path, writer: Writer) -> None:
    done = do(writer, {"user-name.md": note("reinforced: no")})
    (store / "user-name.md").write_bytes(note("reinforced: yes"))
    assert undo(writer, done.id).restored == ()


def test_an_undo_can_be_undone(store: Path, writer: Writer) -> None:
    do(writer, MERGE)
    after = notes(store)
    back = undo(writer)
    undo(writer, back.written.id)
    assert notes(store) == after


def test_what_is_undone_is_not_undone_twice(store: Path, writer: Writer) -> None:
    done = do(writer, MERGE)
    undo(writer, done.id)
    with pytest.raises(NotFound, match="undone already"):
        undo(writer, done.id)
    with pytest.raises(NotFound, match="nothing to undo"):
        undo(writer)


def test_an_undo_of_an_undo_of_an_undo_is_known_as_such(
    store: Path, git: Git, writer: Writer
) -> None:
    texts = [notes(store)]
    first = do(writer, MERGE)
    texts.append(notes(store))
    id = first.id
    for depth in range(1, 5):
        id = undo(writer, id).written.id
        assert notes(store) == texts[(depth + 1) % 2]
        assert writer.history
        assert (first.commit in writer.history.undone()) == (depth % 2 == 1)
    git(store, "revert", "--no-edit", "HEAD")  # of the undo that had brought it back
    with pytest.raises(NotFound, match="undone already"):
        undo(writer, first.id)


@pytest.mark.parametrize("kind", BY_DEFAULT)
def test_without_a_name_the_newest_change_goes_and_an_addition_stays(
    kind: str, store: Path, writer: Writer
) -> None:
    first = do(writer, {"user-name.md": note("One.")}, kind="edit")
    second = do(writer, {"project-plan.md": note("Two.")}, kind=kind)
    for other in ("add", "mend"):
        do(writer, {f"user-{other}.md": note("Added.")}, kind=other)
    assert undo(writer).undone == second.commit
    assert undo(writer).undone == first.commit
    assert (store / "user-add.md").exists()
    with pytest.raises(NotFound, match="nothing to undo"):
        undo(writer)


def test_gits_own_revert_works_too_and_is_known(store: Path, git: Git, writer: Writer) -> None:
    before = notes(store)
    done = do(writer, MERGE)
    git(store, "revert", "--no-edit", str(done.commit))
    assert notes(store) == before
    with pytest.raises(NotFound, match="undone already"):
        undo(writer, done.id)


def test_an_undo_works_while_other_work_is_staged(store: Path, git: Git, writer: Writer) -> None:
    before = notes(store)
    do(writer, MERGE)
    root = store.parents[1]
    (root / "README").write_text("staged\n")
    git(root, "add", "README")
    undo(writer)
    assert notes(store) == before
    assert git(root, "status", "--porcelain") == "M  README\n"


def test_text_written_by_hand_since_is_committed_before_it_goes(
    store: Path, git: Git, writer: Writer
) -> None:
    done = do(writer, {"user-name.md": note("New.")})
    mine = note("New.", reinforced="7")  # counts as the same, and is not
    (store / "user-name.md").write_bytes(mine)
    undo(writer, done.id)
    assert git(store, "show", "HEAD~1:notes/memory/user-name.md").encode() == mine


def test_a_commit_of_somebody_else_is_not_ours_to_take_back(store: Path, writer: Writer) -> None:
    with pytest.raises(NotFound, match="not one of mdmemory's"):
        undo(writer, "HEAD~1")
    with pytest.raises(NotFound, match="no commit or Memory-Id"):
        undo(writer, "m-nothing")


def test_a_merge_under_way_is_waited_for(store: Path, git: Git, writer: Writer) -> None:
    do(writer, MERGE)
    git(store, "switch", "-q", "--detach")
    with pytest.raises(RepositoryState, match="detached"):
        undo(writer)


@pytest.mark.parametrize("file", ["../../outside.md", "/etc/hostname", "../../.git/config"])
def test_a_commit_that_somebody_forged_reaches_nothing_outside(
    file: str, store: Path, git: Git, writer: Writer
) -> None:
    outside = store.parents[1] / "outside.md"
    outside.write_text("precious")
    (store / "user-x.md").write_text("x")
    git(store, "add", "user-x.md")
    message = f"x\n\n{ID_TRAILER}: m-1\nMemory-Op: compact\n{FILES_TRAILER}: {json.dumps([file])}"
    git(store, "commit", "-q", "-m", message)
    assert undo(writer, "m-1") == Undone(git(store, "rev-parse", "HEAD").strip(), Written(), (), ())
    assert outside.read_text() == "precious"
