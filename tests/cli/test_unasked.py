"""What no person typed: none of it moves a branch of a repository of theirs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pace import HUNG, seldom
from plugin_host import PluginHost
from projects import Ask, Git, Run, Say, script

from mdmemory.cli import main
from mdmemory.memory import Memory

MDMEMORY = [sys.executable, "-P", "-m", "mdmemory"]
TEA, FILE = "Remember that the kitchen has green tea.", "project-the-kitchen-has-green-tea.md"


@pytest.fixture(scope="module")
def template(begin: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("unasked") / "project"
    begin(root)
    (root / "code.py").write_text("one\n")
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    subprocess.run(["git", "commit", "-qm", "code"], cwd=root, check=True)
    return root


def remember(project: Path) -> None:
    """A message through the bridge, and the end of its turn."""
    plugin = PluginHost(project)
    plugin.say(TEA)
    plugin.ask("idle")
    assert (project / "notes/memory" / FILE).is_file()


@pytest.fixture(params=["editor", "hook"])
def commit(
    project: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[subprocess.Popen[bytes]]:
    """A `git commit` of the person's, with its editor open, or a slow hook of theirs running, until
    it is told to go on."""
    ready, close = tmp_path / "ready", tmp_path / "close"
    for pipe in (ready, close):
        os.mkfifo(pipe)
    waits = f'echo > "{ready}"\nread word < "{close}"'
    editor = script(tmp_path / "editor", f'{waits}\necho theirs > "$1"')
    words = ["git", "commit", "-a"]
    if request.param == "hook":
        script(project / ".git/hooks/pre-commit", waits)
        words += ["-m", "theirs"]
    (project / "code.py").write_text("two\n")
    popen = subprocess.Popen(
        words, cwd=project, env={**os.environ, "GIT_EDITOR": str(editor)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with popen:
        try:
            ready.read_text()
            yield popen
        finally:
            popen.kill()


def test_the_persons_commit_succeeds_while_the_bridge_writes(
    project: Path, commit: subprocess.Popen[bytes], tmp_path: Path, git: Git
) -> None:
    head = git(project, "rev-parse", "HEAD")
    remember(project)
    assert git(project, "rev-parse", "HEAD") == head
    (tmp_path / "close").write_text("now\n")
    said = commit.communicate(timeout=HUNG)[0].decode()
    assert commit.returncode == 0, said
    assert git(project, "log", "-1", "--format=%s") == "theirs\n"
    assert main(["index"]) == 0
    subjects = git(project, "log", "-2", "--format=%s").splitlines()
    assert subjects == ["memory: remember The kitchen has green tea", "theirs"]
    assert git(project, "status", "--porcelain") == ""


def test_status_and_log_name_what_waits(project: Path, run: Run, say: Say, ask: Ask) -> None:
    remember(project)
    (waits,) = ask("status")["waiting"]
    assert waits["files"] == [FILE]
    assert f"({FILE}): stored in git" in say("status")
    rows = ask("log")
    assert [row["waiting"] for row in rows] == [True, False]
    assert rows[0]["id"] == waits["id"]
    assert "The kitchen has green tea" in say("log", waits["id"], "-p")
    done = run("add", "cat", "--type", "feedback", "--description", "Has a cat", "Tom.")
    assert "Committed now, as it was waiting: memory: remember" in done.err
    assert ask("status")["waiting"] == []


@pytest.mark.parametrize("words", seldom([["undo"], ["undo", "--session", "ses_1"]], 2))
def test_undo_of_a_waiting_change_takes_it_back(project: Path, git: Git, words: list[str]) -> None:
    remember(project)
    assert main(words) == 0
    assert not (project / "notes/memory" / FILE).exists()
    assert git(project, "status", "--porcelain") == ""
    assert "green tea" in git(project, "show", f"HEAD~1:notes/memory/{FILE}")


def test_a_compaction_that_is_due_moves_no_branch(project: Path, git: Git, ask: Ask) -> None:
    head = "---\nname: {0}\ndescription: Uses tabs.\nmetadata:\n  type: user\n---\n\nUses tabs.\n"
    for name in ("one", "two"):
        (project / f"notes/memory/user-{name}.md").write_text(head.format(name))
    before = git(project, "rev-parse", "HEAD")
    done = ask("compact", "--if-due")
    assert (done["outcome"], done["commit"]) == ("applied", None)
    assert git(project, "rev-parse", "HEAD") == before
    assert not (project / "notes/memory/user-two.md").exists()
    assert main(["undo"]) == 0
    assert (project / "notes/memory/user-two.md").read_text() == head.format("two")


@pytest.mark.parametrize(("after", "moves"), seldom([([], True), (["--after", "0.01"], False)], 2))
def test_a_session_that_is_read_in_the_background_moves_no_branch(
    project: Path, tmp_path: Path, git: Git, after: list[str], moves: bool
) -> None:
    said = {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": TEA}]}
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"info": {"id": "ses_1"}, "messages": [said]}))
    before = git(project, "rev-parse", "HEAD")
    done = subprocess.run(
        [*MDMEMORY, "extract", "--transcript", str(file), *after], cwd=project, check=True,
        capture_output=True, timeout=HUNG,
    )  # fmt: skip
    assert (project / "notes/memory" / FILE).exists()
    assert (git(project, "rev-parse", "HEAD") != before) is moves
    assert (b"kept in git" in done.stdout) is not moves


def test_what_git_itself_starts_moves_no_branch(project: Path, git: Git) -> None:
    remember(project)
    script(project / ".git/hooks/post-commit", " ".join([*MDMEMORY, "index"]))
    git(project, "commit", "-q", "--allow-empty", "-m", "theirs")
    assert git(project, "log", "-1", "--format=%s") == "theirs\n"
    assert len(Memory.open(project).waiting()) == 1
