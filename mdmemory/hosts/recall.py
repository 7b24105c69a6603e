"""The blocks of a session's prompt: looked up here, made text by `prompt.blocks`.

One function a block; it returns "" where the settings switch the block off.
"""

from __future__ import annotations

import os

from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.prompt import blocks, receipts

OBSERVATIONS = 4_000  # tokens of what earlier sessions saw


def at_hand(memory: Memory, session: str) -> str:
    """The memory of the session."""
    if not os.path.lexists(memory.project.state_file):
        return ""  # reading does not make the file
    with memory.session(session) as own:
        return own.blocks()


def count_waiting(layers: Layers) -> dict[str, int]:
    """How many things of each kind wait for the user."""
    if not layers.there():
        return {}
    from mdmemory.review import waiting as inbox

    return inbox.counts(layers)


def by_hand(layers: Layers, _session: str) -> str:
    """A line for each layer that other hands changed and no commit holds so yet."""
    looks = [look for memory in layers.there() if (look := memory.unadopted())]
    return "\n".join(filter(None, (receipts.by_hand(look.found, look.lost) for look in looks)))


def recall_observations(layers: Layers, _session: str) -> str:
    """The observations of earlier sessions, the newest in full."""
    memory = layers.main
    observations = memory.observations()
    return observations.block(budget=OBSERVATIONS) if observations.is_on else ""


def for_compaction(memory: Memory, session: str) -> list[str]:
    """Texts for the prompt of the host's own summary of the session."""
    seen, observations = "", memory.observations()
    if observations.is_on:
        seen = observations.block(session=session, budget=blocks.COMPACTION_BUDGET)
    return blocks.for_compaction(at_hand(memory, session), seen)
