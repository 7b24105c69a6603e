"""`mdmemory doctor`: what is wrong with the stores and with the assistants that use them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.cli.output import NO_STORE_YET, emit, layered, plural
from mdmemory.config import person
from mdmemory.memory import Memory
from mdmemory.routing import MINE, USER

if TYPE_CHECKING:
    from mdmemory.layers import Layers


def doctor_options(parser: ArgumentParser) -> None:
    """Options of `doctor`."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--fix", action="store_true", help="first fix what is safe to fix")
    what.add_argument(
        "--quality",
        action="store_true",
        help="count where notes come from, and what was turned down",
    )


def doctor(asked: Namespace) -> int:
    """Find problems of the stores and of their connection to your assistants, each with its fix.

    Without a store it looks at the assistants alone, where any is connected.
    """
    asked.holder = "doctor"
    layers = layered(asked)
    if asked.quality:
        return _quality(asked, layers)
    if layers.question is None and not layers.there() and _connected():
        return _without_store(asked)
    rows = [{**asdict(finding), "layer": layer} for layer, finding in layers.doctor(fix=asked.fix)]
    layer = layers.of(layers.main)
    rows += [{**row, "layer": layer} for row in _around(layers.main)]
    if not asked.json and not rows:
        stores = (str(memory.project.store) for _, memory in layers.each())
        print(f"No problems in {' and '.join(stores)}.")
    for row in rows:
        row["path"] = _path(row, layers) if not asked.json else row["path"]
    return _report(rows, asked)


def _around(memory: Memory) -> list[dict[str, Any]]:
    """Problems that lie outside the store: with assistants, and with search by meaning."""
    from mdmemory.search import sources

    rows = [_warning("opencode", text) for text in _opencode(memory)]
    rows += [_warning("assistants", text) for text in _clients(memory.project.top)]
    if missing := sources.trouble(memory.project.settings):
        told = f"Search by meaning is on, and goes by words: {missing}."
        rows.append(_warning("meaning", told))
    return rows


def _warning(check: str, message: str) -> dict[str, Any]:
    return {
        "check": check, "level": "warning", "path": "", "message": message, "fixable": False,
    }  # fmt: skip


def _path(row: dict[str, Any], layers: Layers) -> str:
    """A path as the terminal shows it: `me/` before one of the person's own store."""
    return f"{MINE}{row['path']}" if layers.project and row["layer"] == USER else row["path"]


def _report(rows: list[dict[str, Any]], asked: Namespace) -> int:
    """Show the findings; 1 if one of them is an error."""
    failed = any(row["level"] == "error" for row in rows)
    if asked.json:
        emit({"ok": not failed, "findings": rows})
        return 1 if failed else 0
    for row in rows:
        print(f"{row['level']}: {row['path'] + ': ' if row['path'] else ''}{row['message']}")
    fixable = sum(row["fixable"] for row in rows)
    if fixable and not asked.fix:
        print(f"`mdmemory doctor --fix` fixes {fixable} of these.")
    return 1 if failed else 0


def _without_store(asked: Namespace) -> int:
    """Look at the assistants of somebody who has no store yet."""
    rows = [{**_warning("assistants", text), "layer": USER} for text in _clients(Path.cwd())]
    if not asked.json:
        print(NO_STORE_YET)
    return _report(rows, asked)


def _connected() -> list[str]:
    from mdmemory.hosts import clients

    return clients.connected(person.places().environment)


def _quality(asked: Namespace, layers: Layers) -> int:
    """Show the counts of each store."""
    found = [(layer, memory, memory.quality()) for layer, memory in layers.each()]
    if asked.json:
        emit({"quality": [{"layer": layer, **asdict(counts)} for layer, _, counts in found]})
        return 0
    for _, memory, counts in found:
        print(memory.project.store)
        print(f"  notes     {counts.notes}: {_listed(counts.types)}")
        print(f"  sources   {_listed(counts.sources)}")
        print(f"  marks     {_listed(counts.statuses)}; {counts.reinforced} said again")
        print(f"  found     {_listed(counts.found)} (in {counts.days} days)")
        print(f"  reasons   {_listed(counts.reasons)}")
        print(f"  captures  {plural(counts.captures, 'commit')}, {counts.undone} taken back")
    return 0


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _clients(folder: Path) -> list[str]:
    """Problems between a folder's memory and the clients that are wired for all projects."""
    from mdmemory.hosts import clients

    return [*clients.findings(person.places().environment, folder)]


def _opencode(memory: Memory) -> list[str]:
    """Problems between this store and OpenCode."""
    from mdmemory.hosts import bridge_log, git_hooks
    from mdmemory.hosts.opencode import checks, wiring
    from mdmemory.hosts.opencode.places import Place

    project = memory.project
    place = Place(project.root, project.store)
    if not wiring.is_used(place):
        return bridge_log.findings(project)
    return [
        *checks.examine(place, git_hooks.command(), person.opencode_folder()),
        *bridge_log.findings(project),
        *checks.version_findings(project, person.places().environment),
    ]
