"""Search in notes, sessions and files: each hit with the words it was found by."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.search.query import mark_words as places
from mdmemory.search.results import MEMORY, Hit, telling_lines
from mdmemory.web import marks
from mdmemory.web.site import Site, note_path

SIZE = 30  # hits
_SHOWN, _WIDTH = 4, 400  # lines of a hit, and characters of a line
SOURCES = (
    ("memory", "notes"), ("all", "notes, sessions and files"), ("sessions", "sessions"),
    ("files", "files"), ("observations", "what tools showed"),
)  # fmt: skip


def search(site: Site, request: Request) -> Response:
    """The hits for a question."""
    query = request.query_params.get("q", "").strip()[:500]
    source = request.query_params.get("source", "") or MEMORY
    answer = site.layers.search(query, k=SIZE, source=source) if query else None
    hits = [_show(site, hit, query) for hit in (answer.hits if answer else ())]
    return site.page(
        request, "search.html", q=query, source=source, sources=SOURCES, hits=hits,
        told=answer.said if answer else (),
    )  # fmt: skip


def _show(site: Site, hit: Hit, query: str) -> dict[str, Any]:
    title = hit.title or hit.description or hit.name or hit.file
    lines = [hit.description] if hit.description not in ("", title) else []
    lines += telling_lines(hit, query, _SHOWN, _WIDTH)
    layer = hit.layer or next((layer for layer, _ in site.layers.each()), "")
    path = note_path(layer, hit.file) if hit.source == MEMORY and not hit.project else ""
    if hit.source == "sessions":
        path = f"/sessions/{hit.file}"
    return {
        "title": title, "path": path,
        "mark": hit.mark, "date": hit.date,
        "where": f"{hit.file}:{hit.start_line}-{hit.end_line}", "layer": layer,
        "source": "" if hit.source == MEMORY else hit.source, "words": hit.matched,
        "lines": [marks.words(line[:_WIDTH], places(query, line[:_WIDTH])) for line in lines],
    }  # fmt: skip
