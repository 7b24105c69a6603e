"""The command that forgets a note, by name or by what it is about: forget."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmemory.cli.notes import report_note
from mdmemory.cli.output import (
    ask_person,
    choose_number,
    count_noun,
    is_terminal,
    visible_text,
    warn_person,
)
from mdmemory.errors import Ambiguous, MdmemoryError, NotFound, UsageError
from mdmemory.layers import Layers
from mdmemory.memory import Memory

if TYPE_CHECKING:
    from mdmemory.actions.erasing import Erasable
    from mdmemory.store.writer import StoredIn

_SHOWN = 400  # characters of a note's text


def run_forget(layers: Layers, options: Namespace) -> int:
    what = " ".join(options.name)
    if options.erase:
        return _erase_note(layers, what, options)
    try:
        memory, name = layers.holding(what)
        memory.note(name)
    except Ambiguous:
        raise
    except NotFound as problem:
        memory, name = _choose_note(layers, what, options, problem)
    done = memory.remove(name)
    code = report_note(layers, memory, options, done, "Removed", "")
    if not options.json and done.written.commit:
        if done.also:
            print(f"With it went what it had replaced: {', '.join(done.also)}.")
        back = f"`mdmemory undo {done.written.id}`"
        print(f"Its text stays in the store's history. To take it back: {back}.")
    return code


# --- for good


def _erase_note(layers: Layers, what: str, options: Namespace) -> int:
    """Erase a note, after the person at the terminal typed its name."""
    if options.json or not is_terminal():
        raise UsageError(
            "Only a person at a terminal can erase a note: it is the one act without undo.",
            "Run the command there, without --json.",
        )
    memory, name = layers.holding(what)
    done = memory.erase(name, _agrees_to_erase)
    print(f"Erased {', '.join(done.files)}; made anew: {count_noun(done.commits, 'commit')}.")
    if done.said_by:
        print(f"Other notes say some of it, too, and stay: {', '.join(done.said_by)}.")
    for file in done.left:
        warn_person(f"{file} holds the text still.")
    if done.push:
        print(
            "The remote still has it, and so has every clone. Overwrite it there:\n"
            f"  {done.push}\nThen clone anew elsewhere, and ask the host to remove old commits."
        )
    print("Sessions of your assistants keep what was said in them: delete those there.")
    return 1 if done.left else 0


def _agrees_to_erase(plan: Erasable) -> bool:
    """Say what goes, and ask for the name."""
    print(f"To be erased, with every version: {', '.join(plan.files)}")
    print("History, refs, inbox, state and search lose the text. This cannot be undone.")
    if plan.remote:
        print(f"{plan.remote} keeps it until you overwrite it; nothing is pushed.")
    return ask_person(f"Type {plan.name} to erase it:") == plan.name


# --- by what it is about


def _choose_note(
    layers: Layers, what: str, options: Namespace, problem: NotFound
) -> tuple[Memory, str]:
    """The note that a person picks of those that a query means. Raises `problem` where there is
    none, and MdmemoryError where nobody answers."""
    notes = layers.described(what)
    if not notes:
        raise problem
    if options.json or not is_terminal():
        files = "\n".join(f"  {each.file}  {_description_line(each)}" for each in notes)
        if not options.json:
            print(files)
        raise NotFound(
            f"There is no note {what}. These may be meant: "
            f"{', '.join(each.file for each in notes)}.",
            "Name the one to forget.",
        )
    picked = _pick_note(notes)
    if picked is None:
        raise MdmemoryError("Nothing was removed.", "`mdmemory list` shows all notes.")
    return layers.holding(picked.file)


def _pick_note(notes: Sequence[StoredIn]) -> StoredIn | None:
    """The note that the person at the terminal chooses, or None."""
    for number, each in enumerate(notes, 1):
        body, description = " ".join(each.stored.note.body.split()), _description_line(each)
        print(f"{number}  {each.file}\n   {description}")
        if body.rstrip(".") not in ("", description.rstrip(".")):
            print(f"   {visible_text(body)[:_SHOWN]}")
    if len(notes) == 1:
        answer = ask_person("Forget it? [y/N]") or ""
        return notes[0] if answer.casefold() in ("y", "yes", "1") else None
    at = choose_number("Forget which?", len(notes))
    return None if at is None else notes[at]


def _description_line(each: StoredIn) -> str:
    return visible_text(" ".join(each.stored.note.head.description.split()))
