"""What the doors know of the machine: where the person's files lie, and what day it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.store.project import Places

if TYPE_CHECKING:  # loaded by `now`: most commands never ask for the time
    from datetime import datetime


def places(environment: Mapping[str, str] | None = None) -> Places:
    """The person's settings file and their own store, by the XDG rules."""
    environment = os.environ if environment is None else environment
    return Places(
        environment,
        _base(environment, "XDG_CONFIG_HOME", ".config") / "mdmemory" / "config.toml",
        _base(environment, "XDG_DATA_HOME", ".local/share") / "mdmemory",
    )


def opencode_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where OpenCode keeps the person's own configuration."""
    environment = os.environ if environment is None else environment
    return _base(environment, "XDG_CONFIG_HOME", ".config") / "opencode"


def _base(environment: Mapping[str, str], variable: str, usual: str) -> Path:
    named = environment.get(variable, "")
    # the rule says that a relative path in these variables is to be ignored
    return Path(named) if os.path.isabs(named) else Path.home() / usual


def now() -> datetime:
    """The present moment, UTC, to the second."""
    from datetime import UTC, datetime

    return datetime.now(UTC).replace(microsecond=0)
