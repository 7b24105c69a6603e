"""What the person said lately around here, as proof for what an assistant asks of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.capture.candidate import Caller
from mdmemory.errors import MdmemoryError

if TYPE_CHECKING:
    from mdmemory.layers import Layers

_PROVEN = ("memory_store", "memory_forget")


def caller(layers: Layers, tool: str) -> Caller:
    """The words for this tool, none where it needs none.

    MCP names no session. Where hooks of the client that started this server heard the person, its
    newest session counts, and nothing else proves anything; a client without hooks is heard by
    nobody.
    """
    if tool not in _PROVEN:
        return Caller()
    from mdmemory.session.client_process import of_parent
    from mdmemory.session.heard import of_client

    client = of_parent()
    for memory in layers.there():
        try:
            with memory.state() as state:
                session, turns = of_client(state, client, memory.now())
        except MdmemoryError:
            continue
        if turns:
            return Caller(session, tuple(turns))
    return Caller(hears=False)
