"""Editing a copy of a note in the person's editor; the note changes in one step afterwards."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmemory.errors import MdmemoryError


@contextmanager
def edited_copy(text: str, name: str) -> Iterator[str]:
    """The text that the person leaves in a copy of `text`.

    The copy is deleted once the text is stored; an error names the copy.
    """
    left, path = _edit(text, name)
    if not left.strip():
        _discard_copy(path)
        raise MdmemoryError(
            "The editor left an empty file; nothing changed.",
            "To remove a note: `mdmemory forget NAME`.",
        )
    try:
        yield left
    except MdmemoryError as problem:
        problem.hint = f"Your text is in {path}. {problem.hint}".rstrip()
        raise
    _discard_copy(path)


def _discard_copy(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.rmdir()


def editor_words() -> list[str]:
    """The person's editor, as the words of a command."""
    return shlex.split(next(filter(None, map(os.environ.get, ("VISUAL", "EDITOR"))), "vi"))


def _edit(text: str, name: str) -> tuple[str, Path]:
    """The text that the person left, with its line ends, and the path of the copy."""
    folder = Path(tempfile.mkdtemp(prefix="mdmemory-edit-"))
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    command = editor_words()
    try:
        done = subprocess.run([*command, str(path)], check=False)
    except OSError as problem:
        raise MdmemoryError(
            f"The editor {command[0]} cannot be started: {problem.strerror}.", "Set EDITOR."
        ) from problem
    if done.returncode != 0:
        raise MdmemoryError(
            f"The editor failed ({done.returncode}); nothing changed.", f"Your text is in {path}."
        )
    try:
        return path.read_bytes().decode("utf-8"), path
    except (UnicodeDecodeError, OSError) as problem:
        raise MdmemoryError(
            "The editor left no UTF-8 text; nothing changed.", f"Your text is in {path}."
        ) from problem
