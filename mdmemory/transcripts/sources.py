"""The reader that fits a transcript's bytes, and the sessions of every host on this machine.

A host that keeps files is a row of `READERS`; OpenCode, which has a database, stands beside them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript, MdmemoryError, NotFound
from mdmemory.files import is_inside, read_regular
from mdmemory.transcripts import claude, codex, gemini, opencode
from mdmemory.transcripts.injected import fence_after
from mdmemory.transcripts.opencode import HINT, read_export
from mdmemory.transcripts.session_files import MAX_BYTES, Rows, SessionFile, SessionRows, pick_lines
from mdmemory.transcripts.turns import Transcript, Turn, clean, is_ours

_ROLES = {
    "User": "user", "USER": "user", "Human": "user", "用户": "user", "用戶": "user",
    "Assistant": "assistant", "ASSISTANT": "assistant", "AI": "assistant", "助手": "assistant",
    "System": "", "Tool": "", "系统": "", "工具": "",
}  # fmt: skip
_LABEL = re.compile(
    rf"(?:#{{1,4}} )?\*{{0,2}}({'|'.join(_ROLES)})\*{{0,2}}[ ]?[:：]\*{{0,2}}[ \t]*"
)
_TITLE = re.compile(r"\[Session:[ \t]*([^\]\n]{1,200})\]")


def is_plain(text: str) -> bool:
    """Whether a user or an assistant speaks in the text."""
    return any(role for role, _ in _split_blocks(text))


def read_plain(text: str) -> Transcript:
    """The turns of a conversation in plain text.

    A session's id comes from its first turn, and a turn's id from its number and all text up to
    it. So a text that grew is read on from its old end, and a text that only begins alike is read
    from its start.
    """
    text = text.replace("\r\n", "\n")
    header = _TITLE.match(text.lstrip("\ufeff \t\n"))
    title = header[1].strip() if header else ""
    turns: list[Turn] = []
    sha = hashlib.sha256(title.encode("utf-8", "replace"))
    session = ""
    for number, (role, block) in enumerate(_split_blocks(text), 1):
        sha.update(f"\0{role}\0{block.strip()}".encode("utf-8", "replace"))
        session = session or f"text-{sha.hexdigest()[:12]}"
        words = clean(block) if role else ""
        if words:
            turns.append(Turn(f"{number:06}-{sha.hexdigest()[:8]}", role, words))
    return Transcript(session, title, "", () if is_ours(title) else tuple(turns))


def _split_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of role ("" for nobody) and text, in order. A label inside code is code."""
    role: str | None = None
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        label = None if fence else _LABEL.match(line)
        if label:
            if role is not None:
                yield role, "\n".join(lines)
            role, lines = _ROLES[label[1]], [line[label.end() :]]
        else:
            fence = fence_after(line, fence)
            lines.append(line)
    if role is not None:
        yield role, "\n".join(lines)


class Reader(NamedTuple):
    """A host that keeps a file for each session, and lies in `Hosts` under its `name`.

    `has` tells whether a line is this host's, `pick_row` what of it may hold a turn, else None.
    `files` and `find` look below the host's place; `own_name` and `began` ask a session for its id
    and its folder.
    """

    name: str
    title: str
    has: Callable[[Mapping[str, Any]], bool]
    pick_row: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
    transcript: Callable[[Rows], Transcript]
    files: Callable[[Path, Sequence[Path] | None], Iterator[SessionFile]]
    find: Callable[[Path, str, Sequence[Path]], SessionFile | None]
    began: Callable[[SessionFile], str]
    own_name: Callable[[SessionFile], str] = attrgetter("id")


# the first that takes a line for its own reads the file: Claude Code's may have any type
READERS = (
    Reader(
        "codex", "Codex", codex.is_row, codex.pick_row, codex.transcript, codex.list_files,
        codex.find, codex.find_folder,
    ),
    Reader(
        "gemini", "Gemini CLI", gemini.is_row, gemini.pick_row, gemini.transcript,
        gemini.list_files, gemini.find, attrgetter("began"), gemini.own_name,
    ),
    Reader(
        "claude", "Claude Code", claude.is_row, claude.pick_row, claude.transcript,
        claude.list_files, claude.find, claude.find_folder,
    ),
)  # fmt: skip
TITLES = {"opencode": "OpenCode", **{reader.name: reader.title for reader in READERS}}


class Session(NamedTuple):
    """A session with at least one turn: `time` is its last change, milliseconds since 1970."""

    id: str
    time: int
    source: str  # a name of TITLES
    transcript: Transcript


class Sessions(NamedTuple):
    """Sessions, newest first, and what could not be read. `is_all`: no older ones were left out."""

    items: tuple[Session, ...]
    problems: tuple[MdmemoryError, ...]
    is_all: bool = True


def read(data: bytes | Path, session: str = "") -> Transcript:
    """The transcript in bytes or a file: an export or a database of OpenCode, lines of Claude Code,
    Codex or Gemini CLI, or `User:` and `Assistant:` in plain text.

    `session` names one session of a database. Raises BadTranscript for anything else.
    """
    if isinstance(data, Path):
        if _is_database(data):
            return read_export(opencode.export(data, session))
        try:
            data = read_regular(data, MAX_BYTES)
        except MdmemoryError as problem:
            raise BadTranscript(problem.message, "Name the file of a session.") from problem
    if data.startswith(opencode.MAGIC):
        raise BadTranscript(
            "This is a database, which holds many sessions.",
            "`mdmemory extract --session ID` reads one of OpenCode's.",
        )
    if not data.strip():
        raise BadTranscript("The transcript is empty.", HINT)
    text = data.decode("utf-8-sig", "replace").lstrip()
    is_plain_text = not text.startswith("{") and is_plain(text)
    try:
        if not is_plain_text:
            return read_export(data)
    except BadTranscript:
        if (transcript := _of_a_reader(data)) is not None:
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


def _of_a_reader(data: bytes) -> Transcript | None:
    """What the host reads of which the first line is that has a host."""
    for row in SessionRows(data):
        for reader in READERS:
            if reader.has(row):
                rows = SessionRows(data)
                return reader.transcript(rows)._replace(torn=rows.torn)
    return None


def _is_database(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            return file.read(len(opencode.MAGIC)) == opencode.MAGIC
    except OSError:
        return False


# --- the sessions of this machine


def find_place(hosts: Hosts, reader: Reader) -> Path:
    """Where a host keeps its sessions."""
    return Path(getattr(hosts, reader.name))


def copy(hosts: Hosts, session: str, folders: Sequence[Path] | None = None) -> bytes:
    """A session as it is now, for `read`: the lines in which somebody speaks.

    With `folders`, only one that began in or below one of them. Raises NotFound, BadTranscript.
    """
    for reader in READERS:
        try:
            file = reader.find(find_place(hosts, reader), session, folders or ())
            if file is not None:
                if folders is not None:
                    _require_here(session, reader.began(file), folders)
                return pick_lines(SessionRows(file), reader.pick_row)
        except NotFound:
            raise
        except MdmemoryError as problem:
            raise BadTranscript(problem.message, opencode.LIST) from problem
    if hosts.opencode.is_file():
        if folders is not None:
            row = opencode.find_session(hosts.opencode, session)
            _require_here(session, row.directory if row else None, folders)
        return opencode.export(hosts.opencode, session)
    raise NotFound(f"There is no session {session}.", opencode.LIST)


def _require_here(session: str, directory: str | None, folders: Sequence[Path]) -> None:
    if directory is not None and not began_in(folders)(directory):
        raise NotFound(
            f"The session {session} belongs to another project.",
            "Run the command there, or add --all-projects.",
        )


def began_in(folders: Sequence[Path] | None) -> Callable[[str], bool]:
    """A test whether a directory, as a host recorded it, lies in one of these folders; for None,
    wherever it lies."""

    def is_wanted(directory: str) -> bool:
        # the host's text may be no path at all
        return folders is None or (
            os.path.isabs(directory)
            and "\0" not in directory
            and any(is_inside(Path(directory), each) for each in folders)
        )

    return is_wanted


def sessions(hosts: Hosts, folders: Sequence[Path] | None, newest: int | None = None) -> Sessions:
    """The sessions that began in or below one of these folders (None: all of this machine),
    without empty ones, sub-agents' and mdmemory's own.

    Of each host only the `newest` ones are read, those that changed last.
    """
    listed: list[Session] = []
    problems: list[MdmemoryError] = []
    is_all = True
    for reader in READERS:
        rows, bad, whole = _list_of_host(reader, find_place(hosts, reader), folders, newest)
        listed += rows
        problems += bad
        is_all = is_all and whole
    if hosts.opencode.is_file():
        try:
            pairs = opencode.list_sessions(hosts.opencode, began_in(folders), newest)
            listed += [Session(row.id, row.time, "opencode", turns) for row, turns in pairs]
            is_all = is_all and (newest is None or len(pairs) < newest)
        except BadTranscript as problem:
            sentence = f"OpenCode's sessions cannot be listed. {problem.message}"
            problems.append(BadTranscript(sentence, problem.hint))
    every = sorted(listed, key=lambda session: (-session.time, session.id))
    return Sessions(
        tuple(every[:newest]), tuple(problems), is_all and (newest is None or len(every) <= newest)
    )


def _list_of_host(
    reader: Reader, home: Path, folders: Sequence[Path] | None, newest: int | None
) -> tuple[list[Session], list[MdmemoryError], bool]:
    """The sessions of one host, what could not be read, and whether these are all."""
    wanted = began_in(folders)
    there = [*reader.files(home, folders)]
    if newest is not None and len(there) > newest:
        there.sort(key=lambda file: -file.changed)
    listed: list[Session] = []
    unread: list[MdmemoryError] = []
    is_all = True
    for file in there:
        if newest is not None and len(listed) == newest:
            is_all = False
            break
        try:
            if not wanted(reader.began(file)):
                continue
            transcript = reader.transcript(SessionRows(file))
        except NotFound:
            continue  # removed meanwhile
        except MdmemoryError as problem:
            unread.append(problem)
            continue
        if transcript.turns:
            time = max(turn.time for turn in transcript.turns)
            listed.append(Session(transcript.session or file.id, time, reader.name, transcript))
    problems: list[MdmemoryError] = []
    if unread:
        some = "1 session" if len(unread) == 1 else f"{len(unread)} sessions"
        sentence = f"{some} of {reader.title} cannot be read. {unread[0].message}"
        problems.append(BadTranscript(sentence, unread[0].hint))
    return listed, problems, is_all
