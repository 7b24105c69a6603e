"""A quote counts where the turn says it, if nearly; what it proves are the words of the turn."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mdmemory.capture import quotes
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.claims import invented
from mdmemory.capture.proof import Proof, heard, prove
from mdmemory.transcripts.turns import MAX_CHARS, Turn

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/quotes.jsonl").read_text("utf-8").splitlines()
]
NOON = 12 * 3600


def proof_of(row: dict[str, Any]) -> Proof:
    day = datetime.fromisoformat(row["day"]).replace(tzinfo=UTC)
    time = int((day.timestamp() + NOON) * 1000)
    turns = [Turn(f"m{at}", who, text, time) for at, (who, text) in enumerate(row["said"])]
    claim = row["claim"]
    candidate = Candidate("add", row["type"], "", "name", claim, claim, "", row["quote"])
    return prove(candidate, row["type"], heard(turns))


def is_proven(row: dict[str, Any]) -> bool:
    found = proof_of(row)
    return found.by_user and not found.dropped and not found.waits


def said(text: str, quote: str) -> quotes.QuotePlace | None:
    return quotes.find(quote, quotes.Words(text))


def test_quotes_as_models_spoil_them_are_proven_and_wrong_ones_are_not() -> None:
    found = Counter((row["proven"], is_proven(row)) for row in ROWS)
    wrong = [row["quote"] for row in ROWS if not row["proven"] and is_proven(row)]
    assert wrong == []
    assert found[True, True] >= 80
    assert found[True, False] <= 1
    assert found[False, False] == 69


def test_what_counts_are_the_words_of_the_turn() -> None:
    text = "So basically we just never deploy after four in the afternoon, ask Sam why."
    near = said(text, "User: We never deploy … in the afternoon")
    assert near == quotes.QuotePlace("we just never deploy after four in the afternoon", True)
    row = {"type": "feedback", "day": "2026-06-19", "said": [["user", text]]}
    row |= {"quote": "we never deploy after four in the afternoon", "claim": "Never deploys late"}
    assert proof_of(row).words == "we just never deploy after four in the afternoon"


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("We do not use yarn in the monorepo.", "use yarn in the monorepo"),
        ("Wir wollen keine Tabs in den Vorlagen.", "Tabs in den Vorlagen"),
        ("テストは並列で実行しないでください。", "テストは並列で実行"),
    ],
)
def test_words_that_their_sentence_denies_are_not_proven(text: str, quote: str) -> None:
    row = {"type": "project", "day": "2026-06-19", "said": [["user", text]], "quote": quote,
           "claim": quote}  # fmt: skip
    assert proof_of(row).waits == ("weak_evidence",)


def test_what_was_nearly_proven_waits() -> None:
    row = {"type": "project", "day": "2026-06-19", "claim": "Reviews of the parser go to Priya",
           "said": [["user", "Reviews of the parser go to Priya before they are merged."]],
           "quote": "Reviews of the parser go to Priya before they are finished"}  # fmt: skip
    assert (proof_of(row).dropped, proof_of(row).waits) == ("", ("weak_evidence",))
    assert proof_of({**row, "quote": "Reviews of 2 parsers go to Priya"}).dropped == "no_evidence"


@pytest.mark.parametrize("text", ["a " * 12_000, "在" * MAX_CHARS, "ab cd ... " * 2_400])
def test_a_quote_is_looked_for_in_bounded_time(text: str) -> None:
    quote = text[: quotes.LONGEST - 2] + "b"
    assert (said(text, quote) or quotes.QuotePlace("", False)).surely is False
    assert said(text, quote + text) is None


@pytest.mark.parametrize(
    ("claim", "source", "is_given"),
    [
        ("2026-06-26", "next Friday", True), ("2026-07-03", "in two weeks", True),
        ("2026-07-10", "next Friday", False), ("26 June 2026", "morgen", False),
        ("20.06.2026", "ab morgen", True), ("2026-07-02", "next month", True),
        ("2029-12-01", "December 1st", False), ("2027-01-05", "5. Januar", True),
        ("June 2026", "tomorrow", True), ("2026-06-31", "June 31", False),
    ],
)  # fmt: skip
def test_a_date_follows_from_what_was_said_on_its_day(
    claim: str, source: str, is_given: bool
) -> None:
    assert (invented(f"It ends {claim}.", [f"it ends {source}"], "2026-06-19") == []) is is_given


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("the port is 8443", "AWS_PORT=8443"), ("Runs on `AWS_PROFILE`", "AWS_PROFILE=acme"),
        ("20,000 rows, 85%, at 17:00", "20k rows, 85 percent, at 5pm"),
        ("12 months", "twelve months"),
        ("On MongoDB and GitHub", "on mongo and gh"), ("Katrins Plan", "the plan of Katrin"),
    ],
)  # fmt: skip
def test_another_form_of_what_was_said_is_not_invented(claim: str, source: str) -> None:
    assert invented(claim, [source], "2026-06-19") == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("`acme-prod` it is", "AWS_PROFILE=acme"), ("20,000 rows", "20 rows"), ("85%", "85 rows"),
        ("at 17:30", "at 5pm"), ("Ask Dora", "ask Lena"), ("24 months", "twelve months"),
    ],
)  # fmt: skip
def test_another_value_is_invented(claim: str, source: str) -> None:
    assert invented(f"Then {claim}", [source], "2026-06-19") != []
