"""How long `opencode run` takes: without us, with a project's own plugin, with the one of `setup`.

`python tests/bench/first_start.py [TIMES]`: the real client offline, against the scripted model;
the median of TIMES (5) runs of each, in turn. npm is spared, as after a first start online.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "e2e"), str(Path(__file__).parents[1])]

from client import PROGRAM as CLIENT  # noqa: E402
from client import environment  # noqa: E402
from fake_server import FakeServer  # noqa: E402
from pace import HUNG  # noqa: E402
from plugged import PROGRAM, spare_npm  # noqa: E402

WAYS = {
    "without a plugin": (),
    "a project's own plugin": ("init", "--shared", "--opencode"),
    "the plugin of setup": ("setup", "opencode"),
}


def place(folder: Path, words: tuple[str, ...]) -> tuple[Path, Path]:
    """A project and a home, connected by `words`."""
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com"]
    known = {**os.environ, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    for command in (["git", "init", "-q"], [*git, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(command, cwd=project, env=known, check=True, timeout=HUNG)
    if words:
        done = [PROGRAM, *words]
        subprocess.run(done, cwd=project, env=known, check=True, timeout=HUNG, capture_output=True)
    spare_npm(home / ".config/opencode")
    return project, home


def once(project: Path, home: Path, url: str) -> float:
    """The seconds of one turn, from the client's start to its end."""
    begun = time.monotonic()
    subprocess.run(
        [CLIENT, "run", "--title", "t", "hello"], cwd=project,
        env=environment(project, home, url), check=True, timeout=HUNG, capture_output=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return time.monotonic() - begun


def main() -> None:
    """Print a line for each way: the first run, and the median of those after it."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder, FakeServer() as server:
        places = {
            way: place(Path(folder) / str(at), words)
            for at, (way, words) in enumerate(WAYS.items())
        }
        taken: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(times + 1):
            for way, (project, home) in places.items():
                taken[way].append(once(project, home, server.url))
    for way, (first, *others) in taken.items():
        print(f"{way:<24} first {first:5.1f} s, then {statistics.median(others):5.1f} s")


if __name__ == "__main__":
    main()
