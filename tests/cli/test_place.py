"""Where a store lies, for a person: shown in their file manager, or printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.cli import main

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="there it is `open`")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("template") / "project"
    begin(root)
    return root


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A screen, and a program for it that writes down what it is to show."""
    programs, seen = tmp_path / "bin", tmp_path / "seen"
    programs.mkdir()
    (programs / "xdg-open").write_text(f'#!/bin/sh\nprintf %s "$1" > "{seen}"\n')
    (programs / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{programs}", prepend=":")
    monkeypatch.setenv("DISPLAY", ":0")
    return seen


def test_the_folder_is_shown_and_its_path_printed(
    project: Path, screen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open"]) == 0
    store = str(project / "notes/memory")
    assert screen.read_text() == store
    assert capsys.readouterr().out == f"{store}\n"


@pytest.mark.parametrize("words", [["open", "--print"], ["open", "--json"]])
def test_without_a_wish_for_it_nothing_is_shown(
    words: list[str], project: Path, screen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    out = capsys.readouterr().out
    store = str(project / "notes/memory")
    assert (json.loads(out) if "--json" in words else out) in (
        f"{store}\n", {"store": store, "opened": False},
    )  # fmt: skip
    assert not screen.exists()


def test_without_a_screen_the_path_is_printed(
    project: Path, screen: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DISPLAY")
    assert main(["open"]) == 0
    assert capsys.readouterr().out == f"{project / 'notes/memory'}\n"
    assert not screen.exists()


def test_a_program_that_fails_is_said_and_the_path_printed(
    project: Path, screen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (screen.parent / "bin" / "xdg-open").write_text("#!/bin/sh\nexit 3\n")
    assert main(["open"]) == 0
    told = capsys.readouterr()
    assert "could not show the folder" in told.err
    assert told.out == f"{project / 'notes/memory'}\n"


# --- move ----------------------------------------------------------------------------------------


def test_a_moved_store_is_told_with_what_is_left_to_commit(
    project: Path, empty_home: Path, git: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["move", "--dry-run"]) == 0
    target = empty_home / "mdmemory" / "project"
    told = capsys.readouterr().out
    assert told.startswith(f"Would move {project / 'notes/memory'} to {target}, with ")
    assert main(["move"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"The store is {target} now, with ")
    (command,) = [line.strip() for line in told.splitlines() if line.startswith("  git ")]
    git(project, *command.split()[3:])
    git(project, "commit", "-q", "-m", "the memory moved")
    assert git(project, "status", "--porcelain") == ""
    assert main(["open", "--print"]) == 0
    assert capsys.readouterr().out == f"{target}\n"


def test_the_json_of_move(
    project: Path, empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["move", "--to", "here", "--folder", "own", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {key: told[key] for key in ("from", "to", "kept")} == {
        "from": str(project / "notes/memory"), "to": str(project / "own"), "kept": [],
    }  # fmt: skip
    assert told["commits"] == 1
    assert told["removal"].endswith(" rm -r -q --cached -- notes/memory mdmemory.toml")


def test_opencodes_files_in_the_project_are_taken_out_after_a_move_and_not_made_again(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--opencode"]) == 0
    assert (project / ".opencode/plugin/mdmemory.ts").exists()
    capsys.readouterr()
    assert main(["move"]) == 0
    assert "`mdmemory init --remove`" in capsys.readouterr().out
    assert main(["init", "--remove"]) == 0
    assert not [*project.glob(".opencode/**/*.*")]
    assert main(["init", "--opencode"]) == 2
    assert "`mdmemory setup opencode`" in capsys.readouterr().err
    assert main(["init", "--opencode", "--dry-run"]) == 2
    assert capsys.readouterr().out == ""
    assert not (project / "notes").exists()


def test_a_store_inside_a_project_that_has_one_elsewhere_says_how_its_notes_come_along(
    repository: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(repository)
    git(repository, "-c", "user.name=o", "-c", "user.email=o@o", "commit", "--allow-empty", "-qm1")
    for words in (["init"], ["add", "The harbour crane is booked by radio."], ["init", "--shared"]):
        assert main(words) == 0
    *_, hint = capsys.readouterr().out.splitlines()
    assert "the project's store until now, keeps its 1 note." in hint
    command = hint.partition("`mdmemory ")[2].partition("`")[0].split()
    assert main(command) == 0
    capsys.readouterr()
    assert main(["list"]) == 0
    assert "The harbour crane is booked by radio" in capsys.readouterr().out
    assert main(["init", "--shared"]) == 0
    assert "until now" not in capsys.readouterr().out
