"""What was said or imported, and is no note yet, lies in files that a person reads and keeps."""

import json
import shutil
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from machines import Machine
from pace import seldom
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.pending import FULL, PendingFact, accept_fact, put_facts
from mdmemory.cli import main
from mdmemory.config import person
from mdmemory.errors import NotFound
from mdmemory.hosts.notifications import count_waiting
from mdmemory.store.state import State

Patch = pytest.MonkeyPatch

Git = Callable[..., str]
TODAY = datetime.now(UTC).date().isoformat()  # commands have the real clock
FACT = PendingFact(
    "project", "", "docker-27", "The pipeline needs Docker 27", "Every runner needs Docker 27.",
    "ses_1", TODAY, ("assistant_said",),
)  # fmt: skip
OWN, SHARED = "own", "shared"


@pytest.fixture(params=[OWN, SHARED])
def memory(
    request: pytest.FixtureRequest, begin_store: BeginStore, repository: Path, monkeypatch: Patch
) -> Memory:
    monkeypatch.chdir(repository)
    return begin_store(own_repo=request.param == OWN)


def let_wait(memory: Memory, *facts: PendingFact) -> None:
    """Let facts wait as an extraction does, which holds the store's lock."""
    with (writer := memory.opened.writer()).lock_store(), writer.state() as state:
        put_facts(memory.project, state, facts or [FACT], TODAY)


def in_inbox(memory: Memory) -> list[Path]:
    return sorted((memory.project.store / ".inbox").glob("*.md"))


def is_own(memory: Memory) -> bool:
    return (memory.project.store / ".git").exists()


def forget_our_work(memory: Memory) -> None:
    shutil.rmtree(memory.project.private, ignore_errors=True)


COMMANDS = [
    ["review"], ["status"], ["list"], ["index"], ["search", "docker"], ["doctor"],
    ["index", "--rebuild"], ["log"], ["compact"], ["undo"],
    ["add", "tea", "--type", "project", "--description", "Tea at four", "Tea at four."],
]  # fmt: skip


@pytest.mark.parametrize("words", seldom(COMMANDS, 4))
def test_nothing_that_waits_is_lost_with_our_own_folder(memory: Memory, words: list[str]) -> None:
    let_wait(memory)
    forget_our_work(memory)
    main(words)
    assert [replaced(each) for each in memory.pending()] == [FACT]
    forget_our_work(memory)
    assert memory.accept(memory.pending()[0].id).file == "project-docker-27.md"


def replaced(fact: PendingFact) -> PendingFact:
    """A fact as it was before it was kept."""
    assert fact.kept_as == FACT.id
    return PendingFact(**{name: getattr(fact, name) for name in FACT.__slots__[:-1]})


def test_a_fact_that_waits_is_a_file_that_a_person_can_read(memory: Memory, git: Git) -> None:
    let_wait(memory)
    (path,) = in_inbox(memory)
    assert path.name == f"pending-{FACT.id.removeprefix('p-')}.md"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text("utf-8")
    assert 'description: "The pipeline needs Docker 27"\n' in text
    assert text.endswith("---\n\nEvery runner needs Docker 27.\n")
    assert git(memory.project.store, "status", "--porcelain") == ""
    tracked = git(memory.project.store, "ls-files", ".inbox").split()
    assert tracked == ([f".inbox/{path.name}"] if is_own(memory) else [])


@pytest.mark.parametrize("memory", [OWN], indirect=True)
@pytest.mark.parametrize("answer", ["accept", "drop"])
def test_each_answer_is_one_commit_whose_undo_lets_the_fact_wait_again(
    memory: Memory, git: Git, answer: str
) -> None:
    let_wait(memory)
    store, before = memory.project.store, git(memory.project.store, "rev-parse", "HEAD").strip()
    if answer == "accept":
        head = memory.note(memory.accept(FACT.id).file).note.head
        assert (head.source, head.name, head.session) == ("manual", "docker-27", "")
    else:
        memory.drop(FACT.id)
        assert git(store, "log", "-1", "--format=%s").strip() == "memory: drop docker-27"
    assert git(store, "rev-parse", "HEAD~1").strip() == before
    assert (in_inbox(memory), memory.pending()) == ([], [])
    with pytest.raises(NotFound, match=f"Nothing waits under the id {FACT.id}"):
        memory.accept(FACT.id)
    undone = git(store, "rev-parse", "HEAD").strip()
    assert memory.undo().undone == undone
    assert [replaced(each) for each in memory.pending()] == [FACT]
    assert git(store, "diff", before) == git(store, "status", "--porcelain") == ""


def test_a_fact_may_go_to_another_store_at_last(memory: Memory, git: Git, machine: Machine) -> None:
    other = machine("other")
    let_wait(memory)
    writers = memory.opened.writer(), other.opened.writer()
    done = accept_fact(writers[0], FACT.id, today=memory.opened.today(), into=writers[1])
    assert other.note(done.file).note.head.source == "manual"
    assert (in_inbox(memory), memory.pending(), memory.notes()) == ([], [], [])
    assert git(memory.project.store, "status", "--porcelain") == ""


def test_of_a_dropped_fact_no_file_stays_nor_is_it_proposed_anew(memory: Memory, git: Git) -> None:
    let_wait(memory)
    memory.drop(FACT.id)
    let_wait(memory)
    assert (in_inbox(memory), memory.pending()) == ([], [])
    assert git(memory.project.store, "status", "--porcelain") == ""
    with pytest.raises(NotFound, match=f"Nothing waits under the id {FACT.id}"):
        memory.drop(FACT.id)


def test_a_person_may_edit_the_text_and_accept_it_by_the_same_id(memory: Memory, git: Git) -> None:
    let_wait(memory)
    (path,) = in_inbox(memory)
    text = path.read_text("utf-8").replace("Docker 27", "Docker 28").replace('"ses_1"', "by hand")
    path.write_text(text, "utf-8")
    done = memory.accept(FACT.id)
    assert memory.note(done.file).note.body == "Every runner needs Docker 28."
    author = git(memory.project.root, "log", "-1", "--format=%an").strip()
    assert is_own(memory) or author == "A Person"
    path.write_text("no head at all\n", "utf-8")
    (fact,) = memory.pending()
    assert (fact.id, fact.type, fact.body) == (FACT.id, "project", "no head at all")


@pytest.mark.parametrize("memory", [SHARED], indirect=True)
def test_secrets_are_taken_out_and_a_secret_that_is_the_fact_is_not_kept(memory: Memory) -> None:
    secret = "hunter2-" + "Xk29!"
    body = f"The board's password is {secret}"
    alone = PendingFact("user", "", "board", body, body, "s", TODAY, ())
    body = f"Deploys of the board go out on Tuesdays only. The password is {secret} there."
    beside = PendingFact("user", "", "deploys", "Deploys on Tuesdays", body, "s", TODAY, ())
    let_wait(memory, alone, beside)
    assert [each.id for each in memory.pending()] == [beside.id]
    kept = [*in_inbox(memory), *memory.project.private.glob("state.db*")]
    assert not any(secret.encode() in path.read_bytes() for path in kept)


def test_facts_that_no_inbox_took_are_carried_over_once_also_by_a_process_that_dies(
    memory: Memory, monkeypatch: Patch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    row = (FACT.id, *(getattr(FACT, name) for name in FACT.__slots__[:7]), json.dumps(FACT.reasons))
    with memory.state() as state:
        state.change(("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)", row))
    with monkeypatch.context() as patch:
        patch.setattr(State, "change", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.pending()
    assert len(in_inbox(memory)) == 1
    assert main(["status"]) == 0
    forget_our_work(memory)
    assert [replaced(each) for each in memory.pending()] == [FACT]
    memory.drop(FACT.id)
    assert memory.pending() == []


@pytest.mark.parametrize("memory", [SHARED], indirect=True)
@pytest.mark.parametrize("person_too", [False, True])
def test_without_the_inbox_facts_wait_elsewhere(memory: Memory, person_too: bool) -> None:
    inbox = memory.project.store / ".inbox"
    inbox.symlink_to(memory.project.root)
    if person_too:
        person.state_folder().parent.mkdir(parents=True, exist_ok=True)
        person.state_folder().write_text("in the way", "utf-8")
    let_wait(memory)
    assert [replaced(each) for each in memory.pending()] == [FACT]
    assert not list(memory.project.root.glob("pending-*")), "nothing goes through a link"
    inbox.unlink()
    assert memory.accept(FACT.id).file == "project-docker-27.md"
    assert memory.pending() == []


@pytest.mark.parametrize("memory", [OWN], indirect=True)
def test_an_own_stores_inbox_is_in_its_next_commit_but_for_secrets(
    memory: Memory, git: Git
) -> None:
    store = memory.project.store
    source = memory.project.root / "notes.txt"
    source.write_text("# Facts\n\n- my password is hunter2-Xk29!\n- " + "long " * 5000, "utf-8")
    imported = memory.import_from(source)
    assert imported.rest is not None
    assert git(store, "ls-files", ".inbox").split() == [f".inbox/{imported.rest.name}"]
    (store / ".inbox/mine.md").write_text("The password is hunter2-Xk29!\n", "utf-8")
    memory.index()
    assert "mine.md" not in git(store, "ls-files", ".inbox")
    imported.rest.unlink()
    memory.index()
    assert git(store, "ls-files", ".inbox") == ""


@pytest.mark.parametrize("memory", [OWN], indirect=True)
def test_an_inbox_that_git_ignores_is_not_committed_and_stops_nothing(
    memory: Memory, git: Git
) -> None:
    (memory.project.store / ".gitignore").write_text(".inbox/\n", "utf-8")
    let_wait(memory)
    assert git(memory.project.store, "ls-files", ".inbox") == ""
    assert memory.accept(FACT.id).written.commit
    assert memory.pending() == []


def test_what_waits_is_listed_counted_and_named_at_the_start(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    layers = Memory.around(memory.project.root)
    assert not any(count_waiting(layers).values())
    let_wait(memory)
    assert count_waiting(layers)["pending"] == 1
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["inbox"]["pending"] == 1
    (memory.project.store / ".inbox/import-1.md").write_text("left over\n", "utf-8")
    found = {kind: count for kind, count in count_waiting(layers).items() if count}
    assert found == {"pending": 1, "import_rest": 1}
    assert main(["review"]) == 0
    out = capsys.readouterr().out
    assert f"{FACT.id}  pending: " in out
    assert "an import made no note of it" in out


def test_what_waits_neither_expires_nor_makes_room_for_newer_facts(memory: Memory) -> None:
    def one(number: int) -> PendingFact:
        fact = f"Fact {number}"
        return PendingFact("project", "", f"n{number}", fact, fact, "s", "2020-01-01", ())

    let_wait(memory, one(0))
    let_wait(memory, *map(one, range(1, FULL + 5)))
    kept = [each.name for each in memory.pending()]
    assert len(kept) == FULL
    assert "n0" in kept
