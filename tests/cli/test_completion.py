"""The tab key and the manual page know every command, and the notes that are there."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pace import HUNG
from projects import Patch

import mdmemory
from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS, command_parser

ROOT = Path(mdmemory.__file__).parents[1]
SHELLS = ("bash", "zsh", "fish")
# Prints what the tab key would offer for each line of its input; `|` stands between two words.
TAB = r"""
while IFS='|' read -r -a COMP_WORDS; do
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  [[ ${COMP_WORDS[COMP_CWORD]} == - ]] && COMP_WORDS[COMP_CWORD]=
  COMPREPLY=()
  _shtab_mdmemory
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
}


def built(wanted: str) -> str:
    """What is made of the parsers when a wheel is built."""
    done = subprocess.run(
        [sys.executable, ROOT / "hatch_build.py", wanted], cwd=ROOT,
        capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def options(name: str, module: str) -> list[list[str]]:
    return [each.option_strings for each in command_parser(name)._actions if each.option_strings]


@pytest.fixture
def stores(repository: Path, monkeypatch: Patch) -> Path:
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
        ["bash", "-c", f"{built('bash')}\n{TAB}"], input="".join(f"mdmemory|{w}\n" for w in TABS),
        cwd=stores, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip
    assert done.stderr == ""
    assert dict(zip(TABS, done.stdout.splitlines(), strict=True)) == TABS


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_every_command_and_option(shell: str) -> None:
    text = built(shell)
    for name, module, _ in COMMANDS:
        assert re.search(rf"\b{name}\b", text)
        for each in itertools.chain.from_iterable(options(name, module)):
            assert each in text or f"-l {each[2:]} " in text or f"-s {each[1:]} " in text
    if program := shutil.which(shell):
        assert subprocess.run([program, "-n"], input=text, text=True, timeout=HUNG).returncode == 0


def test_the_folders_of_notes_are_told_with_what_stands_before_a_name(
    stores: Path, empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["completion", "stores"]) == 0
    home = empty_home / "mdmemory"
    assert capsys.readouterr().out == f"{home / stores.name}\t\n{home / 'me'}\tme/\n"


def test_the_manual_page_has_every_command_and_option(monkeypatch: Patch) -> None:
    page = built("man")
    found = re.findall(r"^\.SS mdmemory (\w+)", page, re.MULTILINE)
    assert found == [name for name, _, _ in COMMANDS]
    plain = page.replace(r"\-", "-").replace(r"\fB", "").replace(r"\fR", "")
    for name, module, _ in COMMANDS:
        for each in options(name, module):
            assert ", ".join(each) in plain
    monkeypatch.setenv("COLUMNS", "40")
    assert built("man") == page, "the terminal's width is none of its business"
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=HUNG
        )
        assert done.stderr == ""


def test_an_installed_file_is_printed_and_one_that_is_missing_named(
    monkeypatch: Patch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "mdmemory_git-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: mdmemory-git\nVersion: 1\n")
    (tmp_path / "share/man/man1").mkdir(parents=True)
    (tmp_path / "share/man/man1/mdmemory.1").write_text("the page\n")
    (info / "RECORD").write_text("share/man/man1/mdmemory.1,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["completion", "man"]) == 0
    assert capsys.readouterr().out == "the page\n"
    assert main(["completion", "fish"]) == 1
    assert "mdmemory.fish is not installed. `pip install" in capsys.readouterr().err
