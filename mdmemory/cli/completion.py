"""The command that prints scripts for tab completion, and the manual page: completion.

All are made from the parsers of the commands when mdmemory is built: see hatch_build.py.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from mdmemory.errors import NotFound
from mdmemory.version import DISTRIBUTION

# what is printed, and where it lies below the prefix of an installed mdmemory
PLACES = {
    "bash": "share/bash-completion/completions/mdmemory",
    "zsh": "share/zsh/site-functions/_mdmemory",
    "fish": "share/fish/vendor_completions.d/mdmemory.fish",
    "man": "share/man/man1/mdmemory.1",
}


def completion_options(parser: ArgumentParser) -> None:
    """Options of `completion`."""
    parser.add_argument(
        "wanted", choices=(*PLACES, "stores"), metavar="WHAT",
        help="bash, zsh or fish: the script for this shell\nman: the manual page\n"
        "stores: the folders of notes, for the scripts",
    )  # fmt: skip


def run_completion(options: Namespace) -> int:
    """Print a script that lets the tab key complete commands, options and names of notes, or print
    the manual page."""
    if options.wanted == "stores":
        print("\n".join(_note_folders(options)))
    else:
        print(_installed_file(options.wanted).read_text(encoding="utf-8"), end="")
    return 0


def _installed_file(wanted: str) -> Path:
    """The file that was installed with the program. Raises NotFound."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        for each in distribution(DISTRIBUTION).files or ():
            if each.as_posix().endswith(PLACES[wanted]):
                return Path(str(each.locate()))
    except PackageNotFoundError:
        pass
    raise NotFound(f"{PLACES[wanted]} is not installed.", f"`pip install {DISTRIBUTION}` has it.")


def _note_folders(options: Namespace) -> Iterator[str]:
    """The folders of notes that count here, each with what stands before a name of its notes."""
    from mdmemory.cli.output import open_layers
    from mdmemory.layers import MINE, USER

    layers = open_layers(options, automatic=True)
    for layer, memory in layers.each():
        prefix = MINE if layer == USER and layers.project is not None else ""
        yield f"{memory.project.store}\t{prefix}"
