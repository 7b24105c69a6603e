"""What the doors hand to whoever asks a model: the model that was chosen, and its protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mdmemory.doors import machine
from mdmemory.llm import choose
from mdmemory.llm.metered import Metered
from mdmemory.protocol import Protocol, personal, text
from mdmemory.store.project import Project
from mdmemory.store.trust import Trust


def model(
    purpose: str, project: Project, today: str, environment: Mapping[str, str] | None = None
) -> Metered | None:
    """The model for "extract", "compact" or "observe" on the day `today`; None where none was
    chosen."""
    environment = os.environ if environment is None else environment
    return choose.model(purpose, choose.Caller(project, today, environment, _redacted))


def protocol(project: Project, environment: Mapping[str, str] | None = None) -> Protocol:
    """The protocol that prompts for this project are cut from; its `said` is worth a warning.

    For the person's own store it is the file that OpenCode reads for all their projects.
    """
    if project.root == machine.places(environment).personal_root:
        return personal(machine.opencode_folder(environment) / "memory" / "PROTOCOL.md")
    return text(project.root, trust(environment))


def trust(environment: Mapping[str, str] | None = None) -> Trust:
    """The person's record of protocols they stand by."""
    environment = os.environ if environment is None else environment
    named = environment.get("XDG_STATE_HOME", "")
    base = Path(named) if os.path.isabs(named) else Path.home() / ".local" / "state"
    return Trust(base / "mdmemory" / "trusted.json")


def _redacted(text: str) -> str:
    from mdmemory.privacy.redaction import redact

    return redact(text)[0]
