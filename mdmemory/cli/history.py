"""Commands on what was done: log, undo."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mdmemory.actions.note_history import Step, TextChange, kind_of
from mdmemory.cli.commands import add_flag, number
from mdmemory.cli.output import agrees, emit, is_terminal, layered, opened, visible, warn
from mdmemory.errors import UsageError
from mdmemory.git.log import ID_TRAILER, Logged
from mdmemory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.actions.undo import Planned, Undone
    from mdmemory.layers import Layers


SHOWN = 100  # changes of a log, unless more are asked for
# of the terminal: bold, red and struck out, green; and how the same looks without colours
_COLOURS = {" ": ("", ""), "title": ("\x1b[1m", "\x1b[0m"), "-": ("\x1b[31;9m", "\x1b[0m"),
            "+": ("\x1b[32m", "\x1b[0m")}  # fmt: skip
_SIGNS = {" ": ("", ""), "title": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_LEFT_OUT = ((" ", "…"),)  # a line between two stretches


def log_options(parser: ArgumentParser) -> None:
    """Options of `log`."""
    parser.add_argument(
        "what", nargs="?", metavar="NAME|ID",
        help="a note, for all its versions, also one that is gone; or the id of one change",
    )  # fmt: skip
    add_flag(parser, "-p", "also show what each change did")
    parser.add_argument(
        "-n", type=number(1, 1_000_000), metavar="N", help=f"show the newest N, not {SHOWN}"
    )
    add_flag(parser, "--all", "show every change")
    add_flag(
        parser,
        "--captures",
        "instead list the facts found in sessions, and why each was stored or not",
    )


def log(asked: Namespace) -> int:
    """List the changes to the notes, newest first: all, those of one note, or one change."""
    if asked.captures:
        return _captures(asked)
    layers = layered(asked)
    is_whole = asked.all or asked.json  # a program gets all, unless it says how many
    most = asked.n or (None if is_whole else SHOWN)
    with layers.at_one_look():
        found, last = _found(layers, asked.what, most)
        rows = found[:most]
        if asked.p:
            rows = [*_with_changes(layers, rows, in_words=sys.stdout.isatty() and not asked.json)]
    if asked.json:
        emit([_json(layers, row, is_note=last is not None) for row in rows])
        return 0
    for row in rows:
        _print_row(layers, row)
    if asked.n is None and len(found) > len(rows):
        warn("Older changes are not shown: `mdmemory log --all` lists them, too.")
    if last:
        print(last)
    return 0


class _Row(NamedTuple):
    """A change of a memory, and what is known of it: its ops, or the version of a note that it
    left; and where that was asked for, what it did."""

    memory: Memory
    logged: Logged
    undone: bool
    step: Step | None = None
    files: frozenset[str] | None = None  # of the note, by all its names
    diff: str | None = None


def _found(layers: Layers, what: str | None, most: int | None) -> tuple[list[_Row], str | None]:
    """The changes that are asked for, perhaps one more than `most`; and, if they are those of one
    note, what there is to say of its place in the index."""
    if what is None:
        known = dict(layers.each())
        entries = layers.log(most and most + 1)
        return [_Row(known[layer], entry, undone) for layer, entry, undone in entries], None
    memory, past = layers.past(what)
    if not isinstance(past, list):
        return [_Row(memory, past, memory.is_undone(past))], None
    files = frozenset(step.file for step in past)
    place = memory.index_place(past[0].file)
    rows = [_Row(memory, step.logged, step.undone, step, files) for step in past]
    return rows, place.told() if place else ""


def _with_changes(layers: Layers, rows: Sequence[_Row], *, in_words: bool) -> Iterator[_Row]:
    """The same, each with what it did: word by word, or as a unified diff."""
    done: dict[tuple[str, str], list[TextChange]] = {}
    for memory in layers.there():
        mine = [row for row in rows if row.memory is memory and row.logged.commit]
        found = memory.file_changes([row.logged.commit for row in mine], rows[0].files)
        done |= {(layers.of(memory), commit): changes for commit, changes in found.items()}
    for at, row in enumerate(rows):
        changes = done.get((layers.of(row.memory), row.logged.commit), [])
        if not row.logged.commit and row.step:
            before = next((each.step.text for each in rows[at + 1 :] if each.step), None)
            changes = [TextChange(row.step.file, "", before or "", row.step.text or "")]
        patch = "".join(change.patch() for change in changes)
        yield row._replace(diff=_in_words(changes) if in_words else patch)


def _in_words(changes: Sequence[TextChange]) -> str:
    """A title per file, and each word that went or came marked; a note's control characters never
    reach the terminal."""
    from mdmemory.actions import word_diff

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    marks = _SIGNS if plain else _COLOURS
    parts = []
    for change in changes:
        title = f"{change.file} ({change.mark})" if change.mark else change.file
        stretches = word_diff.shorten_lines(word_diff.diff_lines(change.before, change.after))
        lines = [
            "".join(f"{marks[sign][0]}{visible(words)}{marks[sign][1]}" for sign, words in line)
            for number, stretch in enumerate(stretches)
            for line in [*([_LEFT_OUT] if number else []), *stretch]
        ]
        parts.append("\n".join([f"{marks['title'][0]}{title}{marks['title'][1]}", *lines, ""]))
    return "\n".join(parts)


def _print_row(layers: Layers, row: _Row) -> None:
    entry, step = row.logged, row.step
    id = entry.get(ID_TRAILER) or entry.commit[:10] or "-"
    about = [
        "undone" if row.undone else "not on a branch yet" if entry.waits else "",
        "your own store" if row.memory is layers.person and layers.project else "",
        f"gone: {step.file}" if step and step.text is None else "",
    ]
    mark = "".join(f"  ({each})" for each in about if each)
    print(f"{id}  {entry.time[:16] or '-'}  {visible(entry.subject)}{mark}")
    for op in () if step else entry.ops:
        print(f"            {op}")
    if row.diff:
        print(row.diff, end="")


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


def _json(layers: Layers, row: _Row, *, is_note: bool) -> dict[str, Any]:
    entry, step = row.logged, row.step
    return {
        "id": entry.get(ID_TRAILER), "time": entry.time or None, "kind": kind_of(entry),
        "commit": entry.commit or None, "checkpoint": entry.get("Memory-Checkpoint"),
        "session": entry.get("Memory-Session"), "ops": [*entry.ops], "undone": row.undone,
        "waiting": entry.waits, "layer": layers.of(row.memory),
        **({"file": step.file, "text": step.text} if step else {}),
        **({} if row.diff is None else {"diff": row.diff}),
    }  # fmt: skip


def undo_options(parser: ArgumentParser) -> None:
    """Options of `undo`."""
    parser.add_argument(
        "id", nargs="?", metavar="ID",
        help="the id of a change, as `mdmemory log` shows it (default: the newest)",
    )  # fmt: skip
    parser.add_argument("--session", metavar="ID", help="undo everything that this session stored")
    add_flag(parser, "--yes", "do not ask")


def undo(asked: Namespace) -> int:
    """Undo a change, byte for byte. A file that you edited since then is kept, and named."""
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
    return agrees("Take this back?")


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
