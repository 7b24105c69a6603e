"""What a person meets on the first day: closed streams, an editor, a dry run, words that fit."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG, seldom
from projects import Ask, Git, Patch, Run, Say, script
from rows import each
from stores import BeginStore

from mdmemory.memory import Memory

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


# A fact said in one sentence becomes a note: what it is, and what it is called, is worked out.

DEPLOYS = "Deploys go out on Tuesdays only. The CDN purges on Mondays"


def test_type_name_and_description_are_worked_out_and_shown(begun: Path, say: Say) -> None:
    shown = say("add", DEPLOYS)
    assert "Stored project-deploys-go-out-on-tuesdays.md" in shown
    assert "description  Deploys go out on Tuesdays only\n" in shown
    note = Memory.open(begun).note("deploys-go-out-on-tuesdays").note
    assert note.body.strip() == "The CDN purges on Mondays"
    again = say("add", f"{DEPLOYS.lower()}.")
    assert "project-deploys-go-out-on-tuesdays.md already says this" in again
    assert len(Memory.open(begun).notes()) == 1


def test_a_note_of_one_sentence_is_edited_by_a_sentence(begun: Path, say: Say) -> None:
    def edited(name: str, words: str) -> tuple[str, str]:
        shown = say("edit", name, words)
        note = Memory.open(begun).note(name).note
        assert f"description  {note.head.description}\n" in shown or note.body.strip() == words
        return note.head.description, note.body.strip()

    say("add", "The staging port is 8080", "--name", "staging-port")
    said = "The staging port is 8081, as Ada said in May"
    assert edited("staging-port", f"{said}.") == (said, "")
    index = (Memory.open(begun).project.store / "MEMORY.md").read_text(encoding="utf-8")
    assert "8081" in index
    assert "8080" not in index
    say("add", "uses-pnpm", "--type", "project", "--description", "Uses pnpm", "Uses pnpm.")
    said = "Uses pnpm with Corepack"
    assert edited("uses-pnpm", said) == (said, said)
    detail = "Ask the release manager for exceptions."
    assert edited("uses-pnpm", detail) == (said, detail), "something else to say is its text"
    assert edited("uses-pnpm", "Uses pnpm 9") == (said, "Uses pnpm 9"), "as a text that it has"


def test_what_is_given_is_taken(begun: Path, run: Run, ask: Ask, monkeypatch: Patch) -> None:
    done = ask("add", "We deploy with Kamal", "--type", "reference", "--name", "deploy-tool")
    assert (done["file"], done["layer"]) == ("reference-deploy-tool.md", "project")
    assert ask("add", "We ship on Tuesdays", "--why", "Ada asked.")["body"] == "Why: Ada asked."
    ask("add", "no-npm", "--type", "project", "--description", "No npm", "--why", "why: it broke")
    assert Memory.open(begun).note("no-npm").note.body.strip() == "Why: it broke"
    monkeypatch.setattr("sys.stdin", io.StringIO("the staging box is at 10.0.4.7\n"))
    assert ask("add", "-")["file"] == "project-the-staging-box-is-at.md"
    for more in (["I am colour-blind"], [*"Use tabs in Makefiles".split(), "--everywhere"]):
        assert json.loads(run("add", *more, "--json").out)["layer"] == "user"


REFUSED = (
    (["tabs" * 99], f"{'tabs' * 20}… is a name, and no fact"),
    (["go-tabs", "--type", "feedback"], "has no description"),
    (["go-tabs", "--description", "Uses tabs", "In Go."], "needs --type"),
    (["my password is hunter2xYz9Q4"], "secret"),
)


def test_what_is_no_fact_is_refused_with_the_next_step(begun: Path, run: Run) -> None:
    def check(words: list[str], why: str) -> None:
        done = run("add", *words)
        assert (done.code > 0, why in done.err) == (True, True), done
        assert Memory.open(begun).notes() == []

    each(REFUSED, check)


def test_python_takes_a_sentence_too(begun: Path) -> None:
    memory = Memory.open(begun)
    assert memory.add(DEPLOYS).file == "project-deploys-go-out-on-tuesdays.md"
    assert memory.add(DEPLOYS).same
    fact = "Deploys go out on Thursdays only"
    beside = Memory.around(begun).add("Deploys go out on Fridays only. The CDN purges on Mondays")
    assert not beside.superseded, "what is untrue now, a person says"
    assert beside.doubtful
    again = Memory.around(begun).add(fact, replaces=["deploys-go-out-on-tuesdays"])
    assert [pair["file"] for pair in again.superseded] == ["project-deploys-go-out-on-tuesdays.md"]
