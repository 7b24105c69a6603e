"""The demo shows what it says: real commands, real git, in a folder of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory import assets
from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS

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


def test_the_demo_shows_the_main_job_from_end_to_end(
    played: tuple[Path, str], git: Callable[..., str]
) -> None:
    folder, out = played
    steps = shown(out)
    assert list(steps) == STEPS
    assert {step.split()[2] for step in steps if step.startswith("$ mdmemory")} <= {
        name for name, _, _ in COMMANDS
    }
    compacted = steps["$ mdmemory compact"]
    assert re.search(r"^merge feedback-prefers-pnpm\.md \+ ", compacted, re.MULTILINE)
    assert re.search(r"^flag feedback-indent-with-spaces\.md × ", compacted, re.MULTILINE)
    assert re.search(
        r"^- \[ \] c-\w+ \[feedback-indent-with-spaces\]", steps[STEPS[5]], re.MULTILINE
    )
    assert "4 files changed" in steps[STEPS[6]]
    assert steps["$ mdmemory index --check"].startswith(f"{folder}/mdmemory/billing/MEMORY.md is ")
    assert git(folder / "billing", "status", "--porcelain") == "?? transcript.json\n"


def test_each_step_of_the_demo_fits_on_a_screen(played: tuple[Path, str]) -> None:
    steps = played[1].split("\n# ")
    assert len(steps) > 10
    assert all(step.count("\n") <= ROWS for step in steps)


def test_the_demo_changes_its_mind_and_one_line_of_the_two_is_left(
    played: tuple[Path, str],
) -> None:
    steps = shown(played[1])
    kept = steps["> Remember that deploys go out on Tuesdays only."]
    assert kept.startswith("mdmemory: Remembered in your words: Deploys go out on Tuesdays only. ")
    assert "\nIt replaces project-deploys-go-out-on-tuesdays.md, " in steps[CHANGE]
    (line,) = steps["$ grep Deploys ~/mdmemory/billing/MEMORY.md"].splitlines()
    index = (played[0] / "mdmemory/billing/MEMORY.md").read_text("utf-8").splitlines()
    assert [each for each in index if "eploys" in each] == [line]
    assert "Thursdays" in line


def test_the_demo_forgets_a_note_and_takes_that_back(
    played: tuple[Path, str], git: Callable[..., str]
) -> None:
    steps, file = shown(played[1]), "reference-error-dashboard.md"
    assert steps["$ mdmemory forget reference-error-dashboard"].startswith(f"Removed {file} ")
    assert f"restored: {file}\n" in steps["$ mdmemory undo"]
    words = "log --format= --name-status --no-renames --".split()
    changes = git(played[0] / "mdmemory/billing", *words, file)
    assert re.findall(r"^\w", changes, re.MULTILINE) == ["A", "D", "A"]


def test_what_waits_in_the_inbox_of_the_demo_waits_there_afterwards(
    played: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = shown(played[1])["$ mdmemory review | cat"]
    assert "this: indent-with-spaces" in listed
    assert "that: indent-python-with-spaces-width" in listed
    (command,) = re.findall(r"^  the inbox .+?mdmemory (--.+)$", played[1], re.MULTILINE)
    assert main(command.split()) == 0
    assert capsys.readouterr().out.strip() == listed.strip()


def test_after_the_demo_every_note_has_its_bytes_again(played: tuple[Path, str]) -> None:
    store = played[0] / "mdmemory/billing"
    for note in NOTES.iterdir():
        assert (store / note.name).read_bytes() == note.read_bytes()


def test_the_demo_stores_what_was_asked_and_nothing_else(played: tuple[Path, str]) -> None:
    extracted = shown(played[1])["$ mdmemory extract --transcript transcript.json"]
    assert len(re.findall("^added: ", extracted, re.MULTILINE)) == 3
    before = {note.name for note in NOTES.iterdir()}
    after = {path.name for path in (played[0] / "mdmemory/billing").glob("*.md")}
    typed = 3  # two about deploys, one about indentation
    assert len(after - before - {"MEMORY.md", "_CONFLICTS.md"}) == 3 + typed


@pytest.mark.slow
def test_the_demo_is_blind_to_the_callers_settings_and_keeps_them(
    tmp_path: Path, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEMORY_STORE", "/nowhere")
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "none")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("CI", "true")
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


def test_without_a_folder_the_demo_makes_one_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["demo"]) == 0
    (folder,) = tmp_path.iterdir()
    assert f"The demo's home folder is {folder};" in capsys.readouterr().out


def test_without_git_the_demo_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo", str(tmp_path / "demo")]) == 1
    assert "Install git" in capsys.readouterr().err
    assert not (tmp_path / "demo").exists()
