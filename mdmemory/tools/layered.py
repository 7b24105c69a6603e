"""One store or both layers as the tools see them: the person's notes are `me/FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.layers import MINE, PROJECT, USER, Layers

if TYPE_CHECKING:
    from mdmemory.actions.listing import Listed
    from mdmemory.memory import Memory
    from mdmemory.search.results import Found, Passage
    from mdmemory.tools.tool import Notes


def layer_of(memory: Notes, file: str) -> str:
    """The layer of a file that an answer names; a store that is asked alone is a project's."""
    if not isinstance(memory, Layers):
        return PROJECT
    return USER if file.startswith(MINE) or memory.project is None else PROJECT


def holding(memory: Notes, file: str) -> tuple[Memory, str]:
    """The memory of a file that an answer names, and its name there."""
    return memory.holding(file) if isinstance(memory, Layers) else (memory, file)


def search(memory: Notes, query: str, k: int, source: str) -> Found:
    """The best places; what is no note is the project's alone."""
    from mdmemory.search.answer import joined
    from mdmemory.search.results import Found

    if not isinstance(memory, Layers):
        return memory.search(query, k=k, source=source)
    found = [memory.main.search(query, k=k, source=source)] if memory.there() else []
    if memory.project and memory.person and source in ("memory", "all"):
        more = memory.person.search(query, k=k)
        hits = (hit._replace(file=f"{MINE}{hit.file}") for hit in more.hits)
        found.append(more._replace(hits=tuple(hits)))
    return joined(found, k) if found else Found("keyword", ())


def passage(memory: Notes, file: str, lines: tuple[int, int] | None) -> Passage:
    """A note of the layer that holds it. Raises NotFound, NoStore."""
    owner, name = holding(memory, file)
    found = owner.get(name, lines)
    is_persons = isinstance(memory, Layers) and memory.project and owner is memory.person
    return found._replace(file=f"{MINE}{found.file}") if is_persons else found


def listing(layers: Layers) -> list[Listed]:
    """The notes of both layers."""
    return [
        row._replace(head=row.head._replace(file=f"{MINE}{row.head.file}"))
        if layers.project and layer != PROJECT else row
        for layer, row in (layers.listing(digests=False) if layers.there() else ())
    ]  # fmt: skip
