"""Reading a session in the background: the newest one does it, alone, and nothing is lost."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.errors import Busy
from mdmemory.hosts import background
from mdmemory.memory import Memory
from mdmemory.store.project import Project

Patch = pytest.MonkeyPatch
MDMEMORY = [sys.executable, "-P", "-m", "mdmemory"]
FILE = "project-deploys-go-out-on-tuesdays.md"


@pytest.fixture
def opened(project: Path) -> Project:
    return Memory.open(project).project


@pytest.fixture
def quick(monkeypatch: Patch) -> list[float]:
    """Time that passes at once; what was waited for."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


def test_a_session_that_stays_quiet_is_read_then(opened: Project, quick: list[float]) -> None:
    with background.wait_quiet(opened, "ses_1", 2.5) as is_newest:
        assert is_newest
        with pytest.raises(Busy), background.hold_background(opened):
            pass
    assert sum(quick) == 2.5
    assert list((opened.private / "waiting").iterdir()) == []


def test_a_newer_process_takes_the_place_at_once(opened: Project, monkeypatch: Patch) -> None:
    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            background._claim_wait(opened, "ses_1")
        background._claim_wait(opened, "ses_other")

    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", sleep)
    with background.wait_quiet(opened, "ses_1", 60) as is_newest:
        assert not is_newest
    assert len(waited) == 3


def test_one_that_was_replaced_in_its_wait_reads_nothing(
    opened: Project, monkeypatch: Patch
) -> None:
    turn = background.hold_background(opened)
    turn.__enter__()

    def sleep(seconds: float) -> None:
        background._claim_wait(opened, "ses_1")
        turn.__exit__(None, None, None)

    monkeypatch.setattr(time, "sleep", sleep)
    with background.wait_quiet(opened, "ses_1", 0.0) as is_newest:
        assert not is_newest


def test_state_that_is_deleted_stops_nobody(opened: Project, monkeypatch: Patch) -> None:
    def sleep(seconds: float) -> None:
        for file in (opened.private / "waiting").iterdir():
            file.unlink()

    monkeypatch.setattr(time, "sleep", sleep)
    with background.wait_quiet(opened, "ses_1", 5) as is_newest:
        assert is_newest


def test_what_a_killed_process_left_is_swept_up(opened: Project) -> None:
    old, young = (background._claim_wait(opened, name) for name in ("old", "young"))
    os.utime(old, (0, 0))
    background._claim_wait(opened, "new")
    assert not old.exists()
    assert young.exists()


def test_background_work_ends_after_an_hour(opened: Project, monkeypatch: Patch) -> None:
    alarms: list[int] = []
    monkeypatch.setattr(signal, "alarm", alarms.append)
    with background.wait_quiet(opened, "ses_1", 0.0):
        assert alarms == [3600]
        with pytest.raises(SystemExit, match="more than an hour"):
            os.kill(os.getpid(), signal.SIGALRM)
    assert alarms == [3600, 0]


def opencode(home: Path, project: Path, session: str, text: str) -> Path:
    """OpenCode's database with one session in it."""
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE session (id, parent_id, directory, title, time_updated);"
            "CREATE TABLE message (id, session_id, data);"
            "CREATE TABLE part (id, message_id, session_id, data);"
        )
        row = (session, None, str(project), "A session", 1)
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        data = json.dumps({"role": "user", "time": {"created": 1}})
        database.execute("INSERT INTO message VALUES ('msg_1', ?, ?)", (session, data))
        part = json.dumps({"type": "text", "text": text})
        database.execute("INSERT INTO part VALUES ('prt_1', 'msg_1', ?, ?)", (session, part))
    return path


def until_waiting(project: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + HUNG
    while not list((project / ".mdmemory/waiting").glob("[!.]*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def start(project: Path, after: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MDMEMORY, "extract", "--session=ses_1", f"--after={after}"], cwd=project,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_a_deleted_session_is_read_and_two_readings_are_one(
    project: Path, empty_home: Path
) -> None:
    database = opencode(empty_home, project, "ses_1", "remember: deploys go out on Tuesdays")
    with start(project, 30) as first:
        until_waiting(project, first)
        (mark,) = (project / ".mdmemory/waiting").glob("[!.]*")
        before = mark.read_bytes()
        with start(project, 1) as second:
            while mark.exists() and mark.read_bytes() == before:
                time.sleep(0.02)
            database.unlink()
            with start(project, 0.1) as third:
                assert third.wait(timeout=HUNG) == 1, "it has no copy, and replaces nobody"
            said, _ = second.communicate(timeout=HUNG)
            assert f"added: {FILE}" in said
        assert first.communicate(timeout=HUNG) == ("", "")
    assert (project / "notes/memory" / FILE).exists()


@pytest.mark.slow
def test_a_compaction_that_is_due_follows(project: Path, empty_home: Path) -> None:
    memory = Memory.open(project)
    for name in ("cat", "pet"):
        path = project / f"notes/memory/user-{name}.md"
        head = f"name: {name}\ndescription: Has a cat called Tom\nmetadata:\n  type: user"
        path.write_text(f"---\n{head}\n---\n\nThe cat is called Tom.\n", "utf-8")
    opencode(empty_home, project, "ses_1", "hello")
    with start(project, 0.1) as process:
        assert process.wait(timeout=HUNG) == 0
    assert len(memory.notes()) == 1
    assert memory.due() is None


def test_a_process_outlives_its_starter_and_says_what_fails(project: Path, opened: Project) -> None:
    log = opened.prepare_private() / "bridge.log"
    starter = background.Starter(lambda: MDMEMORY, project)
    starter(["extract", "--session=ses_gone"], log)
    (process,) = starter._running
    assert os.getsid(process.pid) == process.pid
    assert process.wait(timeout=HUNG) == 1
    assert "There is no session ses_gone" in log.read_text("utf-8")


def test_a_compaction_has_the_background_to_itself(project: Path, opened: Project) -> None:
    log = opened.prepare_private() / "bridge.log"
    sleeping = [sys.executable, "-c", "import time; time.sleep(0.3)"]
    starter = background.Starter(lambda: sleeping, project)
    assert starter.alone(opened, [], log)
    assert not starter.alone(opened, [], log)
    (process,) = starter._running
    process.wait(timeout=HUNG)
    assert starter.alone(opened, [], log)
    assert len(starter._running) == 1
    starter._running[0].wait(timeout=HUNG)
