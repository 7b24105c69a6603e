"""The other end of the MCP server: plain lines, or the official client in a version it speaks.

The client takes two seconds to import: only what runs it does.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from mdmemory import Memory
from mdmemory.mcp import server
from mdmemory.mcp.loop import Loop

if TYPE_CHECKING:
    from mcp import Client

HELLO = {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}  # fmt: skip
VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


class Host:
    """Sends lines to a loop in a thread of this process, and reads its answers."""

    def __init__(self, run: Callable[[int, int], None]) -> None:
        theirs, self._input = os.pipe()
        self._output, mine = os.pipe()

        def serve() -> None:
            try:
                run(theirs, mine)
            finally:
                os.close(mine)
                os.close(theirs)

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        self._answers = os.fdopen(self._output, "rb")

    def send(self, *lines: bytes | Mapping[str, Any] | list[Any]) -> None:
        for line in lines:
            data = line if isinstance(line, bytes) else json.dumps(line).encode()
            os.write(self._input, data + b"\n")

    def hear(self) -> Any:
        """The next answer; None after the end."""
        line = self._answers.readline()
        return json.loads(line) if line else None

    def ask(self, method: str, params: Any = None, id: Any = 1) -> Any:
        given = {} if params is None else {"params": params}
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **given})
        return self.hear()

    def end(self) -> list[Any]:
        """Close the input; what is still answered."""
        if self._input >= 0:
            os.close(self._input)
            self._input = -1
        rest = [json.loads(line) for line in self._answers]
        self._thread.join(30)
        assert not self._thread.is_alive()
        return rest

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            self.end()
        finally:
            self._answers.close()


def looping(methods: Any, **how: Any) -> Host:
    """A host of a bare loop."""
    how = {"takes_batches": lambda: True, "failed": lambda _: None} | how
    return Host(lambda source, sink: Loop(source, sink, methods, **how).serve())


def serving(root: Path, *, index: bool = True, greets: bool = True, **how: Any) -> Host:
    """A host of the server for a folder, which said hello already."""
    opened = Memory.around
    host = Host(lambda r, w: server.serve(r, w, lambda: opened(root, **how), index=index))
    if greets:
        host.ask("initialize", HELLO, id="hello")
    return host


@asynccontextmanager
async def _piped(root: Path, how: Mapping[str, Any]) -> AsyncIterator[Any]:
    """The server's lines as the streams of the official client."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    host = serving(root, greets=False, **how)
    to_client, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_client:
            while line := await anyio.to_thread.run_sync(host._answers.readline):
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                try:
                    await to_client.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return

    async def write() -> None:
        async with from_client:
            async for sent in from_client:
                host.send(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        os.close(host._input)
        host._input = -1

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        async with incoming, outgoing:
            yield incoming, outgoing
    with host:
        pass


@contextmanager
def offered(version: str) -> Iterator[None]:
    """The official client offers this version of those that are agreed on."""
    with pytest.MonkeyPatch.context() as patch:
        if version < "2026":
            patch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", version)
        yield


def talk(
    root: Path, conversation: Callable[[Client], Awaitable[None]], version: str = "", **how: Any
) -> None:
    """A conversation of the official client, in one of VERSIONS, with the server for a folder."""
    from mcp import Client

    async def run() -> None:
        handler = how.pop("message_handler", None)
        mode = "legacy" if version and version < "2026" else "auto"  # which asks for the newest
        async with Client(_piped(root, how), mode=mode, message_handler=handler) as client:
            with anyio.fail_after(30):
                await conversation(client)

    # a browser may have a loop in this thread
    with offered(version or VERSIONS[-1]), ThreadPoolExecutor(1) as apart:
        apart.submit(anyio.run, run).result()
