"""A PostgreSQL server that sends a byte at a time is left at its deadline."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from mdmemory.search.database import UnusableError
from mdmemory.search.postgres import server

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


@pytest.mark.parametrize("let_in", [b"", _LET_IN], ids=["while it connects", "while it answers"])
def test_a_server_that_drips_is_left_in_time(
    let_in: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_REACHED", 0.5)
    with dripping(let_in) as dsn, pytest.raises(UnusableError, match="takes too long to answer"):
        server.connect_server(dsn, "public")
