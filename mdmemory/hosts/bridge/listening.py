"""`mdmemory bridge --listen`: the bridge of one store, from its lock to its last request.

It serves every folder of the store, in the environment of the session that started it: what another
session has set does not reach it, but for the store that MDMEMORY_STORE names.
"""

from __future__ import annotations

import faulthandler
import json
import os
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from mdmemory.files import write_atomic
from mdmemory.git.lock import is_ours, lock_file
from mdmemory.hosts.background import Log, Starter
from mdmemory.hosts.bridge.asking import SOCKET, MapEntry, connect_socket, peer_user
from mdmemory.hosts.git_hooks import program_words
from mdmemory.hosts.opencode.bridge import END, Methods, Result, answer_request, parse_request
from mdmemory.memory import Memory
from mdmemory.store.project import Project
from mdmemory.version import VERSION
from mdmemory.wire import MAX_LINE, Signals

LOCK = "bridge.lock"
_NEW = "bridge.new"
_WAIT = 90.0  # seconds that a bridge has to answer: one that hangs is ended before, by LONGEST
_PAUSE = 0.05  # seconds between two looks at it
_OLD = 30 * 86_400  # seconds until a folder for which no bridge was started is forgotten
_LINE = MAX_LINE + 64 * 1024  # bytes: a hook's event, and the request around it
_PATIENCE = 2.0  # seconds that a client has to send its line, and to take the answer
LONGEST = 60.0  # seconds of one request; a bridge that hangs is ended, and another started
_OTHER = b'{"error": {"code": "version", "message": "This bridge is of mdmemory %s."}}\n' % (
    VERSION.encode()
)
HELLO = "hello"  # the method of whoever only wants to know whether a bridge answers
QUEUE = 128  # connections that wait to be accepted


def listen_around(folder: Path, named: str, environment: Mapping[str, str]) -> None:
    """Be the bridge of the store around `folder`, or name the one that is there to whoever looks
    for it from that folder. Where there is no store, nothing. `named` is MDMEMORY_STORE, or "".

    Raises MdmemoryError and OSError where there cannot be one.
    """
    log = Log()
    served = Served(log, environment)
    served.named = named
    project = served.begin(folder)
    if project is None:
        return
    log.belongs_to(project)
    private = project.prepare_private()
    entry = MapEntry(environment, str(folder), named)
    path = str(private / SOCKET)
    lock = lock_file(private / LOCK)
    until = time.monotonic() + _WAIT
    while not is_ours(lock):
        if _answers_at(path):
            _enter_bridge(entry, path)
            return
        if time.monotonic() > until:
            return  # it hangs; whoever comes later tries again
        time.sleep(_PAUSE)
    os.chdir(private)  # the path of a socket is limited to some hundred bytes
    inside = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with _bind_socket() as listener:
        ours = os.lstat(SOCKET)
        os.chdir("/")

        def is_met() -> bool:
            with suppress(OSError):
                return os.path.samestat(os.lstat(path), ours) and project.store.is_dir()
            return False

        try:
            _enter_bridge(entry, path)
            served.answer_at(listener, Life(is_met))
        finally:
            with suppress(OSError):  # in the folder that we know, wherever it lies by now
                if os.path.samestat(os.stat(SOCKET, dir_fd=inside), ours):
                    os.unlink(SOCKET, dir_fd=inside)


class Served:
    """The store that a bridge serves, opened anew for each request from the folder it names."""

    def __init__(self, log: Log, environment: Mapping[str, str]) -> None:
        self._log, self._environment = log, environment
        self.named = ""  # the store that the session of this request names
        self._project: Project | None = None

    def begin(self, folder: Path) -> Project | None:
        """The store to serve: the project's, else the person's own, made where a wish waits for
        it; None where there is none."""
        layers = self._open(folder)
        layers.begin_for_wishes()
        self._project = layers.first.project if layers.first else None
        return self._project

    def answer_at(self, listener: socket.socket, life: Life) -> None:
        """Answer hooks until the end."""
        from mdmemory.hosts.commands.hooks import CommandHooks  # now that no other bridge is there

        if self._project and self._project.settings.text("search.embeddings") == "local":
            from mdmemory.search.sources import warm_up

            warm_up(self._project)
        typed = partial(self._open_layers, automatic=False)

        @cache
        def make_starter(folder: Path) -> Starter:
            named = ["--store", self.named] if self.named else []
            return Starter(lambda: [*program_words(), *named], folder)

        hooks = CommandHooks(self._open_layers, make_starter, self._log, open_typed=typed)

        def run_hook(params: Mapping[str, Any]) -> Result:
            self.named = str(params.get("store") or "")
            return {"output": hooks.hook(params)["output"]}  # the client reads no other form

        server = SocketServer(
            listener, {"hook": run_hook, HELLO: lambda _: {}}, life, failed=self._log.failure,
            look=hooks.look, lost=hooks.lost,
        )  # fmt: skip
        try:
            with Signals() as woken:
                server.serve(woken)
        finally:
            hooks.close()

    def _open_layers(self, folder: Path, automatic: bool = True) -> Memory:
        layers = self._open(folder, automatic)
        project = layers.first.project if layers.first else None
        if project is None or self._project is None or project.root != self._project.root:
            # a store was made there, or is gone: from there the next hook looks for its bridge
            Path(MapEntry(self._environment, str(folder), self.named).file).unlink(missing_ok=True)
        return layers

    def _open(self, folder: Path, automatic: bool = True) -> Memory:
        return Memory.around(
            folder, store=self.named or None, holder="`mdmemory bridge`", tell=self._log.say,
            automatic=automatic,
        )  # fmt: skip


def _bind_socket() -> socket.socket:
    """A socket in the current folder that this user alone can connect to. It gets its name once it
    answers, in place of what a killed bridge left there."""
    with suppress(FileNotFoundError):
        os.unlink(_NEW)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o077)
    try:
        listener.bind(_NEW)
    finally:
        os.umask(before)
    listener.listen(QUEUE)
    os.rename(_NEW, SOCKET)
    return listener


def _answers_at(path: str) -> bool:
    """Whether a bridge of this version answers at `path`; one of another is asked to end by it."""
    try:
        with closing(connect_socket(path, _WAIT)) as connection:
            hello = json.dumps({"version": VERSION, "method": HELLO})
            connection.sendall(hello.encode("ascii") + b"\n")
            answer: bytes = connection.recv(1 << 12)
            return answer.startswith(b'{"result"')
    except OSError:
        return False


def _enter_bridge(entry: MapEntry, path: str) -> None:
    """Let hooks from the entry's folder find the bridge at `path`."""
    folder = Path(entry.folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(Path(entry.file), entry.text(path), mode=0o600)
    Path(entry.mark).unlink(missing_ok=True)
    for file in folder.iterdir():
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _OLD:
                file.unlink()


# --- the socket


class Life(NamedTuple):
    """When a bridge ends by itself, in seconds: `idle` without a client, `look` between two looks
    whether it still `is_met`: its socket is in its place, and the store is."""

    is_met: Callable[[], bool]
    idle: float = 300.0
    look: float = 5.0


class _Client:
    def __init__(self, connection: socket.socket, until: float) -> None:
        self.connection, self.until, self.line = connection, until, bytearray()


class SocketServer:
    """Answers what comes to the socket `listener` by `methods`, until its end: one request after
    the other, one for each connection, a line each. No client can hold up the others: a line that
    does not come whole in time is dropped, and what a client gave up waiting for is not begun.

    `failed` gets the method and the error of each failed request, `lost` the request whose answer
    nobody took; `look` is called after requests and now and then, and returns the seconds until its
    next call.
    """

    def __init__(
        self, listener: socket.socket, methods: Methods, life: Life, *,
        failed: Callable[[str, Exception], None], look: Callable[[], float],
        lost: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._listener, self._methods, self._life = listener, methods, life
        self._failed, self._look, self._lost = failed, look, lost
        self._selector = selectors.DefaultSelector()
        self._clients: dict[int, _Client] = {}
        self._ended = self._cannot_look = False

    def serve(self, woken: int) -> None:
        """Answer until `dispose`, until the descriptor `woken` can be read, or until nobody comes
        any more or can."""
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(woken, selectors.EVENT_READ)
        start = time.monotonic()
        due, moment = start + self._next_look(), start
        while not self._ended:
            now = time.monotonic()
            wait = min(due, start + self._life.idle, moment + self._life.look) - now
            ready = {key.fd for key, _ in self._selector.select(max(0.0, wait))}
            if woken in ready:
                break
            if ready:
                start = time.monotonic()
            for number in sorted(ready):
                if number == self._listener.fileno():
                    self._accept()
                elif (client := self._clients.get(number)) is not None:
                    self._read(client)
                if self._ended:
                    break
            now = time.monotonic()
            for client in [each for each in self._clients.values() if each.until < now]:
                self._drop_client(client)
            if now >= due or (ready and not self._cannot_look):
                due = now + self._next_look()
            if now >= moment + self._life.look:
                moment = now
                if not self._life.is_met():
                    break
            if now >= start + self._life.idle:
                break
        for client in [*self._clients.values()]:
            self._drop_client(client)
        self._selector.close()

    def _next_look(self) -> float:
        try:
            self._cannot_look = True
            seconds = self._look()
            self._cannot_look = False
        except Exception as problem:  # noqa: BLE001 - hooks are answered all the same
            self._failed("look", problem)
            return 600.0
        return seconds

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it has gone already
        try:
            is_ours = peer_user(connection) == os.geteuid()
        except OSError:
            is_ours = False
        if not is_ours:
            connection.close()
            return
        connection.setblocking(False)
        client = _Client(connection, time.monotonic() + _PATIENCE)
        self._clients[connection.fileno()] = client
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        client.line += data
        is_whole = b"\n" in data
        if not is_whole and len(client.line) > _LINE:
            client.line[:], is_whole = b"!", True  # no JSON, and the answer says so
        if is_whole:
            self._answer_client(client)
        elif data:
            return
        self._drop_client(client)

    def _answer_client(self, client: _Client) -> None:
        try:
            if client.connection.recv(1, socket.MSG_PEEK) == b"":
                return  # it has closed its end
        except BlockingIOError:
            pass  # it waits for the answer
        except OSError:
            return
        request = parse_request(bytes(client.line.partition(b"\n")[0]))
        is_end = request.get("method") == END
        is_other = bool(request) and not is_end and request.get("version") != VERSION
        self._ended = is_end or is_other
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        try:
            line = _OTHER if is_other else answer_request(request, self._methods, self._failed)
        finally:
            faulthandler.cancel_dump_traceback_later()
        client.connection.settimeout(_PATIENCE)
        try:
            client.connection.sendall(line)
        except OSError:  # nobody hears it any more
            try:
                self._lost(request)
            except Exception as problem:  # noqa: BLE001 - the others are answered all the same
                self._failed("lost", problem)

    def _drop_client(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        del self._clients[client.connection.fileno()]
        client.connection.close()
