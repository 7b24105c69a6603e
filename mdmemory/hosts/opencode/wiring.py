"""Wires a store into OpenCode, and takes it out again.

Two files that it reads by itself (`instructions`), a plugin or an MCP server, commands and a skill.
What a person wrote or edited stays; everything is checked before the first byte is written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mdmemory.files import read_regular, write_atomic
from mdmemory.hosts.opencode import checks, configuration, files, npm
from mdmemory.hosts.opencode.files import PLUGIN, Wanted, Writes
from mdmemory.hosts.opencode.places import Place, write

# What we made in configurations that were there, so that it can be taken back without a husk.
RECORD = "wiring.json"


def install(
    project: Path, store: Path, wanted: Wanted, *, record: Path, config_folder: Path | None = None,
    mcp: bool = False, dry_run: bool = False,
) -> list[str]:  # fmt: skip
    """Make OpenCode read the protocol and the store's index, and load our plugin; sentences.

    `record` is a folder of ours that can be lost. With `config_folder` (`~/.config/opencode`) the
    user's configuration is wired instead of the project's; with `mcp` an MCP server stands in
    place of the plugin: never both, since no tool may be there twice. Raises MdmemoryError for a
    configuration that is a link, not valid, or has something else than a list under
    `instructions`.
    """
    place = Place(project, store, config_folder)
    writes: Writes = []
    said = files.install(place, wanted, (PLUGIN,) if mcp else (), writes)
    created = _remembered(record / RECORD)
    said += configuration.install(place, wanted.command, mcp, created, writes)
    said += [] if mcp else npm.install(place, writes)
    if dry_run:
        return ["A dry run writes nothing. Without it:", *said] if said else []
    _remember(record / RECORD, configuration.made_by_us(place, writes))
    for path, data in writes:
        write(path, data)
    if mcp:
        said += files.remove(place, (PLUGIN,))
        npm.remove(place)
    return said + checks.twice_matched(place)


def remove(
    project: Path, store: Path, *, record: Path, config_folder: Path | None = None
) -> list[str]:
    """Take back what `install` did; sentences on it, [] when nothing of ours is there.

    Only what is as we write it goes. Raises MdmemoryError as `install` does, before anything is
    changed.
    """
    place = Place(project, store, config_folder)
    said, writes, gone = configuration.remove(place, _remembered(record / RECORD))
    for name in files.NAMES:
        place.refuse_links(place.folder / name)
    for path in gone:
        path.unlink()
    for path, data in writes:
        write(path, data)
    (record / RECORD).unlink(missing_ok=True)
    npm.remove(place)
    return said + files.remove(place, files.NAMES) + checks.still_listed(place)


def check(project: Path, store: Path, *, config_folder: Path | None = None) -> list[str]:
    """What keeps OpenCode from reading this store's memory, one sentence each; [] when wired."""
    return checks.reading(Place(project, store, config_folder))


def findings(project: Path, store: Path, command: Sequence[str], personal: Path) -> list[str]:
    """What `doctor` tells. `command` starts this mdmemory, `personal` is the person's own
    configuration folder."""
    return checks.examine(Place(project, store), command, personal)


def is_used(project: Path, store: Path) -> bool:
    """Whether OpenCode has anything in a project, so that its wiring is worth a word."""
    place = Place(project, store)
    return place.folder.exists() or bool(place.configurations())


def _remembered(path: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(read_regular(path)) if path.is_file() else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _remember(path: Path, made: dict[str, list[str]]) -> None:
    before = _remembered(path)
    joined = {
        name: sorted({*before.get(name, []), *made.get(name, [])}) for name in {*before, *made}
    }
    if joined != before:
        write_atomic(path, json.dumps(joined, sort_keys=True).encode())


def seed(project: Path, store: Path, config_folder: Path) -> list[str]:
    """Spare OpenCode an npm install in the user's own configuration folder; sentences."""
    writes: Writes = []
    said = npm.install(Place(project, store, config_folder), writes)
    for path, data in writes:
        write(path, data)
    return said
