"""A pass over many notes against servers of all sizes.

A fake server on this machine has a window of 4, 8 or 128 thousand tokens, does or does not know
JSON mode, and answers with or without thoughts around the plan. Each pass has to end `applied` or
`noop`.
"""

import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

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


def passed(project: Path, window: int, form: str, dress: str) -> Outcome:
    """One pass over the store of `project` against such a server."""
    with FakeServer() as server:
        server.script.reply, server.script.forms = Answering(window, dress).reply, FORMS[form]
        environment = {
            **_nothing(project), "MDMEMORY_PLANNER": "openai", "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "none", "MEMORY_EXTRACT_MODEL": "openai/small",
            "MDMEMORY_DAILY_CALLS": "10000",
        }  # fmt: skip
        return Memory.open(project, environment=environment).compact()


def combinations() -> Iterator[tuple[int, str, str]]:
    """All servers, the smallest and plainest last."""
    yield from product(reversed(WINDOWS), FORMS, DRESSES)


def _nothing(folder: Path) -> dict[str, str]:
    """An environment in which nothing of this machine is read."""
    home = str(folder / ".git")
    return {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
