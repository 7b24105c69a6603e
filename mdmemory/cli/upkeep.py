"""Commands on the store as a whole: index, status, doctor."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import Any

from mdmemory.cli.output import emit, opened, plural
from mdmemory.config import person
from mdmemory.git.log import ID_TRAILER
from mdmemory.memory import Memory
from mdmemory.store.store import INDEX


def index_options(parser: ArgumentParser) -> None:
    """Options of `index`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when stale")


def index(asked: Namespace) -> int:
    """Bring MEMORY.md up to date with the notes."""
    asked.holder = "index"
    memory = opened(asked)
    state = memory.index(check=asked.check)
    path = memory.project.store / INDEX
    listed, total, changed = len(state.index.listed), state.index.total, bool(state.changed)
    if asked.json:
        emit({"path": str(path), "changed": changed, "listed": listed, "total": total})
    elif asked.check:
        print(f"{path} is stale: run `mdmemory index`." if changed else f"{path} is up to date.")
    else:
        done = f"Rewrote {path}" if changed else f"{path} is up to date"
        print(f"{done}: {listed} of {plural(total, 'note')}.")
    return 1 if asked.check and changed else 0


def status_options(parser: ArgumentParser) -> None:
    """Options of `status`: none of its own."""


def status(asked: Namespace) -> int:
    """The store at a glance: what it holds, what is due, and where text is sent."""
    from mdmemory import protocol

    asked.holder = "status"
    memory = opened(asked)
    report = _report(memory)
    if asked.json:
        emit(report)
        return 0
    print(f"store       {report['store']}")
    print(f"git         {report['git']}")
    print(f"notes       {report['notes']}, {report['listed']} in the index")
    print(f"to look at  {plural(report['conflicts'], 'conflict')}, {report['held']} held, "
          f"{report['unconfirmed']} unconfirmed")  # fmt: skip
    for line in _inbox(memory, report["inbox"]["pending"]):
        print(f"inbox       {line}")
    for each in report["waiting"]:
        print(f"waiting     {each['subject']} ({', '.join(each['files'])}): kept in git; the next "
              "mdmemory command that you type commits it")  # fmt: skip
    if report["unread"]:
        print(f"unreadable  {', '.join(report['unread'])}: left as they are, and in no commit of "
              "ours; `mdmemory doctor` says why")  # fmt: skip
    print(f"compaction  {report['due'] or 'not due'}; last: {_last(report)}")
    settings = memory.project.settings
    print(f"planner     {report['planner']}: text is sent {_to(report)}")
    if said := protocol.of_project(memory.project).said:
        print(f"protocol    {said}")
    print("settings")
    for name, origin in settings.origins.items():
        print(f"  {name} = {settings.shown(name)}  ({origin})")
    return 0


def _inbox(memory: Memory, pending: int) -> list[str]:
    """What waits to be written, or for a person."""
    said = []
    if files := memory.kept_wishes():
        count = f"{len(files)} wish{'' if len(files) == 1 else 'es'}"
        said.append(
            f"{count} of yours not written yet, kept in {files[0].parent}; the next command that "
            "writes takes along what fits into a note"
        )
    if pending:
        said.append(f"{plural(pending, 'candidate')} for you to look at: `mdmemory pending`")
    return said


def _to(report: dict[str, Any]) -> str:
    if not report["sends_to"]:
        return "nowhere"
    cost = report["tokens_today"]
    return (
        f"to {report['sends_to']}; today {plural(cost['calls'], 'call')}, "
        f"{cost['input']} tokens in, {cost['output']} out"
    )


def _last(report: dict[str, Any]) -> str:
    last = report["last"]
    return f"{last['outcome']} at {last['at']}" if last else "none"


def _report(memory: Memory) -> dict[str, Any]:
    from mdmemory.llm.choose import sends_to  # `index` stands in this module too, and is quicker

    with memory.state() as known:
        last = known.last_pass()
        used = known.usage(person.now().date().isoformat())
    settings = memory.project.settings
    return {
        "store": str(memory.project.store),
        "git": memory.git_state(),
        **memory.counts(),
        "unread": memory.unread(),
        "inbox": {"wishes": len(memory.kept_wishes()), "pending": len(memory.pending())},
        "waiting": [
            {
                "id": each.get(ID_TRAILER),
                "subject": each.subject,
                "files": [file for files in each.groups() for file in files],
            }
            for each in memory.waiting()
        ],
        "due": memory.due(),
        "last": {"at": last.at, "outcome": last.outcome} if last else None,
        "planner": settings.text("planner"),
        "sends_to": sends_to(settings),
        "tokens_today": asdict(used),
    }


def doctor_options(parser: ArgumentParser) -> None:
    """Options of `doctor`."""
    parser.add_argument("--fix", action="store_true", help="mend first what is safe to mend")


def doctor(asked: Namespace) -> int:
    """What may be wrong with the store and its wiring, each with what to do."""
    asked.holder = "doctor"
    memory = opened(asked)
    rows = [asdict(finding) for finding in memory.doctor(fix=asked.fix)]
    rows += [
        {"check": "opencode", "level": "warning", "path": "", "message": text, "fixable": False}
        for text in _opencode(memory)
    ]
    failed = any(row["level"] == "error" for row in rows)
    if asked.json:
        emit({"ok": not failed, "findings": rows})
    else:
        for row in rows:
            print(f"{row['level']}: {row['path'] + ': ' if row['path'] else ''}{row['message']}")
        fixable = sum(row["fixable"] for row in rows)
        if fixable and not asked.fix:
            print(f"`mdmemory doctor --fix` mends {fixable} of these.")
        if not rows:
            print(f"{memory.project.store} has nothing wrong.")
    return 1 if failed else 0


def _opencode(memory: Memory) -> list[str]:
    """What stands between this store and OpenCode."""
    from mdmemory.hosts import git_hooks
    from mdmemory.hosts.opencode import bridge_log, checks, wiring
    from mdmemory.hosts.opencode.places import Place

    project = memory.project
    place = Place(project.root, project.store)
    if not wiring.is_used(place):
        return []
    return [
        *checks.examine(place, git_hooks.command(), person.opencode_folder()),
        *bridge_log.findings(project),
        *checks.version_findings(project, person.places().environment),
    ]
