"""How long a page of `mdmemory web` takes to its first byte, at 10,000 notes.

`python tests/bench/web.py [--notes N]` makes a store, starts the command, and asks for each page
several times: as it is, and right after a note changed. Exit 1 where the median of a page whose
store did not change is over the promise. On a busy machine the CPU time of the server tells more.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from bench import many_notes  # noqa: E402
from bench.speed.world import clean_environment, git  # noqa: E402

PROMISE = 100.0  # ms
TRIES = 9
CHANGES = 40  # commits besides the first, each an edit of some note


def made(folder: Path, size: int, environment: dict[str, str]) -> tuple[Path, str]:
    """A project with so many notes and some history, and a note's file."""
    project = folder / "project"
    project.mkdir()
    git(project, "init", "-q")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    run(project, environment, "init")
    store = Path(json.loads(run(project, environment, "status", "--json"))["store"])
    files = many_notes.write_store(store, size)
    run(project, environment, "index")
    for number in range(CHANGES):
        file = files[number * 37 % len(files)]
        run(project, environment, "edit", file, f"Changed for the {number}th time.")
    run(project, environment, "search", "warm")
    return project, files[37]


def run(project: Path, environment: dict[str, str], *words: str) -> str:
    command = [sys.executable, "-P", "-m", "mdmemory", *words]
    done = subprocess.run(
        command, cwd=project, env=environment, check=True, text=True, stdout=subprocess.PIPE
    )
    return done.stdout


class Browser:
    """Asks one server, and takes the time to the first byte."""

    def __init__(self, address: str) -> None:
        host = address.partition("//")[2].partition("/")[0]
        self._host = host
        connection = HTTPConnection(host)
        connection.request("GET", address.partition(host)[2])
        answer = connection.getresponse()
        self._cookie = answer.headers["set-cookie"].partition(";")[0]
        answer.read()

    def get(self, path: str) -> tuple[float, str]:
        """The time in ms, and what the page says."""
        connection = HTTPConnection(self._host)
        connection.connect()
        begun = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = connection.getresponse()
        first = answer.read(1)
        took = (time.perf_counter() - begun) * 1000
        text = (first + answer.read()).decode()
        connection.close()
        assert answer.status == 200, (path, answer.status, text[:2000])
        return took, text


def cpu(pid: int) -> float:
    """The CPU time of a process in ms, 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def settled(browser: Browser, path: str) -> None:
    """Wait until a page shows the store of now."""
    while 'class="stale"' in browser.get(path)[1]:
        time.sleep(0.2)


def main() -> int:
    """Measure, print a table, and say whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    size = parser.parse_args().notes
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as at, clean_environment(Path(at) / "home") as env:
        project, file = made(Path(at), size, env)
        words = [sys.executable, "-P", "-m", "mdmemory", "web", "--no-open", "--json"]
        with subprocess.Popen(
            words, cwd=project, env=env, text=True, stdout=subprocess.PIPE
        ) as server:
            try:
                assert server.stdout is not None
                browser = Browser(json.loads(server.stdout.readline())["address"])
                return measured(browser, project, env, file, size, server.pid)
            finally:
                server.terminate()


def measured(
    browser: Browser, project: Path, environment: dict[str, str], file: str, size: int, pid: int
) -> int:
    """The table, and 1 where a page is over the promise."""
    note = f"/note/project/{file.removesuffix('.md')}"
    pages = ("/inbox", "/memory", "/memory?q=changed&status=in+force", "/memory?page=150",
             "/memory/index", note, f"{note}/edit", "/changes", "/changes/project/newest",
             "/compaction", "/search?q=who+changed+the+parcel", "/sessions", "/health")  # fmt: skip
    print(f"{size} notes, ms to the first byte{'':10}median  slowest      CPU  after a change")
    over = []
    for path in pages:
        settled(browser, path)
        before = cpu(pid)
        times = [browser.get(path)[0] for _ in range(TRIES)]
        used = (cpu(pid) - before) / TRIES
        time.sleep(2.2)  # a file so young counts as unsettled
        run(project, environment, "edit", file, f"At {time.time()}.")
        after = browser.get(path)[0]
        settled(browser, path)
        median = statistics.median(times)
        print(f"{path:<42}{median:>8.1f}{max(times):>9.1f}{used:>9.1f}{after:>16.1f}", flush=True)
        if median > PROMISE:
            over.append(path)
    for path in over:
        print(f"{path} takes longer than {PROMISE:.0f} ms.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
