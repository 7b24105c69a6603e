"""The command that a host's plugin starts: bridge."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path


def bridge_options(parser: ArgumentParser) -> None:
    """Options of `bridge`: none of its own."""


def bridge(asked: Namespace) -> int:
    """Answer the hooks of OpenCode's plugin: JSON lines in and out, until the input ends.

    Not for people. With MDMEMORY_DISABLE set it ends at once.
    """
    from mdmemory.doors.bridge import Bridge
    from mdmemory.doors.bridge_log import Log
    from mdmemory.doors.bridge_methods import Hooks
    from mdmemory.doors.idle import Starter
    from mdmemory.doors.memory import Memory
    from mdmemory.doors.recalling import BLOCKS

    if os.environ.get("MDMEMORY_DISABLE"):
        return 0

    def open_store() -> Memory:
        return Memory.open(".", store=asked.store, holder="`mdmemory bridge`")

    source, sink = _own_streams()
    log = Log()
    start = Starter(lambda: _command(asked.store), Path.cwd())
    hooks = Hooks(open_store, start, log, blocks=BLOCKS)
    Bridge(source, sink, hooks.methods(), failed=log.failure, tick=hooks.look).serve()
    return 0


def _command(store: str | None) -> list[str]:
    from mdmemory.doors.githooks import command  # its imports would lengthen our start

    return [*command(), "--store", store] if store else command()


def _own_streams() -> tuple[int, int]:
    """Both ends for ourselves: what git reads, or something prints, must not come between."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink
