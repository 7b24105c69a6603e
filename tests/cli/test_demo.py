"""The demo shows what it says: real commands, real git, in a folder of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from citing_projects import CitedProject
from pace import HUNG
from projects import Ask, Git, Patch, Run, Say, script

from mdmemory import assets
from mdmemory.cli import main

NOTES = assets.asset_path("templates/demo/notes")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a demo that ran, and all that it said."""
    folder, home = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("home")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mdmemory", "demo", str(folder)],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True, text=True, check=True, timeout=HUNG,
    )  # fmt: skip
    assert done.stderr == ""
    assert not any(home.iterdir())
    return folder, done.stdout


CHANGE = "$ mdmemory add 'Deploys go out on Thursdays only' --replaces deploys-go-out-on-tuesdays"
STEPS = [
    "$ mdmemory init",
    "$ mdmemory index",
    "$ mdmemory extract --transcript transcript.json",
    "$ cat ~/mdmemory/billing/MEMORY.md",
    "$ mdmemory compact",
    "$ git -C ~/mdmemory/billing show --stat --format=%s; "
    "tail -n 1 ~/mdmemory/billing/_CONFLICTS.md",
    "$ git -C ~/mdmemory/billing revert --no-edit HEAD",
    "$ mdmemory index --check",
    "> Remember that deploys go out on Tuesdays only.",
    CHANGE,
    "$ grep Deploys ~/mdmemory/billing/MEMORY.md",
    "$ mdmemory forget reference-error-dashboard",
    "$ mdmemory undo",
    "$ mdmemory add 'Indent Python with spaces, width 8'",
    "$ mdmemory review | cat",
    "$ mdmemory log -n 3",
]
ROWS = 30  # of a terminal that shows a step at once


def shown(out: str) -> dict[str, str]:
    """What each step printed, by the command or the words that it shows."""
    parts = re.split(r"\n\n# .+\n([$>] .+)\n", out.partition("\nWhere to look:")[0])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_demo_shows_the_main_job_from_end_to_end(played: tuple[Path, str], git: Git) -> None:
    folder, out = played
    steps = shown(out)
    assert list(steps) == STEPS
    assert all(step.count("\n") <= ROWS for step in out.split("\n# ")), "each fits on a screen"
    extracted = steps["$ mdmemory extract --transcript transcript.json"]
    assert len(re.findall("^added: ", extracted, re.MULTILINE)) == 3
    compacted = steps["$ mdmemory compact"]
    assert re.search(r"^merge feedback-prefers-pnpm\.md \+ ", compacted, re.MULTILINE)
    assert re.search(r"^flag feedback-indent-with-spaces\.md × ", compacted, re.MULTILINE)
    flagged = r"^- \[ \] c-\w+ \[feedback-indent-with-spaces\]"
    assert re.search(flagged, steps[STEPS[5]], re.MULTILINE)
    assert "4 files changed" in steps[STEPS[6]]
    assert steps["$ mdmemory index --check"].startswith(f"{folder}/mdmemory/billing/MEMORY.md is ")
    assert git(folder / "billing", "status", "--porcelain") == "?? transcript.json\n"


def test_the_demo_changes_its_mind_and_one_of_two_lines_is_left(played: tuple[Path, str]) -> None:
    steps = shown(played[1])
    kept = steps["> Remember that deploys go out on Tuesdays only."]
    assert kept.startswith("mdmemory: Remembered in your words: Deploys go out on Tuesdays only. ")
    assert "\nIt replaces project-deploys-go-out-on-tuesdays.md, " in steps[CHANGE]
    (line,) = steps["$ grep Deploys ~/mdmemory/billing/MEMORY.md"].splitlines()
    index = (played[0] / "mdmemory/billing/MEMORY.md").read_text("utf-8").splitlines()
    assert [each for each in index if "eploys" in each] == [line]
    assert "Thursdays" in line


def test_the_demo_forgets_a_note_and_takes_that_back(played: tuple[Path, str], git: Git) -> None:
    steps, file = shown(played[1]), "reference-error-dashboard.md"
    assert steps["$ mdmemory forget reference-error-dashboard"].startswith(f"Removed {file} ")
    assert f"restored: {file}\n" in steps["$ mdmemory undo"]
    words = "log --format= --name-status --no-renames --".split()
    changes = git(played[0] / "mdmemory/billing", *words, file)
    assert re.findall(r"^\w", changes, re.MULTILINE) == ["A", "D", "A"]


def test_what_waits_in_the_demo_waits_there_afterwards(played: tuple[Path, str], say: Say) -> None:
    listed = shown(played[1])["$ mdmemory review | cat"]
    assert "this: indent-with-spaces" in listed
    assert "that: indent-python-with-spaces-width" in listed
    (command,) = re.findall(r"^  the inbox .+?mdmemory (--.+)$", played[1], re.MULTILINE)
    assert say(*command.split()).strip() == listed.strip()


def test_after_the_demo_every_note_has_its_bytes_and_new_ones_are_added(
    played: tuple[Path, str],
) -> None:
    store, notes = played[0] / "mdmemory/billing", {note.name: note for note in NOTES.iterdir()}
    for name, note in notes.items():
        assert (store / name).read_bytes() == note.read_bytes()
    typed = 3  # two about deploys, one about indentation
    added = {path.name for path in store.glob("*.md")} - {*notes, "MEMORY.md", "_CONFLICTS.md"}
    assert len(added) == 3 + typed


@pytest.mark.slow
def test_the_demo_is_blind_to_the_callers_settings_and_keeps_them(
    tmp_path: Path, empty_home: Path, monkeypatch: Patch
) -> None:
    for name in ("MDMEMORY_STORE", "MEMORY_INDEX_MAX_ENTRIES", "GIT_DIR", "CI"):
        monkeypatch.setenv(name, "/nowhere")
    (empty_home / ".config/mdmemory").mkdir(parents=True)
    (empty_home / ".config/mdmemory/config.toml").write_text("no settings", encoding="utf-8")
    (empty_home / ".gitconfig").write_text("no configuration", encoding="utf-8")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ), sorted(empty_home.rglob("*"))
    assert main(["demo", "here"]) == 0
    assert (dict(os.environ), sorted(empty_home.rglob("*"))) == before
    assert Path.cwd() == tmp_path
    assert (tmp_path / "here/mdmemory/billing/.git").is_dir()


@pytest.mark.slow
def test_without_a_folder_the_demo_names_one(tmp_path: Path, monkeypatch: Patch, say: Say) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = say("demo")
    (folder,) = tmp_path.iterdir()
    assert f"The demo's home folder is {folder};" in told


def test_without_git_the_demo_says_so(tmp_path: Path, monkeypatch: Patch, fail: Say) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "Install git" in fail("demo", str(tmp_path / "demo"))
    assert not (tmp_path / "demo").exists()


# `mdmemory check` as a person, a hook and a pull request use it.

PORT = "src/server.py#L4"


@pytest.fixture
def inside(cited: CitedProject, monkeypatch: Patch) -> CitedProject:
    """The project, with the test standing in it and a note on its port."""
    monkeypatch.chdir(cited.top)
    words = ("It listens on port 8081, see src/server.py", "--name", "port", "--type", "project")
    assert main(["add", *words]) == 0
    return cited


FRESH = (0, "1 citation in 1 note: 1 fresh.\n", "")


def test_what_stands_is_counted_and_what_drifted_is_shown_with_its_lines(
    inside: CitedProject, run: Run, ask: Ask
) -> None:
    assert run("check") == FRESH
    assert run("check", "--all").out.startswith(f"project-port.md\n  fresh    {PORT}\n")
    inside.replace("src/server.py", "8081", "9090")
    code, out, _ = run("check")
    lines = "      -PORT = 8081\n      +PORT = 9090\n"
    assert (code, out.startswith(f"project-port.md\n  drifted  {PORT}\n{lines}")) == (1, True)
    answer = ask("check", "port", code=1)
    assert (answer["ok"], answer["citations"][0]["state"]) == (False, "drifted")
    _, out, problems = run("show", "port")
    assert out.endswith("---\n")
    assert "-PORT = 8081" in problems
    assert "mdmemory review project-port keep" in problems


@pytest.mark.slow
def test_the_next_step_that_is_named_settles_it(inside: CitedProject, run: Run, say: Say) -> None:
    inside.replace("src/server.py", "8081", "9090")
    assert "`edit` it, or `review NAME keep` if it holds" in say("check", code=1)
    say("edit", "port", "It listens on port 9090, see src/server.py")
    say("check", code=1)  # other words alone say nothing of the lines
    for _ in range(2):  # again: no change
        say("review", "port", "keep")
        assert run("check") == FRESH


def test_a_note_that_a_newer_one_replaced_is_checked_by_its_name_alone(
    inside: CitedProject, run: Run, say: Say
) -> None:
    inside.replace("src/server.py", "8081", "9090")
    say("check", code=1)
    fact = "It listens on port 9090, see src/server.py"
    assert "It replaces project-port.md" in say("add", fact, "--replaces", "port")
    say("check", "--diff", "HEAD")
    assert run("check") == FRESH
    say("check", "port", code=1)


def test_add_shows_what_it_cites_and_where(inside: CitedProject, say: Say, fail: Say) -> None:
    words = ("add", "Why the server binds", "--cite", "src/server.py#L9-L10", "--cite", "docs/")
    assert "cites        src/server.py#L9-L10\ncites        docs/\n" in say(*words)
    none = ("add", "Why the server waits", "--cite", "src/none.py")
    assert "could be cited" in fail(*none, code=2)


def test_outside_a_project_and_for_a_note_of_ones_own_there_is_one_sentence(
    inside: CitedProject, say: Say, fail: Say, monkeypatch: Patch, tmp_path: Path
) -> None:
    say("add", "I like tea", "--type", "user", "--name", "tea")
    assert fail("check", "tea").count("\n") == 1
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    told = fail("check")
    assert (told.count("\n"), "only a project's notes cite" in told) == (1, True)


@pytest.mark.slow
def test_a_hook_stops_a_commit_that_drifts_a_note_and_no_other(inside: CitedProject) -> None:
    command = f'"{sys.executable}" -P -m mdmemory check --diff HEAD'
    script(inside.top / ".git/hooks/pre-commit", command)

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
    repository: Path, tmp_path: Path, monkeypatch: Patch, say: Say, ask: Ask
) -> None:
    shared, clone = CitedProject(repository), tmp_path / "clone"
    shared.write("app.py", "RETRIES = 3\nLIMIT = 20000\n")
    shared.commit()
    monkeypatch.chdir(repository)
    say("init", "--shared")
    say("add", "A call is repeated RETRIES times, 3, in app.py", "--name", "retries")
    say("add", "The LIMIT of app.py is 20000", "--name", "limit")
    shared.commit()
    shared.git("switch", "-q", "-c", "topic")
    shared.replace("app.py", "RETRIES = 3", "RETRIES = 5")
    shared.commit()
    shared.git("clone", "-q", str(repository), str(clone))
    monkeypatch.chdir(clone)
    monkeypatch.setenv("CI", "true")
    found = ask("check", "--diff", "origin/main", code=1)["citations"]
    assert [each["file"] for each in found] == ["project-retries.md"]
    nothing = "Nothing that the notes cite drifts since HEAD.\n"
    assert say("check", "--diff", "HEAD") == nothing
