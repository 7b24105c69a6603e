"""A model's answer is believed in nothing, and read candidate by candidate."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import Scripted
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture import candidates
from mdmemory.capture.candidates import (
    MAX_ANSWER,
    MAX_BODIES,
    MAX_CANDIDATES,
    Candidate,
    SessionReading,
    make_question,
    parse,
    redact_turns,
)
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.summary import MAX_NUMBERED, MAX_REQUEST, request_text
from mdmemory.capture.summary import parse as parse_summary
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest
from mdmemory.llm.answer import Answer, Asking, ContextExceeded, ModelFailed, Schema, in_words
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.llm.sizes import tokens
from mdmemory.note.editing import compose
from mdmemory.note.note import parse as parse_note
from mdmemory.review import waiting
from mdmemory.search.near import scan_notes
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

GOOD = {
    "action": "add", "type": "feedback", "kind": "", "title": "Answers",
    "fact": "Wants short answers", "why": "reads on a phone", "quote": "keep it short please",
    "replaces": [],
}  # fmt: skip


def answer(*candidates: object) -> str:
    return json.dumps({"candidates": candidates})


def note(name: str, body: str) -> StoredNote:
    text = compose(name=name, type="project", description=body[:100], body=body)
    file = f"project-{name}.md"
    return StoredNote(file, digest(text.encode()), parse_note(text, file))


def test_an_object_a_list_and_a_fenced_answer_are_read_alike() -> None:
    found = parse(answer(GOOD))
    assert found.candidates == [Candidate(**{**GOOD, "replaces": ()})]
    assert parse(json.dumps([GOOD])) == found
    assert parse(f"```json\n{answer(GOOD)}\n```\n") == found
    assert parse('{"candidates": []}') == SessionReading()
    items: Any = CANDIDATES["properties"]["candidates"]["items"]
    assert set(items["properties"]) == set(GOOD), "the fields that models are asked for"


def test_an_answer_without_one_candidate_that_can_be_read_is_refused() -> None:
    for text in (
        "", "I found nothing.", answer(GOOD)[:-5], '{"candidates": [], "candidates": []}',
        '{"candidates": {}}', "{}", "null", "3", '"add"',
        answer(GOOD).replace('"kind"', '"type"'), "[" * 100_000, "9" * 10_000,
        " " * MAX_ANSWER + "[]",
    ):  # fmt: skip
        with pytest.raises(BadAnswer) as refused:
            parse(text)
        assert refused.value.code == "bad_answer"
        assert "again" in refused.value.hint


@pytest.mark.parametrize(
    "change",
    [
        {"action": "delete"}, {"action": ["add"]}, {"type": "decision"}, {"type": None},
        {"kind": "choice"}, {"kind": "decision"}, {"fact": ""}, {"why": True}, {"fact": 5},
        {"fact": "-"}, {"fact": "8443"}, {"quote": " "}, {"replaces": [{}]}, {"replaces": {"a": 1}},
        {"replaces": [f"n{at}.md" for at in range(11)]}, {"fact": "\ud800"}, {"why": "x" * 5_000},
        {"title": "a\x00b"}, {"action": "reinforce"}, {"action": "reinforce", "replaces": [""]},
    ],
)  # fmt: skip
def test_a_candidate_with_a_wrong_field_is_left_out_and_others_go_on(
    change: dict[str, Any],
) -> None:
    found = parse(answer(GOOD, {**GOOD, **change}))
    assert len(found.candidates) == found.unreadable == 1
    assert [why for _, why in found.dropped] == ["schema"]


def test_a_field_that_says_nothing_may_be_empty_null_or_missing() -> None:
    for left, empty in (("title", ""), ("why", ""), ("kind", ""), ("replaces", [])):
        whole = parse(answer({**GOOD, left: empty})).candidates
        assert len(whole) == 1
        assert parse(answer({**GOOD, left: None})).candidates == whole
        assert parse(answer({k: v for k, v in GOOD.items() if k != left})).candidates == whole


def test_a_smaller_model_that_answers_in_the_former_form_is_understood() -> None:
    former = {
        "action": "update", "type": "project", "kind": "", "name": "x", "body": "b",
        "description": "The proxy is on 8443", "file": "project-proxy.md", "quote": "8443 now",
        "superseded": ["8080"],
    }  # fmt: skip
    (read,) = parse(answer(former)).candidates
    assert (read.fact, read.replaces) == ("The proxy is on 8443", ("project-proxy.md",))
    both = {**former, "fact": "The proxy is on 8444", "replaces": ["b.md", "b.md", " a.md "]}
    (read,) = parse(answer(both)).candidates
    assert (read.fact, read.replaces) == ("The proxy is on 8444", ("b.md", "a.md"))
    (read,) = parse(answer({**former, "replaces": "b.md"})).candidates
    assert read.replaces == ("b.md",)


def test_a_flood_is_cut() -> None:
    many = [{**GOOD, "fact": f"Wants answer {at}"} for at in range(MAX_CANDIDATES + 5)]
    found = parse(answer(*many))
    assert len(found.candidates) == MAX_CANDIDATES
    assert [why for _, why in found.dropped] == ["too_many"] * 5


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@given(st.text() | VALUES.map(json.dumps) | VALUES.map(lambda value: answer(value, GOOD)))
def test_no_answer_breaks_the_reader(text: str) -> None:
    try:
        found = parse(text)
    except BadAnswer:
        return
    for said, _ in found.dropped:
        said.encode("utf-8")


def test_a_question_shows_turns_and_notes_and_no_secret_of_either() -> None:
    secret = "ghp_" + "a1B2" * 9
    turns = redact_turns([Turn("m1", "user", f"The token is {secret}, and the proxy is slow")])
    asked = make_question(turns, [note("token", f"The old token is {secret}")], "2026-06-20")
    assert secret not in asked.text
    assert "[redacted:" in asked.text
    shown = json.loads(asked.text)
    assert [each["id"] for each in shown["turns"]] == ["m1"]
    assert [each["file"] for each in shown["notes"]] == ["project-token.md"]


def test_a_secret_that_answers_a_question_is_taken_out() -> None:
    def answered(question: str, answer: str) -> str:
        return redact_turns([Turn("m1", "assistant", question), Turn("m2", "user", answer)])[1].text

    secret = "Hunt" + "er2!x9"
    assert answered("Done. What is the root password?", secret) == "[redacted:password]"
    assert answered("Which engine do we use?", "V8 in build-server.md") == "V8 in build-server.md"


def test_a_turn_that_alone_is_too_long_is_cut_and_says_so() -> None:
    (turn,) = redact_turns([Turn("m1", "user", "a log " * 10_000)])
    assert len(turn.text) < 24_100
    assert turn.text.endswith("[36000 more characters]")


def test_with_too_many_notes_the_nearest_are_shown_whole_and_others_by_their_heads() -> None:
    proxy = note("proxy", "The proxy listens on port 8080, see `proxy.toml`.")
    notes = [note(f"n{n}", f"Fact {n}. " + "filler " * 300) for n in range(20)] + [proxy]
    said = [Turn("m1", "user", "The port of the proxy is 8443 now")]
    asked = make_question(said, notes, "2026-06-20")
    whole = [each["file"] for each in json.loads(asked.text)["notes"] if "body" in each]
    assert proxy.file in whole
    assert 0 < len(whole) < len(asked.shown) <= len(notes)
    assert len(asked.text) < 3 * MAX_BODIES


TURNS = [
    Turn(f"m{at:02}", "user", f"Point {at}: {'we say it at length ' * 12}") for at in range(12)
]
LONG = Turn("long", "user", "a log line that goes on " * 900)
NOTHING: dict[str, object] = {"candidates": []}


RULES = "the rules"


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


def read(model: Scripted, turns: list[Turn], *notes: StoredNote) -> candidates.SessionReading:
    return candidates.ask_about(Asking(model, RULES), turns, notes, "2026-06-01", scan_notes)


def shown(model: Scripted) -> list[list[str]]:
    return [[turn["id"] for turn in json.loads(each.user)["turns"]] for each in model.asked]


def found(quote: str) -> dict[str, object]:
    return {"candidates": [{"action": "reinforce", "replaces": ["a.md"], "quote": quote}]}


def test_a_small_window_is_asked_about_all_turns_in_order_and_once_each() -> None:
    for tells in (True, False):
        model = Window(1_500, tells=tells)
        done = read(model, TURNS)
        assert [id for each in shown(model) for id in each] == [turn.id for turn in TURNS]
        assert len(shown(model)) >= 3
        assert model.refused == (0 if tells else 1), "a window is learnt once"
        assert (done.upto, done.failure, done.dropped) == ("m11", None, [])


def test_notes_make_room_for_turns_but_the_nearest_head_is_still_shown() -> None:
    model = Window(1_500, tells=True)
    read(model, TURNS[:2], *(note(f"n{at}", f"Note {at} " + "body " * 400) for at in range(5)))
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
    assert [each.quote for each in done.candidates] == ["one", "two"]


def test_a_turn_longer_than_the_window_is_cut_and_says_so_and_the_others_are_read() -> None:
    model = Window(1_500, tells=True)
    assert read(model, [*TURNS[:2], LONG, TURNS[2]]).upto == "m02"
    turns = [turn for each in model.asked for turn in json.loads(each.user)["turns"]]
    (cut,) = (turn["text"] for turn in turns if turn["id"] == "long")
    assert cut.endswith(" more characters]")
    model.size = 0  # a window that takes not even a part of a turn
    done = read(model, [LONG])
    assert [reason for _, reason in done.dropped] == ["too_long"]
    assert (done.upto, done.failure) == ("long", None)


def test_a_window_that_the_instructions_fill_is_told_and_nothing_is_asked() -> None:
    asking = Asking(model := Window(1_000, tells=True), "the rules " * 900)
    done = candidates.ask_about(asking, TURNS, [], "2026-06-01", scan_notes)
    assert (done.failure is not None, done.upto, model.asked) == (True, "", [])


def test_an_answer_that_was_cut_counts_as_far_as_it_goes_and_the_turns_are_asked_again() -> None:
    cut = Answer(json.dumps(found("one")), 100, 10, cut=True)
    model = Scripted(cut, found("one"), found("two"))
    done = read(model, TURNS[:4])
    assert shown(model) == [["m00", "m01", "m02", "m03"], ["m00", "m01"], ["m02", "m03"]]
    assert [each.quote for each in done.candidates] == ["one", "two"]
    model = Scripted(Answer('{"candidates": [{"act', 1, 1, cut=True), NOTHING, NOTHING)
    assert read(model, TURNS[:2]).failure is None


# --- a host's summary is asked for facts; what the user's turns bear not out waits for a person --

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
SAID = (
    Turn("m1", "user", "We always deploy on Tuesdays, the on-call team is complete then."),
    Turn("m2", "assistant", "The pipeline needs Docker 27 on every runner."),
    Turn("m3", "user", "The port of the proxy is 8443 now, not 8080. Keep answers short please."),
)
FILES = ("feedback-a.md", "project-b.md")
Git = Callable[..., str]


def test_the_request_numbers_notes_under_its_budget_and_asks_for_nothing_else() -> None:
    notes = [note(f"n{n}", f"Fact number {n} " + "x" * (n * 3)) for n in range(40)]
    text, shown = request_text(notes)
    assert len(text) <= MAX_REQUEST
    assert 3 < len(shown) <= MAX_NUMBERED
    assert list(shown) == [each.file for each in notes[: len(shown)]]
    assert "[M2] n1: Fact number 1 xxx" in text
    assert shown[notes[0].file] == notes[0].digest
    assert "Notes that there are" not in request_text([])[0]
    assert not notice_wishes(text)


@pytest.mark.parametrize(
    "section",
    [
        "Memory candidates:\n- [project] We deploy on Tuesdays\n\nMore: none",
        "## Memory Candidates\n\n* project We deploy on Tuesdays\n\n## Next\n- [user] Not this",
        "**Workspace Memory Candidates:**\n1. [Project]: We deploy on Tuesdays",
    ],
)
def test_each_form_of_the_section_is_read(section: str) -> None:
    found = parse_summary(f"## Goal\n- [feedback] Not this either\n\n{section}\n", FILES)
    (only,) = found
    assert (only.action, only.type, only.fact) == ("add", "project", "We deploy on Tuesdays")


def test_references_are_read_and_reinforcements_are_at_most_three() -> None:
    lines = ["REINFORCE [M1]", "- REINFORCE [M2] (said again)", "- REINFORCE [M9]"]
    more = ["- REINFORCE [M1]", "- REPLACE [M2] [decision] We chose Redis", "- (none)"]
    found = parse_summary("Memory candidates:\n" + "\n".join([*lines, *more]), FILES)
    assert [(each.action, each.replaces) for each in found] == [
        ("reinforce", FILES[:1]), ("reinforce", FILES[1:]), ("reinforce", ("[M9]",)),
        ("update", FILES[1:]),
    ]  # fmt: skip
    assert (found[-1].type, found[-1].kind) == ("project", "decision")


def test_a_summary_without_candidates_has_none() -> None:
    title = "Memory candidates:\n"
    for text in (
        "",
        "## Goal\nnothing",
        f"{title}(none)",
        f"{title}- (none)",
        f"```\n{title}- [user] Lives in Paris\n```",
        f"{title}- [secret] x",
    ):
        assert parse_summary(text, FILES) == [], text


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_any_summary_can_be_read(text: str) -> None:
    for each in parse_summary(f"Memory candidates:\n- [user] {text}\n{text}", FILES):
        assert each.type in ("user", "feedback", "project", "reference", "")


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(clock=lambda: NOW)


def test_what_the_user_said_is_stored_and_the_rest_waits(memory: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    text = (
        "## Goal\nShip it.\n\nMemory candidates:\n"
        "- [project] Deploys are always on Tuesdays\n"
        "- [feedback] Keep answers short\n"
        "- [project] Every runner of the pipeline needs Docker 27\n"
        f"- [user] <private>Has an ulcer on Tuesdays</private>\n- [project] {secret}\n"
        "- [project] Deploys are on Tuesdays at 14:30, always\n"
    )
    done = memory.summary("ses_1", text, SAID)
    files = ["project-deploys-are-always-on-tuesdays.md", "feedback-keep-answers-short.md"]
    assert done.added == files
    reasons = {each["text"]: each["reasons"] for each in done.dropped if each["text"][0] in "ED"}
    assert reasons == {
        "Every runner of the pipeline needs Docker 27": ["pending", "no_evidence"],
        "Deploys are on Tuesdays at 14:30, always": ["pending", "invented"],
    }
    assert len(memory.pending()) == len(done.pending) == 2
    assert {row.phase for row in memory.captures()} == {"summary"}
    again = memory.summary("ses_1", text, SAID)
    assert (again.added, again.commit, len(memory.pending())) == ([], None, 2)
    kept = [path.read_bytes() for path in memory.project.root.rglob("*") if path.is_file()]
    assert not any(hidden in b"".join(kept) for hidden in (secret.encode(), b"ulcer"))


def test_the_older_form_in_tags_is_read_and_injected_memory_is_not(memory: Memory) -> None:
    text = (
        "## Goal\n<workspace_memory>\nMemory candidates:\n- [feedback] Keep answers short\n"
        "</workspace_memory>\n  <Workspace_Memory_Candidates>\n"
        "- [project] Deploys are always on Tuesdays\n"
        "</workspace_memory_candidates>\n- [user] The port of the proxy is 8443\n"
    )
    (file,) = memory.summary("ses_1", text, SAID).added
    assert file == "project-deploys-are-always-on-tuesdays.md"


def test_numbered_notes_are_reinforced_by_the_users_words_never_replaced(memory: Memory) -> None:
    memory.add("proxy", type="project", description="The proxy listens on port 8080")
    memory.add("tea", type="project", description="Drinks tea every day")
    _, shown = memory.summary_request()
    number = {file: at for at, file in enumerate(shown, 1)}
    proxy, tea = number["project-proxy.md"], number["project-tea.md"]
    text = (
        f"Memory candidates:\n- REINFORCE [M{tea}]\n- REINFORCE [M77]\n"
        f"- REPLACE [M{proxy}] [project] The port of the proxy is 8443\n"
        f"- REPLACE [M{proxy}] [project] The proxy runs on the host heron\n"
    )
    before = memory.note("proxy").digest
    done = memory.summary("ses_1", text, SAID, shown=shown)
    assert (done.added, done.updated, done.reinforced, done.superseded) == ([], [], [], [])
    reasons = sorted(each["reasons"] for each in done.dropped)
    assert reasons[0] == ["not_the_users_words"]
    assert reasons[-1] == ["unknown_file"]
    assert len(done.pending) == 1, "what the user did not say waits"
    (flagged,) = done.flagged
    (entry,) = memory.conflicts()
    assert set(entry.files) == {flagged, "project-proxy.md"}
    assert memory.note("proxy").digest == before
    said = (Turn("m9", "user", "As always I drink tea, every day."),)
    assert memory.summary("ses_1", text, said, shown=shown).reinforced == ["project-tea.md"]


def test_a_summary_is_one_commit_and_asks_no_model(
    memory: Memory, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")  # nobody answers there
    text = "Memory candidates:\n- [project] Deploys are always on Tuesdays\n"
    text += "- [feedback] Keep answers short\n"
    before = git(memory.project.root, "rev-list", "--count", "HEAD")
    done = memory.summary("ses_1", text, SAID)
    assert (len(done.added), done.second, done.failure) == (2, None, None)
    assert int(git(memory.project.root, "rev-list", "--count", "HEAD")) == int(before) + 1
    assert "Memory-Session: ses_1" in git(memory.project.root, "log", "-1", "--format=%B")
    memory.undo(done.id)
    assert memory.notes() == []


def test_facts_of_a_summary_go_to_the_store_that_they_belong_to(memory: Memory) -> None:
    layers = Memory.around(memory.project.root)
    text = "Memory candidates:\n- [user] Collects stamps of the postal union\n"
    text += "- [project] Releases go out on Tuesdays\n- [user] Works from Graz in the winter\n"
    said = [Turn("m1", "user", "Releases go out on Tuesdays. I work from Graz in the winter.")]
    theirs, own = sorted(layers.summary("ses_1", text, said).added)
    assert theirs == "me/user-works-from-graz-in-the.md"
    assert own == "project-releases-go-out-on-tuesdays.md"
    assert any("stamps" in str(each) for each in waiting.items(layers))
