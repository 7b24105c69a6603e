"""Other memories beside ours, in one run: `make bench-peers`.

`python tests/bench/peers.py [--sizes 1000,10000]` installs qmd (npm) and hypermnesic (PyPI) into
`.bench-peers/` and prints what each costs on the same notes, beside plain git and a plain full-text
table: seconds of CPU of all its processes, and of wall time. Nothing of them is asked for vectors,
which need a model. A row that a peer has no command for stays empty.
"""

import argparse
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import plain
from bench.speed import measure
from bench.speed.measure import (
    Cost,
    FailedError,
    Starter,
    Step,
    Talking,
    inside,
    of_process,
    peak_of,
)
from bench.speed.rows import best_of, middle_of
from bench.speed.serving import HELLO, Server
from bench.speed.world import World, clean_environment, forget, git

HERE = Path(__file__).parents[2] / ".bench-peers"
QMD, BUN = "@tobilu/qmd", "bun"
HYPERMNESIC = "hypermnesic"
CLIENT = {**HELLO, "clientInfo": {"name": "bench", "version": "1"}}
LIMIT = 600.0  # seconds of one command of a peer
RUNS, WARM = 3, 30
ROWS = (
    "first index", "no change", "search, cold", "search, warm", "writing one note", "start",
    "start of its server",
)  # fmt: skip
# asks again and again in one process, as its server does, and prints the seconds of CPU of each
ASK_AGAIN = """
import contextlib, io, json, sys, time
from hypermnesic.cli import main
repo, *questions = sys.argv[1:]
for question in questions:
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(SystemExit):
            main(["retrieve", repo, question])
    print(time.process_time() - start)
"""

# its commands refuse to index without a key; this is how it opens its own proof without one
INDEX = (
    "import sys; from pathlib import Path; from hypermnesic.local_proof import"
    " _open_projected_index as index; index(Path(sys.argv[1]))"
)

Found = dict[str, Cost]  # by row


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000", help="numbers of notes, by commas")
    options.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    chosen = options.parse_args()
    install()
    told = {}
    for size in map(int, chosen.sizes.split(",")):
        with (
            tempfile.TemporaryDirectory(prefix="mdmemory-peers-") as name,
            clean_environment(Path(name) / "home") as env,
        ):
            env["PATH"] = f"{HERE / 'qmd/node_modules/.bin'}:{env['PATH']}"
            with Starter(Path(name), env) as starter:
                world = World(Path(name) / "world", size, starter)
                world.commit()
                found = {who: measured(who, world, env) for who in WHO}
        print(*markdown(size, found), "", sep="\n", flush=True)
        told[size] = {who: {row: vars(cost) for row, cost in of.items()} for who, of in
                      found.items()}  # fmt: skip
    if chosen.json:
        chosen.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def install() -> None:
    """The peers, in the folder that git does not look into; once."""
    if not (HERE / "qmd/node_modules/.bin/qmd").exists():
        (HERE / "qmd").mkdir(parents=True, exist_ok=True)
        words = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix")
        subprocess.run([*words, HERE / "qmd", QMD, BUN], check=True)
    if not (HERE / HYPERMNESIC / "bin" / HYPERMNESIC).exists():
        subprocess.run([loading(), "-m", "venv", HERE / HYPERMNESIC], check=True)
        pip = [HERE / HYPERMNESIC / "bin/python", "-m", "pip", "install", "--quiet", HYPERMNESIC]
        subprocess.run(pip, check=True)


def loading() -> str:
    """A Python whose SQLite loads extensions, which hypermnesic needs; this one where none does."""
    asks = "import sqlite3; sqlite3.Connection.enable_load_extension"
    for program in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        if Path(program).exists() and not subprocess.run(
            [program, "-c", asks], capture_output=True, check=False
        ).returncode:  # fmt: skip
            return program
    return sys.executable


def ours(world: World, env: dict[str, str]) -> Iterator[tuple[str, Cost]]:
    """mdmemory, by its commands and its MCP server."""
    yield "first index", best(lambda: world.ours("search", world.question), forget(world))
    world.settle()
    yield "no change", best(lambda: world.ours("index"))
    yield "search, cold", best(lambda: world.ours("search", world.question))
    server = Server(world, env)
    server.ask("initialize", **HELLO)
    find = lambda: server.call("memory_search", query=world.question)  # noqa: E731
    yield "search, warm", often(lambda: server.talking.step(find))
    server.talking.end()
    words = ("--type", "project", "--description", "The tea of the team is green", "With milk.")
    yield "writing one note", best(lambda: world.ours("add", world.name(), *words))
    yield "start", best(lambda: world.ours("--version"))
    yield "start of its server", best(lambda: _greeted(lambda: Server(world, env).talking))


def qmd(world: World, env: dict[str, str]) -> Iterator[tuple[str, Cost]]:
    """qmd, whose index lies in the home folder."""
    program = str(HERE / "qmd/node_modules/.bin/qmd")
    cache = Path(env["HOME"]) / ".cache" / "qmd"

    def run(*words: str) -> Cost:
        return world.starter.run(world.project, program, *words, limit=LIMIT)

    def anew() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(Path(env["HOME"]) / ".config" / "qmd", ignore_errors=True)

    adding = ("collection", "add", str(world.store), "--name", "notes", "--mask", "**/*.md")
    yield "first index", best(lambda: run(*adding), anew)
    yield "no change", best(lambda: run("update"))
    yield "search, cold", best(lambda: run("search", world.question))
    talking = Talking([program, "mcp"], world.project, env)
    turn = iter(range(1, 10**6))

    def ask(method: str, **params: object) -> object:
        message = {"jsonrpc": "2.0", "id": next(turn), "method": method, "params": params}
        return talking.ask(message)

    ask("initialize", **CLIENT)
    tools = ask("tools/list")
    assert isinstance(tools, dict)
    named = next(each["name"] for each in tools["tools"] if each["name"] in ("search", "query"))
    find = lambda: ask("tools/call", name=named, arguments={"query": world.question})  # noqa: E731
    yield "search, warm", often(lambda: talking.step(find))
    talking.end()
    yield "start", best(lambda: run("--help"))
    greet = lambda: Talking([program, "mcp"], world.project, env)  # noqa: E731
    yield "start of its server", best(lambda: _greeted(greet))


def hypermnesic(world: World, env: dict[str, str]) -> Iterator[tuple[str, Cost]]:
    """hypermnesic without a key, so without vectors, over a copy of the notes in git."""
    program = str(HERE / HYPERMNESIC / "bin" / HYPERMNESIC)
    python = str(HERE / HYPERMNESIC / "bin" / "python")
    vault = world.project.parent / "vault"
    shutil.copytree(world.store, vault)
    git(vault, "init", "-q")
    git(vault, "add", "-A")
    git(vault, "commit", "-q", "-m", "notes")

    def run(*words: str) -> Cost:
        return world.starter.run(vault, program, *words, limit=LIMIT)

    def anew() -> None:
        shutil.rmtree(vault / ".hypermnesic", ignore_errors=True)

    def index() -> Cost:
        return world.starter.run(vault, python, "-c", INDEX, str(vault), limit=LIMIT)

    yield "first index", best(index, anew, runs=2)
    yield "no change", best(lambda: run("converge", str(vault), "--now"))
    yield "search, cold", best(lambda: run("retrieve", str(vault), world.question))
    asked = [world.question for _ in range(WARM)]
    done = subprocess.run(
        [python, "-c", ASK_AGAIN, str(vault), *asked], capture_output=True, text=True, check=True,
        cwd=vault, env=env, timeout=LIMIT,
    )  # fmt: skip
    warm = median(map(float, done.stdout.split()[1:]))
    yield "search, warm", Cost(warm, warm)
    body = "# Tea\n\nThe tea of the team is green."

    def write() -> Cost:
        words = ("commit-note", str(vault), f"{world.name()}.md", "--body", body, "--commit")
        return run(*words, "--summary", "tea")

    yield "writing one note", best(write)
    yield "start", best(lambda: run("--help"))
    database = next((vault / ".hypermnesic").rglob("*.db"), None)
    if database:
        yield "start of its server", best(lambda: _listening(program, database, vault, env))


def floors(world: World, env: dict[str, str]) -> Iterator[tuple[str, Cost]]:
    """Plain git, and a plain full-text table of the same notes."""
    yield "first index", best(world.floors["plain table"])
    yield "no change", best(lambda: world.starter.run(world.project, "git", "status", "--short"))
    words = (sys.executable, "-c", "import sqlite3")
    yield "search, cold", best(lambda: world.starter.run(world.project, *words))
    database = sqlite3.connect(":memory:")
    plain.fill(database, world.texts.items())
    find = inside(lambda: plain.look(database, plain.terms(world.question), 6))
    yield "search, warm", often(find)
    yield "writing one note", best(world.floors["git add + commit"])
    yield "start", best(world.floors["bare Python"])


WHO: dict[str, Callable[[World, dict[str, str]], Iterator[tuple[str, Cost]]]] = {
    "mdmemory": ours, "qmd": qmd, HYPERMNESIC: hypermnesic, "plain git and FTS5": floors,
}  # fmt: skip


def measured(who: str, world: World, env: dict[str, str]) -> Found:
    """The rows of one of them, as far as it comes."""
    found: Found = {}
    try:
        for row, cost in WHO[who](world, env):
            found[row] = cost
    except (FailedError, subprocess.SubprocessError) as problem:
        print(f"{who} ended after {len(found)} rows: {problem}", file=sys.stderr)
    return found


def best(step: Step, before: Callable[[], object] = lambda: None, runs: int = RUNS) -> Cost:
    costs = []
    for _ in range(runs):
        before()
        costs.append(step())
    return best_of(costs)


def often(step: Step) -> Cost:
    return middle_of([step() for _ in range(WARM)][1:])


def _greeted(start: Callable[[], Talking]) -> Cost:
    """A server from nothing to its first answer."""

    def begin() -> Talking:
        talking = start()
        talking.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": CLIENT})
        return talking

    return measure.started(begin)


def _listening(program: str, database: Path, folder: Path, env: dict[str, str]) -> Cost:
    """A server from nothing until it takes connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [program, "serve", "--index-db", str(database), "--host", "127.0.0.1"]
    began = time.perf_counter()
    process = subprocess.Popen(
        [*words, "--port", str(port)], cwd=folder, env=env, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1.0).close()
            except OSError:
                time.sleep(0.01)
                continue
            wall = time.perf_counter() - began
            return Cost(of_process(process.pid), wall, peak_of(process.pid))
        raise FailedError(f"{program} serve ended with {process.returncode}")
    finally:
        process.terminate()
        process.wait()


def markdown(size: int, found: dict[str, Found]) -> Iterator[str]:
    """A table: CPU / wall in milliseconds, and MB where a process of its own did it."""
    yield f"| {size:,} notes: CPU / wall ms, MB | {' | '.join(found)} |"
    yield "|---|" + "---|" * len(found)
    for row in ROWS:
        cells = [_cell(costs[row]) if row in costs else "" for costs in found.values()]
        yield f"| {row} | {' | '.join(cells)} |"


def _cell(cost: Cost) -> str:
    memory = f", {cost.peak:.0f}" if cost.peak else ""
    return f"{_short(cost.cpu)} / {_short(cost.wall)}{memory}"


def _short(seconds: float) -> str:
    return f"{seconds * 1000:.0f}" if seconds >= 0.1 else f"{seconds * 1000:.1f}"


if __name__ == "__main__":
    sys.exit(main())
