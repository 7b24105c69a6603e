"""Commits in a person's own repository are signed as their git signs them; ours never are.

The program that signs is named by the person's own configuration, never by the repository's. It
has no terminal, no window to ask in, and a short time. A commit that cannot be signed is made
without: the note matters more, and a sentence says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from mdmemory.errors import GitFailed
from mdmemory.git import repositories
from mdmemory.git.repositories import Repository

PATIENCE = 20.0  # seconds for one signature
_TRUE = ("true", "yes", "on", "1", "")
_PROGRAMS = {
    "gpg.program": "gpg", "gpg.openpgp.program": "", "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen", "gpg.ssh.defaultkeycommand": "",
}  # fmt: skip
_THEIRS = ("system", "global")  # where a person's own configuration stands
_WINDOWS = ("DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY")  # in which a program could ask


class Signer:
    """Signs commits of one repository; `tell` hears once that it cannot."""

    def __init__(self, repository: Repository, tell: Callable[[str], None]) -> None:
        self._repository, self._tell = repository, tell
        self._has_failed = False

    @property
    def is_signing(self) -> bool:
        """Whether the person's git signs here, and could until now."""
        return not self._has_failed and self._is_wanted

    def commit_tree(
        self, words: Sequence[str], message: bytes, extra: Mapping[str, str]
    ) -> bytes | None:
        """What `git commit-tree words...` prints, signed; None where it could not be signed."""
        env = repositories.environment({**extra, "SSH_ASKPASS_REQUIRE": "never"})
        env = {name: value for name, value in env.items() if name not in _WINDOWS}
        git = [*repositories.SAFE, *self._programs, "commit-tree", "-S", *words]
        try:
            done = repositories.run_in_time(git, self._repository.top, env, PATIENCE, message)
            if done.returncode == 0:
                return done.stdout
            why = repositories.last_line(done.stderr)
        except GitFailed as problem:
            why = problem.message
        self._has_failed = True
        self._tell(
            f"What was written is committed without a signature: {why.rstrip('.:')}. "
            "(`git.sign = false` in mdmemory.toml: no signature is tried.)"
        )
        return None

    @cached_property
    def _settings(self) -> list[tuple[str, str, str]]:
        """What git is told about signing: scope, name in lower case, value; the last one counts."""
        words = ("config", "-z", "--show-scope", "--get-regexp", r"^(commit\.gpgsign|gpg\..*)$")
        parts = os.fsdecode(self._repository.ask(*words) or b"").split("\0")[:-1]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        # what stands on a command line is ours, in `SAFE`
        return [(scope, *_split(entry)) for scope, entry in pairs if scope != "command"]

    @cached_property
    def _is_wanted(self) -> bool:
        values = [value for _, name, value in self._settings if name == "commit.gpgsign"]
        return bool(values) and values[-1].lower() in _TRUE

    @cached_property
    def _programs(self) -> list[str]:
        """Settings by which no program counts that the repository names."""
        chosen = dict(_PROGRAMS)
        for scope, name, value in self._settings:
            if name in chosen and scope in _THEIRS:
                chosen[name] = value
        chosen["gpg.openpgp.program"] = chosen["gpg.openpgp.program"] or chosen["gpg.program"]
        return [word for name, value in chosen.items() for word in ("-c", f"{name}={value}")]


def _split(entry: str) -> tuple[str, str]:
    """Name and value; a name alone means yes."""
    name, _, value = entry.partition("\n")
    return name.lower(), value
