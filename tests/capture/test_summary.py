"""A host's summary is asked for facts; what no turn of the user bears out waits for a person."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.summary import MAX_NUMBERED, MAX_REQUEST, parse, request_text
from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.note.note import parse as parse_note
from mdmemory.review import waiting
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
SAID = (
    Turn("m1", "user", "We always deploy on Tuesdays, the on-call team is complete then."),
    Turn("m2", "assistant", "The pipeline needs Docker 27 on every runner."),
    Turn("m3", "user", "The port of the proxy is 8443 now, not 8080. Keep answers short please."),
)
FILES = ("feedback-a.md", "project-b.md")
Git = Callable[..., str]


def note(name: str, description: str) -> StoredNote:
    text = compose(name=name, type="project", description=description, body=description)
    return StoredNote(f"project-{name}.md", digest(text.encode()), parse_note(text, f"{name}.md"))


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
    found = parse(f"## Goal\n- [feedback] Not this either\n\n{section}\n", FILES)
    assert [(each.action, each.type, each.fact) for each in found] == [
        ("add", "project", "We deploy on Tuesdays")
    ]


def test_references_are_read_and_reinforcements_are_at_most_three() -> None:
    lines = ["REINFORCE [M1]", "- REINFORCE [M2] (said again)", "- REINFORCE [M9]"]
    more = ["- REINFORCE [M1]", "- REPLACE [M2] [decision] We chose Redis", "- (none)"]
    found = parse("Memory candidates:\n" + "\n".join([*lines, *more]), FILES)
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
        assert parse(text, FILES) == [], text


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for each in parse(f"Memory candidates:\n- [user] {text}\n{text}", FILES):
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
    assert memory.summary("ses_1", text, SAID).added == [
        "project-deploys-are-always-on-tuesdays.md"
    ]


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
