"""Wires a store into OpenCode, and takes it out again.

A plugin or an MCP server, the protocol, commands and a skill: files of ours below OpenCode's
folder. What a person wrote or edited stays; everything is checked before the first byte is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mdmemory.hosts import own_files, settings_files
from mdmemory.hosts.opencode import checks, files, places
from mdmemory.hosts.opencode.files import CONFIGURATION, PLUGIN, Wanted
from mdmemory.hosts.opencode.places import Place
from mdmemory.hosts.wiring_record import WiringRecord, drop_empty

DRY_RUN = "A dry run writes nothing. Without it:"


def install_wiring(
    place: Place, wanted: Wanted, *, mcp: bool = False, dry_run: bool = False,
    record: WiringRecord | None = None,
) -> list[str]:  # fmt: skip
    """Make OpenCode read the protocol and the store's index, and load our plugin; sentences.

    With `mcp` a configuration of ours with an MCP server stands in place of the plugin: never both,
    because a tool that is there twice confuses models. Nothing keeps npm from a folder that is the
    person's; there `record` notes which folders are made. Raises MdmemoryError for a configuration
    that is not valid, and for links.
    """
    files.refuse_links(place)
    places.require_valid_configurations(place)
    fresh, sentences = own_files.plan_files(files.own_files(place, wanted, mcp=mcp), place.name)
    settings_files.refuse_no_folders([file.path for file in fresh])
    if mcp:
        sentences += files.missing_settings(place, wanted)
    unneeded = {} if mcp or place.config_folder else files.plan_no_npm(place)
    sentences += files.no_npm_sentences(place, unneeded)
    if dry_run:
        return sentences
    if record and fresh:
        record.note_missing([file.path for file in fresh])
        record.save()
    own_files.write(fresh)
    _write_plain(unneeded)
    if mcp:
        files.let_npm(place)
    unwanted = [PLUGIN if mcp else CONFIGURATION, *wanted.left_out]
    return sentences + drop_files(place, unwanted, record)


def remove_wiring(
    place: Place, *, dry_run: bool = False, record: WiringRecord | None = None
) -> list[str]:
    """Take back what `install_wiring` did; sentences on it, [] when nothing of ours is there.

    Only what is as we write it goes. Raises MdmemoryError as `install_wiring` does, before anything
    is changed."""
    files.refuse_links(place)
    places.require_valid_configurations(place)
    if not dry_run:
        files.let_npm(place)
    sentences = drop_files(place, files.NAMES, record, dry_run=dry_run)
    return sentences if dry_run else sentences + checks.still_listed(place)


def drop_files(
    place: Place, names: Sequence[str], record: WiringRecord | None = None, *,
    dry_run: bool = False,
) -> list[str]:  # fmt: skip
    """Remove those of our files that nobody edited; sentences on it.

    Folders that are empty then go too: those of the `record`, in a project all below its root.
    """
    gone, sentences = own_files.plan_removal((place.folder / name for name in names), place.name)
    if dry_run:
        return sentences
    for path in gone:
        path.unlink()
    if record is None:
        drop_empty({each for path in gone for each in path.parents if place.root in each.parents})
    elif gone:
        record.drop_empty_folders()
    return sentences


def is_used(place: Place) -> bool:
    """Whether OpenCode has anything in a project, so that its wiring is worth a word."""
    return place.folder.exists() or bool(place.configurations())


def spare_npm(place: Place) -> list[str]:
    """Spare OpenCode an npm install in the person's own configuration folder; sentences."""
    unneeded = files.plan_no_npm(place)
    _write_plain(unneeded)
    return files.no_npm_sentences(place, unneeded)


def _write_plain(texts: dict[Path, str]) -> None:
    for path, text in texts.items():
        settings_files.replace_file(path, text.encode(), 0o644)
