"""Claude Code's own memory, read: what a hook asks of it.

It writes notes in our format; what it wrote into its own folder is taken over, each text once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mdmemory.errors import NoStore
from mdmemory.files import is_inside
from mdmemory.hosts.claude import own_memory_notes
from mdmemory.hosts.claude.own_memory_settings import carried as carried
from mdmemory.layers import Layers

SETTING = "claude.memory"


def take_in(layers: Layers, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Take over what Claude wrote into its own folder of the project around `folder`; sentences for
    the person. For the end of a turn."""
    if layers.settings.text(SETTING) == "off":
        return []
    place = own_memory_notes.folder_of(folder, environment)
    said: list[str] = []
    named = carried(folder, environment)
    for memory in layers.there():
        if named is not None and is_inside(named, memory.project.store):
            said += own_memory_notes.rescue_lines(memory)
    stores = [memory.project.store for memory in layers.there()]
    if place is not None and not any(is_inside(place, store) for store in stores):
        is_read = named is None
        with suppress(NoStore):  # nothing may be made here, or it is not certain whose it is
            said += own_memory_notes.take(layers, place, is_read=is_read)
    return said
