"""Commands on the hosts' sessions: session list, show, sweep."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mdmemory.cli.output import emit, opened, plural, warn
from mdmemory.config import person
from mdmemory.errors import UsageError
from mdmemory.memory import Memory
from mdmemory.records import asdict
from mdmemory.search.sources import session_folders
from mdmemory.store.project import Project
from mdmemory.tools.session import shown, stored

if TYPE_CHECKING:
    from mdmemory.transcripts.sources import Session

_NEWEST = 100  # sessions that are listed; reading a thousand long ones takes seconds
_TITLE = 80  # characters of a title


def session_options(parser: ArgumentParser) -> None:
    """Options of `session`."""
    parser.add_argument(
        "action", choices=["list", "show", "sweep"], metavar="ACTION",
        help="list: the sessions, newest first\nshow: what is stored about one\nsweep: delete old "
        "session data",
    )  # fmt: skip
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="with show: a session, or a shortened output (o-...)"
    )
    parser.add_argument(
        "--all", action="store_true", help=f"with list: all, not only the newest {_NEWEST}"
    )
    parser.add_argument(
        "--all-projects", action="store_true", help="with list: the sessions of all projects"
    )


def session(asked: Namespace) -> int:
    """List this project's sessions in OpenCode, Claude Code, Codex and Gemini CLI, with the number
    of messages that mdmemory has not read; or show what it keeps about one."""
    from mdmemory.transcripts.sources import sessions

    asked.holder = "session"
    memory = opened(asked)
    if asked.id and asked.action != "show":
        raise UsageError(f"`session {asked.action}` takes no ID.", "`session show ID` does.")
    if asked.action == "show":
        return _show(memory, asked.id, asked.json)
    if asked.action == "sweep":
        return _sweep(memory, asked.json)
    project = memory.project
    folders = None if asked.all_projects else session_folders(project)
    there = sessions(person.hosts(), folders, None if asked.all else _NEWEST)
    rows = _rows(project, there.found)
    if asked.json:
        emit(rows)
    else:
        _tell(rows, are_all=there.is_all)
    for problem in there.problems:
        warn(f"{problem.message} {problem.hint}")
    return 1 if there.problems else 0


def _rows(project: Project, found: tuple[Session, ...]) -> list[dict[str, Any]]:
    from mdmemory.transcripts.turns import turns_read

    marks = _watermarks(project, [each.transcript.session for each in found])
    return [
        {
            "id": each.id, "title": _title(each), "time": _moment(each.time),
            "source": each.source, "turns": len(each.transcript.turns),
            "read": turns_read(each.transcript, marks.get(each.transcript.session, "")),
        }
        for each in found
    ]  # fmt: skip


def _title(session: Session) -> str:
    """The session's title on one line."""
    from mdmemory.privacy import redacted

    shown = redacted(session.transcript.named[: _TITLE * 4])
    return shown if len(shown) <= _TITLE else f"{shown[: _TITLE - 1].rstrip()}…"


def _watermarks(project: Project, sessions: list[str]) -> dict[str, str]:
    if not sessions or not os.path.lexists(project.state_file):
        return {}  # nothing was read yet, and do not create the file only to look
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


def _tell(rows: list[dict[str, Any]], *, are_all: bool) -> None:
    from mdmemory.transcripts.sources import TITLES

    for row in rows:
        title = "".join(sign for sign in " ".join(row["title"].split()) if sign.isprintable())
        time = row["time"][:16].replace("T", " ") or "-"
        unread = f"{plural(row['turns'], 'turn')}, {row['turns'] - row['read']} unread"
        host = TITLES[row["source"]]
        print(f"{time:<16}  {host:<11}  {row['id']}  {unread:<20}  {title}".rstrip())
    if not are_all:
        print(f"These are the newest {len(rows)}; `mdmemory session list --all` shows all.")
    if rows:
        print("Read one: `mdmemory extract --session ID`.")
    else:
        print(f"No sessions of {_either([*TITLES.values()])} in this project.")


def _either(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


# --- what is kept of one session ---------------------------------------------------------------


def _show(memory: Memory, id: str | None, as_json: bool) -> int:
    """Show what is stored about a session, or the whole of a shortened output."""
    if not id:
        raise UsageError("`session show` needs an ID.", "`mdmemory session list` shows them.")
    if id.startswith("o-"):
        return _output(memory, id, as_json)
    found = stored(memory, id)
    if as_json:
        emit(found)
    else:
        _tell_kept(found)
    return 0


def _sweep(memory: Memory, as_json: bool) -> int:
    """Delete old session data."""
    done = memory.sweep()
    if as_json:
        emit(asdict(done))
    else:
        print(
            f"Removed {plural(done.files, 'file')} ({done.bytes:,} bytes) and the data of "
            f"{plural(done.sessions, 'session')}."
        )
        if done.errors:
            print(f"{plural(done.errors, 'file')} could not be removed.")
    return 1 if done.errors else 0


def _output(memory: Memory, id: str, as_json: bool) -> int:
    from mdmemory.session import storage

    text = storage.get_output(memory.project.private / storage.FOLDER, id)
    if as_json:
        emit({"id": id, "text": text})
    else:
        print(text)
    return 0


def _tell_kept(kept: dict[str, Any]) -> None:
    promotions = [f"{each['outcome']}: {each['content']}" for each in kept["promotions"]]
    for text in shown(kept["sections"] | {"promotions": promotions}):
        print(text.replace("\n", "\n  "))
