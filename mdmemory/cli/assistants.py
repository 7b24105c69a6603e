"""The command that connects assistants to the memory, once for all projects: setup."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mdmemory.cli.output import emit
from mdmemory.errors import NotFound, UsageError
from mdmemory.hosts.opencode import personal


class _Client(NamedTuple):
    is_installed: Callable[[Mapping[str, str]], bool]
    install: Callable[..., list[str]]
    remove: Callable[..., list[str]]


_CLIENTS = {"opencode": _Client(personal.is_installed, personal.install, personal.remove)}


def setup_options(parser: ArgumentParser) -> None:
    """Options of `setup`."""
    parser.add_argument(
        "clients", nargs="*", metavar="CLIENT", help="opencode (default: all that are installed)"
    )
    parser.add_argument("--remove", action="store_true", help="remove exactly what setup added")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written")


def setup(asked: Namespace) -> int:
    """Connect your assistants to the memory, for all projects. Safe to repeat."""
    names = _names(asked)
    said: list[str] = []
    for name in names:
        client = _CLIENTS[name]
        work = client.remove if asked.remove else client.install
        sentences = work(os.environ, dry_run=asked.dry_run)
        if sentences and not asked.dry_run:
            sentences.append("Start OpenCode again: it loads plugins only at its start.")
        said += sentences
    if asked.json:
        emit({"clients": names, "said": said})
    elif not said:
        print("Nothing to remove." if asked.remove else "All is in place; nothing changed.")
    else:
        print("\n".join(said))
    return 0


def _names(asked: Namespace) -> list[str]:
    """The clients that are meant, each once."""
    known = ", ".join(_CLIENTS)
    for name in asked.clients:
        if name not in _CLIENTS:
            raise UsageError(
                f"There is no client {name!r} that mdmemory knows.", f"Known: {known}."
            )
    if asked.clients:
        return [*dict.fromkeys(asked.clients)]
    if asked.remove:
        return [*_CLIENTS]
    installed = [name for name, client in _CLIENTS.items() if client.is_installed(os.environ)]
    if not installed:
        raise NotFound(
            "No client that mdmemory knows is installed.",
            f"Name one to set it up all the same: `mdmemory setup {known}`.",
        )
    return installed
