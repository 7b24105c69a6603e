"""Both layers as the tools see them: the person's notes are `me/FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmemory.layers import MINE, PROJECT, USER, Layers

if TYPE_CHECKING:
    from mdmemory.actions.listing import Listed
    from mdmemory.search.results import Found, Passage


def layer_of(layers: Layers, file: str) -> str:
    """The layer of a file that an answer names."""
    return USER if file.startswith(MINE) or layers.project is None else PROJECT


def search(layers: Layers, query: str, k: int, source: str) -> Found:
    """The best places; what is no note is the project's alone."""
    from mdmemory.search.answer import joined
    from mdmemory.search.results import Found

    found = [layers.main.search(query, k=k, source=source)] if layers.there() else []
    if layers.project and layers.person and source in ("memory", "all"):
        more = layers.person.search(query, k=k)
        hits = (hit._replace(file=f"{MINE}{hit.file}") for hit in more.hits)
        found.append(more._replace(hits=tuple(hits)))
    return joined(found, k) if found else Found("keyword", ())


def passage(layers: Layers, file: str, lines: tuple[int, int] | None) -> Passage:
    """A note of the layer that holds it. Raises NotFound, NoStore."""
    owner, name = layers.holding(file)
    found = owner.get(name, lines)
    is_second = layers.project is not None and owner is layers.person
    return found._replace(file=f"{MINE}{found.file}") if is_second else found


def listing(layers: Layers) -> list[Listed]:
    """The notes of both layers."""
    return [
        row._replace(head=row.head._replace(file=f"{MINE}{row.head.file}"))
        if layers.project and layer != PROJECT else row
        for layer, row in (layers.listing(digests=False) if layers.there() else ())
    ]  # fmt: skip
