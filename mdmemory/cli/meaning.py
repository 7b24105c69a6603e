"""Turning search by meaning on and off: what is missing is installed or named, a model fetched.

A setting is written only after its model made a vector.
"""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
import time
from argparse import Namespace
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mdmemory.cli.commands import agrees_to, count_noun, is_terminal, open_layers, warn_person
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.errors import MdmemoryError, NoStore
from mdmemory.memory import Memory
from mdmemory.search.local_models import Local, is_folder
from mdmemory.search.sources import local_model, missing_packages
from mdmemory.version import DISTRIBUTION

SETTINGS = ("search.embeddings", "search.embedding_model")
_MB = 1_000_000


def prepare_model(kind: str, model: str, options: Namespace) -> None:
    """Have all that this choice needs, or raise MdmemoryError."""
    if packages := missing_packages(kind, model):
        _install_packages(packages, options)
    if kind != "local":
        return
    local = local_model(model, person.models_folder())
    try:
        local.embed(["a first text"])
    except MdmemoryError:
        if not isinstance(local, Local) or is_folder(local.name):
            raise
        if not options.json:
            warn_person(
                f"Fetching {local.name} from huggingface.co into {local.cache}. "
                "Without a network this ends after 40 seconds."
            )
        local.fetch()
        local.embed(["a first text"])


def _install_packages(packages: list[str], options: Namespace) -> None:
    """Install packages, where the person at the terminal agrees. Raises MdmemoryError."""
    command = install_command(packages)
    step = f"Run `{shlex.join(command)}`, then this again."
    if asks := is_terminal() and not options.json:
        print(f"Search by meaning needs {' and '.join(packages)}, from the network, once.")
    if not (asks and agrees_to(f"Run `{shlex.join(command)}`?")):
        raise MdmemoryError(
            f"Search by meaning stays as it was: {' and '.join(packages)} "
            f"{'is' if len(packages) == 1 else 'are'} not installed.",
            step,
        )
    try:
        code = subprocess.run(command).returncode
    except OSError as problem:
        raise MdmemoryError(f"{command[0]} cannot be started: {problem.strerror}.", step) from None
    importlib.invalidate_caches()
    if code:
        raise MdmemoryError(f"{command[0]} ended with {code}, and nothing was changed.", step)


def install_command(packages: list[str]) -> list[str]:
    """What adds packages to the Python that runs mdmemory, by how it was installed there."""
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return ["pipx", "inject", DISTRIBUTION, *packages]
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", *packages]
    return ["uv", "pip", "install", "--python", sys.executable, *packages]


def turned_on(model: str, options: Namespace) -> dict[str, Any]:
    """Make the vectors of the notes here, and say so in one line; the same for JSON."""
    begun, notes = time.monotonic(), 0
    layers = list[Memory]()
    with suppress(NoStore):
        layers = open_layers(options).there()
    for memory in layers:
        with Progress(memory, json=options.json) as progress:
            done = memory.make_vectors(report=progress.step)
        notes += memory.counts()["notes"]
        for sentence in done.said:
            warn_person(sentence)
    seconds = time.monotonic() - begun
    name = local_model(model, person.models_folder()).name
    if not options.json:
        there = count_noun(notes, "note") if layers else "no notes here yet"
        print(f"Search by meaning is on: {there}, model {name}, {seconds:.1f} s.")
    return {"model": name, "notes": notes, "seconds": round(seconds, 1)}


def turned_off() -> list[str]:
    """What takes room for search by meaning, and can be deleted."""
    sentences = []
    folder = person.models_folder()
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    if size := sum(file.stat().st_blocks * 512 for file in files):
        room = f"{size / _MB:,.0f} MB"
        sentences.append(
            f"The models ({room}) lie in {folder}, where FASTEMBED_CACHE_PATH points: "
            "other programs may need them."
            if person.names_models_folder()
            else f"`rm -r {shlex.quote(str(folder))}` deletes the models ({room})."
        )
    sentences.append("`mdmemory index --rebuild` deletes the vectors of a store.")
    return sentences
