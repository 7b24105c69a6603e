"""Turns that are too many for a model's window are read in portions; how far is what counts."""

from __future__ import annotations

import json

from scripted import Scripted

from mdmemory.capture import portions
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Answer, Asking, ContextExceeded, ModelFailed, Schema, in_words
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.llm.sizes import tokens
from mdmemory.note.note import parse
from mdmemory.search.near import scan
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

TURNS = [
    Turn(f"m{at:02}", "user", f"Point {at}: {'we say it at length ' * 12}") for at in range(12)
]
LONG = Turn("long", "user", "a log line that goes on " * 900)
NOTHING: dict[str, object] = {"candidates": []}


class Window(Scripted):
    """A model that fails on a longer question than it takes; `tells` says if it is known before."""

    def __init__(self, size: int, *, tells: bool) -> None:
        super().__init__()
        self.size = size
        self.context_tokens = size if tells else 0
        self.refused = 0

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        if tokens(system) + tokens(user) + tokens(in_words(CANDIDATES)) > self.size:
            self.refused += 1
            self.context_tokens = self.size
            raise ContextExceeded("It is too long.", self.size)
        if not self.answers:
            self.say(NOTHING)
        return super().complete(system, user, schema)


def read(
    model: Scripted, turns: list[Turn], notes: list[StoredNote] | None = None
) -> portions.SessionReading:
    return portions.read(Asking(model, "the rules"), turns, notes or [], "2026-06-01", scan)


def shown(model: Scripted) -> list[list[str]]:
    return [[turn["id"] for turn in json.loads(each.user)["turns"]] for each in model.asked]


def found(quote: str) -> dict[str, object]:
    fact = {"action": "reinforce", "replaces": ["a.md"], "quote": quote}
    return {"candidates": [fact]}


def test_a_small_window_is_asked_about_all_turns_in_order_and_once_each() -> None:
    for tells in (True, False):
        model = Window(1_500, tells=tells)
        done = read(model, TURNS)
        assert [id for each in shown(model) for id in each] == [turn.id for turn in TURNS]
        assert len(shown(model)) >= 3
        assert model.refused == (0 if tells else 1), "a window is learnt once"
        assert (done.upto, done.failure, done.dropped) == ("m11", None, [])


def test_notes_make_room_for_turns_but_the_nearest_head_is_still_shown() -> None:
    text = "---\nname: n{}\ndescription: Note {}\nmetadata:\n  type: project\n---\n\n{}\n"
    notes = [
        StoredNote(f"project-n{at}.md", "0" * 64, parse(text.format(at, at, "body " * 400), "x.md"))
        for at in range(5)
    ]
    model = Window(1_500, tells=True)
    read(model, TURNS[:2], notes)
    assert model.refused == 0
    for each in model.asked:
        seen = json.loads(each.user)["notes"]
        assert seen
        assert not any("body" in note for note in seen)


def test_what_was_read_before_a_failure_counts() -> None:
    model = Window(1_500, tells=True)
    model.say(found("one"), found("two"), ModelFailed("It is down."))
    done = read(model, TURNS)
    first = [id for each in shown(model)[:2] for id in each]
    assert (done.upto, isinstance(done.failure, MdmemoryError)) == (first[-1], True)
    assert [each.quote for each in done.found.candidates] == ["one", "two"]


def test_a_turn_longer_than_the_window_is_cut_and_says_so_and_the_others_are_read() -> None:
    model = Window(1_500, tells=True)
    done = read(model, [*TURNS[:2], LONG, TURNS[2]])
    assert done.upto == "m02"
    (cut,) = (
        turn["text"] for each in model.asked for turn in json.loads(each.user)["turns"]
        if turn["id"] == "long"
    )  # fmt: skip
    assert cut.endswith(" more characters]")


def test_a_window_that_takes_not_even_a_part_of_a_turn_is_told() -> None:
    class Full(Window):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            raise ContextExceeded("It is too long.", self.size)

    done = read(Full(1_000, tells=False), [LONG])
    assert [reason for _, reason in done.dropped] == ["too_long"]
    assert (done.upto, done.failure) == ("long", None)


def test_a_window_that_the_instructions_fill_is_told_and_nothing_is_asked() -> None:
    model = Window(1_000, tells=True)
    done = portions.read(Asking(model, "the rules " * 900), TURNS, [], "2026-06-01", scan)
    assert (done.failure is not None, done.upto, model.asked) == (True, "", [])


def test_an_answer_that_was_cut_counts_as_far_as_it_goes_and_the_turns_are_asked_again() -> None:
    cut = Answer(json.dumps(found("one")), 100, 10, cut=True)
    model = Scripted(cut, found("one"), found("two"))
    done = read(model, TURNS[:4])
    assert shown(model) == [["m00", "m01", "m02", "m03"], ["m00", "m01"], ["m02", "m03"]]
    assert [each.quote for each in done.found.candidates] == ["one", "two"]
    model = Scripted(Answer('{"candidates": [{"act', 1, 1, cut=True), NOTHING, NOTHING)
    assert read(model, TURNS[:2]).failure is None
