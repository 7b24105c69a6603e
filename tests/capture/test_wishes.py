"""What a user asked to remember is kept while it is said, and answered or stored as it was said."""

import hashlib
import hmac
import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rows import each
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.store_fact import Stored
from mdmemory.capture.wishes import IDLE, Inbox, Wish, open_inboxes, words_id
from mdmemory.errors import MdmemoryError
from mdmemory.store.state import State
from mdmemory.transcripts.turns import Turn

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
FACT = "deploys go out on Tuesdays, and Lena reviews every migration"
MESSAGE = f"Remember that {FACT}."


class Clock:
    """The time of a test, which it sets."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(own_repo=True)


@pytest.fixture
def layers(memory: Memory, clock: Clock) -> Memory:
    return Memory.around(memory.project.root, clock=clock)


def keep(layers: Memory, message: str = MESSAGE, turn: str = "m1", **how: bool) -> list[Path]:
    """What the hook does with a message."""
    wishes = notice_wishes(message).wishes
    return layers.keep_wishes(wishes, session="ses_1", turn=turn, message=message, **how)


def tell(layers: Memory, fact: str, quote: str = FACT, turn: str = "m1") -> Stored:
    """What the assistant does in the turn."""
    return layers.store(
        FactCall(fact, quote=quote), Caller("ses_1", (Turn(turn, "user", MESSAGE),))
    )


def kept(memory: Memory) -> list[str]:
    return [wish.text for _, wish in open_inboxes(memory.project)[0].wishes()]


def notes(memory: Memory) -> list[str]:
    return [each.note.head.description for each in memory.notes()]


# --- how it is kept ------------------------------------------------------------------------------


def test_a_wish_is_a_file_that_its_owner_reads_and_git_does_not_see(
    layers: Memory, memory: Memory, git: Callable[..., str]
) -> None:
    (path,) = keep(layers)
    assert path.parent == memory.project.store / ".inbox"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text("utf-8").endswith(f"---\n\n{FACT}\n")
    assert git(memory.project.store, "status", "--porcelain") == ""
    assert (memory.notes(), kept(memory)) == ([], [FACT])


def test_wishes_are_kept_in_the_order_in_which_they_were_said(
    layers: Memory, memory: Memory, clock: Clock
) -> None:
    said = [f"Lamp {number} in the hall is red" for number in (3, 1, 2)]
    keep(layers, f"Remember:\n- {said[0]}\n- {said[1]}")
    clock.now += timedelta(seconds=1)
    keep(layers, f"Remember that {said[2]}", turn="m2")
    assert kept(memory) == said
    layers.settle_wishes("ses_1", "m3")
    assert [entry.subject for entry, *_ in memory.log(3)][::-1] == [
        f"memory: remember {text}" for text in said
    ]  # fmt: skip


def test_the_same_event_heard_twice_is_one_wish(
    layers: Memory, memory: Memory, clock: Clock
) -> None:
    keep(layers)
    clock.now += timedelta(seconds=3)
    assert keep(layers) == []
    assert kept(memory) == [FACT]
    keep(layers, turn="m2")
    assert len(kept(memory)) == 2


# --- how it is answered --------------------------------------------------------------------------


def test_a_call_that_says_all_of_it_answers_it_and_nothing_is_stored_twice(
    layers: Memory, memory: Memory
) -> None:
    keep(layers)
    assert (tell(layers, f"{FACT[0].upper()}{FACT[1:]}").status, kept(memory)) == ("", [])
    assert layers.settle_wishes("ses_1", "m2") == []
    assert len(memory.notes()) == 1
    with memory.state() as state:
        known = (state.watermark("ses_1", "answered") or "").split()
    assert known == ["m1", words_id(MESSAGE)]


def test_calls_that_say_it_in_parts_answer_it_together(layers: Memory, memory: Memory) -> None:
    keep(layers)
    tell(layers, "Deploys go out on Tuesdays")
    assert kept(memory) == [FACT]
    tell(layers, "Lena reviews every migration")
    assert kept(memory) == []
    assert layers.settle_wishes("ses_1", "") == []


def test_what_was_answered_in_part_is_stored_whole_as_it_was_said(
    layers: Memory, memory: Memory
) -> None:
    keep(layers)
    tell(layers, "Deploys go out on Tuesdays")
    (done,) = layers.settle_wishes("ses_1", "m2")
    assert done.fact == f"{FACT[0].upper()}{FACT[1:]}"
    assert memory.note(done.file).note.head.source == "explicit"
    assert kept(memory) == []


def test_what_an_assistant_declines_is_gone_and_nothing_is_stored(
    layers: Memory, memory: Memory
) -> None:
    keep(layers)
    done = layers.store(FactCall(FACT, declined="moment"), Caller("ses_1"))
    assert (done.declined, done.file) == ("moment", "")
    assert (kept(memory), layers.settle_wishes("ses_1", ""), memory.notes()) == ([], [], [])


def test_a_call_about_something_else_and_one_of_another_session_answer_nothing(
    layers: Memory, memory: Memory
) -> None:
    keep(layers)
    tell(layers, "Staging is reached under the name heron-5", "staging is heron-5")
    layers.store(FactCall(FACT, declined="joke"), Caller("ses_2"))
    assert kept(memory) == [FACT]


def test_what_no_call_answers_is_stored_as_it_was_said_when_its_turn_is_over(
    layers: Memory, memory: Memory
) -> None:
    keep(layers)
    assert layers.settle_wishes("ses_1", "m1") == []
    (done,) = layers.settle_wishes("ses_1", "m2")
    head = memory.note(done.file).note.head
    assert (head.source, head.session, head.turn, head.status) == ("explicit", "ses_1", "m1", "")
    assert layers.settle_wishes("ses_1", "m3") == []
    memory.undo(done.id)
    assert memory.notes() == []


def test_a_wish_of_another_session_waits_until_that_was_silent_for_ten_minutes(
    layers: Memory, clock: Clock
) -> None:
    keep(layers)
    clock.now += IDLE - timedelta(seconds=1)
    assert layers.settle_wishes("ses_2", "m9") == layers.settle_wishes() == []
    clock.now += timedelta(seconds=1)
    assert len(layers.settle_wishes("ses_2", "m9")) == 1
    assert timedelta(minutes=10) == IDLE


def test_what_was_said_where_nobody_watches_waits_for_a_call_or_a_person(
    layers: Memory, memory: Memory, clock: Clock
) -> None:
    keep(layers, f"Run the tests. {MESSAGE}", attended=False)
    clock.now += timedelta(days=2)
    assert layers.settle_wishes("ses_1", "m2") == layers.settle_wishes() == []
    assert kept(memory) == [FACT]
    tell(layers, f"{FACT[0].upper()}{FACT[1:]}")
    assert kept(memory) == []


@pytest.mark.parametrize("message", [MESSAGE, f"/remember {FACT}", f"ok, {MESSAGE}"])
def test_where_nobody_watches_a_message_that_begins_with_its_request_is_kept_as_said(
    layers: Memory, memory: Memory, message: str
) -> None:
    keep(layers, message, attended=False)
    assert len(layers.settle_wishes("ses_1", "")) == 1
    assert kept(memory) == []


def test_what_was_stored_as_said_is_worded_anew_by_a_later_call_of_its_turn(
    layers: Memory, memory: Memory
) -> None:
    keep(layers)
    (old,) = layers.settle_wishes("ses_1", "")
    fact = "Deploys go out on Tuesdays, and every migration is one that Lena reviews"
    done = tell(layers, fact)
    assert notes(memory) == [fact]
    memory.undo(done.id)
    assert [each.file for each in memory.notes()] == [old.file]


@pytest.mark.parametrize(
    "fact", ["Staging is reached under the name heron-5", "Deploys never go out on Tuesdays"]
)
def test_what_another_call_says_takes_nothing_away_that_was_stored_as_said(
    layers: Memory, memory: Memory, fact: str
) -> None:
    keep(layers)
    (old,) = layers.settle_wishes("ses_1", "")
    tell(layers, fact)
    assert old.file in [each.file for each in memory.notes()]


def test_a_personal_wish_goes_to_the_persons_own_layer(layers: Memory, memory: Memory) -> None:
    keep(layers, "Remember that I work from Graz")
    keep(layers, "Remember that in all my projects tabs are used", turn="m2")
    done = layers.settle_wishes("ses_1", "")
    assert [each.file.partition("/")[0] for each in done] == ["me", "me"]
    assert (memory.notes(), layers.of_person is not None) == ([], True)


# --- where the store is missing ------------------------------------------------------------------


def test_in_a_fresh_home_a_wish_is_kept_and_settled_when_there_is_a_store(
    repository: Path, empty_home: Path, clock: Clock
) -> None:
    def opened() -> Memory:
        return Memory.around(repository, clock=clock)

    assert opened().there() == []
    (path,) = keep(opened())
    assert path.is_relative_to(empty_home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    later = opened()
    later.begin_for_wishes()
    (done,) = later.settle_wishes("ses_1", "m2")
    assert later.of_project is not None
    assert later.of_project.note(done.file).note.head.turn == "m1"
    assert not path.exists()


def test_of_the_first_message_in_a_fresh_home_the_kept_words_are_proof(
    repository: Path, clock: Clock
) -> None:
    layers = Memory.around(repository, clock=clock)
    keep(layers)
    done = layers.store(FactCall(f"{FACT[0].upper()}{FACT[1:]}", quote=FACT), Caller("ses_1"))
    assert (done.status, done.existed) == ("", False)
    assert layers.settle_wishes("ses_1", "m2") == []


def test_nothing_is_kept_through_a_link(layers: Memory, memory: Memory, tmp_path: Path) -> None:
    (memory.project.store / ".inbox").symlink_to(tmp_path)
    (path,) = keep(layers)
    assert not path.is_relative_to(memory.project.store)
    assert not [each for each in tmp_path.iterdir() if "wish" in each.name]
    (done,) = layers.settle_wishes("ses_1", "m2")
    assert done.fact.startswith("Deploys")
    with pytest.raises(MdmemoryError, match="nothing is kept through links"):
        Inbox(memory.project.store / ".inbox", tmp_path / "key").put([Wish(FACT)])


# --- whose it is ---------------------------------------------------------------------------------


def sealed(path: Path, wish: Wish, key: bytes) -> None:
    """A file as 0.2 wrote it: without a moment, an answer and a name for its message."""
    names = ("type", "kind", "session", "turn", "since", "why", "project")
    said = json.dumps([wish.text, *(getattr(wish, name) for name in names)])
    seal = hmac.new(key, said.encode(), hashlib.sha256).hexdigest()
    head = "".join(f"{name}: {json.dumps(getattr(wish, name))}\n" for name in names)
    path.write_text(f"---\n{head}seal: {seal}\n---\n\n{wish.text}\n", "utf-8")


def test_a_wish_of_0_2_is_read_and_stored_with_the_type_that_it_was_given(
    layers: Memory, memory: Memory
) -> None:
    (path,) = keep(layers)
    old = Wish("release notes are written in British English", "ses_0", "m0", "2026-05-30",
               "busy", type="feedback")  # fmt: skip
    box = open_inboxes(memory.project)[0]
    sealed(path.with_name("wish-20260530-0badc0ffee00.md"), old, box.key_file.read_bytes())
    assert kept(memory) == [old.text, FACT]
    (done,) = layers.settle_wishes("ses_9", "m9")
    assert done.file.startswith("feedback-")
    assert memory.note(done.file).note.head.session == "ses_0"


def test_a_file_without_our_seal_is_no_wish_and_stays_where_it_is(
    layers: Memory, memory: Memory
) -> None:
    (path,) = keep(layers)
    whole = path.read_text("utf-8")
    forged = {
        "another text": whole.replace("Tuesdays", "Fridays"),
        "another session": whole.replace("ses_1", "ses_2"),
        "no seal": "".join(line for line in whole.splitlines(True) if "seal:" not in line),
        "another seal": whole.replace("seal: ", "seal: 00"),
        "no head": FACT,
        "not a text": whole.replace('"ses_1"', "7"),
        "nothing": "",
    }
    for text in forged.values():
        path.write_text(text, "utf-8")
        assert kept(memory) == []
        assert layers.settle_wishes() == layers.settle_wishes("ses_1", "m2") == []
        assert path.read_text("utf-8") == text
    path.write_text(whole, "utf-8")
    open_inboxes(memory.project)[0].key_file.write_text("another machine's", "utf-8")
    assert (kept(memory), memory.notes(), len(memory.kept_wishes())) == ([], [], 1)


def test_a_wish_that_cannot_be_written_yet_waits(
    layers: Memory, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(layers)

    def full(*_: object, **__: object) -> None:
        raise MdmemoryError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("mdmemory.store.writer.Writer.write", full)
        assert layers.settle_wishes("ses_1", "m2") == []
    assert kept(memory) == [FACT]
    assert len(layers.settle_wishes("ses_1", "m2")) == 1


def test_a_wish_that_was_stored_when_the_process_died_is_not_stored_twice(
    layers: Memory, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(layers)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(State, "set_watermark", killed)
        with pytest.raises(KeyboardInterrupt):
            layers.settle_wishes("ses_1", "m2")
    assert len(memory.notes()) == 1
    layers.settle_wishes("ses_1", "m2")
    assert (len(memory.notes()), kept(memory)) == (1, [])


# --- when it is answered -------------------------------------------------------------------------


def test_without_its_number_or_one_of_its_clauses_a_wish_is_not_answered() -> None:
    def is_open(text: str, answer: str) -> None:
        assert not Wish(text).answered(answer).is_answered()

    each([
        ("the proxy listens on port 8443", "the proxy listens on a port"),
        ("use pnpm in the monorepo, but never in the legacy app", "use pnpm in the monorepo"),
        ("deploys go out on Tuesdays", "staging is heron"),
        ("deploys go out on Tuesdays", ""),
    ], is_open)  # fmt: skip
