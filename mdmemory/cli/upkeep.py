"""Commands on the store as a whole: doctor, index, status; audit, on any memory."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mdmemory.actions.listing import in_words
from mdmemory.cli.commands import (
    LISTED,
    NO_STORE_YET,
    UNDO,
    count_noun,
    in_utc,
    open_layers,
    show_value,
    visible_text,
    warn_person,
)
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.errors import NoStore
from mdmemory.layers import USER
from mdmemory.memory import Memory
from mdmemory.store.store import INDEX

_NAMED = 5  # files that are named


def run_doctor(layers: Memory, options: Namespace) -> int:
    from mdmemory.hosts import problems

    environment = person.person_places().environment
    if _bare_assistants(layers, environment):
        # of somebody who has no store yet only the assistants can be looked at
        findings = problems.of_assistants(environment, Path.cwd())
        rows = [{**row, "layer": USER} for row in findings]
        nothing = NO_STORE_YET
        if rows and not options.json:
            print(nothing)
    else:
        rows = problems.list_problems(layers, environment, fix=options.fix)
        stores = " and ".join(str(memory.project.store) for _, memory in layers.each())
        nothing = f"No problems in {stores}."
    failed = any(row["level"] == "error" for row in rows)
    of_files, lines = problems.by_file(rows), []
    for row in of_files:
        mine = layers.prefix_of(row["layer"])
        path = f"{mine}{row['path']}: " if row["path"] else ""
        lines.append(f"{row['level']}: {path}{row['message']}")
    lines.append(problems.in_all(of_files) if rows else nothing)
    return show_value(options, {"ok": not failed, "findings": rows}, *lines, failed=failed)


def run_index(layers: Memory, options: Namespace) -> int:
    rows, lines = list[dict[str, Any]](), []
    for layer, memory in layers.each():
        if options.rebuild and not options.check:
            with Progress(memory, json=options.json) as progress:
                rebuilt = memory.rebuild(report=progress.step)
            for sentence in rebuilt.said:
                warn_person(sentence)
        state, path = memory.index(check=options.check, adopt=True), memory.project.store / INDEX
        listed, total, changed = len(state.index.listed), state.index.total, bool(state.changed)
        about = {"path": str(path), "changed": changed, "listed": listed, "total": total}
        rows.append({"layer": layer, **about})
        there = f"{path} is up to date"
        if options.check:
            stale = f"{path} is out of date: run `mdmemory index`."
            lines.append(stale if changed else f"{there}.")
        else:
            done = f"Updated {path}" if changed else there
            lines.append(f"{done}: {listed} of {count_noun(total, 'note')}.")
            if commit := state.adopted:
                files = [file for group in memory.change(commit).groups() for file in group]
                lines.append(f"Committed {_some(files)}. {UNDO.format(commit[:10])}")
    fields = {name: value for name, value in rows[0].items() if name != "layer"}
    failed = options.check and any(row["changed"] for row in rows)
    return show_value(options, {**fields, "layers": rows}, *lines, failed=failed)


def run_status(layers: Memory, options: Namespace) -> int:
    from mdmemory import overview, protocol
    from mdmemory.capture.pending import FULL
    from mdmemory.hosts import problems
    from mdmemory.review import waiting
    from mdmemory.review.items import Kind

    environment = person.person_places().environment
    if (assistants := _bare_assistants(layers, environment)) and not options.json:
        print(f"store       {NO_STORE_YET}\nassistants  {assistants}")
        return 0
    each, memory = layers.each(), layers.main
    with layers.at_one_look():
        rows = [{"layer": layer, **overview.of_store(memory)} for layer, memory in each]
        report = overview.of_work(memory)
        waits = waiting.counts(layers)
    if options.json:
        return show_value(options, {**rows[0], **report, "review": waits, "layers": rows})
    lines = []
    for row in rows:  # where a store lies, what it holds, and whether git and a remote have it
        is_own = row["layer"] == USER
        git = "" if row["git"] == "ready" else f"; git: {row['git']}"
        # the same command without a store named would give the project's store that remote
        named = f" --store {shlex.quote(row['store'])}" if is_own else ""
        alone = f"; only on this disk (`mdmemory{named} sync --remote URL`)"
        about = f"{row['store']}: {in_words(row)}{git}{'' if row['remote'] else alone}"
        lines.append(f"{'your own' if is_own else 'store':<11} {about}")
    # lost notes are one item to answer, and are counted one by one
    counts = waits | {Kind.LOST: sum(len(row["lost"]) for row in rows)}
    kinds = [
        count_noun(count, kind) if kind == Kind.CONFLICT else f"{count} {kind.replace('_', ' ')}"
        for kind, count in counts.items() if count
    ]  # fmt: skip
    is_full = any(row["inbox"]["pending"] >= FULL for row in rows)
    full = "; it is full: no more facts are kept" if is_full else ""
    inbox = f"{', '.join(kinds)}: `mdmemory review`{full}" if kinds else "nothing waits for you"
    lines += [f"inbox       {inbox}", *_file_lines(rows)]
    last = f"{past['outcome']} at {in_utc(past['at'])}" if (past := report["last"]) else "none"
    lines.append(f"compaction  {report['due'] or 'not due'}; last: {last}")
    small = " (a small model: asked pair by pair)" if report["questions"] == "pairs" else ""
    where, cost = "nowhere", report["tokens_today"]
    if report["sends_to"]:
        where = (
            f"to {report['sends_to']}; today {count_noun(cost['calls'], 'call')}, "
            f"{cost['input']} tokens in, {cost['output']} out"
        )
    lines.append(f"planner     {report['planner']}{small}: text is sent {where}")
    if (meaning := report["embeddings"])["kind"] != "off":
        words = f"; search goes by words: {meaning['missing']}" if meaning["missing"] else ""
        lines.append(f"meaning     {meaning['kind']}{words}")
    if passed := report["passed_over"]:
        lines.append(
            f"not read    {count_noun(passed, 'turn')}: no answer of a model could be read"
        )
    if sentence := protocol.in_force().said:
        lines.append(f"protocol    {sentence}")
    lines.append(f"assistants  {problems.describe_assistants(memory, environment)}")
    print("\n".join(lines))
    return 0


def _bare_assistants(layers: Memory, environment: Mapping[str, str]) -> str:
    """Who is connected where no store is yet, else "". Raises NoStore: nobody is."""
    from mdmemory.hosts import problems

    if layers.question is not None or layers.there():
        return ""
    if not (titles := problems.connected_titles(environment)):
        hint = "Next: `mdmemory setup` connects your assistants."
        raise NoStore("Nothing is set up here yet.", hint)
    return titles


def _file_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """At most one line each: on what other hands did, what no branch has yet, and what cannot be
    read."""
    by_hand = [
        f"{each['file']} ({each['change']})"
        for row in rows
        for each in row["unadopted"]
        if not each["why"] and each["file"] not in row["lost"]
    ]
    waiting = [f"{each['subject']} ({', '.join(each['files'])})"
               for row in rows for each in row["waiting"]]  # fmt: skip
    unread = [file for row in rows for file in row["unread"]]
    for title, names, about in (
        ("by hand", by_hand, "your next mdmemory command that writes commits it"),
        ("waiting", waiting, "stored in git; your next mdmemory command commits it to the branch"),
        ("unreadable", unread, "passed over; `mdmemory doctor` says why"),
    ):
        if names:
            yield f"{title:<11} {_some(names)}: {about}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


# --- any memory


def run_audit(options: Namespace) -> int:
    from mdmemory.audit import audit

    with Progress(None, json=options.json) as progress:
        model = None
        if options.model:
            from mdmemory.audit_model import ModelReading

            memory = open_layers(options).main
            today = memory.now().date().isoformat()
            model = ModelReading(memory.project, today, progress.step)
        count, findings = audit(Path(options.path), Path.cwd(), model)
    failures = model.failures if model else ()
    files = count_noun(count, "file")
    lines = [
        visible_text(f"{each.level}: {each.path}:{each.line}: {each.message}")
        for each in findings[:LISTED]
    ]
    if more := len(findings[LISTED:]):
        lines.append(f"... and {more} more: `mdmemory audit --json PATH` lists all.")
    for sentence in failures if not options.json else ():
        warn_person(sentence)
    errors = sum(each.level == "error" for each in findings)
    of_them = f"{count_noun(errors, 'error')}, {count_noun(len(findings) - errors, 'warning')}"
    nothing = f"No problems in {files}{', as far as it was read' if failures else ''}."
    lines.append(f"{of_them} in {files}. Nothing was changed." if findings else nothing)
    rows, is_ok = [each._asdict() for each in findings], not findings and not failures
    fields = {"ok": is_ok, "files": count, "findings": rows, "unread": [*failures]}
    return show_value(options, fields, *lines, failed=not is_ok)
