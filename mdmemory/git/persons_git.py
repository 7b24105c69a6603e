"""The person's own git: their configuration, credentials, signing and hooks, as if they typed it.

Only for what a person's command says, such as `sync`: it runs programs that the repository names.
It never asks for anything: no terminal, no window. What asks fails, and each call has its deadline.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from mdmemory.git import repositories
from mdmemory.git.commits_of_store import AUTHOR

PATIENCE = 300.0  # seconds for one command, such as a fetch or push

_ROLES = ("AUTHOR", "COMMITTER")
# What `git rev-parse --local-env-vars` lists: variables that name a repository. Inside a hook they
# name the one that the hook belongs to.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)  # fmt: skip
# Without a terminal (a session of its own) and without these nothing can ask for a password.
_SILENT = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never", "GIT_EDITOR": "true", "GIT_MERGE_AUTOEDIT": "no",
}  # fmt: skip
_ADVICE = (
    "hint:", "To ", "Please ", "and the repository exists", "Aborting", "Merge with strategy",
)  # fmt: skip


class PersonsGit:
    """git in one folder with the person's `environment`."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = {n: v for n, v in environment.items() if n not in _LOCAL}
        # our line in their hooks would wait for the lock that we hold
        self.environment |= {"MDMEMORY_DISABLE": "1", "LC_ALL": "C", "LANGUAGE": "C", **_SILENT}
        if self.run("var", "GIT_COMMITTER_IDENT").returncode != 0:
            for role in _ROLES:
                self.environment[f"GIT_{role}_NAME"] = AUTHOR[0]
                self.environment[f"GIT_{role}_EMAIL"] = AUTHOR[1]

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """What became of `git words...`. Raises GitFailed where it does not end in time."""
        return repositories.run_in_time(words, self.folder, self.environment, PATIENCE)


def explain(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git and the person's hooks said, on one line, without git's advice and passwords."""
    lines = map(str.strip, done.stderr.decode("utf-8", "replace").splitlines())
    reasons = [line for line in lines if line and not line.startswith(_ADVICE)]
    words = " ".join(map(redact_url, " ".join(reasons).split()))
    return f"{(words or 'no word').rstrip('.')}."


def redact_url(url: str) -> str:
    """The address of a remote without the name and password that may stand in it."""
    scheme, mark, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    who, at, host = place.rpartition("@")
    if not mark or not at or (scheme.endswith("ssh") and ":" not in who):
        return url
    return f"{scheme}{mark}{host}{slash}{path}"
