"""What a user asked to remember is kept while it is said, and answered or stored as it was said."""

import hashlib
import hmac
import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.store_fact import Stored
from mdmemory.capture.wishes import Inbox, Wish, open_inboxes, words_id
from mdmemory.errors import MdmemoryError
from mdmemory.store.state import State
from mdmemory.transcripts.turns import Turn

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
FACT = "deploys go out on Tuesdays, and Lena reviews every migration"
MESSAGE = f"Remember that {FACT}."
Git = Callable[..., str]
Patch = pytest.MonkeyPatch


class Clock:
    """The time of a test, which it sets."""

    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(begin_store: BeginStore, clock: Clock) -> Memory:
    """The layers around a project with a store of its own."""
    return Memory.around(begin_store(own_repo=True).project.root, clock=clock)


def keep(memory: Memory, message: str = MESSAGE, turn: str = "m1", **how: bool) -> list[Path]:
    """What the hook does with a message."""
    wishes = notice_wishes(message).wishes
    return memory.keep_wishes(wishes, session="ses_1", turn=turn, message=message, **how)


def tell(memory: Memory, fact: str, quote: str = FACT, turn: str = "m1") -> Stored:
    """What the assistant does in the turn."""
    caller = Caller("ses_1", (Turn(turn, "user", MESSAGE),))
    return memory.store(FactCall(fact, quote=quote), caller)


def kept(memory: Memory) -> list[str]:
    return [wish.text for _, wish in open_inboxes(memory.project)[0].wishes()]


def test_a_wish_is_a_file_that_its_owner_sees_and_git_does_not(memory: Memory, git: Git) -> None:
    (path,) = keep(memory)
    assert path.parent == memory.project.store / ".inbox"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text("utf-8").endswith(f"---\n\n{FACT}\n")
    assert git(memory.project.store, "status", "--porcelain") == ""
    assert (memory.notes(), kept(memory)) == ([], [FACT])


def test_wishes_are_kept_in_the_order_in_which_they_were_said(memory: Memory, clock: Clock) -> None:
    said = [f"Lamp {number} in the hall is red" for number in (3, 1, 2)]
    keep(memory, f"Remember:\n- {said[0]}\n- {said[1]}")
    clock.now += timedelta(seconds=1)
    keep(memory, f"Remember that {said[2]}", turn="m2")
    assert kept(memory) == said
    memory.settle_wishes("ses_1", "m3")
    subjects = [entry.subject for entry, *_ in memory.log(3)][::-1]
    assert subjects == [f"memory: remember {text}" for text in said]


def test_the_same_event_heard_twice_is_one_wish(memory: Memory, clock: Clock) -> None:
    keep(memory)
    clock.now += timedelta(seconds=3)
    assert keep(memory) == []
    assert kept(memory) == [FACT]
    keep(memory, turn="m2")
    assert len(kept(memory)) == 2


def test_a_call_that_says_all_of_it_answers_it_and_nothing_is_stored_twice(memory: Memory) -> None:
    keep(memory)
    assert (tell(memory, FACT.capitalize()).status, kept(memory)) == ("", [])
    assert memory.settle_wishes("ses_1", "m2") == []
    assert len(memory.notes()) == 1
    with memory.state() as state:
        known = (state.watermark("ses_1", "answered") or "").split()
    assert known == ["m1", words_id(MESSAGE)]


def test_calls_that_say_it_in_parts_answer_it_together(memory: Memory) -> None:
    keep(memory)
    tell(memory, "Deploys go out on Tuesdays")
    assert kept(memory) == [FACT]
    tell(memory, "Lena reviews every migration")
    assert (kept(memory), memory.settle_wishes("ses_1", "")) == ([], [])


def test_what_was_answered_in_part_is_stored_whole_as_it_was_said(memory: Memory) -> None:
    keep(memory)
    tell(memory, "Deploys go out on Tuesdays")
    (done,) = memory.settle_wishes("ses_1", "m2")
    assert done.fact == f"{FACT[0].upper()}{FACT[1:]}"
    assert kept(memory) == []


def test_what_an_assistant_declines_is_gone_and_nothing_is_stored(memory: Memory) -> None:
    keep(memory)
    done = memory.store(FactCall(FACT, declined="moment"), Caller("ses_1"))
    assert (done.declined, done.file) == ("moment", "")
    assert (kept(memory), memory.settle_wishes("ses_1", ""), memory.notes()) == ([], [], [])


def test_a_call_about_something_else_or_of_another_session_answers_nothing(memory: Memory) -> None:
    keep(memory)
    tell(memory, "Staging is reached under the name heron-5", "staging is heron-5")
    memory.store(FactCall(FACT, declined="joke"), Caller("ses_2"))
    assert kept(memory) == [FACT]


def test_what_no_call_answers_is_stored_as_it_was_said_after_its_turn(memory: Memory) -> None:
    keep(memory)
    assert memory.settle_wishes("ses_1", "m1") == []
    (done,) = memory.settle_wishes("ses_1", "m2")
    head = memory.note(done.file).note.head
    assert (head.source, head.session, head.turn, head.status) == ("explicit", "ses_1", "m1", "")
    assert memory.settle_wishes("ses_1", "m3") == []
    memory.undo(done.id)
    assert memory.notes() == []


def test_a_wish_of_another_session_waits_for_ten_silent_minutes(
    memory: Memory, clock: Clock
) -> None:
    keep(memory)
    clock.now += timedelta(minutes=10, seconds=-1)
    assert memory.settle_wishes("ses_2", "m9") == memory.settle_wishes() == []
    clock.now += timedelta(seconds=1)
    assert len(memory.settle_wishes("ses_2", "m9")) == 1


def test_what_was_said_where_nobody_watches_waits_for_a_call(memory: Memory, clock: Clock) -> None:
    keep(memory, f"Run the tests. {MESSAGE}", attended=False)
    clock.now += timedelta(days=2)
    assert memory.settle_wishes("ses_1", "m2") == memory.settle_wishes() == []
    assert kept(memory) == [FACT]
    tell(memory, FACT.capitalize())
    assert kept(memory) == []


@pytest.mark.parametrize("message", [MESSAGE, f"/remember {FACT}", f"ok, {MESSAGE}"])
def test_where_nobody_watches_a_request_at_the_beginning_is_kept(
    memory: Memory, message: str
) -> None:
    keep(memory, message, attended=False)
    assert (len(memory.settle_wishes("ses_1", "")), kept(memory)) == (1, [])


def test_what_was_stored_as_said_is_worded_anew_by_a_later_call_of_its_turn(memory: Memory) -> None:
    def standing() -> set[str]:
        heads = {each.file: each.note.head for each in memory.notes()}
        return {file for file, head in heads.items() if head.status != "superseded"}

    keep(memory)
    (old,) = memory.settle_wishes("ses_1", "")
    for other in ("Staging is reached under the name heron-5", "Deploys never go out on Tuesdays"):
        tell(memory, other)
        assert old.file in standing(), "another fact takes nothing away"
    before = standing()
    fact = "Deploys go out on Tuesdays, and every migration is one that Lena reviews"
    done = tell(memory, fact)
    assert standing() == before - {old.file} | {done.file}
    memory.undo(done.id)
    assert standing() == before


def test_in_a_fresh_home_a_wish_is_kept_and_settled_when_there_is_a_store(
    repository: Path, empty_home: Path, clock: Clock
) -> None:
    memory = Memory.around(repository, clock=clock)
    assert memory.there() == []
    (path,) = keep(memory)
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
    memory = Memory.around(repository, clock=clock)
    keep(memory)
    done = memory.store(FactCall(FACT.capitalize(), quote=FACT), Caller("ses_1"))
    assert (done.status, done.existed) == ("", False)
    assert memory.settle_wishes("ses_1", "m2") == []


def test_nothing_is_kept_through_a_link(memory: Memory, tmp_path: Path) -> None:
    (memory.project.store / ".inbox").symlink_to(tmp_path)
    (path,) = keep(memory)
    assert not path.is_relative_to(memory.project.store)
    assert not [each for each in tmp_path.iterdir() if "wish" in each.name]
    (done,) = memory.settle_wishes("ses_1", "m2")
    assert done.fact.startswith("Deploys")
    with pytest.raises(MdmemoryError, match="nothing is kept through links"):
        Inbox(memory.project.store / ".inbox", tmp_path / "key").put([Wish(FACT)])


def test_a_wish_of_0_2_is_read_and_stored_with_the_type_that_it_was_given(memory: Memory) -> None:
    (path,) = keep(memory)
    old = Wish("release notes are written in British English", "ses_0", "m0", "2026-05-30",
               "busy", type="feedback")  # fmt: skip
    # as 0.2 wrote it: without a moment, an answer and a name for its message
    names = ("type", "kind", "session", "turn", "since", "why", "project")
    said = json.dumps([old.text, *(getattr(old, name) for name in names)])
    key = open_inboxes(memory.project)[0].key_file.read_bytes()
    seal = hmac.new(key, said.encode(), hashlib.sha256).hexdigest()
    head = "".join(f"{name}: {json.dumps(getattr(old, name))}\n" for name in names)
    path.with_name("wish-20260530-0badc0ffee00.md").write_text(
        f"---\n{head}seal: {seal}\n---\n\n{old.text}\n", "utf-8"
    )
    assert kept(memory) == [old.text, FACT]
    (done,) = memory.settle_wishes("ses_9", "m9")
    assert done.file.startswith("feedback-")
    assert memory.note(done.file).note.head.session == "ses_0"


def test_a_file_without_our_seal_is_no_wish_and_stays_where_it_is(memory: Memory) -> None:
    (path,) = keep(memory)
    whole = path.read_text("utf-8")
    unsealed = "".join(line for line in whole.splitlines(True) if "seal:" not in line)
    changed = (
        ("Tuesdays", "Fridays"),
        ("ses_1", "ses_2"),
        ("seal: ", "seal: 00"),
        ('"ses_1"', "7"),
    )
    for text in (*(whole.replace(*change) for change in changed), unsealed, FACT, ""):
        path.write_text(text, "utf-8")
        assert kept(memory) == []
        assert memory.settle_wishes() == memory.settle_wishes("ses_1", "m2") == []
        assert path.read_text("utf-8") == text
    path.write_text(whole, "utf-8")
    open_inboxes(memory.project)[0].key_file.write_text("another machine's", "utf-8")
    assert (kept(memory), memory.notes(), len(memory.kept_wishes())) == ([], [], 1)


def test_a_wish_stored_when_the_process_died_is_not_stored_twice(
    memory: Memory, monkeypatch: Patch
) -> None:
    keep(memory)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(State, "set_watermark", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.settle_wishes("ses_1", "m2")
    assert len(memory.notes()) == 1
    memory.settle_wishes("ses_1", "m2")
    assert (len(memory.notes()), kept(memory)) == (1, [])


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
