"""What a person meets on the first day: closed streams, an editor, a dry run, words that fit."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG, seldom

from mdmemory.cli import main

ADD = ("add", "tea", "--type", "feedback", "--description", "Drinks tea", "Green tea, no sugar.")


@pytest.fixture(scope="module")
def template(begin: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("user") / "project"
    begin(root, ("mdmemory", *ADD))
    return root


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs a command; its exit code and all that it said."""

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(words)
        out, err = capsys.readouterr()
        return code, out + err

    return run


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """A person's editor that is this shell script, or for "" none that can be started; the folder
    that its copies are in."""
    monkeypatch.setattr("mdmemory.cli.notes.is_terminal", lambda: True)
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))

    def write(script: str) -> Path:
        path = tmp_path / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755 if script else 0o644)
        monkeypatch.setenv("EDITOR", str(path))
        return copies

    return write


@pytest.mark.parametrize(
    ("words", "closed", "code", "says"),
    seldom(
        [
            ("extract --transcript -", "<&-", 1, "The transcript is empty."),
            ("add tea --type feedback --description Tea", "<&-", 2, "The note has no body."),
            ("list", ">&-", 0, ""),
            ("list", ">/dev/full", 1, "The output cannot be written: No space left on device."),
        ],
        3,
    ),
)
def test_a_closed_or_full_stream_is_no_crash(
    project: Path, words: str, closed: str, code: int, says: str
) -> None:
    command = f'exec "$0" -P -c "from mdmemory.cli import run; run()" {words} {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], cwd=project, env=dict(os.environ),
        capture_output=True, text=True, timeout=HUNG, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == bool(says)


@pytest.mark.parametrize(
    ("script", "says", "copies_left"),
    [
        (': > "$1"', "empty file", 0), (r'printf "\377\376\300" > "$1"', "no UTF-8 text", 1),
        ("exit 1", "editor failed", 1), ("", "cannot be started", 1),
    ],
)  # fmt: skip
def test_an_editor_that_fails_or_leaves_no_text_changes_nothing(
    project: Path, say: Callable[..., tuple[int, str]], editor: Callable[[str], Path],
    script: str, says: str, copies_left: int,
) -> None:  # fmt: skip
    copies = editor(script)
    before = Path("notes/memory/feedback-tea.md").read_bytes()
    code, said = say("edit", "tea")
    assert (code, says in said) == (1, True), said
    assert Path("notes/memory/feedback-tea.md").read_bytes() == before
    assert len(list(copies.iterdir())) == copies_left


@pytest.mark.parametrize(
    "words", [("add", "door", "--type", "feedback", "--description", "The door"), ("edit", "tea")]
)
def test_what_a_note_may_not_hold_is_kept_beside_after_the_editor(
    project: Path, say: Callable[..., tuple[int, str]], editor: Callable[[str], Path],
    words: tuple[str, ...],
) -> None:  # fmt: skip
    editor('echo "password: hunter2hunter2" >> "$1"')
    before = {path: path.read_bytes() for path in Path("notes/memory").glob("*.md")}
    code, said = say(*words)
    kept = Path(said.split("Your text is in ")[1].split(". ")[0])
    assert "hunter2" in kept.read_text(encoding="utf-8")
    assert code == 1
    assert {path: path.read_bytes() for path in Path("notes/memory").glob("*.md")} == before


def test_a_name_is_judged_before_the_editor_opens(
    project: Path, say: Callable[..., tuple[int, str]], editor: Callable[[str], Path]
) -> None:
    copies = editor("echo written")
    assert say("add", "../../door", "--type", "feedback", "--description", "The door")[0] == 1
    assert not list(copies.iterdir())


def test_what_could_not_be_committed_says_why(
    project: Path, say: Callable[..., tuple[int, str]]
) -> None:
    subprocess.run(["git", "checkout", "-q", "--detach"], check=True)
    code, said = say("edit", "tea", "Black tea, no sugar.")
    assert (code, "not committed" in said, "git switch" in said) == (0, True, True), said


def test_an_undo_says_which_notes_went_and_which_came_back(
    project: Path, say: Callable[..., tuple[int, str]]
) -> None:
    Path("talk.txt").write_text("User: remember: the office is in Graz\n", encoding="utf-8")
    assert say("extract", "--transcript", "talk.txt")[0] == 0
    assert "removed: " in say("undo")[1]
    assert "No new request" in say("extract", "--transcript", "talk.txt")[1]
    say("forget", "tea")
    assert "restored: feedback-tea.md" in say("undo")[1]


def test_a_dry_run_names_the_store_that_would_be_made(
    tmp_path: Path, say: Callable[..., tuple[int, str]]
) -> None:
    _, said = say("init", "--user", "--dry-run")
    assert "/mdmemory/me." in said


def test_a_message_needs_no_quotes_to_be_explained(
    project: Path, say: Callable[..., tuple[int, str]]
) -> None:
    said = say("explain", "Remember", "that", "we", "deploy", "on", "Tuesdays")[1]
    assert "we deploy on Tuesdays" in said


def test_nothing_is_taken_out_of_a_folder_that_is_not_there(
    tmp_path: Path, say: Callable[..., tuple[int, str]]
) -> None:
    code, said = say("init", str(tmp_path / "none"), "--remove")
    assert (code, "No such folder" in said) == (1, True), said


@pytest.mark.parametrize("command", ["list", "init"])
def test_a_folder_that_was_removed_under_the_person_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Callable[..., tuple[int, str]],
    command: str,
) -> None:  # fmt: skip
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, said = say(command)
    monkeypatch.chdir(tmp_path)
    assert (code, "was removed" in said) == (1, True), said


def test_words_that_begin_with_a_dash_can_be_asked_for(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    assert main(["init", "--shared"]) == 0
    words = ["--type", "feedback", "--description", "Runs it with -tea", "-v"]
    assert main(["--store", ".", "add", "dash", *words[:-1], "--", words[-1]]) == 0
    for asked in (["--", "-tea"], ["-k", "3", "--", "-tea"], ["runs", "--", "-tea"]):
        capsys.readouterr()
        assert main(["search", *asked]) == 0
        assert "feedback-dash.md" in capsys.readouterr().out
