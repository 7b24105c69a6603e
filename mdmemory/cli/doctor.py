"""`mdmemory doctor`: what is wrong with the stores and with the assistants that use them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.cli.output import NO_STORE_YET, emit_json
from mdmemory.config import person
from mdmemory.layers import MINE, USER

if TYPE_CHECKING:
    from mdmemory.layers import Layers


def run_doctor(layers: Layers, options: Namespace) -> int:
    from mdmemory.hosts import problems

    environment = person.person_places().environment
    if layers.question is None and not layers.there() and problems.connected_titles(environment):
        # somebody who has no store yet: only their assistants can be looked at
        findings = problems.of_assistants(environment, Path.cwd())
        if not options.json:
            print(NO_STORE_YET)
        return _report_findings([{**row, "layer": USER} for row in findings], options)
    rows = problems.list_problems(layers, environment, fix=options.fix)
    former = dict.fromkeys(
        sentence for _, memory in layers.each() for sentence in memory.project.settings.former
    )
    layer = layers.of(layers.main)
    rows += [
        {"check": "settings", "level": "warning", "path": "", "message": sentence,
         "fixable": False, "layer": layer}
        for sentence in former
    ]  # fmt: skip
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
