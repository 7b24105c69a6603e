"""What our plugin costs a turn in the real OpenCode client, and what it adds to the client's start.

`python tests/bench/client_hooks.py [TURNS]` prints medians of the hooks, measured inside the client
around the plugin's own, in a store of 1,000 notes; needs `sh tests/e2e/client/install`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench.many_notes import write_store
from client import OpenCode
from fake_server import Answer, FakeServer

from mdmemory import Memory

NOTES = 1_000
OUTPUT = 8_000  # characters that the tool of every other turn prints
TARGETS = {"init": 150.0, "chat.message": 20.0, "tool.execute.after": 2.0}  # milliseconds
# Loaded in place of the plugin: calls it, and notes how long each hook took.
TIMED = """
import plugin from "./timed/mdmemory"
import { appendFileSync } from "node:fs"
// Written when all is quiet: a write would hold up what waits for the client's one thread.
let lines = ""
let writing
const write = () => (appendFileSync(process.env.TIMES, lines), (lines = ""))
const note = (hook, start) => {
  lines += JSON.stringify([hook, performance.now() - start]) + "\\n"
  clearTimeout(writing)
  writing = setTimeout(write, 300)
}
export default {
  id: "timed",
  server: async (...given) => {
    const start = performance.now()
    const hooks = await plugin.server(...given)
    note("init", start)
    const timed = {}
    for (const [name, hook] of Object.entries(hooks))
      timed[name] = typeof hook !== "function" ? hook : async (...args) => {
        const start = performance.now()
        await hook(...args)
        note(name, start)
      }
    return timed
  },
}
"""


def prepared(folder: Path, *, plugin: bool) -> tuple[Path, Path]:
    """A project with the store, wired, and the home of its client."""
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    (home / ".config/opencode").mkdir(parents=True)
    for words in ("init -q", "config user.name x", "config user.email x@example.com",
                  "commit -q --allow-empty -m first"):  # fmt: skip
        subprocess.run(["git", "-C", project, *words.split()], check=True)
    memory, _ = Memory.init(project)
    write_store(memory.project.store, NOTES)
    memory.index()
    words = [Path(sys.executable).with_name("mdmemory"), "init", "--opencode", "--no-npm"]
    env = {**os.environ, "HOME": str(home)}
    subprocess.run(words, cwd=project, env=env, check=True, capture_output=True)
    ours = project / ".opencode/plugin/mdmemory.ts"
    if plugin:
        (ours.parent / "timed").mkdir()
        ours.rename(ours.parent / "timed/mdmemory.ts")
        (ours.parent / "timed.ts").write_text(TIMED, encoding="utf-8")
    else:
        ours.unlink()
    return project, home


def ready(project: Path, home: Path, server: FakeServer, times: Path) -> tuple[float, OpenCode]:
    """Seconds from the client's start to its first answered turn."""
    start = time.perf_counter()
    client = OpenCode(project, home, server.url, TIMES=str(times)).__enter__()
    client.send(client.new_session(), "hello")
    return time.perf_counter() - start, client


def talk(client: OpenCode, server: FakeServer, turns: int) -> None:
    """So many turns in one session, every other with a tool call."""
    session = client.new_session("measured")
    for turn in range(turns):
        if turn % 2:
            command = f"yes 'tests/test_queue.py::test_is_empty PASSED {turn}' | head -c {OUTPUT}"
            server.call("bash", command=command, description="prints")
        server.say("Done.")
        client.send(session, f"question {turn} about the tests of the queue")


def main(turns: int) -> None:
    """Measure and print."""
    starts = {}
    with tempfile.TemporaryDirectory() as place, FakeServer() as server:
        server.script.default = Answer("Done.")
        times = Path(place, "times")
        for plugin in (False, True, False, True):
            project, home = prepared(Path(tempfile.mkdtemp(dir=place)), plugin=plugin)
            took, client = ready(project, home, server, times)
            starts.setdefault(plugin, []).append(took)
            if plugin and len(starts[True]) == 2:
                talk(client, server, turns)
            time.sleep(1)  # until the times are written
            client.stop()
        found: dict[str, list[float]] = defaultdict(list)
        for line in times.read_text(encoding="utf-8").splitlines():
            hook, took = json.loads(line)
            found[hook].append(took)
    for plugin, words in ((False, "without"), (True, "with")):
        print(f"start to first turn, {words} the plugin: {min(starts[plugin]):.1f} s")
    for hook, took_all in sorted(found.items()):
        aim = f"  (target {TARGETS[hook]:g})" if hook in TARGETS else ""
        print(f"{hook:<42} p50 {median(took_all):8.2f} ms of {len(took_all)}{aim}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
