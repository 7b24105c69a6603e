"""What a session came to, with a model and without."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from scripted import Scripted

from mdmemory.llm.answer import ModelFailed
from mdmemory.observe import summaries
from mdmemory.observe.summaries import FIELDS, summarize
from mdmemory.store.state import State

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
KEY = "sk-proj-" + "Zx8Qw3Lr9Tb2Nv7Kc4Md6Hf1"  # looks like one, and is none
SAID = dict.fromkeys(FIELDS, "") | {"request": "Mend uploads.", "learned": "The limit is 20."}


def test_without_a_model_titles_and_facts_make_it(state: State, put: Any) -> None:
    put("Read the log", facts=["The limit is 20"])
    put("Retries 429", type="bugfix")
    done = summarize(state, "ses_1", None, NOW, request=f"Uploads fail. {KEY}").summary
    assert done is not None
    assert done.request.startswith("Uploads fail.")
    assert KEY not in done.request
    assert (done.investigated, done.learned) == ("Read the log", "The limit is 20")
    assert (done.completed, done.next_steps, done.model) == ("Retries 429", "", "")
    assert done.text.splitlines()[-1] == "Completed: Retries 429"


def test_a_model_is_asked_only_when_there_is_something_new(state: State, put: Any) -> None:
    put("Read the log")
    model = Scripted(SAID)
    first = summarize(state, "ses_1", model, NOW)
    assert first.summary is not None
    assert first.summary.fields == {"request": "Mend uploads.", "learned": "The limit is 20."}
    assert summarize(state, "ses_1", model, NOW).summary == first.summary
    assert summarize(state, "ses_9", model, NOW).summary is None
    put("Retries 429")
    model.say(SAID | {"completed": f"429 is retried, with {KEY}."})
    second = summarize(state, "ses_1", model, NOW + timedelta(hours=1)).summary
    assert second is not None
    assert "429 is retried" in second.completed
    assert KEY not in second.completed
    assert '"learned": "The limit is 20."' in model.asked[1].user


def test_a_failing_model_replaces_no_better_summary(state: State, put: Any) -> None:
    put("Read the log")
    failed = summarize(state, "ses_1", Scripted(ModelFailed("It is down.")), NOW)
    assert failed.failure is not None
    assert failed.summary is not None  # made without it
    assert failed.summary.investigated == "Read the log"
    put("More")
    good = summarize(state, "ses_1", Scripted(SAID), NOW).summary
    put("Even more")
    for answer in (ModelFailed("It is down."), "no", {}, dict.fromkeys(FIELDS, " ")):
        again = summarize(state, "ses_1", Scripted(answer), NOW)
        assert again.failure is not None
        assert again.summary == good


def test_summaries_are_bounded_in_time_and_number(state: State, put: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(summaries, "MAX_SUMMARIES", 2)
    for number in range(4):
        put("x", session=f"ses_{number}")
        summarize(state, f"ses_{number}", None, NOW + timedelta(days=number))
    assert [each for each in range(4) if summaries.get(state, f"ses_{each}")] == [2, 3]
    put("y", session="ses_9")
    summarize(state, "ses_9", None, NOW + timedelta(days=92, hours=6))
    assert [each for each in range(10) if summaries.get(state, f"ses_{each}")] == [3, 9]
