"""Records templates/demo/transcript.json again: a session of the real client, answers scripted.

`python tests/e2e/record_demo.py`, after `sh tests/e2e/client/install`. Paths of this machine are
replaced, and what only weighs is dropped; the structure stays the client's.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import ROOT, OpenCode
from fake_server import FakeServer

TRANSCRIPT = ROOT / "templates" / "demo" / "transcript.json"
PROJECT, HOME = "/home/user/project", "/home/user"

BEFORE = """\
def total(lines, rate):
    return sum(round(line * (1 + rate), 2) for line in lines)
"""
AFTER = """\
from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def total(lines: list[Decimal], rate: Decimal) -> Decimal:
    return (sum(lines, Decimal(0)) * (1 + rate)).quantize(CENT, ROUND_HALF_EVEN)
"""
TEST = """\
from decimal import Decimal

from totals import total


def test_tax_is_rounded_once():
    assert total([Decimal("0.05")] * 3, Decimal("0.1")) == Decimal("0.16")
"""

Step = Callable[[FakeServer], None]
SESSION: list[tuple[str, list[Step]]] = [
    (
        "Some invoices are off by a cent. Can you find out why? The sums are made in totals.py.",
        [
            lambda model: model.call("bash", command="cat totals.py", description="Show totals.py"),
            lambda model: model.say(
                "The tax is rounded on every line, and the rounding errors add up. Rounding once, "
                "on the sum, would fix it. The amounts are floats, which adds errors of its own."
            ),
        ],
    ),
    (
        "Good find. Round once, on the sum.\n"
        "Remember that amounts of money are always Decimal, never float, because the auditors "
        "rejected the 2025 report over rounding.",
        [
            lambda model: model.call("write", filePath="totals.py", content=AFTER),
            lambda model: model.say("Done: totals.py uses Decimal and rounds once, half to even."),
        ],
    ),
    (
        "现在加一个测试。\n记住：提交信息一律用中文写，不超过五十个字。",
        [
            lambda model: model.call("write", filePath="test_totals.py", content=TEST),
            lambda model: model.say("已添加 test_totals.py，检查三行各 0.05 的税只舍入一次。"),
        ],
    ),
    (
        "Leave the integration tests out for now.\n"
        "Don't remember this: the staging database is down until Friday.",
        [lambda model: model.say("Understood, only the unit tests.")],
    ),
    (
        "What do I need for the bank's side of this?\n"
        "Remember: the bank's API reference is at https://bank.example.com/docs/v3",
        [
            lambda model: model.say(
                "Their statement endpoint expects amounts as strings with two digits, which a "
                "quantized Decimal gives you."
            )
        ],
    ),
    ("Thanks, that is all.", [lambda model: model.say("You're welcome.")]),
]


def record(folder: Path) -> str:
    """Drive the session in `folder`; its export, scrubbed."""
    project, home = folder / "project", folder / "home"
    home.mkdir()
    _make_project(project)
    with FakeServer() as server, OpenCode(project, home, server.url) as client:
        session = client.new_session("Rounding of invoice totals")
        for said, steps in SESSION:
            for step in steps:
                step(server)
            client.send(session, said)
        export = client.export(session)
    text = export.replace(str(project), PROJECT).replace(str(home), HOME)
    return json.dumps(slim(json.loads(text)), ensure_ascii=False, indent=1) + "\n"


def slim(value: Any) -> Any:
    """Without snapshots and diffs, which are large and mean nothing elsewhere."""
    if isinstance(value, list):
        return [slim(item) for item in value if not _is_patch(item)]
    if not isinstance(value, dict):
        return value
    kept = {key: slim(item) for key, item in value.items() if key not in ("snapshot", "diff")}
    return {**kept, "diffs": []} if "diffs" in kept else kept


def _is_patch(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "patch"


def _make_project(project: Path) -> None:
    project.mkdir()
    (project / "totals.py").write_text(BEFORE, encoding="utf-8")
    person = ["-c", "user.name=A Person", "-c", "user.email=person@example.com"]
    for words in (["init", "-q"], ["add", "totals.py"], [*person, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", project, *words], check=True, timeout=60)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        recorded = record(Path(scratch))
    TRANSCRIPT.write_text(recorded, encoding="utf-8")
    print(f"{TRANSCRIPT.relative_to(ROOT)}: {len(recorded.encode())} bytes")
