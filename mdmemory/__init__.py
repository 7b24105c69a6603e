"""mdmemory: long-term memory for coding assistants, as markdown notes in git.

    files, errors, assets, version, config     ground: bytes, failures, settings
    note, heads                                one fact: its text and what its head says
    store/     store, history, transaction, index, retention, catalog, conflicts, ...
    capture/   privacy, triggers, transcript, extract     from a session to notes
    compact/   plan, guards, planner, offline, runner     from many notes to fewer
    doors/     memory (Python), cli/, opencode            everything a person touches

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
