"""What a plugin's hooks are answered, and that nothing they ask can end or hold up the bridge."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pace import FULL, HUNG
from plugin_host import PluginHost

from mdmemory.errors import MdmemoryError, NoStore, Unwritable, UsageError
from mdmemory.hosts import background, following
from mdmemory.hosts.background import Log
from mdmemory.hosts.opencode import watching
from mdmemory.hosts.opencode.bridge import Bridge
from mdmemory.hosts.opencode.hooks import HOOKS, PROTOCOL
from mdmemory.memory import Memory
from mdmemory.store.state import State
from mdmemory.store.writer import Writer

Patch = pytest.MonkeyPatch
Git = Callable[..., str]
DEPLOYS = "Remember that deploys go out on Tuesdays only."
FILE = "project-deploys-go-out-on-tuesdays.md"


class Plugin(PluginHost):
    """A plugin that says hello where a test does."""

    def __init__(self, project: Path) -> None:
        super().__init__(project, greets=False)

    def turn(self, text: str) -> list[str]:
        """A message and the end of its turn: the notes that are new."""
        before = notes()
        self.say(text)
        self.ask("idle")
        return [file for file in notes() if file not in before]


@pytest.fixture
def plugin(project: Path, monkeypatch: Patch) -> Plugin:
    monkeypatch.chdir(project)
    return Plugin(project)


def notes() -> list[str]:
    return sorted(path.name for path in Path("notes/memory").glob("[!M_]*.md"))


def kept() -> list[str]:
    """The wishes that wait for the end of their turn."""
    return sorted(path.name for path in Path("notes/memory/.inbox").glob("wish-*"))


def test_what_a_message_asks_for_is_kept_when_the_answer_comes_and_stored_when_the_turn_ends(
    plugin: Plugin, project: Path, git: Git
) -> None:
    answer = plugin.say(DEPLOYS)
    assert 'asks to remember: "deploys go out on Tuesdays only"' in answer["parts"][0]
    assert (answer["saved"], notes(), len(kept())) == ([], [], 1)
    plugin.ask("idle")
    assert kept() == []
    Memory.open(project).index()
    note = git(project, "show", f"HEAD:notes/memory/{FILE}")
    assert ("source: explicit" in note, "turn: msg_1" in note) == (True, True)
    assert FILE in git(project, "show", "HEAD:notes/memory/MEMORY.md")


def test_what_asks_for_nothing_writes_nothing(plugin: Plugin, project: Path, git: Git) -> None:
    before = git(project, "rev-parse", "HEAD")
    assert plugin.say("How do I list files?") == {"parts": [], "saved": []}
    assert plugin.ask("message", message="msg_2", parts=[]) == {"parts": [], "saved": []}
    assert git(project, "rev-parse", "HEAD") == before


@pytest.mark.parametrize("trouble", ["merge", "git", "disk"])
def test_a_wish_that_cannot_be_stored_yet_is_stored_once_when_it_can(
    plugin: Plugin, project: Path, monkeypatch: Patch, trouble: str
) -> None:
    plugin.say(DEPLOYS)
    file = project / ".git" / ("MERGE_HEAD" if trouble == "merge" else "HEAD")
    before = file.read_bytes() if file.exists() else None
    with monkeypatch.context() as patched:
        if trouble == "disk":
            patched.setattr(Writer, "write", Mock(side_effect=Unwritable("The disk is full.")))
        else:
            broken = "neither a branch nor a commit" if trouble == "git" else "1" * 40
            file.write_text(f"{broken}\n", "ascii")
        assert plugin.ask("idle") == {}
        assert len(notes()) + len(kept()) == 1, "it is in one of the two"
    file.unlink() if before is None else file.write_bytes(before)
    plugin.say("Hello", "msg_2")
    assert (notes(), kept()) == ([FILE], [])


def test_a_wish_is_stored_with_models_switched_off(plugin: Plugin, monkeypatch: Patch) -> None:
    monkeypatch.setenv("MEMORY_EXTRACT_ENABLED", "0")
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    assert plugin.turn(DEPLOYS) == [FILE]


def test_only_the_users_own_words_count(plugin: Plugin) -> None:
    plugin.say(DEPLOYS, synthetic=True)
    plugin.ask("created", "ses_1", parent="ses_0")
    assert plugin.say(DEPLOYS)["parts"] == [], "a sub-agent is told by another agent"
    plugin.ask("idle")
    assert (notes(), kept(), plugin.started.words) == ([], [], [])


def test_a_block_is_frozen_until_a_compaction_or_a_start(
    plugin: Plugin, monkeypatch: Patch
) -> None:
    counted = iter(range(10))
    monkeypatch.setattr(following, "recall_observations", lambda *_: f"block {next(counted)}")
    assert plugin.ask("system") == plugin.ask("system") == {"text": "block 0"}
    assert plugin.ask("system", "ses_2") == {"text": "block 1"}
    plugin.say("Good morning")
    assert plugin.ask("system") == {"text": "block 0"}
    with pytest.raises(MdmemoryError):
        plugin.ask("compacted")  # there is no host here to take a summary from
    assert plugin.ask("system") == {"text": "block 2"}


def test_a_summary_is_asked_for_candidates_and_told_the_notes(plugin: Plugin) -> None:
    plugin.turn(DEPLOYS)
    (context,) = plugin.ask("compacting")["context"]
    for words in ("Memory candidates:", "[M1] deploys-go-out-on-tuesdays"):
        assert words in context


def test_a_call_reaches_the_table_of_tools_and_null_is_a_parameter_left_out(plugin: Plugin) -> None:
    plugin.turn(DEPLOYS)
    arguments = {"query": "deploys", "max_results": None}
    answer = plugin.ask("call", tool="memory_search", arguments=arguments)
    assert FILE in answer["text"]
    with pytest.raises(UsageError, match="no tool"):
        plugin.ask("call", tool="memory_burn")


def test_hello_gives_the_tools_and_refuses_another_protocol(plugin: Plugin) -> None:
    told = plugin.ask("hello", protocol=PROTOCOL)
    assert "memory_search" in [each["name"] for each in told["tools"]]
    assert {*HOOKS, *watching.HOOKS} == set(told["hooks"])
    (index,) = told["instructions"]
    assert index.endswith("/notes/memory/MEMORY.md")
    with pytest.raises(UsageError, match="protocol"):
        plugin.ask("hello", protocol=PROTOCOL + 1)


def test_without_its_store_it_has_no_tools_and_a_line_says_why(
    plugin: Plugin, project: Path
) -> None:
    (project / "notes/memory").rename(project / "notes/elsewhere")
    assert plugin.ask("hello", protocol=PROTOCOL)["tools"] == []
    with pytest.raises(NoStore):
        plugin.say("How do I list files?")
    assert "is not there" in plugin.log.file.read_text("utf-8")
    assert plugin.log.file.is_relative_to(Path.home())


def test_an_idle_session_is_read_by_its_own_process(plugin: Plugin, monkeypatch: Patch) -> None:
    plugin.ask("idle")
    monkeypatch.setenv("MEMORY_EXTRACT_DEBOUNCE_MS", "500")
    plugin.ask("idle", "-x")
    plugin.ask("deleted")
    assert plugin.started.words == [
        ["extract", "--session=ses_1", "--after=60"], ["extract", "--session=-x", "--after=0.5"],
    ]  # fmt: skip


def test_a_compaction_that_is_due_is_begun_soon_after_the_start_and_then_now_and_then(
    plugin: Plugin, project: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("MEMORY_COMPACT_POLL_MS", "90000")
    assert (plugin.hooks.look(), plugin.started.words) == (1, [])
    assert plugin.hooks.look() == 90
    with background.hold_background(Memory.open(project).project):
        plugin.hooks.look()
    assert plugin.started.words == [["compact", "--if-due"]]


def test_the_log_is_bounded_and_holds_no_secret(project: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(background, "MAX_BYTES", 2_000)
    found, log, token = Memory.open(project).project, Log(), "ghp_" + "a1B2" * 9
    log.belongs_to(found)
    assert background.recent_errors(found) == []
    for _ in range(2):
        log.failure("call", MdmemoryError(f"It is {token}.", "Try\nagain."))
    text = log.file.read_text("utf-8")
    assert (token in text, len(text.splitlines())) == (False, 1)
    for number in range(100):
        log.failure("call", ValueError(f"in confidence {number}"))
        log.say(f"line {number}")
    text = log.file.read_text("utf-8")
    assert ("in confidence" in text, len(text) < 2_300) == (False, True)
    assert text.endswith("line 99\n")
    (finding,) = background.recent_errors(found)
    assert "line 99" in finding
    os.utime(log.file, (0, 0))
    assert background.recent_errors(found) == []


def test_what_is_no_trouble_is_not_told_as_one(project: Path) -> None:
    found, log = Memory.open(project).project, Log()
    log.belongs_to(found)
    written = "Written now, as it was asked for earlier: project-a.md."
    log.say(written)
    with log.file.open("a", encoding="utf-8") as file:
        file.write(f"mdmemory: {written}\n")
        file.write("mdmemory: There is no session s1. `mdmemory session` shows those.\n")
    assert background.recent_errors(found) == []
    log.say("The disk is full.")
    (finding,) = background.recent_errors(found)
    assert "The disk is full." in finding


def test_the_log_is_not_written_through_a_link(project: Path, tmp_path: Path) -> None:
    found, log, victim = Memory.open(project).project, Log(), tmp_path / "victim"
    victim.write_text("theirs", "utf-8")
    (found.prepare_private() / "bridge.log").symlink_to(victim)
    log.belongs_to(found)
    log.say("ours")
    assert (victim.read_text("utf-8"), background.recent_errors(found)) == ("theirs", [])


class Process:
    """A real bridge, asked line by line."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self.popen = popen
        self._next = 0

    def send(self, method: str, **params: Any) -> int:
        self._next += 1
        self.write(json.dumps({"id": self._next, "method": method, "params": params}).encode())
        return self._next

    def write(self, line: bytes) -> None:
        self.popen.stdin.write(line + b"\n")
        self.popen.stdin.flush()

    def read(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.popen.stdout.readline())
        return answer

    def ask(self, method: str, **params: Any) -> Any:
        id = self.send(method, **params)
        answer = self.read()
        assert answer["id"] == id
        return answer.get("result", answer.get("error"))


@contextmanager
def bridge(project: Path, **more: str) -> Iterator[Process]:
    popen = subprocess.Popen(
        [sys.executable, "-P", "-m", "mdmemory", "bridge"], cwd=project, env={**os.environ, **more},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with popen:
        try:
            yield Process(popen)
        finally:
            popen.kill()


def said(text: str, message: str = "msg_1", session: str = "ses_1") -> dict[str, Any]:
    return {"session": session, "message": message, "parts": [{"type": "text", "text": text}]}


def test_no_line_ends_the_bridge_and_each_is_answered(project: Path) -> None:
    with bridge(project) as process:
        for line in (b"", b"{", b"[]", b"\xff", b"null", b'{"id": [1]}', b"[" * 100_000):
            process.write(line)
            assert process.read()["error"]["code"] == "usage"
        assert process.ask("fly")["code"] == "usage"
        assert process.ask("message", session=1)["code"] == "usage"
        assert process.ask("message", **said("x") | {"parts": [1, {"text": 2}]})["saved"] == []
        assert process.ask("hello", protocol=PROTOCOL)["protocol"] == PROTOCOL
        assert (process.ask("dispose"), process.popen.wait(timeout=HUNG)) == ({}, 0)


@pytest.mark.parametrize("end", ["eof", "term", "disabled"])
def test_the_bridge_goes_when_its_host_does(project: Path, end: str) -> None:
    more = {"MDMEMORY_DISABLE": "1"} if end == "disabled" else {}
    with bridge(project, **more) as process:
        if end == "eof":
            process.send("message", **said(DEPLOYS))
            process.send("message", **said("Remember that shelf 2 is full.", session="ses_2"))
            process.popen.stdin.close()
        elif end == "term":
            process.ask("hello", protocol=PROTOCOL)
            process.popen.send_signal(signal.SIGINT)
            assert process.ask("system", session="ses_1") == {"text": ""}
            process.popen.send_signal(signal.SIGTERM)
        assert process.popen.wait(timeout=HUNG) == 0
    if end == "eof":
        stored = sorted(path.name for path in (project / "notes/memory").glob("project-*"))
        assert stored == [FILE, "project-shelf-2-is-full.md"], "what was asked for is stored"


def test_the_end_waits_until_a_whole_output_is_kept(project: Path) -> None:
    lines = "\n".join(f"line {number}" for number in range(500))
    with bridge(project) as process:
        used = {"tool": "bash", "args": {"command": "./run"}, "output": lines, "exit": 0}
        shown = process.ask("tool", session="ses_1", **used)["output"]
        process.popen.send_signal(signal.SIGTERM)
        assert process.popen.wait(timeout=HUNG) == 0
    file = Path(shown.rpartition("the whole output: ")[2].removesuffix("]"))
    assert file.read_text("utf-8") == lines


def test_without_git_what_was_asked_for_is_stored(project: Path, tmp_path: Path) -> None:
    with bridge(project, PATH=str(tmp_path)) as process:
        assert "asks to remember" in process.ask("message", **said(DEPLOYS))["parts"][0]
        assert process.ask("idle", session="ses_1") == {}
    assert (project / "notes/memory" / FILE).exists()
    log = project / ".mdmemory/bridge.log"
    assert "git is not installed" in log.read_text("utf-8")


def test_what_a_killed_bridge_kept_is_stored_by_the_next_one(project: Path) -> None:
    with bridge(project) as process:
        process.ask("message", **said(DEPLOYS))
        process.popen.kill()
    assert not (project / "notes/memory" / FILE).exists()
    with bridge(project) as process:
        process.ask("message", **said("hello", "msg_2"))
    assert (project / "notes/memory" / FILE).exists()


def test_a_long_call_holds_up_no_hook(project: Path) -> None:
    fact = {"fact": "The cat of the office is called Tom."}
    with bridge(project) as process, Memory.open(project).opened.writer().lock_store():
        process.send("call", session="ses_1", tool="memory_store", arguments=fact)
        time.sleep(0.3)
        hook = process.send("system", session="ses_1")
        assert process.read()["id"] == hook


@pytest.mark.slow
def test_a_bridge_stays_small_over_many_turns(project: Path) -> None:
    def resident() -> int:
        status = Path(f"/proc/{process.popen.pid}/status").read_text("utf-8")
        return int(status.partition("VmRSS:")[2].split()[0])

    if not Path("/proc/self/status").exists():
        pytest.skip("how much memory a process has is read from /proc, which Linux alone has")
    with bridge(project) as process:
        for number in range(1_000 if FULL else 200):
            session = f"ses_{number // 4}"
            process.ask("message", **said(f"Question {number}" * 200, f"msg_{number}", session))
            process.ask("system", session=session)
            if number == 100:
                early = resident()
        assert resident() < early + 3_000, "kilobytes"


def test_turns_that_were_heard_are_remembered_up_to_a_bound(plugin: Plugin, project: Path) -> None:
    memory = Memory.open(project)
    with State(memory.project.prepare_private() / "state.db") as state:
        state.set_watermark("ses_1", " ".join(f"msg_{n}" for n in range(300)), "answered")
    plugin.say(DEPLOYS, "msg_300")
    with State(memory.project.private / "state.db") as state:
        turns = (state.watermark("ses_1", "answered") or "").split()
    assert (len(turns), "msg_300" in turns) == (200, True)


# A bridge with one method, which hangs.
BRIDGE = """
import threading
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.cli import main, serving
serving.GRACE = 0.1
Hooks.methods = lambda self: {"hang": lambda _: print(threading.Event().wait())}
main(["bridge"])
"""
# Starts that, with its own streams, and is gone when it may.
HOST = """
import os, subprocess, sys
started = subprocess.Popen([sys.executable, "-P", "-c", sys.argv[1]])
os.read(int(sys.argv[2]), 1)
os._exit(0)
"""
ASKED = b'{"id": 1, "method": "hang"}\n'


def test_a_bridge_that_hangs_ends_when_its_input_is_closed() -> None:
    words = [sys.executable, "-P", "-c", BRIDGE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(ASKED)
        process.stdin.close()
        assert process.wait(HUNG) == 1


@pytest.mark.slow
def test_a_bridge_that_hangs_ends_when_its_host_is_gone_and_the_input_is_not() -> None:
    asked, ask = os.pipe()
    answered, answer = os.pipe()
    going, go = os.pipe()
    words = [sys.executable, "-P", "-c", HOST, BRIDGE, str(going)]
    with subprocess.Popen(words, stdin=asked, stdout=answer, pass_fds=(going,)):
        os.close(answer)
        os.write(ask, b"{}\n")
        assert b"usage" in os.read(answered, 1000)  # it has started
        os.write(ask, ASKED)
        os.write(go, b".")
    # nobody else holds the other end of what it answers through
    assert select.select([answered], [], [], HUNG)[0]
    assert os.read(answered, 1) == b""
    for handle in (asked, ask, answered, going, go):
        os.close(handle)


def answers(*lines: bytes, result: Any = None) -> list[bytes]:
    """What a bridge says to these lines, line by line."""
    source, given = os.pipe()
    told, sink = os.pipe()
    os.write(given, b"".join(line + b"\n" for line in lines))
    os.close(given)
    Bridge(
        source, sink, {"echo": lambda params: result or params}, failed=lambda *_: None,
        tick=lambda: 60.0,
    ).serve()  # fmt: skip
    os.close(sink)
    with os.fdopen(told, "rb") as stream:
        said = stream.read().splitlines()
    os.close(source)
    return said


def strict(line: bytes) -> Any:
    """A line as every reader but Python's takes it."""
    return json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999"])
def test_a_number_that_is_none_breaks_no_answer(number: bytes) -> None:
    said = answers(
        b'{"id": %s, "method": "echo"}' % number,
        b'{"id": 1, "method": "echo", "params": {"x": [%s]}}' % number,
        b'{"id": 2, "method": "echo", "params": {"x": 1.5}}',
    )
    *refused, third = map(strict, said)
    assert [each["error"]["code"] for each in refused] == ["usage", "usage"]
    assert third == {"id": 2, "result": {"x": 1.5}}


def test_a_result_that_holds_no_number_is_an_error_of_that_request() -> None:
    (line,) = answers(b'{"id": 7, "method": "echo"}', result={"score": float("nan")})
    assert (strict(line)["id"], strict(line)["error"]["code"]) == (7, "unexpected")
