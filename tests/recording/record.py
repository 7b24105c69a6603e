"""Records docs/images/demo.svg: a short session in a terminal. `make recording` runs it.

Needs no network and no client of an assistant: `session.py` sends the messages to our hook itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from animation import Step, animated

HERE = Path(__file__).parent
RECORDING = HERE.parents[1] / "docs/images/demo.svg"
TITLE = "A terminal: mdmemory remembers a fact, replaces it, and takes that back"
_PERSON = "[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n"


def played() -> list[Step]:
    """The session, in a home folder of its own that has Claude Code's program and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        programs = home / ".local/bin"
        programs.mkdir(parents=True)
        client = programs / "claude"  # setup looks for it; nothing runs it
        client.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        client.chmod(0o755)
        (home / ".gitconfig").write_text(_PERSON, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(HERE / "session.py")],
            env={"HOME": str(home), "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
                 "PYTHONPATH": str(HERE.parent)},
            capture_output=True, text=True, check=True, cwd=home,
        )  # fmt: skip
    return [Step(*each) for each in json.loads(done.stdout)]


if __name__ == "__main__":
    RECORDING.parent.mkdir(exist_ok=True)
    drawn = animated(played(), TITLE)
    RECORDING.write_text(drawn, encoding="utf-8")
    print(f"{RECORDING.name}: {len(drawn.encode())} bytes")
