"""A note that is far too large, such as a log that somebody put there, stops nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.cli import main

Git = Callable[..., str]
TWIN = "---\nname: {0}\ndescription: Likes tea.\nmetadata:\n  type: user\n---\n\nLikes tea.\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("huge") / "project"
    begin(root)
    return root


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
