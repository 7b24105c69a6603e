"""OpenCode's configurations, which are a person's: they are read, and never added to.

mdmemory 0.1.0 wrote two instructions, and with --mcp a server, into one of them. `withdraw` takes
these out again, and every other byte stays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.expressions import lazy
from mdmemory.files import read_regular
from mdmemory.hosts import jsonc
from mdmemory.hosts.opencode.places import Place, from_home
from mdmemory.note.stamps import version_of
from mdmemory.records import dataclass, field

SCHEMA = "https://opencode.ai/config.json"
LIST, SERVERS, SERVER = "instructions", "mcp", "mdmemory"
# In a relative entry these made a pattern of the folder's name.
_PATTERN = lazy(r"[*?\[\]{}()!\\]")


def new(instructions: Sequence[str], command: Sequence[str]) -> str:
    """The text of a configuration that lists `instructions`, and starts a server by `command`."""
    settings = {"$schema": SCHEMA, **_settings(instructions, command)}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def by_hand(instructions: Sequence[str], command: Sequence[str]) -> str:
    """The same settings in one line, for a person to add; "" where there are none."""
    settings = _settings(instructions, command)
    return json.dumps(settings, ensure_ascii=False) if settings else ""


def _settings(instructions: Sequence[str], command: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {LIST: [*instructions]} if instructions else {}
    return settings | ({SERVERS: {SERVER: _server(command)}} if command else {})


def _server(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": [*command, "mcp"], "enabled": True}


# --- reading -------------------------------------------------------------------------------------


def entries(place: Place) -> Iterator[tuple[Path, str]]:
    """Each configuration with each of its instructions. Raises MdmemoryError where one is not
    valid, or has no list of strings under `instructions`."""
    for file in place.configurations():
        for entry in _entries(place, file):
            yield file, entry


def serving(place: Place) -> list[Path]:
    """The configurations that name an MCP server as ours is named."""
    return [file for file in place.configurations() if SERVER in _servers(place, file)]


def names_plugins(place: Place) -> bool:
    """Whether a configuration asks for plugins of its own."""
    return any(_root(place, file).get("plugin") for file in place.configurations())


def _entries(place: Place, file: Path) -> list[str]:
    listed = _root(place, file).get(LIST, [])
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise _invalid(place, file, f'"{LIST}" is not a list of strings')
    return listed


def _servers(place: Place, file: Path) -> dict[str, Any]:
    servers = _root(place, file).get(SERVERS)
    return servers if isinstance(servers, dict) else {}


def _root(place: Place, file: Path) -> dict[str, Any]:
    text = _text(place, file)
    if not text.removeprefix(jsonc.BOM).strip():
        return {}
    try:
        root = jsonc.parse(text).data
    except jsonc.JsoncError as problem:
        raise _invalid(place, file, str(problem)) from problem
    if not isinstance(root, dict):
        raise _invalid(place, file, "An object was expected")
    return root


def _text(place: Place, file: Path) -> str:
    try:
        return read_regular(os.path.realpath(file)).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _invalid(place, file, "It is not UTF-8") from problem


def _invalid(place: Place, file: Path, problem: str) -> MdmemoryError:
    return MdmemoryError(
        f"{place.name(file)} is not a valid configuration: {problem}.",
        "Correct it and run this again; nothing was written.",
        code="bad_configuration",
    )


# --- taking out what 0.1.0 wrote -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What takes our entries out: sentences, the files to write, the files that held only them."""

    sentences: list[str] = field(default_factory=list)
    writes: list[tuple[Path, bytes]] = field(default_factory=list)
    gone: list[Path] = field(default_factory=list)


def withdraw(place: Place, made: Mapping[str, Sequence[str]]) -> Withdrawal:
    """What takes the entries of 0.1.0 out of all configurations; nothing is written yet.

    `made` is its record: per file, the keys that it added to the root object; empty where the
    record is lost, or 0.1.0 was never here. Raises MdmemoryError as `entries` does, and where a
    link would have to be written through.
    """
    done = Withdrawal()
    for file in place.configurations():
        listed, text = _entries(place, file), _text(place, file)
        if version_of(text.encode()):
            continue  # a file with our stamp is no person's
        if not made and (place.config_folder or _entry(place, place.protocol) not in listed):
            continue  # 0.1.0 was not here: what is spelled as ours is a person's
        after, words = _without(place, file, listed, text)
        if not words:
            continue
        place.refuse_links(file)
        for key in made.get(place.name(file), ()):
            member = jsonc.parse(after).member(key)
            if member and member.data in ([], {}):
                after = jsonc.drop(after, [key])
        if after == _husk():
            done.gone.append(file)
            done.sentences.append(f"Removed {place.name(file)}, which held only our entries.")
        else:
            done.writes.append((file, after.encode()))
            done.sentences.append(f"Took {' and '.join(words)} out of {place.name(file)}.")
    return done


def _without(place: Place, file: Path, listed: Sequence[str], text: str) -> tuple[str, list[str]]:
    """The text without our entries, and the words for what was taken out of it."""
    words = []
    protocol, index = (_entry(place, wanted) for wanted in place.wanted)
    if protocol in listed:
        # Ours stood behind the protocol; an index before it was listed by the person.
        is_ours = index in listed[listed.index(protocol) :]
        for entry in (protocol, index) if is_ours else (protocol,):
            text = jsonc.drop_item(text, [LIST], entry)
        words.append("our instructions")
    if _is_ours(_servers(place, file).get(SERVER)):
        text = jsonc.drop(text, [SERVERS, SERVER])
        words.append(f"the MCP server {SERVER}")
    return text, words


def _entry(place: Place, file: Path) -> str:
    """The spelling of an instruction by 0.1.0: relative in a project, else from the home."""
    real = Path(os.path.realpath(file))
    base = Path(os.path.realpath(place.project))
    if place.config_folder is None and real.is_relative_to(base):
        relative = real.relative_to(base).as_posix()
        if not _PATTERN.search(relative):
            return relative
    return from_home(file)


def _is_ours(server: object) -> bool:
    """Whether an MCP server is as 0.1.0 wrote it: it starts an absolute path."""
    words = server.get("command") if isinstance(server, dict) else None
    if not isinstance(words, list) or not words or server != _server(words[:-1]):
        return False
    return os.path.isabs(str(words[0]))


def _husk() -> str:
    return json.dumps({"$schema": SCHEMA}, indent=2) + "\n"
