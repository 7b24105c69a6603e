"""What may be wrong between a store and OpenCode, a sentence each with what to do."""

from __future__ import (
    annotations,
)

import json
import os
import re
import subprocess
from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import (
    Path,
)

from mdmemory.errors import (
    MdmemoryError,
)
from mdmemory.files import (
    read_regular,
)
from mdmemory.hosts.opencode import (
    configuration,
    npm,
)
from mdmemory.hosts.opencode.files import (
    PLUGIN,
)
from mdmemory.hosts.opencode.places import (
    INDEX_FILE,
    Place,
)
from mdmemory.llm.opencode_run import (
    find_program,
)
from mdmemory.note.stamps import (
    is_unedited,
    version_of,
)
from mdmemory.store.project import (
    Project,
)
from mdmemory.version import (
    VERSION,
)

TESTED = (1, 18)  # the versions that tests/e2e has run against
_PATIENCE = 10.0  # seconds; the client takes some 2 to tell its version


def version_findings(project: Project, environment: Mapping[str, str]) -> list[str]:
    """A sentence when the client on the PATH is outside the tested range."""
    try:
        program, path = find_program(
            project.settings.text("opencode.command"), environment.get("PATH", ""), project.root
        )
        done = subprocess.run(
            [program, "--version"], env={**environment, "PATH": path}, capture_output=True,
            text=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (MdmemoryError, OSError, subprocess.TimeoutExpired):
        return []  # whoever has no client needs no advice on it
    return outside(done.stdout)


def outside(said: str) -> list[str]:
    """A sentence when `opencode --version` says something else than the tested range."""
    found = re.match(r"\s*v?(\d+)\.(\d+)\.", said)
    if not found or (int(found[1]), int(found[2])) == TESTED:
        return []
    tested = ".".join(map(str, TESTED))
    return [f"OpenCode {said.strip()} is installed; mdmemory was tested with {tested}."]


_AGAIN = "Run `mdmemory init --opencode` again"
_DEEP, _MANY = 4, 5_000  # levels and folders that are looked through for other stores
_COMMAND = re.compile(r"^const COMMAND[^=]*= (\[.*\])", re.M)


def examine(place: Place, command: Sequence[str], personal: Path) -> list[str]:
    """All findings on a project. `command` starts this mdmemory, `personal` is the person's own
    configuration folder."""
    found = reading(place) + twice_matched(place)
    found += [sentence for look in _PLUGIN for sentence in look(place, command)]
    return found + _npm(place, personal)


def reading(place: Place) -> list[str]:
    """What keeps OpenCode from reading this store's memory."""
    try:
        listed = [entry for _, entry in configuration.entries(place)]
    except MdmemoryError as problem:
        return [problem.message]
    resolved = [place.resolve(entry) for entry in listed]
    findings = [
        f"OpenCode does not read {place.entry(file)}: no configuration lists it."
        for file in place.wanted
        if os.path.realpath(file) not in resolved
    ]
    findings += [
        f"OpenCode is told to read {place.entry(file)}, which is not there."
        for file in place.wanted
        if os.path.realpath(file) in resolved and not file.exists()
    ]
    own = os.path.realpath(place.store / INDEX_FILE)
    return findings + [
        f"OpenCode also reads {entry}, which is not this store's index."
        for entry in dict.fromkeys(listed)
        if entry.rpartition("/")[2] == INDEX_FILE and place.resolve(entry) != own
    ]


def still_listed(place: Place) -> list[str]:
    """Entries for the same files that somebody wrote in their own way."""
    wanted = {os.path.realpath(file) for file in place.wanted}
    return [
        f"{place.name(file)} still lists {entry}, which is not how we write it."
        for file, entry in configuration.entries(place)
        if place.resolve(entry) in wanted
    ]


def twice_matched(place: Place) -> list[str]:
    """Other stores at the same relative path, which a relative entry matches, too.

    OpenCode looks for it in the folder where it was started and in each one above, up to the root
    of the work tree.
    """
    entry = place.entry(place.store / INDEX_FILE)
    if place.config_folder or os.path.isabs(entry) or entry.startswith("~"):
        return []
    return [
        f"{other} matches the entry {entry}, too: OpenCode, started between the two, reads both. "
        "Give one of the stores another path (`mdmemory init --store`)."
        for other in (*_above(place.project, entry), *_below(place.project, entry))
    ]


def _above(project: Path, entry: str) -> Iterator[str]:
    if (project / ".git").exists():
        return
    for folder in project.parents:
        if (folder / entry).is_file():
            yield os.path.relpath(folder / entry, project)
        if (folder / ".git").exists():
            return


def _below(project: Path, entry: str) -> Iterator[str]:
    for seen, (folder, inside, _) in enumerate(os.walk(project)):
        depth = len(Path(folder).relative_to(project).parts)
        inside[:] = sorted(
            name for name in inside if not name.startswith(".") and name != npm.MODULES
        ) if depth < _DEEP else []  # fmt: skip
        if seen > _MANY:
            return
        if depth and Path(folder, entry).is_file():
            yield Path(folder, entry).relative_to(project).as_posix()


def _plugin_state(place: Place, command: Sequence[str]) -> Iterator[str]:
    path = place.folder / PLUGIN
    if not path.is_file():
        return
    data, name = read_regular(path), place.name(path)
    if not is_unedited(data):
        yield f"{name} was edited, so it is not kept up to date. Delete it and {_again()}."
    elif version_of(data) != VERSION:
        yield f"{name} is of mdmemory {version_of(data)}, and this is {VERSION}. {_AGAIN}."
    words = _started(data.decode("utf-8", "replace"))
    if words and not os.access(words[0], os.X_OK):
        yield f"{name} starts {words[0]}, which is not there or cannot be run. {_AGAIN}."
    elif words and words != [*command]:
        yield f"{name} starts another mdmemory than this one: {words[0]}. {_AGAIN}."


def _again() -> str:
    return _AGAIN[0].lower() + _AGAIN[1:]


def _started(source: str) -> list[str]:
    found = _COMMAND.search(source)
    try:
        words = json.loads(found[1]) if found else []
    except ValueError:
        return []
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else []


def _twice(place: Place, _: Sequence[str]) -> Iterator[str]:
    try:
        servers = configuration.serving(place)
    except MdmemoryError:
        return  # told by `reading`
    if servers and (place.folder / PLUGIN).is_file():
        yield (
            f"The plugin and an MCP server in {place.name(servers[0])} both bring our tools. "
            f"{_AGAIN} to keep the plugin, or with --mcp to keep the server."
        )


_PLUGIN: tuple[Callable[[Place, Sequence[str]], Iterator[str]], ...] = (_plugin_state, _twice)


def _npm(place: Place, personal: Path) -> list[str]:
    """Folders in which OpenCode will wait for npm at its start."""
    if not (place.folder / PLUGIN).is_file():
        return []
    others = (place, Place(place.project, place.store, personal))
    return [
        f"OpenCode runs `npm install` in {each.folder} at its next start, since there is a plugin: "
        "some 20 s once, and 90 s at every start without a network. Start it once online, or run "
        "`mdmemory init --opencode --no-npm`."
        for each in others
        if each.folder.is_dir() and not npm.is_seeded(each)
    ]
