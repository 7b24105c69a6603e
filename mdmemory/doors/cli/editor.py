"""The person's own editor, always on a copy: the note itself changes in one step afterwards."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path

from mdmemory.config import Settings
from mdmemory.errors import MdmemoryError


def edit_copy(text: str, name: str, settings: Settings) -> tuple[str, Path]:
    """Let the person edit a copy of `text`; what they left, and where the copy lies.

    The copy is kept by whoever calls until its text is safe. Line ends are left as they are.
    """
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
    return path.read_bytes().decode("utf-8"), path


def discard(path: Path) -> None:
    """Remove the copy, once its text is in the store."""
    path.unlink(missing_ok=True)
    path.parent.rmdir()
