"""What the commands print, JSON for programs and lines for people; and what they ask."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import suppress

from mdmemory.errors import MdmemoryError
from mdmemory.git.lock import Patience
from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.unseen import CONTROL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NO_STORE_YET = (
    'There is no store yet. The first "Remember that ..." in a project makes one, or '
    "`mdmemory init`."
)
PATIENCE = 30.0  # seconds that a person's command waits for other writers

_WRITING = (*("add", "edit", "rename", "forget"), *("extract", "compact", "import", "sync"))


def open_layers(options: Namespace, *, automatic: bool = False, watched: bool = False) -> Layers:
    """The layers that the command uses; `automatic`: no person typed the command, as its options
    may say, too; `watched`: it keeps the indexes up to date by itself.

    A person's command waits longer for other writers and says so at a terminal. A command that
    writes first stores earlier requests that could not be stored then.
    """
    # git started us (a hook, its editor): no branch may move while it waits
    automatic |= "GIT_PREFIX" in os.environ or "GIT_INDEX_FILE" in os.environ
    automatic |= getattr(options, "if_due", False) or getattr(options, "after", 0) > 0
    waiting = warn_person if sys.stderr.isatty() else lambda _: None
    layers = Layers.open(
        ".", store=options.store, holder=f"`mdmemory {options.holder}`", tell=warn_person,
        automatic=automatic, patience=None if automatic else Patience(PATIENCE, waiting),
        watched=watched,
    )  # fmt: skip
    if options.holder in _WRITING and not getattr(options, "dry_run", False):
        _settle_wishes(layers, automatic)
    return layers


def only_memory(layers: Layers) -> Memory:
    """The one memory that a command uses that does not know layers: the project's, else the
    person's. Raises NoStore, also where it is not certain whose store the project's is."""
    if layers.question is not None:
        raise layers.question
    return layers.main


def _settle_wishes(layers: Layers, automatic: bool) -> None:
    if not (done := layers.settle_wishes()):
        return
    from mdmemory.prompt import lines

    line = lines.of_as_said(done)
    warn_person(line["message"] if line else "What was asked for earlier is known already.")
    if automatic and line:  # nobody reads that: the person's next client tells them
        from mdmemory.store import receipt_box

        receipt = receipt_box.Receipt(line["message"], {"learned": len(done)}, "success")
        with suppress(MdmemoryError):
            receipt_box.leave_receipt(layers.main.project, receipt, layers.main.now())


def emit_json(value: Any) -> None:
    """Print one JSON value to standard output."""
    print(indent_json(value))


def indent_json(value: Any) -> str:
    """What `json.dumps(value, ensure_ascii=False, indent=2)` gives. A table, which is a list of
    dicts of plain values, takes a fifth of the time: Python writes indented JSON slowly, and JSON
    on one line quickly."""
    import json  # most answers are for people

    is_table = value and isinstance(value, list)
    is_table = is_table and all(isinstance(row, dict) and row for row in value)
    if not is_table or not {type(each) for row in value for each in row.values()} <= _PLAIN:
        return json.dumps(value, ensure_ascii=False, indent=2)
    # all that JSON itself breaks a line for stands between two values, and never in a text
    rows = json.dumps(value, ensure_ascii=False, separators=(",\n    ", ": "))[2:-2]
    rows = rows.replace("},\n    {", "\n  },\n  {\n    ")
    return f"[\n  {{\n    {rows}\n  }}\n]"


_PLAIN = {str, int, float, bool, type(None)}


def warn_person(sentence: str) -> None:
    """Print one sentence to standard error."""
    print(f"mdmemory: {sentence}", file=sys.stderr)


def visible_text(text: str) -> str:
    """`text` with control characters replaced by U+FFFD; line ends stay."""
    return CONTROL.sub("\ufffd", text)


def show_value(options: Namespace, value: Any, *lines: str) -> None:
    """Print the value as JSON where it is asked for, else the lines, if there are any."""
    if options.json:
        emit_json(value)
    elif lines:
        print("\n".join(lines))


def ask_person(question: str) -> str | None:
    """What the person at the terminal answers; None where nobody does."""
    try:
        return input(f"{question} ").strip()
    except EOFError:
        return None


def agrees_to(question: str) -> bool:
    """Whether the person at the terminal says yes, or nothing but Enter."""
    answer = ask_person(f"{question} [Y/n]")
    return answer is not None and answer.casefold() in ("", "y", "yes")


def choose_number(question: str, count: int) -> int | None:
    """Which of `count` things, from 0, the person at the terminal names by its number; None for
    none of them."""
    answer = ask_person(f"{question} [1-{count}, none]") or ""
    return int(answer) - 1 if answer.isdecimal() and 0 < int(answer) <= count else None


def is_terminal() -> bool:
    """Whether standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def count_noun(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
