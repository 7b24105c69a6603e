"""A hook that gave up on its bridge: nothing is lost by it, and nothing is told twice."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from commands_host import CommandHost, context, first, shown
from pace import HUNG

from mdmemory.layers import Layers
from mdmemory.store import receipt_box
from mdmemory.store.receipt_box import Receipt

DEPLOYS = "Remember that deploys go out on Tuesdays only."
FILE = "project-deploys-go-out-on-tuesdays.md"


def test_an_answer_that_did_not_arrive_is_given_by_the_next_events(host: CommandHost) -> None:
    memory = Layers.open(host.folder).main
    receipt_box.leave(memory.project, Receipt("Compaction: 2 merged."), datetime.now(UTC))
    assert "8087" in first(host)
    host.lose()
    assert ("8087" in context(host.say("What else is there to do?"))) == (host.host == "gemini")
    assert "8087" not in context(host.say(DEPLOYS))
    assert "Deploys go out on Tuesdays only" in shown(host.stop())
    host.lose()
    assert "Deploys go out on Tuesdays only" in shown(host.say("What else is there to do?"))


@pytest.mark.parametrize("is_alone_first", [True, False])
def test_a_wish_that_hook_and_bridge_both_took_is_told_once(
    host: CommandHost, is_alone_first: bool
) -> None:
    host.start()
    prompt = {"prompt": DEPLOYS}
    if is_alone_first:
        host.alone("UserPromptSubmit", **prompt)
    host.send("UserPromptSubmit", **prompt)
    if not is_alone_first:
        host.alone("UserPromptSubmit", **prompt)
    assert shown(host.stop()).count("eploys go out on Tuesdays only") == 1
    assert shown(host.stop()) == ""
    layers = Layers.open(host.folder)
    assert [each.file for _, each in layers.notes()].count(FILE) == 1
    assert [each for box in layers._inboxes() for each in box.files()] == []


_LOADS = """
import sys
from pathlib import Path
from commands_host import CommandHost
host = CommandHost("claude", Path.cwd())
host.hooks.look()
assert not any(name.startswith("mdmemory.search.by_") for name in sys.modules)
host.start()
host.hooks.look()
before = {*sys.modules}
host.say("Where do deploys go out to?")
host.say("Remember that the printer is called Gutenberg.")
print(*sorted(name for name in {*sys.modules} - before if name.startswith("mdmemory.")))
"""
LATE = ["prompt.recalled"]  # for the few messages that need a note


def test_after_the_first_event_what_messages_need_is_loaded(work: Path, empty_home: Path) -> None:
    known = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "HOME": str(empty_home)}
    done = subprocess.run(
        [sys.executable, "-c", _LOADS], cwd=work, env=known, capture_output=True, text=True,
        timeout=HUNG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [f"mdmemory.{name}" for name in LATE]
