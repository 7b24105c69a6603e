"""Commands that other programs start: mcp, bridge, completion, and hook as a person meets it: the
call of a client goes to `hosts.bridge` at once. And `web`, which serves a browser."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from argparse import Namespace
from contextlib import suppress
from functools import partial
from pathlib import Path

from mdmemory.cli.options import PLACES
from mdmemory.errors import MdmemoryError, NotFound, UsageError
from mdmemory.hosts.bridge import client
from mdmemory.store import sights
from mdmemory.version import DISTRIBUTION

GRACE = 10.0  # seconds that work under way has from the end of our host; LAST_CALL lies within
_LOOK = 1.0  # seconds between two looks at who started us


def run_bridge(options: Namespace) -> int:
    if os.environ.get("MDMEMORY_DISABLE"):
        return 0
    with sights.watch_folders():
        if not options.listen:
            return _forward_lines(options.store)
        from mdmemory.hosts.background import Log
        from mdmemory.hosts.bridge.listening import listen_around

        try:
            named = options.store or os.environ.get("MDMEMORY_STORE", "")
            listen_around(Path(os.getcwd()), named, os.environ)
        except (MdmemoryError, OSError) as problem:
            Log().failure("bridge", problem)
            return 1
        return 0


def _forward_lines(store: str | None) -> int:
    """Answer the plugin's lines."""
    from mdmemory.hosts.background import Log, Starter
    from mdmemory.hosts.opencode.bridge import Bridge
    from mdmemory.hosts.opencode.hooks import Hooks
    from mdmemory.memory import Memory

    log = Log()

    def open_layers(automatic: bool = True) -> Memory:
        return Memory.around(
            ".", store=store, holder="`mdmemory bridge`", tell=log.say, automatic=automatic
        )

    source, sink = _own_streams()

    def bridge_command() -> list[str]:
        from mdmemory.hosts.git_hooks import program_words  # its imports would lengthen our start

        return [*program_words(), *(["--store", store] if store else [])]

    start = Starter(bridge_command, Path.cwd())
    hooks = Hooks(open_layers, start, log, open_typed=partial(open_layers, automatic=False))
    serving = Bridge(
        source, sink, hooks.methods(), failed=log.failure, tick=hooks.look, news=hooks.news
    )
    serving.serve()
    hooks.close()
    return 0


def _own_streams() -> tuple[int, int]:
    """Our own copies of both streams, so that git or a stray print cannot use them. Who is at the
    other end is watched from here on."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    threading.Thread(target=_end_with_host, args=(source,), daemon=True).start()
    return source, sink


def _end_with_host(source: int) -> None:
    """End this process when its host is gone and what it does does not end by itself.

    A host is gone when the other end of `source` is closed, or when our parent is another.
    """
    parent, ends = os.getppid(), select.poll()
    # nothing is read here, and what lies there unread does not count
    ends.register(source, getattr(select, "POLLRDHUP", 0))
    while not ends.poll(_LOOK * 1000) and os.getppid() == parent:
        pass
    time.sleep(GRACE)
    os._exit(1)  # whatever hangs: a write that is cut short is finished by the next one


def run_mcp(options: Namespace) -> int:
    from mdmemory.cli.commands import is_terminal, open_layers, warn_person
    from mdmemory.mcp.server import serve

    if os.environ.get("MDMEMORY_DISABLE"):
        return 0
    if is_terminal():
        warn_person("This command is for MCP hosts, see docs/clients.md. Ctrl-D ends it.")
    source, sink = _own_streams()
    index = not options.no_index
    if index and os.environ.get("OPENCODE"):  # which may put MEMORY.md into the prompt already
        from mdmemory.cli.commands import only_memory
        from mdmemory.config import person
        from mdmemory.hosts.opencode.wiring import Place, reading_problems

        with suppress(MdmemoryError):  # no store yet, or an unreadable configuration
            project = only_memory(open_layers(options)).project
            place = Place(project.root, project.store)
            index = bool(reading_problems(place, person.opencode_folder()))
    with sights.watch_folders():
        serve(source, sink, lambda: open_layers(options, automatic=True), index=index)
    return 0


def run_hook(options: Namespace) -> int:
    is_typed = os.isatty(0)
    if options.host in client.HOSTS and not is_typed:
        client.answer_event(options.host, options.store or os.environ.get("MDMEMORY_STORE", ""))
        return 0
    named = f"There is no host {options.host[:40]!r}." if options.host else "No host is named."
    problem = UsageError(named, f"Name one: {', '.join(client.HOSTS)}.")
    if options.host in client.HOSTS:
        why = "This command is for the hooks of assistants."
        problem = UsageError(why, "`mdmemory setup` connects them.")
    if is_typed:
        raise problem
    # a client may stop its turn at any other code than 0
    print(f"mdmemory: {problem.sentences}", file=sys.stderr)
    return 0


# --- for the shells: made from the parsers of the commands when mdmemory is built (hatch_build.py)


def run_completion(options: Namespace) -> int:
    if options.wanted != "stores":
        from importlib.metadata import PackageNotFoundError, distribution

        place = PLACES[options.wanted]
        with suppress(PackageNotFoundError):  # the file that was installed with the program
            for each in distribution(DISTRIBUTION).files or ():
                if each.as_posix().endswith(place):
                    print(Path(str(each.locate())).read_text(encoding="utf-8"), end="")
                    return 0
        raise NotFound(f"{place} is not installed.", f"`pip install {DISTRIBUTION}` has it.")
    from mdmemory.cli.commands import open_layers

    layers = open_layers(options, automatic=True)
    for layer, memory in layers.each():  # each with what stands before a name of its notes
        print(f"{memory.project.store}\t{layers.prefix_of(layer)}")
    return 0


def run_web(options: Namespace) -> int:
    from mdmemory.cli.commands import is_terminal, open_layers, record_traceback
    from mdmemory.memory import Memory
    from mdmemory.web import serving

    def open_here() -> Memory:
        return open_layers(options, watched=True)

    open_here().main  # noqa: B018 - raises where there is no store
    with serving.listen(options.port) as listening, sights.watch_folders():
        sentences = serving.serve(
            listening, open_here, idle=options.idle * 60, is_at_terminal=is_terminal(),
            record=lambda problem: record_traceback(problem, ["web"]),
            ready=lambda address: _show_address(address, options),
        )  # fmt: skip
    if not options.json:
        print(sentences, flush=True)
    return 0


def _show_address(address: str, options: Namespace) -> None:
    """Print the address once, and open it where there is a screen."""
    if options.json:
        import json

        print(json.dumps({"address": address}), flush=True)
    else:
        print(f"{address}\nThe address works once. Ctrl-C ends the server.", flush=True)
    if options.no_open:
        return
    if os.environ.get("SSH_CONNECTION"):
        port = address.partition("//")[2].partition("/")[0].rpartition(":")[2]
        from mdmemory.cli.commands import warn_person

        warn_person(
            f"Over SSH: run `ssh -L {port}:127.0.0.1:{port} HOST` on your own machine, and open "
            "the address there."
        )
    elif sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        import webbrowser

        # where another user could read it among the arguments of a program, and nothing but the
        # token keeps them out, it goes by way of a file of the person's own
        if sys.platform != "linux":
            import tempfile

            page = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
            folder = Path(tempfile.mkdtemp(prefix="mdmemory-"))  # for this user alone
            (folder / "open.html").write_text(page, encoding="utf-8")
            address = (folder / "open.html").as_uri()
        webbrowser.open(address)
