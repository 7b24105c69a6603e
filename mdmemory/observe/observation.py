"""Observations, a few lines about a call of a tool each, and their table in `state.db`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mdmemory.search.chunks import count_tokens
from mdmemory.session.cleaning import LEFT_OUT, clean, cut, line, visible
from mdmemory.store.state import State, Statement

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
MAX_TITLE = 120  # characters, as those below
MAX_NARRATIVE = 1_000
MAX_FACT = 300
MAX_CONCEPT = 60
MAX_FILE = 300
MAX_ITEMS = 8
LEAST, USUAL, GUESSED, MOST = 1, 3, 2, 5  # importance; GUESSED where no model gave one
MAX_OBSERVATIONS = 2_000
MAX_DAYS = 90
_ID = re.compile(r"#?([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation before it is stored. `importance` is 1 to 5; every text is clean."""

    type: str
    title: str
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    importance: int = USUAL


@dataclass(frozen=True, slots=True)
class Observation:
    """A stored observation. `at` is ISO 8601 in UTC; `model` wrote it, "" for none."""

    id: int
    session: str
    at: str
    tool: str
    model: str
    draft: Draft

    @property
    def head(self) -> str:
        """Number, day, type and title, in one line."""
        return f"#{self.id} {self.at[:10]} {self.draft.type}: {self.draft.title}"

    @property
    def line(self) -> str:
        """The head, the first files and the tokens, in one line."""
        files = f" ({', '.join(self.draft.files[:2])})" if self.draft.files else ""
        return f"{self.head}{files} ~{self.tokens} tokens"

    @property
    def text(self) -> str:
        """The whole observation, as it is recalled."""
        draft = self.draft
        lines = [self.head, draft.narrative, *(f"- {fact}" for fact in draft.facts)]
        lines += [f"Files: {', '.join(draft.files)}" if draft.files else ""]
        lines += [f"Concepts: {', '.join(draft.concepts)}" if draft.concepts else ""]
        return "\n".join(each for each in lines if each)

    @property
    def tokens(self) -> int:
        """The tokens of the whole text."""
        return count_tokens(self.text)


def make_draft(
    type: str, title: str, narrative: str = "", facts: Iterable[str] = (),
    concepts: Iterable[str] = (), files: Iterable[str] = (), importance: int = USUAL,
) -> Draft:  # fmt: skip
    """A draft of texts from anywhere: cleaned, cut, bounded."""
    # as a whole first: a key, or private text, may go over several lines
    lines = (line(each, MAX_NARRATIVE) for each in clean(visible(narrative)).splitlines())
    return Draft(
        type if type in TYPES else "discovery",
        line(visible(title), MAX_TITLE) or "Untitled",
        cut("\n".join(each for each in lines if each not in ("", LEFT_OUT)), MAX_NARRATIVE),
        items(facts, MAX_FACT),
        items(concepts, MAX_CONCEPT),
        items(files, MAX_FILE),
        min(MOST, max(LEAST, importance)),
    )


def items(texts: Iterable[str], limit: int) -> tuple[str, ...]:
    """The first few texts as clean lines, without repeats and instructions to an assistant."""
    lines = (line(visible(each), limit) for each in texts)
    return tuple(dict.fromkeys(each for each in lines if each not in ("", LEFT_OUT)))[:MAX_ITEMS]


def parse_ids(text: str) -> list[int]:
    """The numbers in a list such as `12, #14`; [] for any other text."""
    matches = [_ID.fullmatch(part) for part in re.split(r"[\s,]+", text.strip())]
    return [int(match[1]) for match in matches if match] if all(matches) else []


# --- the table

_COLUMNS = "session, at, tool, model, type, title, narrative, facts, concepts, files, importance"
_SELECT = f"SELECT id, {_COLUMNS} FROM observation"
_INSERT = f"INSERT INTO observation ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def insert_statement(session: str, at: str, tool: str, model: str, draft: Draft) -> Statement:
    """The statement that stores a draft."""
    lists = (json.dumps(each, ensure_ascii=False) for each in (draft.facts, draft.concepts))
    return _INSERT, (
        session, at, tool, model, draft.type, draft.title, draft.narrative, *lists,
        json.dumps(draft.files, ensure_ascii=False), draft.importance,
    )  # fmt: skip


def newest(state: State, limit: int, session: str = "") -> list[Observation]:
    """The newest observations, of one session or ("") of all, the newest first."""
    query = f"{_SELECT} WHERE ? IN ('', session) ORDER BY at DESC, id DESC LIMIT ?"
    return _read(state, query, (session, limit))


def get(state: State, ids: Iterable[int]) -> list[Observation]:
    """The observations with these ids, in the given order; unknown ids are skipped."""
    wanted = list(dict.fromkeys(ids))
    marks = ", ".join("?" * len(wanted))
    known = {each.id: each for each in _read(state, f"{_SELECT} WHERE id IN ({marks})", wanted)}
    return [known[id] for id in wanted if id in known]


def list_beside(
    state: State, at: str, id: int, limit: int, session: str = "", *, after: bool
) -> list[Observation]:
    """The last observations before a moment and number, or the first ones after, the oldest
    first."""
    relation, order = (">", "ASC") if after else ("<", "DESC")
    query = (
        f"{_SELECT} WHERE (at, id) {relation} (?, ?) AND ? IN ('', session)"
        f" ORDER BY at {order}, id {order} LIMIT ?"
    )
    return _read(state, query, (at, id, session, limit))[:: 1 if after else -1]


def count(state: State, session: str = "") -> int:
    """The number of observations, of one session or ("") of all."""
    query = "SELECT count(*) FROM observation WHERE ? IN ('', session)"
    return int(state.rows(query, (session,))[0][0])


def expire(state: State, now: datetime) -> None:
    """Remove observations that are older than MAX_DAYS, and the oldest beyond the limit."""
    oldest = (now - timedelta(days=MAX_DAYS)).isoformat(timespec="seconds")
    state.change(
        ("DELETE FROM observation WHERE at < ?", (oldest,)),
        ("DELETE FROM observation WHERE id IN (SELECT id FROM observation ORDER BY at DESC,"
         " id DESC LIMIT -1 OFFSET ?)", (MAX_OBSERVATIONS,)),
    )  # fmt: skip


def forget(state: State, ids: Iterable[int]) -> None:
    """Remove the observations with these ids."""
    state.change(*(("DELETE FROM observation WHERE id = ?", (id,)) for id in ids))


def _read(state: State, query: str, values: Sequence[object]) -> list[Observation]:
    observations = []
    for id, session, at, tool, model, type, title, narrative, *lists, importance in state.rows(
        query, values
    ):
        facts, concepts, files = (tuple(map(str, json.loads(each))) for each in lists)
        draft = Draft(type, title, narrative, facts, concepts, files, importance)
        observations.append(Observation(id, session, at, tool, model, draft))
    return observations
