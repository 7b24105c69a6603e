"""Claude Code's own memory as a writer of ours: what a hook asks of it.

It writes notes in our format. Where a project has a store of its own, Claude is pointed at that;
what it wrote into its own folder is taken over, each text once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mdmemory.actions import memory_folder
from mdmemory.config import person
from mdmemory.errors import NoStore
from mdmemory.files import is_inside
from mdmemory.hosts.claude import own_memory_notes
from mdmemory.hosts.claude import own_memory_settings as settings
from mdmemory.hosts.claude.own_memory_settings import carried as carried
from mdmemory.layers import Layers
from mdmemory.memory import Memory

SETTING = "claude.memory"


def point(
    layers: Layers, folder: Path, environment: Mapping[str, str], *, is_wired: bool | None = None
) -> list[str]:
    """Let Claude write into the project's store, where it has one of its own, or `claude.memory`
    says that a shared one is meant, too; else take back what was set. Sentences on what changed.

    Claude reads this at its start: the session that runs keeps what it had. `is_wired`: whether it
    starts our hook (default: look). Raises MdmemoryError where the file cannot be written.
    """
    if memory_folder.is_unattended(person.places(environment)):
        return []
    memory = layers.project
    if memory is None or not _is_meant(memory):
        # where it is not certain whose the store is, nothing is changed
        return settings.withdraw(folder, environment) if layers.question is None else []
    if not (settings.is_wired(environment) if is_wired is None else is_wired):
        return []
    return settings.point(folder, memory.project.store, environment)


def _is_meant(memory: Memory) -> bool:
    wanted = memory.project.settings.text(SETTING)
    is_own = (memory.project.store / ".git").exists()
    return wanted == "shared" or (wanted == "store" and is_own)


def take_in(layers: Layers, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Take over what Claude wrote into its own folder of the project around `folder`, and point it
    at the project's store; sentences for the person. For the end of a turn."""
    if layers.settings.text(SETTING) == "off":
        return []
    place = own_memory_notes.folder_of(folder, environment)
    said: list[str] = []
    named = carried(folder, environment)
    for memory in layers.there():
        if named is not None and is_inside(named, memory.project.store):
            said += own_memory_notes.rescue_lines(memory)
    if place is not None and not _is_store(place, layers):
        is_read = named is None
        with suppress(NoStore):  # nothing may be made here, or it is not certain whose it is
            said += own_memory_notes.take(layers, place, is_read=is_read)
    return said + point(layers, folder, environment)


def _is_store(place: Path, layers: Layers) -> bool:
    return any(is_inside(place, memory.project.store) for memory in layers.there())
