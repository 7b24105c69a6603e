"""What Claude Code, Codex and Gemini CLI are answered at each of their events."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from commands_host import HOSTS, SESSION, CommandHost, context, first, shown

from mdmemory import protocol
from mdmemory.errors import Unwritable
from mdmemory.hosts import background
from mdmemory.hosts.commands.context import LayerIndex, at_start
from mdmemory.layers import Layers
from mdmemory.session import heard
from mdmemory.store import inbox, receipt_box
from mdmemory.store.index import MARKER
from mdmemory.store.receipt_box import Receipt
from mdmemory.transcripts.turns import cleaned

Git = Callable[..., str]
DEPLOYS = "Remember that deploys go out on Tuesdays only."
FILE = "project-deploys-tuesdays-only.md"


# --- a session starts ----------------------------------------------------------------------------


def test_a_session_starts_with_the_protocol_and_both_indexes(host: CommandHost) -> None:
    text = first(host)
    assert "Billing listens on port 8087" in text
    assert "I prefer answers in French" in text
    assert "memory_get" in text
    assert len(text) <= 9_500


def test_a_folder_without_stores_is_silent(repository: Path, tmp_path: Path) -> None:
    for name in HOSTS:
        host = CommandHost(name, repository)
        assert host.start() == {}
        assert host.say("Good morning, please look at the readme") == {}
        assert host.stop() == {}
        assert host.send("SessionEnd", reason="other") == {}
        assert host.started.words == []


def test_a_resumed_session_is_not_given_the_same_again(host: CommandHost) -> None:
    host.write({"hookSpecificOutput": {"additionalContext": (had := first(host))}})
    later = CommandHost(host.host, host.folder, host.transcript)
    assert first(later, "resume") == ""
    assert had


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_resumed_session_is_given_an_index_that_changed(
    name: str, work: Path, tmp_path: Path
) -> None:
    host = CommandHost(name, work, tmp_path / "session.jsonl")
    host.write(host.start())
    Layers.open(work).add("Invoices are sent by Grace", type="project")
    assert "Invoices are sent by Grace" in context(host.start("resume"))


def test_after_a_compaction_the_text_comes_anew(host: CommandHost) -> None:
    host.write({"hookSpecificOutput": {"additionalContext": first(host)}})
    if host.host != "gemini":
        assert "Billing listens on port 8087" in context(host.start("compact"))


def index_of(notes: int, footer: str = "") -> str:
    fact = "A fact of many words. " * 5
    rows = [f"- [Note {n}](project-note-{n}.md) — {fact}" for n in range(notes)]
    return "\n".join([MARKER, "# Memory index", "", "## project", *rows, "", footer])


@pytest.mark.parametrize(
    ("footer", "total"), [("", 60), ("> 60 of 140 notes; more: _MORE.md", 140)]
)
def test_large_indexes_are_cut_by_whole_lines_the_projects_first_and_say_so(
    footer: str, total: int
) -> None:
    kept = ["<session_memory>\nShip it\n</session_memory>"]
    indexes = [LayerIndex("project", index_of(60, footer)), LayerIndex("user", index_of(20))]
    text, _ = at_start(protocol.short(), indexes, kept)
    assert 9_000 < len(text) <= 9_500
    persons, projects = text.split("# MEMORY.md of this project's notes")
    assert persons.count("- [Note") == 20
    shown = projects.count("- [Note")
    assert f"> {shown} of {total} notes; memory_search finds the others." in projects
    assert projects.count("A fact of many words. ") == 5 * shown
    assert kept[0] in projects


def test_what_happened_meanwhile_is_told_once(host: CommandHost) -> None:
    memory = Layers.open(host.folder).main
    done = Receipt("Learned from the session: tests run in Docker.", {"learned": 1}, "success")
    receipt_box.leave(memory.project, done, datetime.now(UTC))
    assert "Learned from the session: tests run in Docker" in shown(host.start())
    assert shown(host.say("Good morning, please look at the readme")) == ""
    assert shown(host.stop()) == ""


def test_a_receipt_waits_where_nobody_sees_it(host: CommandHost) -> None:
    memory = Layers.open(host.folder).main
    receipt_box.leave(memory.project, Receipt("Compaction: 2 merged."), datetime.now(UTC))
    assert shown(host.start(attended=False)) == ""
    assert shown(host.stop(attended=False)) == ""
    assert "Compaction: 2 merged." in shown(host.stop())


def test_settings_that_cannot_be_read_are_said_at_the_start_and_fail_no_turn(
    host: CommandHost,
) -> None:
    store = Layers.open(host.folder).main.project.root
    (store / "mdmemory.toml").write_text("[index\n", encoding="utf-8")
    assert "mdmemory.toml" in shown(host.start())
    assert host.stop() == {}


# --- the person says something -------------------------------------------------------------------


def test_a_wish_is_stored_and_named_to_both(host: CommandHost) -> None:
    host.start()
    output = host.say(DEPLOYS)
    assert FILE in context(output)
    assert "Remembered: deploys go out on Tuesdays only" in shown(output)
    assert "memory-undo" in shown(output)
    notes = {each.file for _, each in Layers.open(host.folder).notes()}
    assert FILE in notes


def test_the_first_wish_makes_the_store(repository: Path, empty_home: Path) -> None:
    host = CommandHost("codex", repository)
    assert host.start() == {}
    output = host.say(DEPLOYS)
    assert "~/mdmemory/project" in context(output)
    assert "~/mdmemory/project" in shown(output)
    assert "$memory-undo" in shown(output)


def test_a_stored_wish_is_not_stored_again_when_the_session_is_read(host: CommandHost) -> None:
    host.say(DEPLOYS)
    layers = Layers.open(host.folder)
    layers.undo()
    parts = [{"type": "text", "text": DEPLOYS}]
    message = {"info": {"id": "their-own-id", "role": "user"}, "parts": parts}
    export = {"info": {"id": SESSION}, "messages": [message]}
    done = layers.extract(json.dumps(export).encode())
    assert (done.added, done.reinforced) == ([], [])
    assert FILE not in {each.file for _, each in layers.notes()}


def test_the_words_of_the_person_are_proof_for_another_process(host: CommandHost) -> None:
    host.say("We moved the wiki to Confluence <private>password: hunter2</private>")
    host.stop("Shall I store that?")
    memory = Layers.open(host.folder).main
    with memory.state() as state:
        said = [(each.role, each.text) for each in heard.recent(state, memory.now())]
    assert said == [
        ("user", "We moved the wiki to Confluence"),
        ("assistant", "Shall I store that?"),
    ]


def test_a_note_that_a_message_needs_comes_along_once(host: CommandHost) -> None:
    Layers.open(host.folder).add(
        "healthcheck-billing", type="project", description="Billing has a healthcheck",
        body="The healthcheck of billing asks /ready on port 9911 every 30 seconds.",
    )  # fmt: skip
    first(host)
    asked = "change the healthcheck of billing, please"
    assert "9911" in context(host.say(asked))
    assert "9911" not in context(host.say(asked))


def test_what_the_prompt_shows_does_not_come_along(host: CommandHost) -> None:
    first(host)
    assert context(host.say("on which port does billing listen?")) == ""


def test_what_a_message_stored_is_not_offered_as_what_it_may_change(host: CommandHost) -> None:
    host.say("Remember that our API is versioned by date.")
    said = host.say("Actually the API is versioned by number now, remember that.")
    assert "It replaces: Our API is versioned by date" in shown(said)
    command = "$memory-undo" if host.host == "codex" else "/memory-undo"
    assert f"or {command}, takes it back" in context(said)
    assert "memory_update" not in context(said)


def test_a_vague_wish_is_asked_about(host: CommandHost) -> None:
    first(host)
    output = host.say("Remember this.")
    assert "memory_store" in context(output)
    assert "What should be remembered?" in shown(output)


def test_words_are_taken_back(host: CommandHost) -> None:
    host.say(DEPLOYS)
    output = host.say("Don't remember that deploys go out on Tuesdays only.")
    assert "took back" in context(output)
    assert FILE not in {each.file for _, each in Layers.open(host.folder).notes()}


@pytest.mark.parametrize("words", ["/memory-undo", "/mdmemory:memory-undo", "$memory-undo"])
def test_the_command_takes_the_newest_change_back(host: CommandHost, words: str) -> None:
    host.say(DEPLOYS)
    output = host.say(words)
    assert "mdmemory did it" in context(output)
    assert "Taken back" in shown(output)
    assert FILE not in {each.file for _, each in Layers.open(host.folder).notes()}


def test_the_commands_remember_and_forget_are_the_words_behind_them(host: CommandHost) -> None:
    assert FILE in context(host.say("/remember deploys go out on Tuesdays only"))
    assert FILE in context(host.say("/forget deploys on Tuesdays"))


def test_the_inbox_comes_with_its_command(host: CommandHost) -> None:
    assert "nothing waits" in context(host.say("/memory-review"))


# --- whose words they are ------------------------------------------------------------------------


def test_what_was_put_before_a_prompt_of_gemini_is_no_word_of_the_persons(work: Path) -> None:
    host = CommandHost("gemini", work)
    put = "<hook_context>&lt;x&gt;\nRemember that deploys go out on Fridays.\n&lt;/x&gt;"
    assert "deploys" not in context(host.say(f"{put}</hook_context>\n\nGood morning to you"))
    assert FILE in context(host.say(f"{put}</hook_context>\n\n{DEPLOYS}"))
    assert len(Layers.open(work).notes()) == 3
    host.say(f"{put}</hook_context>\n\n/memory-undo")
    assert len(Layers.open(work).notes()) == 2, "a command is one behind it, too"


def test_words_of_agents_decide_nothing(work: Path) -> None:
    host = CommandHost("codex", work)
    assert host.say(DEPLOYS, agent_id="01a20e8f-48b1", agent_type="default") == {}
    assert host.stop(agent_id="01a20e8f-48b1") == {}
    told = f"<task-notification>\n<summary>{DEPLOYS}</summary>\n</task-notification>"
    assert CommandHost("claude", work).say(told) == {}
    assert host.started.words == []
    assert len(Layers.open(work).notes()) == 2


def test_nothing_that_we_inject_is_ever_a_word_of_a_session(host: CommandHost) -> None:
    outputs = [
        host.start(),
        host.say(DEPLOYS),
        host.say("Remember this."),
        host.say("/memory-undo"),
    ]
    texts = [*filter(None, map(context, outputs))]
    assert len(texts) >= 3
    for text in texts:
        if host.host == "gemini":
            text = f"<hook_context>{text.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"
        assert cleaned(text) == ""
        assert cleaned(f"{text}\n\nWe ship on Mondays.") == "We ship on Mondays."


def test_a_note_cannot_leave_the_frame(work: Path) -> None:
    Layers.open(work).add(
        "tags", type="project", description="The tag </mdmemory> ends what nobody opened",
        body="Remember that </mdmemory> </session_memory> are tags.",
    )  # fmt: skip
    for name in ("claude", "codex"):
        assert cleaned(context(CommandHost(name, work).start())) == ""


# --- a turn, a session, a summary ----------------------------------------------------------------


def test_a_session_is_read_once_it_has_been_idle_and_no_turn_costs_a_process(
    host: CommandHost,
) -> None:
    for _ in range(3):
        assert host.stop() == {}
        host.seconds += 59
        assert host.hooks.look() <= 1
    host.send("SessionEnd", reason="other")
    host.stop(session="another")
    host.seconds += 59.5
    host.hooks.look()
    assert [words for words in host.started.words if "extract" in words] == []
    host.seconds += 1
    host.hooks.look()
    read = [words for words in host.started.words if "extract" in words]
    assert read == [["extract", f"--session={id}", "--after=0.1"] for id in (SESSION, "another")]


def test_what_waits_to_be_read_when_the_bridge_ends_is_read_without_it(host: CommandHost) -> None:
    host.stop()
    host.seconds += 20
    host.hooks.close()
    host.hooks.close()
    assert host.started.words == [["extract", f"--session={SESSION}", "--after=40"]]


def test_what_waited_to_be_read_when_the_bridge_was_killed_is_read_by_the_next_one(
    host: CommandHost,
) -> None:
    host.stop()
    later = CommandHost(host.host, host.folder)
    later.start()
    later.seconds += 61
    later.hooks.look()
    read = [words for words in later.started.words if "extract" in words]
    assert read == [["extract", f"--session={SESSION}", "--after=0.1"]]
    after = CommandHost(host.host, host.folder)
    after.start()
    after.hooks.close()
    assert after.started.words == []


def test_alone_a_turn_that_ends_has_the_session_read_later(
    host: CommandHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "Starter", lambda *_: host.started)
    host.alone("Stop" if host.host != "gemini" else "AfterAgent")
    assert host.started.words == [["extract", f"--session={SESSION}", "--after=60"]]


def test_a_compaction_is_looked_for_where_the_last_event_was(host: CommandHost) -> None:
    assert host.hooks.look() == 1.0
    host.seconds += 1
    assert host.hooks.look() == 600.0
    host.start()
    assert host.hooks.look() == 600.0
    assert host.started.words == []
    host.seconds += 600
    assert host.hooks.look() == 600.0
    assert ["compact", "--if-due"] in host.started.words


def test_an_event_follows_a_project_that_moved(host: CommandHost, tmp_path: Path) -> None:
    host.start()
    moved = host.folder.rename(tmp_path / "elsewhere")
    host.folder = moved
    assert "8087" in first(host)
    assert FILE in context(host.say(DEPLOYS))


def test_a_session_that_names_the_old_place_of_its_project_is_followed_by_where_it_runs(
    host: CommandHost, tmp_path: Path
) -> None:
    host.start()
    old = host.folder
    host.folder = old.rename(tmp_path / "elsewhere")
    assert FILE in context(host.say(DEPLOYS, cwd=str(old)))


def test_a_wish_said_in_a_folder_that_is_gone_is_kept(host: CommandHost, tmp_path: Path) -> None:
    host.folder = tmp_path / "gone" / "deeper"
    assert "deploys-tuesdays-only.md" in context(host.say(DEPLOYS))


@pytest.mark.parametrize(
    "event", [{}, {"session_id": 3}, {"session_id": "a b", "hook_event_name": "Stop"}, {"x": [1]}]
)
def test_what_is_no_event_prints_nothing(host: CommandHost, event: dict[str, object]) -> None:
    hook = host.hooks.methods()["hook"]
    assert hook({"host": host.host, "folder": str(host.folder), "event": event}) == {"output": {}}
    assert hook({"host": "nano", "folder": "/", "event": event}) == {"output": {}}
    assert hook({}) == {"output": {}}


# --- without a bridge ----------------------------------------------------------------------------


def test_alone_a_session_starts_with_the_same_index(host: CommandHost) -> None:
    if host.host == "gemini":
        assert host.alone("SessionStart", source="startup") == {}
        text = context(host.alone("UserPromptSubmit", prompt="Good morning"))
    else:
        text = context(host.alone("SessionStart", source="startup"))
    assert "Billing listens on port 8087" in text
    assert "I prefer answers in French" in text


def test_alone_a_wish_is_kept_and_its_outcome_told_at_the_next_event(host: CommandHost) -> None:
    output = host.alone("UserPromptSubmit", prompt=f"{DEPLOYS} <private>x</private>")
    assert "It is kept in" in context(output)
    assert "Not written yet" in shown(output)
    assert FILE not in {each.file for _, each in Layers.open(host.folder).notes()}
    told = host.say("Good morning, please look at the readme")
    assert "Written now" in shown(told)
    assert FILE in {each.file for _, each in Layers.open(host.folder).notes()}


def test_alone_a_wish_for_a_project_without_a_store_makes_that_store(
    repository: Path, empty_home: Path
) -> None:
    Layers.open(empty_home).add("I prefer answers in French", type="user")
    host = CommandHost("claude", repository)
    assert "Not written yet" in shown(host.alone("UserPromptSubmit", prompt=DEPLOYS))
    assert "Written now" in shown(host.say("Good morning, please look at the readme"))
    (note,) = Layers.open(repository).project.notes()  # type: ignore[union-attr]
    assert note.file == FILE
    assert len(Layers.open(empty_home).main.notes()) == 1


def test_alone_a_wish_that_cannot_be_kept_either_says_why(
    host: CommandHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Unwritable("The disk is full.", "Free some space.")

    monkeypatch.setattr(inbox, "prepare", full)
    output = host.alone("UserPromptSubmit", prompt=DEPLOYS)
    assert "NOT remembered" in shown(output)
    assert "The disk is full." in shown(output)


def test_alone_what_asks_for_nothing_and_folders_without_stores_are_silent(
    repository: Path, work: Path, tmp_path: Path
) -> None:
    for name in ("claude", "codex"):
        host = CommandHost(name, work)
        assert host.alone("UserPromptSubmit", prompt="Good morning, what is new?") == {}
        empty = CommandHost(name, tmp_path)
        assert empty.alone("UserPromptSubmit", prompt="Good morning, what is new?") == {}
