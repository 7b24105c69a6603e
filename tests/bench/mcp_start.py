"""What the MCP server costs until its first answer, against a bare Python in the same run.

`python tests/bench/mcp_start.py` prints a line for `initialize` and one with `tools/list` after it:
CPU of the whole process (user and system), its ratio to `python -c pass`, and the most memory held.
The promise: `initialize` within 10 times bare Python and 30 MB.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

RUNS = 9
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}}


def line(method: str, params: object) -> bytes:
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(asked).encode() + b"\n"


def cost(words: list[str], said: bytes, cwd: Path, env: dict[str, str]) -> tuple[float, float]:
    """CPU in milliseconds, and the most memory that was held in MB once all was answered."""
    before, held = resource.getrusage(resource.RUSAGE_CHILDREN), 0.0
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *words], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=cwd,
        env=env,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        if said:
            process.stdin.write(said)
            process.stdin.flush()
            for _ in range(said.count(b"\n")):
                process.stdout.readline()
            status = Path(f"/proc/{process.pid}/status").read_text()
            held = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        process.stdin.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used * 1000, held


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "project"
        project.mkdir()
        env = {"PATH": os.environ["PATH"], "HOME": home}
        words = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-mx",
        )
        subprocess.run(("git", "init", "-q"), cwd=project, env=env, check=True)
        subprocess.run(("git", *words), cwd=project, env=env, check=True)
        ours = ["-P", "-m", "mdmemory"]
        for fact in ("I use zsh as my shell", "The CI runs on Debian 12"):
            made = [sys.executable, *ours, "add", fact]
            subprocess.run(made, cwd=project, env=env, check=True, capture_output=True)
        hello = line("initialize", HELLO)
        asked = {"initialize": hello, "with tools/list": hello + line("tools/list", {})}
        runs = [
            (cost(["-c", "pass"], b"", project, env)[0],
             *(cost([*ours, "mcp"], said, project, env) for said in asked.values()))
            for _ in range(RUNS)
        ]  # fmt: skip
        bare = median(run[0] for run in runs)
        for number, name in enumerate(asked, 1):
            used = median(run[number][0] for run in runs)  # type: ignore[index]
            held = median(run[number][1] for run in runs)  # type: ignore[index]
            print(f"{name}: {used:.0f} ms, {used / bare:.1f} x bare Python, {held:.0f} MB")


if __name__ == "__main__":
    main()
