"""Which memory a file or folder holds, told by what is in it, and its facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from mdmemory.capture.imports import json_memories, markdown
from mdmemory.capture.imports.incoming import BadImport, Incoming

# A text may begin with a bracket, too: of a date, a link, a task.
_JSON = re.compile(r'\s*(?:\{\s*"|\[\s*[{"])')
MAX_BYTES = 64 * 1024 * 1024


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
    if (folder / "memory").is_dir() and not any(folder.glob("*.md")):
        yield from _folder(folder / "memory")  # a project's folder of Claude Code
    elif markdown.markdown_files(folder):
        yield from markdown.notes_of(folder)
    else:
        for path in sorted(folder.glob("*.json")):
            yield from _file(path)


def _file(path: Path) -> Iterator[Incoming]:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadImport(f"{path} is larger than {MAX_BYTES >> 20} MB.", "Import it in parts.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadImport(f"{path} is not UTF-8 text.", "Save it as UTF-8 first.") from problem
    lines = text.splitlines()
    if json_memories.is_graph(next((line for line in lines if line.strip()), "")):
        yield from json_memories.graph_of(lines)
    elif path.suffix == ".json" or _JSON.match(text):
        yield from _json(path, text)
    else:
        yield from markdown.of_file(text, path.name)


def _json(path: Path, text: str) -> Iterator[Incoming]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadImport(f"{path} is not JSON, or was cut off.", "Export it again.") from problem
    yield from json_memories.facts_of(value, path.name)
