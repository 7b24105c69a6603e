"""Wires a store into OpenCode, and takes it out again.

A plugin or an MCP server, the protocol, commands and a skill: files of ours below OpenCode's
folder. What a person wrote or edited stays; everything is checked before the first byte is written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from mdmemory.files import read_regular
from mdmemory.hosts.opencode import checks, configurations, files
from mdmemory.hosts.opencode.files import CONFIGURATION, PLUGIN, Wanted, Writes
from mdmemory.hosts.opencode.places import Place, write

DRY_RUN = "A dry run writes nothing. Without it:"


def install(place: Place, wanted: Wanted, *, mcp: bool = False, dry_run: bool = False) -> list[str]:
    """Make OpenCode read the protocol and the store's index, and load our plugin; sentences.

    With `mcp` a configuration of ours with an MCP server stands in place of the plugin: never both,
    because a tool that is there twice confuses models. Nothing keeps npm from a folder that is the
    person's. Raises MdmemoryError for a configuration that is not valid, and for links.
    """
    files.refuse_links(place)
    configurations.require_valid(place)
    writes: Writes = []
    sentences = files.install(place, wanted, writes, mcp=mcp)
    if not mcp and place.config_folder is None:
        sentences += files.spare_npm(place, writes)
    if dry_run:
        return sentences
    _remember_folders(place, [path for path, _ in writes])
    for path, data in writes:
        write(path, data)
    if mcp:
        files.let_npm(place)
    unwanted = [PLUGIN if mcp else CONFIGURATION, *wanted.left_out]
    return sentences + files.remove(place, unwanted, made_folders(place))


def remove(place: Place, *, dry_run: bool = False) -> list[str]:
    """Take back what `install` did; sentences on it, [] when nothing of ours is there.

    Only what is as we write it goes. Raises MdmemoryError as `install` does, before anything is
    changed.
    """
    files.refuse_links(place)
    configurations.require_valid(place)
    if not dry_run:
        files.let_npm(place)
    made = made_folders(place)
    sentences = files.remove(place, files.NAMES, made, dry_run=dry_run)
    if dry_run:
        return sentences
    if place.folders_record:
        place.folders_record.unlink(missing_ok=True)
    return sentences + checks.still_listed(place)


def is_used(place: Place) -> bool:
    """Whether OpenCode has anything in a project, so that its wiring is worth a word."""
    return place.folder.exists() or bool(place.configurations())


def spare_npm(place: Place) -> list[str]:
    """Spare OpenCode an npm install in the person's own configuration folder; sentences."""
    writes: Writes = []
    sentences = files.spare_npm(place, writes)
    for path, data in writes:
        write(path, data)
    return sentences


def add_skill(place: Place) -> None:
    """Write the skill alone."""
    path = place.folder / files.SKILL
    _remember_folders(place, [path])
    write(path, files.skill())


def _remember_folders(place: Place, paths: Sequence[Path]) -> None:
    """Record the folders that are about to be made, so that `remove` leaves an older empty one."""
    if place.folders_record is None:
        return
    all_paths = [*paths, place.folders_record]
    keep_folders(
        place, {folder for path in all_paths for folder in path.parents if not folder.exists()}
    )


def keep_folders(place: Place, more: Collection[Path]) -> None:
    """Record folders, beside those that are recorded, as made for us."""
    if place.folders_record is None or not more:
        return
    made = sorted(map(str, {*more, *(made_folders(place) or ())}))
    write(place.folders_record, (json.dumps(made, indent=2) + "\n").encode())


def made_folders(place: Place) -> frozenset[Path] | None:
    """The recorded folders; None where there is no record."""
    path = place.folders_record
    try:
        record = json.loads(read_regular(path)) if path and path.is_file() else None
    except ValueError:
        return None
    if not isinstance(record, list) or not all(isinstance(each, str) for each in record):
        return None
    return frozenset(map(Path, record))
