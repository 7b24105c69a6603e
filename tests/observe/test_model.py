"""A batch through the real `openai` client, from the command line: asked, counted, kept."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fake_server import FakeServer, system_text, user_texts
from pace import HUNG

from mdmemory import Memory
from mdmemory.observe import queue

pytestmark = pytest.mark.slow

LONG = "The gateway answers 429 above twenty requests a second, says the log."


def test_the_chosen_model_makes_a_batch_short_and_the_call_is_counted(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, _ = Memory.init(repository)
    now = datetime.now(UTC)
    with memory.observations().state() as state:
        queue.tool_used(state, "ses_1", "bash", {"command": "tail gateway.log"}, LONG, now)
    told = {
        "number": "1", "type": "discovery", "title": "The limit is 20 a second", "narrative": "",
        "facts": [], "concepts": [], "files": [], "importance": "4",
    }  # fmt: skip
    with FakeServer() as server:
        server.say(json.dumps({"observations": [told]}))
        server.say(json.dumps(dict.fromkeys(
            ("request", "investigated", "learned", "completed", "next_steps"), "It is so."
        )))  # fmt: skip
        for name, value in {
            "MDMEMORY_PLANNER": "openai", "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none",
            "MDMEMORY_OBSERVE": "1",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        words = [sys.executable, "-P", "-m", "mdmemory", "session", "ses_1", "--work"]
        done = subprocess.run(
            [*words, "--json"], cwd=repository, capture_output=True, text=True, timeout=HUNG
        )
        first, second = server.requests
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["kept"], said["waiting"], said["failure"]) == (1, 0, None)
    assert said["summary"]["learned"] == "It is so."
    assert "make the work of tools short" in system_text(first)
    assert "tail gateway.log" in user_texts(first)[0]
    assert "The limit is 20 a second" in user_texts(second)[0]
    (kept,) = memory.observations().newest()
    assert (kept.draft.title, kept.draft.importance) == ("The limit is 20 a second", 4)
    with memory.observations().state() as state:
        rows = state.rows("SELECT purpose, calls FROM model_call")
    assert rows == [("observe", 2)]
