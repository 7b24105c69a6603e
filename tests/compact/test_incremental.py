"""A pass asks a model about what is new, its neighbours and some of the oldest, and no more."""

import json
import runpy
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from stores import BeginStore

from mdmemory import Memory
from mdmemory.compact import model_planner, pass_history
from mdmemory.compact.dialogue import Talk
from mdmemory.compact.model_planner import ModelPlanner
from mdmemory.compact.pass_history import LastLook, LookRecord, face
from mdmemory.compact.planner import ProposedPlan
from mdmemory.llm.answer import Answer, Asking, ModelFailed, Schema
from mdmemory.store.state import State
from mdmemory.store.store import StoredNote

store = runpy.run_path(str(Path(__file__).with_name("realistic.py")))["store"]
Make = Callable[..., StoredNote]
Git = Callable[..., str]
TODAY = "2026-06-01"
EMPTY: dict[str, Any] = {"ops": []}
BY = Talk(lambda: Asking(Scripted(), "the rules")).judge()


class Quiet(Scripted):
    """A model that finds nothing to do."""

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        self.say(EMPTY)
        return super().complete(system, user, schema)


@pytest.fixture
def many(make: Make) -> list[StoredNote]:
    """Notes as people write them, old ones."""
    dates = {"created": "2026-01-05", "updated": "2026-01-05"}
    return [make(name, says, body, kind, **dates) for kind, name, says, body in store(120)]


def seen(
    notes: Iterable[StoredNote], turn: int = 1, day: str = "2026-05-20", by: str = BY
) -> dict[str, LastLook]:
    return {note.file: LastLook(face(note), day, turn, by) for note in notes}


def propose(
    notes: Sequence[StoredNote], model: Scripted, record: LookRecord, **more: Any
) -> ProposedPlan:
    planner = ModelPlanner(
        "scripted", lambda: Asking(model, "the rules"), TODAY, str, record=lambda _: record, **more
    )
    return planner.propose(notes, conflicts=[])


def shown(model: Scripted, *, whole: bool = True) -> list[str]:
    notes = [note for asked in model.asked for note in json.loads(asked.user)["notes"]]
    return [note["file"] for note in notes if ("body" in note) == whole]


def test_a_store_with_nothing_new_costs_nothing(many: list[StoredNote]) -> None:
    done = propose(many, Scripted(), LookRecord(TODAY, seen(many)))
    assert (done.tokens.calls, done.failed, done.more) == (0, (), False)


def test_one_edited_note_is_one_small_question(many: list[StoredNote]) -> None:
    looks = seen(many) | {many[7].file: LastLook("another")}
    model = Quiet()
    propose(many, model, LookRecord(TODAY, looks))
    (asked,) = model.asked
    assert len(asked.user) < 12_000
    old = LookRecord(TODAY, looks).oldest(note for note in many if note is not many[7])
    files = shown(model)
    near = {note.file for note in many} - {note.file for note in old[:30]}
    assert many[7].file in files
    assert len(near & set(files)) <= 1 + model_planner.NEAR


def test_reinforcing_a_note_does_not_make_it_new(make: Make) -> None:
    before = make("tea", "Drinks tea", "Two cups.", updated="2026-01-05")
    after = make("tea", "Drinks tea", "Two cups.", updated="2026-05-30", reinforced="3")
    assert face(before) == face(after)
    assert face(before) != face(make("tea", "Drinks tea", "Three cups."))


def test_every_note_is_looked_at_within_a_bounded_number_of_passes(many: list[StoredNote]) -> None:
    turns = seen(many, turn=0)
    longest = dict.fromkeys(turns, 0)
    for turn in range(1, 40):  # of 120 notes at least one, and 6,000 characters, in each pass
        model = Quiet()
        looks = turns | {many[0].file: LastLook("edited")}
        done = propose(many, model, LookRecord(TODAY, looks))
        assert len(model.asked) == 1
        assert done.looks is not None
        turns |= {
            note.file: LastLook(face(note), TODAY, turn, BY)
            for note in many
            if note.file in done.looks.shown
        }
        longest = {
            file: 0 if file in done.looks.shown else age + 1 for file, age in longest.items()
        }
        assert max(longest.values()) <= 20
    assert all(look.turn for look in turns.values())


def test_all_of_them_are_shown_on_demand(many: list[StoredNote]) -> None:
    model = Quiet()
    propose(many, model, LookRecord(TODAY, seen(many)), everything=True)
    assert sorted(shown(model)) == sorted(note.file for note in many)


def test_after_a_change_of_the_model_or_guards_a_week_passes(many: list[StoredNote]) -> None:
    for day, asks in (("2026-05-26", False), ("2026-05-25", True)):
        model = Quiet()
        propose(many, model, LookRecord(TODAY, seen(many, day=day, by="another")))
        assert bool(model.asked) == asks


def test_a_useless_answer_is_asked_for_twice_and_not_more(many: list[StoredNote]) -> None:
    for tries, asks in ((1, True), (2, False)):
        look = LastLook(face(many[3]), TODAY, 1, BY, tries)
        model = Quiet()
        propose(many, model, LookRecord(TODAY, seen(many) | {many[3].file: look}))
        assert bool(model.asked) == asks


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    day = [datetime(2026, 6, 1, 12, tzinfo=UTC)]
    memory = begin_store(clock=lambda: day[0])
    for at, (kind, _, says, body) in enumerate(store(12)):
        head = f"name: fact-{at}\ndescription: '{at}. {says}'\nmetadata:\n  type: {kind}"
        text = f"---\n{head}\n---\n\n{body}\n\nNo {at}.\n"
        (memory.project.store / f"{kind}-fact-{at}.md").write_text(text, "utf-8")
    memory.index()
    return memory


def test_what_a_failed_pass_did_not_reach_is_asked_about_by_the_next(memory: Memory) -> None:
    memory.compact(offline=True)
    memory.compact(model=Scripted(ModelFailed("It is down.")))
    model = Quiet()
    memory.compact(model=model)
    assert len(shown(model)) == 12
    done = memory.compact(model=Scripted())
    assert (done.outcome, done.tokens.calls) == ("noop", 0)
    assert "`--all`" in done.why


def test_only_what_was_edited_is_new(memory: Memory) -> None:
    memory.compact(model=Quiet())
    memory.edit("fact-3", body="It is something else now.")
    model = Quiet()
    assert memory.compact(model=model).tokens.calls == 1
    assert memory.note("fact-3").file in shown(model)
    memory.compact(model=Scripted())  # asked, it would fail


def test_what_the_model_wrote_itself_is_not_new(memory: Memory) -> None:
    memory.compact(model=Quiet())
    (note,) = [note for note in memory.notes() if note.note.head.name == "fact-5"]
    body = f"{note.note.body}\n\nIt was said again."
    memory.edit("fact-5", body=f"{body} And again.")
    rewrite = {"op": "rewrite", "file": note.file, "body": f"{body} And again, too."}
    assert memory.compact(model=Scripted({"ops": [rewrite]})).outcome == "applied"
    assert memory.compact(model=Scripted()).tokens.calls == 0


def test_without_a_record_what_changed_in_30_days_is_new(
    memory: Memory, repository: Path, git: Git
) -> None:
    memory.compact(model=Quiet())
    old = memory.project.store / memory.note("fact-1").file
    memory.edit("fact-2", body="Another text.")
    (memory.project.private / "state.db").unlink()
    model = Quiet()
    Memory.open(repository, clock=lambda: datetime(2026, 6, 20, tzinfo=UTC)).compact(model=model)
    assert len(shown(model)) == 12
    assert old.exists()
    notes = memory.notes()
    assert pass_history.changed_lately(memory.opened.writer().history, notes, "2036-01-01") == set()
    old.write_text(old.read_text("utf-8") + "\nBy hand.\n", "utf-8")
    notes = memory.notes()
    assert pass_history.changed_lately(memory.opened.writer().history, notes, "2036-01-01") == {
        old.name
    }


def read_looks(memory: Memory) -> dict[str, LastLook]:
    with State(memory.project.private / "state.db") as state:
        return dict(pass_history.read_looks(state, None, memory.notes(), TODAY).looks)


def test_a_dry_run_records_nothing(memory: Memory) -> None:
    memory.compact(model=Quiet(), dry_run=True)
    assert read_looks(memory) == {}


def test_the_figures_of_the_docs_hold_for_500_notes() -> None:
    bench = runpy.run_path(str(Path(__file__).parents[1] / "bench" / "compaction_tokens.py"))
    notes = bench["notes_of"](500)
    calls, tokens = bench["cost"](notes, 1)
    assert (calls, tokens < 5_000) == (1, True)
    assert bench["cost"](notes, 0) == (0, 0)
    calls, tokens = bench["cost"](notes, None)
    assert (calls, tokens < 62_200) == (4, True)  # 90 % of what it was when all was shown
