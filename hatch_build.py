"""Makes the manual page and the scripts for tab completion when a wheel is built.

pip puts them where `man` and the shells look, below the prefix of the environment. All are made
from the parsers of the commands: the scripts by shtab, the page here.

    python hatch_build.py bash      # or zsh, fish, man: prints the file
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
PLACES = {
    "man": "share/man/man1/mdmemory.1",
    "bash": "share/bash-completion/completions/mdmemory",
    "zsh": "share/zsh/site-functions/_mdmemory",
    "fish": "share/fish/vendor_completions.d/mdmemory.fish",
}
# what completes the name of a note: a function of templates/completion
NOTES = {"bash": "_mdmemory_notes", "zsh": "_mdmemory_notes", "fish": "(__mdmemory_notes)"}
LISTED = re.compile(r"[a-z]+(?:, [a-z]+)+(?= \(|$)")  # a help that begins with the choices
COMMON = ("help", "store", "json", "verbose")  # options of every command

# --- the hook


class CustomBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files and name them to the builder."""
        self.folder = tempfile.mkdtemp()
        # what a build needs lies where pip alone knows, and has told this process
        places = os.pathsep.join([self.root, *filter(None, sys.path)])
        clean = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": places}
        for wanted, place in PLACES.items():
            words = [sys.executable, "-B", __file__, wanted]
            made = subprocess.run(
                words, cwd=self.root, env=clean, check=True, stdout=subprocess.PIPE
            )
            file = Path(self.folder) / wanted
            file.write_bytes(made.stdout)
            build_data["shared_data"][str(file)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files: the wheel has them."""
        shutil.rmtree(self.folder)


# --- the parser of all words


def build_parser() -> argparse.ArgumentParser:
    """One parser with every command as a part of it."""
    from mdmemory.cli.commands import COMMANDS, command_parser, top_parser

    parser = top_parser()
    parser._actions[:] = [each for each in parser._actions if each.option_strings]
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, _, line in COMMANDS:
        words = command_parser(name)
        words.prog = f"mdmemory {name}"
        commands._name_parser_map[name] = words
        commands._choices_actions.append(commands._ChoicesPseudoAction(name, (), line))
    return parser


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by its name."""
    (commands,) = parser._get_positional_actions()
    return {**commands.choices}  # type: ignore[dict-item]


# --- the scripts


def write_script(shell: str) -> str:
    """The script by which a shell completes the words of `mdmemory`."""
    import shtab

    parser = build_parser()
    actions = parser._get_optional_actions()
    for command in commands_of(parser).values():
        command.description = None  # the line about it is enough
        actions += command._actions
    for action in actions:
        name_values(action)
    preamble = (ROOT / f"templates/completion/notes.{shell}").read_text("utf-8")
    return str(shtab.complete(parser, shell, preamble={shell: preamble})) + "\n"


def name_values(action: argparse.Action) -> None:
    """Tell shtab what an option's value or a word can be; what it says of it is one plain line."""
    import shtab

    metavar, about = str(action.metavar or ""), action.help or ""
    if metavar == "NAME" and about.startswith("the setting"):
        from mdmemory.config.table import TABLE

        action.choices = [row.name for row in TABLE]
    elif metavar.startswith("NAME") and "note" in about:
        action.complete = NOTES  # type: ignore[attr-defined]
    elif listed := LISTED.match(about):
        action.choices = action.choices or listed[0].split(", ")
    elif action.dest in ("store", "dir") or metavar == "STORE":
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif metavar in ("PATH", "FILE"):
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    if not action.option_strings and action.nargs == "?":
        action.nargs = None  # shtab looks for nothing behind a word that may be left out
    action.help = about_action(action)


# --- the manual page

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


def write_page() -> str:
    """The page as roff. It has no date, so that two builds give the same bytes."""
    from mdmemory.cli.commands import GROUPS
    from mdmemory.version import VERSION

    commands = commands_of(build_parser())
    lines = [
        f'.TH MDMEMORY 1 "" "mdmemory {VERSION}" "User Commands"',
        ".SH NAME", r"mdmemory \- long\-term memory for coding assistants: markdown notes in git",
        ".SH SYNOPSIS", ".B mdmemory", r"[\fB\-\-store\fR \fIPATH\fR] \fICOMMAND\fR ...",
        ".SH DESCRIPTION",
        "Keeps what you tell your assistants as plain markdown, one fact in a file, in git, and "
        "gives it to them in later sessions.",
        ".SH OPTIONS", "Every command has these:",
    ]  # fmt: skip
    common = [each for each in commands["add"]._get_optional_actions() if each.dest in COMMON]
    lines += [line for each in common for line in _option(each)]
    for name, command in commands.items():
        if name in GROUPS:
            lines.append(f".SH {_plain(GROUPS[name]).upper()} COMMANDS")
        words = (command.usage or "").partition("[OPTIONS]")[2]
        lines += [f".SS mdmemory {_plain(name + words)}"]
        lines.append(_plain(" ".join((command.description or "").split())))
        own = [each for each in command._get_optional_actions() if each.dest not in COMMON]
        lines += [line for each in own for line in _option(each)]
    return "\n".join(lines) + "\n" + _ENDS


def _option(action: argparse.Action) -> Iterator[str]:
    names = ", ".join(rf"\fB{_plain(name)}\fR" for name in action.option_strings)
    value = str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
    yield ".TP"
    yield names if action.nargs == 0 else rf"{names} \fI{_plain(value)}\fR"
    yield _plain(about_action(action))


def about_action(action: argparse.Action) -> str:
    """What an option or a word does, in one line."""
    return "; ".join(((action.help or "") % vars(action)).splitlines())


def _plain(text: str) -> str:
    """Text in which roff finds no request of its own."""
    text = text.replace("…", "...").replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


if __name__ == "__main__":
    sys.stdout.write(write_page() if sys.argv[1] == "man" else write_script(sys.argv[1]))
