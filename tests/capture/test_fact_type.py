"""A fact gets the type that a person would give it: who it is about, and what."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mdmemory.capture.candidates import Candidate
from mdmemory.capture.fact_type import SCORES, languages_of, signs, type_of
from mdmemory.capture.gate import judge
from mdmemory.capture.proof import heard, prove
from mdmemory.text.wordlists import CJK, LATIN
from mdmemory.transcripts.turns import Turn

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "types.jsonl").read_text("utf-8").splitlines()
]


def test_the_sentences_have_their_types_in_each_language() -> None:
    assert len(ROWS) >= 500
    wrong = [row for row in ROWS if type_of(row["text"])[0] != row["type"]]
    assert len(wrong) <= 0.02 * len(ROWS), wrong
    for field in ("lang", "type"):
        total, missed = (Counter(row[field] for row in rows) for rows in (ROWS, wrong))
        assert all(missed[each] <= 0.05 * total[each] for each in total), missed
    assert {row["lang"] for row in ROWS} == {*LATIN, *CJK}


@pytest.mark.parametrize(
    "fact",
    [
        "we decided to use SQLite", "wir haben uns für Svelte entschieden",
        "on a choisi de rester sur Postgres", "hemos decidido quedarnos con Postgres",
        "abbiamo deciso di restare su Postgres", "decidimos ficar com Postgres",
        "我们决定继续用 Postgres", "SQLiteに決めた", "SQLite로 결정했다",
    ],
)  # fmt: skip
def test_a_decision_of_the_project_is_marked_as_one(fact: str) -> None:
    assert type_of(fact) == ("project", "decision")


CHOICES = [
    "let's use SQLite for the cache", "Let's go with Postgres for the orders",
    "Lass uns SQLite für den Cache nehmen", "On va utiliser SQLite pour le cache",
    "Usemos SQLite para la caché", "Vamos usar SQLite para o cache",
    "我们用 SQLite 做缓存吧", "キャッシュはSQLiteにしましょう", "캐시는 SQLite로 하자",
]  # fmt: skip


@pytest.mark.parametrize("said", CHOICES)
def test_lets_use_is_a_decision_that_a_model_may_propose(said: str) -> None:
    assert type_of(said) == ("project", "decision")
    assert judge(said, type="project", source="extraction").accepted
    quote = Candidate("add", "project", "decision", "cache", said, said, "", said)
    assert prove(quote, "project", heard([Turn("1", "user", said)])).dropped == ""


@pytest.mark.parametrize("said", ["let's fix the failing test", "Lass uns den Test reparieren"])
def test_lets_do_some_work_is_no_decision(said: str) -> None:
    assert type_of(said)[1] == ""
    assert not judge(said, type="project", source="extraction").accepted


def test_every_sign_has_its_scores() -> None:
    found = set().union(*(signs(row["text"]) for row in ROWS))
    assert found - {"choice"} == set(SCORES) - {""}


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("the board is in Linear", ("en",)), ("der Server heißt Orion", ("de",)),
        ("Rust 1.80", LATIN), ("用 pnpm 安装", ("zh",)), ("テストはpytest", ("ja",)),
    ],
)  # fmt: skip
def test_a_fact_is_read_in_its_own_language(text: str, languages: tuple[str, ...]) -> None:
    assert languages_of(text) == languages
