"""What is written without a command that a person typed leaves their branch and index alone."""

from pathlib import Path

import pytest
from moments import blob
from projects import commit_all, git, tip
from stores import open_writer

from mdmemory.actions.undo import undo_changes
from mdmemory.errors import RepositoryState
from mdmemory.files import digest
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group, Writer, Written

TEXT = "---\nname: {0}\ndescription: About {0}\nmetadata:\n  type: user\n---\n\n{1}\n"


def put(writer: Writer, file: str, text: str | None) -> Written:
    path = writer.project.store / file
    with writer.lock_store():
        old = digest(path.read_bytes()) if path.exists() else None
        new = None if text is None else TEXT.format(file.removesuffix(".md"), text).encode()
        group = Group(f"write {file}", (Change(file, old, new),))
        return writer.write(f"memory: write {file}", [group], kind="edit", destructive=new is None)


def automatic(root: Path, store: str = "notes/memory") -> Writer:
    """What writes for an assistant."""
    writer = open_writer(root, store)
    writer.automatic = True
    return writer


def bring_in(writer: Writer) -> None:
    """What any command does first that a person types and that writes."""
    with writer.lock_store():
        pass


def subjects(root: Path, name: str = "HEAD") -> list[str]:
    return git(root, "log", "--format=%s", name).splitlines()


class Shared:
    """A project with a store in its repository, which has an index that is committed."""

    def __init__(self, root: Path) -> None:
        self.root, self.store, self.said = root, root / "notes" / "memory", list[str]()
        self.typed, self.automatic = open_writer(root), automatic(root)
        put(self.typed, "user-first.md", "It was there.")
        self.typed.tell = self.said.append

    def say(self, file: str, text: str | None) -> Written:
        """Have the assistant write it."""
        return put(self.automatic, file, text)

    def edit(self, file: str, text: str) -> bytes:
        """Write it by hand."""
        (self.store / file).write_text(TEXT.format(file.removesuffix(".md"), text))
        return self.read(file)

    def read(self, file: str) -> bytes:
        return (self.store / file).read_bytes()

    def bring_in(self) -> str:
        """The commit after that."""
        bring_in(self.typed)
        return tip(self.root)

    def kept(self) -> set[str]:
        """All that a ref of ours reaches."""
        words = ("for-each-ref", "--format=%(refname)", "refs/mdmemory/keep")
        refs = git(self.root, *words).split()
        rows = git(self.root, "rev-list", "--objects", *refs, "--").splitlines() if refs else []
        return {row.split()[0] for row in rows}

    def status(self) -> str:
        return git(self.root, "status", "--porcelain")


@pytest.fixture
def shared(repository: Path, store: Path) -> Shared:
    return Shared(repository)


def test_an_automatic_write_moves_no_branch_and_no_index(shared: Shared) -> None:
    root, lock = shared.root, shared.root / ".git" / "index.lock"

    def state() -> tuple[object, ...]:
        return git(root, "for-each-ref", "refs/heads"), tip(root), lock.with_suffix("").read_bytes()

    before = state()
    lock.touch()  # a git of theirs is at work: no matter
    done = shared.say("user-new.md", "Said to the assistant.")
    assert (done.commit, done.waits) == (None, True)
    assert shared.say("user-name.md", None).waits
    assert state() == before
    assert (shared.store / "user-new.md").exists()
    assert not (shared.store / "user-name.md").exists()
    assert b"(user-new.md)" in shared.read("MEMORY.md")
    lock.unlink()
    assert "bad" not in git(root, "fsck", "--full")


def test_what_an_automatic_write_replaces_is_kept_under_a_ref(shared: Shared) -> None:
    texts = []
    for text in ("By hand, in no commit.", "By hand, once more."):
        texts.append(shared.edit("user-name.md", text))
        shared.say("user-name.md", f"Instead of: {text}")
        texts.append(shared.read("user-name.md"))
    shared.say("user-name.md", None)
    assert {blob(text) for text in texts} <= shared.kept()


def test_the_next_typed_command_commits_what_waits(shared: Shared) -> None:
    shared.edit("user-name.md", "By hand.")
    before = subjects(shared.root)
    for file, text in (("user-new.md", "1"), ("user-name.md", "2"), ("user-new.md", "Three.")):
        shared.say(file, text)
    put(shared.typed, "user-typed.md", "Four.")
    commit = "memory: write user-new.md and 2 more"
    assert subjects(shared.root) == ["memory: write user-typed.md", commit, *before]
    assert shared.status() == ""
    assert shared.said == [f"Committed now, as it was waiting: {commit}"]
    one, other = git(shared.root, "log", "-2", "--format=%an <%ae>").splitlines()
    assert one == other, "it is the person's commit"
    assert "Three." in git(shared.root, "show", "HEAD~1:notes/memory/user-new.md")
    message = git(shared.root, "log", "-1", "--format=%B", "HEAD~1").splitlines()
    files = [line.split()[1] for line in message if line.startswith("write ")]
    assert files == ["user-new.md", "user-name.md", "user-new.md"]
    shared.bring_in()
    assert len(subjects(shared.root)) == len(before) + 2, "once is enough"


def test_each_write_that_waited_stands_in_the_log_and_is_taken_back_by_itself(
    shared: Shared,
) -> None:
    texts, ids, log = [shared.read("user-first.md")], [], shared.typed.history
    for text in ("One.", "Two."):
        ids.append(shared.say("user-first.md", text).id)
        texts.append(shared.read("user-first.md"))
    ids.append(shared.say("user-new.md", "Three.").id)
    shared.bring_in()
    assert [entry.get("Memory-Id") for entry in log.log_of("Memory-Id")[:3]] == ids[::-1]
    assert [undone for _, undone in log.logged(3)] == [False] * 3
    for id, text in zip(ids[1::-1], texts[1::-1], strict=True):
        undo_changes(shared.typed, id)
        assert shared.read("user-first.md") == text
    assert {e.get("Memory-Id") for e, undone in log.logged() if undone} == {*ids[:2]}
    undo_changes(shared.typed)
    assert not (shared.store / "user-new.md").exists()


def test_in_another_clone_what_waited_is_one_change(shared: Shared, tmp_path: Path) -> None:
    shared.say("user-new.md", "One.")
    shared.say("user-new.md", "Two.")
    shared.bring_in()
    git(tmp_path, "clone", "-q", str(shared.root), "clone")
    writer = open_writer(tmp_path / "clone")
    newest = writer.history.logged(1)[0][0]
    assert newest.subject == "memory: write user-new.md and 1 more"
    undo_changes(writer, newest.get("Memory-Id"))
    assert not (tmp_path / "clone/notes/memory/user-new.md").exists()


def test_a_commit_of_the_persons_between_stays_and_what_waits_follows(shared: Shared) -> None:
    shared.say("user-new.md", "One.")
    (shared.root / "README").write_text("theirs\n")
    git(shared.root, "commit", "-qam", "theirs")
    shared.say("user-new.md", "Two.")
    shared.bring_in()
    assert subjects(shared.root)[:2] == ["memory: write user-new.md and 1 more", "theirs"]
    assert shared.status() == ""


@pytest.mark.parametrize("amended", [False, True])
def test_what_the_person_committed_is_not_committed_twice(shared: Shared, amended: bool) -> None:
    shared.say("user-new.md", "One.")
    by_hand = shared.edit("user-name.md", "By hand.")
    shared.say("user-name.md", "Two.")
    git(shared.root, "add", "-A")
    git(shared.root, "commit", "-q", "-m", "all of it", *(["--amend"] if amended else []))
    head = tip(shared.root)
    assert shared.bring_in() == head
    assert blob(by_hand) in shared.kept()
    assert shared.automatic.history.kept.list_entries() == []


def test_what_the_person_put_back_stays_and_is_kept(shared: Shared) -> None:
    shared.say("user-name.md", "Another name.")
    written = shared.read("user-name.md")
    shared.say("user-new.md", "New.")
    git(shared.root, "checkout", "--", "notes/memory/user-name.md")
    (shared.store / "user-new.md").unlink()
    head, name = tip(shared.root), shared.read("user-name.md")
    assert shared.bring_in() == head
    (said,) = shared.said
    assert said.startswith("Not committed, as it was removed or put back since: user-name.md, ")
    assert shared.read("user-name.md") == name
    assert not (shared.store / "user-new.md").exists()
    assert blob(written) in shared.kept()


def test_what_was_put_back_again_and_again_is_all_kept(shared: Shared) -> None:
    texts = []
    for number in range(3):
        shared.say("user-name.md", f"Name {number}.")
        texts.append(shared.read("user-name.md"))
        git(shared.root, "checkout", "--", "notes/memory/user-name.md")
        shared.bring_in()
    assert {blob(text) for text in texts} <= shared.kept()


def test_a_hand_edit_of_what_waits_stays_a_hand_edit(shared: Shared) -> None:
    shared.say("user-new.md", "Said.")
    written, head = shared.read("user-new.md"), tip(shared.root)
    better = shared.edit("user-new.md", "Said better.")
    assert shared.bring_in() == head
    assert "?? notes/memory/user-new.md" in shared.status()
    assert blob(written) in shared.kept()
    assert shared.read("user-new.md") == better


def test_on_another_branch_what_waits_is_committed_there(shared: Shared) -> None:
    shared.say("user-new.md", "New.")
    main = tip(shared.root)
    git(shared.root, "switch", "-q", "-c", "other")
    shared.bring_in()
    assert subjects(shared.root)[0] == "memory: write user-new.md"
    assert tip(shared.root, "main") == main
    git(shared.root, "switch", "-q", "main")
    assert shared.bring_in() == main


def test_in_the_middle_of_a_merge_what_waits_goes_on_waiting(shared: Shared) -> None:
    shared.say("user-new.md", "New.")
    head = tip(shared.root)
    (shared.root / ".git" / "MERGE_HEAD").write_text(f"{head}\n")
    shared.say("user-more.md", "More.")
    with pytest.raises(RepositoryState):
        shared.say("user-name.md", None)
    assert shared.bring_in() == head
    (shared.root / ".git" / "MERGE_HEAD").unlink()
    shared.bring_in()
    assert subjects(shared.root)[0] == "memory: write user-more.md and 1 more"


def test_before_the_first_commit_it_waits_as_well(tmp_path: Path) -> None:
    root = tmp_path / "unborn"
    (root / "notes" / "memory").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    assert put(automatic(root), "user-new.md", "New.").waits
    assert git(root, "for-each-ref", "refs/heads") == ""
    bring_in(open_writer(root))
    assert subjects(root) == ["memory: write user-new.md"]
    assert git(root, "status", "--porcelain") == ""


def test_two_work_trees_of_a_repository_wait_each_for_itself(shared: Shared) -> None:
    git(shared.root, "worktree", "add", "-q", "-b", "side", "../side")
    shared.say("user-here.md", "Here.")
    put(automatic(shared.root.parent / "side"), "user-there.md", "There.")
    bring_in(open_writer(shared.root.parent / "side"))
    assert subjects(shared.root, "side")[0] == "memory: write user-there.md"
    assert "memory: write user-here.md" not in subjects(shared.root, "side")
    shared.bring_in()
    assert subjects(shared.root, "main")[0] == "memory: write user-here.md"


def test_a_store_in_a_repository_of_its_own_commits_at_once(tmp_path: Path) -> None:
    (store := tmp_path / "notes" / "memory").mkdir(parents=True)
    git(store, "init", "-q", "-b", "main")
    assert put(automatic(tmp_path), "user-new.md", "New.").commit
    assert subjects(store) == ["memory: write user-new.md"]


@pytest.mark.parametrize(("other", "waits"), [("notes.txt", True), ("more.md", False)])
def test_a_store_at_the_top_of_a_project_is_shared_where_that_holds_more(
    repository: Path, other: str, waits: bool
) -> None:
    git(repository, "mv", "README", other)
    commit_all(repository)
    assert put(automatic(repository, "."), "user-new.md", "New.").waits is waits
