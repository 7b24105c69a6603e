"""OpenCode's configuration, which is a person's: our entries come and go, every other byte stays.

What we made anew is remembered beside the store, so that taking our part back leaves no husk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular
from mdmemory.hosts import jsonc
from mdmemory.hosts.opencode.files import Writes
from mdmemory.hosts.opencode.places import Place, and_

SCHEMA = "https://opencode.ai/config.json"
LIST, SERVERS, SERVER = "instructions", "mcp", "mdmemory"


def install(
    place: Place, command: Sequence[str], mcp: bool, created: dict[str, list[str]], writes: Writes
) -> list[str]:
    """Add to `writes` a configuration that lists what OpenCode has to read, and (`mcp`) names our
    server by the command that starts it; without `mcp` a server of ours goes out of it.

    `created` names, per file, the members of the root object that we made before.
    """
    files = place.configurations()
    listed = {file: listing(place, file) for file in files}
    known = {place.resolve(entry) for entries in listed.values() for entry in entries}
    missing = [place.entry(file) for file in place.wanted if os.path.realpath(file) not in known]
    servers = {file: server for file in files if (server := _server(place, file)) is not None}
    if not files:
        return _first(place, missing, command if mcp else (), writes)
    # A list that is there is where a person looks; of several files with none, the one that wins.
    home = next((file for file in files if listed[file]), files[0])
    texts = {file: _text(place, file) for file in files}
    said = []
    if missing:
        texts[home] = _grown(place, home, texts[home], missing)
        others = [place.name(file) for file in files if file != home]
        also = f" OpenCode merges it with {and_(others)}, left as found." if others else ""
        said.append(f"Added {and_(missing)} to the instructions in {place.name(home)}.{also}")
    if mcp and not servers:
        texts[home] = _served(place, home, texts[home], command)
        said.append(f"Added the MCP server {SERVER} to {place.name(home)}.")
    elif mcp:
        said += [
            f"{place.name(file)} names an MCP server {SERVER} in a way of its own: left as found."
            for file, server in servers.items()
            if not _is_ours(server, command)
        ]
    else:
        said += _withdraw(place, servers, created, texts)
    writes += [(file, text.encode()) for file, text in texts.items() if text != _text(place, file)]
    return said


def _first(place: Place, missing: list[str], command: Sequence[str], writes: Writes) -> list[str]:
    path = place.root / "opencode.json"
    writes.append((path, _new(missing, command).encode()))
    also = f" and names the MCP server {SERVER}" if command else ""
    return [f"Wrote {place.name(path)}, which lists {and_(missing)}{also}."]


def _withdraw(
    place: Place, servers: dict[Path, dict[str, Any]], created: dict[str, list[str]],
    texts: dict[Path, str],
) -> list[str]:  # fmt: skip
    """The plugin brings the same tools, and no tool may be there twice."""
    said = []
    for file, server in servers.items():
        if _is_ours(server):
            texts[file] = jsonc.drop(texts[file], SERVERS, SERVER)
            if SERVERS in created.get(place.name(file), []) and _data(texts[file])[SERVERS] == {}:
                texts[file] = jsonc.drop_member(texts[file], SERVERS)
            said.append(f"Took the MCP server {SERVER} out of {place.name(file)}.")
        else:
            said.append(
                f"{place.name(file)} also names an MCP server {SERVER}, so its tools are there "
                "twice: take it out, or use `mdmemory init --opencode --mcp`."
            )
    return said


def remove(place: Place, created: dict[str, list[str]]) -> tuple[list[str], Writes, list[Path]]:
    """What takes our entries back: sentences, what to write, and the files that held only them.

    `created` names, per file, the members of the root object that we made.
    """
    ours = [place.entry(file) for file in place.wanted]
    said: list[str] = []
    writes: Writes = []
    gone: list[Path] = []
    for file in place.configurations():
        made = created.get(place.name(file), [])
        before = _text(place, file)
        if not before.removeprefix(jsonc.BOM).strip():
            continue
        after, words = _without(place, file, before, ours, made)
        if not words:
            continue
        if _is_husk(after):
            gone.append(file)
            said.append(f"Removed {place.name(file)}, which held nothing else.")
        else:
            writes.append((file, after.encode()))
            said += [f"Took {word} {place.name(file)}." for word in words]
    return said, writes, gone


def _without(
    place: Place, file: Path, text: str, ours: list[str], made: list[str]
) -> tuple[str, list[str]]:
    before, words = text, []
    mine = [entry for entry in listing(place, file) if entry in ours]
    if mine:
        text = jsonc.shrink(text, LIST, mine)
        words.append("our entries out of the instructions in")
    if _is_ours(_server(place, file)):
        text = jsonc.drop(text, SERVERS, SERVER)
        words.append(f"the MCP server {SERVER} out of")
    for key in made:
        if _data(text).get(key) in ([], {}):
            text = jsonc.drop_member(text, key)
    if words:
        _prove(place, file, before, text, "Take our entries out of it by hand.")
    return text, words


def _is_husk(text: str) -> bool:
    """Whether nothing is left but what we write around our entries."""
    return text in (_new([], ()), json.dumps({"$schema": SCHEMA}, indent=2) + "\n", "{}\n")


def listing(place: Place, file: Path) -> list[str]:
    """The `instructions` of a configuration, which must be sound."""
    entries = _root(place, file).get(LIST, [])
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise _unsound(place, file, f'"{LIST}" is not a list of strings')
    return entries


def entries(place: Place) -> Iterator[tuple[Path, str]]:
    """Every entry of every configuration."""
    for file in place.configurations():
        for entry in listing(place, file):
            yield file, entry


def serving(place: Place) -> list[Path]:
    """The configurations that name a server as ours is named."""
    return [file for file in place.configurations() if _server(place, file) is not None]


def names_plugins(place: Place) -> bool:
    """Whether a configuration asks for plugins of its own."""
    return any(_root(place, file).get("plugin") for file in place.configurations())


def made_by_us(place: Place, writes: Writes) -> dict[str, list[str]]:
    """Which members of each configuration in `writes` are not there yet."""
    files = {path: data.decode() for path, data in writes if path.name.startswith("opencode.json")}
    return {
        place.name(path): [
            key for key in (LIST, SERVERS)
            if key in _data(text) and not (path.exists() and key in _root(place, path))
        ]
        for path, text in files.items()
    }  # fmt: skip


def _server(place: Place, file: Path) -> dict[str, Any] | None:
    servers = _root(place, file).get(SERVERS, {})
    found = servers.get(SERVER) if isinstance(servers, dict) else None
    return found if isinstance(found, dict) else None


def _is_ours(server: dict[str, Any] | None, command: Sequence[str] = ()) -> bool:
    """Whether an entry is as we write it (for any command, or for this one)."""
    if server is None or set(server) != {"type", "command", "enabled"}:
        return False
    words = server["command"]
    return (
        isinstance(words, list)
        and words[-1:] == ["mcp"]
        and (not command or words == [*command, "mcp"])
    )


def _entry(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": [*command, "mcp"], "enabled": True}


def _grown(place: Place, file: Path, text: str, missing: list[str]) -> str:
    """The configuration with `missing` in its instructions, proven to say the same otherwise."""
    if not text.removeprefix(jsonc.BOM).strip():
        return _new(missing, ())
    after = jsonc.grow(text, LIST, missing)
    by_hand = f"Add these to its `{LIST}` by hand: {and_(missing)}."
    _prove(place, file, text, after, by_hand)
    if _data(after)[LIST] != [*_data(text).get(LIST, []), *missing]:
        raise _stuck(place, file, by_hand)
    return after


def _served(place: Place, file: Path, text: str, command: Sequence[str]) -> str:
    after = jsonc.put(text, SERVERS, SERVER, _entry(command))
    by_hand = f"Add an MCP server {SERVER} with the command {[*command, 'mcp']} to it by hand."
    _prove(place, file, text, after, by_hand)
    return after


def _prove(place: Place, file: Path, before: str, after: str, by_hand: str) -> None:
    """Whatever went wrong in an edit, nothing but our two members may say something else."""
    mine = (LIST, SERVERS)
    same = [
        {key: value for key, value in _data(text).items() if key not in mine}
        for text in (before, after)
    ]
    others = [
        {key: value for key, value in (_data(text).get(SERVERS) or {}).items() if key != SERVER}
        for text in (before, after)
    ]
    if same[0] != same[1] or others[0] != others[1]:
        raise _stuck(place, file, by_hand)


def _stuck(place: Place, file: Path, by_hand: str) -> MdmemoryError:
    return MdmemoryError(
        f"{place.name(file)} could not be changed without touching other settings.", by_hand
    )


def _root(place: Place, file: Path) -> dict[str, Any]:
    text = _text(place, file).removeprefix(jsonc.BOM)
    if not text.strip():
        return {}
    try:
        root = jsonc.parse(text).data
    except jsonc.JsoncError as problem:
        raise _unsound(place, file, str(problem)) from problem
    if not isinstance(root, dict):
        raise _unsound(place, file, "An object was expected")
    return root


def _data(text: str) -> dict[str, Any]:
    data = jsonc.parse(text.removeprefix(jsonc.BOM)).data
    return data if isinstance(data, dict) else {}


def _text(place: Place, file: Path) -> str:
    place.refuse_links(file)
    try:
        return read_regular(file).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _unsound(place, file, "It is not UTF-8") from problem


def _unsound(place: Place, file: Path, problem: str) -> MdmemoryError:
    return MdmemoryError(
        f"{place.name(file)} is not a valid configuration: {problem}.",
        "Correct it and run this again; nothing was written.",
        code="bad_configuration",
    )


def _new(instructions: list[str], command: Sequence[str]) -> str:
    settings: dict[str, Any] = {"$schema": SCHEMA, LIST: instructions}
    if command:
        settings[SERVERS] = {SERVER: _entry(command)}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
