"""Reading a session in the background: the newest one does it, alone, and nothing is lost."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
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
def sleeping(monkeypatch: Patch) -> Callable[..., list[float]]:
    """`sleeping(act)`: time passes at once, and `act` is called in each wait; the waits."""

    def pass_at_once(act: Callable[[int], object] = lambda _: None) -> list[float]:
        waited: list[float] = []
        monkeypatch.setattr(time, "sleep", lambda s: [waited.append(s), act(len(waited))])
        return waited

    return pass_at_once


Sleeping = Callable[..., list[float]]


def test_a_session_that_stays_quiet_is_read_then(opened: Project, sleeping: Sleeping) -> None:
    waited = sleeping()
    with background.wait_quiet(opened, "ses_1", 2.5) as is_newest:
        assert is_newest
        with pytest.raises(Busy), background.hold_background(opened):
            pass
    assert (sum(waited), list((opened.private / "waiting").iterdir())) == (2.5, [])


def test_a_newer_process_takes_the_place_at_once(opened: Project, sleeping: Sleeping) -> None:
    def claim(number: int) -> None:
        if number == 3:
            background._claim_wait(opened, "ses_1")
        background._claim_wait(opened, "ses_other")

    waited = sleeping(claim)
    with background.wait_quiet(opened, "ses_1", 60) as is_newest:
        assert (is_newest, len(waited)) == (False, 3)


def test_one_that_was_replaced_in_its_wait_reads_nothing(
    opened: Project, sleeping: Sleeping
) -> None:
    turn = background.hold_background(opened)
    turn.__enter__()
    sleeping(lambda _: [background._claim_wait(opened, "ses_1"), turn.__exit__(None, None, None)])
    with background.wait_quiet(opened, "ses_1", 0.0) as is_newest:
        assert not is_newest


def test_state_that_is_deleted_stops_nobody(opened: Project, sleeping: Sleeping) -> None:
    sleeping(lambda _: [file.unlink() for file in (opened.private / "waiting").iterdir()])
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


TABLES = (
    "session (id, parent_id, directory, title, time_updated)",
    "message (id, session_id, data)",
    "part (id, message_id, session_id, data)",
)


def opencode(home: Path, project: Path, text: str) -> Path:
    """OpenCode's database with one session in it."""
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps({"role": "user", "time": {"created": 1}})
    part = json.dumps({"type": "text", "text": text})
    session = ("ses_1", None, str(project), "A session", 1)
    rows = (session, ("msg_1", "ses_1", data), ("prt_1", "msg_1", "ses_1", part))
    with closing(sqlite3.connect(path)) as database, database:
        for table, row in zip(TABLES, rows, strict=True):
            database.execute(f"CREATE TABLE {table}")
            marks = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {table.split()[0]} VALUES ({marks})", row)
    return path


def start(project: Path, after: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MDMEMORY, "extract", "--session=ses_1", f"--after={after}"], cwd=project,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_a_deleted_session_is_read_and_two_readings_are_one(
    project: Path, empty_home: Path
) -> None:
    database = opencode(empty_home, project, "remember: deploys go out on Tuesdays")
    waiting, end = project / ".mdmemory/waiting", time.monotonic() + HUNG
    with start(project, 30) as first:
        while not [*waiting.glob("[!.]*")]:
            assert first.poll() is None, first.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        (mark,) = waiting.glob("[!.]*")
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
        head = f"name: {name}\ndescription: Has a cat called Tom\nmetadata:\n  type: user"
        text = f"---\n{head}\n---\n\nThe cat is called Tom.\n"
        (project / f"notes/memory/user-{name}.md").write_text(text, "utf-8")
    opencode(empty_home, project, "hello")
    with start(project, 0.1) as process:
        assert process.wait(timeout=HUNG) == 0
    assert (len(memory.notes()), memory.due()) == (1, None)


def test_a_process_outlives_its_starter_and_says_what_fails(project: Path, opened: Project) -> None:
    log = opened.prepare_private() / "bridge.log"
    starter = background.Starter(lambda: MDMEMORY, project)
    starter(["extract", "--session=ses_gone"], log)
    (process,) = starter._running
    assert (os.getsid(process.pid), process.wait(timeout=HUNG)) == (process.pid, 1)
    assert "There is no session ses_gone" in log.read_text("utf-8")


def test_a_compaction_has_the_background_to_itself(project: Path, opened: Project) -> None:
    log = opened.prepare_private() / "bridge.log"
    words = [sys.executable, "-c", "import time; time.sleep(0.3)"]
    starter = background.Starter(lambda: words, project)
    assert [starter.alone(opened, [], log) for _ in range(2)] == [True, False]
    (process,) = starter._running
    process.wait(timeout=HUNG)
    assert starter.alone(opened, [], log)
    (process,) = starter._running
    process.wait(timeout=HUNG)
