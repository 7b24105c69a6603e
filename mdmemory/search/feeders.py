"""What search feeds on beside the notes: folders of markdown that a person named, which are only
read, and sessions, this project's in every host and exported ones.

No link is followed, and hidden folders are left out. A chunk of a session is a turn, with who
speaks. What is private, injected or a secret does not enter the database.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript, MdmemoryError
from mdmemory.files import digest
from mdmemory.note.note import begins_head, parse, read_fields
from mdmemory.privacy import strip_private
from mdmemory.search.chunks import Chunk, cut_text
from mdmemory.search.database import HELD, Database, Document
from mdmemory.search.notes import Report
from mdmemory.search.results import FILES, SESSIONS
from mdmemory.transcripts import opencode
from mdmemory.transcripts.session_files import SessionFile, SessionRows
from mdmemory.transcripts.sources import READERS, Reader, began_in, find_place
from mdmemory.transcripts.turns import Transcript

ENDINGS = (".md", ".markdown")
LONGEST = 1024 * 1024  # bytes of a file that are searched
MOST = 20_000  # files
BEGINNING = 10_000  # characters in which a file gives its title
_LEFT_OUT = ("node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class Folders:
    """`roots` with all that is inside, without the folder `store`."""

    roots: Sequence[Path]
    store: Path
    redact: Callable[[str], str]

    def update(self, database: Database, report: Report) -> list[str]:
        """Bring the database up to date with the folders; what there is to say."""
        sentences = [f"{root} of search.folders is not there." for root in self.roots
                if not root.is_dir()]  # fmt: skip
        now = dict(walk_folders(self.roots, ENDINGS, os.path.realpath(self.store)))
        if len(now) > MOST:
            sentences.append(f"Of {len(now)} files in search.folders only {MOST} are searched.")
            now = dict([*now.items()][:MOST])
        long: list[str] = []

        def read_files(files: Mapping[str, str]) -> Iterator[Document]:
            for file in files:
                if (data := _read_head(file)) is not None:
                    long.extend([file] if len(data) > LONGEST else [])
                    yield self._make_document(file, now[file], data)

        database.follow(FILES, now, read_files, report, "files for search")
        if long:
            sentences.append(
                f"Of {len(long)} files over {LONGEST >> 20} MiB only the beginning is searched."
            )
        return sentences

    def _make_document(self, file: str, print: str, data: bytes) -> Document:
        beginning = data[: data.rfind(b"\n", 0, LONGEST) + 1 or LONGEST]
        text = (beginning if len(data) > LONGEST else data).decode("utf-8-sig", "replace")
        text = _without_private(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " "))
        clean = self.redact(text)
        changed = os.lstat(file).st_mtime if os.path.lexists(file) else 0
        day = datetime.fromtimestamp(changed, UTC).date().isoformat()
        state = digest(day.encode() + data)
        if clean.count("\n") != text.count("\n"):
            # a key over several lines: without it the numbers of lines would be wrong
            return Document(FILES, file, print, state, status=HELD)
        name = Path(file).stem
        return Document(
            FILES, file, print, state, name=name, title=_find_title(clean) or name, date=day,
            chunks=tuple(cut_text(clean.rstrip())),
        )  # fmt: skip


def _find_title(text: str) -> str:
    """The title that a file gives itself, in its frontmatter or as a heading; "" without one."""
    if begins_head(text):
        title = read_fields(parse(text[:BEGINNING], "")).get("title")
        if isinstance(title, str) and title.strip():
            return title.strip()[:200]
    heading = re.search(r"^#{1,2} +(\S.{0,200}?) *#*$", text[:BEGINNING], re.MULTILINE)
    return heading[1] if heading else ""


def walk_folders(
    roots: Sequence[Path], endings: tuple[str, ...], without: str = ""
) -> Iterator[tuple[str, str]]:
    """The regular files that end so, with their print; without the folder `without`. What cannot
    be looked at is passed over."""
    waiting = [str(root) for root in reversed(roots)]
    while waiting:
        folder = waiting.pop()
        if os.path.realpath(folder) == without:
            continue
        try:
            with os.scandir(folder) as entries:
                entries_sorted = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        inside = [entry.path for entry in entries_sorted
                  if not entry.name.startswith(".") and entry.name not in _LEFT_OUT
                  and entry.is_dir(follow_symlinks=False)]  # fmt: skip
        waiting += reversed(inside)
        for entry in entries_sorted:
            print = _entry_print(entry) if entry.name.lower().endswith(endings) else ""
            if print and not entry.name.startswith("."):
                yield entry.path, print


def _entry_print(entry: os.DirEntry[str]) -> str:
    try:
        entry.path.encode()
        if not entry.is_file(follow_symlinks=False):
            return ""
        status = entry.stat(follow_symlinks=False)
    except (OSError, UnicodeEncodeError):
        return ""
    return f"{status.st_ctime_ns:x} {status.st_mtime_ns:x} {status.st_size:x} {status.st_ino:x}"


def _read_head(file: str) -> bytes | None:
    """The file, of a long one a byte more than is searched; None where it cannot be read."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            return opened.read(LONGEST + 1)
    except OSError:
        return None


def _without_private(text: str) -> str:
    """A text without what is private in it, each line of the rest where it stood."""
    if "private" not in text.lower():
        return text
    lines = text.split("\n")
    left = strip_private("\n".join(f"\0{at}\0{line}" for at, line in enumerate(lines)))[0]
    lines_shown = [""] * len(lines)
    begun = 0
    for piece in re.split(r"\n?(\0\d+\0)", left):
        if mark := re.fullmatch(r"\0(\d+)\0", piece):
            begun = int(mark[1])
        else:
            lines_shown[begun] += piece.replace("\n", " ")
    return "\n".join(lines_shown)


_TITLE = 80  # characters
_TOGETHER = 10  # sessions that are held in memory at once
_OPENCODE = "o"  # a print begins with where its session lies: this, or a host that keeps files


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The sessions that began in one of `folders`."""

    hosts: Hosts
    folders: Sequence[Path]
    redact: Callable[[str], str]

    def update(self, database: Database, report: Report) -> list[str]:
        """Bring the database up to date with the sessions; what there is to say."""
        known = {file: print for file, (print, _) in database.prints(SESSIONS).items()}
        sentences: list[str] = []
        state = self._opencode_state()
        now = self._opencode_prints(database, known, state, sentences)
        files = self._session_files(known)
        now |= {name: print for name, (print, _, _) in files.items()}

        def read_sessions(names: Mapping[str, str]) -> Iterator[Document]:
            for name, transcript in self._read([*names], files, sentences):
                yield self._make_document(name, now[name], transcript)

        database.follow(SESSIONS, now, read_sessions, report, "sessions for search", _TOGETHER)
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
                 if print[:2] != f"{_OPENCODE} "}  # fmt: skip
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
        self, names: Sequence[str], files: Mapping[str, tuple[str, Reader, SessionFile]],
        sentences: list[str],
    ) -> Iterator[tuple[str, Transcript | None]]:  # fmt: skip
        """The sessions with these names; None for a file that is no session of ours. Nothing for
        one that cannot be read now, so that the next search tries again."""
        if theirs := [name for name in names if name not in files]:
            try:
                yield from opencode.read_transcripts(self.hosts.opencode, theirs)
            except BadTranscript as problem:
                sentences.append(f"OpenCode's newest sessions are missing here. {problem.message}")
        for name in filter(files.__contains__, names):
            print, reader, file = files[name]
            with suppress(MdmemoryError):  # not now
                is_others = print.startswith(f"{reader.name} -")
                yield name, None if is_others else reader.transcript(SessionRows(file))

    def _make_document(self, name: str, print: str, transcript: Transcript | None) -> Document:
        state = digest(print.encode())
        if transcript is None or not transcript.turns:
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
