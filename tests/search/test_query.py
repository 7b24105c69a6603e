"""What a query looks for, whatever was typed."""

import re
from collections.abc import Callable, Iterator
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from mdmemory.search import sqlite
from mdmemory.search.answer import answer_query
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import Document, unlink_text
from mdmemory.search.query import LONGEST, mark_words, parse
from mdmemory.text import dates
from mdmemory.text.search_words import RULES, index_text
from mdmemory.text.similarity import nearest_known

TODAY = date(2026, 6, 12)


def looked_for(text: str) -> list[str]:
    """The terms of a query, by the English rule alone."""
    found = [
        "|".join(map("+".join, term.ways)) + "*" * term.prefix
        for term in parse(text, TODAY).terms
        if not term.is_other
    ]
    others = re.compile(rf"[|]?[^|*]*[{''.join(RULES.values())}]")
    return sorted(others.sub("", term).strip("|") for term in found)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What is the database of Billing?", ["bill", "databas|db|datenbank"]),
        ("a PR in prod", ["prod|product|produkt", "pr|pull+request"]), ("db*", ["db*"]),
        ("what is it", ["is", "it", "what"]),  # nothing else is left
        ("pnp* or npm", ["npm", "pnp*"]),
        ("index.max_chars", ["char", "index", "index+max+char", "max"]),
        ("Ruby 3.11", ["3+11|v3+11", "rubi"]),
        ("Ruby v3.11.2", ["11", "2", "rubi", "v3", "v3+11+2|3+11+2"]),
        ("我们用什么数据库？", ["库*", "据*", "据库", "数*", "数据"]), ("的", ["的*"]),
        ("ＡＢＣ", ["abc"]), ("AND NEAR( \"x\" * OR y -z ^", ["near", "x", "y", "z"]),
        ("\x00\x1b[31m ??? \ud800", ["31m"]), ("", []), ("?!", []),
    ],
)  # fmt: skip
def test_terms(text: str, terms: list[str]) -> None:
    assert looked_for(text) == terms


def test_what_stands_in_quotes_is_a_phrase() -> None:
    query = parse('the "row level security" of “数据库迁移”', TODAY)
    assert [term.ways[0] for term in query.phrases] == [
        ("row", "level", "secur"), ("数据", "据库", "库迁", "迁移")
    ]  # fmt: skip


def test_a_query_of_any_length_is_cut() -> None:
    assert len(parse(" ".join(f"word{n}" for n in range(20_000)), TODAY).terms) < 100
    assert parse("x" * LONGEST + " tea", TODAY).words == {"x" * LONGEST}


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[[str], list[str]]]:
    database = sqlite.SQLite(None, "x")
    database.put([
        Document("memory", "a.md", "", "", name="tea", description="likes 茶",
                 chunks=(Chunk(1, 1, "Green tea, 绿茶, at 9:30 on 2026-06-01."),))
    ])  # fmt: skip

    def files(query: str) -> list[str]:
        found = answer_query(database, query, source="memory", k=3, today=TODAY)
        return [hit.file for hit in found.hits]

    yield files
    database.close()


@settings(max_examples=30, deadline=None)
@given(text=some.text(max_size=80))
@example(text='"" * ^ NEAR(a b, 3) {x y}: - + AND OR NOT')
@example(text="²x ǅ 𝟘 ⅷ a\u0301 ́ ก้าว 🙂*")
@example(text='"\u0301 \u0302" \u0301* tea')
def test_nothing_that_is_typed_is_syntax(ask: Callable[[str], list[str]], text: str) -> None:
    ask(text)


@pytest.mark.parametrize(
    "text", ["green teas", "绿茶", "茶", '"green tea"', "gree*", "9:30", "tea on June 1"]
)
def test_what_is_there_is_found(ask: Callable[[str], list[str]], text: str) -> None:
    assert ask(text) == ["a.md"]


def test_camel_case_is_also_its_parts_and_links_are_set_apart() -> None:
    assert index_text("parseTranscript of GitHub") == "parsetranscript pars transcript of github"
    assert index_text("用数据库.") == "用数 数据 据库 库"
    assert unlink_text("See [[a-b|the one]] and [[c]].") == ("See   and  .", "a-b c")


def test_a_slip_or_two_are_forgiven_in_long_words_only() -> None:
    known = ["postgr", "docker", "cat", "kubernet"]
    assert nearest_known("docekr", known) == ("docker",)
    assert nearest_known("kubernteesx", ["kubernetes"]) == ("kubernetes",)
    assert nearest_known("cta", known) == ()
    assert nearest_known("rocket", known) == ()
    assert nearest_known("broken", ["broker", "brokn"]) == ("brokn",)  # a letter more or less


def test_marks_find_the_words_of_a_query_in_a_text() -> None:
    def marked(query: str, text: str) -> list[str]:
        return [text[start:end] for start, end in mark_words(query, text)]

    text = "The database and its data: 数据库, Databases"
    assert marked("Which databases use 数据库?", text) == ["database", "数据库", "Databases"]
    assert marked("dat*", "a date, the data") == ["date", "data"]
    assert marked("?!", text) == []


# Dates said and dates written, as the words that stand for them.

WEEK = [f"2026060{day}" for day in range(1, 8)]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("2026-06-01", ["20260601"]), ("in 2026-05", ["202605"]),
        ("on June 3, 2025", ["20250603"]), ("3 June", ["20260603"]),
        ("July 4", ["20250704"]),  # that of this year is still to come
        ("June 2026", ["202606"]), ("Sept 2025", ["202509"]), ("Sept 12, 2025", ["20250912"]),
        ("am 3. Juni", ["20260603"]), ("3. März 2026", ["20260303"]),
        ("3 de junio de 2025", ["20250603"]), ("le 3 août", ["20250803"]),
        ("3.6.2026", ["20260603"]), ("2026/06/03", ["20260603"]), ("Juni 2026", ["202606"]),
        ("set 12 and out 3", []),  # Italian and Portuguese months, and English words
        ("version 3.6.2 and 10.4.0.12", []), ("gestern", ["20260611"]),
        ("vor drei Tagen", ["20260609"]), ("vor dem Release", []),
        ("letzten Dienstag", ["20260609"]), ("diesen Freitag", ["20260612"]),
        ("am Freitag", ["freitag", "20260605"]), ("letzten Monat", ["202605"]),
        ("la semana pasada", WEEK), ("一昨日", ["20260610"]), ("三天前", ["20260609"]),
        ("3日前", ["20260609"]), ("지난달", ["202605"]), ("3일 전", ["20260609"]),
        ("two years ago", ["2024"]), ("the past 2 days", ["20260612", "20260611", "20260610"]),
        ("sep 2025", ["202509"]), ("2026年5月3日", ["20260503"]), ("last Tuesday", ["20260609"]),
        ("last friday", ["20260605"]), ("this Friday", ["20260612"]),
        ("on Friday", ["friday", "20260605"]),  # or any
        ("yesterday", ["20260611"]), ("前天", ["20260610"]), ("three days ago", ["20260609"]),
        ("2 months ago", ["202604"]), ("last month", ["202605"]), ("last year", ["2025"]),
        ("去年", ["2025"]), ("last week", WEEK), ("a week ago", [*WEEK[1:], "20260608"]),
        ("may I ask about version 3.11 and 2026-13-45 and 99 bottles", []),
    ],
)  # fmt: skip
def test_what_is_asked_for(said: str, words: list[str]) -> None:
    found, _ = dates.asked_dates(f"what about {said} then", TODAY)
    assert [word for ways in found for word in ways] == words


def test_words_of_time_are_taken_out_of_the_query() -> None:
    assert dates.asked_dates("decisions of last week on tea", TODAY)[1].split() == [
        "decisions", "of", "on", "tea"
    ]  # fmt: skip


def test_a_text_has_the_words_of_its_own_dates_and_of_those_known() -> None:
    words = dates.date_words("Changed on 2026-05-12, decided 20 Nov 2025.", ("2026-06-01",)).split()
    assert {"20260601", "june", "20260512", "may", "20251120", "202511", "november"} <= set(words)
    assert dates.date_words("no date at all, 1234-99-99") == ""
