"""Both layers as the tools see them: the project's notes, and the person's as `me/FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mdmemory.layers import MINE, PROJECT, USER, Layers

if TYPE_CHECKING:
    from mdmemory.actions.listing import Listed
    from mdmemory.capture.assistant import Stored
    from mdmemory.capture.forgetting import Forgotten
    from mdmemory.capture.updating import Corrected
    from mdmemory.memory import Memory
    from mdmemory.search.results import Found, Passage

# the tools that ask nothing else of it
USED_BY = (
    "memory_search", "memory_get", "memory_store", "memory_update", "memory_forget",
)  # fmt: skip


class Both:
    """Searches, reads, stores and lists notes of both layers, by methods that Memory has, too."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self.made: list[str] = []  # the stores that this call began

    def store(self, content: str, **given: Any) -> Stored:
        """Store a fact in its layer, as `Layers.store` does."""
        before = [each.project.store for each in self._layers.there()]
        done = self._layers.store(content, **given)
        stores = [each.project.store for each in self._layers.there()]
        self.made = [str(each) for each in stores if each not in before]
        return done

    def forget(self, what: str, **given: Any) -> Forgotten:
        """Forget a note of either layer, as `Layers.forget` does."""
        return self._layers.forget(what, **given)

    def update(self, what: str, content: str, **given: Any) -> Corrected:
        """Put a note of either layer right, as `Layers.update` does."""
        return self._layers.update(what, content, **given)

    def holding(self, file: str) -> tuple[Memory, str]:
        """The memory of a file that an answer names, and its name there."""
        return self._layers.holding(file)

    def layer_of(self, file: str) -> str:
        """The layer of a file that an answer names."""
        return USER if file.startswith(MINE) or self._layers.project is None else PROJECT

    def each(self) -> list[tuple[str, Memory]]:
        """The layers that are there, by their names. Raises NoStore where there is none."""
        return self._layers.each()

    def search(self, query: str, *, k: int = 6, source: str = "memory") -> Found:
        """The best places in both layers; what is no note is the project's alone."""
        from mdmemory.search.answer import joined
        from mdmemory.search.results import Found

        project, person = self._layers.project, self._layers.person
        found = [self._layers.main.search(query, k=k, source=source)] if project or person else []
        if project and person and source in ("memory", "all"):
            more = person.search(query, k=k)
            hits = (hit._replace(file=f"{MINE}{hit.file}") for hit in more.hits)
            found.append(more._replace(hits=tuple(hits)))
        return joined(found, k) if found else Found("keyword", ())

    def get(self, file: str, lines: tuple[int, int] | None = None) -> Passage:
        """A note of the layer that holds it. Raises NotFound, NoStore."""
        memory, name = self._layers.holding(file)
        passage = memory.get(name, lines)
        is_persons = memory is self._layers.person and self._layers.project is not None
        return passage._replace(file=f"{MINE}{passage.file}") if is_persons else passage

    def listing(self, *, digests: bool = True) -> list[Listed]:
        """The notes of both layers."""
        if not self._layers.there():
            return []
        project = self._layers.project
        return [
            row._replace(head=row.head._replace(file=f"{MINE}{row.head.file}"))
            if project and layer != PROJECT else row
            for layer, row in self._layers.listing(digests=digests)
        ]  # fmt: skip
