"""Where a transcript comes from: which reader fits the bytes, and the sessions of each host."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript, MdmemoryError, NotFound
from mdmemory.files import is_inside, read_regular
from mdmemory.transcripts import claude, opencode_database
from mdmemory.transcripts.opencode_export import HINT, read_export
from mdmemory.transcripts.plain import is_plain, read_plain
from mdmemory.transcripts.turns import Transcript

MAX_BYTES = claude.MAX_BYTES


@dataclass(frozen=True, slots=True)
class Session:
    """A session with at least one turn: `time` is its last change, milliseconds since 1970."""

    id: str
    time: int
    source: str  # opencode or claude
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class Sessions:
    """What was found, newest first, and the hosts that could not be asked."""

    found: tuple[Session, ...]
    problems: tuple[MdmemoryError, ...]


def read(data: bytes | Path, session: str = "") -> Transcript:
    """The transcript in these bytes or this file, whichever of the four kinds it is: an export or
    a database of OpenCode, lines of Claude Code, or `User:` and `Assistant:` in plain text.

    `session` says which one of a database's is meant. Raises BadTranscript for all else.
    """
    if isinstance(data, Path):
        if _is_database(data):
            return read_export(opencode_database.export(data, session))
        data = _bytes(data)
    if data.startswith(opencode_database.MAGIC):
        raise BadTranscript(
            "This is a database, which holds many sessions.",
            "`mdmemory extract --session ID` reads one of OpenCode's.",
        )
    if not data.strip():
        raise BadTranscript("The transcript is empty.", HINT)
    return _read_bytes(data)


def _read_bytes(data: bytes) -> Transcript:
    text = data.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith("{") and is_plain(text):
        _must_be_utf8(data)
        return read_plain(text)
    try:
        return read_export(data)
    except BadTranscript:
        if claude.is_claude(data):
            return _named(claude.read_claude(data))
        if text.startswith(("{", "[")):
            raise
    _must_be_utf8(data)
    raise BadTranscript("The transcript is not JSON, and no line of it begins with `User:`.", HINT)


def _must_be_utf8(data: bytes) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadTranscript("The transcript is not UTF-8 text.", HINT) from problem


def _named(found: Transcript) -> Transcript:
    if not found.session:
        raise BadTranscript("The transcript names no session (sessionId).", HINT)
    return found


def _is_database(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            return file.read(len(opencode_database.MAGIC)) == opencode_database.MAGIC
    except OSError:
        return False


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except MdmemoryError as problem:
        raise BadTranscript(problem.message, "Name the file of a session.") from problem


# --- the sessions of this machine ------------------------------------------------------------


def copy(hosts: Hosts, session: str) -> bytes:
    """A session as it is now, in a form that `read` knows. Raises NotFound, BadTranscript."""
    file = claude.find(hosts.claude, session)
    if file is not None:
        return _bytes(file)
    if hosts.opencode.is_file():
        return opencode_database.export(hosts.opencode, session)
    raise NotFound(f"There is no session {session}.", opencode_database.LIST)


def began_in(folders: Sequence[Path]) -> Callable[[str], bool]:
    """Whether a directory, as a host wrote it down, lies in one of these folders."""

    def wanted(directory: str) -> bool:
        # what a host wrote down may be no path at all
        return (
            os.path.isabs(directory)
            and "\0" not in directory
            and any(is_inside(Path(directory), each) for each in folders)
        )

    return wanted


def sessions(hosts: Hosts, folders: Sequence[Path]) -> Sessions:
    """The sessions that began in one of these folders or below it; without turns they are left
    out, and so are sub-agents' and mdmemory's own."""
    wanted = began_in(folders)
    found = [
        Session(name, max(turn.time for turn in each.turns), "claude", each)
        for name, each in claude.sessions(hosts.claude, folders, wanted)
        if each.turns
    ]
    problems: list[MdmemoryError] = []
    if hosts.opencode.is_file():
        try:
            found += [
                Session(row.id, row.time, "opencode", each)
                for row, each in opencode_database.sessions(hosts.opencode, wanted)
                if each.turns
            ]
        except BadTranscript as problem:
            problems.append(problem)
    newest = sorted(found, key=lambda each: (-each.time, each.id))
    return Sessions(tuple(newest), tuple(problems))
