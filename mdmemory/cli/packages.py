"""Adding packages to the Python that runs mdmemory, in the way in which mdmemory came there."""

from __future__ import annotations

import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.records import dataclass

DEADLINE = 1_800.0  # seconds for an installation; a slow line takes minutes for 200 MB


@dataclass(frozen=True)
class Installation:
    """One command that adds packages; `problem` says why mdmemory may not run it by itself."""

    command: tuple[str, ...]
    problem: str = ""

    def __str__(self) -> str:
        return shlex.join(self.command)

    def run(self) -> None:
        """Run it, with its own words on the terminal. Raises MdmemoryError."""
        try:
            done = subprocess.run(self.command, stdin=subprocess.DEVNULL, timeout=DEADLINE)
        except OSError as problem:
            raise MdmemoryError(
                f"{self.command[0]} could not be started ({problem.strerror}).",
                f"Run `{self}` yourself, then this again.",
            ) from problem
        except subprocess.TimeoutExpired:
            raise MdmemoryError(
                f"{self.command[0]} did not end within {DEADLINE / 60:.0f} minutes.",
                f"Run `{self}` yourself, then this again.",
            ) from None
        if done.returncode:
            raise MdmemoryError(
                f"`{self}` failed (exit {done.returncode}).",
                "Its own words are above. Behind a proxy set HTTPS_PROXY, then run this again.",
            )


def adding(packages: Sequence[str], *, alone: bool = False) -> Installation:
    """How to add packages; `alone`: without those that they depend on."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file() and not alone:
        return _for_uv_tool(prefix / "uv-receipt.toml", packages)
    only = ["--no-deps"] if alone else []
    if (prefix / "pipx_metadata.json").is_file():
        arguments = ["--pip-args=--no-deps"] if alone else []
        return Installation((_found("pipx"), "inject", "mdmemory", *arguments, *packages))
    if find_spec("pip") is None:
        uv = [_found("uv"), "pip", "install", "--python", sys.executable]
        return Installation((*uv, *only, *packages))
    command = (sys.executable, "-m", "pip", "install", *only, *packages)
    marker = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    if sys.prefix == sys.base_prefix and marker.is_file():
        return Installation(
            ("pipx", "install", "mdmemory"),
            "This Python belongs to the system, which lets no packages be added to it: install "
            "mdmemory apart from it.",
        )
    return Installation(command)


def removing(packages: Sequence[str]) -> str:
    """The command that takes packages out again."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file():
        return str(_for_uv_tool(prefix / "uv-receipt.toml", (), without=packages))
    if (prefix / "pipx_metadata.json").is_file():
        return shlex.join(["pipx", "uninject", "mdmemory", *packages])
    if find_spec("pip") is None:
        uv = [_found("uv"), "pip", "uninstall", "--python", sys.executable]
        return shlex.join([*uv, *packages])
    return shlex.join([sys.executable, "-m", "pip", "uninstall", *packages])


def _for_uv_tool(
    receipt: Path, packages: Sequence[str], without: Sequence[str] = ()
) -> Installation:
    """`uv tool install` forgets what an earlier call asked for, unless it is named again."""
    import tomllib

    try:
        known = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
        own = next(each for each in known if each["name"] == "mdmemory")
        others = [
            _requirement(each)
            for each in known
            if each["name"] not in ("mdmemory", *without)
            and not any(new.startswith(each["name"]) for new in packages)
        ]
        tool = [*(["--editable"] if "editable" in own else []), _requirement(own)]
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        tool, others = ["mdmemory"], []
    added = [part for each in (*others, *packages) for part in ("--with", each)]
    return Installation((_found("uv"), "tool", "install", *added, *tool))


def _requirement(row: dict[str, Any]) -> str:
    """A line of the receipt as a command takes it."""
    extras = f"[{','.join(row['extras'])}]" if row.get("extras") else ""
    name = f"{row['name']}{extras}"
    if place := row.get("git"):
        return f"{name} @ git+{place}"
    if place := row.get("url"):
        return f"{name} @ {place}"
    if place := row.get("directory") or row.get("path") or row.get("editable"):
        return f"{place}{extras}"
    return f"{name}{row.get('specifier', '')}"


def _found(program: str) -> str:
    """The program beside our Python, which need not be on the PATH; else its name."""
    beside = Path(sys.executable).with_name(program)
    return str(beside) if beside.is_file() else program
