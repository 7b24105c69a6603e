"""Commands on the store as a whole: index, status."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace

from mdmemory.actions.listing import in_words
from mdmemory.cli.commands import add_flag
from mdmemory.cli.output import NO_STORE_YET, emit, layered, plural, warn
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.layers import USER
from mdmemory.memory import Memory
from mdmemory.store.store import INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def index_options(parser: ArgumentParser) -> None:
    """Options of `index`."""
    add_flag(parser, "--check", "write nothing; exit code 1 if it is out of date")
    add_flag(parser, "--rebuild", "make MEMORY.md and the search database anew")


def index(asked: Namespace) -> int:
    """Update MEMORY.md from the notes, and commit notes that you or a program changed."""
    rows = [_index(memory, asked, layer) for layer, memory in layered(asked).each()]
    if asked.json:
        first = {name: value for name, value in rows[0].items() if name != "layer"}
        emit({**first, "layers": rows})
    return 1 if asked.check and any(row["changed"] for row in rows) else 0


def _index(memory: Memory, asked: Namespace, layer: str) -> dict[str, Any]:
    """Update or check one index, and say so; what the JSON has of it."""
    if asked.rebuild and not asked.check:
        with Progress(memory, json=asked.json) as progress:
            rebuilt = memory.rebuild(report=progress.step)
        for sentence in rebuilt.said:
            warn(sentence)
    state = memory.index(check=asked.check, adopt=True)
    path = memory.project.store / INDEX
    listed, total, changed = len(state.index.listed), state.index.total, bool(state.changed)
    if asked.check and not asked.json:
        print(
            f"{path} is out of date: run `mdmemory index`." if changed else f"{path} is up to date."
        )
    elif not asked.json:
        done = f"Updated {path}" if changed else f"{path} is up to date"
        print(f"{done}: {listed} of {plural(total, 'note')}.")
    return {
        "layer": layer, "path": str(path), "changed": changed, "listed": listed, "total": total,
    }  # fmt: skip


def status_options(parser: ArgumentParser) -> None:
    """Options of `status`: none of its own."""


def status(asked: Namespace) -> int:
    """Show the stores, what waits for you, what is due, and where text is sent."""
    from mdmemory import overview, protocol
    from mdmemory.hosts import problems
    from mdmemory.review import waiting

    layers = layered(asked)
    environment = person.places().environment
    assistants = problems.connected_titles(environment)
    if assistants and not asked.json and layers.question is None and not layers.there():
        print(f"store       {NO_STORE_YET}\nassistants  {assistants}")
        return 0
    each, memory = layers.each(), layers.main
    with layers.at_one_look():
        rows = [{"layer": layer, **overview.of_store(memory)} for layer, memory in each]
        report = overview.of_work(memory)
        waits = waiting.counts(layers)
    if asked.json:
        emit({**rows[0], **report, "review": waits, "layers": rows})
        return 0
    lines = [_store(row) for row in rows]
    lines += [f"inbox       {_waits(waits, rows)}", *_told_of_files(rows)]
    lines.append(f"compaction  {report['due'] or 'not due'}; last: {_last(report)}")
    small = " (a small model: asked pair by pair)" if report["questions"] == "pairs" else ""
    lines.append(f"planner     {report['planner']}{small}: text is sent {_to(report)}")
    if (meaning := report["embeddings"])["kind"] != "off":
        lines.append(f"meaning     {meaning['kind']}{_but(meaning['missing'])}")
    if passed := report["passed_over"]:
        lines.append(f"not read    {plural(passed, 'turn')}: no answer of a model could be read")
    if said := protocol.in_force().said:
        lines.append(f"protocol    {said}")
    lines.append(f"assistants  {problems.describe_assistants(memory, environment)}")
    print("\n".join(lines))
    return 0


def _store(row: dict[str, Any]) -> str:
    """Where a store lies, what it holds, and whether git and a remote have it."""
    whose = "your own   " if row["layer"] == USER else "store      "
    git = "" if row["git"] == "ready" else f"; git: {row['git']}"
    # the same command without a store named would give the project's store that remote
    named = f" --store {shlex.quote(row['store'])}" if row["layer"] == USER else ""
    remote = "" if row["remote"] else f"; only on this disk (`mdmemory{named} sync --remote URL`)"
    return f"{whose} {row['store']}: {in_words(row)}{git}{remote}"


def _waits(waits: dict[str, int], rows: list[dict[str, Any]]) -> str:
    """How many of each kind wait for a person, and whether more facts find a place."""
    from mdmemory.capture.pending import FULL
    from mdmemory.review.items import Kind

    # lost notes are one item to answer, and are counted one by one
    counts = waits | {Kind.LOST: sum(len(row["lost"]) for row in rows)}
    said = [f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items() if count]
    full = "; it is full: no more facts are kept" if _is_full(rows, FULL) else ""
    return f"{', '.join(said)}: `mdmemory review`{full}" if said else "nothing waits for you"


def _is_full(rows: list[dict[str, Any]], most: int) -> bool:
    return any(row["inbox"]["pending"] >= most for row in rows)


def _told_of_files(rows: list[dict[str, Any]]) -> list[str]:
    """At most one line each: on what other hands did, what no branch has yet, and what cannot be
    read."""
    said = []
    free = [
        f"{each['file']} ({each['change']})"
        for row in rows
        for each in row["unadopted"]
        if not each["why"] and each["file"] not in row["lost"]
    ]
    if free:
        said.append(f"by hand     {_some(free)}: your next mdmemory command that writes commits it")
    waiting = [f"{each['subject']} ({', '.join(each['files'])})"
               for row in rows for each in row["waiting"]]  # fmt: skip
    if waiting:
        said.append(
            f"waiting     {_some(waiting)}: stored in git; your next mdmemory command commits it "
            "to the branch"
        )
    if unread := [file for row in rows for file in row["unread"]]:
        said.append(f"unreadable  {_some(unread)}: passed over; `mdmemory doctor` says why")
    return said


def _some(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _to(report: dict[str, Any]) -> str:
    if not report["sends_to"]:
        return "nowhere"
    cost = report["tokens_today"]
    return (
        f"to {report['sends_to']}; today {plural(cost['calls'], 'call')}, "
        f"{cost['input']} tokens in, {cost['output']} out"
    )


def _but(missing: str) -> str:
    return f"; search goes by words: {missing}" if missing else ""


def _last(report: dict[str, Any]) -> str:
    last = report["last"]
    return f"{last['outcome']} at {last['at']}" if last else "none"
