"""One observation: what a use of a tool came to, in a few lines. Values only; never a note."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mdmemory.search.chunks import tokens
from mdmemory.session.cleaning import LEFT_OUT, clean, cut, line, visible

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
MAX_TITLE = 120  # characters, as those below
MAX_NARRATIVE = 1_000
MAX_FACT = 300
MAX_CONCEPT = 60
MAX_FILE = 300
MAX_ITEMS = 8
LEAST, USUAL, GUESSED, MOST = 1, 3, 2, 5  # importance; GUESSED where no model gave one
_ID = re.compile(r"#?([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation before it is kept. `importance` is 1 to 5; every text is clean of secrets."""

    type: str
    title: str
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    importance: int = USUAL


@dataclass(frozen=True, slots=True)
class Observation:
    """A kept one. `at` is ISO 8601 in UTC; `model` is who made it short, "" where nobody did;
    `tool` is "person" for one that a person wrote."""

    id: int
    session: str
    at: str
    tool: str
    model: str
    draft: Draft

    @property
    def head(self) -> str:
        """Number, day, type and title in one line."""
        return f"#{self.id} {self.at[:10]} {self.draft.type}: {self.draft.title}"

    @property
    def text(self) -> str:
        """All of it, as it is recalled."""
        draft = self.draft
        lines = [self.head, draft.narrative, *(f"- {fact}" for fact in draft.facts)]
        lines += [f"Files: {', '.join(draft.files)}" if draft.files else ""]
        lines += [f"Concepts: {', '.join(draft.concepts)}" if draft.concepts else ""]
        return "\n".join(each for each in lines if each)

    @property
    def tokens(self) -> int:
        """What recalling it costs."""
        return tokens(self.text)


def drafted(
    type: str, title: str, narrative: str = "", facts: Iterable[str] = (),
    concepts: Iterable[str] = (), files: Iterable[str] = (), importance: int = USUAL,
) -> Draft:  # fmt: skip
    """A draft from texts of any origin: cleaned, cut, bounded."""
    return Draft(
        type if type in TYPES else "discovery",
        line(visible(title), MAX_TITLE) or "Untitled",
        _told(narrative),
        items(facts, MAX_FACT),
        items(concepts, MAX_CONCEPT),
        items(files, MAX_FILE),
        min(MOST, max(LEAST, importance)),
    )


def _told(narrative: str) -> str:
    # as a whole first: a key, or private text, may go over several lines
    lines = (line(each, MAX_NARRATIVE) for each in clean(visible(narrative)).splitlines())
    return cut("\n".join(each for each in lines if each not in ("", LEFT_OUT)), MAX_NARRATIVE)


def items(found: Iterable[str], limit: int) -> tuple[str, ...]:
    """Each as one clean line, without repeats and without orders to an assistant, the first few."""
    lines = (line(visible(each), limit) for each in found)
    return tuple(dict.fromkeys(each for each in lines if each not in ("", LEFT_OUT)))[:MAX_ITEMS]


def ids(text: str) -> list[int]:
    """The numbers in a list such as `12, #14`; [] where something else stands in it."""
    found = [_ID.fullmatch(part) for part in re.split(r"[\s,]+", text.strip())]
    return [int(match[1]) for match in found if match] if all(found) else []
