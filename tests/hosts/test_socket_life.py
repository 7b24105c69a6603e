"""The bridge of a store: one at a time, found from every folder, gone when it is of no use."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.cli import main
from mdmemory.hosts.background import Log
from mdmemory.hosts.bridge import asking, listening, without
from mdmemory.layers import Layers
from mdmemory.version import VERSION

MDMEMORY = [sys.executable, "-P", "-m", "mdmemory"]
Git = Callable[..., str]
# A bridge that calls itself another version, and for the test its methods are not needed.
OTHER = """
from mdmemory.cli import main
from mdmemory.hosts.bridge import listening
listening.VERSION = "0.0.1"
from mdmemory.cli import main
main(["bridge", "--listen"])
"""


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

    def met(self, folder: Path | None = None, *, version: str = VERSION) -> bool:
        """Whether a bridge answers a hook from a folder."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(HUNG)
                asking.call_with_short_path(self.socket(folder), connection.connect)
                hello = {"version": version, "method": "hello"}
                connection.sendall(json.dumps(hello).encode() + b"\n")
                return connection.recv(100).startswith(b'{"result"')
        except OSError:
            return False

    def pid(self) -> int:
        """The process of the bridge that the map names."""
        with socket.socket(socket.AF_UNIX) as connection:
            asking.call_with_short_path(self.socket(), connection.connect)
            said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(said[:4], sys.byteorder)

    def tell(self, request: bytes) -> None:
        """Send the bridge a line."""
        with socket.socket(socket.AF_UNIX) as connection:
            asking.call_with_short_path(self.socket(), connection.connect)
            connection.sendall(request)
            connection.recv(100)

    def end(self) -> None:
        for file in (self.home / ".local/state/mdmemory/bridges").glob("????????"):
            if not file.is_file():
                continue
            path = file.read_bytes().rpartition(b"\0")[2].decode()
            with socket.socket(socket.AF_UNIX) as connection:
                try:
                    asking.call_with_short_path(path, connection.connect)
                    connection.sendall(b'{"method": "dispose"}\n')
                    connection.recv(100)
                except OSError:
                    continue
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


def test_the_start_of_a_session_brings_a_bridge_that_outlives_it(person: Person) -> None:
    person.hook("SessionStart")
    wait_for(person.met)
    pid = person.pid()
    person.hook("UserPromptSubmit")
    assert person.pid() == pid
    private = person.project / ".mdmemory"
    assert person.socket() == str(private / "bridge.sock")
    assert os.getsid(pid) == pid, "no signal to the client reaches it"
    nothing = os.stat(os.devnull)
    for stream in (0, 1):
        assert os.path.samestat(os.stat(f"/proc/{pid}/fd/{stream}"), nothing)
    assert (private / "bridge.sock").stat().st_mode & 0o777 == 0o700


def test_of_many_clients_that_start_together_all_meet_one_bridge(person: Person) -> None:
    folders = [person.project / name for name in ("a", "b", "c")]
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
    assert {person.socket(folder) for folder in folders} == {
        str(person.project / ".mdmemory/bridge.sock")
    }
    held = os.open(person.project / ".mdmemory" / listening.LOCK, os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(held)


def test_a_killed_bridge_is_replaced_at_the_next_event(person: Person) -> None:
    first = person.listen()
    wait_for(person.met)
    first.kill()
    first.wait(HUNG)
    assert not person.met()
    person.hook("UserPromptSubmit")
    wait_for(person.met)


def test_a_bridge_that_is_told_to_end_takes_its_socket_along(person: Person) -> None:
    for tell in (
        lambda first: first.send_signal(signal.SIGTERM),
        lambda _: person.tell(b'{"method": "dispose"}\n'),
    ):
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


def test_a_bridge_at_work_is_nothing_that_doctor_complains_of(
    person: Person, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    person.hook("SessionStart")
    wait_for(person.met)
    monkeypatch.chdir(person.project)
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.startswith("No problems in ")


def test_a_second_bridge_names_the_first_and_ends(person: Person) -> None:
    person.listen()
    wait_for(person.met)
    inside = person.project / "src"
    inside.mkdir()
    assert person.listen(inside).wait(HUNG) == 0
    assert person.met(inside)


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


def test_a_bridge_whose_socket_is_gone_ends(person: Person) -> None:
    quick = "from mdmemory.hosts.bridge import listening; import dataclasses\n"
    quick += "listening.Life.__init__.__defaults__ = (300.0, 0.05)\n"
    quick += "from mdmemory.cli import main; main(['bridge', '--listen'])"
    first = person.listen(code=quick)
    wait_for(person.met)
    moved = person.project.with_name("moved")
    person.project.rename(moved)
    assert first.wait(HUNG) == 0
    assert not (moved / ".mdmemory/bridge.sock").exists()
    person.project = moved
    second = person.listen(code=quick)
    wait_for(person.met)
    shutil.rmtree(moved / "notes")
    assert second.wait(HUNG) == 0


def test_where_there_is_no_project_the_persons_own_store_is_served(
    person: Person, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    Layers.open(bare).add("I live in Bremen.", type="user")
    person.hook("SessionStart", bare)
    wait_for(lambda: person.met(bare))
    assert person.socket(bare) == str(person.home / "mdmemory/me/.mdmemory/bridge.sock")
    person.end()


def test_a_store_that_is_made_later_gets_a_bridge_of_its_own(
    person: Person, tmp_path: Path, git: Git
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    Layers.open(bare).add("I live in Bremen.", type="user")
    person.listen(bare)
    wait_for(lambda: person.met(bare))
    git(bare, "init", "-q")
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    git(bare, *who, "commit", "-q", "--allow-empty", "-m", "first")
    Layers.open(bare).add("Deploys go out on Tuesdays.", type="project")
    person.hook("UserPromptSubmit", bare)
    assert person.socket(bare) == ""
    own = str(person.home / "mdmemory/bare/.mdmemory/bridge.sock")

    def answered() -> bool:
        person.hook("UserPromptSubmit", bare)
        return person.met(bare) and person.socket(bare) == own

    wait_for(answered)  # by the next message, or one behind it where the old bridge still ends


def test_without_a_store_no_bridge_stays_and_none_is_started_again_soon(
    person: Person, tmp_path: Path
) -> None:
    entry = asking.MapEntry(os.environ, str(tmp_path), "")
    first = without.start_bridge(entry, str(tmp_path), without.LATER)
    assert first
    assert first.wait(HUNG) == 0
    assert not person.met(tmp_path)
    assert without.start_bridge(entry, str(tmp_path), without.LATER) is None


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_clock_that_jumps_does_not_keep_a_bridge_from_being_started(
    person: Person, jump: int
) -> None:
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
    if where == "map":
        (person.home / ".local/state/mdmemory").mkdir(parents=True)
        (person.home / ".local/state/mdmemory/bridges").write_text("a file")
    else:
        shutil.rmtree(person.project / ".mdmemory", ignore_errors=True)
        (person.project / ".mdmemory").write_text("a file")
    assert person.hook("UserPromptSubmit") == b""
    log = person.home / ".local/state/mdmemory/bridge.log"
    wait_for(lambda: log.exists() and log.read_text())
    assert not person.met()


def test_a_bridge_that_no_hook_could_find_does_not_stay(person: Person) -> None:
    Path(asking.MapEntry(os.environ, str(person.project), "").file).mkdir(parents=True)
    assert person.listen().wait(HUNG) == 1
    assert not (person.project / ".mdmemory/bridge.sock").exists()
    assert "cannot be written" in Log().file.read_text()
