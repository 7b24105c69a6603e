"""What the person said lately around here, as proof for what an assistant asks of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.errors import MdmemoryError
from mdmemory.tools.tool import Caller

if TYPE_CHECKING:
    from mdmemory.layers import Layers

_PROVEN = ("memory_store", "memory_update", "memory_forget")


def caller(layers: Layers, tool: str) -> Caller:
    """The words for this tool, none where it needs none. MCP names no session, so the words of all
    sessions of these stores count."""
    if tool not in _PROVEN:
        return Caller()
    from mdmemory.session.heard import recent

    turns = []
    for memory in reversed(layers.there()):
        try:
            with memory.state() as state:
                turns += recent(state, memory.now())
        except MdmemoryError:
            continue
    said = tuple(turn.text for turn in turns if turn.role == "user" and turn.text)
    return Caller(said=said, turns=tuple(turns))
