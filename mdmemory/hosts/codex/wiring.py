"""Codex once per person: hooks in its hooks.json, and an MCP server in its config.toml.

Codex runs a hook only after the person trusted it, and trusts the very text of it: what is written
here never changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from mdmemory.config.writing import read_toml
from mdmemory.hosts import entries, jsonc, settings_files
from mdmemory.hosts.settings_files import table_of

# Codex hands a server twelve variables, and none of these.
_VARIABLES = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
              "MDMEMORY_DISABLE", "CODEX_HOME"]  # fmt: skip
# Without a mode Codex asks about what may destroy: `codex exec` then refuses to forget.
SERVER = entries.server_entry(env_vars=_VARIABLES, default_tools_approval_mode="approve")


def codex_folder(environment: Mapping[str, str]) -> Path:
    """Where Codex keeps the person's settings."""
    named = environment.get("CODEX_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".codex"


def codex_findings(environment: Mapping[str, str], project: Path) -> Iterator[str]:
    """What the person has still to do in Codex, a sentence each."""
    home = codex_folder(environment)
    settings = read_toml(settings_files.read(home / "config.toml") or "")
    if table_of(settings, "features").get("hooks") is False:
        yield (
            f"{home / 'config.toml'} switches hooks off, so Codex tells the memory nothing. Set "
            "`hooks = true` in [features]."
        )
    known = table_of(table_of(settings, "hooks"), "state")
    states = [table_of(known, name) for name in _our_hooks(home / "hooks.json")]
    if any(state.get("enabled") is False for state in states):
        yield (
            "Hooks of mdmemory are switched off in Codex, so it tells the memory nothing of these "
            "events. Switch them on in `/hooks`."
        )
    if not all("trusted_hash" in state for state in states):
        yield (
            "Codex was not asked yet whether it may run the hooks of mdmemory, and runs none until "
            "then. Start `codex` once, and choose to trust them."
        )


def _our_hooks(file: Path) -> Iterator[str]:
    """The names by which Codex knows our hooks."""
    events = jsonc.parse(settings_files.read(file) or "{}").member("hooks")
    listed = events.data if events and isinstance(events.data, dict) else {}
    for event, groups in listed.items():
        snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in event)
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if entries.is_ours(hook):
                    yield f"{file}:{snake.lstrip('_')}:{at}:{number}"
