"""`mdmemory check`: what the notes cite in the project, and whether it still stands there."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmemory.cli.commands import add_flag
from mdmemory.cli.output import emit, layered, plural, visible
from mdmemory.errors import NotFound

if TYPE_CHECKING:
    from mdmemory.citing.citation import CheckedCitation

_LISTED = 200  # citations that are listed; the rest is counted


def check_options(parser: ArgumentParser) -> None:
    """Options of `check`."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="check only these notes (default: all)"
    )
    parser.add_argument(
        "--diff", metavar="REV", help="list only what has changed since this commit, since this "
        "branch left REV, or with HEAD what is not committed yet",
    )  # fmt: skip
    add_flag(parser, "--all", "also list what has not changed")


def check(asked: Namespace) -> int:
    """Check whether the code that the notes cite has changed.

    The exit code is 1 if something was changed or removed. Nothing is written, and no model is
    asked.
    """
    layers = layered(asked)
    files = [_file(layers.holding(name), layers.project) for name in asked.names] or None
    found = layers.citations(files, since=asked.diff)
    outdated = [each for each in found if each.is_outdated]
    if asked.json:
        emit({"ok": not outdated, "citations": [each._asdict() for each in found]})
        return 1 if outdated else 0
    shown = found if asked.all else [each for each in found if each.state != "fresh"]
    for line in lines(shown[:_LISTED]):
        print(line)
    if more := len(shown) - _LISTED if shown[_LISTED:] else 0:
        print(f"... and {more} more: `mdmemory check --json` lists all.")
    print(_sum(found, asked.diff))
    if outdated:
        print("Next: `mdmemory forget NAME`, `edit` it, or `review NAME keep` if it holds.")
    return 1 if outdated else 0


def _file(held: tuple[object, str], project: object) -> str:
    from mdmemory.memory import Memory

    memory, name = held
    if memory is not project or not isinstance(memory, Memory):
        raise NotFound(f"{name} is in your own store, and only a project's notes cite.")
    return memory.note(name).file


def lines(checked: Sequence[CheckedCitation]) -> list[str]:
    """Citations as a person reads them: the note's file once, then a line for each with the lines
    of its diff."""
    found, file = [], ""
    for each in checked:
        if each.file != file:
            file = each.file
            found.append(visible(file))
        found.append(f"  {each.state:<8} {visible(each.place)}{visible(_more(each))}")
        found += [f"      {visible(line)}" for line in each.diff.splitlines()]
    return found


def _more(each: CheckedCitation) -> str:
    now = f" -> {each.now}" if each.now else ""
    return f"{now}  ({each.why})" if each.why else now


def _sum(found: Sequence[CheckedCitation], since: str | None) -> str:
    """How many citations stand how."""
    if since is not None:
        lost = [each for each in found if each.is_outdated]
        what = plural(len(lost), "citation")
        says = [f"{what} stood until {since} and not any more."] if lost else []
        if more := len(found) - len(lost):
            what = plural(more, "citation")
            says.append(f"{what} stood until {since}; this clone cannot tell what became of that.")
        return " ".join(says) or f"Nothing that the notes cite drifts since {since}."
    if not found:
        return "The notes cite nothing of the project."
    states = [each.state for each in found]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))
    notes = len({each.file for each in found})
    return f"{plural(len(found), 'citation')} in {plural(notes, 'note')}: {counts}."
