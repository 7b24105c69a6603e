"""A bridge answers every client at its socket, whatever the others do, and knows when to end."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pace import HUNG
from rows import replace

from mdmemory.cli import main
from mdmemory.errors import NotFound
from mdmemory.hosts.background import Log
from mdmemory.hosts.bridge import asking, listening, without
from mdmemory.hosts.bridge.listening import Life, SocketServer
from mdmemory.memory import Memory
from mdmemory.version import VERSION

Answer = dict[str, Any]


class Running:
    """A server in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "s")
        self.failures: list[str] = []
        self.lost: list[Mapping[str, Any]] = []
        self.seen: list[Mapping[str, Any]] = []
        self.methods: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
            "hook": self._hook
        }
        self.look: Callable[[], float] = lambda: 600.0
        self.life = Life(lambda: True)
        self._ending, self._end = os.pipe()
        self._thread: threading.Thread | None = None

    def _hook(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.seen.append(params)
        return {"output": {"given": dict(params)}}

    def begin(self) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(listening.QUEUE)
        running = SocketServer(
            listener, self.methods, self.life, look=lambda: self.look(),
            failed=lambda method, problem: self.failures.append(f"{method}: {problem}"),
            lost=self.lost.append,
        )  # fmt: skip

        def work() -> None:
            running.serve(self._ending)
            listener.close()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def ended(self) -> bool:
        assert self._thread
        self._thread.join(HUNG)
        return not self._thread.is_alive()

    def end(self) -> None:
        os.write(self._end, b".")
        assert not self._thread or self.ended()
        for handle in (self._ending, self._end):
            os.close(handle)

    def connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(HUNG)
        connection.connect(self.path)
        return connection

    def say(self, line: bytes) -> bytes:
        """What the server answers to these bytes; b"" where it only closes."""
        with self.connected() as connection:
            with suppress(BrokenPipeError):  # it may have closed before we come to it
                connection.sendall(line)
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))

    def ask(self, **request: Any) -> Answer:
        answer: Answer = json.loads(self.say(line(**request)))
        return answer


def line(**request: Any) -> bytes:
    return json.dumps({"version": VERSION, "method": "hook"} | request).encode() + b"\n"


@pytest.fixture
def bridge(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    yield running
    running.end()


def test_a_request_is_answered_in_one_line_that_the_client_can_cut_out(bridge: Running) -> None:
    bridge.begin()
    assert bridge.say(line(params={})) == b'{"result": {"output": {"given": {}}}}\n'


NONE = (b"", b"hello", b"[1]", b"{", b"\0\0", b"\xff", b'{"a": NaN}')


def test_what_is_no_request_is_answered_and_harms_nothing(bridge: Running) -> None:
    bridge.begin()
    for sent in NONE:
        assert json.loads(bridge.say(sent + b"\n"))["error"]["code"] == "usage", sent
        assert "result" in bridge.ask(params={})


def test_a_request_that_is_too_long_is_answered_at_once(
    bridge: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_LINE", 1000)
    bridge.begin()
    assert json.loads(bridge.say(b" " * 1001))["error"]["code"] == "usage"


def test_an_error_is_an_answer_and_the_next_request_is_served(bridge: Running) -> None:
    bridge.methods["fails"] = Mock(side_effect=NotFound("It is not there."))
    bridge.methods["breaks"] = lambda _: {"x": 1 / 0}
    bridge.begin()
    asked = ({"method": "fails"}, {"method": "breaks"}, {"method": "unknown"}, {"params": []})
    codes = [bridge.ask(**each)["error"]["code"] for each in asked]
    assert codes == ["not_found", "unexpected", "usage", "usage"]
    assert "result" in bridge.ask(params={})
    failed = [each.partition(":")[0] for each in bridge.failures]
    assert failed == ["fails", "breaks", "unknown", "hook"]


def test_a_client_that_sends_nothing_holds_up_nobody(bridge: Running) -> None:
    bridge.begin()
    with bridge.connected(), bridge.connected() as slow:
        slow.sendall(b'{"version"')
        assert "result" in bridge.ask(params={})


def test_a_client_that_never_sends_its_line_is_dropped(
    bridge: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_PATIENCE", 0.0)
    bridge.begin()
    with bridge.connected() as slow:
        time.sleep(0.05)
        bridge.say(b"")  # it wakes the server
        assert slow.recv(1) == b""


def test_what_its_client_waits_for_no_more_is_not_begun(bridge: Running) -> None:
    may_go = threading.Event()
    bridge.methods["wait"] = lambda _: {"came": may_go.wait(HUNG)}
    bridge.begin()
    with bridge.connected() as first:
        first.sendall(line(method="wait"))
        with bridge.connected() as gone:
            gone.sendall(line(params={}))
        may_go.set()
        assert b"came" in first.recv(100)
    assert bridge.ask(params={"n": 2})["result"]
    assert bridge.seen == [{"n": 2}]


def test_an_answer_that_nobody_took_is_lost_and_the_next_request_is_served(bridge: Running) -> None:
    def slow(params: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        return {"output": {"closed": closed.wait(HUNG)}}

    begun, closed = threading.Event(), threading.Event()
    bridge.methods["slow"] = slow
    bridge.begin()
    with bridge.connected() as connection:
        connection.sendall(line(method="slow", params={"n": 1}))
        assert begun.wait(HUNG)
    closed.set()
    assert bridge.ask(params={})["result"]
    assert [each["params"] for each in bridge.lost] == [{"n": 1}]


def test_another_users_process_is_not_heard(
    bridge: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "peer_user", lambda _: os.geteuid() + 1)
    bridge.begin()
    with bridge.connected() as connection:
        assert connection.recv(1) == b""
    assert bridge.seen == []


def test_a_client_of_another_version_ends_it_so_that_a_new_one_can_start(bridge: Running) -> None:
    bridge.begin()
    assert bridge.ask(version="0.0.1", params={})["error"]["code"] == "version"
    assert bridge.ended()
    assert bridge.seen == []


def test_it_ends_when_nobody_comes_for_five_minutes(bridge: Running) -> None:
    assert bridge.life.idle == 300
    bridge.life = replace(bridge.life, idle=0.05)
    bridge.begin()
    assert bridge.ended()


def test_a_look_that_fails_is_logged_and_costs_no_request(bridge: Running) -> None:
    bridge.look = Mock(side_effect=NotFound("gone"))
    bridge.begin()
    assert "result" in bridge.ask(params={})
    assert bridge.failures == ["look: gone"]


def test_it_looks_again_when_the_time_has_come(bridge: Running) -> None:
    looked = threading.Semaphore(0)
    bridge.look = lambda: looked.release() or 0.02
    bridge.begin()
    assert all(looked.acquire(timeout=HUNG) for _ in range(3))


def test_the_user_at_the_other_end_is_known() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert asking.peer_user(ours) == os.geteuid()


MDMEMORY = [sys.executable, "-P", "-m", "mdmemory"]
Git = Callable[..., str]
CHANGED = """
from mdmemory.cli import main
from mdmemory.hosts.bridge import listening
listening.{}
main(["bridge", "--listen"])
"""
OTHER = CHANGED.format('VERSION = "0.0.1"')
FAST = '__import__("functools").partial(listening.Life, look=0.05)'
QUICK = CHANGED.format(f"Life = {FAST}")  # it looks for its socket


DISPOSE = b'{"method": "dispose"}\n'


class Person:
    """A person with a project, whose hooks are run, and whose bridges are seen."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project, self.home = project, home
        self._started: list[subprocess.Popen[bytes]] = []

    def listen(self, folder: Path | None = None, code: str = "") -> subprocess.Popen[bytes]:
        """A bridge started for a folder, with its number known."""
        words = [sys.executable, "-P", "-c", code] if code else [*MDMEMORY, "bridge", "--listen"]
        self._started.append(subprocess.Popen(words, cwd=folder or self.project))
        return self._started[-1]

    def hook(self, name: str, folder: Path | None = None, **more: str) -> bytes:
        """What a hook prints; it must not fail."""
        done = subprocess.run(
            [*MDMEMORY, "hook", "claude"], cwd=folder or self.project, capture_output=True,
            input=json.dumps({"hook_event_name": name, "session_id": "s1", **more}).encode(),
            check=False, timeout=HUNG,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def socket(self, folder: Path | None = None) -> str:
        """Where the map sends a hook."""
        return asking.MapEntry(os.environ, str(folder or self.project), "").socket()

    def tell(self, request: bytes, path: str = "") -> tuple[bytes, int]:
        """What the bridge answers to a line, and its process; b"" and 0 where there is none."""
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.settimeout(HUNG)
            asking.call_with_short_path(path or self.socket(), connection.connect)
            about = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            connection.sendall(request)
            return connection.recv(100), int.from_bytes(about[:4], sys.byteorder)
        return b"", 0

    def met(self, folder: Path | None = None) -> bool:
        """Whether a bridge answers a hook from a folder."""
        path = self.socket(folder)
        return bool(path) and self.tell(line(method="hello"), path)[0].startswith(b'{"result"')

    def pid(self) -> int:
        """The process of the bridge that the map names."""
        return self.tell(line(method="hello"))[1]

    def end(self) -> None:
        for file in (self.home / ".local/state/mdmemory/bridges").glob("????????"):
            if file.is_file():
                self.tell(DISPOSE, file.read_bytes().rpartition(b"\0")[2].decode())
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait(HUNG)


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + HUNG
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def person(project: Path, empty_home: Path) -> Iterator[Person]:
    someone = Person(project, empty_home)
    yield someone
    someone.end()


def test_the_start_of_a_session_brings_a_bridge_that_outlives_it(
    person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    person.hook("SessionStart")
    wait_for(person.met)
    pid, private = person.pid(), person.project / ".mdmemory"
    person.hook("UserPromptSubmit")
    assert (person.pid(), person.socket()) == (pid, str(private / "bridge.sock"))
    assert os.getsid(pid) == pid, "no signal to the client reaches it"
    nothing = os.stat(os.devnull)
    for stream in (0, 1):
        assert os.path.samestat(os.stat(f"/proc/{pid}/fd/{stream}"), nothing)
    assert ((private / "bridge.sock").stat().st_mode & 0o777, main(["doctor"])) == (0o700, 0)
    assert capsys.readouterr().out.startswith("No problems in "), "at work, it is no trouble"


def test_of_many_clients_that_start_together_all_meet_one_bridge(person: Person) -> None:
    folders, private = [person.project / name for name in "abc"], person.project / ".mdmemory"
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(20) as clients:
        [*clients.map(lambda n: person.hook("SessionStart", folders[n % 3]), range(20))]

    def meets(folder: Path) -> bool:
        # on a busy machine each hook of a folder may have ended before it had started one
        if not person.met(folder):
            person.hook("SessionStart", folder)
        return person.met(folder)

    for folder in folders:
        wait_for(lambda folder=folder: meets(folder))
    assert {*map(person.socket, folders)} == {str(private / "bridge.sock")}
    with (private / listening.LOCK).open("r+") as held, pytest.raises(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert person.listen(folders[0]).wait(HUNG) == 0, "one more names the first, and ends"


def test_a_killed_bridge_is_replaced_at_the_next_event(person: Person) -> None:
    first = person.listen()
    wait_for(person.met)
    first.kill()
    first.wait(HUNG)
    assert not person.met()
    person.hook("UserPromptSubmit")
    wait_for(person.met)


def test_a_bridge_that_is_told_to_end_takes_its_socket_along(person: Person) -> None:
    for tell in (lambda first: first.send_signal(signal.SIGTERM), lambda _: person.tell(DISPOSE)):
        first = person.listen()
        wait_for(person.met)
        tell(first)
        assert first.wait(HUNG) == 0
        assert not Path(person.socket()).exists()


def test_a_bridge_that_ends_hands_over_the_sessions_that_wait_to_be_read(person: Person) -> None:
    person.hook("SessionStart")
    wait_for(person.met)
    person.hook("Stop")
    os.kill(person.pid(), signal.SIGTERM)
    log = person.project / ".mdmemory/bridge.log"
    wait_for(lambda: log.exists() and "There is no session s1" in log.read_text())


def test_a_bridge_of_another_version_makes_room(person: Person) -> None:
    older = person.listen(code=OTHER)
    wait_for(lambda: person.socket() and Path(person.socket()).exists())
    person.hook("UserPromptSubmit")
    assert older.wait(HUNG) == 0
    wait_for(person.met)


def test_a_store_with_a_long_path_has_a_bridge(person: Person, project: Path) -> None:
    far = project.parent / ("far" * 30) / ("away" * 20)
    far.parent.mkdir()
    project.rename(far)
    person.project = far
    person.hook("SessionStart")
    wait_for(person.met)
    assert len(person.socket()) > 107


def test_a_bridge_whose_socket_or_store_is_gone_ends(person: Person) -> None:
    moved = person.project.with_name("moved")
    for go in (
        lambda: setattr(person, "project", person.project.rename(moved)),
        lambda: shutil.rmtree(moved / "notes"),
    ):
        process = person.listen(code=QUICK)
        wait_for(person.met)
        go()
        assert process.wait(HUNG) == 0
        assert not (moved / ".mdmemory/bridge.sock").exists()


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder that is no project, of a person with a store of their own."""
    folder = tmp_path / "bare"
    folder.mkdir()
    Memory.around(folder).add("I live in Bremen.", type="user")
    return folder


def test_where_there_is_no_project_the_persons_store_is_served(person: Person, bare: Path) -> None:
    person.hook("SessionStart", bare)
    wait_for(lambda: person.met(bare))
    assert person.socket(bare) == str(person.home / "mdmemory/me/.mdmemory/bridge.sock")


def test_a_store_that_is_made_later_gets_a_bridge(person: Person, bare: Path, git: Git) -> None:
    person.listen(bare)
    wait_for(lambda: person.met(bare))
    git(bare, "init", "-q")
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    git(bare, *who, "commit", "-q", "--allow-empty", "-m", "first")
    Memory.around(bare).add("Deploys go out on Tuesdays.", type="project")
    person.hook("UserPromptSubmit", bare)
    assert person.socket(bare) == ""
    own = str(person.home / "mdmemory/bare/.mdmemory/bridge.sock")

    def answered() -> bool:
        person.hook("UserPromptSubmit", bare)
        return person.met(bare) and person.socket(bare) == own

    wait_for(answered)  # by the next message, or one behind it where the old bridge still ends


def test_without_a_store_no_bridge_stays_or_is_soon_started(person: Person, tmp_path: Path) -> None:
    entry = asking.MapEntry(os.environ, str(tmp_path), "")
    first = without.start_bridge(entry, str(tmp_path), without.LATER)
    assert first
    assert first.wait(HUNG) == 0
    assert not person.met(tmp_path)
    assert without.start_bridge(entry, str(tmp_path), without.LATER) is None


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_clock_that_jumps_keeps_no_bridge_from_being_started(person: Person, jump: int) -> None:
    entry = asking.MapEntry(os.environ, str(person.project), "")
    Path(entry.folder).mkdir(parents=True)
    mark = Path(entry.mark)
    mark.write_bytes(b"")
    os.utime(mark, (time.time() + jump, time.time() + jump))
    person.hook("UserPromptSubmit")
    wait_for(person.met)
    assert not mark.exists()


@pytest.mark.parametrize("where", ["state", "map"])
def test_what_cannot_be_written_is_logged_and_costs_no_event(person: Person, where: str) -> None:
    state, private = person.home / ".local/state/mdmemory", person.project / ".mdmemory"
    shutil.rmtree(private, ignore_errors=True)
    file = private if where == "state" else state / "bridges"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a file")
    assert person.hook("UserPromptSubmit") == b""
    wait_for(lambda: (state / "bridge.log").exists() and (state / "bridge.log").read_text())
    assert not person.met()


def test_a_bridge_that_no_hook_could_find_does_not_stay(person: Person) -> None:
    Path(asking.MapEntry(os.environ, str(person.project), "").file).mkdir(parents=True)
    assert person.listen().wait(HUNG) == 1
    assert not (person.project / ".mdmemory/bridge.sock").exists()
    assert "cannot be written" in Log().file.read_text()
