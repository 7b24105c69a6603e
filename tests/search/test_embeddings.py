"""Search by meaning: chosen by a person or not at all, and words go on without it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer
from pace import HUNG
from search.conftest import NOW, note, write_settings
from search.conftest import TEA_AND_WHERE as NOTES

from mdmemory import Memory
from mdmemory.errors import MdmemoryError
from mdmemory.llm import openai_api
from mdmemory.search import database, embeddings
from mdmemory.search import database as databases
from mdmemory.search.database import UnusableError
from mdmemory.search.results import Found
from mdmemory.search.sqlite import SQLite

Opened = Callable[..., Memory]
Patch = pytest.MonkeyPatch
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def unknown_models(monkeypatch: Patch) -> None:
    monkeypatch.setattr(embeddings, "_sizes", {})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.script.dimensions = 64
        yield running


@pytest.fixture
def chosen(opened: Opened, server: FakeServer, empty_home: Path, monkeypatch: Patch) -> Opened:
    """A memory whose person chose the fake server; `lines` are more of their settings."""
    monkeypatch.setattr(openai_api, "PAUSES", (0.01, 0.01, 0.01))
    monkeypatch.setattr(openai_api, "TIMEOUT", HUNG)

    def begin(notes: dict[str, str], *lines: str, off: bool = False) -> Memory:
        address = [f'openai.base_url = "{server.url}"', 'openai.api_key = "k-123"']
        kind = [] if off else ['search.embeddings = "openai"']
        write_settings(empty_home, *address, *lines, *kind)
        return opened(notes)

    return begin


def files(found: Found) -> list[str]:
    return [hit.file for hit in found.hits]


def by_words(found: Found, said: str) -> None:
    """Only by its words is the note about tea found, and it is said why."""
    assert (found.mode, files(found)) == ("keyword", ["user-tea.md"])
    assert said in " ".join(found.said)


def sent(server: FakeServer) -> list[list[str]]:
    """The texts of each request."""
    return [body["input"] for body in server.script.embedded]


def put(memory: Memory, name: str, says: str) -> None:
    (memory.project.store / f"user-{name}.md").write_text(note(name, says), "utf-8")


def test_a_text_in_other_words_is_found_and_one_in_the_same_stays(chosen: Opened) -> None:
    memory = chosen(NOTES)
    found = memory.search("hosting")
    assert (found.mode, files(found)) == ("hybrid", ["project-where.md"])
    found = memory.search("green tea")
    assert (found.mode, files(found)[0], found.said) == ("hybrid", "user-tea.md", ())
    assert all(0 <= hit.score <= 1 for hit in found.hits)


def test_when_words_cannot_be_looked_for_meaning_goes_on(
    chosen: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = chosen(NOTES)

    def fails(*_: object) -> None:
        raise UnusableError("has a bad day")

    monkeypatch.setattr(SQLite, "best", fails)
    found = memory.search("hosting")
    assert (found.mode, files(found)) == ("vectors", ["project-where.md"])
    assert "only its meaning" in found.said[0]


def test_a_key_alone_sends_nothing(chosen: Opened, server: FakeServer) -> None:
    found = chosen(NOTES, off=True).search("green tea")
    assert (found.mode, server.script.embedded) == ("keyword", [])


def test_each_text_is_sent_once_and_what_changes_again(chosen: Opened, server: FakeServer) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    memory.search("x")
    where, tea = "where: Runs on AWS\nAll of it in Frankfurt.", "tea: Drinks green tea\nTwo cups"
    assert sent(server) == [[where, f"{tea} before noon."], ["x"]]
    assert server.script.keys == ["Bearer k-123"] * 2
    path = memory.project.store / "user-tea.md"
    path.rename(path.with_name("user-tea-2.md"))  # the same text elsewhere
    put(memory, "new", "Fresh")
    memory.search("y")
    assert sent(server)[2:] == [["new: Fresh"], ["y"]]


def test_requests_grow_and_no_search_waits_for_all_texts(
    chosen: Opened, server: FakeServer, monkeypatch: Patch
) -> None:
    memory = chosen({f"user-{n}.md": note(f"n-{n}", f"Fact {n}") for n in range(130)})
    monkeypatch.setattr(embeddings, "BATCH", 30)
    monkeypatch.setattr(embeddings, "EACH_SEARCH", 100)
    monkeypatch.setattr(embeddings, "QUICK", HUNG)  # however slow this machine is
    steps: list[str] = []
    found = memory.search("x", report=lambda *step: steps.append(step[2]))
    sizes = [*map(len, sent(server))]
    assert sizes == [8, 16, 30, 30, 16, 1], "the last one is the question"
    until = "until the next searches have made their vectors."
    assert found.said == (f"30 texts are searched by words only {until}",)
    assert "texts for search by meaning" in steps
    assert memory.rebuild(search_only=True).said == ()


def test_a_server_that_was_too_slow_is_asked_for_fewer_and_what_it_made_stays(
    chosen: Opened, server: FakeServer, monkeypatch: Patch
) -> None:
    memory = chosen({f"user-{n}.md": note(f"n-{n}", f"Fact {n}") for n in range(30)})
    monkeypatch.setattr(embeddings, "QUICK", 0.0)  # as if each answer took long

    def fail(*_: object) -> list[bytes]:
        raise MdmemoryError("The server did not answer.", "Try again later.")

    with monkeypatch.context() as broken:
        broken.setattr(embeddings, "embed_texts", fail)
        memory.search("x")
    memory.search("x")
    assert [*map(len, sent(server))] == [4] * 7 + [2, 1], "30 texts, and the question"


def test_nothing_leaves_that_is_a_secret(chosen: Opened, server: FakeServer) -> None:
    held = {
        "user-key.md": note("key", "Zebra", f"It is {SECRET}."),
        "user-open.md": note("open", "Allowed", f"It is {SECRET}.", "  secrets: allowed\n"),
    }
    chosen(held).search(f"who has {SECRET} and the tea?")
    told = str(sent(server))
    assert (SECRET in told, "Zebra" in told, "[redacted:" in told) == (False, False, True)


def test_no_key_goes_to_an_address_that_it_is_not_for(chosen: Opened, server: FakeServer) -> None:
    chosen(NOTES, f'search.embedding_url = "{server.url}"').search("x")
    assert set(server.script.keys) == {"Bearer none"}


def test_the_calls_of_a_day_are_limited_and_do_not_count_as_a_models(
    chosen: Opened, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("mdmemory.llm.choose.EMBEDDING_CALLS", 2)
    memory = chosen(NOTES, "llm.daily_calls = 1")
    assert memory.search("tea").mode == "hybrid"
    assert memory.search("tea").mode == "hybrid", "its vector is kept"
    by_words(memory.search("green tea"), "2 times today")
    with memory.state() as state:
        assert state.begin_call("2026-06-12", "extract", "m", 1)
        assert not state.begin_call("2026-06-12", "extract", "m", 1)


def test_vectors_that_could_not_be_kept_are_not_asked_for(
    chosen: Opened, server: FakeServer
) -> None:
    memory = chosen(NOTES)
    memory.project.prepare_private()
    (memory.project.private / "search.db").symlink_to("elsewhere.db")
    by_words(memory.search("green tea"), "cannot be kept")
    assert server.script.embedded == []


def test_without_the_key_that_a_host_wants_there_is_a_sentence(chosen: Opened) -> None:
    memory = chosen(NOTES, 'search.embedding_url = "https://api.openai.com/v1"')
    by_words(memory.search("green tea"), "no key for api.openai.com")


ROW = b'{"index": 0, "embedding": %s}'
NUMBERS = b"[" + b",".join([b"1"] * 64) + b"]"


def rows(*vectors: bytes) -> bytes:
    """The body of an answer with these vectors."""
    return b'{"data": [' + b", ".join(ROW % each for each in vectors) + b"]}"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"status": 0}, "cannot be reached"),
        ({"status": 404}, "knows no model"),
        ({"status": 401}, "did not accept the key"),
        ({"status": 307}, "did not take the texts"),
        ({"body": b"<html>"}, "no list of vectors"),
        ({"body": b"{}"}, "no list of vectors"),
        ({"body": rows(b'"AAAA"')}, "no list of vectors"),
        ({"body": rows(NUMBERS)}, "1 vectors for 2 texts"),
        ({"body": rows(NUMBERS, b"[1, 2]")}, "2 numbers instead"),
        ({"body": rows(*[NUMBERS.replace(b"1", b"NaN", 1)] * 2)}, "without a direction"),
        ({"body": rows(*[NUMBERS.replace(b"1", b'"a"', 1)] * 2)}, "something else than numbers"),
        ({"sent": 20}, "hung up before"),
    ],
)
def test_words_are_enough_whatever_a_server_does(
    chosen: Opened, server: FakeServer, how: dict[str, object], said: str
) -> None:
    memory = chosen(NOTES)
    server.misbehave(**how)
    found = memory.search("green tea")
    by_words(found, said)
    assert "k-123" not in found.said[0]
    assert memory.search("green tea").mode == "hybrid", "and the next search tries again"


def asks(server: FakeServer, folder: Path, **how: Any) -> openai_api.EmbeddingAPI:
    state = folder / "state.db"
    return openai_api.EmbeddingAPI("m", server.url, "", state, "2026-06-12", 9, str, **how)


def test_a_busy_server_is_asked_again_after_one_two_and_four_seconds(
    server: FakeServer, tmp_path: Path
) -> None:
    slept: list[float] = []
    api = asks(server, tmp_path, sleep=slept.append)
    for status in (429, 503, 500):
        server.fail(status)
    assert len(api.embed(["a"])[0]) == 64
    assert slept == [1.0, 2.0, 4.0]
    for _ in range(4):
        server.fail(502)
    with pytest.raises(MdmemoryError, match="gives no vectors for now"):
        api.embed(["a"])


def test_a_server_that_hangs_is_not_waited_for(server: FakeServer, tmp_path: Path) -> None:
    api = asks(server, tmp_path, timeout=0.2)
    for how in ({"delay": 5.0}, {"drip": 0.05}, {"headers_drip": 0.05}):
        openai_api._late.clear()
        server.misbehave(**how)
        with pytest.raises(MdmemoryError, match=r"within 0\.2 s"):
            api.embed(["a"])
    asked = len(server.script.embedded)
    with pytest.raises(MdmemoryError, match="a moment ago"):
        api.embed(["a"])
    assert len(server.script.embedded) == asked, "nor once more by the next search"
    openai_api._late.clear()


def test_texts_that_are_refused_do_not_take_the_others_along(
    chosen: Opened, server: FakeServer
) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    put(memory, "new", "Far too long")
    server.fail(400)
    found = memory.search("hosting")
    assert (found.mode, files(found)) == ("hybrid", ["project-where.md"])
    assert "refused these texts (400)" in found.said[0]


def test_another_model_makes_other_vectors_and_the_old_ones_go(
    chosen: Opened, server: FakeServer
) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    other = chosen(NOTES, 'search.embedding_model = "another"')
    assert files(other.search("hosting")) == ["project-where.md"]
    with closing(SQLite(memory.project.private / "search.db", databases.STAMP)) as kept:
        rows = kept._rows("SELECT DISTINCT model FROM embeddings ORDER BY model")
    name = f"{server.url[7:-3]} another"
    assert [each for (each,) in rows] == [name, f"queries of {name}"]


def test_vectors_outlive_another_form_of_the_tables_but_no_rebuild(
    chosen: Opened, server: FakeServer, monkeypatch: Patch
) -> None:
    root = chosen(NOTES).project.root
    again = partial(Memory.open, root, clock=lambda: NOW)
    again().search("x")
    monkeypatch.setattr(databases, "STAMP", "another")
    again().search("x")
    assert [*map(len, sent(server))] == [2, 1]
    again().rebuild(search_only=True)
    assert [*map(len, sent(server))] == [2, 1, 2]


def test_a_process_reads_its_vectors_again_only_when_they_changed(
    chosen: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    memory.search("x")
    read: list[int] = []
    before = database.make_space
    monkeypatch.setattr(database, "make_space", lambda *given: read.append(1) or before(*given))
    assert files(memory.search("hosting")) == ["project-where.md"]
    assert read == []
    (memory.project.store / "project-where.md").unlink()
    assert files(memory.search("hosting")) == []


def test_the_nearest_are_those_of_the_greatest_cosine() -> None:
    rows = [[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, 0.0]]
    space = database.make_space([2, 3, 5, 9], b"".join(database.pack_vectors(rows, 4)), 2)
    (asked,) = database.pack_vectors([[1.0, 0.1]], 1)
    found, low = space.nearest(asked, 2, [9, 3, 4, 77])
    assert [*found] == [2, 5, 3, 9]
    assert found[2] == pytest.approx(0.995, abs=1e-3)
    assert low == pytest.approx(-0.995, abs=1e-3)
    assert database.make_space([], b"", 2).nearest(asked, 2) == ({}, 0.0)


def test_without_numpy_nothing_is_sent_and_search_goes_by_words(
    chosen: Opened, server: FakeServer, monkeypatch: Patch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    by_words(chosen(NOTES).search("green tea"), "config set search.embeddings openai")
    assert not server.requests


def test_a_model_of_english_is_not_asked_in_another_script(chosen: Opened) -> None:
    memory = chosen(NOTES, 'search.embedding_model = "all-minilm"')
    assert memory.search("green tea").mode == "hybrid"
    assert memory.search("数据库在哪里").mode == "keyword"
    assert memory.search("grüner Tee am Morgen").mode == "hybrid", "its letters are known"
    assert embeddings.reads_script("nomic-embed-text-v2-moe", "数据库")
    assert not embeddings.reads_script("BAAI/bge-small-en-v1.5", "数据库")


def test_a_model_gets_the_words_that_it_was_trained_with(
    chosen: Opened, server: FakeServer
) -> None:
    chosen(NOTES, 'search.embedding_model = "intfloat/multilingual-e5-small"').search("hosting")
    texts, query = sent(server)
    assert all(text.startswith("passage: ") for text in texts)
    assert query == ["query: hosting"]
    assert embeddings.model_prefixes("api.openai.com text-embedding-3-small 1536") == ("", "")
    assert embeddings.model_prefixes("intfloat/multilingual-e5-large-instruct")[1] == ""
