"""The planner with a model: little is sent, nothing is believed, and a failure changes nothing."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import Said, Scripted

from mdmemory.compact import dialogue, model_planner
from mdmemory.compact.dialogue import MAX_CUT, MAX_TOO_LONG, batches, read, size, whole
from mdmemory.compact.model_planner import ModelPlanner
from mdmemory.compact.plan import Delete, Flag, Merge, PlanRefused, Rewrite, as_json
from mdmemory.compact.planner import ProposedPlan, Tokens
from mdmemory.llm import probe
from mdmemory.llm.answer import Answer, Asking, ContextExceeded, ModelFailed, Schema, in_words
from mdmemory.llm.schemas import PLAN, READINGS
from mdmemory.llm.sizes import tokens
from mdmemory.store import conflicts
from mdmemory.store.store import StoredNote

Notes = list[StoredNote]
TEA = {"op": "rewrite", "file": "user-tea.md", "body": "Drinks 2 cups of tea."}
MERGED = {
    "op": "merge", "sources": ["user-tea.md", "user-tea-2.md"], "target": "user-tea.md",
    "name": "tea", "type": "user", "description": "Drinks tea", "body": "Drinks 2 cups of tea.",
}  # fmt: skip
PORT = {"op": "rewrite", "file": "project-port.md", "body": "Port 8080 is the proxy's."}


@pytest.fixture
def notes(make: Any) -> list[StoredNote]:
    return [
        make("tea", "Drinks tea", "Drinks 2 cups of tea each day."),
        make("tea-2", "Drinks tea", "Drinks 2 cups of tea."),
        make("port", "Where the proxy listens", "The proxy listens on port 8080.", type="project"),
        make("on", "Sign-in is on", "The sign-in page is enabled.", type="project"),
        make("off", "Sign-in is off", "The sign-in page is disabled.", type="project"),
    ]


def ask(notes: Notes, model: Scripted, ledger: str = "", **more: Any) -> ProposedPlan:
    redact = more.pop("redact", lambda text: text.replace("hunter2", "[redacted]"))
    planner = ModelPlanner(
        "scripted", lambda: Asking(model, "the rules"), "2026-06-01", redact, **more
    )
    return planner.propose(notes, conflicts=conflicts.parse(ledger))


def plan(*ops: dict[str, Any]) -> dict[str, Any]:
    return {"ops": list(ops)}


def told(model: Scripted, at: int | None = None) -> list[dict[str, str]]:
    """The notes of a question, or of all."""
    asked = model.asked if at is None else [model.asked[at]]
    return [note for each in asked for note in json.loads(each.user)["notes"]]


def shown(model: Scripted, at: int | None = 0) -> list[str]:
    return [note["file"] for note in told(model, at) if "body" in note]


def neighbours(model: Scripted, at: int = 0) -> set[str]:
    notes = [note for note in told(model, at) if "body" not in note]
    assert all(note.keys() == {"file", "description"} for note in notes)
    return {note["file"] for note in notes}


def kinds(done: ProposedPlan) -> list[type]:
    return [type(op) for op in done.plan.ops]


def test_the_question_is_one_object_with_notes_and_open_conflicts(notes: Notes) -> None:
    ledger = conflicts.add("", [(notes[3], notes[4], "on against off")], "2026-05-01")
    model = Scripted(plan())
    done = ask(notes, model, ledger)
    told = json.loads(model.asked[0].user)
    assert set(told) == {"today", "notes", "linked", "may_remove", "conflicts"}
    assert told["today"] == "2026-06-01"
    assert told["conflicts"] == [["project-off.md", "project-on.md"]]
    said = {"description": "Where the proxy listens", "body": "The proxy listens on port 8080."}
    named = {"file": "project-port.md", "type": "project", "name": "port"}
    assert told["notes"][2] == named | said
    assert model.asked[0].system == "the rules"
    assert model.asked[0].schema is not None
    assert (done.plan.ops, done.tokens) == ((), Tokens(100, 10, 1))
    assert (done.model, done.failed, done.more) == ("scripted", (), False)


def test_the_question_tells_what_ops_are_judged_by(notes: Notes, make: Any) -> None:
    more = [
        make("wine", "No wine", "No wine, see [[tea]].", kind="decision", type="project",
             source="explicit", importance="high", created="2026-05-01", updated="2026-05-01"),
        make("own", "Itself", "See [[user-own]].", source="extraction", updated="2026-05-02"),
    ]  # fmt: skip
    model = Scripted(plan())
    ask([*notes, *more], model)
    told = json.loads(model.asked[0].user)
    assert (told["linked"], told["may_remove"]) == (["user-tea.md"], 3)
    by_file = {note["file"]: note for note in told["notes"]}
    wine, own = by_file["project-wine.md"], by_file["user-own.md"]
    assert (wine["kind"], wine["source"], wine["importance"]) == ("decision", "explicit", "high")
    assert (wine["created"], "updated" in wine) == ("2026-05-01", False)
    assert (own["updated"], "source" in own, "kind" in own) == ("2026-05-02", False, False)


def test_a_note_with_a_secret_is_not_sent_in_parts(notes: Notes, make: Any) -> None:
    model = Scripted(plan())
    held = [make("key", "The key", "It is hunter2."), make("code", "Its code is hunter2")]
    ask([*notes, *held, make("allowed", secrets="allowed")], model)
    assert len(shown(model)) == 5
    assert "redacted" not in model.asked[0].user


def test_notes_of_which_none_has_a_secret_are_sent_whole(notes: Notes) -> None:
    model = Scripted(plan())
    done = ask(notes, model, redact=lambda text: text.replace("}, {", "[redacted]"))
    assert (done.failed, len(shown(model))) == ((), len(notes))


class Small(Scripted):
    """A model whose window holds questions of that many characters, and that says so only when
    one is longer."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        if len(user) > self.most:
            raise ContextExceeded("It is too long.", 4_096)
        self.say(plan())
        return super().complete(system, user, schema)


def test_a_question_that_is_too_long_is_asked_in_parts_until_each_fits(
    notes: Notes, make: Any
) -> None:
    model = Small(700)
    done = ask([*notes, make("long", "A long one", "words " * 200)], model)
    assert sorted(shown(model, None)) == sorted(note.file for note in notes)
    said = "The note user-long.md is too long for scripted, which was not asked about it."
    assert (done.refusals, done.failed, done.more) == ((("context", said),), (), False)


def test_a_known_window_is_never_exceeded(make: Any) -> None:
    model = Scripted(*[plan()] * 40)
    model.context_tokens = 2_000  # type: ignore[attr-defined]
    notes = [make(f"n{at}", f"Note {at}", f"The port of {at} is {at}. " * 20) for at in range(12)]
    ask(notes, model)
    assert {note["file"] for note in told(model)} == {note.file for note in notes}
    for each in model.asked:
        assert tokens(each.user) + tokens(in_words(PLAN)) < 2_000


def test_notes_that_a_cut_answer_did_not_come_to_are_asked_about_again(notes: Notes) -> None:
    model = Scripted(Answer(json.dumps(plan(MERGED)), 100, 10, cut=True), plan(), plan(PORT))
    assert kinds(ask(notes, model)) == [Merge, Rewrite]
    assert shown(model, 1) == ["project-off.md"]
    assert shown(model, 2) == ["project-on.md", "project-port.md"]


def test_a_window_that_the_instructions_fill_is_told_and_nothing_is_asked(notes: Notes) -> None:
    model = Scripted()
    model.context_tokens = 500  # type: ignore[attr-defined]
    ((code, said),) = ask(notes, model).failed
    assert (code, model.asked) == ("context", [])
    assert "(500 tokens) holds no question" in said


def test_a_model_that_never_comes_to_an_end_is_left_after_a_few_answers(make: Any) -> None:
    model = Scripted(*[Answer("<think> hm", 1, 1, cut=True)] * 40)
    done = ask([make(f"n{at}") for at in range(64)], model)
    assert len(model.asked) < 10
    assert done.failed


def test_cut_answers_of_which_every_op_is_refused_do_not_use_up_the_calls_of_a_day(
    make: Any,
) -> None:
    gone = {"op": "delete", "file": "user-gone.md", "reason": "it is old"}
    model = Scripted(*[Answer(json.dumps(plan(gone)), 1, 1, cut=True)] * 200)
    done = ask([make(f"n{at}") for at in range(64)], model)
    assert len(model.asked) <= 2 * MAX_CUT  # each is corrected once
    assert "5 answers of scripted in a row were cut short" in done.failed[0][1]
    assert "more batches were not asked about" in done.failed[1][1]


def test_a_server_that_finds_every_question_too_long_is_left(make: Any) -> None:
    done = ask([make(f"n{at}") for at in range(64)], Small(0))
    assert done.tokens.calls == MAX_TOO_LONG
    assert "called 16 questions in a row too long" in done.failed[0][1]


def test_one_note_or_none_is_no_reason_to_ask(notes: Notes) -> None:
    for few in ([], notes[:1]):
        done = ask(few, Scripted())
        assert (done.plan.ops, done.tokens) == ((), Tokens())


def test_the_plan_has_the_digests_of_what_was_shown(notes: Notes) -> None:
    done = ask(notes, Scripted(plan(MERGED, PORT))).plan
    seen = {note.file: note.digest for note in notes}
    named = ("user-tea.md", "user-tea-2.md", "project-port.md")
    assert dict(done.digests) == {file: seen[file] for file in named}


BLANK = {
    **dict.fromkeys("op target name type description body reason file".split(), ""),
    **{"sources": [], "files": []},
}


def test_blank_fields_of_a_strict_answer_do_not_count() -> None:
    wanted = (Delete("a.md", "over"), Rewrite("b.md", "b"), Flag(("c.md", "d.md"), "c or d?"))
    full = json.dumps({"ops": [{**BLANK, **as_json(op)} for op in wanted]})
    for text in (full, f"```json\n{full}\n```"):
        assert read(text).ops == wanted


def test_blanks_make_no_bad_op_good() -> None:
    for op in ({"op": "delete", "file": "a.md"}, {"op": "nothing"}, {}):  # a delete has a reason
        with pytest.raises(PlanRefused):
            read(json.dumps({"ops": [{**BLANK, **op}]}))


def test_the_digests_of_a_model_count_nothing() -> None:
    assert read(json.dumps({"ops": [], "digests": {"a.md": "0" * 64}})).digests == {}


DEEP = "[" * 10_000
UNREADABLE: list[str] = [
    "{}", "null", '"ops"', "7", "I would not change anything.", "I cannot help with that.",
    "- [ ] nothing to do", "```yaml\nops: []\n```", '{"ops": [',
    '{"ops": [{"op": "delete", "file": "user-t', '{"ops": [NaN]}', '{"ops": Infinity}',
    '{"ops": [], "ops": []}', "<think>{'ops': []}",
    '{"ops": [{"op": "delete", "op": "flag", "file": "a.md", "reason": "r"}]}',
    '{"ops": {}}', '{"ops": [null]}', '{"ops": ["delete"]}',
    '{"ops": [{"op": "drop", "file": "user-tea.md"}]}',
    '{"ops": [{"op": "delete", "file": true, "reason": "r"}]}',
    '{"ops": [{"op": "delete", "file": "user-tea.md"}]}',
    '{"ops": [{"op": "flag", "files": "user-tea.md", "reason": "r"}]}',
    '{"ops": [{"op": "merge", "sources": ["user-tea.md"], "target": "user-tea.md"}]}',
    '{"ops": ["\\ud800"]}', '{"ops": [' + "9" * 5_000 + "]}", DEEP, '{"ops":' + DEEP,
    "x" * 2_000_001,
]  # fmt: skip


@pytest.mark.slow
def test_an_answer_that_is_no_plan_is_a_failure_and_is_kept(notes: Notes) -> None:
    assert len(UNREADABLE) >= 25
    for answer in UNREADABLE:
        model = Scripted(answer, answer)
        done = ask(notes, model)
        assert done.plan.ops == (), answer[:80]
        assert done.failed, answer[:80]
        assert {code for code, _ in done.failed} <= {"unparsable", "schema"}
        assert done.rejected == (answer,)
        first, second = (each.user for each in model.asked)
        added = second.removeprefix(first)
        assert added != second
        assert '"files": ["<file>", "<other file>"]' in added, "one example of the form"
        with pytest.raises(PlanRefused):
            read(added)


@pytest.mark.parametrize(
    ("op", "code"),
    [
        ({**TEA, "body": "Drinks cups of tea each day."}, "literal_lost"),
        ({**PORT, "file": "../../etc/passwd"}, "bad_name"),
        ({**MERGED, "body": "Drinks 2 cups. The code is hunter2."}, "secret"),
    ],
)
def test_a_harmful_answer_is_refused_with_its_code(
    notes: Notes, op: dict[str, Any], code: str
) -> None:
    done = ask(notes, Scripted(plan(op), plan(op)))
    assert done.plan.ops == ()
    assert {code for *_, code, _ in (*done.refused, *done.refusals)} == {code}
    assert done.rejected == (json.dumps(plan(op), ensure_ascii=False),)
    assert done.failed == ()


def test_a_refused_op_is_told_once_and_what_was_fine_stays(notes: Notes) -> None:
    lossy = {**PORT, "body": "The proxy listens."}
    model = Scripted(plan(MERGED, lossy), plan(PORT))
    done = ask(notes, model)
    assert kinds(done) == [Merge, Rewrite]
    told = json.loads(model.asked[1].user)
    assert shown(model, 1) == ["project-port.md"]
    assert "plan" not in told
    assert told["refused"][0]["op"] == {**lossy}
    assert (told["refused"][0]["code"], done.refused) == ("literal_lost", ())
    assert done.tokens == Tokens(300, 30, 3), "with the second reading"


def test_a_refused_plan_is_told_once_as_a_whole(notes: Notes) -> None:
    leak = {**PORT, "body": "The proxy listens on 8080, password hunter2."}
    model = Scripted(plan(MERGED, leak), plan(MERGED))
    assert kinds(ask(notes, model)) == [Merge]
    told = json.loads(model.asked[1].user)
    assert (told["plan"]["ops"][1]["op"], len(told["notes"])) == ("rewrite", 5)
    assert [each["code"] for each in told["refused"]] == ["secret"]


@pytest.mark.parametrize(
    "again",
    [
        plan({**PORT, "body": "The proxy listens on 80."}), plan(TEA), "no", ModelFailed("Down."),
        plan({**PORT, "file": "user-none.md"}), plan({**PORT, "body": ""}, {"op": "x"}),
    ],
)  # fmt: skip
def test_a_second_answer_that_is_no_better_costs_the_good_ops_nothing(
    notes: Notes, again: Said
) -> None:
    done = ask(notes, Scripted(plan(MERGED, {**PORT, "body": "Port 9090."}), again))
    assert kinds(done) == [Merge]
    assert [type(op) for op, _, _ in done.refused] == [Rewrite]


def test_an_op_that_the_model_takes_back_is_no_refusal(notes: Notes) -> None:
    done = ask(notes, Scripted(plan({**PORT, "body": "Port 9090."}), plan()))
    assert (done.plan.ops, done.refused, done.rejected) == ((), (), ())


@pytest.fixture
def large(make: Any, monkeypatch: pytest.MonkeyPatch) -> Notes:
    """Three notes of three types that fill a batch each, and what they say in short."""
    monkeypatch.setattr(model_planner, "MAX_CHARS", 1_500)
    long = " ".join(["words"] * 200)
    return [
        make("home", "Lives in Rome", f"Lives in Rome. {long}"),
        make("office", "The office of the user is in Oslo", f"Works in Oslo. {long}", "project"),
        make("desk", "The desk is in Oslo", f"The desk is in Oslo. {long}", "reference"),
    ]


FLAG = {"op": "flag", "files": ["project-office.md", "user-home.md"], "reason": "Rome or Oslo?"}


def test_flags_cross_batches_by_the_descriptions_of_neighbours(large: Notes) -> None:
    model = Scripted(plan(), plan(), plan(FLAG))
    heard: list[tuple[int, int, str]] = []
    done = ask(large, model, report=lambda *told: heard.append(told))
    files = ["project-office.md", "reference-desk.md", "user-home.md"]
    assert [shown(model, at) for at in range(3)] == [[file] for file in files]
    assert neighbours(model, 0) == set(files[1:])
    assert neighbours(model, 2) == set(files[:2])
    assert kinds(done) == [Flag]
    assert [(at, total) for at, total, _ in heard] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert heard[2][2] == "asking about 1 note"


def test_what_is_flagged_is_told_to_the_next_batch_and_stands_once(large: Notes) -> None:
    model = Scripted(plan(FLAG), plan(), plan(FLAG))
    done = ask(large, model)
    assert json.loads(model.asked[2].user)["conflicts"] == [FLAG["files"]]
    assert (len(done.plan.ops), done.more) == (1, False)


def test_by_a_description_alone_a_note_is_only_flagged(large: Notes) -> None:
    gone = {"op": "delete", "file": "user-home.md", "reason": "old"}
    done = ask(large, Scripted(plan(gone, FLAG), plan(gone), plan(), plan()))
    assert kinds(done) == [Flag]
    (why,) = [row[1:] for row in done.refused]
    assert why[0] == "unknown_file"
    assert "shown by its description only, so it can only be flagged" in why[1]


def test_a_flag_across_batches_goes_before_other_ops_on_its_notes(large: Notes) -> None:
    rewrite = {"op": "rewrite", "file": "user-home.md", "body": large[0].note.body + " Words."}
    done = ask(large, Scripted(plan(FLAG), plan(), plan(rewrite)))
    assert kinds(done) == [Flag]
    assert done.more, "the other waits"


def test_whoever_is_down_does_not_get_every_batch(large: Notes) -> None:
    enough = ModelFailed("Enough.", "", "over_cap")
    down = ModelFailed("Down.")
    for problems, left in (([down] * 2, 1), (["No.", "No!"] * 2, 1), ([enough], 2)):
        done = ask(large, Scripted(*problems))
        assert done.failed[-1][1] == f"{left} more batches were not asked about."


def test_what_a_model_would_delete_waits_for_a_person(notes: Notes) -> None:
    gone = {"op": "delete", "file": "project-port.md", "reason": "the proxy is gone"}
    done = ask(notes, Scripted(plan(gone, MERGED)))
    assert kinds(done) == [Merge]
    ((op, code, why),) = done.refused
    assert (as_json(op)["file"], code) == ("project-port.md", "waits")
    assert "the proxy is gone" in why


@pytest.mark.parametrize(
    ("reader", "codes"),
    [
        (lambda _: "lost", ["doubted"]), (lambda _: "reversed", ["doubted"]),
        (lambda _: "perhaps", ["unread"]), (ModelFailed("Down."), ["unread"]),
        ("no", ["unread"]), ({"verdicts": []}, ["unread"]),
    ],
)  # fmt: skip
def test_what_a_second_reading_does_not_stand_by_is_not_done(
    notes: Notes, reader: Any, codes: list[str]
) -> None:
    done = ask(notes, Scripted(plan(MERGED), reader=reader))
    assert done.plan.ops == ()
    assert [code for _, code, _ in done.refused] == codes
    assert done.looks is not None
    assert (set(MERGED["sources"]) <= done.looks.unanswered) == (codes == ["unread"])


def test_a_second_reading_sees_sources_and_results_alone(notes: Notes) -> None:
    model = Scripted(plan(MERGED, PORT))
    ask(notes, model)
    (asked,) = model.reread
    ops = json.loads(asked.user)["ops"]
    assert [set(op) for op in ops] == [{"number", "result", "sources"}] * 2
    assert sorted(len(op["sources"]) for op in ops) == [1, 2]
    assert "reason" not in asked.user
    assert all(".md" not in json.dumps(op) for op in ops)


def test_ops_too_many_for_one_second_reading_are_read_in_parts(notes: Notes) -> None:
    model = Scripted(plan(MERGED, PORT))
    asked: list[int] = []
    complete = model.complete

    def narrow(system: str, user: str, schema: Any = None) -> Any:
        if schema is READINGS:
            asked.append(len(json.loads(user)["ops"]))
            if asked[-1] > 1:
                raise ContextExceeded("Too long.", 0)
        return complete(system, user, schema)

    model.complete = narrow  # type: ignore[method-assign]
    done = ask(notes, model)
    assert asked == [2, 1, 1]
    assert len(done.plan.ops) == 2


def test_a_flag_of_what_the_ledger_holds_is_left_out(notes: Notes) -> None:
    ledger = conflicts.add("", [(notes[3], notes[4], "on against off")], "2026-05-01")
    ledger = conflicts.clear_entry(ledger, conflicts.parse(ledger)[0].id)
    flag = {"op": "flag", "files": ["project-on.md", "project-off.md"], "reason": "which?"}
    done = ask(notes, Scripted(plan(flag)), ledger)
    assert (done.plan.ops, done.more) == ((), False)


# --- batches hold every note once, near notes together, and no more than the limit ---------------


def chars(note: StoredNote) -> int:
    return size(whole(note))


some_words = st.lists(st.sampled_from("tea port deploy tabs 喜欢 8080 night".split()), max_size=5)


def test_a_store_within_the_limit_is_one_batch(make: Any) -> None:
    (batch,) = batches([make("b"), make("a"), make("c", type="project")], chars, 60_000)
    assert [note.file for note in batch] == ["project-c.md", "user-a.md", "user-b.md"]
    assert batches([], chars, 60_000) == []


def test_neighbours_stay_together_whatever_their_names(make: Any) -> None:
    pets = ["the cat eats tuna at noon", "the cat eats salmon at noon"]
    work = ["deploys leave on friday evening", "deploys leave on monday evening"]
    texts = zip("abcd", (pets[0], work[0], pets[1], work[1]), strict=True)
    notes = [make(name, text, text) for name, text in texts]
    limit = max(map(chars, notes)) * 2
    found = [{note.file for note in batch} for batch in batches(notes, chars, limit)]
    assert found == [{"user-a.md", "user-c.md"}, {"user-b.md", "user-d.md"}]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(some_words, st.sampled_from(["user", "project"])), max_size=30),
    st.integers(1, 2_000),
)
def test_every_note_stands_in_one_batch_that_keeps_the_limit(
    make: Any, drawn: list[tuple[list[str], str]], limit: int
) -> None:
    notes = [make(f"n-{at}", " ".join(text), type=kind) for at, (text, kind) in enumerate(drawn)]
    found = batches(notes, chars, limit)
    assert all(batch and sum(map(chars, batch)) <= limit for batch in found)
    files = [note.file for batch in found for note in batch]
    assert sorted(files) == sorted(note.file for note in notes if chars(note) <= limit)
    assert found == batches(notes[::-1], chars, limit)


# A small model is asked one pair at a time, and what it says can lose no literal.


@pytest.fixture
def pair(make: Any) -> list[StoredNote]:
    return [
        make("short", "Prefers short answers", "Reads them on the way."),
        make("brief", "Prefers answers that are short", "Long ones stay unread."),
        make("port", "The proxy listens on port 8080", "As told.", type="project"),
        make("port-2", "The proxy listens on port 9090", "As told.", type="project"),
        make("cat", "Has a cat", "It sleeps."),
    ]


def plan_pairs(pair: Notes, model: Scripted) -> ProposedPlan:
    return ask(pair, model, by_pairs=True)


def test_two_notes_of_which_it_says_yes_become_one_with_both_texts(pair: Notes) -> None:
    model = Scripted("Yes.")
    (op,) = plan_pairs(pair, model).plan.ops
    assert isinstance(op, Merge)
    assert {*op.sources} == {"user-short.md", "user-brief.md"}
    assert {*op.body.split("\n\n")} == {"Reads them on the way.", "Long ones stay unread."}
    (asked,) = model.asked
    sentences = {"Prefers short answers", "Prefers answers that are short"}
    assert {*json.loads(asked.user)["sentences"]} == sentences
    assert tokens(asked.system + asked.user) < 130, "a small question"
    assert asked.schema is None
    assert model.reread == []


@pytest.mark.parametrize("answer", ["no", "No, the second says more.", "I think so", "", "{}"])
def test_what_is_no_yes_changes_nothing(pair: Notes, answer: str) -> None:
    assert plan_pairs(pair, Scripted(answer or "?")).plan.ops == ()


def test_notes_with_other_numbers_are_not_even_asked_about(pair: Notes) -> None:
    model = Scripted()
    assert plan_pairs(pair[2:], model).plan.ops == ()
    assert model.asked == []


def test_a_model_that_fails_is_told_and_the_notes_are_asked_about_again(pair: Notes) -> None:
    done = plan_pairs(pair, Scripted(ModelFailed("It is down.", "Start it.", "unreachable")))
    assert done.failed == (("unreachable", "It is down. Start it."),)
    assert done.looks is not None
    assert {"user-short.md", "user-brief.md"} <= done.looks.unanswered


@given(st.dictionaries(st.integers(0, 9), st.integers(0, 9)))
def test_a_pair_is_two_notes_that_are_each_others_nearest_and_no_note_is_in_two(
    make: Any, nearest: dict[int, int]
) -> None:
    pair = [make(f"n{at}", f"Fact {at}") for at in range(10)]
    place = {note.file: at for at, note in enumerate(pair)}

    def near(note: StoredNote) -> StoredNote | None:
        at = nearest.get(place[note.file], place[note.file])
        return None if at == place[note.file] else pair[at]

    found = [(place[a.file], place[b.file]) for a, b in dialogue.list_nearest(pair, near)]
    assert all(nearest[a] == b and nearest[b] == a for a, b in found)
    assert len({at for pair in found for at in pair}) == 2 * len(found)


def test_a_model_is_known_by_three_answers() -> None:
    for words, right in (
        *[("ok lost changed", 3), ("ok lost added", 3), ("ok ok ok", 1), ("lost lost lost", 2)],
        *[("ok", 1), ("perhaps", 0), ("", 0)],
    ):
        rows = [{"number": f"{at}", "verdict": word} for at, word in enumerate(words.split(), 1)]
        assert probe.count_right(Scripted(reader={"verdicts": rows})) == right, words
