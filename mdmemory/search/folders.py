"""Folders of markdown that a person named, as a source of search. They are only read.

No link is followed, hidden folders are left out, and so is the store, whose notes are a source of
their own. Private text and secrets do not enter the database.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mdmemory.files import digest
from mdmemory.note.note import begins_head, parse, read_fields
from mdmemory.privacy.private import strip_private
from mdmemory.search.chunks import cut_text
from mdmemory.search.database import HELD, Database, Document
from mdmemory.search.notes import BATCH, Report
from mdmemory.search.results import FILES

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
        known = database.prints(FILES)
        gone = [file for file in known if file not in now]
        stale = [file for file, print in now.items() if known.get(file, ("",))[0] != print]
        if gone:
            database.remove(FILES, gone)
        long = 0
        for at in range(0, len(stale), BATCH):
            report(at, len(stale), "files for search")
            read = [(file, _read_head(file)) for file in stale[at : at + BATCH]]
            long += sum(len(data) > LONGEST for _, data in read if data)
            database.put([
                self._make_document(file, now[file], data) for file, data in read
                if data is not None
            ])  # fmt: skip
        if long:
            sentences.append(
                f"Of {long} files over {LONGEST >> 20} MiB only the beginning is searched."
            )
        return sentences

    def _make_document(self, file: str, print: str, data: bytes) -> Document:
        beginning = data[: data.rfind(b"\n", 0, LONGEST) + 1 or LONGEST]
        text = (beginning if len(data) > LONGEST else data).decode("utf-8-sig", "replace")
        text = _without_private(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " "))
        clean = self.redact(text)
        if clean.count("\n") != text.count("\n"):
            # a key over several lines: without it the numbers of lines would be wrong
            return Document(FILES, file, print, digest(data), status=HELD)
        name = Path(file).stem
        changed = os.lstat(file).st_mtime if os.path.lexists(file) else 0
        return Document(
            FILES, file, print, digest(data), name=name, title=_find_title(clean) or name,
            date=datetime.fromtimestamp(changed, UTC).date().isoformat(),
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
