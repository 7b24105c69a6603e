"""The commands search, get, rebuild and watch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG
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
        code = main(words)
        return (code, *capsys.readouterr())

    return run


Say = Callable[..., tuple[int, str, str]]


def test_the_answers_in_json(say: Say) -> None:
    code, out, err = say("search", "green", "tea", "--json")
    answer = json.loads(out)
    assert (code, err, answer["mode"]) == (0, "", "keyword")
    assert answer["hits"] == [{
        "file": "user-tea.md", "name": "tea", "start_line": 9, "end_line": 16, "score": 1.0,
        "source": "memory", "text": BODY, "title": "tea", "date": "2026-06-01", "status": "",
        "superseded_by": "", "layer": "project", "project": "",
        "description": "Drinks green tea", "weak": False, "cites": [],
    }]  # fmt: skip
    assert json.loads(say("get", "user-tea.md:9-10", "--json")[1]) == {
        "file": "user-tea.md", "start_line": 9, "end_line": 10, "text": "One cup.\n",
        "to_verify": 0, "layer": "project",
    }  # fmt: skip
    rebuilt = {"files": 2, "chunks": 2}
    assert json.loads(say("rebuild", "--json")[1]) == {
        **rebuilt, "layers": [{"layer": "project", **rebuilt}],
    }  # fmt: skip


def test_search_shows_place_score_and_the_lines_that_tell(say: Say) -> None:
    assert say("search", "brown teapot", "-k", "1")[1] == (
        "user-tea.md:9-16  1.00\n    Drinks green tea\n"
        "    The teapot \ufffd[2J is brown.\n    And\n    so\n"
    )
    assert "user-rum.md:9-9  1.00  [unconfirmed]\n" in say("search", "rum")[1]


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
        (("get", "../../etc/passwd"), 2),
        (("get", "/etc/passwd:1-2"), 2),
        (("get", "gone.md"), 1),
        (("get", ""), 2),
        (("get", "a" * 100_000), 1),
        (("get", "/" * 100_000), 2),
        (("get", "user-tea.md:9-2"), 2),
        (("get", "user-tea.md:0-2"), 2),
        (("get", "user-tea.md:900"), 1),
        (("watch", "more"), 2),
    ],
)
def test_what_cannot_be_is_one_sentence(say: Say, words: tuple[str, ...], code: int) -> None:
    got, out, err = say(*words)
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert err.startswith("mdmemory: ")
    assert len(err) < 300


def test_get_prints_the_lines_as_they_stand(say: Say, store: Path) -> None:
    assert say("get", "user-tea.md:9-11") == (0, "One cup.\n\nTwo cups before noon.\n", "")
    assert say("get", "user-tea.md:9")[1] == "One cup.\n"
    assert say("get", "user-tea")[1] == (store / "user-tea.md").read_text("utf-8")


def test_rebuild_says_what_it_made(say: Say, store: Path) -> None:
    done = f"from 2 notes in {store} (2 pieces).\n"
    assert say("rebuild")[1] == f"Rebuilt MEMORY.md and the search database {done}"
    assert say("rebuild", "--db")[1] == f"Rebuilt the search database {done}"


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_watch_keeps_all_fresh_and_closes_cleanly(store: Path, stop: signal.Signals) -> None:
    words = [sys.executable, "-P", "-m", "mdmemory", "watch"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "Read user-rum.md, user-tea.md.\n"
        assert running.stdout.readline() == f"Watching {store}. Stop: Ctrl-C.\n"
        (store / "user-new.md").write_text(note("new", "Likes milk"), "utf-8")
        assert running.stdout.readline() == "Read user-new.md.\n"
        assert "Likes milk" in (store / "MEMORY.md").read_text("utf-8")
        running.send_signal(stop)
        assert running.communicate(timeout=HUNG) == ("Stopped.\n", "")
    assert running.returncode == 0
    assert not list((store.parents[1] / ".mdmemory").glob("search.db-*"))
