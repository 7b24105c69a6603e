"""The reader that fits a transcript's bytes, and the sessions of every host on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript, MdmemoryError, NotFound
from mdmemory.files import is_inside, read_regular
from mdmemory.transcripts import claude, opencode
from mdmemory.transcripts.opencode import HINT, read_export
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
    """Sessions, newest first, and the errors of hosts that could not be read."""

    found: tuple[Session, ...]
    problems: tuple[MdmemoryError, ...]


def read(data: bytes | Path, session: str = "") -> Transcript:
    """The transcript in bytes or a file: an export or a database of OpenCode, lines of Claude Code,
    or `User:` and `Assistant:` in plain text.

    `session` names one session of a database. Raises BadTranscript for anything else.
    """
    if isinstance(data, Path):
        if _is_database(data):
            return read_export(opencode.export(data, session))
        data = _bytes(data)
    if data.startswith(opencode.MAGIC):
        raise BadTranscript(
            "This is a database, which holds many sessions.",
            "`mdmemory extract --session ID` reads one of OpenCode's.",
        )
    if not data.strip():
        raise BadTranscript("The transcript is empty.", HINT)
    return _read_bytes(data)


def _read_bytes(data: bytes) -> Transcript:
    text = data.decode("utf-8-sig", "replace").lstrip()
    is_plain_text = not text.startswith("{") and is_plain(text)
    try:
        if not is_plain_text:
            return read_export(data)
    except BadTranscript:
        if claude.is_claude(data):
            transcript = claude.read_claude(data)
            if not transcript.session:
                raise BadTranscript("The transcript names no session (sessionId).", HINT) from None
            return transcript
        if text.startswith(("{", "[")):
            raise
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadTranscript("The transcript is not UTF-8 text.", HINT) from problem
    if is_plain_text:
        return read_plain(text)
    raise BadTranscript("The transcript is not JSON, and no line of it begins with `User:`.", HINT)


def _is_database(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            return file.read(len(opencode.MAGIC)) == opencode.MAGIC
    except OSError:
        return False


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except MdmemoryError as problem:
        raise BadTranscript(problem.message, "Name the file of a session.") from problem


# --- the sessions of this machine ------------------------------------------------------------


def copy(hosts: Hosts, session: str) -> bytes:
    """The bytes of a session as it is now, for `read`. Raises NotFound, BadTranscript."""
    file = claude.find(hosts.claude, session)
    if file is not None:
        return _bytes(file)
    if hosts.opencode.is_file():
        return opencode.export(hosts.opencode, session)
    raise NotFound(f"There is no session {session}.", opencode.LIST)


def began_in(folders: Sequence[Path]) -> Callable[[str], bool]:
    """A test whether a directory, as a host recorded it, lies in one of these folders."""

    def wanted(directory: str) -> bool:
        # the host's text may be no path at all
        return (
            os.path.isabs(directory)
            and "\0" not in directory
            and any(is_inside(Path(directory), each) for each in folders)
        )

    return wanted


def sessions(hosts: Hosts, folders: Sequence[Path]) -> Sessions:
    """The sessions that began in or below one of these folders, without empty ones, sub-agents'
    and mdmemory's own."""
    wanted = began_in(folders)
    listed = [
        Session(file.stem, max(turn.time for turn in transcript.turns), "claude", transcript)
        for file in claude.files(hosts.claude, folders)
        if (transcript := claude.session(file, wanted)) and transcript.turns
    ]
    problems: list[MdmemoryError] = []
    if hosts.opencode.is_file():
        try:
            listed += [
                Session(row.id, row.time, "opencode", transcript)
                for row, transcript in opencode.sessions(hosts.opencode, wanted)
                if transcript.turns
            ]
        except BadTranscript as problem:
            problems.append(problem)
    newest = sorted(listed, key=lambda session: (-session.time, session.id))
    return Sessions(tuple(newest), tuple(problems))
