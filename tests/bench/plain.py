"""The floor that every figure stands beside: a plain full-text table, made as well as one can.

Any of the words that its language does not pass over (`stop-words.yaml`), by their stems, over one
column with the whole note and its date in words. Chinese, Japanese and Korean, which no tokenizer
of SQLite cuts, are looked for in pairs of characters. Nothing here is ours, so it stays as it is
whatever becomes of our own word lists.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import yaml
from bench.retrieval import DEPTH, Finder, Hits

STOP_WORDS = Path(__file__).with_name("stop-words.yaml")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_HANGUL = "[\uac00-\ud7af]"
_RUN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@contextmanager
def plain(texts: Iterable[tuple[str, str]]) -> Iterator[Finder]:
    """Search over (file, whole text)."""
    with closing(sqlite3.connect(":memory:")) as database:
        fill(database, texts)
        yield lambda question: Hits(
            tuple(look(database, terms(question.text, question.lang), DEPTH))
        )


def fill(database: sqlite3.Connection, texts: Iterable[tuple[str, str]]) -> None:
    """The table, with these texts in it."""
    database.execute(
        "CREATE VIRTUAL TABLE t USING fts5 (file UNINDEXED, text, tokenize = 'porter unicode61')"
    )
    database.executemany(
        "INSERT INTO t VALUES (?, ?)", ((file, spaced(text)) for file, text in texts)
    )


def look(database: sqlite3.Connection, match: str, depth: int) -> list[str]:
    """The files that match best; none for an empty match."""
    query = "SELECT file FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?"
    return [file for (file,) in database.execute(query, (match, depth))] if match else []


def terms(text: str, lang: str = "") -> str:
    """The question as FTS5 is asked it."""
    stop = stop_words(lang)
    found = []
    for run in _RUN.findall(text.lower()):
        if re.match(f"[{_CJK}]", run):
            found += _pairs(run, stop)
        elif run not in stop:
            found.append(run)
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(found))


def spaced(text: str) -> str:
    """The text with a space after each character of a script without spaces."""
    return re.sub(f"([{_CJK}])", r" \1 ", text)


def in_words(day: str) -> str:
    """A date `YYYY-MM-DD` as it is written and as it is said."""
    year, month, number = day.split("-")
    return f"{day} {int(number)} {_MONTHS[int(month) - 1]} {year}"


@cache
def stop_words(lang: str) -> frozenset[str]:
    """The words that a language passes over; those of all where it is not known."""
    lists = {name: text.split() for name, text in _lists().items()}
    return frozenset(lists.get(lang) or [word for some in lists.values() for word in some])


def _pairs(run: str, stop: frozenset[str]) -> list[str]:
    """Each two neighbours of a run as a phrase, without those that say nothing."""
    if run in stop:
        return []
    pieces = [run]
    if not re.match(_HANGUL, run):  # Korean has spaces; of the others a word lies inside a run
        inside = sorted((word for word in stop if re.match(f"[{_CJK}]", word)), key=len)
        pieces = [piece for piece in re.split("|".join(inside[::-1]) or "$^", run) if piece]
    return [
        pair
        for piece in pieces
        for pair in ([" ".join(piece[at : at + 2]) for at in range(len(piece) - 1)] or [piece])
    ]


@cache
def _lists() -> dict[str, str]:
    lists: dict[str, str] = yaml.safe_load(STOP_WORDS.read_text("utf-8"))
    return lists
