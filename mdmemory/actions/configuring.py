"""Settings that a person changes: in their own file, or in the file of a store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmemory.config.table import PROJECT_FILE
from mdmemory.config.writing import change_setting, write_value
from mdmemory.errors import BadSetting, NotFound
from mdmemory.files import digest, read_if_there, write_atomic
from mdmemory.git.lock import Patience
from mdmemory.git.transaction import Change
from mdmemory.privacy import is_secret
from mdmemory.store.project import Project
from mdmemory.store.writer import Group, Writer


def set_for_person(file: Path, name: str, value: Any) -> bool:
    """Write a setting into the person's own settings `file`; None takes it out. False: no change.

    Raises BadSetting if the file is not TOML, or beyond what can be edited.
    """
    file = Path(os.path.realpath(file))  # a link to it is the person's own
    return _set_in_file(file, name, value, 0o600)


def _set_in_file(file: Path, name: str, value: Any, mode: int) -> bool:
    """Write a setting into a file, which keeps its mode; a new one gets this one."""
    before = _read_text(file)
    after = change_setting(before, name, value, file)
    if after != before:
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else mode
        write_atomic(file, after.encode(), mode=mode)
    return after != before


def set_for_store(project: Project, name: str, value: Any, holder: str) -> tuple[bool, str | None]:
    """The same in the store's mdmemory.toml: whether it changed, and the commit.

    Only a store with a repository of its own gets a commit; in a project it is the person's.
    """
    file = project.root / PROJECT_FILE
    if project.root != project.store:
        return _set_in_file(file, name, value, 0o644), None
    if not file.is_file():
        raise NotFound(f"{project.root} has no {PROJECT_FILE}.", "Name a store that has one.")
    what = f"unset {name}" if value is None else f"set {name} to {write_value(value)}"

    def edit(_: bytes) -> bytes:
        return change_setting(_read_text(file), name, value, file).encode()

    return change_settings(project, edit, "set", what, holder)


def change_settings(
    project: Project, edit: Callable[[bytes], bytes], kind: str, what: str, holder: str
) -> tuple[bool, str | None]:
    """Change the settings file of a store as `edit` says; whether it changed, and the commit of
    this `kind`, which says `what`, where the store has a repository that can take one."""
    writer = Writer(project, is_secret, holder, patience=Patience(30.0))
    with writer.lock_store():
        before = (project.store / PROJECT_FILE).read_bytes()
        after = edit(before)
        if after == before:
            return False, None
        group = Group(what, (Change(PROJECT_FILE, digest(before), after),))
        return True, writer.write(f"memory: {what}", [group], kind=kind).commit


def _read_text(file: Path) -> str:
    try:
        return (read_if_there(file) or b"").decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadSetting(f"{file} is not UTF-8 text.", "Correct it first.") from problem
