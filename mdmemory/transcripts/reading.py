"""A session read as turns, whatever host it comes from: the names that the other rooms use."""

from __future__ import annotations

from mdmemory.transcripts.injected import without_memory
from mdmemory.transcripts.opencode_export import read_export
from mdmemory.transcripts.sources import Session, Sessions, copy, read, sessions
from mdmemory.transcripts.turns import MAX_CHARS, MAX_TURNS, Transcript, Turn, since, turns_read

__all__ = [
    "MAX_CHARS", "MAX_TURNS", "Session", "Sessions", "Transcript", "Turn", "copy", "read",
    "read_export", "sessions", "since", "turns_read", "without_memory",
]  # fmt: skip
