"""The manual page, mdmemory(1), made from the table of commands and their parsers."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdmemory.cli.commands import COMMANDS, GROUPS, command_and_parser
from mdmemory.cli.help import COMMON
from mdmemory.version import VERSION

_ENDS = """\
.SH EXIT STATUS
.TP
.B 0
Done, or nothing to do.
.TP
.B 1
Refused or failed: one sentence on standard error, with the next step.
.TP
.B 2
Unknown command or option, or a missing argument.
.TP
.B 3
Unexpected error; the message names a log file.
.SH FILES
.TP
.I ~/mdmemory/
The memory folder: your own store
.IR me ,
and a store for each project. Notes are markdown, one fact in each, in git.
.TP
.I ~/.config/mdmemory/config.toml
Your own settings;
.B mdmemory config
lists them.
.SH SEE ALSO
.BR git (1)
"""


@dataclass(frozen=True, slots=True)
class Described:
    """A command: its name, the line about it, and the parser of its words."""

    name: str
    line: str
    parser: ArgumentParser

    def options(self) -> list[argparse.Action]:
        """Its options, and those of every command."""
        return [each for each in self.parser._actions if each.option_strings]

    def words(self) -> list[argparse.Action]:
        """What it takes without a dash, in this order."""
        return [each for each in self.parser._actions if not each.option_strings]


def commands() -> list[Described]:
    """Every command, in the order of the table."""
    return [Described(name, line, command_and_parser(name, of)[1]) for name, of, line in COMMANDS]


def page(commands: Sequence[Described]) -> str:
    """The page as roff. It has no date, so that two builds give the same bytes."""
    lines = [
        f'.TH MDMEMORY 1 "" "mdmemory {VERSION}" "User Commands"',
        ".SH NAME", r"mdmemory \- long\-term memory for coding assistants: markdown notes in git",
        ".SH SYNOPSIS", ".B mdmemory", r"[\fB\-\-store\fR \fIPATH\fR] \fICOMMAND\fR ...",
        ".SH DESCRIPTION",
        "Keeps what you tell your assistants as plain markdown, one fact in a file, in git, and "
        "gives it to them in later sessions.",
        ".SH OPTIONS", "Every command has these:",
    ]  # fmt: skip
    common = [each for each in commands[0].options() if each.dest in COMMON]
    lines += [line for each in common for line in _option(each)]
    for command in commands:
        if command.name in GROUPS:
            lines.append(f".SH {_plain(GROUPS[command.name]).upper()} COMMANDS")
        lines += _command(command)
    return "\n".join(lines) + "\n" + _ENDS


def _command(command: Described) -> Iterator[str]:
    words = " ".join(_word(each) for each in command.words())
    yield f".SS mdmemory {_plain(command.name)} {words}".rstrip()
    yield _plain(" ".join((command.parser.description or "").split()))
    for each in command.options():
        if each.dest not in COMMON:
            yield from _option(each)


def _word(action: argparse.Action) -> str:
    name = _plain(str(action.metavar or action.dest))
    shown = rf"\fI{name}\fR" + ("..." if action.nargs in ("*", "+") else "")
    return f"[{shown}]" if action.nargs in ("?", "*") else shown


def _option(action: argparse.Action) -> Iterator[str]:
    names = ", ".join(rf"\fB{_plain(name)}\fR" for name in action.option_strings)
    value = "" if action.nargs == 0 else rf" \fI{_plain(_named(action))}\fR"
    yield from (".TP", f"{names}{value}", _plain(about(action)))


def about(action: argparse.Action) -> str:
    """What an option or a word does, in one line."""
    return "; ".join(((action.help or "") % vars(action)).splitlines())


def _named(action: argparse.Action) -> str:
    if action.choices and not action.metavar:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _plain(text: str) -> str:
    """Text in which roff finds no request of its own."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)
