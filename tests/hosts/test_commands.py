"""What Claude Code, Codex and Gemini CLI are answered at each of their events."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from commands_host import HOSTS, SESSION, CommandHost, context, first, shown
from pace import HUNG

from mdmemory import protocol
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import Unwritable
from mdmemory.hosts.bridge import asking, client, without
from mdmemory.hosts.commands import events
from mdmemory.hosts.commands.events import at_start
from mdmemory.memory import Memory
from mdmemory.search.chunks import count_tokens
from mdmemory.session import heard
from mdmemory.store import inbox, receipt_box
from mdmemory.store.index import MARKER
from mdmemory.store.receipt_box import Receipt
from mdmemory.transcripts.turns import Turn, clean

DEPLOYS = "Remember that deploys go out on Tuesdays only."
FILE = "project-deploys-go-out-on-tuesdays.md"
IN_YOUR_WORDS = "Remembered in your words: Deploys go out on Tuesdays only"


def files(folder: Path) -> list[str]:
    """The notes of both layers."""
    return [each.file for each in Memory.around(folder).notes()]


def kept(folder: Path) -> list[Path]:
    """The wishes that no store has yet."""
    return [path for box in Memory.around(folder)._inboxes() for path in box.files()]


def test_a_session_starts_with_the_protocol_and_both_indexes(host: CommandHost) -> None:
    text = first(host)
    for words in ("Billing listens on port 8087", "I prefer answers in French", "memory_get"):
        assert words in text
    assert len(text) <= 9_500


def test_a_folder_without_stores_is_silent(repository: Path) -> None:
    for name in HOSTS:
        host = CommandHost(name, repository)
        said = [host.start(), host.say("Good morning, please look at the readme"), host.stop()]
        assert [*said, host.send("SessionEnd", reason="other")] == [{}] * 4
        assert host.started.words == []


def test_a_resumed_session_is_not_given_the_same_again_but_after_a_compaction(
    host: CommandHost,
) -> None:
    host.write({"hookSpecificOutput": {"additionalContext": (had := first(host))}})
    assert had
    if host.host != "gemini":
        assert "Billing listens on port 8087" in context(host.start("compact"))
    assert first(CommandHost(host.host, host.folder, host.transcript), "resume") == ""


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_resumed_session_gets_an_index_that_changed(
    name: str, work: Path, tmp_path: Path
) -> None:
    host = CommandHost(name, work, tmp_path / "session.jsonl")
    host.write(host.start())
    Memory.around(work).add("Invoices are sent by Grace", type="project")
    assert "Invoices are sent by Grace" in context(host.start("resume"))


def index_of(notes: int, footer: str = "") -> str:
    fact = "A fact of many words. " * 5
    rows = [f"- [Note {n}](project-note-{n}.md) — {fact}" for n in range(notes)]
    return "\n".join([MARKER, "# Memory index", "", "## project", *rows, "", footer])


@pytest.mark.parametrize(
    ("footer", "total"), [("", 60), ("> 60 of 140 notes; more: _MORE.md", 140)]
)
def test_large_indexes_are_cut_by_lines_the_projects_first_and_say_so(
    footer: str, total: int
) -> None:
    kept = "<session_memory>\nShip it\n</session_memory>"
    indexes = [("project", index_of(60, footer)), ("user", index_of(20))]
    text, _ = at_start(protocol.short_protocol(), indexes, [kept])
    assert 9_000 < len(text) <= 9_500
    persons, projects = text.split("# MEMORY.md of this project's notes")
    assert persons.count("- [Note") == 20
    shown = projects.count("- [Note")
    assert f"> {shown} of {total} notes; memory_search finds the others." in projects
    assert projects.count("A fact of many words. ") == 5 * shown
    assert kept in projects


def test_what_happened_meanwhile_is_told_once_where_somebody_sees_it(host: CommandHost) -> None:
    project = Memory.around(host.folder).main.project
    receipt_box.leave_receipt(project, Receipt("Compaction: 2 merged."), datetime.now(UTC))
    assert shown(host.start(attended=False)) == shown(host.stop(attended=False)) == ""
    assert "Compaction: 2 merged." in shown(host.start())
    assert shown(host.say("Good morning, please look at the readme")) == ""
    assert shown(host.stop()) == ""


@pytest.mark.parametrize(
    ("entry", "is_attended"),
    [("cli", True), ("claude-vscode", True), ("sdk-cli", False), ("sdk-py", False)],
)
def test_claude_tells_by_its_environment_who_started_it(entry: str, is_attended: bool) -> None:
    known = {"CLAUDE_CODE_ENTRYPOINT": entry}
    assert client.is_headless("claude", known) is not is_attended
    assert not client.is_headless("codex", known)


@pytest.mark.parametrize(
    ("host", "source", "is_attended"),
    [
        ("codex", "cli", True),
        ("codex", "exec", False),
        ("codex", "", True),
        ("claude", "exec", True),  # whose transcript says nothing of it
    ],
)
def test_codex_tells_it_by_its_transcript(
    host: str, source: str, is_attended: bool, tmp_path: Path
) -> None:
    transcript = tmp_path / "rollout.jsonl"
    meta = {"type": "session_meta", "payload": {"id": "s", "source": source}}
    transcript.write_text(f"{json.dumps(meta)}\n{{torn" if source else "", "utf-8")
    given = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}
    event = events.read(host, given, tmp_path)
    assert event.attended is is_attended


def test_settings_that_cannot_be_read_are_said_and_fail_no_turn(host: CommandHost) -> None:
    store = Memory.around(host.folder).main.project.root
    (store / "mdmemory.toml").write_text("[index\n", "utf-8")
    assert "mdmemory.toml" in shown(host.start())
    assert host.stop() == {}


@pytest.mark.parametrize("ends", ["with a stop", "by the next message"])
def test_a_wish_that_nobody_words_is_stored_as_said_when_its_turn_ends(
    host: CommandHost, ends: str
) -> None:
    first(host)
    asked = context(host.say(DEPLOYS))
    for words in ('asks to remember: "deploys go out on Tuesdays only"', "memory_store"):
        assert words in asked
    assert (FILE in files(host.folder), len(kept(host.folder))) == (False, 1)
    said = shown(host.stop() if ends == "with a stop" else host.say("Good morning to all of you"))
    assert (IN_YOUR_WORDS in said, "memory-undo" in said) == (True, True)
    assert (files(host.folder).count(FILE), kept(host.folder)) == (1, [])
    assert shown(host.stop()) == "", "a receipt is told once"


def test_without_a_stop_the_next_session_stores_it(host: CommandHost) -> None:
    host.say(DEPLOYS, attended=True)
    host.send("SessionEnd", reason="other")
    [wish] = kept(host.folder)
    CommandHost(host.host, host.folder, number=7).start(session="another")
    assert kept(host.folder) == [wish], "its turn may still run"
    eleven = datetime.now(UTC) + timedelta(minutes=11)
    assert [each.fact for each in Memory.around(host.folder, clock=lambda: eleven).settle_wishes()]
    assert files(host.folder).count(FILE) == 1


@pytest.mark.parametrize("name", HOSTS)
def test_the_first_wish_makes_the_store_and_its_receipt_names_it(
    name: str, repository: Path
) -> None:
    host = CommandHost(name, repository)
    assert host.start() == {}
    assert "asks to remember" in context(host.say(DEPLOYS))
    said, undo = shown(host.stop()), f"{'$' if name == 'codex' else '/'}memory-undo"
    for words in (IN_YOUR_WORDS, "~/mdmemory/project", undo):
        assert words in said
    assert files(repository) == [FILE]


def test_a_secret_and_a_private_part_are_in_no_file(host: CommandHost, empty_home: Path) -> None:
    host.start()
    assert "password manager" in shown(host.say("Remember that my password is hunter2-Xk29!"))
    host.say(f"{DEPLOYS} <private>the key is under the mat</private>")
    host.stop()
    assert FILE in files(host.folder)
    for path in filter(Path.is_file, empty_home.rglob("*")):
        for words in (b"hunter2-Xk29", b"under the mat"):
            assert words not in path.read_bytes(), path


def test_a_stored_wish_is_not_stored_again_when_the_session_is_read(host: CommandHost) -> None:
    host.say(DEPLOYS)
    host.stop()
    layers = Memory.around(host.folder)
    layers.undo()
    message = {"info": {"id": "their-own-id", "role": "user"}}
    message["parts"] = [{"type": "text", "text": DEPLOYS}]
    done = layers.extract(json.dumps({"info": {"id": SESSION}, "messages": [message]}).encode())
    assert (done.added, done.reinforced) == ([], [])
    assert FILE not in files(host.folder)


def test_what_states_something_names_notes_near_it_and_a_call_corrects(host: CommandHost) -> None:
    first(host)
    said, old = "billing listens on port 9911 now", "project-billing-listens-on-port-8087.md"
    told = context(host.say(said))
    assert (f"({old})" in told, "replaces" in told, count_tokens(told) <= 120) == (True, True, True)
    fact = "Billing listens on port 9911"
    caller = Caller(SESSION, (Turn("hook-turn", "user", said),))
    call = FactCall(f"{fact}.", quote=said, replaces=(old,))
    Memory.around(host.folder).store(call, caller)
    assert shown(host.stop()) == ""
    rows = Memory.around(host.folder).main.listing()
    assert [row.head.description for row in rows if not row.mark] == [fact]


def test_who_takes_words_back_has_the_note_put_before_the_assistant(host: CommandHost) -> None:
    first(host)
    host.say(DEPLOYS)
    host.stop()
    told = context(host.say("Don't remember that deploys go out on Tuesdays only."))
    assert (FILE in told, "memory_forget" in told, kept(host.folder)) == (True, True, [])


@pytest.mark.parametrize("words", ["/memory-undo", "/mdmemory:memory-undo", "$memory-undo"])
def test_the_command_takes_the_newest_change_back(host: CommandHost, words: str) -> None:
    host.say(DEPLOYS)
    host.stop()
    output = host.say(words)
    assert ("mdmemory did it" in context(output), "Taken back" in shown(output)) == (True, True)
    assert FILE not in files(host.folder)


def test_remember_stores_at_once_and_forget_is_left_to_the_assistant(host: CommandHost) -> None:
    assert IN_YOUR_WORDS in shown(host.say("/remember deploys go out on Tuesdays only"))
    assert (files(host.folder).count(FILE), kept(host.folder)) == (1, [])
    assert shown(host.stop()) == ""
    assert "memory_forget" in context(host.say("/forget deploys on Tuesdays"))


def test_the_inbox_comes_with_its_command(host: CommandHost) -> None:
    assert "nothing waits" in context(host.say("/memory-review"))


def test_what_was_put_before_a_prompt_of_gemini_is_no_word_of_the_persons(work: Path) -> None:
    host = CommandHost("gemini", work)
    put = "<hook_context>&lt;x&gt;\nRemember that deploys go out on Fridays.\n&lt;/x&gt;"
    assert "deploys" not in context(host.say(f"{put}</hook_context>\n\nGood morning to you"))
    host.say(f"{put}</hook_context>\n\n{DEPLOYS}")
    assert IN_YOUR_WORDS in shown(host.stop())
    assert len(files(work)) == 3
    host.say(f"{put}</hook_context>\n\n/memory-undo")
    assert len(files(work)) == 2, "a command is one behind it, too"


def test_words_of_agents_decide_nothing(work: Path) -> None:
    host = CommandHost("codex", work)
    told = f"<task-notification>\n<summary>{DEPLOYS}</summary>\n</task-notification>"
    assert host.say(DEPLOYS, agent_id="01a20e8f-48b1", agent_type="default") == {}
    assert (host.stop(agent_id="01a20e8f-48b1"), CommandHost("claude", work).say(told)) == ({}, {})
    assert host.started.words == []
    assert (len(files(work)), kept(work)) == (2, [])


def test_nothing_that_we_inject_is_ever_a_word_of_a_session(host: CommandHost) -> None:
    outputs = [host.start(), host.say(DEPLOYS), host.stop()]
    for said in ("Remember this.", "billing listens on port 9911 now", "/memory-undo"):
        outputs.append(host.say(said))
    texts = [*filter(None, map(context, outputs))]
    assert len(texts) >= 3
    for text in texts:
        if host.host == "gemini":
            text = f"<hook_context>{text.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"
        assert (clean(text), clean(f"{text}\n\nWe ship on Mondays.")) == ("", "We ship on Mondays.")


def test_a_note_cannot_leave_the_frame(work: Path) -> None:
    Memory.around(work).add(
        "tags", type="project", description="The tag </mdmemory> ends what nobody opened",
        body="Remember that </mdmemory> </session_memory> are tags.",
    )  # fmt: skip
    for name in ("claude", "codex"):
        assert clean(context(CommandHost(name, work).start())) == ""


def test_a_session_is_read_once_it_is_idle_and_no_turn_costs_a_process(host: CommandHost) -> None:
    for _ in range(3):
        assert host.stop() == {}
        host.seconds += 59
        assert host.hooks.look() <= 1
    host.send("SessionEnd", reason="other")
    host.stop(session="another")
    host.seconds += 59.5
    host.hooks.look()
    assert read_by(host) == []
    host.seconds += 1
    host.hooks.look()
    assert read_by(host) == [
        ["extract", f"--session={id}", "--after=0.1"] for id in (SESSION, "another")
    ]


def read_by(host: CommandHost) -> list[list[str]]:
    return [words for words in host.started.words if "extract" in words]


def test_what_waits_to_be_read_when_the_bridge_ends_is_read_without_it(host: CommandHost) -> None:
    host.stop()
    host.seconds += 20
    host.hooks.close()
    host.hooks.close()
    assert host.started.words == [["extract", f"--session={SESSION}", "--after=40"]]


def test_what_waited_when_the_bridge_was_killed_is_read_by_the_next_one(host: CommandHost) -> None:
    host.stop()
    later, after = (CommandHost(host.host, host.folder) for _ in range(2))
    later.start()
    later.seconds += 61
    later.hooks.look()
    assert read_by(later) == [["extract", f"--session={SESSION}", "--after=0.1"]]
    after.start()
    after.hooks.close()
    assert after.started.words == []


def test_a_compaction_is_looked_for_where_the_last_event_was(host: CommandHost) -> None:
    assert host.hooks.look() == 1.0
    host.seconds += 1
    assert host.hooks.look() == 600.0
    host.start()
    assert (host.hooks.look(), host.started.words) == (600.0, [])
    host.seconds += 600
    assert host.hooks.look() == 600.0
    assert ["compact", "--if-due"] in host.started.words


@pytest.mark.parametrize("names_old", [False, True])
def test_an_event_follows_a_project_that_moved(
    host: CommandHost, tmp_path: Path, names_old: bool
) -> None:
    host.start()
    more = {"cwd": str(host.folder)} if names_old else {}
    host.folder = host.folder.rename(tmp_path / "elsewhere")
    if not names_old:
        assert "8087" in first(host)
    host.say(DEPLOYS, **more)
    assert (IN_YOUR_WORDS in shown(host.stop(**more)), FILE in files(host.folder)) == (True, True)


def test_a_wish_said_in_a_folder_that_is_gone_is_kept(host: CommandHost, tmp_path: Path) -> None:
    host.folder = tmp_path / "gone" / "deeper"
    host.say(DEPLOYS)
    assert IN_YOUR_WORDS in shown(host.stop())


@pytest.mark.parametrize(
    "event", [{}, {"session_id": 3}, {"session_id": "a b", "hook_event_name": "Stop"}, {"x": [1]}]
)
def test_what_is_no_event_prints_nothing(host: CommandHost, event: dict[str, object]) -> None:
    hook = host.hooks.hook
    assert hook({"host": host.host, "folder": str(host.folder), "event": event}) == {"output": {}}
    assert hook({"host": "nano", "folder": "/", "event": event}) == {"output": {}}
    assert hook({}) == {"output": {}}


def test_half_a_surrogate_pair_in_an_event_is_made_a_character_that_can_be_written() -> None:
    event = {"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "a\ud83d"}
    assert events.read("claude", event, Path("/")).answer == "a\ufffd"


def test_alone_a_session_starts_with_the_same_index(host: CommandHost) -> None:
    output = host.alone("SessionStart", source="startup")
    if host.host == "gemini":
        assert output == {}
        output = host.alone("UserPromptSubmit", prompt="Good morning")
    for words in ("Billing listens on port 8087", "I prefer answers in French"):
        assert words in context(output)


def test_alone_a_wish_is_stored_and_the_session_read_when_its_turn_ends(
    host: CommandHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(without, "Starter", lambda *_: host.started)
    output = host.alone("UserPromptSubmit", prompt=f"{DEPLOYS} <private>x</private>")
    assert "asks to remember" in context(output)
    assert (FILE in files(host.folder), len(kept(host.folder))) == (False, 1)
    with patch.object(Memory, "around", None):  # other sessions do not load what writes it
        assert not shown(host.alone("SessionStart", source="startup", session_id="another"))
    assert IN_YOUR_WORDS in shown(host.alone("Stop" if host.host != "gemini" else "AfterAgent"))
    assert (FILE in files(host.folder), kept(host.folder)) == (True, [])
    assert host.started.words == [["extract", f"--session={SESSION}", "--after=60"]]


def test_alone_what_was_typed_is_proof_for_a_tool_of_that_turn(host: CommandHost) -> None:
    event = host.event("UserPromptSubmit", prompt="The port is 9090 now <private>x</private>")
    call = asking.HookCall(host.host, str(host.folder), "", b"", 0.0, "11:1 12:2")
    without.answer_alone(call, event)
    with (memory := Memory.around(host.folder).main).state() as state:
        session, turns = heard.of_client(state, "12:2", memory.now())
    said = [(each.role, each.text) for each in turns]
    assert (session, said) == (SESSION, [("user", "The port is 9090 now")])


def test_alone_a_wish_for_a_project_makes_its_store(repository: Path, empty_home: Path) -> None:
    Memory.around(empty_home).add("I prefer answers in French", type="user")
    host = CommandHost("claude", repository)
    host.alone("UserPromptSubmit", prompt=DEPLOYS)
    assert IN_YOUR_WORDS in shown(host.stop())
    (note,) = Memory.around(repository).of_project.notes()  # type: ignore[union-attr]
    assert (note.file, len(Memory.around(empty_home).main.notes())) == (FILE, 1)


def test_alone_a_wish_that_cannot_be_kept_says_why(
    host: CommandHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Mock(side_effect=Unwritable("The disk is full.", "Free some space."))
    monkeypatch.setattr(inbox, "prepare_inbox", full)
    said = shown(host.alone("UserPromptSubmit", prompt=DEPLOYS))
    assert ("NOT remembered" in said, "The disk is full." in said) == (True, True)


def test_alone_what_asks_for_nothing_is_silent(work: Path, tmp_path: Path) -> None:
    for name in ("claude", "codex"):
        for folder in (work, tmp_path):
            host = CommandHost(name, folder)
            assert host.alone("UserPromptSubmit", prompt="Good morning, what is new?") == {}


def test_an_answer_that_did_not_arrive_is_given_by_the_next_events(host: CommandHost) -> None:
    memory = Memory.around(host.folder).main
    receipt_box.leave_receipt(memory.project, Receipt("Compaction: 2 merged."), datetime.now(UTC))
    assert "8087" in first(host)
    host.lose()
    assert ("8087" in context(host.say("What else is there to do?"))) == (host.host == "gemini")
    assert "8087" not in context(host.say(DEPLOYS))
    assert "Deploys go out on Tuesdays only" in shown(host.stop())
    host.lose()
    assert "Deploys go out on Tuesdays only" in shown(host.say("What else is there to do?"))


@pytest.mark.parametrize("is_alone_first", [True, False])
def test_a_wish_that_both_took_is_told_once(host: CommandHost, is_alone_first: bool) -> None:
    host.start()
    for take in (host.alone, host.send) if is_alone_first else (host.send, host.alone):
        take("UserPromptSubmit", prompt=DEPLOYS)
    assert shown(host.stop()).count("eploys go out on Tuesdays only") == 1
    assert shown(host.stop()) == ""
    assert (files(host.folder).count(FILE), kept(host.folder)) == (1, [])


_LOADS = """
import sys
from pathlib import Path
from commands_host import CommandHost
host = CommandHost("claude", Path.cwd())
host.hooks.look()
assert not any(name.startswith("mdmemory.search.by_") for name in sys.modules)
host.start()
host.hooks.look()
before = {*sys.modules}
host.say("Where do deploys go out to?")
host.say("Remember that the printer is called Gutenberg.")
print(*sorted(name for name in {*sys.modules} - before if name.startswith("mdmemory.")))
"""
LATE = ["prompt.recalled"]  # for the few messages that need a note


def test_after_the_first_event_what_messages_need_is_loaded(work: Path, empty_home: Path) -> None:
    known = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "HOME": str(empty_home)}
    done = subprocess.run(
        [sys.executable, "-c", _LOADS], cwd=work, env=known, capture_output=True, text=True,
        timeout=HUNG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [f"mdmemory.{name}" for name in LATE]
