"""`mdmemory check` as a person, a hook and a pull request use it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from citing_projects import CitedProject
from pace import HUNG

from mdmemory.cli import main

PORT = "src/server.py#L4"


@pytest.fixture
def inside(cited: CitedProject, monkeypatch: pytest.MonkeyPatch) -> CitedProject:
    """The project, with the test standing in it and a note on its port."""
    monkeypatch.chdir(cited.top)
    words = ("It listens on port 8081, see src/server.py", "--name", "port", "--type", "project")
    assert main(["add", *words]) == 0
    return cited


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([*words])
    out, problems = capsys.readouterr()
    return code, out, problems


def test_what_stands_is_counted_and_what_drifted_is_shown_with_its_lines(
    inside: CitedProject, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "check") == (0, "1 citation in 1 note: 1 fresh.\n", "")
    assert said(capsys, "check", "--all")[1].startswith(f"project-port.md\n  fresh    {PORT}\n")
    inside.replace("src/server.py", "8081", "9090")
    code, out, _ = said(capsys, "check")
    assert code == 1
    assert out.startswith(
        f"project-port.md\n  drifted  {PORT}\n      -PORT = 8081\n      +PORT = 9090\n"
    )
    code, out, _ = said(capsys, "check", "port", "--json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["citations"][0]["state"]) == (1, False, "drifted")
    _, out, problems = said(capsys, "show", "port")
    assert out.endswith("---\n")
    assert "-PORT = 8081" in problems
    assert "mdmemory review project-port keep" in problems
    assert said(capsys, "review", "port", "keep")[0] == 0
    assert said(capsys, "check")[0] == 0
    assert said(capsys, "review", "port", "keep")[0] == 0, "again: no change"


def test_the_next_step_that_is_named_settles_it(
    inside: CitedProject, capsys: pytest.CaptureFixture[str]
) -> None:
    inside.replace("src/server.py", "8081", "9090")
    assert "`edit` it, or `review NAME keep` if it holds" in said(capsys, "check")[1]
    assert said(capsys, "edit", "port", "It listens on port 9090, see src/server.py")[0] == 0
    assert said(capsys, "check")[0] == 1, "other words alone say nothing of the lines"
    assert said(capsys, "review", "port", "keep")[0] == 0
    assert said(capsys, "check") == (0, "1 citation in 1 note: 1 fresh.\n", "")


def test_a_note_that_a_newer_one_replaced_is_checked_by_its_name_alone(
    inside: CitedProject, capsys: pytest.CaptureFixture[str]
) -> None:
    inside.replace("src/server.py", "8081", "9090")
    assert said(capsys, "check")[0] == 1
    fact = "It listens on port 9090, see src/server.py"
    _, out, _ = said(capsys, "add", fact, "--replaces", "port")
    assert "It replaces project-port.md" in out
    assert said(capsys, "check", "--diff", "HEAD")[0] == 0
    assert said(capsys, "check") == (0, "1 citation in 1 note: 1 fresh.\n", "")
    assert said(capsys, "check", "port")[0] == 1


def test_add_shows_what_it_cites_and_takes_a_place(
    inside: CitedProject, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("add", "Why the server binds", "--cite", "src/server.py#L9-L10", "--cite", "docs/")
    code, out, _ = said(capsys, *words)
    assert code == 0
    assert "cites        src/server.py#L9-L10\ncites        docs/\n" in out
    code, _, problems = said(capsys, "add", "Why the server waits", "--cite", "src/none.py")
    assert code == 2
    assert "could be cited" in problems


def test_outside_a_project_and_for_a_note_of_ones_own_there_is_one_sentence(
    inside: CitedProject, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    main(["add", "I like tea", "--type", "user", "--name", "tea"])
    code, _, problems = said(capsys, "check", "tea")
    assert (code, problems.count("\n")) == (1, 1)
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    code, _, problems = said(capsys, "check")
    assert (code, problems.count("\n")) == (1, 1)
    assert "only a project's notes cite" in problems


def test_a_hook_stops_a_commit_that_drifts_a_note_and_lets_others_pass(
    inside: CitedProject,
) -> None:
    hook = inside.top / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    command = f'"{sys.executable}" -P -m mdmemory check --diff HEAD'
    hook.write_text(f"#!/bin/sh\n{command}\n")
    hook.chmod(0o755)

    def commit() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "commit", "-q", "-am", "work"], cwd=inside.top, capture_output=True, text=True,
            timeout=HUNG, check=False, env=dict(os.environ),
        )  # fmt: skip

    inside.write("src/server.py", "# first\n" + (inside.top / "src/server.py").read_text())
    assert commit().returncode == 0, "the line was only pushed down"
    inside.replace("src/server.py", "8081", "9090")
    stopped = commit()
    assert stopped.returncode == 1
    assert "-PORT = 8081" in stopped.stdout + stopped.stderr
    assert main(["review", "port", "keep"]) == 0
    assert commit().returncode == 0


def test_a_pull_request_tells_what_its_branch_drifts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    top = tmp_path / "shared"
    top.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=top, check=True, timeout=HUNG)
    shared = CitedProject(top)
    shared.write("app.py", "RETRIES = 3\nLIMIT = 20000\n")
    shared.commit()
    monkeypatch.chdir(top)
    main(["init", "--shared"])
    main(["add", "A call is repeated RETRIES times, 3, in app.py", "--name", "retries"])
    main(["add", "The LIMIT of app.py is 20000", "--name", "limit"])
    shared.commit()
    shared.git("switch", "-q", "-c", "topic")
    shared.replace("app.py", "RETRIES = 3", "RETRIES = 5")
    shared.commit()
    clone = tmp_path / "clone"
    shared.git("clone", "-q", str(top), str(clone))
    monkeypatch.chdir(clone)
    monkeypatch.setenv("CI", "true")
    code, out, _ = said(capsys, "check", "--diff", "origin/main", "--json")
    answer = json.loads(out)
    assert (code, [each["file"] for each in answer["citations"]]) == (1, ["project-retries.md"])
    code, out, _ = said(capsys, "check", "--diff", "HEAD")
    assert (code, out) == (0, "Nothing that the notes cite drifts since HEAD.\n")
