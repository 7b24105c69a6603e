"""Which memory a file or folder holds, told by what is in it, and its facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from mdmemory.capture.imports import exported, json_memories, markdown, open_mem, working_memory
from mdmemory.capture.imports.incoming import BadImport, Incoming
from mdmemory.expressions import lazy

MAX_BYTES = 64 * 1024 * 1024
_ASIDE = lazy(r".*_(?:pressure|compaction|sweep)\.json")  # logs beside the sessions


def read(path: Path) -> list[Incoming]:
    """The facts of a file or folder that a person named; links are followed. Raises BadImport."""
    try:
        found = list(_folder(path) if path.is_dir() else _file(path))
    except OSError as problem:
        raise BadImport(
            f"{path} cannot be read ({problem.strerror}).", "Name a file or a folder."
        ) from problem
    if not any(fact.text.strip() or fact.description for fact in found):
        raise BadImport(f"{path} holds no memory.", "docs/moving.md says what can be imported.")
    return found


def _folder(folder: Path) -> Iterator[Incoming]:
    if (folder / ".cursor" / "rules").is_dir():
        yield from markdown.notes_of(folder / ".cursor" / "rules")
        return
    if (folder / "memory").is_dir() and not any(folder.glob("*.md")):
        yield from _folder(folder / "memory")  # a project's folder of Claude Code
        return
    if markdown.markdown_files(folder):
        yield from markdown.notes_of(folder)
        return
    for path in sorted(folder.glob("*.json")):
        if not _ASIDE.fullmatch(path.name):
            yield from _file(path)


def _file(path: Path) -> Iterator[Incoming]:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if data.startswith(open_mem.MAGIC):
        yield from open_mem.facts_of(path)
        return
    if len(data) > MAX_BYTES:
        raise BadImport(f"{path} is larger than {MAX_BYTES >> 20} MB.", "Import it in parts.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadImport(f"{path} is not UTF-8 text.", "Save it as UTF-8 first.") from problem
    lines = text.splitlines()
    if json_memories.is_graph(next((line for line in lines if line.strip()), "")):
        yield from json_memories.graph_of(lines)
    elif text.lstrip()[:1] in ("{", "["):
        yield from _json(path, text)
    else:
        yield from markdown.of_file(text, path.name)


def _json(path: Path, text: str) -> Iterator[Incoming]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadImport(f"{path} is not JSON, or was cut off.", "Export it again.") from problem
    if exported.is_ours(value):
        yield from exported.facts_of(value)
    elif working_memory.is_ours(value):
        yield from working_memory.facts_of(value)
    else:
        yield from json_memories.facts_of(value, path.name)
