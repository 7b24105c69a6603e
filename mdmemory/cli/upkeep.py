"""Commands on the store as a whole: index, status."""

from __future__ import annotations

import shlex
from argparse import Namespace

from mdmemory.actions.listing import in_words
from mdmemory.cli.output import NO_STORE_YET, count_noun, emit_json, warn_person
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.layers import USER, Layers
from mdmemory.memory import Memory
from mdmemory.store.store import INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run_index(layers: Layers, options: Namespace) -> int:
    rows = [_update_index(memory, options, layer) for layer, memory in layers.each()]
    if options.json:
        first = {name: value for name, value in rows[0].items() if name != "layer"}
        emit_json({**first, "layers": rows})
    return 1 if options.check and any(row["changed"] for row in rows) else 0


def _update_index(memory: Memory, options: Namespace, layer: str) -> dict[str, Any]:
    """Update or check one index, and say so; what the JSON has of it."""
    if options.rebuild and not options.check:
        with Progress(memory, json=options.json) as progress:
            rebuilt = memory.rebuild(report=progress.step)
        for sentence in rebuilt.said:
            warn_person(sentence)
    state = memory.index(check=options.check, adopt=True)
    path = memory.project.store / INDEX
    listed, total, changed = len(state.index.listed), state.index.total, bool(state.changed)
    if options.check and not options.json:
        print(
            f"{path} is out of date: run `mdmemory index`." if changed else f"{path} is up to date."
        )
    elif not options.json:
        done = f"Updated {path}" if changed else f"{path} is up to date"
        print(f"{done}: {listed} of {count_noun(total, 'note')}.")
    return {
        "layer": layer, "path": str(path), "changed": changed, "listed": listed, "total": total,
    }  # fmt: skip


def run_status(layers: Layers, options: Namespace) -> int:
    from mdmemory import overview, protocol
    from mdmemory.hosts import problems
    from mdmemory.review import waiting

    environment = person.person_places().environment
    assistants = problems.connected_titles(environment)
    if assistants and not options.json and layers.question is None and not layers.there():
        print(f"store       {NO_STORE_YET}\nassistants  {assistants}")
        return 0
    each, memory = layers.each(), layers.main
    with layers.at_one_look():
        rows = [{"layer": layer, **overview.of_store(memory)} for layer, memory in each]
        report = overview.of_work(memory)
        waits = waiting.counts(layers)
    if options.json:
        emit_json({**rows[0], **report, "review": waits, "layers": rows})
        return 0
    lines = [_store_line(row) for row in rows]
    lines += [f"inbox       {_waits_line(waits, rows)}", *_told_of_files(rows)]
    lines.append(f"compaction  {report['due'] or 'not due'}; last: {_last_pass(report)}")
    small = " (a small model: asked pair by pair)" if report["questions"] == "pairs" else ""
    lines.append(f"planner     {report['planner']}{small}: text is sent {_sends_where(report)}")
    if (meaning := report["embeddings"])["kind"] != "off":
        lines.append(f"meaning     {meaning['kind']}{_words_only(meaning['missing'])}")
    if passed := report["passed_over"]:
        lines.append(
            f"not read    {count_noun(passed, 'turn')}: no answer of a model could be read"
        )
    if sentence := protocol.in_force().said:
        lines.append(f"protocol    {sentence}")
    lines.append(f"assistants  {problems.describe_assistants(memory, environment)}")
    print("\n".join(lines))
    return 0


def _store_line(row: dict[str, Any]) -> str:
    """Where a store lies, what it holds, and whether git and a remote have it."""
    whose = "your own   " if row["layer"] == USER else "store      "
    git = "" if row["git"] == "ready" else f"; git: {row['git']}"
    # the same command without a store named would give the project's store that remote
    named = f" --store {shlex.quote(row['store'])}" if row["layer"] == USER else ""
    remote = "" if row["remote"] else f"; only on this disk (`mdmemory{named} sync --remote URL`)"
    return f"{whose} {row['store']}: {in_words(row)}{git}{remote}"


def _waits_line(waits: dict[str, int], rows: list[dict[str, Any]]) -> str:
    """How many of each kind wait for a person, and whether more facts find a place."""
    from mdmemory.capture.pending import FULL
    from mdmemory.review.items import Kind

    # lost notes are one item to answer, and are counted one by one
    counts = waits | {Kind.LOST: sum(len(row["lost"]) for row in rows)}
    sentences = [f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items() if count]
    full = "; it is full: no more facts are kept" if _is_full(rows, FULL) else ""
    return (
        f"{', '.join(sentences)}: `mdmemory review`{full}" if sentences else "nothing waits for you"
    )


def _is_full(rows: list[dict[str, Any]], most: int) -> bool:
    return any(row["inbox"]["pending"] >= most for row in rows)


def _told_of_files(rows: list[dict[str, Any]]) -> list[str]:
    """At most one line each: on what other hands did, what no branch has yet, and what cannot be
    read."""
    sentences = []
    free = [
        f"{each['file']} ({each['change']})"
        for row in rows
        for each in row["unadopted"]
        if not each["why"] and each["file"] not in row["lost"]
    ]
    if free:
        sentences.append(
            f"by hand     {_some_of(free)}: your next mdmemory command that writes commits it"
        )
    waiting = [f"{each['subject']} ({', '.join(each['files'])})"
               for row in rows for each in row["waiting"]]  # fmt: skip
    if waiting:
        sentences.append(
            f"waiting     {_some_of(waiting)}: stored in git; your next mdmemory command commits "
            "it to the branch"
        )
    if unread := [file for row in rows for file in row["unread"]]:
        sentences.append(f"unreadable  {_some_of(unread)}: passed over; `mdmemory doctor` says why")
    return sentences


def _some_of(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _sends_where(report: dict[str, Any]) -> str:
    if not report["sends_to"]:
        return "nowhere"
    cost = report["tokens_today"]
    return (
        f"to {report['sends_to']}; today {count_noun(cost['calls'], 'call')}, "
        f"{cost['input']} tokens in, {cost['output']} out"
    )


def _words_only(missing: str) -> str:
    return f"; search goes by words: {missing}" if missing else ""


def _last_pass(report: dict[str, Any]) -> str:
    last = report["last"]
    return f"{last['outcome']} at {last['at']}" if last else "none"
