"""Search by meaning: chosen by a person or not at all, and words go on without it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_server import FakeServer
from pace import HUNG
from search.conftest import NOW, note

from mdmemory import Memory
from mdmemory.errors import MdmemoryError
from mdmemory.llm import openai_api
from mdmemory.search import database, embeddings
from mdmemory.search import database as databases
from mdmemory.search.database import UnusableError
from mdmemory.search.results import Found
from mdmemory.search.sqlite import SQLite

Opened = Callable[..., Memory]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOTES = {
    "user-tea.md": note("tea", "Drinks green tea", "Two cups before noon."),
    "project-where.md": note("where", "Runs on AWS", "All of it in Frankfurt."),
}


@pytest.fixture(autouse=True)
def unknown_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_sizes", {})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.script.dimensions = 64
        yield running


@pytest.fixture
def chosen(
    opened: Opened, server: FakeServer, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Memory]:
    """A memory whose person chose the fake server; `lines` are more of their settings."""
    monkeypatch.setattr(openai_api, "PAUSES", (0.01, 0.01, 0.01))
    monkeypatch.setattr(openai_api, "TIMEOUT", HUNG)

    def begin(notes: dict[str, str], *lines: str, off: bool = False) -> Memory:
        folder = empty_home / ".config/mdmemory"
        folder.mkdir(parents=True, exist_ok=True)
        text = [f'openai.base_url = "{server.url}"', 'openai.api_key = "k-123"',
                *lines]  # fmt: skip
        text += [] if off else ['search.embeddings = "openai"']
        (folder / "config.toml").write_text("\n".join(text), "utf-8")
        return opened(notes)

    return begin


def again(memory: Memory) -> Memory:
    return Memory.open(memory.project.root, clock=lambda: NOW)


def files(found: Found) -> list[str]:
    return [hit.file for hit in found.hits]


# --- finding -----------------------------------------------------------------------------------


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


# --- asking for vectors ------------------------------------------------------------------------


def test_a_key_alone_sends_nothing(chosen: Opened, server: FakeServer) -> None:
    found = chosen(NOTES, off=True).search("green tea")
    assert (found.mode, server.script.embedded) == ("keyword", [])


def test_a_project_cannot_choose_it(opened: Opened) -> None:
    root = opened(NOTES).project.root
    for line in ('embeddings = "openai"', 'embedding_url = "http://x.example"', 'folders = ["/"]',
                 'embedding_key = "k"', 'embedding_model = "m"'):  # fmt: skip
        (root / "mdmemory.toml").write_text(f"[search]\n{line}\n", "utf-8")
        with pytest.raises(MdmemoryError, match="a project may not choose"):
            Memory.open(root)


def test_each_text_is_sent_once_and_what_changes_again(chosen: Opened, server: FakeServer) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    memory.search("x")
    sent = [body["input"] for body in server.script.embedded]
    assert sent == [["where: Runs on AWS\nAll of it in Frankfurt.",
                     "tea: Drinks green tea\nTwo cups before noon."], ["x"]]  # fmt: skip
    assert server.script.keys == ["Bearer k-123"] * 2
    path = memory.project.store / "user-tea.md"
    path.rename(path.with_name("user-tea-2.md"))  # the same text elsewhere
    (memory.project.store / "user-new.md").write_text(note("new", "Fresh"), "utf-8")
    memory.search("y")
    assert [body["input"] for body in server.script.embedded[2:]] == [["new: Fresh"], ["y"]]


def test_requests_grow_and_no_search_waits_for_all_texts(
    chosen: Opened, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = chosen({f"user-{n}.md": note(f"n-{n}", f"Fact {n}") for n in range(130)})
    monkeypatch.setattr(embeddings, "BATCH", 30)
    monkeypatch.setattr(embeddings, "EACH_SEARCH", 100)
    monkeypatch.setattr(embeddings, "QUICK", HUNG)  # however slow this machine is
    steps: list[tuple[int, int, str]] = []
    found = memory.search("x", report=lambda *step: steps.append(step))
    sizes = [len(body["input"]) for body in server.script.embedded]
    assert sizes == [8, 16, 30, 30, 16, 1], "the last one is the question"
    assert found.said == ("30 texts are searched by words only until the next searches have "
                          "made their vectors.",)  # fmt: skip
    assert any(what == "texts for search by meaning" for _, _, what in steps)
    assert memory.rebuild(search_only=True).said == ()


def test_a_server_that_was_too_slow_is_asked_for_fewer_and_what_it_made_stays(
    chosen: Opened, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = chosen({f"user-{n}.md": note(f"n-{n}", f"Fact {n}") for n in range(30)})
    monkeypatch.setattr(embeddings, "QUICK", 0.0)  # as if each answer took long

    def fail(*_: object) -> list[bytes]:
        raise MdmemoryError("The server did not answer.", "Try again later.")

    with monkeypatch.context() as broken:
        broken.setattr(embeddings, "embed_texts", fail)
        memory.search("x")
    memory.search("x")
    sizes = [len(body["input"]) for body in server.script.embedded]
    assert sizes == [4] * 7 + [2, 1], "30 texts, and the question"


def test_nothing_leaves_that_is_a_secret(chosen: Opened, server: FakeServer) -> None:
    held = {
        "user-key.md": note("key", "Zebra", f"It is {SECRET}."),
        "user-open.md": note("open", "Allowed", f"It is {SECRET}.", "  secrets: allowed\n"),
    }
    chosen(held).search(f"who has {SECRET} and the tea?")
    sent = str([body["input"] for body in server.script.embedded])
    assert SECRET not in sent
    assert "Zebra" not in sent
    assert "[redacted:" in sent


def test_no_key_goes_to_an_address_that_it_is_not_for(chosen: Opened, server: FakeServer) -> None:
    chosen(NOTES, f'search.embedding_url = "{server.url}"').search("x")
    assert set(server.script.keys) == {"Bearer none"}


def test_the_calls_of_a_day_are_limited_and_do_not_count_as_a_models(
    chosen: Opened, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdmemory.llm.choose.EMBEDDING_CALLS", 2)
    memory = chosen(NOTES, "llm.daily_calls = 1")
    assert memory.search("tea").mode == "hybrid"
    assert memory.search("tea").mode == "hybrid", "its vector is kept"
    found = memory.search("green tea")
    assert (found.mode, files(found)) == ("keyword", ["user-tea.md"])
    assert "2 times today" in found.said[0]
    with memory.state() as state:
        assert state.begin_call("2026-06-12", "extract", "m", 1)
        assert not state.begin_call("2026-06-12", "extract", "m", 1)


def test_vectors_that_could_not_be_kept_are_not_asked_for(
    chosen: Opened, server: FakeServer
) -> None:
    memory = chosen(NOTES)
    memory.project.prepare_private()
    (memory.project.private / "search.db").symlink_to("elsewhere.db")
    found = memory.search("green tea")
    assert (found.mode, files(found)) == ("keyword", ["user-tea.md"])
    assert "cannot be kept" in found.said[-1]
    assert server.script.embedded == []


def test_without_the_key_that_a_host_wants_there_is_a_sentence(chosen: Opened) -> None:
    found = chosen(NOTES, 'search.embedding_url = "https://api.openai.com/v1"').search("green tea")
    assert (found.mode, files(found)) == ("keyword", ["user-tea.md"])
    assert "no key for api.openai.com" in found.said[0]


# --- what a server can do wrong ------------------------------------------------------------------

ROW = b'{"index": 0, "embedding": %s}'
NUMBERS = b"[" + b",".join([b"1"] * 64) + b"]"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"status": 0}, "cannot be reached"),
        ({"status": 404}, "knows no model"),
        ({"status": 401}, "did not accept the key"),
        ({"status": 307}, "did not take the texts"),
        ({"body": b"<html>"}, "no list of vectors"),
        ({"body": b"{}"}, "no list of vectors"),
        ({"body": b'{"data": [{"index": 0, "embedding": "AAAA"}]}'}, "no list of vectors"),
        ({"body": b'{"data": [' + ROW % NUMBERS + b"]}"}, "1 vectors for 2 texts"),
        ({"body": b'{"data": [' + b", ".join([ROW % NUMBERS, ROW % b"[1, 2]"]) + b"]}"},
         "2 numbers instead"),
        ({"body": b'{"data": [' + b", ".join([ROW % NUMBERS.replace(b"1", b"NaN", 1)] * 2) + b"]}"},
         "without a direction"),
        ({"body": b'{"data": [' + b", ".join([ROW % NUMBERS.replace(b"1", b'"a"', 1)] * 2) +
          b"]}"}, "something else than numbers"),
        ({"sent": 20}, "hung up before"),
    ],
)  # fmt: skip
def test_words_are_enough_whatever_a_server_does(
    chosen: Opened, server: FakeServer, how: dict[str, object], said: str
) -> None:
    memory = chosen(NOTES)
    server.misbehave(**how)
    found = memory.search("green tea")
    assert (found.mode, files(found)) == ("keyword", ["user-tea.md"])
    assert said in found.said[0]
    assert "k-123" not in found.said[0]
    assert memory.search("green tea").mode == "hybrid", "and the next search tries again"


def test_a_busy_server_is_asked_again_after_one_two_and_four_seconds(
    server: FakeServer, tmp_path: Path
) -> None:
    slept: list[float] = []
    api = openai_api.EmbeddingAPI(
        "m", server.url, "", tmp_path / "state.db", "2026-06-12", 9, str, sleep=slept.append
    )
    for status in (429, 503, 500):
        server.fail(status)
    assert len(api.embed(["a"])[0]) == 64
    assert slept == [1.0, 2.0, 4.0]
    for _ in range(4):
        server.fail(502)
    with pytest.raises(MdmemoryError, match="gives no vectors for now"):
        api.embed(["a"])


def test_a_server_that_hangs_is_not_waited_for(server: FakeServer, tmp_path: Path) -> None:
    api = openai_api.EmbeddingAPI(
        "m", server.url, "", tmp_path / "state.db", "2026-06-12", 9, str, timeout=0.2
    )
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
    (memory.project.store / "user-new.md").write_text(note("new", "Far too long"), "utf-8")
    server.fail(400)
    found = memory.search("hosting")
    assert (found.mode, files(found)) == ("hybrid", ["project-where.md"])
    assert "refused these texts (400)" in found.said[0]


# --- the database ------------------------------------------------------------------------------


def test_another_model_makes_other_vectors_and_the_old_ones_go(
    chosen: Opened, server: FakeServer
) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    other = chosen(NOTES, 'search.embedding_model = "another"')
    assert files(other.search("hosting")) == ["project-where.md"]
    with pytest.MonkeyPatch.context():
        database = SQLite(memory.project.private / "search.db", databases.STAMP)
        rows = database._rows("SELECT DISTINCT model FROM embeddings ORDER BY model")
        database.close()
    name = f"{server.url[7:-3]} another"
    assert [each for (each,) in rows] == [name, f"queries of {name}"]


def test_vectors_outlive_another_form_of_the_tables_but_no_rebuild(
    chosen: Opened, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = chosen(NOTES)
    memory.search("x")
    monkeypatch.setattr(databases, "STAMP", "another")
    again(memory).search("x")
    assert [len(body["input"]) for body in server.script.embedded] == [2, 1]
    again(memory).rebuild(search_only=True)
    assert [len(body["input"]) for body in server.script.embedded] == [2, 1, 2]


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
    chosen: Opened, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = chosen(NOTES).search("green tea")
    assert (found.mode, files(found)) == ("keyword", ["user-tea.md"])
    assert "config set search.embeddings openai" in found.said[0]
    assert not server.requests


def test_a_model_of_english_is_not_asked_in_another_script(
    chosen: Opened, server: FakeServer
) -> None:
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
    texts, query = (body["input"] for body in server.script.embedded)
    assert all(text.startswith("passage: ") for text in texts)
    assert query == ["query: hosting"]
    assert embeddings.model_prefixes("api.openai.com text-embedding-3-small 1536") == ("", "")
    assert embeddings.model_prefixes("intfloat/multilingual-e5-large-instruct")[1] == ""
