"""Commands on what was done: log, undo."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mdmemory.actions.note_history import Step, TextChange, kind_of
from mdmemory.cli.commands import (
    UNDO,
    agrees_to,
    emit_json,
    in_utc,
    is_terminal,
    only_memory,
    show_value,
    visible_text,
    warn_person,
)
from mdmemory.cli.options import CHANGES
from mdmemory.errors import UsageError
from mdmemory.git.log import ID_TRAILER, Logged
from mdmemory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.actions.undo import Planned, Undone


# of the terminal: bold, red and struck out, green; and how the same looks without colours
_COLOURS = {" ": ("", ""), "title": ("\x1b[1m", "\x1b[0m"), "-": ("\x1b[31;9m", "\x1b[0m"),
            "+": ("\x1b[32m", "\x1b[0m")}  # fmt: skip
_SIGNS = {" ": ("", ""), "title": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_LEFT_OUT = ((" ", "…"),)  # a line between two stretches


class _Row(NamedTuple):
    """A change of a memory, and what is known of it: its ops, or the version of a note that it
    left; and where that was asked for, what it did."""

    memory: Memory
    logged: Logged
    undone: bool
    step: Step | None = None
    diff: str | None = None


def run_log(layers: Memory, options: Namespace) -> int:
    if options.captures:
        return _show_captures(only_memory(layers), options)
    is_whole = options.all or options.json  # a program gets all, unless it says how many
    most = options.n or (None if is_whole else CHANGES)
    last, files = "", frozenset[str]()  # of a note: where the index has it, and all its names
    with layers.at_one_look():
        if options.what is None:
            known, entries = dict(layers.each()), layers.log(most and most + 1)
            changes = [_Row(known[layer], entry, undone) for entry, undone, layer in entries]
        else:
            memory, past = layers.past(options.what)
            if isinstance(past, list):
                changes = [_Row(memory, step.logged, step.undone, step) for step in past]
                files = frozenset(step.file for step in past)
                place = memory.index_place(past[0].file)
                last = place.told() if place else ""
            else:
                changes = [_Row(memory, past, memory.is_undone(past))]
        rows = changes[:most]
        if options.p:
            is_person = sys.stdout.isatty() and not options.json
            rows = [*_with_changes(layers, rows, files or None, in_words=is_person)]
    if options.json:
        emit_json([
            {
                "id": entry.get(ID_TRAILER), "time": entry.time or None, "kind": kind_of(entry),
                "commit": entry.commit or None, "checkpoint": entry.get("Memory-Checkpoint"),
                "session": entry.get("Memory-Session"), "ops": [*entry.ops], "undone": undone,
                "waiting": entry.waits, "layer": memory.layer,
                **({"file": step.file, "text": step.text} if step else {}),
                **({} if diff is None else {"diff": diff}),
            }
            for memory, entry, undone, step, diff in rows
        ])  # fmt: skip
        return 0
    for row in rows:
        entry, step = row.logged, row.step
        id = entry.get(ID_TRAILER) or entry.commit[:10] or "-"
        about = [
            "undone" if row.undone else "not on a branch yet" if entry.waits else "",
            "your own store" if row.memory is layers.of_person and layers.of_project else "",
            f"gone: {step.file}" if step and step.text is None else "",
        ]
        mark = "".join(f"  ({each})" for each in about if each)
        print(f"{id}  {in_utc(entry.time)}  {visible_text(entry.subject)}{mark}")
        for op in () if step else entry.ops:
            print(f"            {op}")
        if row.diff:
            print(row.diff, end="")
    if options.n is None and len(changes) > len(rows):
        warn_person("Older changes are not shown: `mdmemory log --all` lists them, too.")
    if last:
        print(last)
    return 0


def _with_changes(
    layers: Memory, rows: Sequence[_Row], files: frozenset[str] | None, *, in_words: bool
) -> Iterator[_Row]:
    """The same, each with what it did to these files or all: word by word, or as a unified diff."""
    done: dict[tuple[str, str], list[TextChange]] = {}
    for memory in layers.there():
        mine = [row for row in rows if row.memory is memory and row.logged.commit]
        file_changes = memory.file_changes([row.logged.commit for row in mine], files)
        done |= {(memory.layer, commit): changes for commit, changes in file_changes.items()}
    for at, row in enumerate(rows):
        changes = done.get((row.memory.layer, row.logged.commit), [])
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
    lines: list[Sequence[tuple[str, str]]] = []
    for change in changes:
        title = f"{change.file} ({change.mark})" if change.mark else change.file
        if lines:
            lines.append([])
        lines.append([("title", title)])
        whole = word_diff.diff_lines(change.before, change.after)
        for number, stretch in enumerate(word_diff.shorten_lines(whole)):
            lines += [*([_LEFT_OUT] if number else []), *stretch]
    return "".join(
        "".join(f"{marks[sign][0]}{visible_text(words)}{marks[sign][1]}" for sign, words in line)
        + "\n"
        for line in lines
    )


def _show_captures(memory: Memory, options: Namespace) -> int:
    captures, lines = memory.captures(options.n), []
    for each in captures:
        why = f" ({', '.join(each.reasons)})" if each.reasons else ""
        about = f"{each.outcome}{why}: {visible_text(each.preview)}"
        lines.append(f"{in_utc(each.time)}  {each.session}  {about}")
        if each.near:
            lines.append(f"{'':18}similar: {', '.join(each.near)}")
    return show_value(options, [each._asdict() for each in captures], *lines)


def run_undo(layers: Memory, options: Namespace) -> int:
    if options.session and options.id:
        raise UsageError("ID and --session cannot be combined.", "Pass one of them.")
    agree = _agrees_to_undo if is_terminal() and not (options.yes or options.json) else None
    if options.session:
        undone = layers.undo_session(options.session, agree)
    else:
        memory, id = layers.choose_undo(options.id)
        undone = [(memory, memory.undo(id, agree))]
    answers = [
        {
            "undone": done.undone, "commit": done.written.commit, "restored": [*done.restored],
            "kept": [{"file": file, "reason": why} for file, why in done.kept],
            "facts": [*done.facts], "layer": memory.layer,
        }
        for memory, done in undone
    ]  # fmt: skip
    lines = list[str]()
    for memory in layers.there():
        if all_done := [done for where, done in undone if where is memory]:
            lines += _undone_lines(layers, memory, all_done)
    failed = any(done.kept for _, done in undone)
    return show_value(options, answers if options.session else answers[0], *lines, failed=failed)


def _agrees_to_undo(plans: Sequence[Planned]) -> bool:
    """Name what would be taken back, and ask the person at the terminal."""
    for plan in plans:
        print(f"{plan.kind} of {in_utc(plan.time)}: {visible_text('; '.join(plan.facts))}")
    return agrees_to("Take this back?")


def _undone_lines(layers: Memory, memory: Memory, all_done: Sequence[Undone]) -> Iterator[str]:
    layer = memory.layer
    for done in all_done:
        if done.restored and done.facts:
            yield f"Undone: {visible_text('; '.join(done.facts))}"
        for file in done.restored:
            there = (memory.project.store / file).exists()
            yield f"{'restored' if there else 'removed'}: {layers.shown(layer, file)}"
        for file, why in done.kept:
            yield f"kept: {layers.shown(layer, file)}: {why}"
        if gone := done.told_handmade():
            yield gone
    if not any(done.restored or done.kept for done in all_done):
        yield "Nothing to undo: the files are already as they were before."
    if written := next((done.written for done in all_done if done.written.commit), None):
        yield f"Commit {(written.commit or '')[:10]}. {UNDO.format(written.id)}"
    elif any(done.kept for done in all_done):
        yield "Nothing was undone. Older changes: `mdmemory log`, then `mdmemory undo ID`."
