"""Commands on the hosts' sessions: session list, show, sweep."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mdmemory.cli.output import emit, opened, plural, warn
from mdmemory.config import person
from mdmemory.errors import UsageError
from mdmemory.search.sources import session_folders
from mdmemory.store.project import Project

if TYPE_CHECKING:
    from mdmemory.transcripts.sources import Session


def session_options(parser: ArgumentParser) -> None:
    """Options of `session`."""
    parser.add_argument(
        "action", choices=["list", "show", "sweep"], metavar="ACTION",
        help="list: what there is, newest first; show: what is kept of one; sweep: remove what is "
        "old or too much of that",
    )  # fmt: skip
    parser.add_argument("id", nargs="?", metavar="ID",
                        help="show: a session, or an output shown in part (o-...)")  # fmt: skip


def session(asked: Namespace) -> int:
    """The sessions of this project in OpenCode and Claude Code, how far each was read, and what is
    kept of one besides: core blocks, working memory, files, errors, decisions."""
    from mdmemory.cli import session_state
    from mdmemory.transcripts.sources import sessions

    asked.holder = "session"
    memory = opened(asked)
    if asked.id and asked.action != "show":
        raise UsageError(f"`session {asked.action}` takes no id.", "`session show ID` does.")
    if asked.action == "show":
        return session_state.show(memory, asked.id, asked.json)
    if asked.action == "sweep":
        return session_state.sweep(memory, asked.json)
    project = memory.project
    there = sessions(person.hosts(), session_folders(project))
    rows = _rows(project, there.found)
    if asked.json:
        emit(rows)
    else:
        _tell(rows)
    for problem in there.problems:
        warn(f"OpenCode's sessions are missing here. {problem.message} {problem.hint}")
    return 1 if there.problems else 0


def _rows(project: Project, found: tuple[Session, ...]) -> list[dict[str, Any]]:
    from mdmemory.transcripts.turns import turns_read

    marks = _watermarks(project, [each.transcript.session for each in found])
    return [
        {
            "id": each.id, "title": each.transcript.title, "time": _moment(each.time),
            "source": each.source, "turns": len(each.transcript.turns),
            "read": turns_read(each.transcript, marks.get(each.transcript.session, "")),
        }
        for each in found
    ]  # fmt: skip


def _watermarks(project: Project, sessions: list[str]) -> dict[str, str]:
    if not sessions or not os.path.lexists(project.state_file):
        return {}  # nothing was read yet, and looking is no reason to make the file
    from mdmemory.store.state import State

    with State(project.state_file, warn) as state:
        return {session: state.watermark(session) or "" for session in sessions}


def _moment(milliseconds: int) -> str:
    """ISO 8601 in UTC, "" where the host gave no time that exists."""
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat() if milliseconds > 0 else ""


def _tell(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        title = "".join(sign for sign in " ".join(row["title"].split()) if sign.isprintable())
        time = row["time"][:16].replace("T", " ") or "-"
        how_far = f"{plural(row['turns'], 'turn')}, {row['read']} read"
        print(f"{time:<16}  {row['source']:<8}  {row['id']}  {how_far:<18}  {title}".rstrip())
    if rows:
        print("Read one: `mdmemory extract --session ID`.")
    else:
        print("No session of OpenCode or Claude Code in this project has a turn.")
