"""Old texts of notes that another program still holds open for writing, and may append to.

A note is replaced by a new file, so what such a program writes goes to the old one. That is kept
under a hidden name until the program is done; if it grew, it is kept for a person to look at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, is_open_for_writing, read_regular

MARK = ".mdmemory-open-"
OPEN = "a program still has its former text open"
_NAME = re.compile(re.escape(MARK) + r"([0-9a-f]{16})-[0-9a-f]{6}-.+", re.DOTALL)
_DIGITS = 16  # of a digest, in the name
_LONGEST = 200  # bytes of a name; file systems take 255


def keep(aside: Path, file: str, old: str) -> str | None:
    """Keep the old text of `file`, of the digest `old`, if a program has it open for writing: the
    sentence on that. None: nobody has, as far as this system tells."""
    if not is_open_for_writing(aside):
        return None
    shown = os.path.basename(file)
    shown = shown if len(os.fsencode(shown)) <= _LONGEST else "note.md"
    fresh = aside.with_name(f"{MARK}{old[:_DIGITS]}-{os.urandom(3).hex()}-{shown}")
    os.rename(aside, fresh)
    return f"{OPEN}; what that writes goes to {fresh.name}"


def written_to(folder: Path) -> list[Path]:
    """The kept texts that are no more what a note said."""
    return [path for path, old in _kept(folder) if _digest(path) not in (None, old)]


def sweep(folder: Path) -> list[str]:
    """Remove what nobody has open any more and nobody wrote to; sentences on what was written to.

    Its name changes then, so that it is told once; it stays for a person to look at.
    """
    said = []
    for path, old in _kept(folder):
        if is_open_for_writing(path) or (now := _digest(path)) is None:
            continue
        if now == old:
            path.unlink()
            continue
        file = path.name.split("-", 4)[4]
        grown = path.with_name(f".mdmemory-tx-{path.name.removeprefix(MARK)}.old")
        os.rename(path, grown)
        said.append(
            f"{file}: a program that had it open while it was changed wrote into its former text, "
            f"which is kept in {grown.name}; take what you need into the note."
        )
    return said


def _kept(folder: Path) -> Iterator[tuple[Path, str]]:
    """The kept texts, and how their digests began when they were a note's."""
    for name in sorted(os.listdir(folder)):
        if found := _NAME.fullmatch(name):
            yield folder / name, found[1]


def _digest(path: Path) -> str | None:
    try:
        return digest(read_regular(path))[:_DIGITS]
    except MdmemoryError:  # whatever it is by now, it is not what we left
        return None
