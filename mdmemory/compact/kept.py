"""Refused answers, kept for a while in `.mdmemory/refused/` to be looked at, without secrets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from mdmemory.files import digest, write_atomic, writing
from mdmemory.store.private import is_folder, subfolder

KEPT = timedelta(days=7)


def keep(
    folder: Path, answers: Sequence[str], redact: Callable[[str], str], now: datetime
) -> None:
    """Put the answers of one pass into a file of `folder`, and remove what is too old there."""
    for old in folder.glob("*.txt") if is_folder(folder) else ():
        if old.lstat().st_mtime < (now - KEPT).timestamp():
            old.unlink()
    if answers:
        with writing(folder):
            subfolder(folder)
        text = redact("\n\n".join(answers)).encode("utf-8", "replace")
        # another pass may be refused within the same second
        name = f"{now.strftime('%Y-%m-%dT%H%M%S')}-{digest(text)[:6]}.txt"
        write_atomic(folder / name, text, mode=0o600)
