"""The command that connects assistants to the memory, once for all projects: setup."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from mdmemory.cli.output import emit
from mdmemory.errors import NotFound, UsageError
from mdmemory.hosts import clients

_NEXT = (
    'Next: say "Remember that ..." to your assistant. To take all of this out again: '
    "`mdmemory setup --remove`."
)


def setup_options(parser: ArgumentParser) -> None:
    """Options of `setup`."""
    parser.add_argument(
        "clients",
        nargs="*",
        metavar="CLIENT",
        help=f"{', '.join(clients.NAMES)} (default: all that are installed)",
    )
    parser.add_argument(
        "--remove", action="store_true", help="remove what setup added, and nothing else"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be written")


def setup(asked: Namespace) -> int:
    """Connect your assistants to the memory, for all projects. You can repeat it at any time."""
    names = _names(asked)
    missing = [name for name in clients.NAMES if not clients.is_installed(name, os.environ)]
    work = clients.remove if asked.remove else clients.install
    said = work(names, os.environ, dry_run=asked.dry_run)
    if said and not asked.remove:
        said += _not_here(asked, missing)
        said += [] if asked.dry_run else [_NEXT]
    if asked.json:
        emit({"clients": names, "missing": missing, "said": said})
    elif not said:
        print("Nothing to remove." if asked.remove else "All is in place; nothing changed.")
    else:
        print("\n".join(said))
    return 0


def _not_here(asked: Namespace, missing: list[str]) -> list[str]:
    """A sentence on the clients that are not installed, by what was asked for."""
    named = dict.fromkeys(name for name in asked.clients if name in missing)
    if named:
        return [
            f"{clients.title(name)} was not found on this machine, and is wired all the same."
            for name in named
        ]
    if asked.clients or not missing:
        return []
    titles = ", ".join(map(clients.title, missing))
    return [f"Not found here: {titles}. To wire one all the same: `mdmemory setup {missing[0]}`."]


def _names(asked: Namespace) -> list[str]:
    """The clients that are meant, each once."""
    known = ", ".join(clients.NAMES)
    for name in asked.clients:
        if name not in clients.NAMES:
            raise UsageError(
                f"There is no client {name!r} that mdmemory knows.", f"Known: {known}."
            )
    if asked.clients:
        return [*dict.fromkeys(asked.clients)]
    if asked.remove:
        return [*clients.NAMES]
    installed = [name for name in clients.NAMES if clients.is_installed(name, os.environ)]
    if not installed:
        raise NotFound(
            "No client that mdmemory knows is installed.",
            f"Name one to set it up all the same, such as `mdmemory setup opencode`: {known}.",
        )
    return installed
