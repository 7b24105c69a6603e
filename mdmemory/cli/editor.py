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


def run_editor(path: Path) -> int:
    """Open a file in the person's editor; its exit code. Raises MdmemoryError."""
    command = shlex.split(next(filter(None, map(os.environ.get, ("VISUAL", "EDITOR"))), "vi"))
    try:
        return subprocess.run([*command, str(path)], check=False).returncode
    except OSError as problem:
        raise MdmemoryError(
            f"The editor {command[0]} cannot be started: {problem.strerror}.", "Set EDITOR."
        ) from problem


@contextmanager
def edited_copy(text: str, name: str) -> Iterator[str]:
    """The text that the person leaves in a copy of `text`, with its line ends.

    The copy is deleted once the text is stored; an error names the copy.
    """
    path = Path(tempfile.mkdtemp(prefix="mdmemory-edit-")) / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    where = f"Your text is in {path}."
    if code := run_editor(path):
        raise MdmemoryError(f"The editor failed ({code}); nothing changed.", where)
    try:
        left = path.read_bytes().decode("utf-8")
    except (UnicodeDecodeError, OSError) as problem:
        raise MdmemoryError("The editor left no UTF-8 text; nothing changed.", where) from problem
    try:
        if left.strip():
            yield left
    except MdmemoryError as problem:
        problem.hint = f"{where} {problem.hint}".rstrip()
        raise
    path.unlink(missing_ok=True)
    path.parent.rmdir()
    if not left.strip():
        raise MdmemoryError(
            "The editor left an empty file; nothing changed.",
            "To remove a note: `mdmemory forget NAME`.",
        )
