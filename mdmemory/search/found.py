"""What a search gives back. Values only."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY = "memory"  # the source of hits that are notes
SESSIONS = "sessions"  # turns of sessions; lines are the numbers of turns
FILES = "files"  # markdown in folders that a person named
ALL = "all"
SOURCES = (MEMORY, SESSIONS, FILES)  # a database numbers chunks by it: only append


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that answers a query; `text` is that place, line by line as it stands.

    `score` lies between 0 and 1. `title` is the note's title or name, or the session's title,
    `date` (`YYYY-MM-DD` or "") its last change, `status` is "" or unconfirmed. Lines count from 1
    and belong to the file; of a session (`file` is its id) they are turns.
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


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first. `mode` is keyword, hybrid or vectors; `said` tells what went wrong."""

    mode: str
    hits: tuple[Hit, ...]
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a note, as they stand."""

    file: str
    start_line: int
    end_line: int
    text: str
