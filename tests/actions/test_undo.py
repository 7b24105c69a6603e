"""Any commit of ours can be taken back byte for byte, and what was written since stays."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import Git
from stores import BeginStore

from mdmemory import Memory
from mdmemory.actions.undo import NO_CHANGES, Agree, Planned, Undone, undo_changes
from mdmemory.errors import MdmemoryError, NotFound, RepositoryState
from mdmemory.files import digest
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER
from mdmemory.git.transaction import Change
from mdmemory.store.conflicts import Entry, is_stale
from mdmemory.store.store import Store
from mdmemory.store.writer import Group, Writer, Written

OpenWriter = Callable[..., Writer]
WriteNote = Callable[[Path, str, str], bytes]


def note(body: str, **more: str) -> bytes:
    lines = "".join(f"  {key}: {value}\n" for key, value in more.items())
    return f"---\nname: n\ndescription: D\nmetadata:\n  type: user\n{lines}---\n\n{body}\n".encode()


def change(store: Path, file: str, new: bytes | None) -> Change:
    path = store / file
    return Change(file, digest(path.read_bytes()) if path.exists() else None, new)


def do(
    writer: Writer, *groups: dict[str, bytes | None], kind: str = "compact", session: str = ""
) -> Written:
    """One commit with these ops, each a mapping from files to what they become."""
    store = writer.project.store
    made = [
        Group(f"op {' '.join(op)}", tuple(change(store, file, new) for file, new in op.items()))
        for op in groups
    ]
    with writer.lock_store():
        about = [("Memory-Session", session)] if session else []
        return writer.write("memory: a test", made, kind=kind, trailers=about)


def undo(writer: Writer, id: str | None = None, agree: Agree | None = None) -> Undone:
    """What became of one commit."""
    return undo_changes(writer, id, agree)[0]


def notes(store: Path) -> dict[str, bytes]:
    paths = (path for path in store.glob("*.md") if path.name != "MEMORY.md")
    return {path.name: path.read_bytes() for path in paths}


@pytest.fixture
def writer(store: Path, open_writer: OpenWriter) -> Writer:
    made = open_writer(store.parents[1])
    do(made, {"user-first.md": note("First.")}, kind="add")
    return made


MERGE: dict[str, bytes | None] = {
    "user-name.md": note("Merged."), "project-plan.md": None, "user-made.md": note("Made."),
}  # fmt: skip


def test_it_is_taken_back_byte_for_byte_and_what_was_written_since_survives(
    store: Path, git: Git, writer: Writer
) -> None:
    odd = b"\xef\xbb\xbf---\r\nname: hand\r\n---\r\n\r\nno final newline"
    (store / "user-hand.md").write_bytes(odd)
    before = notes(store)
    done = do(writer, MERGE, {"user-hand.md": note("Rewritten.")}, {"feedback-old.md": None})
    do(writer, {"user-later.md": note("Later.")}, kind="add")
    back = undo(writer, done.id)
    assert notes(store) == before | {"user-later.md": note("Later.")}
    assert (back.undone, back.kept) == (done.commit, ())
    assert sorted(back.restored) == sorted([*MERGE, "user-hand.md", "feedback-old.md"])
    assert git(store, "status", "--porcelain") == ""
    undoes = git(store, "log", "-1", "--format=%(trailers:key=Memory-Undoes,valueonly)")
    assert undoes.strip() == done.commit


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


def test_where_all_was_changed_nothing_is_committed(store: Path, git: Git, writer: Writer) -> None:
    do(writer, {"user-name.md": note("New.")}, kind="edit")
    (store / "user-name.md").write_bytes(note("By hand."))
    head = git(store, "rev-parse", "HEAD")
    back = undo(writer)
    assert (back.restored, back.written) == ((), Written())
    assert git(store, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("stand", [Path.mkdir, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_note_any_more_is_kept(
    stand: Callable[[Path], None], store: Path, writer: Writer
) -> None:
    do(writer, {"user-name.md": note("New.")}, {"project-plan.md": note("New.")})
    (store / "user-name.md").unlink()
    stand(store / "user-name.md")
    back = undo(writer)
    assert back.restored == ("project-plan.md",)
    assert [file for file, _ in back.kept] == ["user-name.md"]


def test_being_met_again_is_no_change_of_a_note_and_such_a_line_of_the_body_is(
    store: Path, writer: Writer
) -> None:
    before = (store / "user-name.md").read_bytes()
    do(writer, {"user-name.md": note("New.", updated="2026-01-01")})
    met = note("New.", updated="2026-02-02", reinforced="3", last_reinforced="2026-02-02")
    do(writer, {"user-name.md": met}, kind="extract")
    log = writer.history.log_of("Memory-Id") if writer.history else []
    assert undo(writer, log[1].commit).restored == ("user-name.md",)
    assert (store / "user-name.md").read_bytes() == before
    done = do(writer, {"user-name.md": note("reinforced: no")})
    (store / "user-name.md").write_bytes(note("reinforced: yes"))
    assert undo(writer, done.id).restored == ()


def test_an_undo_of_an_undo_of_an_undo_is_known(store: Path, git: Git, writer: Writer) -> None:
    texts = [notes(store)]
    first = do(writer, MERGE)
    texts.append(notes(store))
    id = first.id
    for depth in range(1, 5):
        id = undo(writer, id).written.id
        assert notes(store) == texts[(depth + 1) % 2]
        assert writer.history
        assert (first.commit in writer.history.list_undone()) == (depth % 2 == 1)
        if depth == 1:
            with pytest.raises(NotFound, match="undone already"):
                undo(writer, first.id)
    git(store, "revert", "--no-edit", "HEAD")  # of the undo that had brought it back
    with pytest.raises(NotFound, match="undone already"):
        undo(writer, first.id)


KINDS = "add store extract import edit remove rename confirm resolve compact adopt".split()


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_name_the_newest_change_goes_whatever_it_was(
    kind: str, store: Path, writer: Writer
) -> None:
    first = do(writer, {"user-name.md": note("One.")}, kind="edit")
    second = do(writer, {"user-new.md": note("Two.")}, kind=kind)
    for other in sorted(NO_CHANGES):
        do(writer, {f"user-{other}.md": note("Added.")}, kind=other)
    assert undo(writer).undone == second.commit
    assert not (store / "user-new.md").exists()
    assert undo(writer).undone == first.commit
    assert undo(writer).restored == ("user-first.md",)
    with pytest.raises(NotFound, match="nothing to undo"):
        undo(writer)


def test_a_change_of_no_note_is_no_newest_change(store: Path, writer: Writer) -> None:
    first = do(writer, {"user-name.md": note("One.")}, kind="edit")
    do(writer, {".gitattributes": b"* text\n"}, kind="edit")
    assert undo(writer).undone == first.commit


def test_a_redone_change_is_the_newest_change_again(store: Path, writer: Writer) -> None:
    done = do(writer, {"user-new.md": note("New.")}, kind="add")
    undo(writer, undo(writer).written.id)
    assert (store / "user-new.md").read_bytes() == note("New.")
    assert undo(writer).undone == done.commit


def test_a_change_that_a_person_reverted_by_hand_is_not_the_newest(
    store: Path, git: Git, writer: Writer
) -> None:
    before = notes(store)
    first = do(writer, {"user-name.md": note("One.")}, kind="edit")
    second = do(writer, {"user-new.md": note("Two.")}, kind="add")
    git(store, "revert", "--no-edit", str(second.commit))
    with pytest.raises(NotFound, match="undone already"):
        undo(writer, second.id)
    assert undo(writer).undone == first.commit
    assert notes(store) == before


# --- what is said of it --------------------------------------------------------------------------


FACT = note("New.").replace(b"type: user", b"type: feedback").replace(b": D", b": Tabs in Go")


def test_the_fact_is_named_and_goes_only_if_the_person_agrees(store: Path, writer: Writer) -> None:
    done = do(writer, {"feedback-new.md": FACT}, {"user-first.md": note("Mine.")}, kind="extract")
    asked: list[Planned] = []

    def answer(yes: bool) -> Callable[[object], bool]:
        return lambda plans: bool(asked.extend(plans)) or yes  # type: ignore[arg-type]

    with pytest.raises(MdmemoryError, match="Nothing was undone"):
        undo(writer, None, answer(False))
    assert (store / "feedback-new.md").read_bytes() == FACT
    assert [(plan.commit, plan.kind, plan.facts) for plan in asked] == [
        (done.commit, "extract", ("Tabs in Go", "n"))
    ], "a note about the person is called by its name"
    later = do(writer, {"user-later.md": note("Later.")}, kind="add")
    assert undo(writer, done.id, answer(True)).facts == ("Tabs in Go", "n")
    assert (store / "user-later.md").exists()
    assert undo(writer).undone == later.commit


def test_of_a_removed_note_and_of_one_that_goes_only_the_name_is_repeated(
    store: Path, git: Git, writer: Writer
) -> None:
    do(writer, {"feedback-new.md": FACT}, kind="add")
    do(writer, {"feedback-new.md": None}, kind="remove")
    assert undo(writer).facts == ("n",)
    assert not undo(writer).told_handmade()
    assert git(store, "log", "-1", "--format=%s").strip() == "memory: undo feedback-new"


def test_of_many_facts_the_first_few_are_named(store: Path, writer: Writer) -> None:
    ops = [{f"feedback-{number}.md": FACT.replace(b"Tabs", b"%d" % number)} for number in range(9)]
    do(writer, *ops, kind="import")
    assert undo(writer).facts == ("0 in Go", "1 in Go", "2 in Go", "and 6 more")


# --- a session -----------------------------------------------------------------------------------


def test_a_session_is_undone_in_one_commit_and_redone(
    store: Path, git: Git, writer: Writer
) -> None:
    before = notes(store)
    do(writer, {"user-name.md": note("One.")}, kind="edit", session="s")
    do(writer, {"feedback-new.md": FACT}, {"user-name.md": note("Two.")}, session="s")
    do(writer, {"user-later.md": note("Later.")}, kind="add")
    do(writer, {"user-name.md": note("Three.")}, {"feedback-old.md": None}, session="s")
    after, head = notes(store), git(store, "rev-parse", "HEAD").strip()
    all_done = undo_changes(writer, session="s")
    assert notes(store) == before | {"user-later.md": note("Later.")}
    assert git(store, "rev-parse", "HEAD~1").strip() == head
    assert [done.restored for done in all_done] == [
        ("user-name.md", "feedback-old.md"), ("feedback-new.md", "user-name.md"),
        ("user-name.md",),
    ]  # fmt: skip
    assert len({done.written.commit for done in all_done}) == 1
    with pytest.raises(NotFound, match="nothing that could be undone"):
        undo_changes(writer, session="s")
    undo(writer, all_done[0].written.id)
    assert notes(store) == after


def test_of_a_session_what_changed_since_stays_and_is_named(store: Path, writer: Writer) -> None:
    do(writer, {"user-name.md": note("One.")}, kind="edit", session="s")
    do(writer, {"feedback-new.md": FACT}, {"project-plan.md": None}, session="s")
    (store / "user-name.md").write_bytes(note("By hand."))
    newer, older = undo_changes(writer, session="s")
    assert newer.restored == ("feedback-new.md", "project-plan.md")
    assert older.kept == (("user-name.md", "it was changed since"),)
    assert (store / "user-name.md").read_bytes() == note("By hand.")


def test_an_undo_works_while_other_work_is_staged(store: Path, git: Git, writer: Writer) -> None:
    before = notes(store)
    do(writer, MERGE)
    root = store.parents[1]
    (root / "README").write_text("staged\n")
    git(root, "add", "README")
    undo(writer)
    assert notes(store) == before
    assert git(root, "status", "--porcelain") == "M  README\n"


def test_text_by_hand_is_committed_before_it_goes(store: Path, git: Git, writer: Writer) -> None:
    done = do(writer, {"user-name.md": note("New.")})
    mine = note("New.", reinforced="7")  # counts as the same, and is not
    (store / "user-name.md").write_bytes(mine)
    undo(writer, done.id)
    assert git(store, "show", "HEAD~1:notes/memory/user-name.md").encode() == mine


def test_a_commit_of_somebody_else_is_not_ours_to_take_back(store: Path, writer: Writer) -> None:
    with pytest.raises(NotFound, match="not one of mdmemory's"):
        undo(writer, "HEAD~1")
    with pytest.raises(NotFound, match="no change"):
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
    done = undo(writer, "m-1")
    assert done == Undone(git(store, "rev-parse", "HEAD").strip(), Written(), (), (), done.facts)
    assert outside.read_text() == "precious"


# A contradiction is shown until a person settles it, and settling can be undone.

EIGHT, FOUR = "feedback-indent-with-8.md", "feedback-indent-with-4.md"


def fill(memory: Memory) -> None:
    for what in ("8", "4"):
        text = f"Indent Python with {what} spaces."
        memory.add(f"indent-with-{what}", type="feedback", description=text, body=text)
    assert len(memory.conflicts()) == 1, "a note by hand is looked at at once"


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(fill=fill)


def has_changed(memory: Memory, entry: Entry) -> bool:
    return is_stale(entry, Store(memory.project.store).digests(entry.files))


def index(memory: Memory) -> str:
    return (memory.project.store / "MEMORY.md").read_text(encoding="utf-8")


def test_both_notes_stay_as_they_are_until_a_person_decides(memory: Memory, git: Git) -> None:
    (conflict,) = memory.conflicts()
    assert conflict.files == (FOUR, EIGHT)
    assert not has_changed(memory, conflict)
    assert "1 conflict needs a person" in index(memory)
    assert index(memory).count(" ⚠\n") == 2
    assert [row.status for row in memory.listing()] == ["in conflict"] * 2
    assert [hit.status for hit in memory.search("indent python").hits] == ["in conflict"] * 2
    before = git(memory.project.root, "rev-parse", "HEAD")
    assert memory.compact().outcome == "noop"
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    assert {note.file for note in memory.notes()} == {EIGHT, FOUR}


def test_keeping_one_removes_the_other_in_one_commit_that_can_be_undone(memory: Memory) -> None:
    (conflict,) = memory.conflicts()
    done = memory.resolve(conflict.id, keep="indent-with-8")
    assert done.removed == (FOUR,)
    assert [note.file for note in memory.notes()] == [EIGHT]
    assert memory.conflicts() == []
    assert "conflict" not in index(memory)
    assert "⚠" not in index(memory)
    assert [hit.status for hit in memory.search("indent python").hits] == [""]
    memory.undo(done.written.id)
    assert {note.file for note in memory.notes()} == {EIGHT, FOUR}
    assert len(memory.conflicts()) == 1


@pytest.mark.parametrize("keep", ["indent-with-8", None])
def test_an_older_answer_goes_while_a_newer_one_holds(memory: Memory, keep: str | None) -> None:
    for port in ("8080", "9090"):
        text = f"The API listens on port {port}."
        memory.add(f"port-{port}", type="project", description=text, body=text)
    older, newer = memory.conflicts()
    if older.files != (FOUR, EIGHT):
        older, newer = newer, older
    done = memory.resolve(older.id, keep=keep)
    memory.resolve(newer.id, keep="port-9090")
    memory.undo(done.written.id)
    assert memory.conflicts() == [older]
    assert {EIGHT, FOUR} <= {note.file for note in memory.notes()}
    assert "project-port-8080.md" not in {note.file for note in memory.notes()}


@pytest.mark.parametrize("by_hand", [False, True])
def test_keeping_both_by_an_answer_or_a_tick_is_not_flagged_again(
    memory: Memory, by_hand: bool
) -> None:
    if by_hand:
        ledger = memory.project.store / "_CONFLICTS.md"
        ledger.write_text(ledger.read_text("utf-8").replace("- [ ]", "- [x]"), "utf-8")
    else:
        memory.resolve(memory.conflicts()[0].id)
    assert memory.conflicts() == []
    memory.index()
    assert "conflict" not in index(memory)
    assert memory.compact().outcome == "noop"
    assert {note.file for note in memory.notes()} == {EIGHT, FOUR}


@pytest.mark.parametrize(("id", "keep"), [("c-00000000", None), ("", "user-elsewhere")])
def test_what_is_not_in_the_ledger_is_not_settled(
    memory: Memory, git: Git, id: str, keep: str | None
) -> None:
    memory.add("elsewhere", type="user", description="Elsewhere.", body="Elsewhere.")
    before = git(memory.project.root, "rev-parse", "HEAD")
    with pytest.raises(NotFound):
        memory.resolve(id or memory.conflicts()[0].id, keep=keep)
    assert git(memory.project.root, "rev-parse", "HEAD") == before


def test_nothing_is_settled_where_it_could_not_be_taken_back(memory: Memory, git: Git) -> None:
    git(memory.project.root, "checkout", "-q", "--detach")
    with pytest.raises(RepositoryState):
        memory.resolve(memory.conflicts()[0].id)
    assert len(memory.conflicts()) == 1
