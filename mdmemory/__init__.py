"""mdmemory: long-term memory for coding assistants, as markdown notes in git.

    files, errors, assets, version, config     ground: bytes, failures, settings
    limits, heads, head_lines, head_edits      what a note's head may say, line by line
    note, note_writing                         one fact: its text, and how it is changed
    privacy/   private, redaction, labels, tokens, ...    what must not be kept
    store/     store, index, catalog, history, transaction, writer, life, sync, ...
    llm/       a model that a person chose     protocol   what assistants and models are told
    capture/   transcripts, triggers, extract              from a session to notes
    compact/   plan, guards, planner, offline, runner     from many notes to fewer
    doors/     memory (Python), cli/, opencode, githooks   everything a person touches

A module imports from its own room or from a room further up in this drawing; tests/test_floors.py
holds it to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.version import VERSION as __version__

if TYPE_CHECKING:
    from mdmemory.doors.memory import Memory

__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> object:
    # Memory is loaded when it is asked for: `mdmemory --help` must not pay for it
    if name == "Memory":
        from mdmemory.doors.memory import Memory

        return Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
