"""Wires a store into OpenCode, in a project or once per person, and takes it out again; what may be
wrong between the two.

What a person wrote or edited stays; everything is checked before the first byte is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmemory import assets, protocol
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import is_inside, read_regular
from mdmemory.hosts import client_config, entries, launcher, texts
from mdmemory.hosts.client_config import (
    OwnFile,
    Wiring,
    WiringRecord,
    invalid_file,
    name_file,
    refuse_link,
    table_of,
)
from mdmemory.hosts.texts import SKILL
from mdmemory.note.stamps import explain_outdated, is_unedited
from mdmemory.store.project import person_root

DRY_RUN = "A dry run writes nothing. Without it:"
INDEX_FILE = "MEMORY.md"
_INIT = "`mdmemory init --opencode`"
_AGAIN = f"Run {_INIT} again"
# OpenCode merges all of these; the earlier one wins (seen with 1.18.33).
IN_CONFIG_FOLDER = ("opencode.jsonc", "opencode.json")
IN_PROJECT = (*(f".opencode/{name}" for name in IN_CONFIG_FOLDER), *IN_CONFIG_FOLDER)
_SCHEMA = "https://opencode.ai/config.json"
_LIST, _SERVERS, _SERVER = "instructions", "mcp", "mdmemory"
# Names below OpenCode's folder.
PROTOCOL = "memory/PROTOCOL.md"
PLUGIN = "plugin/mdmemory.ts"
CONFIGURATION = "opencode.json"  # where an MCP server stands in place of the plugin
_COMMANDS = ("remember", "memory", "forget", "memory-review", "memory-undo")
NAMES = (PROTOCOL, PLUGIN, CONFIGURATION, *(f"command/{name}.md" for name in _COMMANDS), SKILL)
_CONSTANT = re.compile(r"^const (COMMAND|INSTRUCTIONS)[^=]*= (\[.*\])", re.M)


@dataclass(frozen=True, slots=True)
class Place:
    """A project with its store; with `config_folder` the person's own configuration is wired.
    `command` starts mdmemory. OpenCode reads our skill elsewhere where it `has_skill`."""

    project: Path
    store: Path
    config_folder: Path | None = None
    command: Sequence[str] = ()
    has_skill: bool = False

    @property
    def root(self) -> Path:
        return self.config_folder or self.project

    @property
    def folder(self) -> Path:
        """The folder in which OpenCode looks for plugins, commands and skills."""
        return self.config_folder or self.project / ".opencode"

    @property
    def wanted(self) -> tuple[Path, Path]:
        """The files that OpenCode has to read."""
        return self.folder / PROTOCOL, self.store / INDEX_FILE

    def configurations(self) -> list[Path]:
        """The configurations that exist, in their order of precedence."""
        names = IN_CONFIG_FOLDER if self.config_folder else IN_PROJECT
        return [self.root / name for name in names if (self.root / name).exists()]

    def resolve(self, entry: str) -> str:
        """The real path of an instruction when OpenCode is started in the project."""
        path = Path(entry).expanduser() if entry.startswith("~/") else self.project / entry
        return os.path.realpath(path)

    def name(self, path: Path) -> str:
        """`path` for messages: from a project's root, or whole."""
        return str(path) if self.config_folder else path.relative_to(self.root).as_posix()

    def shown(self, path: Path) -> str:
        """`path` from the root of the project where it lies in it, else from the home."""
        root = os.path.realpath(self.project)
        if self.config_folder is None and is_inside(path, self.project):
            return os.path.relpath(os.path.realpath(path), root)
        return from_home(path)

    def refuse_links(self, path: Path) -> None:
        """Raise MdmemoryError if writing to `path` would follow a link."""
        refuse_link(path, self.name(path))
        if self.config_folder is None and not is_inside(path, self.project):
            raise MdmemoryError(
                f"{self.name(path)} lies outside the project, behind a symbolic link.",
                "Replace the linked folder by a real one.",
            )


def from_home(path: Path) -> str:
    """The real path of `path`: below the home as `~/`, else absolute."""
    real, home = Path(os.path.realpath(path)), Path(os.path.realpath(Path.home()))
    return f"~/{real.relative_to(home).as_posix()}" if real.is_relative_to(home) else str(real)


# --- in a project, or below the person's configuration


def install_wiring(place: Place, *, mcp: bool = False, dry_run: bool = False) -> list[str]:
    """Make OpenCode read the protocol and the store's index, and load our plugin; sentences.

    Nothing keeps npm from a folder that is the person's. Raises MdmemoryError for a configuration
    that is not valid, and for links.
    """
    _refuse_unwritable(place)
    wiring = make_wiring(place, mcp=mcp)
    sentences = client_config.install_wiring(wiring, _record_of(place), dry_run=dry_run)
    if mcp and not dry_run:
        let_npm(place)
    elif not dry_run and not place.config_folder:
        spare_npm(place)
    return sentences


def remove_wiring(place: Place) -> list[str]:
    """Take back what `install_wiring` did; sentences on it, [] when nothing of ours is there.

    Only what is as we write it goes. Raises MdmemoryError as `install_wiring` does, before anything
    is changed."""
    _refuse_unwritable(place)
    let_npm(place)
    wiring = Wiring([], unwanted=[place.folder / name for name in NAMES], name=place.name)
    sentences = client_config.remove_wiring(wiring, _record_of(place))
    return sentences + _name_leftovers(place)


def _name_leftovers(place: Place) -> list[str]:
    """A sentence on each instruction of a person's that names what we would have read."""
    wanted = {os.path.realpath(file) for file in place.wanted}
    return [
        f"{place.name(file)} still lists {entry}, in a spelling that is not ours."
        for file, entry in all_instructions(place)
        if place.resolve(entry) in wanted
    ]


def _refuse_unwritable(place: Place) -> None:
    """Raise MdmemoryError where one of our files would be written through a link, or where a
    configuration is not valid. A linked one is a person's, and only read."""
    for name in NAMES:
        if name != CONFIGURATION:
            place.refuse_links(place.folder / name)
    all_instructions(place)


def _record_of(place: Place) -> WiringRecord:
    """In a project nothing is noted: all folders below its root that are empty then go."""
    paths = [place.folder / name for name in NAMES]
    made = {str(each) for path in paths for each in path.parents if place.root in each.parents}
    return WiringRecord(None, made=[*made])


def make_wiring(place: Place, *, mcp: bool = False) -> Wiring:
    """All that wires a place. With `mcp` a configuration of ours with an MCP server stands in place
    of the plugin: never both, because a tool that is there twice confuses models. Raises
    MdmemoryError for a configuration that is not valid."""
    own = own_files(place, mcp=mcp)
    unwanted = [PLUGIN if mcp else CONFIGURATION, *([SKILL] if place.has_skill else [])]
    if mcp:
        remarks = missing_settings(place)
    else:
        remarks = _tell_npm(place) if place.config_folder else spare_npm(place, dry_run=True)
    return Wiring([], own, [place.folder / name for name in unwanted], remarks, place.name)


def is_used(place: Place) -> bool:
    """Whether OpenCode has anything in a project, so that its wiring is worth a word."""
    return place.folder.exists() or bool(place.configurations())


# --- once per person: that names no version of mdmemory and no store, because the launcher finds
# the one, the bridge the other


def personal_place(environment: Mapping[str, str], store: Path | None = None) -> Place:
    """The person's configuration folder of OpenCode, with their own store."""
    root = person_root(person.person_places(environment))
    start = [str(launcher.launcher_place(environment))]
    folder = person.opencode_folder(environment)
    return Place(root, store or root, folder, start, has_skill(environment))


def personal_wiring(
    environment: Mapping[str, str], store: Path | None = None, *, mcp: bool | None = None
) -> Wiring:
    """All that wires OpenCode for all projects. With `mcp` an MCP server that reads the index of
    `store` stands in place of the plugin; None: where it stands there already."""
    where = personal_place(environment, store)
    if mcp is None:
        ours = where.folder / CONFIGURATION
        mcp = ours.is_file() and not _is_the_persons(ours)
    return make_wiring(where, mcp=mcp)


def clear_personal(environment: Mapping[str, str]) -> list[str]:
    """Take back what stands beside that wiring; sentences on what a person has to take out."""
    where = personal_place(environment)
    let_npm(where)
    with suppress(MdmemoryError):  # a configuration that is not valid
        return _name_leftovers(where)
    return []


def has_skill(environment: Mapping[str, str]) -> bool:
    """Whether our skill is among Claude Code's, which OpenCode reads as well: one of the same name
    is then never used, and reported in its log."""
    return (person.host_places(environment).claude.parent / SKILL).is_file()


def skill_wiring(environment: Mapping[str, str]) -> Wiring:
    """Our skill alone, as Claude Code's has come or gone."""
    path = personal_place(environment).folder / SKILL
    if has_skill(environment):
        return Wiring([], unwanted=[path])
    is_there = os.path.lexists(path)
    return Wiring([], [] if is_there else [OwnFile(path, assets.read(assets.SKILL))])


# --- what the configurations say


def all_instructions(place: Place) -> list[tuple[Path, str]]:
    """Each configuration with each of its instructions. Raises MdmemoryError where one is not
    valid, or has no list of strings under `instructions`."""
    pairs: list[tuple[Path, str]] = []
    for file in place.configurations():
        listed = _root_object(place, file).get(_LIST, [])
        if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
            raise invalid_file(place.name(file), f'"{_LIST}" is not a list of strings')
        pairs += [(file, entry) for entry in listed]
    return pairs


def serving_configurations(place: Place) -> list[Path]:
    """The configurations that name an MCP server as ours is named."""
    return [
        file
        for file in place.configurations()
        if _SERVER in table_of(_root_object(place, file), _SERVERS)
    ]


def _root_object(place: Place, file: Path) -> dict[str, Any]:
    try:
        text = read_regular(os.path.realpath(file)).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise invalid_file(place.name(file), "It is not UTF-8") from problem
    if not text.removeprefix(entries.BOM).strip():
        return {}
    with name_file(place.name(file)):
        root = entries.JsoncText(text).data
    if not isinstance(root, dict):
        raise invalid_file(place.name(file), "An object was expected")
    return root


# --- the files that we install


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


def own_files(place: Place, *, mcp: bool) -> list[OwnFile]:
    """Our files for a place. With `mcp` a configuration stands in place of the plugin; one that is
    the person's is not among them."""
    files = {PROTOCOL: protocol.short_protocol()}
    if mcp:
        ours = place.folder / CONFIGURATION
        others = [file for file in serving_configurations(place) if file != ours]
        command = () if others else place.command
        settings = _config_settings([*map(from_home, place.wanted)], command)
        text = json.dumps({"$schema": _SCHEMA, **settings}, indent=2, ensure_ascii=False)
        if not _is_the_persons(ours):
            files[CONFIGURATION] = f"{text}\n"
    else:
        # for all projects: the bridge names the index of each
        read = place.wanted[:1] if place.config_folder else place.wanted
        # a project can be moved, and what lies elsewhere stays there
        folder = os.path.realpath((place.folder / PLUGIN).parent)
        real = {each: os.path.realpath(each) for each in read}
        named = [
            os.path.relpath(path, folder) if is_inside(each, place.root) else path
            for each, path in real.items()
        ]
        personal = place.config_folder is not None
        files[PLUGIN] = plugin_source(place.command, named, personal=personal)
    files |= texts.files_for("opencode")
    return [
        OwnFile(place.folder / name, files[name])
        for name in NAMES
        if name in files and not (name == SKILL and place.has_skill)
    ]


def missing_settings(place: Place) -> list[str]:
    """What the person has to add where the configuration at our place is theirs; []: nothing."""
    path = place.folder / CONFIGURATION
    if not _is_the_persons(path):
        return []
    listed = {place.resolve(entry) for _, entry in all_instructions(place)}
    missing = [from_home(each) for each in place.wanted if os.path.realpath(each) not in listed]
    settings = _config_settings(missing, () if serving_configurations(place) else place.command)
    if not settings:
        return []
    snippet = json.dumps(settings, ensure_ascii=False)
    return [f"Left {place.name(path)} as it is: it is yours. Add this to it: {snippet}"]


def _config_settings(paths: Sequence[str], command: Sequence[str]) -> dict[str, Any]:
    """What lists the `paths` in a configuration, and starts a server by `command`."""
    settings: dict[str, Any] = {_LIST: [*paths]} if paths else {}
    server = {"type": "local", "command": [*command, "mcp"], "enabled": True}
    return settings | ({_SERVERS: {_SERVER: server}} if command else {})


def _is_the_persons(path: Path) -> bool:
    if path.is_symlink():
        return True
    return path.exists() and not is_unedited(read_regular(path))


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


def spare_npm(place: Place, *, dry_run: bool = False) -> list[str]:
    """Spare OpenCode an npm install in a folder where only our plugin is; sentences. Another plugin
    may need what npm would bring."""
    folder = place.folder
    plugins = [each for name in ("plugin", "plugins") for each in (folder / name).glob("*.[jt]s")]
    if (
        is_spared(place)
        or (folder / "package.json").exists()
        or (folder / _MODULES).exists()
        or any(each != folder / PLUGIN for each in plugins)
        or any(_root_object(place, file).get("plugin") for file in place.configurations())
    ):
        return []
    for name in _NPM_FILES:
        place.refuse_links(folder / name)
    for name, text in {**_NPM_FILES, f"{_MODULES}/{_MARK}": ""}.items():
        if not dry_run and not (folder / name).exists():
            client_config.replace_file(folder / name, text.encode(), 0o644)
    shown = place.name(folder)
    return [f"Skipped OpenCode's npm install in {shown} (the plugin has no dependencies)."]


def _tell_npm(place: Place) -> list[str]:
    """A sentence on what OpenCode does in a person's folder that gets its first plugin."""
    if (place.folder / PLUGIN).is_file() or is_spared(place):
        return []
    return [
        f"At its next start OpenCode runs `npm install` in {place.folder}, as for every "
        "plugin: some 20 s once, and 90 s at every start without a network."
    ]


def let_npm(place: Place) -> None:
    """Take back what `spare_npm` is for, unless npm has put something else in its place."""
    modules = place.folder / _MODULES
    if not (modules / _MARK).exists():
        return
    (modules / _MARK).unlink()
    if any(modules.iterdir()):
        return  # npm was here: the files are its own now
    modules.rmdir()
    for name, text in _NPM_FILES.items():
        path = place.folder / name
        if path.is_file() and read_regular(path) == text.encode():
            path.unlink()


def is_spared(place: Place) -> bool:
    """Whether OpenCode runs no npm in the folder."""
    lock = place.folder / "package-lock.json"
    if not (place.folder / _MODULES).is_dir() or not lock.is_file():
        return False
    try:
        return _PACKAGE in json.loads(read_regular(lock))["packages"][""]["dependencies"]
    except (ValueError, KeyError, TypeError):
        return False


# --- what may be wrong, a sentence each with the next step


def examine_project(place: Place, personal: Path) -> list[str]:
    """All findings on a project. `personal` is the person's own configuration folder of
    OpenCode."""
    findings, path = reading_problems(place, personal), place.folder / PLUGIN
    if not path.is_file():
        return findings
    name = place.name(path)
    if wrong := explain_outdated(read_regular(path), name, f"{_AGAIN}."):
        findings.append(wrong)
    words = _read_constants(path).get("COMMAND")
    if words and not os.access(words[0], os.X_OK):
        findings.append(
            f"{name} starts {words[0]}, which does not exist or cannot be run. {_AGAIN}."
        )
    elif words and words != [*place.command]:
        findings.append(f"{name} starts another mdmemory than this one: {words[0]}. {_AGAIN}.")
    with suppress(MdmemoryError):  # told by `reading_problems`
        findings += [
            f"The plugin and an MCP server in {place.name(server)} both bring our tools. "
            f"{_AGAIN} to keep the plugin, or with --mcp to keep the server."
            for server in serving_configurations(place)[:1]
        ]
    return findings


def reading_problems(place: Place, personal: Path | None = None) -> list[str]:
    """What keeps OpenCode from reading this store's memory; [] when it is wired.

    A plugin in the `personal` folder makes OpenCode read the index of every store.
    """
    personal, path = place.config_folder or personal, place.folder / PLUGIN
    is_wired_here = place.config_folder is None and path.is_file()
    if personal and not is_wired_here and "INSTRUCTIONS" in _read_constants(personal / PLUGIN):
        return []
    try:
        listed = [(entry, place.resolve(entry)) for _, entry in all_instructions(place)]
    except MdmemoryError as problem:
        return [problem.message]
    by_plugin = _read_constants(path).get("INSTRUCTIONS", [])
    resolved = {real for _, real in listed}
    resolved |= {os.path.realpath(path.parent / name) for name in by_plugin}
    index = os.path.realpath(place.store / INDEX_FILE)
    findings = []
    for file in place.wanted:
        if os.path.realpath(file) not in resolved:
            findings.append(f"OpenCode does not read {place.shown(file)}. Run {_INIT}.")
        elif not file.exists():
            findings.append(f"OpenCode is told to read {place.shown(file)}, which does not exist.")
    return findings + [
        f"OpenCode also reads {entry}, which is not this store's index."
        for entry, real in dict.fromkeys(listed)
        if real.rpartition("/")[2] == INDEX_FILE and real != index
    ]


def _read_constants(path: Path) -> dict[str, list[str]]:
    text = read_regular(path).decode("utf-8", "replace") if path.is_file() else ""
    return plugin_constants(text)
