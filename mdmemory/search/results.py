"""What a search gives back. Values only."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from stat import S_ISREG

from mdmemory.errors import NotFound, UsageError
from mdmemory.note.note import UNREADABLE, to_verify
from mdmemory.store import catalog, strangers
from mdmemory.store.store import Store, StoredNote, is_note_name

_SHOWN = 120  # characters of a name that a message repeats


def passage(
    store: Store, is_secret: Callable[[str], bool], file: str, lines: tuple[int, int] | None,
    waiting: Mapping[str, str], today: str,
) -> Passage:  # fmt: skip
    """The lines (from 1, both included; None: all) of a note. The last may lie behind its end.
    `waiting` notes, with a word on why, are not for assistants.

    Raises UsageError for a path and for lines that cannot be; NotFound for what is no readable
    note, and for one that is on hold.
    """
    stored = _note(store, file)
    if catalog.is_held(stored.note, is_secret):
        raise NotFound(
            f"{stored.file} is on hold: it seems to hold a secret.", "`mdmemory doctor` says more."
        )
    if why := waiting.get(stored.file):
        raise NotFound(
            f"{stored.file} is on hold: {strangers.WHY[why]}.",
            f"If you stand by it: `mdmemory confirm {stored.file.removesuffix('.md')}`.",
        )
    every = stored.note.text.splitlines()
    first, last = lines or (1, max(1, len(every)))
    if first < 1 or last < first:
        raise UsageError(f"{first}-{last} are no lines of a file.", "Lines count from 1: `A-B`.")
    if first > max(1, len(every)):
        raise NotFound(f"{stored.file} has {len(every)} lines.", "Ask for fewer.")
    last = min(last, max(1, len(every)))
    text = "\n".join(every[first - 1 : last])
    return Passage(stored.file, first, last, text, to_verify(stored.note.head, today))


def _note(store: Store, file: str) -> StoredNote:
    if "/" in file or "\\" in file or "\0" in file:
        raise UsageError(
            f"{file[:_SHOWN]!r} is a path, and only notes of the store are read.",
            "Name the file alone: `mdmemory list` shows them.",
        )
    names = (file, f"{file}.md")
    found = [name for name in names if is_note_name(name) and _is_regular(store, name)]
    stored = store.read(found[0]) if found else _called(store, file)
    if stored.note.head.status == UNREADABLE:
        raise NotFound(stored.note.head.problems[0], "`mdmemory doctor` says more.")
    return stored


def _called(store: Store, name: str) -> StoredNote:
    """The note with this name or alias."""
    if len(name) > _SHOWN or not is_note_name(f"{name.removesuffix('.md') or '.'}.md"):
        raise NotFound(f"There is no note {name[:_SHOWN]!r}.", "`mdmemory list` shows all.")
    return store.find(name)


def _is_regular(store: Store, name: str) -> bool:
    try:
        return S_ISREG(os.lstat(store.folder / name).st_mode)
    except (OSError, ValueError):  # too long, not encodable
        return False


MEMORY = "memory"  # the source of hits that are notes
SESSIONS = "sessions"  # turns of sessions; lines are the numbers of turns
FILES = "files"  # markdown in folders that a person named
ALL = "all"
SOURCES = (MEMORY, SESSIONS, FILES)  # a database numbers chunks by it: only append


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that answers a query; `text` is that place, line by line as it stands.

    `score` lies between 0 and 1. `title` is the note's title or name, or the session's title,
    `date` (`YYYY-MM-DD` or "") its last change, `status` is "", unconfirmed, superseded
    (`superseded_by` names the successor) or in conflict. `layer` is project or user where both were
    searched; `project` names another project's store. Lines count from 1 and belong to the file; of
    a session (`file` is its id) they are turns.
    """

    file: str
    name: str
    start_line: int
    end_line: int
    score: float
    source: str
    text: str
    title: str = ""
    date: str = ""
    status: str = ""
    superseded_by: str = ""
    layer: str = ""
    project: str = ""

    @property
    def mark(self) -> str:
        """The status in words, with the successor; "" for none."""
        return f"{self.status} by {self.superseded_by}" if self.superseded_by else self.status


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first. `mode` is keyword, hybrid or vectors; `said` tells what went wrong."""

    mode: str
    hits: tuple[Hit, ...]
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a note, as they stand. `to_verify` is the age of the note in days, where it is
    so old that it should be verified; else 0."""

    file: str
    start_line: int
    end_line: int
    text: str
    to_verify: int = 0
