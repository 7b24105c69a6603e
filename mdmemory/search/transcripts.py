"""Sessions as a source of search: this project's in every host, and exported ones.

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
from mdmemory.errors import BadTranscript, MdmemoryError
from mdmemory.files import digest
from mdmemory.search.chunks import Chunk, cut_text
from mdmemory.search.database import Database, Document
from mdmemory.search.folders import walk_folders
from mdmemory.search.notes import Report
from mdmemory.search.results import SESSIONS
from mdmemory.transcripts import opencode
from mdmemory.transcripts.session_files import SessionFile, SessionRows
from mdmemory.transcripts.sources import READERS, Reader, began_in, find_place, read
from mdmemory.transcripts.turns import Transcript

EXPORTS = (".json", ".jsonl")
_TITLE = 80  # characters
_TOGETHER = 10  # sessions that are held in memory at once
# A print begins with where its session lies: this, or the name of a host that keeps files.
_OPENCODE, _EXPORT = "o", "e"


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The sessions that began in one of `folders`, and those in files below `exports`."""

    hosts: Hosts
    folders: Sequence[Path]
    exports: Sequence[Path]
    redact: Callable[[str], str]

    def update(self, database: Database, report: Report) -> list[str]:
        """Bring the database up to date with the sessions; what there is to say."""
        known = {file: print for file, (print, _) in database.prints(SESSIONS).items()}
        sentences: list[str] = []
        state = self._opencode_state()
        now = self._opencode_prints(database, known, state, sentences)
        files = self._session_files(known)
        for name, (print, _, _) in files.items():
            now.setdefault(name, print)
        for path, print in walk_folders(self.exports, EXPORTS):
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
                self._make_document(name, some[name], transcript, is_other=transcript is not None
                               and transcript.session != name and transcript.session in now)
                for name, transcript in self._read(some, files, sentences)
            ])  # fmt: skip
        if state and not sentences and state == self._opencode_state() != database.seal(SESSIONS):
            database.set_seal(SESSIONS, state)
        return sentences

    def _session_files(
        self, known: Mapping[str, str]
    ) -> dict[str, tuple[str, Reader, SessionFile]]:
        """Print, host and file of each session that may be this project's, by name.

        A file that was found to be another project's is known by its place alone, and neither
        read nor looked at again: where a session began never changes.
        """
        names = {print.split(" ", 2)[-1]: name for name, print in known.items()
                 if print[:2] not in (f"{_OPENCODE} ", f"{_EXPORT} ")}  # fmt: skip
        wanted, where = began_in(self.folders), self._folders_digest()
        files: dict[str, tuple[str, Reader, SessionFile]] = {}
        for reader in READERS:
            other, ours = f"{reader.name} -{where}", f"{reader.name} +{where}:"
            for file in reader.files(find_place(self.hosts, reader), self.folders):
                at = os.fsencode(file.paths[-1]).decode("utf-8", "replace")
                name = names.get(at, "")
                print = known.get(name, "")
                try:
                    name = name or reader.own_name(file)
                    if print.startswith(ours) or (
                        print != f"{other} {at}" and wanted(reader.began(file))
                    ):
                        print = f"{ours}{file.state.replace(' ', '-')} {at}"
                    else:
                        print = f"{other} {at}"
                except MdmemoryError:
                    pass  # not now; the next search tries again
                if name and print:
                    files[name] = print, reader, file
        return files

    def _folders_digest(self) -> str:
        folders = "\n".join(map(str, self.folders)).encode("utf-8", "surrogateescape")
        return digest(folders)[:16]

    def _opencode_prints(
        self, database: Database, known: Mapping[str, str], state: str, sentences: list[str]
    ) -> dict[str, str]:
        """The print of each session of OpenCode: as before, where nobody wrote since."""
        before = {name: print for name, print in known.items() if print[:1] == _OPENCODE}
        path = self.hosts.opencode
        if not path.is_file():
            return {}
        if database.seal(SESSIONS) == state:
            return before
        try:
            states = opencode.read_states(path, began_in(self.folders))
        except BadTranscript as problem:
            sentences.append(f"OpenCode's newest sessions are missing here. {problem.message}")
            return before
        return {name: f"{_OPENCODE} {state}" for name, state in states.items()}

    def _opencode_state(self) -> str:
        """A text that is the same again where OpenCode wrote nothing since; "" without it."""
        state = opencode.file_state(self.hosts.opencode)
        return f"{state} {self._folders_digest()}" if state else ""

    def _read(
        self, some: Mapping[str, str], files: Mapping[str, tuple[str, Reader, SessionFile]],
        sentences: list[str],
    ) -> Iterator[tuple[str, Transcript | None]]:  # fmt: skip
        """The sessions with these names and prints; None for a file that is no session of ours.
        Nothing for one that cannot be read now, so that the next search tries again."""
        names = [name for name, print in some.items() if print[:2] == f"{_OPENCODE} "]
        if names:
            try:
                yield from opencode.read_transcripts(self.hosts.opencode, names)
            except BadTranscript as problem:
                sentences.append(f"OpenCode's newest sessions are missing here. {problem.message}")
        for name, print in some.items():
            try:
                if print[:2] == f"{_EXPORT} ":
                    yield name, read(Path(name))
                elif print[:2] != f"{_OPENCODE} ":
                    _, reader, file = files[name]
                    is_others = print.startswith(f"{reader.name} -")
                    yield name, None if is_others else reader.transcript(SessionRows(file))
            except BadTranscript as problem:
                if print[:2] == f"{_EXPORT} ":
                    text = f"{name} is no session that can be read. {problem.message}"
                    sentences.append(text)
                    yield name, None
            except MdmemoryError:
                continue  # not now

    def _make_document(
        self, name: str, print: str, transcript: Transcript | None, *, is_other: bool
    ) -> Document:
        state = digest(print.encode())
        if transcript is None or not transcript.turns or is_other:
            return Document(SESSIONS, name, print, state)
        try:
            newest = max(turn.time for turn in transcript.turns)
            moment = datetime.fromtimestamp(newest // 1000, UTC)
            day = moment.date().isoformat() if newest > 0 else ""
        except (ValueError, OverflowError, OSError):
            day = ""  # the host gave none that exists
        title = self.redact(" ".join(transcript.label[: _TITLE * 4].split()))[:_TITLE].rstrip()
        chunks = [
            Chunk(number, number, piece.text)
            for number, turn in enumerate(transcript.turns, 1)
            for piece in cut_text(f"{turn.role}: {self.redact(turn.text)}")
        ]
        return Document(
            SESSIONS, name, print, state, name=transcript.session or name, title=title, date=day,
            chunks=chunks,
        )  # fmt: skip
