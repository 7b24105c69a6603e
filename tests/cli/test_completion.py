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
from rows import each

from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS, COMMON, GROUPS, command_parser
from mdmemory.hosts import clients
from mdmemory.review.items import ACTIONS, KINDS

ROOT = Path(__file__).parents[2]
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
        for word in itertools.chain.from_iterable(options(name, module)):
            assert word in text or f"-l {word[2:]} " in text or f"-s {word[1:]} " in text
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
        for words in options(name, module):
            assert ", ".join(words) in plain
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


# `--help`: every command and option is there, in words that fit a screen.

COLUMNS, LINES = 80, 24
NAMES = [name for name, _, _ in COMMANDS]
# Words of ours that a person who knows git and markdown does not know.
UNCOMMON = re.compile(
    r"\b(?:held|heads?|layers?|hosts?|ops?|settle|epoch|door|desk|shelf|other hands|worked out)\b"
)


def helped(command: str) -> str:
    return command_parser(command).format_help()


@pytest.fixture(autouse=True)
def columns(monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))


def fits_a_screen(command: str, *_: str) -> None:
    lines = helped(command).splitlines()
    assert len(lines) < LINES, "one line is the prompt"
    assert max(map(len, lines)) <= COLUMNS - 2


def test_the_help_of_every_command_fits_a_screen() -> None:
    each([*COMMANDS], fits_a_screen)


def reads_well(command: str, _: str, line: str) -> None:
    parser = command_parser(command)
    about = " ".join((parser.description or "").split())
    assert re.match(r"[A-Z][a-z]+[ ,]", about), "a sentence that begins with its verb"
    assert about.endswith(".")
    assert re.match(r"[a-z]+ .*[^.]$", line), "no sentence"
    for action in parser._actions:
        told = action.help or ""
        assert re.match(r"[a-z]", told), action.dest
        assert not told.endswith("."), action.dest
    assert not UNCOMMON.search(helped(command) + line)


def test_the_help_of_every_command_is_in_common_words() -> None:
    each([*COMMANDS], reads_well)


def shows_all_that_it_takes(command: str, *_: str) -> None:
    shown = helped(command)
    assert shown.startswith(f"usage: mdmemory {command}")
    for action in command_parser(command)._actions:
        if action.dest not in COMMON:
            names = ", ".join(action.option_strings) or str(action.metavar)
            assert re.search(rf"^  {re.escape(names)}(?: |$)", shown, re.MULTILINE), names
            for choice in action.choices or ():
                assert re.search(rf"\b{choice}\b", shown), "a choice that nobody is told"


def test_the_help_of_every_command_has_all_its_options_and_choices() -> None:
    each([*COMMANDS], shows_all_that_it_takes)


def test_help_shows_the_usage_with_what_may_be_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: Patch
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["add", "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: mdmemory add [OPTIONS] TEXT [BODY…]\n")
    assert shown == helped("add")
    assert ", ".join(clients.NAMES) in " ".join(helped("setup").split())
    assert ", ".join(KINDS) in " ".join(helped("review").split())
    assert ", ".join(ACTIONS) in " ".join(helped("review").split())
    monkeypatch.setenv("COLUMNS", "45")
    with pytest.raises(SystemExit):
        main(["add", "--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 43


def test_no_command_shows_the_common_ones_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert main(["--help-all"]) == 0
    everything = capsys.readouterr().out
    commands, headings = r"^  ([a-z]+) ", r"^([A-Z][a-z -]+):$"
    assert re.findall(commands, everything, re.MULTILINE) == NAMES
    assert re.findall(headings, everything, re.MULTILINE)[:-1] == [*GROUPS.values()]
    daily = NAMES[: NAMES.index("extract")]
    assert re.findall(commands, shown, re.MULTILINE) == daily
    assert re.findall(headings, shown, re.MULTILINE) == ["Daily", "Set-up"]
    assert len(shown.splitlines()) <= 32
    assert max(map(len, everything.splitlines() + shown.splitlines())) <= COLUMNS
