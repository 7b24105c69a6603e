"""`mdmemory bridge --listen`: the bridge of one store, from its lock to its last request.

It serves every folder of the store, in the environment of the session that started it: what another
session has set does not reach it, but for the store that MDMEMORY_STORE names.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.files import write_atomic
from mdmemory.git.lock import is_ours, lock_file
from mdmemory.hosts.background import Starter
from mdmemory.hosts.bridge import place, starting
from mdmemory.hosts.bridge.server import HELLO, QUEUE, Life, SocketServer
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.git_hooks import program_words
from mdmemory.hosts.opencode.bridge import Methods, Result, Woken
from mdmemory.layers import Layers
from mdmemory.store.project import Project
from mdmemory.version import VERSION

if TYPE_CHECKING:  # loaded once the bridge is the only one
    from mdmemory.hosts.commands.hooks import CommandHooks

LOCK = "bridge.lock"
_NEW = "bridge.new"
_WAIT = (
    90.0  # seconds that a bridge has to answer: one that hangs is ended before (`server.LONGEST`)
)
_PAUSE = 0.05  # seconds between two looks at it
_OLD = 30 * 86_400  # seconds until a folder for which no bridge was started is forgotten


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
    entry = place.MapEntry(environment, str(folder), named)
    path = str(private / place.SOCKET)
    lock = lock_file(private / LOCK)
    until = time.monotonic() + _WAIT
    while not is_ours(lock):
        if _answers_at(path):
            _enter_bridge(entry, path)
            return
        if time.monotonic() > until:
            return  # it hangs; whoever comes later tries again
        time.sleep(_PAUSE)
    _serve_store(served, project, private, entry)


def _serve_store(served: Served, project: Project, private: Path, entry: place.MapEntry) -> None:
    path = private / place.SOCKET
    os.chdir(private)  # the path of a socket is limited to some hundred bytes
    inside = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with _bind_socket() as listener:
        ours = os.lstat(place.SOCKET)
        os.chdir("/")

        def is_met() -> bool:
            with suppress(OSError):
                return os.path.samestat(os.lstat(path), ours) and project.store.is_dir()
            return False

        try:
            _enter_bridge(entry, str(path))
            if project.settings.text("search.embeddings") == "local":
                from mdmemory.search.sources import warm_up

                warm_up(project)
            hooks = served.hooks()
            server = SocketServer(
                listener, served.methods(hooks), Life(is_met), failed=served.log.failure,
                look=hooks.look, lost=hooks.lost,
            )  # fmt: skip
            try:
                with Woken() as woken:
                    server.serve(woken)
            finally:
                hooks.close()
        finally:
            with suppress(OSError):  # in the folder that we know, wherever it lies by now
                if os.path.samestat(os.stat(place.SOCKET, dir_fd=inside), ours):
                    os.unlink(place.SOCKET, dir_fd=inside)


class Served:
    """The store that a bridge serves, opened anew for each request from the folder it names."""

    def __init__(self, log: Log, environment: Mapping[str, str]) -> None:
        self.log, self._environment = log, environment
        self.named = ""  # the store that the session of this request names
        self._root: Path | None = None

    def begin(self, folder: Path) -> Project | None:
        """The store to serve: the project's, else the person's own, made where a wish waits for
        it; None where there is none."""
        layers = self._open(folder)
        layers.begin_for_wishes()
        project = _main(layers)
        self._root = project.root if project else None
        return project

    def hooks(self) -> CommandHooks:
        """What answers the events."""
        from mdmemory.hosts.commands.hooks import CommandHooks

        typed = partial(self._open_layers, automatic=False)
        return CommandHooks(
            self._open_layers, cache(self._make_starter), self.log, open_typed=typed
        )

    def methods(self, hooks: CommandHooks) -> Methods:
        """What a request may ask for."""
        answer = hooks.methods()["hook"]

        def run_hook(params: Mapping[str, Any]) -> Result:
            self.named = str(params.get("store") or "")
            return {"output": answer(params)["output"]}  # the client reads no other form

        return {"hook": run_hook, HELLO: lambda _: {}}

    def _open_layers(self, folder: Path, automatic: bool = True) -> Layers:
        layers = self._open(folder, automatic)
        project = _main(layers)
        if project is None or project.root != self._root:
            # a store was made there, or is gone: from there the next hook looks for its bridge
            entry = place.MapEntry(self._environment, str(folder), self.named)
            Path(entry.file).unlink(missing_ok=True)
        return layers

    def _open(self, folder: Path, automatic: bool = True) -> Layers:
        return Layers.open(
            folder, store=self.named or None, holder="`mdmemory bridge`", tell=self.log.say,
            automatic=automatic,
        )  # fmt: skip

    def _make_starter(self, folder: Path) -> Starter:
        named = ["--store", self.named] if self.named else []
        return Starter(lambda: [*program_words(), *named], folder)


def _main(layers: Layers) -> Project | None:
    memory = layers.project or layers.person
    return memory.project if memory else None


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
    os.rename(_NEW, place.SOCKET)
    return listener


def _answers_at(path: str) -> bool:
    """Whether a bridge of this version answers at `path`; one of another is asked to end by it."""
    try:
        with closing(place.connect_socket(path, _WAIT)) as connection:
            hello = json.dumps({"version": VERSION, "method": HELLO})
            connection.sendall(hello.encode("ascii") + b"\n")
            answer: bytes = connection.recv(1 << 12)
            return answer.startswith(b'{"result"')
    except OSError:
        return False


def _enter_bridge(entry: place.MapEntry, path: str) -> None:
    """Let hooks from the entry's folder find the bridge at `path`."""
    folder = Path(entry.folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(Path(entry.file), entry.text(path), mode=0o600)
    Path(starting.start_mark(entry)).unlink(missing_ok=True)
    for file in folder.iterdir():
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _OLD:
                file.unlink()
