"""Commands on what was done: log, diff, history, undo."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from mdmemory.cli.output import emit, is_terminal, layered, opened, visible, warn
from mdmemory.errors import NotFound, UsageError
from mdmemory.git.log import ID_TRAILER, Logged
from mdmemory.routing import USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.actions.note_history import Step
    from mdmemory.actions.undo import Planned, Undone
    from mdmemory.layers import Layers
    from mdmemory.memory import Memory


SHOWN = 100  # changes of a log, unless more are asked for


def log_options(parser: ArgumentParser) -> None:
    """Options of `log`."""
    parser.add_argument("-n", type=_count, metavar="N", help=f"show the newest N, not {SHOWN}")
    parser.add_argument("--all", action="store_true", help="show every change")
    parser.add_argument(
        "--captures",
        action="store_true",
        help="instead list the facts found in sessions, and why each was stored or not",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def log(asked: Namespace) -> int:
    """List the changes to the notes, newest first."""
    asked.holder = "log"
    if asked.captures:
        return _captures(asked)
    layers = layered(asked)
    is_whole = asked.all or asked.json  # a program gets all, unless it says how many
    rows = layers.log(asked.n or (None if is_whole else SHOWN + 1))
    if asked.json:
        emit([{**_json(entry, undone), "layer": layer} for layer, entry, undone in rows])
        return 0
    for layer, entry, undone in rows if asked.n or is_whole else rows[:SHOWN]:
        mark = "  (undone)" if undone else "  (not on a branch yet)" if entry.waits else ""
        mark += "  (your own store)" if layer == USER and layers.project else ""
        print(f"{entry.get(ID_TRAILER)}  {entry.time[:16]}  {entry.subject}{mark}")
        for op in entry.ops:
            print(f"            {op}")
    if not (asked.n or is_whole) and len(rows) > SHOWN:
        warn("Older changes are not shown: `mdmemory log --all` lists them, too.")
    return 0


def _captures(asked: Namespace) -> int:
    found = opened(asked).captures(asked.n)
    if asked.json:
        emit([
            {
                "time": each.time, "session": each.session, "phase": each.phase,
                "outcome": each.outcome, "reasons": [*each.reasons], "preview": each.preview,
                "near": [*each.near],
            }
            for each in found
        ])  # fmt: skip
        return 0
    for each in found:
        why = f" ({', '.join(each.reasons)})" if each.reasons else ""
        print(f"{each.time[:16]}  {each.session}  {each.outcome}{why}: {visible(each.preview)}")
        if each.near:
            print(f"{'':18}similar: {', '.join(each.near)}")
    return 0


def _json(entry: Logged, undone: bool) -> dict[str, Any]:
    return {
        "id": entry.get(ID_TRAILER), "time": entry.time, "kind": entry.get("Memory-Op"),
        "commit": entry.commit, "checkpoint": entry.get("Memory-Checkpoint"),
        "session": entry.get("Memory-Session"), "ops": [*entry.ops], "undone": undone,
        "waiting": entry.waits,
    }  # fmt: skip


def diff_options(parser: ArgumentParser) -> None:
    """Options of `diff`."""
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="the id of a change, or a commit (default: the newest)"
    )
    parser.add_argument("--all", action="store_true", help="also show MEMORY.md and _MORE.md")


def diff(asked: Namespace) -> int:
    """Show what a change did to the notes: word by word at a terminal, else as a unified diff."""
    asked.holder = "diff"
    words = sys.stdout.isatty() and not asked.json
    layers = layered(asked)
    memory = layers.of_change(asked.id) if asked.id else layers.of_newest()
    entry, text = memory.diff(asked.id, generated=asked.all, words=words)
    if asked.json:
        about = {"diff": text, "layer": layers.of(memory)}
        emit({**(_json(entry, False) if entry else {}), **about})
    elif entry:
        print(f"{entry.get(ID_TRAILER) or entry.commit[:10]}  {entry.subject}")
        print(_rendered(text) if words else text, end="")
    else:
        print("No changes yet.")
    return 0


def _rendered(text: str) -> str:
    from mdmemory.cli.worddiff import render  # for a terminal only

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return render(text, colour=not plain)


def history_options(parser: ArgumentParser) -> None:
    """Options of `history`."""
    parser.add_argument(
        "name", metavar="NAME", help="the note's name or file; also of a removed note"
    )
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="show only the version of this change or commit, with its text",
    )
    parser.add_argument("--text", action="store_true", help="also show the text of each version")


def history(asked: Namespace) -> int:
    """Show every version of one note, newest first, across renames and merges."""
    asked.holder = "history"
    layers = layered(asked)
    place = None
    with layers.at_one_look():
        memory, steps = layers.history(asked.name)
        if asked.id is not None:
            steps = _chosen(memory, steps, asked.id)
        elif steps and not asked.json:
            place = memory.index_place(steps[0].file)
    if asked.json:
        emit([
            {"commit": step.commit, "time": step.time, "file": step.file, "kind": step.kind,
             "text": step.text, "layer": layers.of(memory)}
            for step in steps
        ])  # fmt: skip
        return 0
    kinds, files = (max(len(getattr(s, what)) for s in steps) for what in ("kind", "file"))
    for step in steps:
        commit, time = (step.commit or "-")[:10], (step.time or "-")[:16]
        mark = "" if step.text is not None else "  (gone)"
        print(f"{time:<16}  {commit:<10}  {step.kind:<{kinds}}  {step.file:<{files}}  "
              f"{visible(step.subject)}{mark}")  # fmt: skip
        if (asked.text or asked.id) and step.text is not None:
            lines = visible(step.text.replace("\r\n", "\n")).split("\n")
            print("\n".join(f"    {line}".rstrip() for line in lines))
    if place is not None and (said := place.told()):
        print(said)
    return 0


def _chosen(memory: Memory, steps: list[Step], id: str) -> list[Step]:
    found = [step for step in steps if (step.commit or "").startswith(id) and len(id) >= 4]
    if not found:  # it may be a Memory-Id, or HEAD~1, which `diff` knows, too
        entry, _ = memory.diff(id)
        found = [step for step in steps if entry and step.commit == entry.commit]
    if not found:
        raise NotFound(
            f"The commit {id} did not change this note.", "Without ID all versions are listed."
        )
    return found


def undo_options(parser: ArgumentParser) -> None:
    """Options of `undo`."""
    parser.add_argument(
        "id", nargs="?", metavar="ID",
        help="the id of a change, as `mdmemory log` shows it (default: the newest)",
    )  # fmt: skip
    parser.add_argument("--session", metavar="ID", help="undo everything that this session stored")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def undo(asked: Namespace) -> int:
    """Undo a change, byte for byte. A file that you edited since then is kept, and named."""
    asked.holder = "undo"
    if asked.session and asked.id:
        raise UsageError("ID and --session cannot be combined.", "Pass one of them.")
    agree = _agrees if is_terminal() and not (asked.yes or asked.json) else None
    layers = layered(asked)
    if asked.session:
        found = layers.undo_session(asked.session, agree)
    else:
        found = [layers.undo(asked.id, agree)]
    if asked.json:
        answers = [_undone(done) | {"layer": layers.of(memory)} for memory, done in found]
        emit(answers if asked.session else answers[0])
    else:
        for memory in layers.there():
            if all_done := [done for where, done in found if where is memory]:
                _tell(layers, memory, all_done)
    return 1 if any(done.kept for _, done in found) else 0


def _agrees(plans: Sequence[Planned]) -> bool:
    """Name what would be taken back, and ask the person at the terminal."""
    for plan in plans:
        print(f"{plan.kind} of {plan.time[:16]}: {visible('; '.join(plan.facts))}")
    try:
        return input("Take this back? [Y/n] ").strip().casefold() in ("", "y", "yes")
    except EOFError:
        return False


def _undone(done: Undone) -> dict[str, Any]:
    return {
        "undone": done.undone, "commit": done.written.commit, "restored": [*done.restored],
        "kept": [{"file": file, "reason": why} for file, why in done.kept],
        "facts": [*done.facts],
    }  # fmt: skip


def _tell(layers: Layers, memory: Memory, all_done: Sequence[Undone]) -> None:
    layer = layers.of(memory)
    for done in all_done:
        if done.restored and done.facts:
            print(f"Undone: {visible('; '.join(done.facts))}")
        for file in done.restored:
            there = (memory.project.store / file).exists()
            print(f"{'restored' if there else 'removed'}: {layers.shown(layer, file)}")
        for file, why in done.kept:
            print(f"kept: {layers.shown(layer, file)}: {why}")
    if not any(done.restored or done.kept for done in all_done):
        print("Nothing to undo: the files are already as they were before.")
    if written := next((done.written for done in all_done if done.written.commit), None):
        print(f"Commit {(written.commit or '')[:10]}. To undo this: `mdmemory undo {written.id}`.")
    elif any(done.kept for done in all_done):
        print("Nothing was undone. Older changes: `mdmemory log`, then `mdmemory undo ID`.")
