"""What a search gives back. Values only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from stat import S_ISREG
from typing import NamedTuple

from mdmemory.citing.citation import DRIFTED, MOVED, CheckedCitation, tell_drift
from mdmemory.errors import NotFound, UsageError
from mdmemory.note.note import UNREADABLE, to_verify
from mdmemory.store import catalog, strangers
from mdmemory.store.store import Store, StoredNote, is_note_name
from mdmemory.text.words import word_tokens

_SHOWN = 120  # characters of a name that a message repeats
_MATCHED = 8  # words that tell why a text is a hit
_LONG = 1_000  # characters of a description, which in a note made by hand may be of any length


def read_passage(
    store: Store, is_secret: Callable[[str], bool], file: str, lines: tuple[int, int] | None,
    waiting: Mapping[str, str], today: str,
) -> Passage:  # fmt: skip
    """The lines (from 1, both included; None: all) of a note. The last may lie behind its end.
    `waiting` notes, with a word on why, are not for assistants.

    Raises UsageError for a path and for lines that cannot be; NotFound for what is no readable
    note, and for one that is on hold.
    """
    stored = _find_note(store, file)
    if catalog.is_held(stored.note, is_secret):
        raise NotFound(
            f"{stored.file} is on hold: it seems to hold a secret.", "`mdmemory doctor` says more."
        )
    if why := waiting.get(stored.file):
        raise NotFound(
            f"{stored.file} is on hold: {strangers.WHY[why]}.",
            f"If you stand by it: `mdmemory review {stored.file.removesuffix('.md')} keep`.",
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


def _find_note(store: Store, file: str) -> StoredNote:
    if "/" in file or "\\" in file or "\0" in file:
        raise UsageError(
            f"{file[:_SHOWN]!r} is a path, and only notes of the store are read.",
            "Name the file alone: `mdmemory list` shows them.",
        )
    for name in filter(is_note_name, (file, f"{file}.md")):
        with suppress(OSError, ValueError):  # too long, not encodable
            if S_ISREG(os.lstat(store.folder / name).st_mode):
                stored = store.read(name)
                break
    else:
        # by its name or alias
        if len(file) > _SHOWN or not is_note_name(f"{file.removesuffix('.md') or '.'}.md"):
            raise NotFound(f"There is no note {file[:_SHOWN]!r}.", "`mdmemory list` shows all.")
        stored = store.find(file)
    if stored.note.head.status == UNREADABLE:
        raise NotFound(stored.note.head.problems[0], "`mdmemory doctor` says more.")
    return stored


MEMORY = "memory"  # the source of hits that are notes
SESSIONS = "sessions"  # turns of sessions; lines are the numbers of turns
FILES = "files"  # markdown in folders that a person named
ALL = "all"
SOURCES = (MEMORY, SESSIONS, FILES)  # a database numbers chunks by it: only append


class Hit(NamedTuple):
    """One place that answers a query; `text` is that place, line by line as it stands.

    `description` is the fact of a note in one sentence; `text` then is the best passage of its
    body, or the description again where there is no body. `score`, from 0 to 1, only tells hits of
    one query apart; `matched` are the words of the hit that the query has in some form.
    `title` is the note's title or its name as a title, or the session's title, `date`
    (`YYYY-MM-DD` or "") its last change, `status` is "", unconfirmed, superseded (`superseded_by`
    names the successor), in conflict, or, by the last check, drifted (the project changed what the
    note `cites`) or moved (it stands at another place).
    `layer` is project or user where both were searched; `project` names another project's store.
    Lines count from 1 and belong to the file; of a session (`file` is its id) they are turns.
    `cited` is what the note cites, as it is written, one a line.
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
    description: str = ""
    matched: tuple[str, ...] = ()
    cites: tuple[CheckedCitation, ...] = ()
    cited: str = ""

    @property
    def fact(self) -> str:
        """All that the hit says: two hits of one fact need not both be shown."""
        return f"{self.description}\n{self.text}"

    @property
    def mark(self) -> str:
        """The status in words, with the successor; "" for none."""
        if self.status in (DRIFTED, MOVED):
            return tell_drift(self.cites)[1]
        return f"{self.status} by {self.superseded_by}" if self.superseded_by else self.status


def as_json(hit: Hit) -> dict[str, object]:
    """A hit as scripts and tools get it."""
    shown = hit._asdict()
    del shown["cited"]  # scripts have `cites`
    return {**shown, "matched": [*hit.matched], "cites": cites_as_json(hit.cites)}


def cites_as_json(checked: Iterable[CheckedCitation]) -> list[dict[str, str]]:
    """Citations as scripts and tools get them."""
    return [{"place": each.place, "state": each.state, "now": each.now} for each in checked]


def matched_words(texts: Iterable[str], query: str) -> tuple[str, ...]:
    """The words of a query that these texts have in some form, as they stand there in lower case,
    each once; few are enough to tell why a text is a hit."""
    from mdmemory.search.query import mark_words  # only where hits are shown

    words = (text[start:end].casefold() for text in texts for start, end in mark_words(query, text))
    return tuple(dict.fromkeys(words))[:_MATCHED]


def telling_lines(hit: Hit, query: str, most: int, width: int) -> list[str]:
    """At most `most` lines of a hit's passage, from the first that has a word of the query on. Each
    has at most `width` characters; of a longer one the part with the word is shown.

    None where the passage has no word that the description lacks."""
    from mdmemory.search.query import mark_words  # only where hits are shown

    if set(word_tokens(hit.text)) <= set(word_tokens(hit.description[:_LONG])):
        return []
    lines = [line for line in hit.text.split("\n") if line.strip()]
    places_found = ((at, mark_words(query, line)) for at, line in enumerate(lines))
    start, places = next(((at, places) for at, places in places_found if places), (-1, []))
    if places and places[0][1] > width and (begin := places[0][0] - width // 4) > 0:
        begin = max(begin, lines[start].find(" ", begin, places[0][0]) + 1)  # a whole word
        lines[start] = f"…{lines[start][begin:]}"
    first = max(0, min(start, len(lines) - most))
    return [line[:width] for line in lines[first : first + most]]


class Found(NamedTuple):
    """The hits, best first, superseded ones last. `mode` is keyword, hybrid or vectors, and `said`
    tells what went wrong."""

    mode: str
    hits: tuple[Hit, ...]
    said: tuple[str, ...] = ()

    @property
    def wordless(self) -> str:
        """How a hit was found that shares no word with the query."""
        return "no word of the query" if self.mode == "keyword" else "by meaning"


class Passage(NamedTuple):
    """Some lines of a note, as they stand. `to_verify` is the age of the note in days, where it is
    so old that it should be verified; else 0."""

    file: str
    start_line: int
    end_line: int
    text: str
    to_verify: int = 0
