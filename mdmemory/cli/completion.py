"""The command that prints scripts for tab completion, and the manual page: completion.

All are made from the parsers of the commands when mdmemory is built: see hatch_build.py.
"""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from mdmemory.cli.options import PLACES
from mdmemory.errors import NotFound
from mdmemory.version import DISTRIBUTION


def run_completion(options: Namespace) -> int:
    if options.wanted != "stores":
        print(_installed_file(options.wanted).read_text(encoding="utf-8"), end="")
        return 0
    from mdmemory.cli.commands import open_layers
    from mdmemory.layers import MINE, USER

    layers = open_layers(options, automatic=True)
    for layer, memory in layers.each():  # each with what stands before a name of its notes
        prefix = MINE if layer == USER and layers.project is not None else ""
        print(f"{memory.project.store}\t{prefix}")
    return 0


def _installed_file(wanted: str) -> Path:
    """The file that was installed with the program. Raises NotFound."""
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError):
        for each in distribution(DISTRIBUTION).files or ():
            if each.as_posix().endswith(PLACES[wanted]):
                return Path(str(each.locate()))
    raise NotFound(f"{PLACES[wanted]} is not installed.", f"`pip install {DISTRIBUTION}` has it.")
