"""The queue: what enters it, its states, and that nothing is kept twice or lost to a crash."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scripted import Scripted

from mdmemory.llm.answer import ContextExceeded, ModelFailed
from mdmemory.observe import observation, queue
from mdmemory.observe.compress import HEAD, TAIL, event_of
from mdmemory.store.state import State

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
LONG = "The gateway answers 429 above twenty requests a second, says the log."
KEY = "sk-proj-" + "Zx8Qw3Lr9Tb2Nv7Kc4Md6Hf1"  # looks like one, and is none


def use(
    state: State, number: int = 0, *, session: str = "ses_1", tool: str = "read", at: datetime = NOW
) -> bool:
    return queue.tool_used(state, session, tool, {"filePath": f"src/f{number}.py"}, LONG, at)


def observations(*numbers: int) -> dict[str, Any]:
    """An answer of a model about these events."""
    rest = {"type": "bugfix", "narrative": "", "facts": [], "concepts": [], "files": []}
    told = [{"number": str(n), "title": f"Found {n}", **rest, "importance": "4"} for n in numbers]
    return {"observations": told}


def test_lists_questions_our_own_tools_and_short_outputs_are_not_observed() -> None:
    def is_kept(kept: bool, tool: str, output: str = LONG, **args: str) -> None:
        assert (event_of("s", tool, args, output, 0) is not None) == kept

    for tool in ("read", "mcp_github_search"):
        is_kept(True, tool)
    for tool in (
        "todowrite TodoWrite question memory_search mdmemory_memory_store session_memory "
        "mdmemory_session_memory core_memory_update working_memory_add"
    ).split():
        is_kept(False, tool)
    for output in (LONG[:49], " \n" * 60, f"<private>{LONG}</private>", f"short <private>{LONG}"):
        is_kept(False, "read", output)
    # what is written says what was done, whatever the tool says of it
    is_kept(True, "edit", "ok", newString=LONG)
    is_kept(False, "bash", "ok", command=f"echo {LONG}")


def test_neither_a_secret_nor_private_text_reaches_the_file(state: State, tmp_path: Path) -> None:
    args = {"command": f"export TOKEN={KEY} # <private>Zebra-Nine</private>"}
    output = f"{LONG}\n[PRIVATE]Zebra-Nine[/PRIVATE]\n{KEY}\n"
    output += "x" * HEAD + f" {KEY} " + "y " * TAIL
    assert queue.tool_used(state, "ses_1", "bash", args, output, NOW)
    queue.work(state, None, NOW)
    state.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    written = (tmp_path / "state.db").read_bytes()
    assert KEY.encode() not in written
    assert b"Zebra-Nine" not in written
    assert b"429" in written


def test_a_long_output_is_kept_by_its_ends() -> None:
    event = event_of("s", "read", {}, f"first {'x ' * 9_000} last", 0)
    assert event.output.startswith("first")
    assert event.output.endswith("last")
    assert len(event.output) < HEAD + TAIL + 100
    assert "more characters]" in event.output


def test_the_same_use_with_the_same_result_is_observed_once(state: State) -> None:
    assert use(state)
    assert use(state)
    queue.work(state, None, NOW)
    use(state)
    queue.work(state, None, NOW)
    assert observation.count(state) == 1


def test_without_a_model_the_tool_and_its_object_make_the_title(state: State) -> None:
    queue.tool_used(state, "s", "bash", {"command": "npm test\nmore"}, f"\n1 failed\n{LONG}", NOW)
    queue.tool_used(state, "s", "edit", {"filePath": "a/b.py", "newString": LONG}, "", NOW)
    assert queue.work(state, None, NOW).kept == 2
    edited, ran = (found.draft for found in observation.newest(state, 2))
    assert (ran.title, ran.type, ran.importance) == ("Ran npm test", "discovery", 2)
    assert ran.narrative == "1 failed"
    assert (edited.title, edited.type, edited.files) == ("Edited a/b.py", "change", ("a/b.py",))


def test_five_of_one_session_are_a_batch(state: State) -> None:
    for number in range(7):
        use(state, number)
    use(state, 9, session="ses_2")
    done = queue.work(state, None, NOW)
    assert (done.kept, done.waiting) == (5, 3)
    assert queue.work(state, None, NOW).kept == 2
    assert queue.work(state, None, NOW).kept == 1
    assert queue.waiting(state) == {"pending": 0, "processing": 0, "completed": 8, "failed": 0}


def test_a_model_makes_a_batch_short_and_what_it_leaves_out_is_done(state: State) -> None:
    for number in range(3):
        use(state, number)
    model = Scripted(observations(1, 3))
    assert queue.work(state, model, NOW).kept == 2
    assert [found.draft.title for found in observation.newest(state, 5)] == ["Found 3", "Found 1"]
    assert {found.model for found in observation.newest(state, 5)} == {"scripted"}
    assert queue.waiting(state)["completed"] == 3
    assert "src/f2.py" in model.asked[0].user


def test_a_failure_is_tried_again_three_times_then_rests_a_day(state: State) -> None:
    use(state)
    model = Scripted(*[ModelFailed("It is down.")] * 3)
    for _ in range(3):
        done = queue.work(state, model, NOW)
        assert done.failure is not None
    assert (done.kept, done.waiting, done.failed) == (0, 0, 1)
    assert queue.work(state, model, NOW + timedelta(hours=23)).failure is None  # nobody is asked
    model.say(observations(1))
    assert queue.work(state, model, NOW + timedelta(days=1)).kept == 1


def test_the_daily_limit_counts_as_no_failure(state: State) -> None:
    use(state)
    over = ModelFailed("Enough for today.", "", "over_cap")
    for _ in range(5):
        queue.work(state, Scripted(over), NOW)
    assert queue.waiting(state)["pending"] == 1


def test_what_no_model_could_make_short_in_a_week_is_kept_by_its_metadata(state: State) -> None:
    for number in range(7):
        use(state, number)
    queue.work(state, Scripted(ModelFailed("It is down.")), NOW)
    done = queue.work(state, Scripted(), NOW + timedelta(days=8))
    assert (done.kept, done.waiting, done.failure) == (7, 0, None)


def die(state: State) -> None:
    """A process that dies while a model is asked."""
    with suppress(EOFError):
        queue.work(state, Scripted(EOFError()), NOW)


def test_what_a_dead_process_held_is_free_after_five_minutes_on_the_same_day(state: State) -> None:
    use(state)
    die(state)
    assert queue.waiting(state)["processing"] == 1
    assert queue.work(state, None, NOW + timedelta(seconds=299)).kept == 0
    assert queue.work(state, None, NOW + timedelta(seconds=300)).kept == 1
    use(state, 1)
    die(state)
    assert queue.work(state, None, NOW - timedelta(days=30)).kept == 1, "a clock that was set back"


def test_who_was_taken_for_dead_and_answers_after_all_adds_no_second_one(state: State) -> None:
    class Slow(Scripted):
        """During its answer another process finds the event stale and works on it."""

        def complete(self, *asked: Any, **more: Any) -> Any:
            assert queue.work(state, None, NOW + timedelta(minutes=6)).kept == 1
            return super().complete(*asked, **more)

    use(state)
    assert queue.work(state, Slow(observations(1)), NOW).kept == 0
    assert observation.count(state) == 1


def test_events_too_long_for_a_model_together_are_asked_about_in_halves(state: State) -> None:
    class Narrow(Scripted):
        def complete(self, system: str, user: str, schema: Any = None) -> Any:
            if len(user) > 500:
                raise ContextExceeded("It is too long.", 4_096)
            return super().complete(system, user, schema)

    for number in range(4):
        use(state, number)
    model = Narrow(observations(1, 2), observations(1, 2))
    assert (queue.work(state, model, NOW).kept, len(model.asked)) == (4, 2)


def test_the_queue_and_the_observations_are_bounded(state: State, monkeypatch: Any) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING", 6)
    monkeypatch.setattr(queue, "MAX_DONE", 2)
    monkeypatch.setattr(observation, "MAX_OBSERVATIONS", 4)
    for number in range(9):
        use(state, number, at=NOW + timedelta(seconds=number))
    assert queue.waiting(state)["pending"] == 6
    for _ in range(3):
        queue.work(state, None, NOW)
    assert queue.waiting(state)["completed"] == 2
    kept = [found.draft.title for found in observation.newest(state, 9)]
    assert kept == [f"Read src/f{number}.py" for number in (8, 7, 6, 5)]


def test_observations_go_after_their_days(state: State) -> None:
    use(state)
    queue.work(state, None, NOW)
    queue.work(state, None, NOW + timedelta(days=90))
    assert observation.count(state) == 1
    queue.work(state, None, NOW + timedelta(days=91))
    assert observation.count(state) == 0
