"""What may be wrong between a store and OpenCode, a sentence each with the next step."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular
from mdmemory.hosts.opencode import files, places
from mdmemory.hosts.opencode.files import PLUGIN
from mdmemory.hosts.opencode.places import INDEX_FILE, Place
from mdmemory.note.stamps import explain_outdated

_INIT = "`mdmemory init --opencode`"
_AGAIN = f"Run {_INIT} again"


def examine_project(place: Place, command: Sequence[str], personal: Path) -> list[str]:
    """All findings on a project. `command` starts this mdmemory, `personal` is the person's own
    configuration folder of OpenCode."""
    return [
        *reading_problems(place, personal),
        *_plugin_state(place, command),
        *_served_twice(place),
    ]


def reading_problems(place: Place, personal: Path | None = None) -> list[str]:
    """What keeps OpenCode from reading this store's memory; [] when it is wired.

    A plugin in the `personal` folder makes OpenCode read the index of every store.
    """
    personal = place.config_folder or personal
    is_wired_here = place.config_folder is None and (place.folder / PLUGIN).is_file()
    if personal and not is_wired_here and "INSTRUCTIONS" in _read_constants(personal / PLUGIN):
        return []
    try:
        listed = [(entry, place.resolve(entry)) for _, entry in places.all_instructions(place)]
    except MdmemoryError as problem:
        return [problem.message]
    resolved = {*(path for _, path in listed), *_wanted_instructions(place)}
    index = os.path.realpath(place.store / INDEX_FILE)
    findings = []
    for file in place.wanted:
        if os.path.realpath(file) not in resolved:
            findings.append(f"OpenCode does not read {place.shown(file)}. Run {_INIT}.")
        elif not file.exists():
            findings.append(f"OpenCode is told to read {place.shown(file)}, which does not exist.")
    return findings + [
        f"OpenCode also reads {entry}, which is not this store's index."
        for entry, path in dict.fromkeys(listed)
        if path.rpartition("/")[2] == INDEX_FILE and path != index
    ]


def _wanted_instructions(place: Place) -> list[str]:
    """The real paths of what the plugin has OpenCode read."""
    path = place.folder / PLUGIN
    return [
        os.path.realpath(path.parent / name)
        for name in _read_constants(path).get("INSTRUCTIONS", [])
    ]


def _read_constants(path: Path) -> dict[str, list[str]]:
    text = read_regular(path).decode("utf-8", "replace") if path.is_file() else ""
    return files.plugin_constants(text)


def still_listed(place: Place) -> list[str]:
    """Entries for the same files that the person wrote."""
    wanted = {os.path.realpath(file) for file in place.wanted}
    return [
        f"{place.name(file)} still lists {entry}, in a spelling that is not ours."
        for file, entry in places.all_instructions(place)
        if place.resolve(entry) in wanted
    ]


def _plugin_state(place: Place, command: Sequence[str]) -> Iterator[str]:
    path = place.folder / PLUGIN
    if not path.is_file():
        return
    name = place.name(path)
    if wrong := explain_outdated(read_regular(path), name, f"{_AGAIN}."):
        yield wrong
    words = _read_constants(path).get("COMMAND")
    if words and not os.access(words[0], os.X_OK):
        yield f"{name} starts {words[0]}, which does not exist or cannot be run. {_AGAIN}."
    elif words and words != [*command]:
        yield f"{name} starts another mdmemory than this one: {words[0]}. {_AGAIN}."


def _served_twice(place: Place) -> Iterator[str]:
    try:
        servers = places.serving_configurations(place)
    except MdmemoryError:
        return  # told by `reading_problems`
    if servers and (place.folder / PLUGIN).is_file():
        yield (
            f"The plugin and an MCP server in {place.name(servers[0])} both bring our tools. "
            f"{_AGAIN} to keep the plugin, or with --mcp to keep the server."
        )
