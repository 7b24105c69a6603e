"""A store goes to another place, for a person."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.cli import main

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
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["store"] == str(target)
    assert main(["move", "--dry-run"]) == 0
    assert "lies there already" in capsys.readouterr().out


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
    assert main(hint.partition("`mdmemory ")[2].partition("`")[0].split()) == 0
    capsys.readouterr()
    assert main(["list"]) == 0
    assert "The harbour crane is booked by radio" in capsys.readouterr().out
    assert main(["init", "--shared"]) == 0
    assert "until now" not in capsys.readouterr().out
