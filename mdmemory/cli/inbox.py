"""Commands on what waits for a person: pending facts and conflicts."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from mdmemory.both import BOTH
from mdmemory.cli.output import emit, layered, visible, warn
from mdmemory.errors import UsageError
from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.routing import MINE, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.capture.pending import PendingFact


def pending_options(parser: ArgumentParser) -> None:
    """Options of `pending`."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=["accept", "drop"],
        metavar="ACTION",
        help="accept: store the fact as a note; drop: delete it",
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="the fact, such as p-1a2b3c4d")


def pending(asked: Namespace) -> int:
    """List the facts that a model found without proof in your words, and accept or drop one. They
    wait until you answer."""
    asked.holder = "pending"
    layers = layered(asked)
    if asked.action is None:
        return _list_pending(layers, asked.json)
    if asked.id is None:
        raise UsageError(
            f"`pending {asked.action}` needs an ID.", "`mdmemory pending` lists the ids."
        )
    found = [pair for pair in _pending(layers) if pair[1].id == asked.id]
    memory = found[0][0] if found else layers.main
    if asked.action == "drop":
        gone = memory.drop(asked.id)
        if asked.json:
            emit({"id": asked.id})
        else:
            print(f"Dropped: {visible(gone.description)}")
        return 0
    # a fact about the person is no business of a project's, wherever it waited
    home = layers.for_type(USER) if found and found[0][1].type == USER else memory
    done = memory.accept(asked.id, into=None if home is memory else home)
    layer = layers.of(home)
    if asked.json:
        emit({
            "file": done.file, "name": done.name, "digest": done.digest,
            "commit": done.written.commit, "layer": layer,
        })  # fmt: skip
    else:
        file = layers.shown(layer, done.file)
        print(f"{'Already stored in' if done.same else 'Stored'} {file}.")
    return 0


def _pending(layers: Layers) -> list[tuple[Memory, PendingFact]]:
    """The facts that wait in both layers, the project's first, each with its memory."""
    return [(memory, fact) for _, memory in layers.each() for fact in memory.pending()]


def _list_pending(layers: Layers, as_json: bool) -> int:
    found = _pending(layers)
    if as_json:
        emit([
            {
                "id": each.id, "type": each.type, "name": each.name,
                "description": each.description, "body": each.body, "session": each.session,
                "since": each.since, "reasons": [*each.reasons], "layer": layers.of(memory),
            }
            for memory, each in found
        ])  # fmt: skip
        return 0
    for _, each in found:
        why = ", ".join(each.reasons)
        print(visible(f"{each.id}  {each.type}: {each.description}  ({why})".replace("\n", " ")))
    if found:
        print("Next: `mdmemory pending accept ID` or `mdmemory pending drop ID`.")
    else:
        print("No pending facts.")
    for memory in layers.there():
        for line in waiting_files(memory):
            print(line)
    return 0


def waiting_files(memory: Memory) -> list[str]:
    """Lines about the files in the inbox that are no pending facts."""
    if not memory.project.has_inbox():
        return []
    from mdmemory.capture.imports import rest

    lines = []
    if files := memory.kept_wishes():
        count = f"{len(files)} wish{'' if len(files) == 1 else 'es'}"
        lines.append(
            f"{count} not stored yet, kept in {files[0].parent}; the next command that writes "
            "stores them"
        )
    for file in rest.files(memory.project.store):
        lines.append(
            f"text that an import made no note of, in {file}: add what matters with "
            "`mdmemory add`, then delete the file"
        )
    return lines


def conflicts_options(parser: ArgumentParser) -> None:
    """Options of `conflicts`."""
    parser.add_argument(
        "action", nargs="?", choices=["resolve"], metavar="ACTION", help="resolve: resolve one"
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="the contradiction, such as c-1a2b3c4d")
    parser.add_argument("--keep", metavar="NAME", help="keep this note, and remove the other")
    parser.add_argument("--both", action="store_true", help="keep both: they do not contradict")


def conflicts(asked: Namespace) -> int:
    """List the contradictions between notes, and resolve one. Only you can do that."""
    asked.holder = "conflicts"
    layers = layered(asked)
    if asked.action is None:
        if asked.keep or asked.both:
            raise UsageError(
                "No conflict named.", "Run `mdmemory conflicts resolve ID --keep NAME`."
            )
        return _list_conflicts(layers, asked.json)
    if asked.id is None or bool(asked.keep) == asked.both:
        raise UsageError(
            "`conflicts resolve` needs an ID and either --keep NAME or --both.",
            "`mdmemory conflicts` lists the ids.",
        )
    layer, removed, written = layers.resolve(asked.id, keep=asked.keep)
    for file, why in written.kept:
        warn(f"{file} was not changed: {why}.")
    if asked.json:
        about = {"commit": written.commit, "layer": layer}
        emit({"id": asked.id, "removed": [*removed], **about})
    else:
        for file in removed:
            print(f"Removed {file}; `mdmemory undo {written.id}` brings it back.")
        print(f"Resolved {asked.id}.")
    return 1 if written.kept else 0


def _list_conflicts(layers: Layers, as_json: bool) -> int:
    rows: list[dict[str, Any]] = [
        {
            "id": each.entry.id, "files": [*each.entry.files], "why": each.entry.why,
            "since": each.entry.since, "stale": each.stale, "layer": layer,
        }
        for layer, each in layers.conflicts()
    ]  # fmt: skip
    rows += [
        {
            "id": each.id, "files": [each.project, f"{MINE}{each.person}"], "why": each.why,
            "since": each.since, "stale": False, "layer": BOTH,
        }
        for each in layers.across()
    ]  # fmt: skip
    if as_json:
        emit(rows)
        return 0
    for row in rows:
        mark = "  (a note has changed since)" if row["stale"] else ""
        if row["layer"] == BOTH:
            mark = "  (the project's goes first here)"
        elif row["layer"] == USER and layers.project:
            mark += "  (your own store)"
        print(f"{row['id']}  {' × '.join(row['files'])}: {row['why']}{mark}")
    if rows:
        print("Next: `mdmemory conflicts resolve ID --keep NAME`, or `--both`.")
    else:
        print("No conflicts.")
    return 0
