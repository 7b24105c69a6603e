"""Entries of ours in a person's JSON or TOML file: the text with them, and without.

Text in, text out. What was changed is kept as splices, so that an untouched file gets back the very
bytes that it had; in a file that others changed since, only what is ours goes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mdmemory.config.writing import TomlError, find_value, read_toml, set_value
from mdmemory.files import digest
from mdmemory.hosts import jsonc, launcher

_MARK = "/mdmemory/launch"  # in each command that is ours
_EMPTY = "{}\n"

Splice = tuple[int, str, str]  # an offset, the text that was put there, the text that it replaced


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A value of ours under `path`, a key for each level; with `in_list` an item of the list there.

    An object's layout in TOML is fixed: a table of its own.
    """

    path: tuple[str, ...]
    value: Any
    in_list: bool = False

    @property
    def name(self) -> str:
        """Its name in messages and records."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """What was done to a file: the digest of the text, the splices in their order, our values by
    the names of their entries, and the objects and lists that were made for them."""

    digest: str = ""
    splices: Sequence[Splice] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    made: Sequence[Sequence[str]] = ()


def hook_entry(host: str, event: str, **more: Any) -> ConfigEntry:
    """The hook by which a client tells us of an event. Claude Code, Codex and Gemini CLI take it in
    one shape; `more` are further keys of the hook."""
    command = {"type": "command", **more, "command": launcher.any_shell_line(f"hook {host}")}
    return ConfigEntry(("hooks", event), {"hooks": [command]}, in_list=True)


def server_entry(**more: Any) -> dict[str, Any]:
    """An MCP server of ours, whose instructions leave the index to the hooks."""
    return {"command": "sh", "args": ["-c", launcher.shell_command("mcp --no-index")], **more}


def is_ours(value: object) -> bool:
    """Whether a value starts our launcher."""
    return _MARK in json.dumps(value, default=str)


def find(text: str, entry: ConfigEntry, *, is_toml: bool = False) -> object:
    """What stands in the place of an entry, or None. Raises JsoncError and TomlError."""
    if is_toml:
        return find_value(text, entry.path)
    member = _parse_text(text).member(*entry.path)
    if member is None or not entry.in_list:
        return member.data if member else None
    if not isinstance(member.data, list):
        raise jsonc.JsoncError(f'A list was expected for "{entry.path[-1]}"', text, member.start)
    if entry.value in member.data:
        return entry.value
    return next((item for item in member.data if is_ours(item)), None)


def add(
    text: str,
    entries: Sequence[ConfigEntry],
    *,
    is_toml: bool = False,
    known: ConfigEdit | None = None,
) -> tuple[str, ConfigEdit]:
    """The text with all entries that have nothing in their place, and what was done.

    `known` is what an earlier call did to this text, and is gone on with. Raises JsoncError and
    TomlError.
    """
    known = known or ConfigEdit()
    splices, values, made = [*known.splices], {**known.values}, [*known.made]
    for entry in entries:
        if find(text, entry, is_toml=is_toml) is not None:
            continue
        if is_toml:
            after = set_value(text, entry.path, entry.value)
        else:
            root = _parse_text(text)
            made += [box for box in _entry_boxes(entry) if root.member(*box) is None]
            change = jsonc.append_item if entry.in_list else jsonc.put_value
            after = change(_source_text(text), entry.path, entry.value)
        splices.append(_find_splice(text, after))
        values[entry.name] = entry.value
        text = after
    return text, ConfigEdit(digest(text.encode()), splices, values, made)


def drop_entries(
    text: str, entries: Sequence[ConfigEntry], known: ConfigEdit | None, *, is_toml: bool = False
) -> str:
    """The text without our entries; `known` is what `add` did, None where that was lost.

    What a person had before `add` stays. Raises JsoncError and TomlError.
    """
    if known and digest(text.encode()) == known.digest:
        for at, put, old in reversed(known.splices):
            text = text[:at] + old + text[at + len(put) :]
        return text
    plain, gone = text, []
    for entry in entries:
        after = _without_entry(plain, entry, known, is_toml=is_toml)
        gone += [entry] if after != plain else []
        plain = after
    if not gone:
        return text
    if not is_toml:  # without the empty objects and lists that were made for our entries
        made = known.made if known else [box for entry in gone for box in _entry_boxes(entry)]
        for box in sorted({tuple(each) for each in made}, key=len, reverse=True):
            member = _parse_text(plain).member(*box)
            if member and member.data in ({}, []):
                plain = jsonc.drop_value(plain, box)
    back: str | None = text if known else None
    for _, put, old in reversed(known.splices if known else ()):
        back = back.replace(put, old) if back is not None and back.count(put) == 1 else None
    is_right = back is not None and _read_data(back, is_toml) == _read_data(plain, is_toml)
    return back if back is not None and is_right else plain


def says_nothing(text: str) -> bool:
    """Whether JSON text holds nothing but an empty object, and no comment."""
    return text.removeprefix(jsonc.BOM).strip().replace(" ", "") in ("", "{}")


def _without_entry(
    text: str, entry: ConfigEntry, known: ConfigEdit | None, *, is_toml: bool
) -> str:
    value = find(text, entry, is_toml=is_toml)
    mine = value == entry.value and (known is None or entry.name in known.values)
    if not mine and not is_ours(value):
        return text
    if is_toml:
        return set_value(text, entry.path, None)
    if not entry.in_list:
        return jsonc.drop_value(text, entry.path)
    while (value := find(text, entry)) is not None and (is_ours(value) or value == entry.value):
        items: Any = jsonc.parse(text).member(*entry.path)
        path = [*entry.path, items.data.index(value)]
        hooks = value.get("hooks") if isinstance(value, dict) else None
        if isinstance(hooks, list) and not all(map(is_ours, hooks)):
            # of a group of hooks with others in it only ours goes
            path += ["hooks", [*map(is_ours, hooks)].index(True)]
        text = jsonc.drop_value(text, path)
    return text


def _entry_boxes(entry: ConfigEntry) -> Iterator[tuple[str, ...]]:
    """Whatever holds an entry: all objects below the root, and its list."""
    for depth in range(1, len(entry.path) + entry.in_list):
        yield entry.path[:depth]


def _find_splice(before: str, after: str) -> Splice:
    """The one place in which two texts differ."""
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    tail = most - start
    end = next((at for at in range(tail) if before[-1 - at] != after[-1 - at]), tail)
    return start, after[start : len(after) - end], before[start : len(before) - end]


def _read_data(text: str, is_toml: bool) -> object:
    """The data of a text, None where it is not valid."""
    try:
        return read_toml(text) if is_toml else _parse_text(text).data
    except (jsonc.JsoncError, TomlError):
        return None


def _parse_text(text: str) -> jsonc.JsoncText:
    return jsonc.parse(_source_text(text))


def _source_text(text: str) -> str:
    """JSON text; a blank one as the clients take it, for an empty object."""
    return text if text.removeprefix(jsonc.BOM).strip() else text + _EMPTY
