"""What the person said lately around here, as proof for what an assistant asks of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.errors import MdmemoryError
from mdmemory.tools.tool import Caller
from mdmemory.transcripts.turns import Turn

if TYPE_CHECKING:
    from mdmemory.layers import Layers

_UNHEARD = (Turn("", "assistant", ""),)
_PROVEN = ("memory_store", "memory_update", "memory_forget")


def caller(layers: Layers, tool: str, quote: object) -> Caller:
    """The words for this tool, none where it needs none.

    MCP names no session, so the words of all sessions of these stores count. This host may have no
    hooks where others have: a quote that nobody heard is not proven, and not disproven.
    """
    if tool not in _PROVEN:
        return Caller()
    from mdmemory.capture.claims import fold
    from mdmemory.session.heard import recent

    turns = []
    for memory in reversed(layers.there()):
        try:
            with memory.state() as state:
                turns += recent(state, memory.now())
        except MdmemoryError:
            continue
    said = tuple(turn.text for turn in turns if turn.role == "user" and turn.text)
    wanted = fold(quote) if isinstance(quote, str) else ""
    is_heard = any(wanted in fold(text) for text in said)
    return Caller(said=said, turns=tuple(turns) if is_heard else _UNHEARD, hears=False)
