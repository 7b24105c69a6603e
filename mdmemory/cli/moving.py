"""Commands that move a memory: export, and import from this or another tool."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.cli.output import emit, opened, plural, warn
from mdmemory.errors import Unwritable
from mdmemory.note.note import UNREADABLE, fields

if TYPE_CHECKING:
    from mdmemory.actions.listing import Listed
    from mdmemory.capture.imports.run import Imported
    from mdmemory.memory import Memory
    from mdmemory.store.store import StoredNote


def export_options(parser: ArgumentParser) -> None:
    """Options of `export`."""
    parser.add_argument("--markdown", metavar="FILE",
                        help="one markdown file instead (- for standard output)")  # fmt: skip


def export(asked: Namespace) -> int:
    """All notes as JSON on standard output, or as one markdown file. Held notes stay here."""
    asked.holder = "export"
    memory = opened(asked)
    pairs = _exported(memory)
    if asked.markdown is None:
        emit([_json(row, stored) for row, stored in pairs])
        return 0
    text = _markdown(pairs)
    if asked.markdown == "-":
        sys.stdout.write(text)
        return 0
    path = Path(asked.markdown).expanduser()
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as problem:
        raise Unwritable(
            f"{path} cannot be written ({problem.strerror}).", "Name another file."
        ) from problem
    if asked.json:
        emit({"path": str(path), "notes": len(pairs)})
    else:
        print(f"Wrote {plural(len(pairs), 'note')} to {path}.")
    return 0


def _exported(memory: Memory) -> list[tuple[Listed, StoredNote]]:
    rows = memory.listing()
    out = {row.head.file for row in rows if row.status in ("held", UNREADABLE)}
    if out:
        warn(f"Left out {plural(len(out), 'note')} held back or unreadable: `mdmemory doctor`.")
    stored = {note.file: note for note in memory.notes()}
    return [
        (row, stored[row.head.file]) for row in rows
        if row.head.file not in out and row.head.file in stored
    ]  # fmt: skip


def _json(row: Listed, stored: StoredNote) -> dict[str, Any]:
    head = row.head
    return {
        "file": head.file, "name": head.name, "description": head.description, "type": head.type,
        "kind": head.kind, "digest": stored.digest, "status": row.status,
        "body": stored.note.body, "head": fields(stored.note),
    }  # fmt: skip


def _markdown(pairs: list[tuple[Listed, StoredNote]]) -> str:
    parts = ["# Memory"]
    for type in dict.fromkeys(row.head.type for row, _ in pairs):
        parts.append(f"## {type}")
        for row, stored in pairs:
            if row.head.type == type:
                title, about = row.head.title or row.head.name, row.head.description
                parts += [f"### {title}", f"> {about}", stored.note.body.strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def import_options(parser: ArgumentParser) -> None:
    """Options of `import`."""
    parser.add_argument("path", metavar="PATH", help="a file or folder of another memory")
    parser.add_argument("--yes", action="store_true", help="store them; without it, only tell")
    parser.add_argument("--dry-run", action="store_true", help="only tell, whatever else is said")


def import_(asked: Namespace) -> int:
    """Facts of another memory as notes, in one commit. Without --yes it only tells."""
    asked.holder = "import"
    wet = asked.yes and not asked.dry_run
    done = opened(asked).import_from(asked.path, dry_run=not wet)
    if asked.json:
        added = [{"file": f, "description": d, "from": o} for f, d, o in done.added]
        known = [{"file": file, "from": origin} for file, origin in done.known]
        emit({"added": added, "known": known, "dropped": done.dropped, "commit": done.commit})
        return 0
    _tell(done, wet)
    return 0


def _tell(done: Imported, wet: bool) -> None:
    for file, description, _ in done.added:
        print(f"{'stored' if wet else 'would store'} {file}: {description}")
    for file, origin in done.known:
        print(f"known already: {origin} is in {file}")
    for each in done.dropped:
        reasons = each["reasons"]
        assert isinstance(reasons, list)
        print(f"left out ({', '.join(reasons)}): {each['text']}")
    if done.commit:
        print(f"{plural(len(done.added), 'note')} in commit {done.commit[:10]}. "
              f"Take it back: `mdmemory undo {done.id}`.")  # fmt: skip
    elif wet:
        print(f"{plural(len(done.added), 'note')} stored, and no commit made.")
    elif done.added:
        print(f"Nothing was stored. To store {plural(len(done.added), 'note')}, add --yes.")
    else:
        print("There is nothing to store.")
