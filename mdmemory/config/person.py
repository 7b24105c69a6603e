"""Where the person's files lie on this machine, its environment, and the present moment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:  # `now` loads it
    from datetime import datetime

_MODELS = "FASTEMBED_CACHE_PATH"  # the variable of the package that fetches models


class Places(NamedTuple):
    """The environment variables, and the person's settings file."""

    environment: Mapping[str, str]
    personal_settings: Path  # ~/.config/mdmemory/config.toml


class Hosts(NamedTuple):
    """Where the hosts keep their sessions; any may be missing."""

    opencode: Path  # its database
    claude: Path  # the folder of Claude Code's projects
    codex: Path  # Codex's own folder
    gemini: Path  # Gemini CLI's own folder


Environment = Mapping[str, str]


def person_places(environment: Environment | None = None) -> Places:
    """The person's settings file, by the XDG rules."""
    folder = _base_folder(environment, "XDG_CONFIG_HOME", ".config") / "mdmemory"
    return Places(os.environ if environment is None else environment, folder / "config.toml")


def opencode_folder(environment: Environment | None = None) -> Path:
    """Where OpenCode keeps the person's own configuration."""
    return _base_folder(environment, "XDG_CONFIG_HOME", ".config") / "opencode"


def state_folder(environment: Environment | None = None) -> Path:
    """Where logs go that belong to no project."""
    return _base_folder(environment, "XDG_STATE_HOME", ".local/state") / "mdmemory"


def models_folder() -> Path:
    """Where the models lie that were fetched for search by meaning; a folder that the person named
    for the package that fetches them is respected."""
    own = _base_folder(None, "XDG_CACHE_HOME", ".cache") / "mdmemory" / "models"
    return _base_folder(None, _MODELS, str(own))


def names_models_folder() -> bool:
    """Whether the person named the folder of fetched models, which others may use, too."""
    return os.path.isabs(os.environ.get(_MODELS, ""))


def host_places(environment: Environment | None = None) -> Hosts:
    """Where the hosts keep their sessions on this machine, by the variables that they read."""
    environment, home = os.environ if environment is None else environment, Path.home()
    data = _base_folder(environment, "XDG_DATA_HOME", ".local/share") / "opencode"
    claude = environment.get("CLAUDE_CONFIG_DIR") or home / ".claude"
    return Hosts(
        opencode=data / (environment.get("OPENCODE_DB") or "opencode.db"),
        claude=Path(claude) / "projects",
        codex=Path(environment.get("CODEX_HOME") or home / ".codex"),
        gemini=Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini",
    )


def in_this_home(path: str, home: str) -> str:
    """A path that was noted when the person's home folder was `home`, in the one of now: a home may
    be copied or renamed. "" for `home`: it is not known, and taken for this one."""
    if home and Path(path).is_relative_to(home):
        return str(Path.home() / Path(path).relative_to(home))
    return path


def _base_folder(environment: Environment | None, variable: str, usual: str) -> Path:
    """The folder in a variable, else the `usual` one below the person's home."""
    named = (os.environ if environment is None else environment).get(variable, "")
    # the rule says that a relative path in these variables is to be ignored
    return Path(named) if os.path.isabs(named) else Path.home() / usual


def now() -> datetime:
    """The present moment, UTC, to the second."""
    from datetime import UTC, datetime

    return datetime.now(UTC).replace(microsecond=0)
