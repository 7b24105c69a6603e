"""The command search, and `index --rebuild`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from search.conftest import note

from mdmemory import Memory
from mdmemory.cli import main

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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("search",), 2),
        (("search", "tea", "-k", "0"), 2),
        (("search", "tea", "--source", "moon"), 2),
        (("search", "tea", "--at", "HEAD"), 1),  # no git here
    ],
)
def test_what_cannot_be_is_one_sentence(say: Say, words: tuple[str, ...], code: int) -> None:
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
