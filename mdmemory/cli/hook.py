"""The command `hook` as a person meets it: the call of a client goes to `hosts.bridge` at once."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from mdmemory.errors import UsageError
from mdmemory.hosts.bridge import client


def hook_options(parser: ArgumentParser) -> None:
    """Options of `hook`."""
    parser.add_argument("host", metavar="HOST", nargs="?", help=", ".join(client.HOSTS))


def hook(asked: Namespace) -> int:
    """Answer an event of an assistant, given as JSON on standard input. Not for people.

    `mdmemory setup` writes this command into the assistants' configurations. It ends within two
    seconds and never fails. It does nothing if MDMEMORY_DISABLE is set.
    """
    is_typed = os.isatty(0)
    if asked.host in client.HOSTS and not is_typed:
        client.answer(asked.host, asked.store or os.environ.get("MDMEMORY_STORE", ""))
        return 0
    if asked.host in client.HOSTS:
        problem = UsageError(
            "This command is for the hooks of assistants.", "`mdmemory setup` connects them."
        )
    else:
        named = f"There is no host {asked.host[:40]!r}." if asked.host else "No host is named."
        problem = UsageError(named, f"Name one: {', '.join(client.HOSTS)}.")
    if is_typed:
        raise problem
    # a client may stop its turn at any other code than 0
    print(f"mdmemory: {problem.sentences}", file=sys.stderr)
    return 0
