"""Which notes a message needs: rare words that meet, and nothing by chance."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date

import pytest
from bench import own, recall
from pace import FULL

from mdmemory.prompt.message_part import read_typed
from mdmemory.search.by_message import MOST, needed_notes
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import Document
from mdmemory.search.results import MEMORY
from mdmemory.search.sqlite import SQLite

TODAY = date(2026, 6, 15)
FACTS = {
    "port": "Orders billing listens on port 8087",
    "ledger": "Orders ledger is closed on the third working day",
    "carrier": "Orders leave with the carrier at noon",
    "波特率": "现场固件的串口波特率是 115200",
}


def document(name: str, fact: str) -> Document:
    return Document(
        MEMORY, f"{name}.md", "", "00", name, "", fact, "2026-01-01", chunks=(Chunk(1, 9, fact),)
    )


@pytest.fixture
def database() -> Iterator[SQLite]:
    with closing(SQLite(None, "test")) as made:
        made.put([document(name, fact) for name, fact in FACTS.items()])
        made.put([document(f"order-{n}", f"Orders of day {n} are sealed {n}x") for n in range(60)])
        yield made


def files(database: SQLite, text: str) -> Sequence[str]:
    return [hit.file for hit in needed_notes(database, read_typed(text), TODAY)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open the billing port in the firewall", ["port.md"]),
        ("写个工具连接串口，自动选波特率", ["波特率.md"]),
        ("fix the orders page", []),  # the word that all notes have says nothing
        ("which port is free?", []),  # one word is met by chance
        ("add a test and then update the file again", []),
        ("open the 1 2 3 in 2026", []),
        ("```\nbilling port\n```", []),
        ("for (port in billing) { port += billing[port]; }", []),
    ],
)
def test_two_rare_words_have_to_meet(database: SQLite, text: str, found: list[str]) -> None:
    assert files(database, text) == found


def test_no_more_notes_come_than_can_be_read(database: SQLite) -> None:
    same = "The kiln in the cellar smokes"
    database.put([document(f"kiln-{n}", same) for n in range(MOST + 3)])
    assert len(files(database, "why does the kiln in the cellar smoke?")) == MOST


def test_what_is_recalled_is_mostly_needed_and_most_messages_bring_nothing() -> None:
    """On messages that were looked at while the bar was set; docs/figures.md has the others."""
    corpus, messages = recall.read(own.DATA / "half-1")
    some = messages if FULL else messages[::2]
    with closing(SQLite(None, "test")) as database:
        database.put(corpus.documents)
        found = [(each, files(database, each.text)) for each in some]
    right = [file in each.needs for each, brought in found for file in brought]
    quiet = [not brought for each, brought in found if not each.needs]
    assert sum(right) >= 0.75 * len(right)
    assert sum(quiet) >= 0.9 * len(quiet)
