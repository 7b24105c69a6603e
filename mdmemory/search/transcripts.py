"""Sessions as a source of search: this project's in OpenCode and Claude Code, and exported ones.

A chunk is a turn, with who speaks; a session is read again when it has changed. What is private,
injected or a secret does not enter the database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript
from mdmemory.files import digest
from mdmemory.search.chunks import Chunk, cut
from mdmemory.search.database import Database, Document
from mdmemory.search.folders import walk
from mdmemory.search.notes import Cutting, Report
from mdmemory.search.results import SESSIONS
from mdmemory.transcripts import claude, opencode
from mdmemory.transcripts.sources import began_in, read
from mdmemory.transcripts.turns import Transcript

EXPORTS = (".json", ".jsonl")
_TOGETHER = 10  # sessions that are held in memory at once
# A print begins with where its session lies.
_OPENCODE, _CLAUDE, _EXPORT = "o", "c", "e"


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The sessions that began in one of `folders`, and those in files below `exports`."""

    hosts: Hosts
    folders: Sequence[Path]
    exports: Sequence[Path]
    redact: Callable[[str], str]

    def update(
        self, database: Database, cutting: Cutting, report: Report
    ) -> tuple[list[str], list[str]]:
        """Bring the database up to date with the sessions: those that were different, and what
        there is to say."""
        known = {file: print for file, (print, _) in database.prints(SESSIONS).items()}
        said: list[str] = []
        state = self._state()
        now = self._opencode(database, known, state, said)
        for file in claude.files(self.hosts.claude, self.folders):
            now.setdefault(file.stem, f"{_CLAUDE} {_file_print(file)} {file}")
        for path, print in walk(self.exports, EXPORTS):
            now[path] = f"{_EXPORT} {print}"
        gone = [name for name in known if name not in now]
        if gone:
            database.remove(SESSIONS, gone)
        stale = {name: print for name, print in now.items() if known.get(name) != print}
        names = [*stale]
        for at in range(0, len(names), _TOGETHER):
            report(at, len(names), "sessions for search")
            some = {name: stale[name] for name in names[at : at + _TOGETHER]}
            database.put([
                # of an exported session that is here, too, once is enough
                self._document(name, some[name], found, cutting, is_other=found is not None
                               and found.session != name and found.session in now)
                for name, found in self._read(some, said)
            ])  # fmt: skip
        if state and not said and state == self._state() != database.seal(SESSIONS):
            database.set_seal(SESSIONS, state)
        return gone + names, said

    def _opencode(
        self, database: Database, known: Mapping[str, str], state: str, said: list[str]
    ) -> dict[str, str]:
        """The print of each session of OpenCode: as before, where nobody wrote since."""
        before = {name: print for name, print in known.items() if print[:1] == _OPENCODE}
        path = self.hosts.opencode
        if not path.is_file():
            return {}
        if database.seal(SESSIONS) == state:
            return before
        try:
            states = opencode.states(path, began_in(self.folders))
        except BadTranscript as problem:
            said.append(f"OpenCode's newest sessions are missing here. {problem.message}")
            return before
        return {name: f"{_OPENCODE} {state}" for name, state in states.items()}

    def _state(self) -> str:
        """A text that is the same again where OpenCode wrote nothing since; "" without it."""
        state = opencode.file_state(self.hosts.opencode)
        folders = "\n".join(map(str, self.folders)).encode("utf-8", "surrogateescape")
        return f"{state} {digest(folders)[:16]}" if state else ""

    def _read(
        self, some: Mapping[str, str], said: list[str]
    ) -> Iterator[tuple[str, Transcript | None]]:
        """The sessions with these names and prints; None for a file that is no session of ours.
        Nothing for one that cannot be read now, so that the next search tries again."""
        names = [name for name, print in some.items() if print[:1] == _OPENCODE]
        if names:
            try:
                yield from opencode.transcripts(self.hosts.opencode, names)
            except BadTranscript as problem:
                said.append(f"OpenCode's newest sessions are missing here. {problem.message}")
        wanted = began_in(self.folders)
        for name, print in some.items():
            if print[:1] == _CLAUDE:
                yield name, claude.session(Path(print.split(" ", 3)[3]), wanted)
            elif print[:1] == _EXPORT:
                yield name, _exported(Path(name), said)

    def _document(
        self, name: str, print: str, found: Transcript | None, cutting: Cutting, *, is_other: bool
    ) -> Document:
        state = digest(print.encode())
        if found is None or not found.turns or is_other:
            return Document(SESSIONS, name, print, state)
        newest = max(turn.time for turn in found.turns)
        title = self.redact(" ".join(found.title.split()))
        return Document(
            SESSIONS, name, print, state, name=found.session or name, title=title,
            date=_day(newest), chunks=tuple(self._chunks(found, cutting)),
        )  # fmt: skip

    def _chunks(self, found: Transcript, cutting: Cutting) -> Iterator[Chunk]:
        for number, turn in enumerate(found.turns, 1):
            text = f"{turn.role}: {self.redact(turn.text)}"
            for piece in cut(text, cutting.size, cutting.overlap):
                yield Chunk(number, number, piece.text)


def _exported(path: Path, said: list[str]) -> Transcript | None:
    try:
        return read(path)
    except BadTranscript as problem:
        said.append(f"{path} is no session that can be read. {problem.message}")
        return None


def _file_print(file: Path) -> str:
    try:
        status = os.lstat(file)
    except OSError:
        return "- -"
    return f"{status.st_mtime_ns:x} {status.st_size:x}"


def _day(milliseconds: int) -> str:
    """The day (UTC) of a moment, "" where the host gave none that exists."""
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.date().isoformat() if milliseconds > 0 else ""
