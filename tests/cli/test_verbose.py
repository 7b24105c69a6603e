"""--verbose and MDMEMORY_DEBUG say what is done, and nothing of what the notes say."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

SAID = "The launch code word is heron"
LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z mdmemory\[\d+\] "

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(repository: Path) -> Run:
    def step(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "mdmemory", *words], cwd=repository,
            env={**os.environ, **variables}, capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip

    assert step("init", "--store", "notes/memory").stderr == ""
    return step


ADD = ("add", "secret-bird", "--type", "feedback", "--description", SAID, "Body of the bird.")


def test_verbose_names_git_commands_and_files_on_stderr_alone(run: Run, repository: Path) -> None:
    done = run("--json", *ADD, "--verbose")
    assert done.returncode == 0
    assert json.loads(done.stdout)["name"] == "secret-bird"
    lines = done.stderr.splitlines()
    assert all(re.match(LINE, line) for line in lines)
    assert any(re.search(r"git update-ref: \d+ ms, exit 0$", line) for line in lines)
    written = repository / "notes/memory/feedback-secret-bird.md"
    assert any(line.endswith(f"{written}: written") for line in lines)


@pytest.mark.slow
def test_no_word_of_a_note_and_no_secret_is_logged(run: Run) -> None:
    done = run("--verbose", *ADD), run("compact", "--verbose"), run("search", SAID, "--verbose")
    for each in done:
        assert each.returncode == 0
        assert not {*SAID.split()[-4:], "Body"} & {*re.findall(r"\w+", each.stderr)}


@pytest.mark.slow
def test_a_file_gets_the_lines_of_every_process_and_only_its_owner_reads_it(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "debug.log"
    for words in (ADD, ("list",), ("log",)):
        assert run(*words, MDMEMORY_DEBUG=str(log)).stderr == ""
    lines = log.read_text("utf-8").splitlines()
    assert len({line.split()[1] for line in lines}) >= 2
    assert all(re.match(LINE, line) for line in lines)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_log_that_cannot_be_written_stops_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for place in (tmp_path / "link", tmp_path, tmp_path / "gone/debug.log"):
        done = run("list", MDMEMORY_DEBUG=str(place))
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        assert "MDMEMORY_DEBUG" in done.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_who_does_not_ask_loads_logging(run: Run, repository: Path) -> None:
    code = (
        "import sys; from mdmemory.cli import main; main(['list']); print('logging' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=repository, capture_output=True, text=True,
        timeout=HUNG,
    )  # fmt: skip
    assert done.stdout.endswith("False\n")
