"""Settings that a person changes: in their own file, or in the file of a store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mdmemory.config.table import PROJECT_FILE
from mdmemory.config.writing import change_setting, write_value
from mdmemory.errors import BadSetting, NotFound
from mdmemory.files import digest, read_if_there, write_atomic
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import KEEP, History, Message, memory_trailers
from mdmemory.git.lock import Patience, hold_lock
from mdmemory.git.transaction import Change, Transactions
from mdmemory.store.project import Project


def set_for_person(file: Path, name: str, value: Any) -> bool:
    """Write a setting into the person's own settings `file`; None takes it out. False: no change.

    Raises BadSetting if the file is not TOML, or beyond what can be edited.
    """
    file = Path(os.path.realpath(file))  # a link to it is the person's own
    before = _text(file)
    after = change_setting(before, name, value, file)
    if after == before:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    write_atomic(file, after.encode(), mode=mode)
    return True


def set_for_store(project: Project, name: str, value: Any, holder: str) -> tuple[bool, str | None]:
    """The same in the store's mdmemory.toml: whether it changed, and the commit.

    Only a store with a repository of its own gets a commit; in a project it is the person's.
    """
    file = project.root / PROJECT_FILE
    if not file.is_file() and project.root == project.store:
        raise NotFound(f"{project.root} has no {PROJECT_FILE}.", "Name a store that has one.")
    own = repositories.find(project.store) if project.root == project.store else None
    if own is None or repositories.refusal(own) is not None:
        before = _text(file)
        after = change_setting(before, name, value, file)
        if after != before:
            write_atomic(file, after.encode())
        return after != before, None
    with hold_lock(own.common_dir / "mdmemory.lock", holder, Patience(30.0)):
        before = _text(file)
        after = change_setting(before, name, value, file)
        if after == before:
            return False, None
        what = f"unset {name}" if value is None else f"set {name} to {write_value(value)}"
        trailers = memory_trailers("set", groups=[[PROJECT_FILE]])
        message = Message(f"memory: {what}", [what], trailers)
        transactions = Transactions(History(own, project.store))
        change = Change(PROJECT_FILE, digest(before.encode()), after.encode())
        done = transactions.apply([change], transactions.checkpoint([PROJECT_FILE], KEEP), message)
    return True, done.commit


def _text(file: Path) -> str:
    try:
        return (read_if_there(file) or b"").decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadSetting(f"{file} is not UTF-8 text.", "Correct it first.") from problem
