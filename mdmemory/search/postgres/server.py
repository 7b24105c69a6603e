"""A connection to the PostgreSQL server of `search.dsn`, and its complaints in our words.

The DSN may hold a password, and what the server says may repeat it: neither is ever shown.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mdmemory.search.database import BrokenError, LockedError, UnusableError
from mdmemory.search.tables import Tables

if TYPE_CHECKING:  # 90 ms, and only who chose PostgreSQL needs it
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

PATIENCE = 5  # seconds to wait for another process that writes
_CONNECTING = 4  # seconds for each address of the server
_ANSWERING = 60  # seconds for one statement, by the server's clock
_REACHED = 15.0  # seconds until a connection stands, whatever the server sends
_ANSWERED = 75.0  # seconds for one statement, by ours
_PATIENT = 3600.0  # seconds for a statement that takes its time

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


def connect_server(dsn: str, schema: str) -> tuple[Connection, Watch]:
    """A connection that sees nothing but the tables of `schema`, and who watches its time.

    Raises UnusableError.
    """
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
        named: dict[str, Any] = usual | conninfo_to_dict(dsn)
        own = {"application_name": "mdmemory", "client_encoding": "utf8"}
        given = named | own
        connection = connect_within(
            lambda: psycopg.connect(**given, autocommit=True, prepare_threshold=None), _REACHED
        )
    watch = Watch(connection, _REACHED)
    try:
        with translate_errors(), watch.await_answer():
            # no other schema: a table of that name there would be somebody else's
            for name, value in (("search_path", schema), ("lock_timeout", f"{PATIENCE}s"),
                                ("statement_timeout", f"{_ANSWERING}s")):  # fmt: skip
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    except BaseException:
        watch.close()
        connection.close()
        raise
    watch.seconds = _ANSWERED
    return connection, watch


@contextmanager
def translate_errors() -> Iterator[None]:
    """What the server complains of, as one of our three, and without its own words."""
    import psycopg

    try:
        yield
    except psycopg.Error as problem:
        raise _our_error(problem) from None  # the other's text may hold what must not be shown


def _our_error(problem: psycopg.Error) -> UnusableError:
    import psycopg

    state = problem.sqlstate or ""
    if state.startswith(_LOCKED):
        return LockedError("is being written by another process")
    if state.startswith(_BROKEN):
        return BrokenError(f"what it holds is broken ({state})")
    for start, sentence in _SENTENCES.items():
        if state.startswith(start):
            return UnusableError(sentence)
    if state and not state.startswith(("08", "57")):
        return UnusableError(f"cannot be used (SQLSTATE {state})")
    if isinstance(problem, psycopg.ProgrammingError):
        return UnusableError("cannot be found, for search.dsn is no PostgreSQL address")
    return UnusableError("cannot be reached, or refuses the login")


class Connected(Tables):
    """What every part of the database does on its server."""

    def __init__(self, dsn: str, schema: str) -> None:
        self._schema = schema
        self._database, self._watch = connect_server(dsn, schema)

    def close(self) -> None:
        """Let go of the server."""
        self._watch.close()
        self._database.close()

    @property
    def _place(self) -> str:
        return self._schema

    def _run(self, query: str, values: Sequence[object] = ()) -> Any:
        # bytes: the type checker takes no other text that is put together
        with self._watch.await_answer():
            return self._database.execute(_with_placeholders(query), values)

    def _run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        with self._watch.await_answer(), self._database.cursor() as cursor:
            cursor.executemany(_with_placeholders(query), rows)

    @contextmanager
    def _reading(self) -> Iterator[Callable[..., list[Any]]]:
        with translate_errors(), self._watch.await_answer():
            yield self._rows

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with translate_errors(), self._watch.await_answer(), self._database.transaction():
            # the lock ends with the transaction, and with the connection of a killed process
            self._run("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (self._schema,))
            yield

    @contextmanager
    def _wait_patiently(self) -> Iterator[None]:
        """For a statement that takes its time."""
        with translate_errors(), self._watch.await_answer(_PATIENT):
            (before,) = self._rows("SHOW statement_timeout")[0]
            self._run("SET statement_timeout = 0")
            yield
            self._run("SELECT set_config('statement_timeout', ?, false)", (before,))


def _with_placeholders(query: str) -> bytes:
    return query.replace("?", "%s").encode()


# --- the end of patience, which no timeout of a server has to keep: the driver waits for the next
# byte, so one that sends one at a time is waited for without end


def connect_within(connect: Callable[[], Connection], seconds: float) -> Connection:
    """What `connect` gives. Raises UnusableError after so many seconds, and what it raises; a
    connection that comes later is closed at once."""
    import psycopg

    made: list[Connection] = []
    failed: list[psycopg.Error] = []
    turn, is_over = threading.Lock(), threading.Event()

    def try_connect() -> None:
        try:
            connection = connect()
        except psycopg.Error as problem:
            failed.append(problem)
            return
        with turn:
            made.append(connection)
            if is_over.is_set():
                connection.close()

    worker = threading.Thread(target=try_connect, daemon=True)
    worker.start()
    worker.join(seconds)
    with turn:
        is_over.set()
    if failed:
        raise failed[0]
    if not made or made[0].closed:
        raise UnusableError("takes too long to answer")
    return made[0]


class Watch:
    """Shuts the socket of a connection down when it was asked something, and no answer is whole
    after so many seconds."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self.seconds = seconds
        self._connection = connection
        self._turn = threading.Condition()
        self._deadline: float | None = None
        self._depth = 0
        self._is_over = self.was_late = False
        threading.Thread(target=self._watch_time, daemon=True).start()

    @contextmanager
    def await_answer(self, seconds: float | None = None) -> Iterator[None]:
        """While this lasts the server is waited for, from now on or the last `renew_time`.

        `seconds` is for what is known to take longer. Raises UnusableError where it was cut off.
        """
        before, self.seconds = self.seconds, seconds or self.seconds
        self._depth += 1
        self.renew_time()
        try:
            yield
        except Exception:
            if self.was_late:
                raise UnusableError("takes too long to answer") from None
            raise
        finally:
            self.seconds = before
            self._depth -= 1
            self.renew_time()

    def renew_time(self) -> None:
        """The time begins anew, or ends where nothing is being asked."""
        with self._turn:
            self._deadline = time.monotonic() + self.seconds if self._depth else None
            self._turn.notify()

    def close(self) -> None:
        """Look no longer."""
        with self._turn:
            self._is_over = True
            self._turn.notify()

    def _watch_time(self) -> None:
        with self._turn:
            while not self._is_over:
                left = None if self._deadline is None else self._deadline - time.monotonic()
                if left is not None and left <= 0:
                    self.was_late, self._is_over = True, True
                    self._shut_connection()
                else:
                    self._turn.wait(left)

    def _shut_connection(self) -> None:
        with suppress(Exception):  # closed already
            double = socket.socket(fileno=os.dup(self._connection.pgconn.socket))
            with double:
                double.shutdown(socket.SHUT_RDWR)
