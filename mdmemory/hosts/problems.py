"""All problems that `mdmemory doctor` names: of the stores, and between them and the assistants."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from mdmemory.config import person
from mdmemory.hosts import background, clients, git_hooks
from mdmemory.hosts.opencode import wiring
from mdmemory.hosts.opencode.wiring import Place
from mdmemory.memory import Memory
from mdmemory.version import DISTRIBUTION

_OURS = "mdmemory/__init__.py,"  # in the list of files of whoever wrote it


def list_problems(
    layers: Memory, environment: Mapping[str, str], *, fix: bool = False
) -> list[dict[str, Any]]:
    """One row each: check, level (error or warning), path, message, fixable, layer. `fix` first
    repairs what is safe to repair."""
    from mdmemory.search import sources

    rows = [
        {**finding._asdict(), "layer": layer}
        for layer, part in layers.each() for finding in part.doctor(fix=fix)
    ]  # fmt: skip
    memory = layers.main
    project = memory.project
    place = Place(project.root, project.store, command=git_hooks.program_words())
    texts = background.recent_errors(project)
    if wiring.is_used(place):
        personal = person.opencode_folder(environment)
        texts = wiring.examine_project(place, personal) + texts
    outside = [_warning_row("opencode", text) for text in texts]
    outside += of_assistants(environment, project.top)
    if missing := sources.meaning_trouble(project.settings):
        sentence = f"Search by meaning is on, and goes by words: {missing}."
        outside.append(_warning_row("meaning", sentence))
    # both stores read the person's file
    former = dict.fromkeys(
        each for memory in layers.there() for each in memory.project.settings.former
    )
    outside += [_warning_row("settings", sentence) for sentence in former]
    return [*rows, *({**row, "layer": memory.layer} for row in outside)]


def by_file(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each file, errors first: its worst level, and all that is wrong with it."""
    of_files: dict[object, dict[str, Any]] = {}
    for row in sorted(rows, key=itemgetter("level")):  # an error comes before a warning
        key = (row["layer"], row["path"] or row["message"])
        known = of_files.setdefault(key, {**row, "message": "", "fixable": False})
        known["message"] = f"{known['message']} {row['message']}".lstrip()
        known["fixable"] |= row["fixable"]
    return [*of_files.values()]


def in_all(rows: list[dict[str, Any]]) -> str:
    """How many rows of each level there are, in one sentence, and what mends some."""
    counts = sorted(Counter(row["level"] for row in rows).items())
    numbers = [f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts]
    fixable = sum(row["fixable"] for row in rows)
    mended = f"; `mdmemory doctor --fix` fixes what is safe in {fixable}" if fixable else ""
    return f"{', '.join(numbers)}{mended}."


def of_assistants(environment: Mapping[str, str], folder: Path) -> list[dict[str, Any]]:
    """The same rows of the clients that are wired for all projects, without a layer."""
    rows = [
        _warning_row("assistants", text) for text in clients.client_findings(environment, folder)
    ]
    return [*rows, *(_warning_row("package", text) for text in _shared_package())]


def connected_titles(environment: Mapping[str, str]) -> str:
    """The assistants that are connected for all projects, in words; "" for none."""
    names = clients.connected_clients(environment)
    return f"{', '.join(map(clients.client_title, names))}, in all projects" if names else ""


def describe_assistants(memory: Memory, environment: Mapping[str, str]) -> str:
    """Which assistants are connected to the memory, in words."""
    parts = [everywhere] if (everywhere := connected_titles(environment)) else []
    if wiring.is_used(Place(memory.project.root, memory.project.store)):
        parts.append("OpenCode, in this project")
    return "; ".join(parts) or "none is connected (`mdmemory setup`)"


def _shared_package() -> Iterator[str]:
    """What else than our own distribution has written our package in this Python."""
    from importlib import metadata

    for each in metadata.distributions():
        written = (each.read_text("RECORD") or "").splitlines()
        if any(row.startswith(_OURS) for row in written) and each.name != DISTRIBUTION:
            yield (
                f"{each.name} {each.version} is another project's and has the same package as "
                f"{DISTRIBUTION}, so that one overwrites the other: remove it with "
                f"`{sys.executable} -m pip uninstall {each.name}`, then install {DISTRIBUTION} "
                "again."
            )


def _warning_row(check: str, message: str) -> dict[str, Any]:
    return {"check": check, "level": "warning", "path": "", "message": message, "fixable": False}
