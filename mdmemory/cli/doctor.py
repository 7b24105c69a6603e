"""`mdmemory doctor`: what is wrong with the stores and with the assistants that use them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.cli.commands import add_flag
from mdmemory.cli.output import NO_STORE_YET, count_noun, emit_json, open_layers
from mdmemory.config import person
from mdmemory.layers import MINE, USER

if TYPE_CHECKING:
    from mdmemory.layers import Layers


def doctor_options(parser: ArgumentParser) -> None:
    """Options of `doctor`."""
    what = parser.add_mutually_exclusive_group()
    add_flag(what, "--fix", "first fix what can be fixed safely")
    add_flag(what, "--quality", "instead count where notes come from, and which facts were refused")


def run_doctor(options: Namespace) -> int:
    """Find problems of the stores and of your assistants' connection to them, each with its
    fix."""
    from mdmemory.hosts import problems

    layers = open_layers(options)
    if options.quality:
        return _show_quality(options, layers)
    environment = person.person_places().environment
    if layers.question is None and not layers.there() and problems.connected_titles(environment):
        return _without_store(options, environment)
    rows = problems.list_problems(layers, environment, fix=options.fix)
    if not options.json and not rows:
        stores = (str(memory.project.store) for _, memory in layers.each())
        print(f"No problems in {' and '.join(stores)}.")
    return _report_findings(rows, options, MINE if layers.project else "")


def _report_findings(rows: list[dict[str, Any]], options: Namespace, mine: str = "") -> int:
    """Show the findings, `mine` before a path in the person's own store; 1 if one of them is an
    error."""
    from mdmemory.hosts import problems

    failed = any(row["level"] == "error" for row in rows)
    if options.json:
        emit_json({"ok": not failed, "findings": rows})
    elif rows:
        of_files = problems.by_file(rows)
        for row in of_files:
            path = f"{mine if row['layer'] == USER else ''}{row['path']}: " if row["path"] else ""
            print(f"{row['level']}: {path}{row['message']}")
        print(problems.in_all(of_files))
    return int(failed)


def _without_store(options: Namespace, environment: Mapping[str, str]) -> int:
    """Look at the assistants of somebody who has no store yet."""
    from mdmemory.hosts import problems

    findings = problems.of_assistants(environment, Path.cwd())
    if not options.json:
        print(NO_STORE_YET)
    return _report_findings([{**row, "layer": USER} for row in findings], options)


def _show_quality(options: Namespace, layers: Layers) -> int:
    """Show the counts of each store."""
    qualities = [(layer, memory, memory.quality()) for layer, memory in layers.each()]
    if options.json:
        emit_json(
            {"quality": [{"layer": layer, **asdict(counts)} for layer, _, counts in qualities]}
        )
        return 0
    for _, memory, counts in qualities:
        print(memory.project.store)
        print(f"  notes     {counts.notes}: {_list_counts(counts.types)}")
        print(f"  sources   {_list_counts(counts.sources)}")
        print(f"  marks     {_list_counts(counts.statuses)}; {counts.reinforced} said again")
        print(f"  found     {_list_counts(counts.found)} (in {counts.days} days)")
        print(f"  reasons   {_list_counts(counts.reasons)}")
        print(f"  captures  {count_noun(counts.captures, 'commit')}, {counts.undone} taken back")
    return 0


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
