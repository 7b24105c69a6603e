"""The command that prints scripts for tab completion, and the manual page: completion.

All are made from the table of commands and from their parsers; nothing is written a second time.
"""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from mdmemory import assets
from mdmemory.cli.manual import Described, about, commands, page

SHELLS = ("bash", "zsh", "fish")
_LISTED = re.compile(r"[a-z]+(?:, [a-z]+)+(?= \(|$)")
_PLACES = {"PATH": "files", "FILE": "files", "DIR": "folders", "STORE": "folders"}
_TOP = ("--store", "--json", "--verbose", "--help", "--help-all", "--version")


def completion_options(parser: ArgumentParser) -> None:
    """Options of `completion`."""
    parser.add_argument(
        "wanted", choices=(*SHELLS, "man", "stores"), metavar="WHAT",
        help="bash, zsh or fish: the script for this shell\nman: the manual page\n"
        "stores: the folders of notes, for the scripts",
    )  # fmt: skip


def completion(asked: Namespace) -> int:
    """Print a script that lets the tab key complete commands, options and names of notes, or print
    the manual page."""
    asked.holder = "completion"
    if asked.wanted == "stores":
        print("\n".join(_stores(asked)))
    elif asked.wanted == "man":
        print(page(commands()), end="")
    else:
        print(script(asked.wanted), end="")
    return 0


def script(shell: str) -> str:
    """The script for one of SHELLS."""
    text = assets.read(f"templates/completion/mdmemory.{shell}")
    known = commands()
    if shell == "fish":
        valued = dict.fromkeys(
            name for each in known for action in each.options() if _value(action) is not None
            for name in action.option_strings
        )  # fmt: skip
        text = text.replace("@TABLES@", f"set -g __mdmemory_valued {' '.join(valued)}\n")
        return text.replace("@RULES@", "\n".join(_fish(known)))
    described = [f"  {_quoted(f'{each.name}:{each.line}')}" for each in known]
    lists = f"_mdmemory_described=(\n{chr(10).join(described)}\n)\n" if shell == "zsh" else ""
    return text.replace("@TABLES@", f"{lists}{_tables(known)}")


def _stores(asked: Namespace) -> Iterator[str]:
    """The folders of notes that count here, each with what stands before a name of its notes."""
    from mdmemory.cli.output import layered
    from mdmemory.layers import MINE, USER

    layers = layered(asked, automatic=True)
    for layer, memory in layers.each():
        prefix = MINE if layer == USER and layers.project is not None else ""
        yield f"{memory.project.store}\t{prefix}"


# --- what a word can be


def _value(action: argparse.Action) -> str | None:
    """What an option's value or a word can be: "words a b", notes, files, folders, or "" for text.
    None for an option without a value."""
    if action.option_strings and action.nargs == 0:
        return None
    metavar, told = str(action.metavar or ""), action.help or ""
    if action.choices:
        return f"words {' '.join(map(str, action.choices))}"
    if metavar == "NAME" and told.startswith("the setting"):
        from mdmemory.config.table import TABLE

        return f"words {' '.join(row.name for row in TABLE)}"
    if metavar.startswith("NAME") and "note" in told:
        return "notes"
    if listed := _LISTED.match(told):
        return f"words {listed[0].replace(',', '')}"
    if action.dest == "store":
        return "folders"
    return _PLACES.get(metavar, "")


def _places(command: Described) -> Iterator[tuple[str, str]]:
    """The words that a command takes, as their number or "more", with what they can be."""
    for at, action in enumerate(command.words(), 1):
        kind = _value(action) or ""
        yield str(at), kind
        if action.nargs in ("*", "+", argparse.REMAINDER):
            yield "more", kind


# --- bash and zsh: two functions with a case for each row


def _tables(known: list[Described]) -> str:
    """The tables of both: all commands, the options of each, and what each word can be."""
    lines = [f"_mdmemory_commands={_quoted(' '.join(each.name for each in known))}", ""]
    lines += ["_mdmemory_options() {", "  case $1 in"]
    for each in known:
        names = " ".join(name for action in each.options() for name in action.option_strings)
        lines.append(f"    {each.name}) options={_quoted(names)} ;;")
    lines += [f"    *) options={_quoted(' '.join(_TOP))} ;;", "  esac", "}", ""]
    lines += ["_mdmemory_kind() {", "  case $1 in"]
    for each in known:
        for action in each.options():
            kind = _value(action)
            if kind is not None and action.dest != "store":
                names = "|".join(f"{each.name}:{name}" for name in action.option_strings)
                lines.append(f"    {names}) kind={_quoted(kind)} ;;")
        lines += [f"    {each.name}:{at}) kind={_quoted(kind)} ;;" for at, kind in _places(each)]
    lines += ["    *:--store) kind=folders ;;", "    *) return 1 ;;", "  esac", "}", ""]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --- fish: a rule for each command, option and word


def _fish(known: list[Described]) -> Iterator[str]:
    for each in known:
        yield f"complete -c mdmemory -n '__mdmemory_in \"\"' -a {each.name} -d {_fished(each.line)}"
    for name in _TOP:
        yield f"complete -c mdmemory -n '__mdmemory_in \"\"' -l {name.removeprefix('--')}"
    yield "complete -c mdmemory -l store -x -a '(__fish_complete_directories)'"
    for each in known:
        for action in each.options():
            if action.dest != "store":
                yield _fish_option(each.name, action)
        for at, action in enumerate(each.words(), 1):
            more = " more" if action.nargs in ("*", "+", argparse.REMAINDER) else ""
            if offered := _fish_words(_value(action)):
                yield f"complete -c mdmemory -n '__mdmemory_in {each.name} {at}{more}' {offered}"


def _fish_option(command: str, action: argparse.Action) -> str:
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        for name in action.option_strings
    )
    kind = _value(action)
    required = "-r" if kind == "files" else "-x"
    value = "" if kind is None else f" {required} {_fish_words(kind)}".rstrip()
    told = f" -d {_fished(about(action))}" if action.help else ""
    return f"complete -c mdmemory -n '__mdmemory_in {command}' {names}{value}{told}"


def _fish_words(kind: str | None) -> str:
    if kind and kind.startswith("words "):
        return f"-a {_fished(kind.removeprefix('words '))}"
    return {
        "notes": "-a '(__mdmemory_notes)'",
        "files": "-F",
        "folders": "-a '(__fish_complete_directories)'",
    }.get(kind or "", "")


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
