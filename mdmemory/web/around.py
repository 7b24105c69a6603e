"""What stands around a note: its links and replacements, two steps far, as lines beside arcs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from mdmemory.actions.glance import LinkMap
from mdmemory.web import charts
from mdmemory.web.notes import NoteRow
from mdmemory.web.site import note_path

LINK, REPLACED = "link", "replaced"
_STEPS, _MOST = 2, 24  # and so many notes


class Surroundings:
    """The links and replacements among the notes of a layer, by their files."""

    def __init__(self, links: LinkMap, rows: Mapping[str, NoteRow]) -> None:
        self._links, self._rows = links, rows
        self._newer: dict[str, str] = {}
        self.older: dict[str, list[str]] = defaultdict(list)
        for file, row in rows.items():
            newer = links.leads_to(row.superseded_by) if row.superseded_by else None
            if newer and newer != file:
                self._newer[file] = newer
                self.older[newer].append(file)

    def picture(self, file: str) -> dict[str, Any] | None:
        """The notes around one in their order, what leads to it above it, and the arcs between
        them; None where there is nothing."""
        places, ring = {file: 0}, [file]
        for _ in range(_STEPS):
            inner, ring = ring, []
            for each in inner:
                for other, side in self._beside(each):
                    if other not in places and other in self._rows and len(places) < _MOST:
                        away = side if each == file else places[each] // abs(places[each])
                        places[other] = places[each] + away
                        ring.append(other)
        if len(places) == 1 or file not in self._rows:
            return None
        order = {each: at for at, each in enumerate(sorted(places, key=lambda f: (places[f], f)))}
        edges = [
            (order[one], order[other], style)
            for one in order for other, style in self._out_of(one) if other in order
        ]  # fmt: skip
        rows = [
            {"row": row, "path": note_path(row.layer, each), "is_here": each == file,
             "is_far": abs(places[each]) > 1}
            for each in order for row in [self._rows[each]]
        ]  # fmt: skip
        return {"rows": rows, "arcs": charts.arcs(len(order), edges, order[file])}

    def _out_of(self, file: str) -> Iterator[tuple[str, str]]:
        """Where the arrows of a note lead, and their kind; each once, a replacement first."""
        newer = self._newer.get(file)
        if newer:
            yield newer, REPLACED
        for other in dict.fromkeys(other for _, other in self._links.out_of(file) if other):
            if other not in (file, newer):
                yield other, LINK

    def _beside(self, file: str) -> Iterator[tuple[str, int]]:
        """The notes one step away, with the side that they stand on."""
        yield from ((other, -1) for other in (*self.older[file], *self._links.into(file)))
        yield from ((other, 1) for other, _ in self._out_of(file))
