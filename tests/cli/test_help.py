"""`--help`: every command and option is there, in words that fit a screen."""

import re

import pytest
from projects import Patch
from rows import each

from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS, COMMON, GROUPS, command_parser
from mdmemory.hosts import clients
from mdmemory.review.items import ACTIONS, KINDS

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
    assert shown.startswith("usage: mdmemory add [OPTIONS] TEXT [BODY]\n")
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
