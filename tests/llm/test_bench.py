"""The bench of a model counts what is marked, asks no more than it may, ends with any server."""

import json
from pathlib import Path

import pytest
from bench import passes
from bench.answering import Answering
from bench.dresses import DRESSES, WHOLE
from bench.model import announced, environment, run
from bench.model_cases import PLANS, SECRETS, Session, Store, judged, sessions, stores
from bench.model_run import Bench
from fake_server import FakeServer
from pace import FULL, sample

from mdmemory.compact.plan import Delete, Flag, Merge

BLANK = {"type": "", "kind": "", "name": "", "description": "", "body": "", "file": ""}
SESSIONS = {case.name: case for case in sessions()}
STORES = {case.name: case for case in stores()}
TWINS = STORES["plan-37"]  # duplicates, and a contradiction
PLANNED = {
    row["id"]: row["plan"]["ops"] for row in map(json.loads, PLANS.read_text("utf-8").splitlines())
}
SMALL = (4_096, "no JSON mode", "think")


def bench(server: FakeServer, folder: Path, model: Answering, calls: int = 50) -> Bench:
    server.script.reply = model.reply
    told = {"BENCH_MODEL": "small", "BENCH_BASE_URL": server.url}
    return Bench(folder, environment(told), calls)


def proposals(case: Session) -> list[dict[str, object]]:
    """All that is marked in a session, the junk included, as a model says it."""
    marks = ("mark", "outcome")
    return [{**BLANK, **{k: v for k, v in each.items() if k not in marks}} for each in case.answer]


def merge(*files: str) -> Merge:
    return Merge(files, files[0], "n", "project", "d", "b")


def test_a_model_that_says_all_that_is_marked_keeps_the_facts_and_no_junk(
    server: FakeServer, tmp_path: Path
) -> None:
    case = SESSIONS["port-moved"]
    tried = bench(server, tmp_path, Answering(candidates=proposals(case)))
    run(tried, [case])
    told = tried.figures.counts
    assert told["facts kept"] == told["facts"] == 2
    assert told["junk stored"] == told["other stored"] == 0
    assert told["calls"] == 50 - tried.calls == len(server.requests) + len(server.script.looked)
    assert told["input"] > 1_000
    assert "facts kept 2 of 2" in "\n".join(tried.figures.lines())


def test_what_a_model_merges_and_flags_is_held_to_the_marks(
    server: FakeServer, tmp_path: Path
) -> None:
    tried = bench(server, tmp_path, Answering(plan=PLANNED[TWINS.name]))
    run(tried, [TWINS])
    told = tried.figures.counts
    assert (told["flag right"], told["contradictions found"], told["contradictions"]) == (1, 1, 1)
    assert told["flag wrong"] == told["merge wrong"] == told["delete wrong"] == 0
    assert (told["merge right"], told["duplicates found"], told["duplicates"]) == (1, 1, 1)
    assert not tried.figures.failures


@pytest.mark.parametrize("dress", sample(list(DRESSES), 16))
def test_however_a_model_words_its_answers_all_that_is_whole_counts_and_nothing_else(
    server: FakeServer, tmp_path: Path, dress: str
) -> None:
    case = SESSIONS["port-moved"]
    model = Answering(dress=dress, candidates=proposals(case), plan=PLANNED[TWINS.name])
    tried = bench(server, tmp_path, model)
    run(tried, [case, TWINS])
    told = tried.figures.counts
    right = told["facts kept"], told["merge right"], told["flag right"]
    assert right == (2, 1, 1) if dress in WHOLE else right <= (2, 1, 1)
    for wrong in ("junk stored", "other stored", "merge wrong", "delete wrong", "flag wrong"):
        assert told[wrong] == 0
    assert told["calls"] <= 8


def test_marks_say_what_an_op_is_worth() -> None:
    a, b, c, d, e = (f"project-{letter}.md" for letter in "abcde")
    store = Store("s", (), (frozenset((a, b)),), (frozenset((a, b, c)),), frozenset((d,)),
                  (frozenset((c, e)),))  # fmt: skip
    assert judged(merge(a, b), store) == "right"
    assert judged(merge(b, c), store) == ""
    assert judged(merge(a, d), store) == "wrong"
    assert judged(Delete(d, "over"), store) == judged(Delete(a, "twice"), store) == "right"
    assert judged(Delete(c, "over"), store) == "wrong"
    assert judged(Flag((c, e), "?"), store) == "right"
    assert judged(Flag((a, e), "?"), store) == "wrong"


def test_no_more_is_asked_than_it_may(server: FakeServer, tmp_path: Path) -> None:
    cases = [TWINS, STORES["plan-38"], STORES["plan-39"]]
    tried = bench(server, tmp_path, Answering(), calls=1)
    assert announced(cases, 1, tried.environment).endswith("at most 1 calls.")
    run(tried, cases)
    assert len(server.requests) == 1
    assert tried.figures.failures["no call was left for"] == 2
    with pytest.raises(SystemExit, match="BENCH_MODEL"):
        environment({"OPENAI_API_KEY": "a key alone chooses nothing"})


def test_the_marked_stores_name_notes_that_they_have() -> None:
    for case in STORES.values():
        files = {note["file"] for note in case.notes}
        for group in (*case.same, *case.near, *case.contradict, case.over):
            assert group <= files, case.name
    assert len(STORES) >= 45
    assert not any(name in str(SESSIONS) for name in SECRETS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("window", "form", "dress"), list(passes.combinations()) if FULL else [SMALL]
)
def test_a_pass_over_many_notes_ends_well_with_any_server(
    window: int, form: str, dress: str, tmp_path: Path
) -> None:
    project = passes.planted(tmp_path / "project", 500 if FULL else 40)
    done = passes.passed(project, window, form, dress)
    assert done.outcome in passes.GOOD, done.refusals
    assert done.refusals == []
    assert done.tokens.calls > 1
