"""The files that we install: one table, one rule. An edited one is a person's, and stays.

Each carries a line with our version and a digest; by it the next `init --opencode` knows which of
them it may bring up to date. The last part spares OpenCode an `npm install` at its start.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory import assets
from mdmemory.files import is_inside, read_regular
from mdmemory.hosts.opencode import places
from mdmemory.hosts.opencode.places import Place, from_home
from mdmemory.hosts.own_files import OwnFile
from mdmemory.note.stamps import is_unedited

# Names below OpenCode's folder.
PROTOCOL = "memory/PROTOCOL.md"
PLUGIN = "plugin/mdmemory.ts"
CONFIGURATION = "opencode.json"  # where an MCP server stands in place of the plugin
SKILL = "skills/mdmemory/SKILL.md"
_COMMANDS = ("remember", "memory", "forget", "memory-review", "memory-undo")
_TEMPLATES = {  # each with its source
    **{f"command/{name}.md": f"templates/opencode/command/{name}.md" for name in _COMMANDS},
    SKILL: assets.SKILL,
}
NAMES = (PROTOCOL, PLUGIN, CONFIGURATION, *_TEMPLATES)
_CONSTANT = re.compile(r"^const (COMMAND|INSTRUCTIONS)[^=]*= (\[.*\])", re.M)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What goes into the files: the protocol's text, and the words that start mdmemory. Files in
    `left_out` are not wanted."""

    protocol: str
    command: Sequence[str]
    left_out: Collection[str] = ()


def plugin_source(
    command: Sequence[str], instructions: Sequence[str] = (), *, personal: bool = False
) -> str:
    """The plugin's source. It starts mdmemory by `command`, and has OpenCode read `instructions`,
    which are absolute or relative to the plugin's folder. A `personal` one is there for all
    projects, and leaves those to their own that have one."""
    source = assets.read("templates/opencode/plugin/mdmemory.ts")
    source = source.replace("__MDMEMORY_COMMAND__", json.dumps([*command]))
    source = source.replace("__MDMEMORY_PERSONAL__", json.dumps(personal))
    return source.replace("__MDMEMORY_INSTRUCTIONS__", json.dumps([*instructions]))


def plugin_constants(source: str) -> dict[str, list[str]]:
    """The words of COMMAND and INSTRUCTIONS in a plugin's source, as far as it has them."""
    values = {}
    for name, written in _CONSTANT.findall(source):
        try:
            words = json.loads(written)
        except ValueError:
            continue
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            values[name] = words
    return values


def refuse_links(place: Place) -> None:
    """Raise MdmemoryError where one of our files would be written through a link. A linked
    configuration is a person's, and only read."""
    for name in NAMES:
        if name != CONFIGURATION:
            place.refuse_links(place.folder / name)


def own_files(place: Place, wanted: Wanted, *, mcp: bool) -> list[OwnFile]:
    """Our files for a place. With `mcp` a configuration stands in place of the plugin; one that is
    the person's is not among them."""
    return [
        OwnFile(place.folder / name, text)
        for name, text in _file_texts(place, wanted, mcp).items()
        if name != CONFIGURATION or not _is_the_persons(place.folder / name)
    ]


def missing_settings(place: Place, wanted: Wanted) -> list[str]:
    """What the person has to add where the configuration at our place is theirs; []: nothing."""
    path = place.folder / CONFIGURATION
    if not _is_the_persons(path):
        return []
    listed = {place.resolve(entry) for _, entry in places.all_instructions(place)}
    missing = [from_home(each) for each in place.wanted if os.path.realpath(each) not in listed]
    command = () if places.serving_configurations(place) else wanted.command
    snippet = places.settings_by_hand(missing, command)
    shown = place.name(path)
    return [f"Left {shown} as it is: it is yours. Add this to it: {snippet}"] if snippet else []


def _is_the_persons(path: Path) -> bool:
    if path.is_symlink():
        return True
    return path.exists() and not is_unedited(read_regular(path))


def _file_texts(place: Place, wanted: Wanted, mcp: bool) -> dict[str, str]:
    """The text of each file by its name."""
    texts = {PROTOCOL: wanted.protocol}
    if mcp:
        others = [
            f for f in places.serving_configurations(place) if f != place.folder / CONFIGURATION
        ]
        command = () if others else wanted.command
        texts[CONFIGURATION] = places.new_configuration([*map(from_home, place.wanted)], command)
    else:
        # for all projects: the bridge names the index of each
        read = place.wanted[:1] if place.config_folder else place.wanted
        named = [_from_plugin(place, each) for each in read]
        texts[PLUGIN] = plugin_source(
            wanted.command, named, personal=place.config_folder is not None
        )
    return texts | {
        name: assets.read(source)
        for name, source in _TEMPLATES.items() if name not in wanted.left_out
    }  # fmt: skip


def skill_file(place: Place) -> OwnFile:
    """The file of our skill."""
    return OwnFile(place.folder / SKILL, assets.read(assets.SKILL))


def _from_plugin(place: Place, file: Path) -> str:
    """How the plugin names a file: a project can be moved, and what lies elsewhere stays there."""
    if not is_inside(file, place.root):
        return os.path.realpath(file)
    folder = os.path.realpath((place.folder / PLUGIN).parent)
    return os.path.relpath(os.path.realpath(file), folder)


# --- npm

# Where there is any plugin, OpenCode 1.18 installs the types of its plugin interface into every
# configuration folder: some 20 seconds once, and 90 at each start without a network. It passes over
# a folder whose lock file names the package.
_MODULES = "node_modules"
_MARK = ".mdmemory"  # in node_modules: a folder is only made by a file in it
_PACKAGE = "@opencode-ai/plugin"
_PACKAGES = {"dependencies": {_PACKAGE: "1.18.33"}}
_LOCK = {
    "name": "mdmemory-needs-no-install",
    "lockfileVersion": 3,
    "requires": True,
    "packages": {"": _PACKAGES},
}
_NPM_FILES = {
    "package.json": json.dumps(_PACKAGES, indent=2) + "\n",
    "package-lock.json": json.dumps(_LOCK, indent=2) + "\n",
    # what the client itself writes there, so that none of it is ever committed
    ".gitignore": "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore",
}


def plan_no_npm(place: Place) -> dict[Path, str]:
    """The files, each with its text, that keep npm from a folder where only our plugin is."""
    if is_spared(place) or not _is_free(place):
        return {}
    for name in _NPM_FILES:
        place.refuse_links(place.folder / name)
    texts = {place.folder / name: text for name, text in _NPM_FILES.items()}
    missing = {path: text for path, text in texts.items() if not path.exists()}
    return {**missing, place.folder / _MODULES / _MARK: ""}


def no_npm_sentences(place: Place, planned: Collection[Path]) -> list[str]:
    """What is said of the files that `plan_no_npm` gives."""
    folder = place.shown_folder
    sentence = f"Skipped OpenCode's npm install in {folder} (the plugin has no dependencies)."
    return [sentence] if planned else []


def let_npm(place: Place) -> None:
    """Take back what `plan_no_npm` is for, unless npm has put something else in its place."""
    modules = place.folder / _MODULES
    if not (modules / _MARK).exists():
        return
    (modules / _MARK).unlink()
    if any(modules.iterdir()):
        return  # npm was here: the files are its own now
    modules.rmdir()
    for name, text in _NPM_FILES.items():
        if _file_bytes(place.folder / name) == text.encode():
            (place.folder / name).unlink()


def is_spared(place: Place) -> bool:
    """Whether OpenCode runs no npm in the folder."""
    if not (place.folder / _MODULES).is_dir():
        return False
    try:
        lock = json.loads(_file_bytes(place.folder / "package-lock.json"))
        return _PACKAGE in lock["packages"][""]["dependencies"]
    except (ValueError, KeyError, TypeError):
        return False


def _is_free(place: Place) -> bool:
    """Another plugin may need what npm would bring."""
    folder = place.folder
    if (folder / "package.json").exists() or (folder / _MODULES).exists():
        return False
    others = [
        file
        for name in ("plugin", "plugins")
        for file in (folder / name).glob("*.[jt]s")
        if file != folder / PLUGIN
    ]
    return not others and not places.names_plugins(place)


def _file_bytes(path: Path) -> bytes:
    return read_regular(path) if path.is_file() else b""
