"""The bench of turns plays calls as they were made, and counts what they leave."""

from pathlib import Path
from typing import Any

import pytest
from bench import extraction
from bench.loop import LoopCase, asked, judge, play

PORT = ("proxy-port", "project", "The proxy listens on 8080")
SAID = "the proxy is on 8443 now, fix the test"
CASE = LoopCase("1", "plain", "en", (PORT,), SAID, replaces=frozenset({PORT[0]}),
                facts=(("8443",),))  # fmt: skip
WISH = LoopCase("2", "new", "en", (PORT,), "remember that Lena reviews it", facts=(("lena",),),
                asks=True)  # fmt: skip


def store(**more: Any) -> dict[str, Any]:
    fact = {"fact": "The proxy listens on 8443", "type": "project"}
    return {"tool": "memory_store", "args": fact | more}


@pytest.mark.parametrize(
    ("case", "calls", "counts"),
    [
        (CASE, [store(quote="the proxy is on 8443 now", replaces=["project-proxy-port.md"])],
         {"settled": 1, "kept": 1, "proven": 1}),
        (WISH, [], {"wishes": 1, "kept": 1, "proven": 1}),
        (WISH, [store(declined="joke", quote="remember that Lena reviews it")], {"stored": 0}),
    ],
)  # fmt: skip
def test_what_the_calls_of_an_assistant_leave_is_counted(
    case: LoopCase, calls: list[dict[str, Any]], counts: dict[str, int]
) -> None:
    found = judge(case, play(case, calls))
    assert {name: found.get(name, 0) for name in counts} == counts
    assert not any(found.get(name) for name in ("wrong", "touched", "lost", "junk"))


def test_the_assistant_is_shown_the_index_and_what_the_hook_adds() -> None:
    told = asked(WISH)
    assert "The proxy listens on 8080" in told["system"]
    assert "The user asks to remember" in told["added"]


# What a blind reader found in sessions that no rule was made for is stored, or waits.

HALF = Path(extraction.__file__).parent / "extraction"


@pytest.mark.slow
def test_what_a_reader_finds_in_sessions_is_stored_or_waits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = str(HALF / "answers2.jsonl")
    assert extraction.main([str(HALF / "half2.jsonl"), "--answers", answers]) == 0
    *rows, totals = capsys.readouterr().out.splitlines()
    assert totals.startswith("sessions 12, facts 67, stored 64, changes 16, replaced 16, waiting 3")
    assert "lost" not in totals
    assert not [row for row in rows if "stored beside" in row]
