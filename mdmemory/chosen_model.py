"""The model that a person chose, and the protocol that its prompts are cut from."""

from __future__ import annotations

from collections.abc import Mapping

from mdmemory import person
from mdmemory.llm import choose
from mdmemory.llm.metered import Metered
from mdmemory.privacy import redacted
from mdmemory.protocol import Protocol, personal, text
from mdmemory.store.project import Project
from mdmemory.store.trust import Trust


def model(
    purpose: str, project: Project, today: str, environment: Mapping[str, str] | None = None
) -> Metered | None:
    """The model for "extract", "compact" or "observe" on the day `today`; None where none was
    chosen."""
    caller = choose.Caller(project, today, person.environment(environment), redacted)
    return choose.model(purpose, caller)


def protocol(project: Project, environment: Mapping[str, str] | None = None) -> Protocol:
    """The protocol that prompts for this project are cut from; its `said` is worth a warning.

    For the person's own store it is the file that OpenCode reads for all their projects.
    """
    if project.root == person.places(environment).personal_root:
        return personal(person.opencode_folder(environment) / "memory" / "PROTOCOL.md")
    return text(project.root, trust(environment))


def trust(environment: Mapping[str, str] | None = None) -> Trust:
    """The person's record of protocols they stand by."""
    return Trust(person.state_folder(environment) / "trusted.json")
