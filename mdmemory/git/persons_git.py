"""The person's own git: their configuration, credentials, signing and hooks, as if they typed it.

Only for what a person's command says, such as `sync`: it runs programs that the repository names.
A signature is made by a program that the person's own configuration names, never the repository's.
Nothing here asks for anything: no terminal, no window. What asks fails, and each has its deadline.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from mdmemory.errors import GitFailed
from mdmemory.git import repositories
from mdmemory.git.repositories import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

AUTHOR = ("mdmemory", "mdmemory@localhost")  # of commits that a model caused
BY_US = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in zip(("NAME", "EMAIL"), AUTHOR, strict=True)
}
SIGNING = 20.0  # seconds for one signature
_TRUE = ("true", "yes", "on", "1", "")
_PROGRAMS = {
    "gpg.program": "gpg", "gpg.openpgp.program": "", "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen", "gpg.ssh.defaultkeycommand": "",
}  # fmt: skip
_THEIRS = ("system", "global")  # where a person's own configuration stands
_WINDOWS = ("DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY")  # in which a program could ask


class Signer:
    """Signs commits of one repository. One that cannot be signed is made without: the note matters
    more, and `tell` hears of it once."""

    def __init__(self, repository: Repository, tell: Callable[[str], None]) -> None:
        self._repository, self._tell = repository, tell
        self._has_failed = False

    def commit_tree(
        self, words: Sequence[str], message: bytes, extra: Mapping[str, str]
    ) -> bytes | None:
        """What `git commit-tree words...` prints, signed; None where the person's git signs nothing
        here, or cannot."""
        if self._has_failed or not self._programs:
            return None
        env = repositories.environment({**extra, "SSH_ASKPASS_REQUIRE": "never"})
        env = {name: value for name, value in env.items() if name not in _WINDOWS}
        git = [*repositories.SAFE, *self._programs, "commit-tree", "-S", *words]
        try:
            done = repositories.run_in_time(git, self._repository.top, env, SIGNING, message)
            if done.returncode == 0:
                return done.stdout
            why = repositories.last_line(done.stderr)
        except GitFailed as problem:
            why = problem.message
        self._has_failed = True
        self._tell(
            f"What was written is committed without a signature: {why.rstrip('.:')}. "
            "(`git config commit.gpgsign false` here: no signature is tried.)"
        )
        return None

    @cached_property
    def _programs(self) -> list[str]:
        """Settings by which no program counts that the repository names; none where the person's
        git signs nothing here. Of two values the last one counts."""
        words = ("config", "-z", "--show-scope", "--get-regexp", r"^(commit\.gpgsign|gpg\..*)$")
        parts = os.fsdecode(self._repository.ask(*words) or b"").split("\0")[:-1]
        is_wanted, chosen = False, dict(_PROGRAMS)
        for scope, entry in zip(parts[::2], parts[1::2], strict=False):
            name, _, value = entry.partition("\n")  # a name alone means yes
            if scope == "command":
                continue  # what stands on a command line is ours, in `SAFE`
            if name.lower() == "commit.gpgsign":
                is_wanted = value.lower() in _TRUE
            elif name.lower() in chosen and scope in _THEIRS:
                chosen[name.lower()] = value
        chosen["gpg.openpgp.program"] = chosen["gpg.openpgp.program"] or chosen["gpg.program"]
        settings = [word for name, value in chosen.items() for word in ("-c", f"{name}={value}")]
        return settings if is_wanted else []


PATIENCE = 300.0  # seconds for one command, such as a fetch or push

# What `git rev-parse --local-env-vars` lists: variables that name a repository. Inside a hook they
# name the one that the hook belongs to.
_LOCAL = tuple(
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_CONFIG_COUNT "
    "GIT_CONFIG_PARAMETERS GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE "
    "GIT_INTERNAL_SUPER_PREFIX GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX "
    "GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE".split()
)
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
            self.environment |= BY_US

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
