"""The text that a host puts into its prompt: how to use the memory, and as much of its index as
hosts take."""

from __future__ import annotations

from collections.abc import Callable

from mdmemory.errors import MdmemoryError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.layers import Layers
    from mdmemory.memory import Memory

MOST = 4_000  # characters: Claude Code cuts instructions at 4,096
ALONE = "memory_store"  # the one tool where there is no store
_NONE = (
    "You have a long-term memory, and nothing is in it yet: `memory_store` keeps the first fact, "
    "and makes the store."
)
# a hook gives the protocol too: the same twice would cost 350 tokens in each request
_BY_HOOK = (
    "You have a long-term memory. How to use it and its index are in your context, from a hook; "
    "where they are not, use `memory_search` before you answer about earlier work, a decision, a "
    "preference or a person."
)
_PERSONS = 0.4  # of the room for both indexes


def instructions(open: Callable[[], Layers], index: bool = True) -> str:
    """At most MOST characters; without `index` a hook puts protocol and index into the prompt."""
    from mdmemory.protocol import for_tools

    try:
        layers = open()
        if not layers.there():
            return layers.question.sentences if layers.question else _NONE
        if not index:
            return _BY_HOOK
        text = for_tools()
        return f"{text}\n{_indexes(layers, MOST - len(text) - 1)}"
    except MdmemoryError as problem:
        return problem.sentences


def _indexes(layers: Layers, room: int) -> str:
    """The indexes of both layers, the person's first: whole, or their strongest notes."""
    stores = [memory for _, memory in reversed(layers.each())]
    texts = [memory.index_text() for memory in stores]
    if len("\n".join(texts)) <= room:
        return "\n".join(texts)
    if len(stores) == 1:
        return _within(stores[0], texts[0], room)
    persons, projects = texts
    part = max(int(room * _PERSONS), room - len(projects) - 1)
    persons = _within(stores[0], persons, part)
    return f"{persons}\n{_within(stores[1], projects, room - len(persons) - 1)}"


def _within(memory: Memory, text: str, room: int) -> str:
    # the tools reach what does not fit, and the file does not hold it
    return text if len(text) <= room else memory.index_text(room).replace("_MORE.md or ", "")
