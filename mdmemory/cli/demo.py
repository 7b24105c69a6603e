"""`mdmemory demo`: the main job from end to end, in a folder of its own, with real git.

Each step says what it shows and the command that a person would type, and then runs just that.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from mdmemory import assets
from mdmemory.errors import MdmemoryError
from mdmemory.git.repositories import is_installed

_COLOURS = {"bold": "1", "dim": "2", "green": "32", "cyan": "36"}


def demo_options(parser: ArgumentParser) -> None:
    """Options of `demo`."""
    parser.add_argument(
        "dir", nargs="?", metavar="DIR", help="an empty folder (default: a new temporary one)"
    )


def demo(asked: Namespace) -> int:
    """Show notes being captured, indexed, compacted and reverted, in a temporary folder."""
    if not is_installed():
        raise MdmemoryError("The demo needs git.", "Install git and run it again.", "no_git")
    folder = _folder(asked.dir)
    with _inside(folder):
        _play(folder)
    return 0


def _folder(named: str | None) -> Path:
    if named is None:
        return Path(tempfile.mkdtemp(prefix="mdmemory-demo-"))
    folder = Path(named).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise MdmemoryError(f"{folder} is not an empty folder.", "Name one that is not there yet.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """The steps run where a person would stand, and see none of the caller's settings."""
    before = {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}
    for name in before:
        del os.environ[name]
    own = {"MDMEMORY_STORE": str(folder), "MDMEMORY_HOME": str(folder / "mdmemory")}
    os.environ |= own  # neither the person's notes nor their memory folder is looked at
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        for name in own:
            os.environ.pop(name, None)
        os.environ |= before


_SETTINGS = ("MDMEMORY_", "MEMORY_", "GIT_")


def _play(folder: Path) -> None:
    _say("bold", f"A project in {folder} with eight notes written by hand.")
    _git("init", "-q")
    for name, value in (("user.name", "You"), ("user.email", "you@example.com")):
        _git("config", name, value)
    shutil.copytree(assets.path("templates/demo/notes"), "notes/memory")
    shutil.copy(assets.path("templates/demo/transcript.json"), "transcript.json")
    _mdmemory(
        "Create a store in the project: MEMORY.md is written from the notes, in one commit.",
        "init", "--store",
        "notes/memory",
    )  # fmt: skip
    _git("add", "notes")
    _git("commit", "-q", "-m", "notes: as they are")
    _mdmemory(
        "An exported OpenCode session: what the user asked to remember becomes notes, the "
        "rest does not.",
        "extract", "--transcript", "transcript.json",
    )  # fmt: skip
    _step("OpenCode reads this before every request.", "cat notes/memory/MEMORY.md")
    print(Path("notes/memory/MEMORY.md").read_text(encoding="utf-8"), end="")
    _mdmemory(
        "Compaction merges duplicates, and flags a contradiction for you to resolve, in one "
        "commit. Uncommitted notes are committed first.",
        "compact",
    )  # fmt: skip
    _step("What it did:", "git show")
    print(_git("show", "--format=", _colour(), "--", "notes/memory"), end="")
    _step("It is one commit of plain text, so git can revert it:", "git revert --no-edit HEAD")
    print(_git("revert", "--no-edit", "HEAD"), end="")
    _mdmemory("Every byte is as before. The log shows both.", "log")
    _mdmemory("The index matches the files.", "index", "--check")
    _where_next(folder)


def _where_next(folder: Path) -> None:
    print()
    _say("bold", "Where to look:")
    print(f"  the notes            {folder / 'notes/memory'}")
    print(f"  what was done        git -C {folder} log --stat")
    _say("bold", "For your own projects:")
    print("  mdmemory setup opencode      connect OpenCode, once for all projects")
    print("  mdmemory add --help          store your first note")


def _mdmemory(why: str, *words: str) -> None:
    from mdmemory.cli import main

    _step(why, f"mdmemory {' '.join(words)}")
    if main(words) != 0:
        raise MdmemoryError(f"`mdmemory {' '.join(words)}` failed.", "See the lines above.")


def _step(why: str, command: str) -> None:
    print()
    _say("cyan", f"# {why}")
    _say("green", f"$ {command}")
    sys.stdout.flush()


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MdmemoryError(f"`git {' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout


def _colour() -> str:
    return "--color=always" if sys.stdout.isatty() else "--color=never"


def _say(colour: str, text: str) -> None:
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        text = f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"
    print(text)
