"""What is written without a command that a person typed leaves their branch and index alone."""

from pathlib import Path

import pytest
from moments import blob
from projects import git, tip
from stores import open_writer

from mdmemory.actions.undo import undo_changes
from mdmemory.errors import RepositoryState
from mdmemory.files import digest
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group, Writer, Written

TEXT = "---\nname: {0}\ndescription: About {0}\nmetadata:\n  type: user\n---\n\n{1}\n"


@pytest.fixture
def typed(repository: Path, store: Path) -> Writer:
    """A writer for a person; the store has an index that is committed."""
    writer = open_writer(repository)
    with writer.lock_store():
        write(writer, "user-first.md", "It was there.")
    return writer


@pytest.fixture
def automatic(typed: Writer, repository: Path) -> Writer:
    writer = open_writer(repository)
    writer.automatic = True
    return writer


def write(writer: Writer, file: str, text: str | None) -> Written:
    path = writer.project.store / file
    old = digest(path.read_bytes()) if path.exists() else None
    new = None if text is None else TEXT.format(file.removesuffix(".md"), text).encode()
    group = Group(f"write {file}", (Change(file, old, new),))
    return writer.write(f"memory: write {file}", [group], kind="edit", destructive=new is None)


def put(writer: Writer, file: str, text: str | None) -> Written:
    with writer.lock_store():
        return write(writer, file, text)


def subjects(root: Path, name: str = "HEAD") -> list[str]:
    return git(root, "log", "--format=%s", name).splitlines()


def bring_in(writer: Writer) -> None:
    """What any command does first that a person types and that writes."""
    with writer.lock_store():
        pass


def everything_kept(root: Path) -> set[str]:
    """All that a ref of ours reaches."""
    refs = git(root, "for-each-ref", "--format=%(refname)", "refs/mdmemory/keep").split()
    rows = git(root, "rev-list", "--objects", *refs, "--").splitlines() if refs else []
    return {row.split()[0] for row in rows}


def test_an_automatic_write_moves_no_branch_and_no_index(
    automatic: Writer, repository: Path, store: Path
) -> None:
    index = (repository / ".git" / "index").read_bytes()
    before = git(repository, "for-each-ref", "refs/heads"), tip(repository)
    (repository / ".git" / "index.lock").touch()  # a git of theirs is at work: no matter
    done = put(automatic, "user-new.md", "Said to the assistant.")
    assert (done.commit, done.waits) == (None, True)
    assert put(automatic, "user-name.md", None).waits
    after = git(repository, "for-each-ref", "refs/heads"), tip(repository)
    assert after == before
    assert (repository / ".git" / "index").read_bytes() == index
    assert (store / "user-new.md").exists()
    assert not (store / "user-name.md").exists()
    assert "(user-new.md)" in (store / "MEMORY.md").read_text()
    (repository / ".git" / "index.lock").unlink()
    assert "bad" not in git(repository, "fsck", "--full")


def test_what_an_automatic_write_replaces_is_kept_under_a_ref(
    automatic: Writer, repository: Path, store: Path
) -> None:
    texts = []
    for text in ("By hand, in no commit.", "By hand, once more."):
        texts.append(TEXT.format("name", text).encode())
        (store / "user-name.md").write_bytes(texts[-1])
        put(automatic, "user-name.md", f"Instead of: {text}")
        texts.append((store / "user-name.md").read_bytes())
    put(automatic, "user-name.md", None)
    kept = everything_kept(repository)
    assert {blob(text) for text in texts} <= kept


def test_the_next_typed_command_commits_what_waits(
    typed: Writer, automatic: Writer, repository: Path, store: Path
) -> None:
    (store / "user-name.md").write_text(TEXT.format("name", "By hand."))
    before = subjects(repository)
    put(automatic, "user-new.md", "One.")
    put(automatic, "user-name.md", "Two.")
    put(automatic, "user-new.md", "Three.")
    said: list[str] = []
    typed.tell = said.append
    put(typed, "user-typed.md", "Four.")
    commit = "memory: write user-new.md and 2 more"
    assert subjects(repository) == ["memory: write user-typed.md", commit, *before]
    assert git(repository, "status", "--porcelain") == ""
    assert said == [f"Committed now, as it was waiting: {commit}"]
    one, other = git(repository, "log", "-2", "--format=%an <%ae>").splitlines()
    assert one == other, "it is the person's commit"
    assert "Three." in git(repository, "show", "HEAD~1:notes/memory/user-new.md")
    message = git(repository, "log", "-1", "--format=%B", "HEAD~1")
    assert [line for line in message.splitlines() if line.startswith("write ")] == [
        "write user-new.md", "write user-name.md", "write user-new.md",
    ]  # fmt: skip
    bring_in(typed)
    assert len(subjects(repository)) == len(before) + 2, "once is enough"


def test_each_write_that_waited_stands_in_the_log_and_is_taken_back_by_itself(
    typed: Writer, automatic: Writer, repository: Path, store: Path
) -> None:
    texts = [(store / "user-first.md").read_bytes()]
    ids = []
    for text in ("One.", "Two."):
        ids.append(put(automatic, "user-first.md", text).id)
        texts.append((store / "user-first.md").read_bytes())
    ids.append(put(automatic, "user-new.md", "Three.").id)
    bring_in(typed)
    assert [entry.get("Memory-Id") for entry in typed.history.log_of("Memory-Id")[:3]] == ids[::-1]
    assert [undone for _, undone in typed.history.logged(3)] == [False] * 3
    for id, text in zip(ids[1::-1], texts[1::-1], strict=True):
        undo_changes(typed, id)
        assert (store / "user-first.md").read_bytes() == text
    assert {e.get("Memory-Id") for e, undone in typed.history.logged() if undone} == {*ids[:2]}
    undo_changes(typed)
    assert not (store / "user-new.md").exists()


def test_in_another_clone_what_waited_is_one_change(
    typed: Writer, automatic: Writer, repository: Path, tmp_path: Path
) -> None:
    put(automatic, "user-new.md", "One.")
    put(automatic, "user-new.md", "Two.")
    bring_in(typed)
    git(tmp_path, "clone", "-q", str(repository), "clone")
    writer = open_writer(tmp_path / "clone")
    newest = writer.history.logged(1)[0][0]
    assert newest.subject == "memory: write user-new.md and 1 more"
    undo_changes(writer, newest.get("Memory-Id"))
    assert not (tmp_path / "clone/notes/memory/user-new.md").exists()


def test_a_commit_of_the_persons_between_stays_and_what_waits_follows(
    typed: Writer, automatic: Writer, repository: Path
) -> None:
    put(automatic, "user-new.md", "One.")
    (repository / "README").write_text("theirs\n")
    git(repository, "commit", "-qam", "theirs")
    put(automatic, "user-new.md", "Two.")
    bring_in(typed)
    assert subjects(repository)[:2] == ["memory: write user-new.md and 1 more", "theirs"]
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize("amended", [False, True])
def test_what_the_person_committed_is_not_committed_twice(
    typed: Writer, automatic: Writer, repository: Path, store: Path, amended: bool
) -> None:
    put(automatic, "user-new.md", "One.")
    (store / "user-name.md").write_text(TEXT.format("name", "By hand."))
    by_hand = (store / "user-name.md").read_bytes()
    put(automatic, "user-name.md", "Two.")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "all of it", *(["--amend"] if amended else []))
    head = tip(repository)
    bring_in(typed)
    assert tip(repository) == head
    assert blob(by_hand) in everything_kept(repository)
    assert automatic.history.kept.list_entries() == []


def test_what_the_person_put_back_stays_and_is_kept(
    typed: Writer, automatic: Writer, repository: Path, store: Path
) -> None:
    put(automatic, "user-name.md", "Another name.")
    written = (store / "user-name.md").read_bytes()
    put(automatic, "user-new.md", "New.")
    git(repository, "checkout", "--", "notes/memory/user-name.md")
    (store / "user-new.md").unlink()
    head, name = tip(repository), (store / "user-name.md").read_bytes()
    said: list[str] = []
    typed.tell = said.append
    bring_in(typed)
    assert len(said) == 1
    assert said[0].startswith("Not committed, as it was removed or put back since: user-name.md, ")
    assert tip(repository) == head
    assert (store / "user-name.md").read_bytes() == name
    assert not (store / "user-new.md").exists()
    assert blob(written) in everything_kept(repository)


def test_what_was_put_back_again_and_again_is_all_kept(
    typed: Writer, automatic: Writer, repository: Path, store: Path
) -> None:
    texts = []
    for number in range(3):
        put(automatic, "user-name.md", f"Name {number}.")
        texts.append((store / "user-name.md").read_bytes())
        git(repository, "checkout", "--", "notes/memory/user-name.md")
        bring_in(typed)
    kept = everything_kept(repository)
    assert {blob(text) for text in texts} <= kept


def test_a_hand_edit_of_what_waits_stays_a_hand_edit(
    typed: Writer, automatic: Writer, repository: Path, store: Path
) -> None:
    put(automatic, "user-new.md", "Said.")
    written = (store / "user-new.md").read_bytes()
    (store / "user-new.md").write_text(TEXT.format("user-new", "Said better."))
    head = tip(repository)
    bring_in(typed)
    assert tip(repository) == head
    assert "?? notes/memory/user-new.md" in git(repository, "status", "--porcelain")
    assert blob(written) in everything_kept(repository)
    assert "Said better." in (store / "user-new.md").read_text()


def test_on_another_branch_what_waits_is_committed_there(
    typed: Writer, automatic: Writer, repository: Path
) -> None:
    put(automatic, "user-new.md", "New.")
    main = tip(repository, "main")
    git(repository, "switch", "-q", "-c", "other")
    bring_in(typed)
    assert subjects(repository)[0] == "memory: write user-new.md"
    assert tip(repository, "main") == main
    git(repository, "switch", "-q", "main")
    bring_in(typed)
    assert tip(repository, "main") == main


def test_in_the_middle_of_a_merge_what_waits_goes_on_waiting(
    typed: Writer, automatic: Writer, repository: Path
) -> None:
    put(automatic, "user-new.md", "New.")
    (repository / ".git" / "MERGE_HEAD").write_text(tip(repository))
    head = tip(repository)
    put(automatic, "user-more.md", "More.")
    with pytest.raises(RepositoryState):
        put(automatic, "user-name.md", None)
    bring_in(typed)
    assert tip(repository) == head
    (repository / ".git" / "MERGE_HEAD").unlink()
    bring_in(typed)
    assert subjects(repository)[0] == "memory: write user-more.md and 1 more"


def test_before_the_first_commit_it_waits_as_well(tmp_path: Path) -> None:
    root = tmp_path / "unborn"
    (root / "notes" / "memory").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    writer = open_writer(root)
    writer.automatic = True
    assert put(writer, "user-new.md", "New.").waits
    assert git(root, "for-each-ref", "refs/heads") == ""
    bring_in(open_writer(root))
    assert subjects(root) == ["memory: write user-new.md"]
    assert git(root, "status", "--porcelain") == ""


def test_two_work_trees_of_a_repository_wait_each_for_itself(
    typed: Writer, automatic: Writer, repository: Path, tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    put(automatic, "user-here.md", "Here.")
    side = open_writer(tmp_path / "side")
    side.automatic = True
    put(side, "user-there.md", "There.")
    bring_in(open_writer(tmp_path / "side"))
    assert subjects(repository, "side")[0] == "memory: write user-there.md"
    assert "memory: write user-here.md" not in subjects(repository, "side")
    bring_in(typed)
    assert subjects(repository, "main")[0] == "memory: write user-here.md"


def test_a_store_in_a_repository_of_its_own_commits_at_once(tmp_path: Path) -> None:
    root = tmp_path / "project"
    store = root / "notes" / "memory"
    store.mkdir(parents=True)
    git(store, "init", "-q", "-b", "main")
    writer = open_writer(root)
    writer.automatic = True
    assert put(writer, "user-new.md", "New.").commit
    assert subjects(store) == ["memory: write user-new.md"]


@pytest.mark.parametrize(("other", "waits"), [("notes.txt", True), ("more.md", False)])
def test_a_store_at_the_top_of_a_project_is_shared_where_that_holds_more(
    tmp_path: Path, other: str, waits: bool
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / other).write_text("something\n")
    git(root, "add", ".")
    git(root, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "first")
    writer = open_writer(root, ".")
    writer.automatic = True
    assert put(writer, "user-new.md", "New.").waits is waits
