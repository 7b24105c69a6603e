"""The index and the notes as resources."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.mcp.loop import INVALID_PARAMS, Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from mdmemory.actions.listing import Listed
    from mdmemory.layers import Layers
    from mdmemory.mcp.loop import Json

INDEX = "memory://index"
NOTE = "memory://note/"
_MARKDOWN = "text/markdown"
TEMPLATE = {
    "name": "note", "title": "A note", "uriTemplate": f"{NOTE}{{name}}", "mimeType": _MARKDOWN,
    "description": "One note of the memory, by its name or file.",
}  # fmt: skip


def list_resources(open: Callable[[], Layers]) -> list[Json]:
    """The index, and the notes that it lists; other notes can be read too."""
    index = {
        "name": "index", "title": "Memory index", "uri": INDEX, "mimeType": _MARKDOWN,
        "description": "One line for each note, within a budget.",
    }  # fmt: skip
    from mdmemory.tools.notes import list_both

    try:
        rows = [row for row in list_both(open()) if row.listed]
    except MdmemoryError:
        return [index]  # without a store there is nothing to list; reading says so
    return [index, *map(_resource, rows)]


def read(open: Callable[[], Layers], params: Json) -> Json:
    """The text of a resource. Raises Fault."""
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise Fault(INVALID_PARAMS, "`resources/read` needs the text `uri`.")
    try:
        text = _text(open(), uri)
    except MdmemoryError as problem:
        message = problem.sentences
        raise Fault(INVALID_PARAMS, message, {"uri": uri}) from problem
    return {"contents": [{"uri": uri, "mimeType": _MARKDOWN, "text": text}]}


def _resource(row: Listed) -> Json:
    return {
        "name": row.head.name, "title": row.head.title or row.head.name, "mimeType": _MARKDOWN,
        "uri": NOTE + quote(row.head.file.removesuffix(".md"), safe="", errors="replace"),
        "description": row.head.description,
    }  # fmt: skip


def _text(layers: Layers, uri: str) -> str:
    if uri == INDEX:
        return "\n".join(memory.index_text() for _, memory in reversed(layers.each()))
    if not uri.startswith(NOTE):
        raise NotFound(f"There is no resource {uri[:80]!r}.", f"There are {INDEX} and {NOTE}NAME.")
    memory, name = layers.holding(unquote(uri.removeprefix(NOTE)))
    # a name works too; `get` reads only notes of the store that are not on hold
    file = name if "/" in name else memory.note(name).file
    return memory.get(file).text + "\n"
