"""A hook asks its folder's bridge; whatever that does, it ends in time with JSON or nothing."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pace import HUNG

from mdmemory.config import person
from mdmemory.hosts.bridge import asking, client, without
from mdmemory.hosts.bridge.without import Alone
from mdmemory.version import VERSION

MDMEMORY = [sys.executable, "-P", "-m", "mdmemory"]
ALONE, NOTHING = b'{"alone": true}', b'{"result": {"output": {}}}\n'
START, SAID = b'{"hook_event_name": "SessionStart"}', b'{"hook_event_name": "UserPromptSubmit"}'


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders for which a bridge would have been started; what needs none is done alone."""
    folders: list[str] = []
    monkeypatch.setattr(without, "start_bridge", lambda _, folder, rest: folders.append(folder))
    monkeypatch.setattr(without, "answer_alone", lambda *_: Alone({"alone": True}))
    return folders


@contextmanager
def bridge(
    path: Path, answer: Callable[[socket.socket], object], folder: str = "/project"
) -> Iterator[None]:
    """A process of ours at the socket `path`, to which the map leads from a folder; `answer` is
    called for each connection."""
    enter(path, folder)
    with socket.socket(socket.AF_UNIX) as listener:
        asking.call_with_short_path(str(path), listener.bind)
        listener.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(HUNG)
    path.unlink()


def line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        data += connection.recv(1 << 16)
    return data


def says(text: bytes) -> Callable[[socket.socket], None]:
    """A bridge that answers each request with `text`."""

    def answer(connection: socket.socket) -> None:
        line(connection)
        connection.sendall(text)

    return answer


def entry_of(folder: str = "/project", store: str = "") -> asking.MapEntry:
    return asking.MapEntry(os.environ, folder, store)


def enter(path: Path, folder: str = "/project") -> None:
    """Let the map name the socket `path` for a folder."""
    entry = entry_of(folder)
    Path(entry.folder).mkdir(parents=True, exist_ok=True)
    Path(entry.file).write_bytes(entry.text(str(path)))


def ask(data: bytes = SAID, folder: str = "/project", host: str = "claude") -> bytes:
    event = asking.HookCall(host, folder, "", data, time.monotonic())
    return client.event_output(event, os.environ)


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        (b'{"result": {"output": {"systemMessage": "}}"}}}\n', b'{"systemMessage": "}}"}'),
        (b'{"result": {"output": {}}}\n', b""),
        (b'{"error": {"code": "unexpected", "message": ""}}\n', b""),
        (b'{"result": {"outp', ALONE),  # it was killed meanwhile
        (b"", ALONE),
    ],
)
def test_the_output_is_what_the_bridge_says(
    tmp_path: Path, started: list[str], answer: bytes, output: bytes
) -> None:
    with bridge(tmp_path / "s", says(answer)):
        assert ask() == output
    assert started == []


def test_the_bridge_gets_the_event_in_one_line_however_it_was_written(tmp_path: Path) -> None:
    lines: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        lines.append(line(connection))
        connection.sendall(NOTHING)

    event = {"prompt": "zwei\nZeilen – \ud83d", "tool": {"a": [1, 2.5, None]}}
    folder = 'ein "Ordner"\\\n\udcff'
    with bridge(tmp_path / "s", answer, folder):
        ask(json.dumps(event, indent=2).encode(), folder, "gemini")
    (got,) = lines
    params = {"host": "gemini", "folder": folder, "store": "", "client": "", "event": event}
    assert json.loads(got) == {"version": VERSION, "method": "hook", "params": params}
    assert got.count(b"\n") == 1


def test_a_socket_whose_path_is_too_long_for_the_system_is_reached(tmp_path: Path) -> None:
    here, folder = os.getcwd(), tmp_path / ("long" * 40)
    folder.mkdir()
    with bridge(folder / "s", says(b'{"result": {"output": {"a": 1}}}\n')):
        assert ask() == b'{"a": 1}'
    assert os.getcwd() == here


def test_only_what_the_standard_library_has_at_hand_is_loaded_for_a_bridges_answer() -> None:
    dear = {"json", "socket", "argparse", "pathlib", "typing", "re", "enum", "subprocess"}
    load = "from mdmemory.hosts.bridge import client; import sys"
    # -S: what an installation loads by itself is not ours
    words = [sys.executable, "-S", "-c", f"{load}; print({dear!r} & {{*sys.modules}})"]
    root = Path(client.__file__).parents[3]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True, timeout=HUNG)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("data", [START, SAID])
def test_an_event_that_the_bridge_does_not_answer_in_time_is_served_without_it(
    tmp_path: Path, started: list[str], monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(asking, "ASKING", 0.1)
    may_end = threading.Event()
    with bridge(tmp_path / "s", lambda _: may_end.wait(HUNG)):
        assert ask(data) == ALONE
        may_end.set()
    assert started == [], "it is there, and busy"


def test_a_process_of_another_user_gets_nothing(
    tmp_path: Path, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []
    monkeypatch.setattr(asking, "peer_user", lambda _: os.geteuid() + 1)
    with bridge(tmp_path / "s", lambda connection: heard.append(connection.recv(1))):
        assert ask() == ALONE
    assert (heard, started) == ([b""], ["/project"])


@pytest.mark.parametrize("left", ["nothing", "a socket", "a file", "a folder"])
def test_an_entry_that_leads_nowhere_is_none(tmp_path: Path, started: list[str], left: str) -> None:
    path = tmp_path / "s"
    if left == "a socket":
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(path))
    elif left != "nothing":
        path.write_text("") if left == "a file" else path.mkdir()
    enter(path)
    assert (ask(), started) == (ALONE, ["/project"])


def test_a_folder_of_the_same_checksum_and_a_named_store_are_others(tmp_path: Path) -> None:
    enter(tmp_path / "s", "/other")
    Path(entry_of("/other").file).rename(entry_of().file)
    assert entry_of().socket() == ""
    enter(tmp_path / "s")
    assert (entry_of().socket(), entry_of(store="/another").socket()) == (str(tmp_path / "s"), "")


@pytest.mark.parametrize("named", ["", "relative", "/absolute"])
def test_the_map_lies_in_the_persons_state_folder(named: str) -> None:
    environment = {"XDG_STATE_HOME": named}
    assert asking.state_folder(environment) == str(person.state_folder(environment))


def test_the_end_of_a_session_starts_none(started: list[str]) -> None:
    assert (ask(b'{"hook_event_name": "SessionEnd"}'), started) == (ALONE, [])


def test_a_session_starts_with_the_bridge_that_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([False, False, False])

    def until_there(_: object, is_late: Callable[[], bool]) -> bool:
        if next(looks, True):
            enter(tmp_path / "s")
        return not is_late()

    monkeypatch.setattr(without, "wait_briefly", until_there)
    with bridge(tmp_path / "s", says(b'{"result": {"output": {"a": 1}}}\n')):
        Path(entry_of().file).unlink()
        assert ask(START) == b'{"a": 1}'


def test_a_message_and_the_end_of_its_turn_are_answered_by_the_bridge_that_they_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_first(data: bytes) -> bytes:
        Path(entry_of().file).unlink(missing_ok=True)
        return ask(data)

    monkeypatch.setattr(without, "start_bridge", lambda *_: enter(tmp_path / "s") or Mock())
    with bridge(tmp_path / "s", says(NOTHING)):
        assert ask_first(SAID) == b"", "the bridge says what came of it"
        assert ask_first(b'{"hook_event_name": "Stop"}') == b""
        refused = Alone({"alone": True}, is_refused=True)
        monkeypatch.setattr(without, "answer_alone", lambda *_: refused)
        assert ask_first(SAID) == ALONE, "what is to be typed once more is not done meanwhile"


def test_a_session_whose_bridge_does_not_come_starts_without(
    started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ASKING", 0.1)
    monkeypatch.setattr(without, "_WAITED", 0.05)
    assert (ask(START), started) == (ALONE, ["/project"])


@pytest.mark.slow
def test_where_none_can_be_started_the_event_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(without, "start_bridge", full)
    assert [ask(SAID), ask(START)] == [ALONE, ALONE]


def test_what_is_no_event_is_answered_by_nothing(started: list[str]) -> None:
    for data in (b"hello", b"[]", b"{", b"\0", b'{"a": "\0"}', b"\xff", b"[" * 9999):
        assert (ask(data), started) == (b"", []), data[:20]


def test_an_event_is_read_whole_and_one_that_is_too_long_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for sent, read in (([b"\xef\xbb\xbf {", b"}\n"], b"{}"), ([b"x" * client.MOST, b"x"], b"")):
        parts = iter([*sent, b""])
        monkeypatch.setattr(client, "os", Mock(read=lambda *_, parts=parts: next(parts)))
        assert client._read() == read


@pytest.mark.parametrize(("entry", "is_marked"), [("cli", False), ("sdk-cli", True)])
def test_an_event_of_a_client_that_a_program_started_says_so(
    entry: str, is_marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[asking.HookCall] = []
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", entry)
    monkeypatch.setattr(client, "_read", lambda: START)
    monkeypatch.setattr(client, "_thread", Mock())  # which would end this process
    monkeypatch.setattr(client, "event_output", lambda event, _: asked.append(event) or b"")
    client.answer_event("claude", "")
    (event,) = asked
    assert (b'"attended": false' in event.data) is is_marked


def hook(*words: str, cwd: Path, **more: Any) -> tuple[int, bytes, bytes]:
    """How the command ends, and what it prints to both streams."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    done = subprocess.run(
        [*MDMEMORY, "hook", *words], cwd=cwd, check=False, timeout=HUNG, **streams
    )
    return done.returncode, done.stdout, done.stderr


SILENT = (0, b"", b"")


def test_where_there_is_no_store_a_hook_says_nothing(tmp_path: Path) -> None:
    for said in (START, SAID, b'{"hook_event_name": "Stop"}', b"", b"nonsense", b"\xff\0"):
        assert hook("codex", cwd=tmp_path, input=said) == SILENT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "said"), [({}, START), ({"MDMEMORY_DISABLE": "1"}, b"")], ids=["on", "off"]
)
def test_a_hook_whose_client_never_ends_the_event_ends_by_itself(
    tmp_path: Path, more: dict[str, str], said: bytes
) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, said)
    assert hook("claude", cwd=tmp_path, stdin=ours, env={**os.environ, **more}) == SILENT
    os.close(ours)
    os.close(theirs)


def test_a_client_that_has_closed_the_streams_or_its_folder_gets_no_error(tmp_path: Path) -> None:
    words = " ".join(MDMEMORY)
    for script in (
        f"{words} hook claude <&- >&- 2>&-",
        f"mkdir gone; cd gone; rmdir ../gone; echo '{{}}' | {words} hook claude",
        f"echo '{{}}' | {words} hook claude >/dev/full",
    ):
        done = subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False, timeout=HUNG
        )
        assert (done.returncode, done.stdout, done.stderr) == SILENT, script


def test_a_host_that_is_not_known_is_named_and_stops_no_turn(tmp_path: Path) -> None:
    for words in (["copilot"], []):
        code, said, errors = hook(*words, cwd=tmp_path, input=START)
        assert (code, said, errors.count(b"\n")) == (0, b"", 1)
        assert b"claude, codex, gemini" in errors


def test_a_person_who_types_it_is_told_what_it_is_for(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    code, _, errors = hook("claude", cwd=tmp_path, stdin=theirs)
    os.close(ours)
    os.close(theirs)
    assert (code, b"`mdmemory setup` connects them." in errors) == (2, True)
    code, said, _ = hook("--help", cwd=tmp_path)
    assert (code, b"HOST" in said) == (0, True)
