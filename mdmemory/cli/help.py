"""What `--help` shows, of one command and of all. It is loaded only for that.

Law: the help of a command fits a terminal of 80 columns and 24 lines.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence

COMMON = ("help", "store", "json", "verbose")  # options of every command
_EVERYWHERE = "Every command also takes --store PATH, --json, --verbose and --help."
_TOP = """\
Usage: mdmemory COMMAND [OPTIONS]

Long-term memory for coding assistants: markdown notes in git.
Start with `mdmemory setup`. `mdmemory demo` shows it in a temporary folder.
"""
_OPTIONS = """
Every command takes these options:
  --store PATH  the store or project to use
  --json        print the answer as JSON
  --verbose     log what is done to standard error
  --help        show how to use the command

`mdmemory --version` prints the version.
"""
_MORE = """
`mdmemory COMMAND --help` shows how to use a command, and `mdmemory --help-all`
lists all commands.
"""
_INDENT, _GAP, _MOST_LEFT = 2, 2, 22


def of_command(parser: argparse.ArgumentParser, width: int) -> str:
    """The help of the command that `parser` reads, in lines of at most `width` columns."""
    shown = [each for each in parser._actions if each.dest not in COMMON]
    words = [each for each in shown if not each.option_strings]
    options = [each for each in shown if each.option_strings]
    usage = [f"Usage: {parser.prog}", *(["[OPTIONS]"] if options else []), *map(_word, words)]
    left = min(_MOST_LEFT, max((len(_name(each)) for each in shown), default=0))
    about = " ".join((parser.description or "").split())
    parts = [[" ".join(usage)], textwrap.wrap(about, width)]
    parts += [[line for each in some for line in _lines(each, left, width)]
              for some in (words, options) if some]  # fmt: skip
    parts.append(textwrap.wrap(_EVERYWHERE, width))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def of_all(groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], *, is_all: bool) -> str:
    """The help of the program: the commands of each group with what they do."""
    width = max(len(name) for _, commands in groups for name, _ in commands)
    listing = "".join(
        f"\n{group}:\n" + "".join(f"  {name:<{width}}  {what}\n" for name, what in commands)
        for group, commands in groups
    )
    return _TOP + listing + (_OPTIONS if is_all else _MORE)


def _word(action: argparse.Action) -> str:
    """How the usage line shows a word that a command takes."""
    nargs = getattr(action, "save_nargs", action.nargs)  # Python 3.11 hides it while it parses
    name = str(action.metavar or action.dest)
    shown = f"{name}..." if nargs in ("*", "+") else name
    return f"[{shown}]" if nargs in ("?", "*") else shown


def _name(action: argparse.Action) -> str:
    """What stands in the left column."""
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    return f"{', '.join(action.option_strings)} {value}".strip()


def _lines(action: argparse.Action, left: int, width: int) -> Iterator[str]:
    """A word or option and what it does; each line of its help begins a line."""
    room = width - _INDENT - left - _GAP
    right = [
        line
        for given in ((action.help or "") % vars(action)).splitlines()
        for line in textwrap.wrap(given, room, break_on_hyphens=False)
    ]
    name = _name(action)
    if len(name) > left:
        yield f"{'':{_INDENT}}{name}"
        name = ""
    for line in right:
        yield f"{'':{_INDENT}}{name:<{left}}{'':{_GAP}}{line}"
        name = ""
