"""Commands on what was done: log, diff, undo."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from mdmemory.doors.cli.output import emit, opened
from mdmemory.store.history import ID_TRAILER, Logged


def log_options(parser: ArgumentParser) -> None:
    """Options of `log`."""
    parser.add_argument("-n", type=int, metavar="N", help="only the newest N")


def log(asked: Namespace) -> int:
    """What was done to the notes, newest first, one commit a line."""
    asked.holder = "log"
    rows = opened(asked).log(asked.n)
    if asked.json:
        emit([_json(entry, undone) for entry, undone in rows])
        return 0
    for entry, undone in rows:
        mark = "  (undone)" if undone else ""
        print(f"{entry.get(ID_TRAILER)}  {entry.time[:16]}  {entry.subject}{mark}")
        for op in entry.ops:
            print(f"            {op}")
    return 0


def _json(entry: Logged, undone: bool) -> dict[str, Any]:
    return {
        "id": entry.get(ID_TRAILER), "time": entry.time, "kind": entry.get("Memory-Op"),
        "commit": entry.commit, "checkpoint": entry.get("Memory-Checkpoint"),
        "session": entry.get("Memory-Session"), "ops": [*entry.ops], "undone": undone,
    }  # fmt: skip


def diff_options(parser: ArgumentParser) -> None:
    """Options of `diff`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="a Memory-Id or a commit")


def diff(asked: Namespace) -> int:
    """What a change did to the files (default: the newest), as a unified diff."""
    asked.holder = "diff"
    entry, text = opened(asked).diff(asked.id, colour=sys.stdout.isatty() and not asked.json)
    if asked.json:
        emit({**(_json(entry, False) if entry else {}), "diff": text})
    elif entry:
        print(f"{entry.get(ID_TRAILER)}  {entry.subject}")
        print(text, end="")
    else:
        print("Nothing was done yet.")
    return 0


def undo_options(parser: ArgumentParser) -> None:
    """Options of `undo`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="a Memory-Id or a commit of ours")


def undo(asked: Namespace) -> int:
    """Take a change back, byte for byte; what was edited since is kept and named."""
    asked.holder = "undo"
    done = opened(asked).undo(asked.id)
    if asked.json:
        emit({
            "undone": done.undone, "commit": done.written.commit, "restored": [*done.restored],
            "kept": [{"file": file, "reason": why} for file, why in done.kept],
        })  # fmt: skip
    else:
        for file in done.restored:
            print(f"restored: {file}")
        for file, why in done.kept:
            print(f"kept: {file}: {why}")
        if done.written.commit:
            print(
                f"Commit {done.written.commit[:10]}. To undo this: `mdmemory undo {done.written.id}`."
            )
    return 1 if done.kept else 0
