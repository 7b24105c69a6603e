"""The person's own editor, always on a copy: the note itself changes in one step afterwards."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmemory.config.settings import Settings
from mdmemory.errors import MdmemoryError


@contextmanager
def edited_copy(text: str, name: str, settings: Settings) -> Iterator[str]:
    """What the person makes of a copy of `text`. The copy goes once its text is safe, and is named
    by the error that keeps it from the store."""
    left, path = _edit(text, name, settings)
    if not left.strip():
        _discard(path)
        raise MdmemoryError(
            "The editor left nothing, so nothing was changed.",
            "To take a note away: `mdmemory remove NAME`.",
        )
    try:
        yield left
    except MdmemoryError as problem:
        problem.hint = f"What you wrote is in {path}. {problem.hint}".rstrip()
        raise
    _discard(path)


def _discard(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.rmdir()


def _edit(text: str, name: str, settings: Settings) -> tuple[str, Path]:
    """What the person left, and where the copy lies. Line ends are left as they are."""
    folder = Path(tempfile.mkdtemp(prefix="mdmemory-edit-"))
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    command = shlex.split(settings.text("editor"))
    try:
        done = subprocess.run([*command, str(path)], check=False)
    except OSError as problem:
        raise MdmemoryError(
            f"The editor {command[0]} cannot be started: {problem.strerror}.",
            "Set EDITOR, or `editor` in ~/.config/mdmemory/config.toml.",
        ) from problem
    if done.returncode != 0:
        raise MdmemoryError(
            f"The editor ended with an error ({done.returncode}), so nothing was changed.",
            f"What you wrote is in {path}.",
        )
    try:
        return path.read_bytes().decode("utf-8"), path
    except (UnicodeDecodeError, OSError) as problem:
        raise MdmemoryError(
            "The editor left no UTF-8 text, so nothing was changed.", f"What it left is in {path}."
        ) from problem
