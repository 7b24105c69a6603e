"""Commands about where a store lies: open."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from mdmemory.cli.output import emit, opened, warn

_PROMPT = 3.0  # seconds in which a program that shows folders says that it cannot


def open_options(parser: ArgumentParser) -> None:
    """Options of `open`."""
    parser.add_argument("--print", action="store_true", help="only print the folder's path")


def open_(asked: Namespace) -> int:
    """Print the path of the store's folder, and show it in the file manager where there is one."""
    asked.holder = "open"
    folder = opened(asked).project.store
    shown = not asked.print and not asked.json and _show(folder)
    if asked.json:
        emit({"store": str(folder), "opened": shown})
    else:
        print(folder)
    return 0


def _show(folder: Path) -> bool:
    """Show a folder on the person's screen. False where there is none, or no program for it."""
    program = _program()
    if program is None:
        return False
    quiet = subprocess.DEVNULL
    try:
        started = subprocess.Popen(
            [program, str(folder)],
            stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True,
        )  # fmt: skip
        failed = started.wait(_PROMPT) != 0
    except subprocess.TimeoutExpired:
        return True  # it goes on as long as the window is open
    except OSError:
        failed = True
    if failed:
        warn(f"{program} could not show the folder; this is its path:")
    return not failed


def _program() -> str | None:
    """The absolute path of the program that shows folders."""
    if sys.platform == "darwin":
        name = "open"
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        name = "xdg-open"
    else:
        return None
    entries = filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))
    return shutil.which(name, path=os.pathsep.join(entries))
