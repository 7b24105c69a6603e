"""A session followed through the bridge's hooks: what it keeps, shows and tells, and when."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pace import HUNG
from plugin_host import PluginHost
from scripted import Scripted

from mdmemory.errors import BadTranscript, Busy
from mdmemory.hosts import following
from mdmemory.hosts.following import MOST, BySession
from mdmemory.hosts.opencode import hooks, watching
from mdmemory.hosts.opencode.hooks import HOOKS, PROTOCOL
from mdmemory.memory import Memory
from mdmemory.observe import queue
from mdmemory.observe.observations import Observations
from mdmemory.transcripts.turns import Transcript, Turn

Patch = pytest.MonkeyPatch
FAILED = "FAILED tests/test_a.py::test_x - assert 1 == 2"
WINDOW = {"model": "p/m", "limit": {"context": 108_000, "output": 8_000}}  # 100,000 to fill


class Host(PluginHost):
    """A client with sessions, which numbers its messages."""

    def __init__(self, project: Path) -> None:
        super().__init__(project, greets=False)
        self._number = 0

    def tell(self, text: str, session: str = "ses_1") -> list[str]:
        """A message of the user; what goes along with it."""
        self._number += 1
        return list(self.say(text, f"msg_{self._number}", session)["parts"])

    def answer(self, tokens: int, text: str = "", session: str = "ses_1", **more: Any) -> None:
        self._number += 1
        if text:
            self.ask("said", session, text=text)
        counts = {"input": tokens, "output": 0, "cache": {"read": 0, "write": 0}}
        message = f"msg_{self._number}"
        self.ask("answered", session, **{"message": message, "model": "p/m", "tokens": counts,
                                         **more})  # fmt: skip

    def run(self, command: str, output: str = "ok", code: int = 0, session: str = "ses_1") -> Any:
        return self.ask("tool", session, tool="bash", args={"command": command}, output=output,
                        exit=code).get("output")  # fmt: skip

    def prompt(self, session: str = "ses_1") -> str:
        return str(self.ask("system", session, **WINDOW)["text"])


@pytest.fixture
def host(project: Path) -> Host:
    return Host(project)


def configure(project: Path, **values: object) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    text = "\n".join(['store = "notes/memory"', "[session]", *lines, ""])
    (project / "mdmemory.toml").write_text(text, "utf-8")


def goal(host: Host) -> str:
    """What the tool answers that keeps a goal."""
    given = {"action": "write", "section": "goal", "text": "Ship it"}
    return str(host.ask("call", tool="session_memory", arguments=given)["text"])


def whole(shown: str) -> Path:
    """Where an output that is shown in part is kept."""
    return Path(shown.rpartition("the whole output: ")[2].removesuffix("]"))


def observe() -> None:
    """Let the person have observations kept."""
    file = Path.home() / ".config/mdmemory/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[observe]\nenabled = true\n", "utf-8")


Wrote = Callable[..., None]


@pytest.fixture
def transcript(monkeypatch: Patch) -> Wrote:
    """Lets the host's own database hold a session with these words of its user."""

    def write(*said: str) -> None:
        turns = tuple(Turn(f"msg_{n}", "user", text) for n, text in enumerate(said, 1))
        found = Transcript("ses_1", "A title", "", turns)
        monkeypatch.setattr(hooks, "transcript_of", lambda session: found)

    write()
    return write


def test_only_what_is_switched_on_is_forwarded(project: Path) -> None:
    def wanted() -> tuple[set[str], bool]:
        told = Host(project).ask("hello", protocol=PROTOCOL)
        tools = {each["name"] for each in told["tools"]}
        return {*told["hooks"]} - {*HOOKS}, "session_memory" in tools

    assert wanted() == ({"tool", "said", "answered"}, True)
    configure(project, memory=False)
    assert wanted() == (set(), False), "nor is there a tool for it"
    observe()
    assert wanted() == ({"tool"}, False)


def test_with_all_of_it_off_nothing_is_written(project: Path) -> None:
    configure(project, memory=False)
    host = Host(project)
    host.tell("Let's use semicolons.")
    host.answer(99_000, "[Decision: x is y]")
    assert (host.run("pytest", FAILED, 1), host.prompt()) == (None, "")
    host.ask("deleted")
    assert not (project / ".mdmemory/state.db").exists()


def test_what_is_kept_joins_the_prompt_at_the_next_epoch(
    host: Host, project: Path, transcript: Wrote
) -> None:
    assert host.prompt() == ""
    host.tell("Let's use semicolons as the separator.")
    host.run("pytest", FAILED, 1)
    assert "Ship it" in goal(host)
    assert host.prompt() == ""
    host.ask("compacted")
    text = host.prompt()
    for words in ("Ship it", f"[test] {FAILED}", "semicolons"):
        assert words in text
        assert words in Host(project).prompt(), "a restart begins an epoch, too"
    host.run("pytest", "1 passed")
    assert host.prompt() == text
    host.ask("compacted")
    assert "[test]" not in host.prompt()


def test_two_sessions_at_once_never_mix(host: Host, project: Path) -> None:
    for number in range(3):
        for session in ("ses_1", "ses_2"):
            host.run("pytest", f"FAILED {session} {number}", 1, session)
            host.tell(f"Let's use {session} for it.", session)
            host.answer(80_000 if session == "ses_1" else 10, session=session)
            entry = {"action": "add", "section": "todos", "text": f"{session} {number}"}
            host.ask("call", session, tool="session_memory", arguments=entry)
    again = Host(project)
    for mine, other in (("ses_1", "ses_2"), ("ses_2", "ses_1")):
        assert [each in again.prompt(mine) for each in (mine, other)] == [True, False]
    host.ask("deleted", "ses_2")
    third = Host(project)
    assert third.prompt("ses_2") == ""
    assert "ses_1" in third.prompt("ses_1")


def test_a_block_that_fails_takes_no_other_with_it(host: Host, monkeypatch: Patch) -> None:
    monkeypatch.setattr(following, "by_hand", Mock(side_effect=BadTranscript("It is broken.")))
    monkeypatch.setattr(following, "recall_observations", lambda *_: "what was seen")
    assert host.prompt() == "what was seen"
    assert "It is broken." in host.log.file.read_text("utf-8")


def test_the_words_of_another_agent_decide_nothing(host: Host, project: Path) -> None:
    host.ask("created", parent="ses_0")
    host.tell("Let's use semicolons as the separator.")
    assert "semicolons" not in Host(project).prompt()


def test_the_assistants_marks_are_kept_when_its_answer_is_whole(host: Host, project: Path) -> None:
    host.ask("said", text="[Decision: semicolons")
    host.ask("said", text="separate] [Decision: tabs separate the columns]")
    host.answer(10)
    host.answer(10, "[Decision: a summary decides nothing]", summary=True)
    text = Host(project).prompt()
    assert ("tabs separate the columns" in text, "a summary" in text) == (True, False)


def test_no_transcript_is_read_for_a_session_memory(host: Host, monkeypatch: Patch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(watching, "transcript_of", asked.append)
    goal(host)
    assert asked == []


def test_a_long_output_is_shown_in_part_and_what_is_no_text_stays(host: Host) -> None:
    seen = host.run("./run", "\n".join(f"line {number}" for number in range(5_000)))
    assert (len(seen.splitlines()) < 80, "line 4999" in seen) == (True, True)
    assert host.ask("tool", tool="jira_search", args={"query": "x"}, output=None) == {}
    assert host.ask("tool", tool="jira_search", args=[], output={"a": 1}, exit="1") == {}


LINES = "\n".join(f"line {number}" for number in range(200))


def test_a_whole_output_is_kept_after_the_answer(host: Host, monkeypatch: Patch) -> None:
    monkeypatch.setattr(watching, "REST", 0.01)
    file = whole(host.run("./run", LINES))
    is_soon(file.exists)
    assert file.read_text("utf-8") == LINES
    monkeypatch.setattr(watching, "REST", 0.2)
    host.run("./run", f"{LINES}\nmore")
    host.ask("deleted")
    time.sleep(0.3)
    assert list(file.parent.iterdir()) == []


def test_what_is_asked_goes_before_outputs_which_keep_their_order(monkeypatch: Patch) -> None:
    monkeypatch.setattr(watching, "REST", 0.01)
    monkeypatch.setattr(watching, "PATIENCE", HUNG)
    work, done = watching.Afterwards(), list[str]()

    def add(name: str) -> None:
        work.add("ses_1", 10, lambda problem: done.append(str(problem)), lambda: done.append(name))

    with work.answering():
        add("first")
        with work.answering():
            add("second")
        time.sleep(0.1)
        assert done == [], "an answer is under way"
    is_soon(lambda: done == ["first", "second"])
    monkeypatch.setattr(watching, "PATIENCE", 0.05)
    with work.answering():
        add("third")
        is_soon(lambda: done[2:] == ["third"])


def test_a_whole_output_that_is_lost_is_told_and_logged(host: Host, monkeypatch: Patch) -> None:
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(watching, "REST", 0.5)  # after the answer, on a busy machine too
    monkeypatch.setattr("mdmemory.session.storage.put_output", full)
    shown = host.run("./run", LINES)
    log = host.log.file
    is_soon(lambda: log.exists() and "No space left" in log.read_text("utf-8"))
    assert host.run("ls", session="ses_2") is None
    told = host.run("ls")
    assert (str(whole(shown)) in told, "is lost" in told) == (True, True)
    assert host.run("ls") is None
    monkeypatch.setattr(watching, "MAX_WAITING", 10)
    assert host.run("./run", LINES) is None, "too much waits: what fails at once stays whole"


def is_soon(true: Callable[[], bool]) -> None:
    end = time.monotonic() + HUNG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_state_may_be_deleted_at_any_moment(host: Host, project: Path) -> None:
    host.run("pytest", FAILED, 1)
    for file in (project / ".mdmemory").glob("state.db*"):
        file.unlink()
    host.run("pytest", "FAILED again", 1)
    text = Host(project).prompt()
    assert ("FAILED again" in text, FAILED in text) == (True, False)


def test_settings_count_from_the_next_call_on(host: Host, project: Path) -> None:
    assert host.run("./run", LINES)
    configure(project, memory=False)
    assert host.run("./run", LINES) is None


def test_a_full_context_is_told_once_for_each_level_in_the_next_turn(host: Host) -> None:
    host.prompt()
    host.answer(50_000)
    assert host.tell("One.") == []
    host.answer(75_000, message="msg_a")
    host.answer(99_000, message="msg_a")
    (line,) = host.tell("Two.")
    assert line.startswith("Context moderate: about 75% full.")
    assert host.tell("Three.") == []
    host.answer(96_000)
    assert host.run("ls", "a.py").startswith("a.py\n\nContext critical: about 96% full.")
    assert host.run("ls", "a.py") is None
    assert host.tell("Four.") == []


def test_the_newest_level_counts_until_a_compaction_and_a_restart_keeps_it(
    host: Host, project: Path, transcript: Wrote
) -> None:
    host.prompt()
    host.answer(75_000)
    host.answer(90_000)
    (line,) = host.tell("One.")
    assert line.startswith("Context high: about 90% full.")
    assert Host(project).tell("Two.") == []
    host.answer(99_000)
    host.ask("compacted")
    assert host.tell("Three.") == []


@pytest.mark.parametrize("tokens", [None, "many", {"input": -1}, {"input": True}, {"cache": 5}])
def test_counts_that_make_no_sense_are_none(host: Host, tokens: object) -> None:
    host.ask("system", model="p/m", limit={"context": "large", "output": None})
    host.ask("answered", message="msg_1", model="p/m", tokens=tokens)
    assert host.tell("One.") == []


DECIDED = "We decided to deploy on Tuesdays only, the on-call team is complete then."


def test_a_compaction_promotes_what_words_bear_out(
    host: Host, project: Path, transcript: Wrote
) -> None:
    transcript(DECIDED)
    host.tell(DECIDED)
    (file,) = host.ask("compacted")["saved"]
    assert Memory.open(project).note(file).note.head.session == "ses_1"
    assert host.ask("compacted")["saved"] == [], "once is enough"


def test_a_lost_summary_keeps_no_decision_back(
    host: Host, transcript: Wrote, monkeypatch: Patch
) -> None:
    def busy(memory: Memory, session: str, text: str, *said: Any, **shown: Any) -> Any:
        if text == "We spoke.":
            raise Busy("Another process holds the lock.")
        return take(memory, session, text, *said, **shown)

    take = Memory.summary
    transcript(DECIDED)
    host.tell(DECIDED)
    monkeypatch.setattr(Memory, "summary", busy)
    assert len(host.ask("compacted", summary="We spoke.")["saved"]) == 1
    assert "holds the lock" in host.log.file.read_text("utf-8")


def test_a_summary_is_told_what_stays_in_the_prompt(host: Host) -> None:
    assert len(host.ask("compacting")["context"]) == 1
    goal(host)
    _, kept = host.ask("compacting")["context"]
    assert ("Ship it" in kept, "need not repeat it" in kept) == (True, True)


def test_observations_are_worked_on_at_idle_and_shown_at_the_next_start(
    host: Host, project: Path
) -> None:
    observe()
    found = Memory.open(project).observations()
    text = "The billing service listens on port 8080 and talks to PostgreSQL 16."
    host.run("cat README", text)
    host.ask("tool", tool="memory_search", args={}, output=text)
    with found.state() as state:
        assert queue.waiting(state)["pending"] == 1
    host.ask("idle")
    assert ["session", "ses_1", "--work"] in host.started.words
    found.work()
    again = Host(project)
    assert "1 of 1 observations." in again.prompt()
    assert "1 of 1 observations." in "".join(again.ask("compacting")["context"])
    found = Memory.open(project).observations()
    host.run("cat LICENSE", "The license of the service is MIT, and that of its schema CC0.")
    (told,) = [each for each in host.ask("compacting")["context"] if "2 of 2 observ" in each]
    assert "The last summary" in told, "what is new since the last idle moment is in it"
    with found.state() as state:
        assert queue.waiting(state)["pending"] == 0


def test_no_compaction_waits_for_a_model(host: Host, monkeypatch: Patch) -> None:
    observe()
    monkeypatch.setattr(Observations, "_model", lambda self: Scripted())
    host.run("cat README", "The billing service listens on port 8080, says the README of it.")
    host.ask("compacting")
    assert host.started.words == [["session", "ses_1", "--work"]]


def test_a_value_is_made_once_for_its_session_and_again_after_it_was_dropped() -> None:
    texts, asked = BySession[str](), iter(range(10_000))
    make = lambda: f"text {next(asked)}"  # noqa: E731
    assert texts.get_or_make("a", make) == texts.get_or_make("a", make) == "text 0"
    assert texts.get_or_make("b", make) == "text 1"
    texts.drop("a")
    assert (texts.get_or_make("a", make), texts.get_or_make("b", make)) == ("text 2", "text 1")
    for number in range(MOST - 1):
        texts.get_or_make("b", make)
        texts.get_or_make(f"other {number}", make)
    assert texts.get_or_make("b", make) == "text 1", "one that is in use is not forgotten"
    assert len(texts._values) == MOST
