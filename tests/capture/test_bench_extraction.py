"""What a blind reader found in sessions that no rule was made for is stored, or waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import extraction

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
