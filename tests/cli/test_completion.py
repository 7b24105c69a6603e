"""The tab key and the manual page know every command, and the notes that are there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pace import HUNG

import mdmemory
from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS
from mdmemory.cli.completion import SHELLS, script
from mdmemory.cli.manual import commands

NAMES = [name for name, _, _ in COMMANDS]
# Prints what the tab key would offer for each line of its input; `|` stands between two words.
TAB = r"""
while IFS='|' read -r -a COMP_WORDS; do
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  [[ ${COMP_WORDS[COMP_CWORD]} == - ]] && COMP_WORDS[COMP_CWORD]=
  COMPREPLY=()
  _mdmemory
  echo "${COMPREPLY[*]}"
done
"""
# A `-` at the end is an empty word. A name may begin as the file or behind its type.
TABS = {
    "sho": "show",
    "show|-": "feedback-prefers-pnpm project-proxy-port me/user-editor",
    "show|pre": "prefers-pnpm",
    "show|project": "project-proxy-port",
    "show|me/": "me/user-editor",
    "forget|pre": "prefers-pnpm",
    "rename|prefers-pnpm|-": "",
    "review|c-1|keep|feed": "feedback-prefers-pnpm",
    "add|x|--type|fe": "feedback",
    "add|x|--desc": "--description",
    "config|g": "get",
    "config|set|index.t": "index.tracked",
    "--store|/nowhere|lis": "list",
    "search|--source|ses": "sessions",
    "nonsense|-": "",
}


@pytest.fixture
def stores(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two notes, and one in the person's own store."""
    monkeypatch.chdir(repository)
    monkeypatch.delenv("CI", raising=False)
    for name, type in (("prefers-pnpm", "feedback"), ("proxy-port", "project"), ("editor", "user")):
        assert main(["add", name, "--type", type, "--description", f"About {name}", "."]) == 0
    return repository


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_commands_options_settings_and_notes(stores: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"{script('bash')}\n{TAB}"], input="".join(f"mdmemory|{w}\n" for w in TABS),
        cwd=stores, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip
    assert done.stderr == ""
    assert dict(zip(TABS, done.stdout.splitlines(), strict=True)) == TABS


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_every_command_and_option(shell: str) -> None:
    text = script(shell)
    for command in commands():
        assert re.search(rf"\b{command.name}\b", text)
        for action in command.options():
            for name in action.option_strings:
                assert name in text or f"-l {name[2:]} " in text or f"-s {name[1:]} " in text
    if program := shutil.which(shell):
        done = subprocess.run([program, "-n"], input=text, text=True, timeout=HUNG)
        assert done.returncode == 0


def test_the_folders_of_notes_are_told_with_what_stands_before_a_name(
    stores: Path, empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["completion", "stores"]) == 0
    home = empty_home / "mdmemory"
    assert capsys.readouterr().out == f"{home / stores.name}\t\n{home / 'me'}\tme/\n"


def test_the_manual_page_has_every_command_and_option(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["completion", "man"]) == 0
    page = capsys.readouterr().out
    assert re.findall(r"^\.SS mdmemory (\w+)", page, re.MULTILINE) == NAMES
    plain = page.replace(r"\-", "-").replace(r"\fB", "").replace(r"\fR", "")
    for command in commands():
        for action in command.options():
            assert ", ".join(action.option_strings) in plain
    monkeypatch.setenv("COLUMNS", "40")
    main(["completion", "man"])
    assert capsys.readouterr().out == page, "the terminal's width is none of its business"


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_the_manual_page_is_roff_without_a_complaint(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "man"])
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z"], input=capsys.readouterr().out, capture_output=True,
        text=True, timeout=HUNG,
    )  # fmt: skip
    assert done.stderr == ""


def test_the_scripts_need_nothing_but_pythons_library() -> None:
    # a wheel is built where no dependency is installed
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-m", "mdmemory", "completion", "bash"],
        cwd=Path(mdmemory.__file__).parents[1], env={"PATH": os.environ["PATH"]},
        capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip
    assert (done.stderr, done.stdout) == ("", script("bash"))
