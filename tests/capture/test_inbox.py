"""What was said or imported, and is no note yet, lies in files that a person reads and keeps."""

import json
import shutil
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from machines import Machine
from pace import seldom
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.pending import FULL, PendingFact, accept_fact, put_facts
from mdmemory.capture.store_fact import Stored
from mdmemory.capture.wishes import Inbox, Wish, open_inboxes, words_id
from mdmemory.cli import main
from mdmemory.config import person
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.hosts.notifications import count_waiting
from mdmemory.store.state import State
from mdmemory.transcripts.turns import Turn

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
    done, is_back = accept_fact(writers[0], FACT.id, today=TODAY, into=writers[1])
    assert not is_back
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


@pytest.mark.parametrize("memory", [SHARED], indirect=True)
def test_without_the_inbox_facts_wait_elsewhere_and_without_both_it_is_said(memory: Memory) -> None:
    inbox = memory.project.store / ".inbox"
    inbox.symlink_to(memory.project.root)
    let_wait(memory)
    assert [replaced(each) for each in memory.pending()] == [FACT]
    assert not list(memory.project.root.glob("pending-*")), "nothing goes through a link"
    shutil.rmtree(person.state_folder())
    person.state_folder().write_text("in the way", "utf-8")
    with pytest.raises(MdmemoryError, match="mdmemory"):
        let_wait(memory)
    person.state_folder().unlink()
    let_wait(memory)
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


# --- what a user asked to remember is kept while it is said, and answered or stored as it was -----

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TEXT = "deploys go out on Tuesdays, and Lena reviews every migration"
MESSAGE = f"Remember that {TEXT}."


class Clock:
    """The time of a test, which it sets."""

    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def layers(begin_store: BeginStore, clock: Clock) -> Memory:
    """The layers around a project with a store of its own."""
    return Memory.around(begin_store(own_repo=True).project.root, clock=clock)


def keep(layers: Memory, message: str = MESSAGE, turn: str = "m1", **how: bool) -> list[Path]:
    """What the hook does with a message."""
    wishes = notice_wishes(message).wishes
    return layers.keep_wishes(wishes, session="ses_1", turn=turn, message=message, **how)


def tell(layers: Memory, fact: str, quote: str = TEXT, turn: str = "m1") -> Stored:
    """What the assistant does in the turn."""
    caller = Caller("ses_1", (Turn(turn, "user", MESSAGE),))
    return layers.store(FactCall(fact, quote=quote), caller)


def wishes_of(layers: Memory) -> list[str]:
    return [wish.text for _, wish in open_inboxes(layers.project)[0].wishes()]


def test_a_wish_is_a_file_that_its_owner_sees_and_git_does_not(layers: Memory, git: Git) -> None:
    (path,) = keep(layers)
    assert path.parent == layers.project.store / ".inbox"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text("utf-8").endswith(f"---\n\n{TEXT}\n")
    assert git(layers.project.store, "status", "--porcelain") == ""
    assert (layers.notes(), wishes_of(layers)) == ([], [TEXT])


def test_wishes_are_kept_in_the_order_in_which_they_were_said(layers: Memory, clock: Clock) -> None:
    said = [f"Lamp {number} in the hall is red" for number in (3, 1, 2)]
    keep(layers, f"Remember:\n- {said[0]}\n- {said[1]}")
    clock.now += timedelta(seconds=1)
    keep(layers, f"Remember that {said[2]}", turn="m2")
    assert wishes_of(layers) == said
    layers.settle_wishes("ses_1", "m3")
    subjects = [entry.subject for entry, *_ in layers.log(3)][::-1]
    assert subjects == [f"memory: remember {text}" for text in said]


def test_the_same_event_heard_twice_is_one_wish(layers: Memory, clock: Clock) -> None:
    keep(layers)
    clock.now += timedelta(seconds=3)
    assert keep(layers) == []
    assert wishes_of(layers) == [TEXT]
    keep(layers, turn="m2")
    assert len(wishes_of(layers)) == 2


def test_a_call_that_says_all_of_it_answers_it_and_nothing_is_stored_twice(layers: Memory) -> None:
    keep(layers)
    assert (tell(layers, TEXT.capitalize()).status, wishes_of(layers)) == ("", [])
    assert layers.settle_wishes("ses_1", "m2") == []
    assert len(layers.notes()) == 1
    with layers.state() as state:
        known = (state.watermark("ses_1", "answered") or "").split()
    assert known == ["m1", words_id(MESSAGE)]


def test_calls_that_say_it_in_parts_answer_it_together(layers: Memory) -> None:
    keep(layers)
    tell(layers, "Deploys go out on Tuesdays")
    assert wishes_of(layers) == [TEXT]
    tell(layers, "Lena reviews every migration")
    assert (wishes_of(layers), layers.settle_wishes("ses_1", "")) == ([], [])


def test_what_was_answered_in_part_is_stored_whole_as_it_was_said(layers: Memory) -> None:
    keep(layers)
    tell(layers, "Deploys go out on Tuesdays")
    (done,) = layers.settle_wishes("ses_1", "m2")
    assert done.fact == f"{TEXT[0].upper()}{TEXT[1:]}"
    assert wishes_of(layers) == []


def test_what_an_assistant_declines_is_gone_and_nothing_is_stored(layers: Memory) -> None:
    keep(layers)
    done = layers.store(FactCall(TEXT, declined="moment"), Caller("ses_1"))
    assert (done.declined, done.file) == ("moment", "")
    assert (wishes_of(layers), layers.settle_wishes("ses_1", ""), layers.notes()) == ([], [], [])


def test_a_call_about_something_else_or_of_another_session_answers_nothing(layers: Memory) -> None:
    keep(layers)
    tell(layers, "Staging is reached under the name heron-5", "staging is heron-5")
    layers.store(FactCall(TEXT, declined="joke"), Caller("ses_2"))
    assert wishes_of(layers) == [TEXT]


def test_what_no_call_answers_is_stored_as_it_was_said_after_its_turn(layers: Memory) -> None:
    keep(layers)
    assert layers.settle_wishes("ses_1", "m1") == []
    (done,) = layers.settle_wishes("ses_1", "m2")
    head = layers.note(done.file).note.head
    assert (head.source, head.session, head.turn, head.status) == ("explicit", "ses_1", "m1", "")
    assert layers.settle_wishes("ses_1", "m3") == []
    layers.undo(done.id)
    assert layers.notes() == []


def test_a_wish_of_another_session_waits_for_ten_silent_minutes(
    layers: Memory, clock: Clock
) -> None:
    keep(layers)
    clock.now += timedelta(minutes=10, seconds=-1)
    assert layers.settle_wishes("ses_2", "m9") == layers.settle_wishes() == []
    clock.now += timedelta(seconds=1)
    assert len(layers.settle_wishes("ses_2", "m9")) == 1


def test_what_was_said_where_nobody_watches_waits_for_a_call(layers: Memory, clock: Clock) -> None:
    keep(layers, f"Run the tests. {MESSAGE}", attended=False)
    clock.now += timedelta(days=2)
    assert layers.settle_wishes("ses_1", "m2") == layers.settle_wishes() == []
    assert wishes_of(layers) == [TEXT]
    tell(layers, TEXT.capitalize())
    assert wishes_of(layers) == []


@pytest.mark.parametrize("message", [MESSAGE, f"/remember {TEXT}", f"ok, {MESSAGE}"])
def test_where_nobody_watches_a_request_at_the_beginning_is_kept(
    layers: Memory, message: str
) -> None:
    keep(layers, message, attended=False)
    assert (len(layers.settle_wishes("ses_1", "")), wishes_of(layers)) == (1, [])


def test_what_was_stored_as_said_is_worded_anew_by_a_later_call_of_its_turn(layers: Memory) -> None:
    def standing() -> set[str]:
        heads = {each.file: each.note.head for each in layers.notes()}
        return {file for file, head in heads.items() if head.status != "superseded"}

    keep(layers)
    (old,) = layers.settle_wishes("ses_1", "")
    for other in ("Staging is reached under the name heron-5", "Deploys never go out on Tuesdays"):
        tell(layers, other)
        assert old.file in standing(), "another fact takes nothing away"
    before = standing()
    fact = "Deploys go out on Tuesdays, and every migration is one that Lena reviews"
    done = tell(layers, fact)
    assert standing() == before - {old.file} | {done.file}
    layers.undo(done.id)
    assert standing() == before


def test_in_a_fresh_home_a_wish_is_kept_and_settled_when_there_is_a_store(
    repository: Path, empty_home: Path, clock: Clock
) -> None:
    layers = Memory.around(repository, clock=clock)
    assert layers.there() == []
    (path,) = keep(layers)
    assert path.is_relative_to(empty_home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    later = Memory.around(repository, clock=clock)
    later.begin_for_wishes()
    (done,) = later.settle_wishes("ses_1", "m2")
    assert later.note(done.file).note.head.turn == "m1"
    assert not path.exists()


def test_in_a_fresh_home_the_first_words_that_are_kept_prove(
    repository: Path, clock: Clock
) -> None:
    layers = Memory.around(repository, clock=clock)
    keep(layers)
    done = layers.store(FactCall(TEXT.capitalize(), quote=TEXT), Caller("ses_1"))
    assert (done.status, done.existed) == ("", False)
    assert layers.settle_wishes("ses_1", "m2") == []


def test_nothing_is_kept_through_a_link(layers: Memory, tmp_path: Path) -> None:
    (layers.project.store / ".inbox").symlink_to(tmp_path)
    (path,) = keep(layers)
    assert not path.is_relative_to(layers.project.store)
    assert not [each for each in tmp_path.iterdir() if "wish" in each.name]
    (done,) = layers.settle_wishes("ses_1", "m2")
    assert done.fact.startswith("Deploys")
    with pytest.raises(MdmemoryError, match="nothing is kept through links"):
        Inbox(layers.project.store / ".inbox", tmp_path / "key").put([Wish(TEXT)])


def test_a_file_without_our_seal_is_no_wish_and_stays_where_it_is(layers: Memory) -> None:
    (path,) = keep(layers)
    whole = path.read_text("utf-8")
    unsealed = "".join(line for line in whole.splitlines(True) if "seal:" not in line)
    changed = [("Tuesdays", "Fridays"), ("ses_1", "ses_2"), ("seal: ", "seal: 0"), ('"ses_1"', "7")]
    for text in (*(whole.replace(*change) for change in changed), unsealed, TEXT, ""):
        path.write_text(text, "utf-8")
        assert wishes_of(layers) == []
        assert layers.settle_wishes() == layers.settle_wishes("ses_1", "m2") == []
        assert path.read_text("utf-8") == text
    path.write_text(whole, "utf-8")
    open_inboxes(layers.project)[0].key_file.write_text("another machine's", "utf-8")
    assert (wishes_of(layers), layers.notes(), len(layers.kept_wishes())) == ([], [], 1)


def test_a_wish_stored_when_the_process_died_is_not_stored_twice(
    layers: Memory, monkeypatch: Patch
) -> None:
    keep(layers)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(State, "set_watermark", killed)
        with pytest.raises(KeyboardInterrupt):
            layers.settle_wishes("ses_1", "m2")
    assert len(layers.notes()) == 1
    layers.settle_wishes("ses_1", "m2")
    assert (len(layers.notes()), wishes_of(layers)) == (1, [])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("the proxy listens on port 8443", "the proxy listens on a port"),
        ("use pnpm in the monorepo, but never in the legacy app", "use pnpm in the monorepo"),
        ("deploys go out on Tuesdays", "staging is heron"),
        ("deploys go out on Tuesdays", ""),
    ],
)
def test_without_its_number_or_one_clause_a_wish_is_not_answered(text: str, answer: str) -> None:
    assert not Wish(text).answered(answer).is_answered()
