"""A pass over many notes against servers of all sizes: `python tests/bench/passes.py [--notes N]`.

A fake server on this machine has a window of 4, 8 or 128 thousand tokens, does or does not know
JSON mode, and answers with or without thoughts around the plan. Each pass has to end `applied` or
`noop`; exits 1 where one does not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench.answering import Answering
from compact.realistic import store
from fake_server import FakeServer

from mdmemory import Memory
from mdmemory.compact.runner import Outcome
from mdmemory.note import editing, limits

WINDOWS = (4_096, 8_192, 131_072)
FORMS = {"JSON mode": frozenset(("json_schema", "json_object")), "no JSON mode": frozenset[str]()}
DRESSES = ("plain", "think")
GOOD = ("applied", "noop")


@dataclass(frozen=True)
class Passed:
    """How a pass ended, and what the server saw: `asked` requests, of which `refused` too long."""

    outcome: Outcome
    asked: int
    refused: int
    seconds: float

    def __str__(self) -> str:
        done, cost = self.outcome, self.outcome.tokens
        return (
            f"{done.outcome:8} {len(done.applied):4} ops  {cost.calls:3} calls {self.asked:4}"
            f" requests {self.refused:3} too long  {cost.input:7} in {cost.output:6} out"
            f" {self.seconds:6.1f} s"
        )


def planted(folder: Path, total: int, seed: int = 1) -> Path:
    """A project with a store of so many notes, all of them committed."""
    folder.mkdir(parents=True)
    git = ["git", "-C", str(folder)]
    for words in (("init", "-q", "-b", "main", "--template="), ("config", "user.name", "A Person"),
                  ("config", "user.email", "person@example.com")):  # fmt: skip
        subprocess.run([*git, *words], check=True)
    memory, _ = Memory.init(folder, store="notes", environment=_nothing(folder))
    for type, name, description, body in store(total, seed):
        text = editing.compose(name=name, type=type, description=description, body=body)
        (memory.project.store / limits.file_name(type, name)).write_text(text, encoding="utf-8")
    memory.index()
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "notes"], check=True)
    return folder


def passed(project: Path, window: int, form: str, dress: str) -> Passed:
    """One pass over the store of `project` against such a server."""
    with FakeServer() as server:
        model = Answering(window, dress)
        server.script.reply, server.script.forms = model.reply, FORMS[form]
        environment = {
            **_nothing(project), "MDMEMORY_PLANNER": "openai", "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "none", "MEMORY_EXTRACT_MODEL": "openai/small",
            "MDMEMORY_DAILY_CALLS": "10000",
        }  # fmt: skip
        begun = time.monotonic()
        outcome = Memory.open(project, environment=environment).compact()
        seconds = time.monotonic() - begun
        return Passed(outcome, len(server.requests), model.refused, seconds)


def combinations() -> Iterator[tuple[int, str, str]]:
    """All servers, the smallest and plainest last."""
    yield from product(reversed(WINDOWS), FORMS, DRESSES)


def _nothing(folder: Path) -> dict[str, str]:
    """An environment in which nothing of this machine is read."""
    home = str(folder / ".git")
    return {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--notes", type=int, default=500)
    options.add_argument("--window", type=int, choices=WINDOWS, help="only this one")
    chosen = options.parse_args()
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        template = planted(Path(folder) / "template", chosen.notes)
        for number, (window, form, dress) in enumerate(combinations()):
            if chosen.window not in (None, window):
                continue
            project = shutil.copytree(template, Path(folder) / str(number))
            done = passed(project, window, form, dress)
            bad += done.outcome.outcome not in GOOD
            print(f"{window:7} {form:12} {dress:6} {done}", flush=True)
            for code, why in done.outcome.refusals[:3]:
                print(f"        {code}: {why}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
