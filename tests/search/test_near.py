"""The notes near a text are asked of the search database; without one they are found as well."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from search.conftest import note

from mdmemory import Memory
from mdmemory.search import near, sources, sqlite
from mdmemory.search.near import near_in, near_notes, scan_notes
from mdmemory.search.project import FILE
from mdmemory.store.store import StoredNote
from mdmemory.text.similarity import likeness_of, rank_texts

TEXTS = {
    "user-deploys.md": note("deploys", "The deploys of the ledger go out on Tuesdays"),
    "user-ledger.md": note("ledger", "The ledger is kept in PostgreSQL 15"),
    "user-answers.md": note("answers", "Bevorzugt kurze Antworten mit Beispielen"),
    "user-korean.md": note("korean", "배포는 화요일에 한다"),
}
ASKED = [
    ("When does the ledger deploy? Tuesday?", "user-deploys.md"),
    ("Our ledger runs on postgres", "user-ledger.md"),
    ("eine kurze Antwort, ein Beispiel", "user-answers.md"),
    ("화요일에만 배포한다", "user-korean.md"),
]


@pytest.fixture
def large(opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory whose store is too large to be scanned."""
    monkeypatch.setattr(near, "SCANNED", 1)
    more = {f"user-n{n}.md": note(f"n{n}", f"Likes song number {n}") for n in range(20)}
    return opened({**TEXTS, **more})


def stored(memory: Memory) -> list[StoredNote]:
    return memory._refresher().store.notes()


@pytest.mark.parametrize(("text", "file"), ASKED)
def test_a_large_store_is_asked_and_a_small_one_scanned(
    large: Memory, text: str, file: str
) -> None:
    notes = stored(large)
    find = near_in(large._refresher())
    assert find(text, notes)[0].file == scan_notes(text, notes)[0].file == file
    assert (large.project.private / FILE).exists()
    assert file not in [each.file for each in find(text, [n for n in notes if n.file != file])]


def test_a_note_that_changed_just_now_is_near(large: Memory) -> None:
    assert near_in(large._refresher())("zebra", stored(large)) == []
    (large.project.store / "user-n1.md").write_text(note("n1", "Feeds a zebra"), "utf-8")
    found = near_in(large._refresher())("zebras", stored(large))
    assert [each.file for each in found] == ["user-n1.md"]
    few = near_notes(large._refresher())("likes a song")
    assert len(few) == near.NEAR, "the nearest six are read, and no more"


def test_without_a_database_all_notes_are_read(
    large: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise sqlite.UnusableError("cannot be used")

    monkeypatch.setattr(sqlite, "use_file", broken)
    assert near_in(large._refresher())(ASKED[1][0], stored(large))[0].file == ASKED[1][1]


class Meaning:
    """An encoder that knows one thing: a queue is where messages wait."""

    model = "scripted"

    def embed(self, texts: list[str]) -> list[list[int]]:
        return [[1, 0] if re.search("queue|messages wait", text) else [0, 1] for text in texts]


def test_meaning_answers_beside_words_once_the_encoder_is_warm(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened({**TEXTS, "user-broker.md": note("broker", "RabbitMQ runs the queue")})
    text = "messages wait for PostgreSQL"
    assert [each.file for each in near_notes(memory._refresher())(text)] == ["user-ledger.md"]
    monkeypatch.setattr(sources, "_chosen_encoder", lambda _: SimpleNamespace(is_warm=False))
    assert sources.warm_encoder(memory.project) is None, "nobody waits for it"
    monkeypatch.setattr(sources, "warm_encoder", lambda _: Meaning())
    monkeypatch.setattr(near, "SCANNED", 0)
    found = [each.file for each in near_notes(memory._refresher())(text)]
    assert {*found[:2]} == {"user-ledger.md", "user-broker.md"}


@pytest.mark.parametrize("text", ["", "?!", "the of and", "\ud800", "*" * 5_000, "NEAR(a b) OR"])
def test_a_text_without_words_is_near_nothing(large: Memory, text: str) -> None:
    assert near_in(large._refresher())(text, stored(large)) == []


def test_the_rarer_word_decides_and_length_does_not() -> None:
    texts = ["tea tea tea", "tea and a zebra", "tea " * 50, "rum"]
    assert rank_texts("a zebra with tea", texts)[0] == 1
    assert 3 not in rank_texts("tea", texts)
    assert likeness_of(set(), set()) == 0
    assert likeness_of({"a", "b"}, {"b", "c"}) == 0.5
