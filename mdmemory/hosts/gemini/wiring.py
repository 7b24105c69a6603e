"""Gemini CLI once per person: hooks and an MCP server in its settings.

It runs both only in folders that the person trusts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mdmemory.hosts import jsonc, settings_files
from mdmemory.hosts.settings_files import table_of

TWICE = (
    "Gemini CLI has mdmemory as an extension and by `mdmemory setup`, so each hook runs twice. Run "
    "`mdmemory setup gemini --remove` or `gemini extensions uninstall mdmemory`."
)


def gemini_folder(environment: Mapping[str, str]) -> Path:
    """Where Gemini CLI keeps the person's settings."""
    named = environment.get("GEMINI_CLI_HOME", "")
    return (Path(named) if os.path.isabs(named) else Path.home()) / ".gemini"


def extension_carrier(environment: Mapping[str, str]) -> str:
    """What carries the memory into Gemini CLI already: our extension; "" where there is none."""
    is_there = (gemini_folder(environment) / "extensions" / "mdmemory").is_dir()
    return "an extension" if is_there else ""


def gemini_findings(environment: Mapping[str, str], project: Path) -> Iterator[str]:
    """What the person has still to do in Gemini CLI, a sentence each."""
    home = gemini_folder(environment)
    settings = _read(home / "settings.json")
    if table_of(table_of(settings, "security"), "folderTrust").get("enabled") is False:
        return
    named = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH", "")
    if not _is_trusted(_read(Path(named) if named else home / "trustedFolders.json"), project):
        yield (
            f"Gemini CLI does not trust {project} yet, and runs no hooks and no server there. "
            "Start `gemini` in it once, and choose to trust the folder."
        )


def _is_trusted(rules: Mapping[str, Any], project: Path) -> bool:
    """Whether a rule trusts a folder; of several the one for the longest path holds."""
    real, trust = os.path.realpath(project), ("", False)
    for path, rule in rules.items():
        of = os.path.realpath(os.path.dirname(path) if rule == "TRUST_PARENT" else path)
        if real == of or real.startswith(of.rstrip(os.sep) + os.sep):
            trust = max(trust, (of, rule != "DO_NOT_TRUST"))
    return trust[1]


def _read(path: Path) -> Mapping[str, Any]:
    data = jsonc.parse(settings_files.read(path) or "{}").data
    return data if isinstance(data, dict) else {}
