"""The files that we install: one table, one rule. An edited one is a person's, and stays.

Each carries a line with our version and a digest; by it the next `init --opencode` knows which of
them it may bring up to date.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mdmemory import assets
from mdmemory.files import read_regular
from mdmemory.hosts.opencode.places import Place, drop
from mdmemory.note.stamps import is_unedited, stamped

PLUGIN = "plugin/mdmemory.ts"
_COMMAND = "__MDMEMORY_COMMAND__"  # in the plugin: how mdmemory is started, a JSON list

Writes = list[tuple[Path, bytes]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What goes into the files: the protocol's text, and how mdmemory is started."""

    protocol: str
    command: Sequence[str]


def _template(name: str, _: Wanted) -> str:
    return assets.read(name)


# Below OpenCode's folder: the name of each file, and its text.
TABLE: tuple[tuple[str, Callable[[Wanted], str]], ...] = (
    ("memory/PROTOCOL.md", lambda wanted: wanted.protocol),
    (PLUGIN, lambda wanted: plugin(wanted.command)),
    *(
        (name, partial(_template, f"templates/opencode/{name}"))
        for name in (
            "command/remember.md",
            "command/memory.md",
            "command/forget.md",
            "skills/mdmemory/SKILL.md",
        )
    ),
)

NAMES = tuple(name for name, _ in TABLE)


def plugin(command: Sequence[str]) -> str:
    """The plugin's source, which starts mdmemory by `command`."""
    source = assets.read("templates/opencode/plugin/mdmemory.ts")
    return source.replace(_COMMAND, json.dumps(list(command)))


def install(place: Place, wanted: Wanted, left_out: Sequence[str], writes: Writes) -> list[str]:
    """Add to `writes` what is missing or outdated; sentences on it. `left_out` are names."""
    told: dict[str, list[str]] = {"Installed": [], "Updated": [], "Left": [], "": []}
    for name, text in TABLE:
        if name not in left_out:
            verb = _step(place, name, text(wanted), writes)
            told[verb].append(name)
    done = [
        f"{verb} in {place.shown_folder}: {', '.join(told[verb])}."
        for verb in ("Installed", "Updated")
        if told[verb]
    ]
    return done + [
        f"Left {place.name(place.folder / name)} as it is: it was edited. Delete it and run this "
        "again for ours."
        for name in told["Left"]
    ]


def _step(place: Place, name: str, text: str, writes: Writes) -> str:
    """Installed, Updated, Left, or "" when all is in place."""
    path = place.folder / name
    place.refuse_links(path)
    fresh = stamped(text, name)
    if not path.exists():
        writes.append((path, fresh))
        return "Installed"
    present = read_regular(path)
    if present.replace(b"\r\n", b"\n") == fresh:
        return ""
    if not is_unedited(present):
        return "Left"
    writes.append((path, fresh))
    return "Updated"


def remove(place: Place, names: Sequence[str]) -> list[str]:
    """Take back the files of the table that nobody edited; sentences on it."""
    gone, left = [], []
    for name in names:
        path = place.folder / name
        place.refuse_links(path)
        if not path.exists():
            continue
        if is_unedited(read_regular(path)):
            drop(path, place)
            gone.append(name)
        else:
            left.append(place.name(path))
    said = [f"Removed from {place.shown_folder}: {', '.join(gone)}."] if gone else []
    return said + [f"Left {name} where it is: it was edited." for name in left]
