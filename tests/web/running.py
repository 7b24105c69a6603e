"""`mdmemory web` as a process of its own, on the stores of a folder."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pace import HUNG


@contextmanager
def running(
    project: Path, environment: Mapping[str, str], *options: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address with its token, and the process, which is ended by Ctrl-C."""
    words = [sys.executable, "-P", "-m", "mdmemory", "web", "--no-open", "--json", *options]
    process = subprocess.Popen(
        words, cwd=project, env={**environment}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate(timeout=HUNG)
        yield json.loads(line)["address"], process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=HUNG)
