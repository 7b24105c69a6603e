"""Where a page is tried: a new person's home, the programs of a bare machine, and a shell."""

import shutil
import subprocess
import sys
from pathlib import Path

import commands_host
from blocks import Step, is_shown, normal
from pace import HUNG

SAID = Path(__file__).with_name("said.py")
COMMANDS_HOST = Path(commands_host.__file__)

# What a person's PATH has beside mdmemory. No assistant of this machine is found by it.
_PROGRAMS = (
    "sh git env cat ls mkdir printf sed grep head tail wc cp mv rm touch sort tr cut find true "
    "chmod uname dirname basename date python3"
).split()
_PERSON = "[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n"
_CLIENT = "#!/bin/sh\nexit 1\n"  # `mdmemory setup` looks for it; nothing runs it


class Scene:
    """A home folder with a project in it, which is a git repository with one commit.

    `folder` is where the shell is; `cd` moves it, as in a terminal.
    """

    def __init__(self, home: Path, project: str = "shop") -> None:
        self.home, self.folder, self._messages = home, home / project, 0
        self._bin, self._system = home / ".local/bin", home.with_name(f"{home.name}-programs")
        self._bin.mkdir(parents=True)
        self._system.mkdir()
        for name in _PROGRAMS:
            known = shutil.which(name)
            if known is not None:
                (self._system / name).symlink_to(known)
        (self._bin / "mdmemory").symlink_to(Path(sys.executable).with_name("mdmemory"))
        (home / ".gitconfig").write_text(_PERSON, encoding="utf-8")
        self.folder.mkdir()
        self.run("git init -q && git commit -q --allow-empty -m first")

    def install(self, *clients: str) -> None:
        """Have programs with these names on the PATH."""
        for name in clients:
            (self._bin / name).write_text(_CLIENT, encoding="utf-8")
            (self._bin / name).chmod(0o755)

    def run(self, command: str, typed: str = "") -> tuple[int, str]:
        """Run a command in the shell; its exit code, and what a terminal shows of it."""
        left = self.home.with_name(f"{self.home.name}-folder")
        done = subprocess.run(
            ["sh", "-c", f'{command}\ncode=$?; pwd -P > "{left}"; exit $code'],
            cwd=self.folder, env=self._environment(), input=typed, text=True, timeout=HUNG,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.folder = Path(left.read_text("utf-8").rstrip("\n"))
        return done.returncode, done.stdout

    def say(self, words: str, host: str = "claude") -> str:
        """What mdmemory shows a person who types these words to an assistant, in one session."""
        self._messages += 1
        tests = ":".join(map(str, (SAID.parent, COMMANDS_HOST.parent)))
        done = subprocess.run(
            [sys.executable, str(SAID), host, str(self._messages)], cwd=self.folder, input=words,
            env=self._environment() | {"PYTHONPATH": tests}, text=True, timeout=HUNG,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def follow(self, steps: list[Step]) -> None:
        """Type each step of a page; AssertionError names the first that shows something else."""
        for step in steps:
            code, real = self.run(step.typed) if step.sign == "$" else (0, self.say(step.typed))
            real, page = normal(real, str(self.home)), normal(step.shown)
            assert is_shown(page, real), f"{step.typed}\n--- page\n{page}--- really\n{real}"
            assert code == 0 or page, f"{step.typed}: fails without a word, with {code}"

    def _environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home), "PATH": f"{self._bin}:{self._system}", "PAGER": "cat",
            "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": "100",
        }  # fmt: skip
