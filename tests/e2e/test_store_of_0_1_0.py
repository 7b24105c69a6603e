"""What 0.1.0 left behind is read, goes on, and loses nothing.

tests/data/store_of_0_1_0/ holds three projects as 0.1.0 itself left them: with the store in the
tree and OpenCode wired, with a repository of the store's own, and stopped while notes were put in
place. `make.sh` there made them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from archives import unpack
from pace import FULL, HUNG

ARCHIVES = Path(__file__).parents[1] / "data" / "store_of_0_1_0"
READING = (
    ("list", "--json"),
    ("show", "prefers-pnpm", "--json"),
    ("search", "which carrier takes heavy parcels", "--json"),
    ("explain", "remember that returns go to hall 4", "--json"),
    ("conflicts", "--json"),
    ("pending", "--json"),
    ("session", "list", "--json"),
    ("observe", "list", "--json"),
    ("log", "--json"),
    ("log", "-p", "-n", "1"),
    ("log", "prefers-pnpm", "--json"),
    ("status", "--json"),
    ("export",),
    ("open", "--print"),
)
WRITING = (
    ("index",),
    ("rebuild",),
    ("add", "night-shift", "--type", "project", "--description", "Nobody works at night", "Never."),
    ("edit", "night-shift", "--description", "Nobody works on Sundays"),
    ("confirm", "night-shift"),
    ("rename", "night-shift", "late-shift"),
    ("remove", "late-shift"),
    ("undo",),
    ("compact",),
    ("doctor", "--fix"),
)


@pytest.fixture(params=["shared", *(["own", "stopped"] if FULL else [])])
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpacked(request.param, tmp_path)


def unpacked(name: str, folder: Path) -> Path:
    """The project that 0.1.0 left, with its waiting fact as fresh as on the day it was made."""
    unpack(ARCHIVES / f"{name}.tar.xz", folder)
    for database in (folder / name).rglob(".mdmemory/state.db"):
        today = datetime.now(UTC).date().isoformat()
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE pending SET since = ?", (today,))
        connection.close()
    return folder / name


def mdmemory(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ["PATH"], "HOME": str(project.parent), "LC_ALL": "C.UTF-8"}
    clean["GIT_CONFIG_GLOBAL"] = "/dev/null"
    return subprocess.run(
        [sys.executable, "-P", "-m", "mdmemory", *words],
        cwd=project, env=clean, capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, timeout=HUNG
    ).stdout


def notes(project: Path) -> dict[str, bytes]:
    store = project / "notes" / "memory"
    return {
        file.name: file.read_bytes()
        for file in store.glob("*.md")
        if file.name not in ("MEMORY.md", "_MORE.md", "_CONFLICTS.md")
    }


def lost(project: Path, before: dict[str, bytes]) -> list[str]:
    """The files whose bytes are neither in the store nor in any object that a ref reaches."""
    store = project / "notes" / "memory"
    kept = {line.split()[0] for line in git(store, "rev-list", "--all", "--objects").splitlines()}
    there = set(notes(project).values())
    return [
        name
        for name, content in before.items()
        if content not in there and blob(content) not in kept
    ]


def blob(content: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest().encode()


def commits(project: Path) -> set[bytes]:
    return set(git(project / "notes" / "memory", "rev-list", "--all").split())


@pytest.mark.slow
def test_every_command_goes_on_with_a_store_of_0_1_0_and_loses_nothing(left: Path) -> None:
    before, history = notes(left), commits(left)
    for words in (*READING, *WRITING, *READING):
        answer = mdmemory(left, *words)
        assert answer.returncode == 0, f"{words}: {answer.stdout}{answer.stderr}"
        if "--json" in words:
            json.loads(answer.stdout)
    assert lost(left, before) == []
    assert history <= commits(left)
    assert "Traceback" not in mdmemory(left, "doctor").stderr


def test_a_change_of_0_1_0_is_undone_exactly(tmp_path: Path) -> None:
    project = unpacked("shared", tmp_path)
    log = json.loads(mdmemory(project, "log", "--json").stdout)
    merged = next(entry for entry in log if entry["kind"] == "compact")
    undone = json.loads(mdmemory(project, "undo", merged["id"], "--json").stdout)
    for name in ("reference-staging-copy.md", "reference-staging-host.md"):
        assert name in undone["restored"]
        path = f"notes/memory/{name}"
        assert git(project, "show", f"{merged['checkpoint']}:{path}") == notes(project)[name]


def test_what_0_1_0_was_told_waits_on_and_can_be_accepted(tmp_path: Path) -> None:
    project = unpacked("own", tmp_path)
    waiting = json.loads(mdmemory(project, "pending", "--json").stdout)
    assert [fact["name"] for fact in waiting] == ["customs-papers"]
    assert mdmemory(project, "pending", "accept", waiting[0]["id"]).returncode == 0
    assert any(b"Customs papers are printed twice" in text for text in notes(project).values())


def test_a_compaction_that_0_1_0_did_not_finish_leaves_whole_notes(tmp_path: Path) -> None:
    project = unpacked("stopped", tmp_path)
    before = notes(project)
    assert list((project / "notes" / "memory").glob(".mdmemory-tx-*"))
    assert mdmemory(project, "index").returncode == 0
    assert not list((project / "notes" / "memory").glob(".mdmemory-tx-*"))
    assert lost(project, before) == []
    assert mdmemory(project, "doctor").returncode == 0


@pytest.mark.slow
def test_the_store_of_0_1_0_moves_out_of_the_project_with_all_that_it_has(left: Path) -> None:
    before, history = notes(left), commits(left)
    subjects = git(left / "notes" / "memory", "log", "--format=%s", "--", ".").splitlines()
    answer = mdmemory(left, "move")
    assert answer.returncode == 0, answer.stderr
    store = Path(mdmemory(left, "open", "--print").stdout.strip())
    assert store == left.parent / "mdmemory" / left.name
    for name, content in before.items():
        kept = blob(content) in git(store, "rev-list", "--all", "--objects")
        assert kept or (store / name).read_bytes() == content, name
    assert set(subjects) <= set(git(store, "log", "--all", "--format=%s").splitlines())
    assert history, "the project's own commits are there as before"
    assert mdmemory(left, "init", "--remove").returncode == 0
    assert not (left / ".opencode").exists() or not list((left / ".opencode").rglob("*.ts"))
    configuration = left / "opencode.json"
    assert not configuration.exists() or "notes/memory" not in configuration.read_text("utf-8")
    for words in READING:
        assert mdmemory(left, *words).returncode == 0, words


@pytest.mark.slow
def test_text_that_0_1_0_found_staged_alone_stays_reachable(tmp_path: Path) -> None:
    project = unpacked("shared", tmp_path)
    for words in WRITING:
        assert mdmemory(project, *words).returncode == 0
    assert b"Only staged." in git(
        project, "show", "refs/mdmemory/staged^{tree}:notes/memory/project-freight-carrier.md"
    )
