"""The settings of Claude Code that say where its own memory lies, read; and what mdmemory 0.2 set
there, taken back.

A project's file is that of the main checkout: Claude reads no other for this. What 0.2 set stands
in the person's state folder, by which it is told from what a person set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_if_there, write_atomic
from mdmemory.git import private_folder

FOLDER, ENABLED = "autoMemoryDirectory", "autoMemoryEnabled"  # keys of Claude's settings
OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
LOCAL = ".claude/settings.local.json"  # in a project; Claude allows no comment in it
_EXCLUDED = f"/{LOCAL}"
_NOTED = "claude-memory.json"
_MOST = 1024 * 1024  # bytes of such a file

Json = dict[str, Any]


def main_checkout(folder: Path) -> Path:
    """The folder whose settings and whose own memory Claude uses in `folder`: the main worktree of
    its repository, a submodule's own, and outside of git `folder` itself."""
    common = private_folder.common_dir(folder)
    if common is None:
        return Path(os.path.realpath(folder))
    if common.name == ".git" and common.is_dir():
        return common.parent
    chain = (folder, *folder.parents)
    return Path(os.path.realpath(next((at for at in chain if (at / ".git").exists()), folder)))


def carried_folder(folder: Path, environment: Mapping[str, str]) -> Path | None:
    """The folder that Claude itself puts into the prompt in `folder`, as its settings name it; None
    where they name none, or its own memory is off. A session has what held when it began."""
    for_all = person.host_places(environment).claude.with_name("settings.json")
    local, persons = _read(main_checkout(folder) / LOCAL), _read(for_all)
    switches = [each[ENABLED] for each in (local, persons) if ENABLED in each]
    if environment.get(OFF, "").lower() not in ("", "0", "false") or switches[:1] == [False]:
        return None
    for settings in (local, persons):
        named = settings.get(FOLDER)
        if isinstance(named, str) and named:
            path = Path(os.path.expanduser(named))
            return path if path.is_absolute() else None
    return None


def _read(path: Path) -> Json:
    try:
        value = json.loads(read_if_there(path, _MOST) or b"{}")
    except (MdmemoryError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# --- what 0.2 set


def withdraw_settings(
    environment: Mapping[str, str], folder: Path | None = None, *, dry_run: bool = False
) -> list[str]:
    """Take back what was set for the project around `folder`, or (None) for any; sentences."""
    only = folder and main_checkout(folder) / LOCAL
    record = person.state_folder(environment) / _NOTED
    noted = _read(record)
    meant = [
        path for path, entry in noted.items()
        if isinstance(entry, dict) and entry.get("home", "") in ("", str(Path.home()))
        and only in (None, Path(path))
    ]  # fmt: skip
    sentences = []
    for name in meant:
        path, entry = Path(name), noted[name]
        if path.is_symlink() or path.parent.is_symlink() or "value" not in entry:
            continue
        if _read(path).get(FOLDER) != entry["value"]:
            continue  # a person set another, or the project is gone
        sentences.append(f"{path}: Claude Code keeps its own memory in its own folder again.")
        if not dry_run:
            _take_back(path, entry)
    if meant and not dry_run:
        left = {path: entry for path, entry in noted.items() if path not in meant}
        write_atomic(record, json.dumps(left, indent=1).encode() + b"\n", mode=0o600)
    return sentences


def _take_back(path: Path, entry: Json) -> None:
    from mdmemory.actions.attributes import drop_lines
    from mdmemory.git import repositories
    from mdmemory.hosts import client_config, entries

    rest = entries.drop_value(client_config.read(path) or "", [FOLDER])
    if not (entry.get("file") and entries.says_nothing(rest)):
        client_config.replace_file(path, rest.encode(), 0o600)
        return
    path.unlink()
    if entry.get("folder"):
        client_config.drop_empty([path.parent])
    if entry.get("line") and (repository := repositories.find(path.parent.parent)):
        drop_lines(repository.common_dir / "info" / "exclude", [_EXCLUDED])
