"""mdmemory: long-term memory for coding assistants, as markdown notes in git.

    errors, debugging, version, assets,      failures, lines for whoever debugs, limits of length,
    bounds, unseen                           unseen characters
    privacy/                                 what in a text is private or secret; pure
    files                                    bytes and paths
    config/                                  settings, and where a person's files lie
    note/                                    one note as text; no paths, no git, no clock
    git/                                     a folder changes as one commit or not at all
    transcripts/                             sessions of each host, read as turns
    text/                                    what sentences claim, and where two disagree; pure
    store/                                   a folder of notes, and what is derived from it
    protocol                                 words for assistants
    actions/                                 what a person asks of a store
    llm/                                     a model that a person chose
    search/                                  from a question to places in notes
    search/postgres/                         the same database on a PostgreSQL server
    capture/                                 from a session to notes; not compaction
    compact/                                 from many notes to fewer; not capture
    session/                                 what one session needs at hand: state, never notes
    observe/                                 from what tools showed to a few lines about it
    prompt/                                  what goes into a prompt, and receipts
    memory                                   the Python interface, which all of the following use
    tools/                                   the tools for assistants: one table for all hosts
    hosts/                                   clients that run an assistant; git's hooks
    hosts/opencode/                          OpenCode: wiring, bridge, idle work
    mcp/                                     the same tools for any MCP host
    cli/                                     the terminal

A module imports from its own room or from a room further up in this drawing; tests/test_floors.py
holds it to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.version import VERSION as __version__

if TYPE_CHECKING:
    from mdmemory.memory import Memory

__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> object:
    # Memory is loaded when it is asked for: `mdmemory --help` must not pay for it
    if name == "Memory":
        from mdmemory.memory import Memory

        return Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
