"""The end of patience with a PostgreSQL server, which no timeout of its own has to keep.

The driver waits for the next byte, so a server that sends one at a time is waited for without end.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mdmemory.search.database import UnusableError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]


def connected(connect: Callable[[], Connection], seconds: float) -> Connection:
    """What `connect` gives. Raises UnusableError after so many seconds, and what it raises; a
    connection that comes later is closed at once."""
    import psycopg

    made: list[Connection] = []
    failed: list[psycopg.Error] = []
    turn, is_over = threading.Lock(), threading.Event()

    def work() -> None:
        try:
            connection = connect()
        except psycopg.Error as problem:
            failed.append(problem)
            return
        with turn:
            made.append(connection)
            if is_over.is_set():
                connection.close()

    worker = threading.Thread(target=work, daemon=True)
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
        threading.Thread(target=self._look, daemon=True).start()

    @contextmanager
    def asking(self, seconds: float | None = None) -> Iterator[None]:
        """While this lasts the server is waited for, from now on or the last `renew`.

        `seconds` is for what is known to take longer. Raises UnusableError where it was cut off.
        """
        before, self.seconds = self.seconds, seconds or self.seconds
        self._depth += 1
        self.renew()
        try:
            yield
        except Exception:
            if self.was_late:
                raise UnusableError("takes too long to answer") from None
            raise
        finally:
            self.seconds = before
            self._depth -= 1
            self.renew()

    def renew(self) -> None:
        """The time begins anew, or ends where nothing is being asked."""
        with self._turn:
            self._deadline = time.monotonic() + self.seconds if self._depth else None
            self._turn.notify()

    def close(self) -> None:
        """Look no longer."""
        with self._turn:
            self._is_over = True
            self._turn.notify()

    def _look(self) -> None:
        with self._turn:
            while not self._is_over:
                left = None if self._deadline is None else self._deadline - time.monotonic()
                if left is not None and left <= 0:
                    self.was_late, self._is_over = True, True
                    self._shut()
                else:
                    self._turn.wait(left)

    def _shut(self) -> None:
        with suppress(Exception):  # closed already
            double = socket.socket(fileno=os.dup(self._connection.pgconn.socket))
            with double:
                double.shutdown(socket.SHUT_RDWR)
