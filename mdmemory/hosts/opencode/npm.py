"""Spares OpenCode an `npm install` at its start.

Where there is any plugin, OpenCode 1.18 installs the types of its plugin interface into every
configuration folder: some 20 seconds once, and 90 at each start without a network. It passes over
a folder whose lock file names the package. Our plugin needs nothing of it.
"""

from __future__ import annotations

import json
from pathlib import Path

from mdmemory.files import read_regular
from mdmemory.hosts.opencode import configuration
from mdmemory.hosts.opencode.files import PLUGIN, Writes
from mdmemory.hosts.opencode.places import Place

PACKAGE, VERSION = "@opencode-ai/plugin", "1.18.33"
MODULES = "node_modules"
_PACKAGES = {"dependencies": {PACKAGE: VERSION}}
_LOCK = {
    "name": "mdmemory-needs-no-install", "lockfileVersion": 3, "requires": True,
    "packages": {"": _PACKAGES},
}  # fmt: skip
# What the client itself writes there, so that none of it is ever committed.
_IGNORED = "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore"
FILES = {
    "package.json": json.dumps(_PACKAGES, indent=2) + "\n",
    "package-lock.json": json.dumps(_LOCK, indent=2) + "\n",
    ".gitignore": _IGNORED,
}


def install(place: Place, writes: Writes) -> list[str]:
    """Add the files to `writes` where nothing but ours would want the package; sentences."""
    if is_seeded(place) or not _is_free(place):
        return []
    for name, text in FILES.items():
        path = place.folder / name
        place.refuse_links(path)
        if not path.exists():
            writes.append((path, text.encode()))
    # a folder cannot be written as a file: what stands in it makes it
    writes.append((place.folder / MODULES / ".mdmemory", b""))
    file = f"{place.shown_folder}/package-lock.json"
    return [f"OpenCode needs no npm for our plugin: {file} tells it so."]


def remove(place: Place) -> None:
    """Take our files back, where nobody has put anything else in their place."""
    folder = place.folder
    if not (folder / MODULES / ".mdmemory").exists():
        return
    (folder / MODULES / ".mdmemory").unlink()
    if any((folder / MODULES).iterdir()):
        return  # npm was here: the files are its own now
    (folder / MODULES).rmdir()
    for name, text in FILES.items():
        if _bytes(folder / name) == text.encode():
            (folder / name).unlink()


def is_seeded(place: Place) -> bool:
    """Whether OpenCode passes over the folder."""
    if not (place.folder / MODULES).is_dir():
        return False
    try:
        lock = json.loads(_bytes(place.folder / "package-lock.json"))
        return PACKAGE in lock["packages"][""]["dependencies"]
    except (ValueError, KeyError, TypeError):
        return False


def _is_free(place: Place) -> bool:
    """Another plugin may need what npm would bring."""
    folder = place.folder
    if (folder / "package.json").exists() or (folder / MODULES).exists():
        return False
    ours = folder / PLUGIN
    others = [
        file for name in ("plugin", "plugins")
        for file in sorted((folder / name).glob("*.[jt]s")) if file != ours
    ]  # fmt: skip
    return not others and not configuration.names_plugins(place)


def _bytes(path: Path) -> bytes:
    return read_regular(path) if path.is_file() else b""
