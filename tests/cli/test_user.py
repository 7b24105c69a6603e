"""What a person meets on the first day: closed streams, an editor, a dry run, words that fit."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG, seldom
from projects import Ask, Git, Patch, Run, Say, script
from stores import BeginStore

Editor = Callable[[str], Path]
ADD = ("add", "tea", "--type", "feedback", "--description", "Drinks tea", "Green tea, no sugar.")


@pytest.fixture(scope="module")
def template(begin: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("user") / "project"
    begin(root, ("mdmemory", *ADD))
    return root


def notes() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path("notes/memory").glob("*.md")}


@pytest.fixture
def editor(monkeypatch: Patch, tmp_path: Path) -> Editor:
    """A person's editor that is this shell script, or for "" none that can be started; the folder
    that its copies are in."""
    monkeypatch.setattr("mdmemory.cli.notes.is_terminal", lambda: True)
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))

    def write(text: str) -> Path:
        path = script(tmp_path / "editor", text)
        path.chmod(0o755 if text else 0o644)
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
    ("text", "says", "copies_left"),
    [
        (': > "$1"', "empty file", 0), (r'printf "\377\376\300" > "$1"', "no UTF-8 text", 1),
        ("exit 1", "editor failed", 1), ("", "cannot be started", 1),
    ],
)  # fmt: skip
def test_an_editor_that_fails_or_leaves_no_text_changes_nothing(
    project: Path, run: Run, editor: Editor, text: str, says: str, copies_left: int
) -> None:
    copies, before = editor(text), notes()
    done = run("edit", "tea")
    assert (done.code, says in done.err) == (1, True), done
    assert notes() == before
    assert len(list(copies.iterdir())) == copies_left


@pytest.mark.parametrize(
    "words", [("add", "door", "--type", "feedback", "--description", "The door"), ("edit", "tea")]
)
def test_what_a_note_may_not_hold_is_kept_beside_after_the_editor(
    project: Path, fail: Say, editor: Editor, words: tuple[str, ...]
) -> None:
    editor('echo "password: hunter2hunter2" >> "$1"')
    before = notes()
    kept = Path(fail(*words).split("Your text is in ")[1].split(". ")[0])
    assert "hunter2" in kept.read_text(encoding="utf-8")
    assert notes() == before


def test_a_name_is_judged_before_the_editor_opens(project: Path, fail: Say, editor: Editor) -> None:
    copies = editor("echo written")
    fail("add", "../../door", "--type", "feedback", "--description", "The door")
    assert not list(copies.iterdir())


def test_what_could_not_be_committed_says_why(project: Path, run: Run) -> None:
    subprocess.run(["git", "checkout", "-q", "--detach"], check=True)
    done = run("edit", "tea", "Black tea, no sugar.")
    said = done.out + done.err
    assert (done.code, "not committed" in said, "git switch" in said) == (0, True, True), said


def test_an_undo_says_which_notes_went_and_which_came_back(project: Path, say: Say) -> None:
    Path("talk.txt").write_text("User: remember: the office is in Graz\n", encoding="utf-8")
    say("extract", "--transcript", "talk.txt")
    assert "removed: " in say("undo")
    assert "No new request" in say("extract", "--transcript", "talk.txt")
    say("forget", "tea")
    assert "restored: feedback-tea.md" in say("undo")


def test_a_dry_run_names_the_store_that_would_be_made(empty_home: Path, say: Say) -> None:
    assert "/mdmemory/me." in say("init", "--user", "--dry-run")
    assert [*empty_home.iterdir()] == []


def test_a_message_needs_no_quotes_to_be_explained(project: Path, say: Say) -> None:
    words = "Remember that we deploy on Tuesdays"
    assert "we deploy on Tuesdays" in say("explain", *words.split())


def test_a_folder_that_is_not_there_or_was_removed_under_the_person_is_named(
    tmp_path: Path, monkeypatch: Patch, fail: Say
) -> None:
    assert "No such folder" in fail("init", str(tmp_path / "none"), "--remove")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = [fail("list"), fail("init")]
    monkeypatch.chdir(tmp_path)
    assert all("was removed" in each for each in said)


def test_words_with_a_dash_can_be_asked_for(repository: Path, monkeypatch: Patch, say: Say) -> None:
    monkeypatch.chdir(repository)
    say("init", "--shared")
    words = ("--type", "feedback", "--description", "Runs it with -tea", "--", "-v")
    say("--store", ".", "add", "dash", *words)
    for asked in ("-- -tea", "-k 3 -- -tea", "runs -- -tea"):
        assert "feedback-dash.md" in say("search", *asked.split())


# --- a store that goes to another place ----------------------------------------------------------


@pytest.fixture
def begun(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Path:
    """A project with an empty store."""
    begin_store()
    monkeypatch.chdir(repository)
    return repository


def test_a_moved_store_is_told_with_what_is_left_to_commit(
    begun: Path, empty_home: Path, git: Git, say: Say, ask: Ask
) -> None:
    target = empty_home / "mdmemory" / "project"
    would = f"Would move {begun / 'notes/memory'} to {target}, with "
    assert say("move", "--dry-run").startswith(would)
    told = say("move")
    assert told.startswith(f"The store is {target} now, with ")
    (command,) = [line.strip() for line in told.splitlines() if line.startswith("  git ")]
    git(begun, *command.split()[3:])
    git(begun, "commit", "-q", "-m", "the memory moved")
    assert git(begun, "status", "--porcelain") == ""
    assert ask("status")["store"] == str(target)
    assert "lies there already" in say("move", "--dry-run")


def test_the_json_of_move(begun: Path, ask: Ask) -> None:
    told = ask("move", "--to", "here", "--folder", "own")
    assert told["removal"].endswith(" rm -r -q --cached -- notes/memory mdmemory.toml")
    assert {key: told[key] for key in ("from", "to", "kept", "commits")} == {
        "from": str(begun / "notes/memory"), "to": str(begun / "own"), "kept": [], "commits": 1,
    }  # fmt: skip


def test_opencodes_files_in_the_project_are_taken_out_after_a_move_and_not_made_again(
    begun: Path, say: Say, fail: Say
) -> None:
    say("init", "--opencode")
    assert (begun / ".opencode/plugin/mdmemory.ts").exists()
    assert "`mdmemory init --remove`" in say("move")
    say("init", "--remove")
    assert not [*begun.glob(".opencode/**/*.*")]
    for more in ((), ("--dry-run",)):
        assert "`mdmemory setup opencode`" in fail("init", "--opencode", *more, code=2)
    assert not (begun / "notes").exists()


def test_a_store_inside_a_project_that_has_one_elsewhere_says_how_its_notes_come_along(
    repository: Path, monkeypatch: Patch, say: Say
) -> None:
    monkeypatch.chdir(repository)
    say("init")
    say("add", "The harbour crane is booked by radio.")
    *_, hint = say("init", "--shared").splitlines()
    assert "the project's store until now, keeps its 1 note." in hint
    say(*hint.partition("`mdmemory ")[2].partition("`")[0].split())
    assert "The harbour crane is booked by radio" in say("list")
    assert "until now" not in say("init", "--shared")
