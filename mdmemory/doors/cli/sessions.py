"""Commands on the hosts' sessions: session list."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.config import PROJECT_FILE
from mdmemory.doors import machine
from mdmemory.doors.cli.output import emit, opened, plural, warn
from mdmemory.errors import RepositoryState
from mdmemory.store.project import Project

if TYPE_CHECKING:
    from mdmemory.capture.transcript import Hosts, Session


def session_options(parser: ArgumentParser) -> None:
    """Options of `session`."""
    parser.add_argument("action", choices=["list"], help="list: what there is, newest first")


def session(asked: Namespace) -> int:
    """The sessions of this project in OpenCode and Claude Code, and how far each was read."""
    from mdmemory.capture.transcript import sessions

    asked.holder = "session"
    project = opened(asked).project
    there = sessions(hosts(), _folders(project))
    rows = _rows(project, there.found)
    if asked.json:
        emit(rows)
    else:
        _tell(rows)
    for problem in there.problems:
        warn(f"OpenCode's sessions are missing here. {problem.message} {problem.hint}")
    return 1 if there.problems else 0


def hosts() -> Hosts:
    """Where the hosts keep their sessions on this machine, by the variables that they read."""
    from mdmemory.capture.transcript import Hosts

    places = machine.places()
    data = places.personal_root.parent / "opencode"  # beside our own, by the same XDG rules
    claude = places.environment.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
    named = places.environment.get("OPENCODE_DB") or "opencode.db"
    return Hosts(opencode=data / named, claude=Path(claude) / "projects")


def _folders(project: Project) -> list[Path]:
    """The project's folder in each of its repository's worktrees, those that are gone, too.

    A store that belongs to no one project serves the folder in which the command was started.
    """
    from mdmemory.store import git

    root = project.root
    if root == machine.places().personal_root or not (root / PROJECT_FILE).is_file():
        root = Path.cwd()
    try:
        repository = git.find(root)
    except RepositoryState:  # no reason not to look
        repository = None
    listed = repository.ask("worktree", "list", "--porcelain") if repository else None
    if repository is None or listed is None:
        return [root]
    below = Path(os.path.realpath(root)).relative_to(os.path.realpath(repository.top))
    lines = listed.decode("utf-8", "surrogateescape").split("\n")
    trees = [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
    return [root, *(Path(tree) / below for tree in trees)]


def _rows(project: Project, found: tuple[Session, ...]) -> list[dict[str, Any]]:
    from mdmemory.capture.transcript import turns_read

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
    path = project.private / "state.db"
    if not sessions or not path.is_file():
        return {}  # nothing was read yet, and looking is no reason to make the file
    from mdmemory.store.state import State

    with State(path) as state:
        for warning in state.warnings:
            warn(warning)
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
