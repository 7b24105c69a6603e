"""The command on candidates that lack proof: pending, pending accept, pending drop."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from mdmemory.cli.output import emit, opened
from mdmemory.errors import UsageError
from mdmemory.memory import Memory


def pending_options(parser: ArgumentParser) -> None:
    """Options of `pending`."""
    parser.add_argument("action", nargs="?", choices=["accept", "drop"],
                        help="store it as a note of yours, or take it off the list")  # fmt: skip
    parser.add_argument("id", nargs="?", metavar="ID", help="such as p-1a2b3c4d")


def pending(asked: Namespace) -> int:
    """Facts that a model found and the session does not prove: they wait 30 days for you."""
    asked.holder = "pending"
    memory = opened(asked)
    if asked.action is None:
        return _list(memory, asked.json)
    if asked.id is None:
        raise UsageError(f"Which one to {asked.action}?", "`mdmemory pending` lists the ids.")
    if asked.action == "drop":
        gone = memory.drop(asked.id)
        if asked.json:
            emit({"id": asked.id})
        else:
            print(f"Dropped: {gone.description}")
        return 0
    done = memory.accept(asked.id)
    if asked.json:
        emit({
            "file": done.file, "name": done.name, "digest": done.digest,
            "commit": done.written.commit,
        })  # fmt: skip
    else:
        print(f"{'There is already' if done.same else 'Stored'} {done.file}.")
    return 0


def _list(memory: Memory, as_json: bool) -> int:
    found = memory.pending()
    if as_json:
        emit([
            {
                "id": each.id, "type": each.type, "name": each.name,
                "description": each.description, "body": each.body, "session": each.session,
                "since": each.since, "reasons": [*each.reasons],
            }
            for each in found
        ])  # fmt: skip
        return 0
    for each in found:
        print(f"{each.id}  {each.type}: {each.description}  ({', '.join(each.reasons)})")
    if found:
        print("Store one: `mdmemory pending accept ID`; or `mdmemory pending drop ID`.")
    else:
        print("Nothing waits.")
    return 0
