"""Commands that find and read: search, get, rebuild, watch."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from mdmemory.cli.output import emit, layered, opened, plural, visible, warn
from mdmemory.cli.progress import Progress
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.expressions import lazy
from mdmemory.records import asdict

if TYPE_CHECKING:
    from threading import Event

    from mdmemory.layers import Layers
    from mdmemory.memory import Memory
    from mdmemory.search.project import Updated
    from mdmemory.search.results import Hit

_SHOWN = 4  # lines of a hit that are shown to a person
_TOLD = 3  # of these, where the description stands above them
_WIDTH = 400  # characters of such a line
_MARK = ("\x1b[1;33m", "\x1b[0m")
_TITLE = ("\x1b[1m", "\x1b[0m")
_FILE = lazy(r"(?s)(.+?)(?::(\d{1,9})(?:-(\d{1,9}))?)?")
DEBOUNCE = 400  # ms: an editor writes a file in several steps


def search_options(parser: ArgumentParser) -> None:
    """Options of `search`."""
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, or a question")
    parser.add_argument(
        "-k", type=_count, default=6, metavar="N", help="show at most N results (default 6)"
    )
    parser.add_argument("--source", default="memory",
                        choices=["memory", "sessions", "files", "observations", "all"],
                        help="memory: the notes (default)\nsessions: the sessions of this "
                        "project\nfiles: the folders of the setting search.folders\n"
                        "observations: what tools showed\nall: notes, sessions and files"
                        )  # fmt: skip
    parser.add_argument("--at", metavar="REV", help="search the notes as they were at a commit")
    parser.add_argument(
        "--all-projects", action="store_true", help="also search the notes of your other projects"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise ArgumentTypeError(f"{text} is not a whole number from 1 to 1000")
    return int(text)


def search(asked: Namespace) -> int:
    """Find the notes that answer a question, best first."""
    asked.holder = "search"
    query, layers = " ".join(asked.query), layered(asked)
    every = asked.all_projects
    with Progress(None if every else layers.main, json=asked.json) as progress:
        found = layers.search(
            query, k=asked.k, source=asked.source, at=asked.at, report=progress.step,
            all_projects=every,
        )  # fmt: skip
    for sentence in found.said:
        warn(sentence)
    if asked.json:
        from mdmemory.search.results import as_json

        emit({"mode": found.mode, "hits": [as_json(hit) for hit in found.hits]})
        return 0
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    colour = colour and os.environ.get("TERM") != "dumb"
    parts: list[str] = []
    for heading, hits in found.sections():
        shown = [_shown(hit, layers, query, colour) for hit in hits]
        parts += [f"{heading}:", *shown] if heading and shown else shown
    print("\n\n".join(parts) or "No matches.")
    return 0


def _shown(hit: Hit, layers: Layers, query: str, colour: bool) -> str:
    from mdmemory.search.results import telling

    file = hit.file
    if hit.source == "memory":
        file = f"{hit.project}/{file}" if hit.project else layers.shown(hit.layer, file)
    place = f"{file}:{hit.start_line}-{hit.end_line}"
    title = f"{_TITLE[0]}{visible(place)}{_TITLE[1]}" if colour else visible(place)
    status = "".join(f"  [{visible(mark)}]" for mark in hit.marks)
    if hit.source == "sessions":  # the id of a session says little
        status += visible(f"  {hit.date}  {hit.title}".rstrip())
    lines = [hit.description] if hit.description else []
    lines += telling(hit, query, 1 if hit.weak else _TOLD if lines else _SHOWN, _WIDTH)
    lines = [visible(line)[:_WIDTH] for line in lines]
    lines = [f"    {_marked(line, query) if colour else line}" for line in lines]
    return "\n".join([f"{title}  {hit.score:.2f}{status}", *lines])


def _marked(line: str, query: str) -> str:
    from mdmemory.search.query import marks

    for start, end in reversed(marks(query, line)):
        line = f"{line[:start]}{_MARK[0]}{line[start:end]}{_MARK[1]}{line[end:]}"
    return line


def get_options(parser: ArgumentParser) -> None:
    """Options of `get`."""
    parser.add_argument(
        "file", metavar="FILE[:A-B]", help="the file that a search shows, and the lines A to B"
    )


def get(asked: Namespace) -> int:
    """Show a note, or some of its lines."""
    asked.holder = "get"
    match = _FILE.fullmatch(asked.file)
    if match is None:
        raise UsageError("No file named.", "`mdmemory list` lists the notes.")
    file, first, last = match.groups()
    lines = (int(first), int(last or first)) if first else None
    layers = layered(asked)
    memory, name = layers.holding(file)
    passage = memory.get(name, lines)
    if asked.json:
        emit({**asdict(passage), "layer": layers.of(memory)})
    else:
        print(visible(passage.text) if sys.stdout.isatty() else passage.text)
    return 0


def rebuild_options(parser: ArgumentParser) -> None:
    """Options of `rebuild`."""
    parser.add_argument("--db", action="store_true", help="rebuild only the search database")


def rebuild(asked: Namespace) -> int:
    """Rebuild MEMORY.md and the search database from the notes."""
    asked.holder = "rebuild"
    rows = []
    for layer, memory in layered(asked).each():
        with Progress(memory, json=asked.json) as progress:
            done = memory.rebuild(search_only=asked.db, report=progress.step)
        for sentence in done.said:
            warn(sentence)
        rows.append({"layer": layer, "files": len(done.changed), "chunks": done.chunks})
        what = "the search database" if asked.db else "MEMORY.md and the search database"
        notes, pieces = plural(len(done.changed), "note"), plural(done.chunks, "piece")
        if not asked.json:
            print(f"Rebuilt {what} from {notes} in {memory.project.store} ({pieces}).")
    if asked.json:
        emit({"files": rows[0]["files"], "chunks": rows[0]["chunks"], "layers": rows})
    return 0


def watch_options(parser: ArgumentParser) -> None:
    """Options of `watch`: none of its own."""


def watch(asked: Namespace) -> int:
    """Keep MEMORY.md and the search database up to date while you edit notes. Ctrl-C ends it."""
    import signal
    import threading

    asked.holder = "watch"
    memory, stop = opened(asked), threading.Event()
    before = {
        each: signal.signal(each, lambda *_: stop.set()) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        _watch(memory, stop, asked.json)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if not asked.json:
        print("Stopped.", flush=True)
    return 0


def _watch(memory: Memory, stop: Event, as_json: bool) -> None:
    import watchfiles  # 30 ms, and no other command watches

    from mdmemory.store.store import LEDGER, is_note_name

    def concerns_us(_: object, path: str) -> bool:
        name = os.path.basename(path)
        return is_note_name(name) or name == LEDGER

    folder = memory.project.store
    # begun before the first look, so that nothing falls between the two
    changes = watchfiles.watch(
        folder, watch_filter=concerns_us, debounce=DEBOUNCE, stop_event=stop, recursive=False,
        raise_interrupt=False, yield_on_timeout=True, rust_timeout=DEBOUNCE,
    )  # fmt: skip
    next(changes, None)
    _freshen(memory, as_json)
    if not as_json:
        print(f"Watching {folder}. Stop: Ctrl-C.", flush=True)
    for some in changes:
        if some:
            _freshen(memory, as_json)


def _freshen(memory: Memory, as_json: bool) -> None:
    try:
        _tell(memory.freshen(), as_json)
    except MdmemoryError as problem:  # the next change may find it gone
        warn(f"{problem.message} {problem.hint}".rstrip())


def _tell(done: Updated, as_json: bool) -> None:
    """One line for each time that something was different."""
    import json

    for sentence in done.said:
        warn(sentence)
    if not done.changed:
        return
    if as_json:
        print(json.dumps({"changed": [*done.changed]}, ensure_ascii=False), flush=True)
        return
    more = f" and {len(done.changed) - 3} more" if len(done.changed) > 3 else ""
    print(visible(f"Read {', '.join(done.changed[:3])}{more}."), flush=True)
