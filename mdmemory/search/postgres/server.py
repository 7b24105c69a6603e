"""A connection to the PostgreSQL server of `search.dsn`, and its complaints in our words.

The DSN may hold a password, and what the server says may repeat it: neither is ever shown.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mdmemory.search.database import BrokenError, Database, LockedError, UnusableError

if TYPE_CHECKING:  # 90 ms, and only who chose PostgreSQL needs it
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

PATIENCE = 5  # seconds to wait for another process that writes
PATIENT = 3600.0  # seconds for a statement that takes its time
_CONNECTING = 4  # seconds for each address of the server
_ANSWERING = 60  # seconds for one statement, by the server's clock
_REACHED = 15.0  # seconds for the first statement, whatever the server sends
_ANSWERED = 75.0  # seconds for one statement, by ours

# SQLSTATEs, by their beginnings: what PostgreSQL calls them is in its appendix A
_LOCKED = ("55P03", "40")
_BROKEN = ("42P01", "42703", "42704", "3F000", "0A000", "XX")
_SENTENCES = {
    "28": "refuses the login",
    "3D000": "has no such database",
    "25006": "does not let this user write there",
    "42501": "does not let this user write there",
    "53": "has no room or no connection left",
    "57014": "takes too long to answer",
}


def connect_server(dsn: str, schema: str) -> Connection:
    """A connection that sees nothing but the tables of `schema`. Raises UnusableError."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise UnusableError(
            "cannot be asked, for psycopg is not installed (`pip install 'mdmemory-git[postgres]'`)"
        ) from None
    if not dsn:
        raise UnusableError("is not known, for search.dsn is not set")
    with translate_errors():
        usual = {"connect_timeout": _CONNECTING, "tcp_user_timeout": 1000 * _ANSWERING}
        own = {"application_name": "mdmemory", "client_encoding": "utf8"}
        given: dict[str, Any] = usual | conninfo_to_dict(dsn) | own
        connection = psycopg.connect(**given, autocommit=True, prepare_threshold=None)
    try:
        with translate_errors(), await_answer(connection, _REACHED):
            # no other schema: a table of that name there would be somebody else's
            for name, value in (("search_path", schema), ("lock_timeout", f"{PATIENCE}s"),
                                ("statement_timeout", f"{_ANSWERING}s")):  # fmt: skip
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def translate_errors() -> Iterator[None]:
    """What the server complains of, as one of our three, and without its own words: these may hold
    what must not be shown."""
    import psycopg

    try:
        yield
    except psycopg.Error as problem:
        state = problem.sqlstate or ""
        sentences = (sentence for start, sentence in _SENTENCES.items() if state.startswith(start))
        if state.startswith(_LOCKED):
            raise LockedError("is being written by another process") from None
        if state.startswith(_BROKEN):
            raise BrokenError(f"what it holds is broken ({state})") from None
        if sentence := next(sentences, ""):
            raise UnusableError(sentence) from None
        if state and not state.startswith(("08", "57")):
            raise UnusableError(f"cannot be used (SQLSTATE {state})") from None
        if isinstance(problem, psycopg.errors.ConnectionTimeout):
            raise UnusableError("takes too long to answer") from None
        if isinstance(problem, psycopg.ProgrammingError):
            sentence = "cannot be found, for search.dsn is no PostgreSQL address"
            raise UnusableError(sentence) from None
        raise UnusableError("cannot be reached, or refuses the login") from None


class Connected(Database):
    """What every part of the database does on its server."""

    lasting = True

    def __init__(self, dsn: str, schema: str) -> None:
        self._place = schema
        self._database = connect_server(dsn, schema)

    def close(self) -> None:
        """Let go of the server."""
        self._database.close()

    def _run(self, query: str, values: Sequence[object] = (), seconds: float = _ANSWERED) -> Any:
        # bytes: the type checker takes no other text that is put together
        with await_answer(self._database, seconds):
            return self._database.execute(query.replace("?", "%s").encode(), values)

    def _run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        with await_answer(self._database, _ANSWERED), self._database.cursor() as cursor:
            # without the one character that PostgreSQL does not take
            clean = (
                [each.replace("\0", "\ufffd") if isinstance(each, str) else each for each in row]
                for row in rows
            )
            cursor.executemany(query.replace("?", "%s").encode(), clean)

    def _translated(self) -> AbstractContextManager[object]:
        return translate_errors()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with translate_errors():
            self._run("BEGIN")
            try:
                # the lock ends with the transaction, and with the connection of a killed process
                self._run("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (self._place,))
                yield
                self._run("COMMIT")
            except BaseException:
                with suppress(Exception):
                    self._run("ROLLBACK")
                raise


# --- the end of patience, which no timeout of a server has to keep: on an open connection the
# driver waits for the next byte, so one that sends one at a time is waited for without end


@contextmanager
def await_answer(connection: Connection, seconds: float) -> Iterator[None]:
    """Wait for the answer to what is asked in this block; after so many seconds the socket of the
    connection is shut down. Raises UnusableError then."""
    is_late = threading.Event()

    def shut_connection() -> None:
        is_late.set()
        with (
            suppress(Exception),  # closed already
            socket.socket(fileno=os.dup(connection.pgconn.socket)) as double,
        ):
            double.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut_connection)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        if is_late.is_set():
            raise UnusableError("takes too long to answer") from None
        raise
    finally:
        timer.cancel()
