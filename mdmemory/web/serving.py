"""A run of the server: at 127.0.0.1 alone, until Ctrl-C or until nobody asked for a while."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mdmemory.errors import MdmemoryError
from mdmemory.memory import Memory
from mdmemory.web.access import Access
from mdmemory.web.site import Site

if TYPE_CHECKING:
    import uvicorn

_LOOK = 1.0  # seconds between two looks at whether anybody still asks
_LAST = 2  # seconds that an answer under way has when the server ends


def listen(port: int) -> socket.socket:
    """A socket that listens at 127.0.0.1; port 0: a free one. Raises MdmemoryError."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen(64)
    except OSError as problem:
        server.close()
        raise MdmemoryError(
            f"Port {port} cannot be used: {problem.strerror}.", "Leave --port out."
        ) from problem
    return server


def serve(
    listening: socket.socket, open_layers: Callable[[], Memory], *, idle: float,
    is_at_terminal: bool, record: Callable[[Exception], str], ready: Callable[[str], None],
) -> str:  # fmt: skip
    """Serve until it ends, and say why. `idle` are the seconds without a request after which it
    does; `record` writes down an unforeseen failure; `ready` gets the address as soon as it
    answers."""
    import uvicorn

    from mdmemory.web.application import application
    from mdmemory.web.guard import Guard

    access = Access(listening.getsockname()[1])
    site = Site(access, open_layers, record, is_at_terminal)
    watch = _Idle(idle)
    config = uvicorn.Config(
        Guard(application(site), access, seen=watch.touch), http="h11", loop="asyncio", ws="none",
        lifespan="off", log_config=None, access_log=False, proxy_headers=False,
        server_header=False, timeout_graceful_shutdown=_LAST,
    )  # fmt: skip
    server = uvicorn.Server(config)
    threading.Thread(target=watch.run, args=(server,), daemon=True).start()
    threading.Thread(target=_warm, args=(site,), daemon=True).start()
    ready(access.address())
    try:
        server.run([listening])
    except KeyboardInterrupt:
        return "Stopped."
    finally:
        site.close()
    return f"Stopped: nobody asked for {idle / 60:g} minutes." if watch.is_over else "Stopped."


class _Idle:
    """Ends a server that nobody asks any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._last, self.is_over = seconds, time.monotonic(), False

    def touch(self) -> None:
        """Somebody asked."""
        self._last = time.monotonic()

    def run(self, server: uvicorn.Server) -> None:
        """Look now and then, until the server ends."""
        while not server.should_exit:
            time.sleep(min(_LOOK, self._seconds / 4))
            if time.monotonic() - self._last >= self._seconds:
                self.is_over = True
                server.should_exit = True


def _warm(site: Site) -> None:
    """Find what the first pages show, before somebody asks for them."""
    from contextlib import suppress

    with suppress(MdmemoryError):
        site.templates.get_template("inbox.html")
        site.items()
