"""The OpenCode client itself: whether it is one that we know."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping

from mdmemory.errors import MdmemoryError
from mdmemory.llm.opencode_run import find_program
from mdmemory.store.project import Project

TESTED = (1, 18)  # the versions that tests/e2e has run against
_PATIENCE = 10.0  # seconds; the client takes some 2 to tell its version


def version_findings(project: Project, environment: Mapping[str, str]) -> list[str]:
    """A sentence when the client on the PATH is outside the tested range."""
    try:
        program, path = find_program(
            project.settings.text("opencode.command"), environment.get("PATH", ""), project.root
        )
        done = subprocess.run(
            [program, "--version"], env={**environment, "PATH": path}, capture_output=True,
            text=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (MdmemoryError, OSError, subprocess.TimeoutExpired):
        return []  # whoever has no client needs no advice on it
    return outside(done.stdout)


def outside(said: str) -> list[str]:
    """A sentence when `opencode --version` says something else than the tested range."""
    found = re.match(r"\s*v?(\d+)\.(\d+)\.", said)
    if not found or (int(found[1]), int(found[2])) == TESTED:
        return []
    tested = ".".join(map(str, TESTED))
    return [f"OpenCode {said.strip()} is installed; mdmemory was tested with {tested}."]
