"""A note that is far too large, or has zero bytes after a power cut, stops nothing else."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.cli import main

Git = Callable[..., str]
TWIN = "---\nname: {0}\ndescription: Likes tea.\nmetadata:\n  type: user\n---\n\nLikes tea.\n"


@pytest.fixture
def store(project: Path) -> Path:
    folder = project / "notes" / "memory"
    for name in ("one", "two"):
        (folder / f"user-{name}.md").write_text(TWIN.format(name))
    (folder / "user-long.md").write_text("x" * 5_000_000)
    with (folder / "user-sparse.md").open("wb") as file:
        file.truncate(1 << 30)
    return folder


def test_a_note_too_large_to_read_does_not_stop_compaction(
    store: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compact", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "applied"
    assert [path.name for path in store.glob("user-*.md")].count("user-two.md") == 0
    held = git(store, "ls-tree", "--name-only", "HEAD", "./").split()
    assert "user-one.md" in held
    assert not {"user-long.md", "user-sparse.md"} & {*held}
    assert (store / "user-long.md").read_bytes() == b"x" * 5_000_000


def test_status_names_the_notes_that_are_too_large(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 0
    assert "unreadable  user-long.md, user-sparse.md:" in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unread"] == ["user-long.md", "user-sparse.md"]


def test_a_plan_that_names_a_note_too_large_leaves_it(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    op = {"op": "delete", "file": "user-long.md", "reason": "out of date"}
    plan.write_text(json.dumps({"ops": [op]}))
    assert main(["compact", "--json", "--plan", str(plan)]) == 1
    assert json.loads(capsys.readouterr().out)["refused"][0]["code"] == "held"
    assert (store / "user-long.md").stat().st_size == 5_000_000


# --- zero bytes that a power cut left in a note ---------------------------------------------------


NAMED = b"---\nname: x\ndescription: %s\nmetadata:\n  type: project\n---\n\n%s\n"
NOTES = {
    "no head": b"a\0b",
    "nothing but zeros": bytes(300),
    "as YAML writes it": NAMED % (rb'"a\0b"', b"body"),
    "in the body": NAMED % (b"ok", b"bo\0dy"),
}


@pytest.mark.parametrize("data", NOTES.values(), ids=NOTES)
def test_zero_bytes_in_a_note_stop_no_command_and_doctor_names_the_file(
    project: Path, git: Git, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes
) -> None:
    def say(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 0, (words, capsys.readouterr().err)
        return capsys.readouterr().out

    say("add", "Deploys go out on Tuesdays")
    store = project / "notes/memory"
    (store / "project-x.md").write_bytes(data)
    for words in (["list"], ["index"], ["doctor", "--fix"], ["review"], ["search", "deploys"]):
        say(*words)
    assert "project-x.md: It holds zero bytes" in say("doctor")
    assert "Stored" in say("add", "The office is in Graz")
    assert "Undone: The office is in Graz" in say("undo", "--yes")
    whole = subprocess.run(
        ["git", "-C", store, "show", "HEAD:./project-x.md"], capture_output=True, check=True
    )
    assert whole.stdout == data
    git(tmp_path, "init", "-q", "--bare", "there.git")
    git(project, "remote", "add", "origin", str(tmp_path / "there.git"))
    git(project, "push", "-q", "-u", "origin", "HEAD")
    say("sync")
    say("forget", "x")
    assert not (store / "project-x.md").exists()
    say("undo", "--yes")
    assert (store / "project-x.md").read_bytes() == data
    git(project, "fsck", "--strict")
