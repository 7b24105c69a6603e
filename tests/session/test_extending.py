"""docs/architecture.md on how to extend mdmemory, held to: one row of a table adds one of each."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pace import HUNG

import mdmemory
from mdmemory.config.settings import load_settings
from mdmemory.session import changes, failures, pruning, sections, session
from mdmemory.session.changes import Pattern
from mdmemory.session.failures import Category
from mdmemory.session.pruning import MARK, Rule
from mdmemory.session.sections import Slot
from mdmemory.session.session import SessionMemory, Threshold
from mdmemory.store.state import State

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
Patch = pytest.MonkeyPatch


@pytest.fixture
def own(tmp_path: Path) -> Iterator[SessionMemory]:
    (tmp_path / ".mdmemory").mkdir()
    with State(tmp_path / ".mdmemory/state.db") as state:
        yield SessionMemory(state, "ses_1", load_settings({}))


def test_a_category_of_errors_is_one_row(own: SessionMemory, monkeypatch: Patch) -> None:
    row = Category("deploy", r"terraform\b|kubectl apply\b", r"\bdenied\b")
    monkeypatch.setattr(failures, "CATEGORIES", (row, *failures.CATEGORIES))
    args = {"command": "terraform apply"}
    own.tool("bash", args, "plan\naccess denied\nend", exit_code=1, now=NOW)
    assert "- [deploy] access denied" in own.blocks()
    own.tool("bash", args, "", exit_code=0, now=NOW)
    own.new_epoch(now=NOW)
    assert "deploy]" not in own.blocks()


def test_a_pattern_and_a_slot_are_a_row_each(own: SessionMemory, monkeypatch: Patch) -> None:
    monkeypatch.setitem(sections.SLOTS, "questions", Slot(2))
    row = Pattern("questions", ("user",), r"\[Question:\s*(?P<text>[^\]\n]+)\]")
    monkeypatch.setattr(changes, "PATTERNS", (*changes.PATTERNS, row))
    for number in range(3):
        own.message("user", f"[Question: which port {number}]", now=NOW)
    shown = own.blocks()
    assert "questions:\n- which port 2\n" in shown
    assert "which port 0" not in shown
    assert own.clear("questions", now=NOW) == 2


def test_a_pruning_rule_is_one_row(monkeypatch: Patch) -> None:
    is_table = lambda lines, commands: lines[0].startswith("|")  # noqa: E731
    row = Rule("table", is_table, lambda lines, level: {0, 1, len(lines) - 1})
    monkeypatch.setattr(pruning, "RULES", (row, *pruning.RULES))
    text = "\n".join(["| a |", "|---|", *(f"| {n} and some more text |" for n in range(99))])
    done = pruning.prune(text, tool="bash", args={}, level="normal", where="x")
    assert done.rule == "table"
    kept = [line for line in done.text.split("\n") if not line.startswith(MARK)]
    assert kept == ["| a |", "|---|", "| 98 and some more text |"]


def test_a_threshold_is_one_row(own: SessionMemory, monkeypatch: Patch) -> None:
    row = Threshold("warm", 50, "aggressive", "Half of it is used.")
    monkeypatch.setattr(session, "THRESHOLDS", (*session.THRESHOLDS, row))
    said = own.message("user", "go", now=NOW, tokens=55, window=100)
    assert said == ["Context warm: about 55% full. Half of it is used."]
    lines = "\n".join(f"{'abc'[n % 3] * (n % 5 + 30)} {n}" for n in range(48))
    assert own.tool("mytool", {}, lines, now=NOW) is not None


def test_a_block_and_an_action_are_a_row_each(own: SessionMemory, monkeypatch: Patch) -> None:
    monkeypatch.setitem(sections.BLOCKS, "people", 300)
    monkeypatch.setitem(sections.ACTIONS, "review", 40)
    monkeypatch.setitem(changes.TOOLS, "review", "review")
    own.write("people", "Ann reviews", now=NOW)
    own.tool("review", {"filePath": "a.py"}, "", now=NOW)
    assert '<people chars="11/300">' in own.blocks()
    assert "- a.py (review, 1x)" in own.blocks()


TYPE = """
import sys
from mdmemory.note import limits
limits.TYPES += ("insight",)
from mdmemory.store import index
index.TYPE_WEIGHTS["insight"] = 3.0
index.CAPS["insight"] = 5
from mdmemory.cli import main
main(["init", "--shared"])
main(["add", "a-b", "--type", "insight", "--description", "Small steps win", "They do."])
sys.exit(main(["list", "--json"]))
"""


def test_a_type_of_notes_is_one_name_and_its_weights(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", TYPE], cwd=repository, env={**os.environ},
        capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = json.loads(done.stdout[done.stdout.index("[\n") :])
    assert (row["file"], row["type"], row["listed"]) == ("insight-a-b.md", "insight", True)
    assert row["strength"] == 4.2
    index = (repository / "notes/memory/MEMORY.md").read_text("utf-8")
    assert "## insight\n- [Small steps win](insight-a-b.md)" in index


def test_the_page_names_each_table_where_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs/architecture.md").read_text("utf-8")
    root = Path(mdmemory.__file__).parents[1]
    places = re.findall(r"((?:`\w+`\s+(?:and\s+)?)+)in\s+`(mdmemory/[\w/]+\.py)`", page)
    named = [(name, module) for names, module in places for name in re.findall(r"\w+(?=`)", names)]
    assert len(named) >= 12
    for table, module in named:
        text = (root / module).read_text("utf-8")
        assert re.search(rf"(?m)^(?: *def )?{table}\b", text), (table, module)
