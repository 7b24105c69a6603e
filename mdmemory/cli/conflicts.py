"""The command on contradictions: conflicts, conflicts resolve."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from mdmemory.cli.output import emit, opened, warn
from mdmemory.errors import UsageError
from mdmemory.memory import Memory


def conflicts_options(parser: ArgumentParser) -> None:
    """Options of `conflicts`."""
    parser.add_argument("action", nargs="?", choices=["resolve"], help="settle one")
    parser.add_argument("id", nargs="?", metavar="ID", help="such as c-1a2b3c4d")
    parser.add_argument("--keep", metavar="NAME", help="keep this note and remove the other")
    parser.add_argument("--both", action="store_true", help="keep both: they do not contradict")


def conflicts(asked: Namespace) -> int:
    """The contradictions that wait for you. Nothing else ever settles one."""
    asked.holder = "conflicts"
    memory = opened(asked)
    if asked.action is None:
        if asked.keep or asked.both:
            raise UsageError("Which conflict?", "Run `mdmemory conflicts resolve ID --keep NAME`.")
        return _list(memory, asked.json)
    if asked.id is None or bool(asked.keep) == asked.both:
        raise UsageError(
            "Settling needs an ID and either --keep NAME or --both.",
            "`mdmemory conflicts` lists the ids.",
        )
    done = memory.resolve(asked.id, keep=asked.keep)
    for file, why in done.written.kept:
        warn(f"{file} was left as it is: {why}.")
    if asked.json:
        emit({"id": asked.id, "removed": [*done.removed], "commit": done.written.commit})
    else:
        for file in done.removed:
            print(f"Removed {file}; `mdmemory undo {done.written.id}` brings it back.")
        print(f"Settled {asked.id}.")
    return 1 if done.written.kept else 0


def _list(memory: Memory, as_json: bool) -> int:
    found = memory.conflicts()
    if as_json:
        emit([
            {
                "id": each.entry.id, "files": [*each.entry.files], "why": each.entry.why,
                "since": each.entry.since, "stale": each.stale,
            }
            for each in found
        ])  # fmt: skip
        return 0
    for each in found:
        mark = "  (a note changed since)" if each.stale else ""
        print(f"{each.entry.id}  {' × '.join(each.entry.files)}: {each.entry.why}{mark}")
    if found:
        print("Settle one: `mdmemory conflicts resolve ID --keep NAME`, or `--both`.")
    else:
        print("Nothing contradicts.")
    return 0
