"""The command that serves other programs: mcp."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from mdmemory.cli.output import is_terminal, opened, warn
from mdmemory.errors import MdmemoryError


def mcp_options(parser: ArgumentParser) -> None:
    """Options of `mcp`: none of its own."""


def mcp(asked: Namespace) -> int:
    """Serve the memory to an MCP host, over standard input and output, until it closes them.

    A host's configuration starts this command (docs/hosts.md).
    """
    from mdmemory.mcp import serve

    asked.holder = "mcp"
    if is_terminal():
        warn("An MCP host talks to this command; docs/hosts.md says how. End it: Ctrl-D.")
    serve(lambda: opened(asked, automatic=True), index=not _is_read_already(asked))
    return 0


def _is_read_already(asked: Namespace) -> bool:
    """Whether the host is an OpenCode that puts MEMORY.md into the prompt itself."""
    from mdmemory.hosts.opencode.checks import reading
    from mdmemory.hosts.opencode.places import Place

    if not os.environ.get("OPENCODE"):
        return False
    try:
        project = opened(asked).project
        return not reading(Place(project.root, project.store))
    except MdmemoryError:
        return False  # no store yet, or a configuration that cannot be read
