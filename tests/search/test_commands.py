"""The command search, and `index --rebuild`."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from bench import own, recall
from pace import FULL
from search.conftest import note

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.prompt.message_part import read_typed
from mdmemory.search.by_message import MOST, needed_notes
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import Document
from mdmemory.search.results import MEMORY
from mdmemory.search.sqlite import SQLite

BODY = "One cup.\n\nTwo cups before noon.\nThe teapot \x1b[2J is brown.\nAnd\nso\non\n."


@pytest.fixture
def store(opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch) -> Path:
    memory = opened({
        "user-tea.md": note("tea", "Drinks green tea", BODY, "  created: 2026-06-01\n"),
        "user-rum.md": note("rum", "Never drinks rum", "Ever.", "  status: unconfirmed\n"),
    })  # fmt: skip
    monkeypatch.chdir(memory.project.root)
    return memory.project.store


@pytest.fixture
def say(store: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*words: str) -> tuple[int, str, str]:
        return (main(words), *capsys.readouterr())

    return run


Say = Callable[..., tuple[int, str, str]]


def test_the_answers_in_json(say: Say) -> None:
    code, out, err = say("search", "green", "tea", "--json")
    answer = json.loads(out)
    assert (code, err, answer["mode"]) == (0, "", "keyword")
    assert answer["hits"] == [{
        "file": "user-tea.md", "name": "tea", "start_line": 9, "end_line": 16, "score": 1.0,
        "source": "memory", "text": BODY, "title": "Drinks green tea",
        "date": "2026-06-01", "status": "", "superseded_by": "", "layer": "project", "project": "",
        "description": "Drinks green tea", "matched": ["tea", "green"], "cites": [],
    }]  # fmt: skip


def test_search_shows_place_words_and_the_lines_that_tell(say: Say) -> None:
    assert say("search", "brown teapot", "-k", "1")[1] == (
        "user-tea.md:9-16  teapot, brown\n    Drinks green tea\n"
        "    The teapot \ufffd[2J is brown.\n    And\n    so\n\n"
        "A match is no proof.\n"
    )
    assert "user-rum.md:9-9  [unconfirmed]  rum\n" in say("search", "rum")[1]


def test_matches_are_marked_on_a_terminal_only(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "The \x1b[1;33mteapot\x1b[0m \ufffd[2J" in say("search", "teapots")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in say("search", "teapots")[1]


def test_no_hit_is_no_failure(say: Say) -> None:
    assert say("search", "zebra") == (0, "No matches.\n", "")
    assert json.loads(say("search", "zebra", "--json")[1]) == {"mode": "keyword", "hits": []}
    code, _, err = say("search", "?")
    assert (code, err) == (0, "mdmemory: There is no word in the query to look for.\n")


def test_what_cannot_be_is_one_sentence(say: Say) -> None:
    for words, code in (
        *((("search",), 2), (("search", "tea", "-k", "0"), 2)),
        (("search", "tea", "--source", "moon"), 2),
        (("search", "tea", "--at", "HEAD"), 1),  # no git here
    ):
        got, out, err = say(*words)
        assert (got, out, err.count("\n")) == (code, "", 1)
        assert err.startswith("mdmemory: ")
        assert len(err) < 300


def test_an_index_is_made_anew_from_the_notes(say: Say, store: Path) -> None:
    say("search", "tea")
    database = store.parents[1] / ".mdmemory/search.db"
    before = database.stat().st_mtime_ns
    (store / "MEMORY.md").unlink()
    code, out, err = say("index", "--rebuild")
    assert (code, err) == (0, "")
    assert out == f"{store / 'MEMORY.md'} is up to date: 1 of 1 note.\n"
    assert database.stat().st_mtime_ns > before
    assert "user-tea.md" in (store / "MEMORY.md").read_text("utf-8")


# Which notes a message needs: rare words that meet, and nothing by chance.

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


def test_two_rare_words_have_to_meet(database: SQLite) -> None:
    for text, found in (
        ("open the billing port in the firewall", ["port.md"]),
        ("写个工具连接串口，自动选波特率", ["波特率.md"]),
        ("fix the orders page", []),  # the word that all notes have says nothing
        ("which port is free?", []),  # one word is met by chance
        ("add a test and then update the file again", []),
        ("open the 1 2 3 in 2026", []),
        ("```\nbilling port\n```", []),
        ("for (port in billing) { port += billing[port]; }", []),
    ):
        assert files(database, text) == found, text


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
