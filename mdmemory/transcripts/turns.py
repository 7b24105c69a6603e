"""A session as turns: who said what, in order, and which turns are still unread.

Only words of the user and the assistant are turns. `<private>` text and injected memory are left
out here, for every host, so that no later step can take them for a person's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mdmemory.bounds import beginning_of
from mdmemory.privacy import strip_private
from mdmemory.transcripts.injected import without_memory
from mdmemory.unseen import without_unseen

MAX_TURNS = 40
MAX_CHARS = 24_000
ROLES = ("user", "assistant")

_OWN_TITLE = "mdmemory"
_ID = re.compile(r"[\w.:-]{1,120}")


class Turn(NamedTuple):
    """One message: `role` is user or assistant, `time` milliseconds since 1970 (0: unknown)."""

    id: str
    role: str
    text: str
    time: int = 0

    @property
    def day(self) -> str:
        """The day of the message in UTC, `YYYY-MM-DD`; "" where it is not known."""
        try:
            moment = datetime.fromtimestamp(self.time / 1000, UTC)
        except (OverflowError, OSError, ValueError):
            return ""
        return moment.date().isoformat() if self.time > 0 else ""


class Transcript(NamedTuple):
    """A session's turns in order; `parent` is the session that started this one, or "".

    `summaries` are texts of the host's own compaction; they are not among the turns. `gone` has the
    ids of messages that are no turns any more, each with how many turns stand before it. `torn`
    counts lines of its file that hold less than a record.
    """

    session: str
    title: str
    parent: str
    turns: tuple[Turn, ...]
    summaries: tuple[Turn, ...] = ()
    gone: Mapping[str, int] = {}
    torn: int = 0

    @property
    def label(self) -> str:
        """The title; where the host gives none, the first line of what the user said first."""
        first = next((turn.text for turn in self.turns if turn.role == "user"), "")
        return self.title or first.strip().split("\n")[0]


def take_back(turns: dict[str, Any], at: int, gone: dict[str, int]) -> None:
    """Move the turns from number `at` on, by their ids, to those that are `gone`."""
    for id in [*gone, *[*turns][at:]]:
        gone[id] = min(gone.get(id, at), at)
        turns.pop(id, None)


def select_turns(
    transcript: Transcript, watermark: str, max_turns: int = MAX_TURNS, max_chars: int = MAX_CHARS
) -> list[Turn]:
    """The turns to read next, oldest first; at least one turn, however long.

    After a known watermark these are the oldest unread turns; for an unknown or empty watermark
    they are the newest.
    """
    read = turns_read(transcript, watermark)
    if read:
        return _select_within(transcript.turns[read:], max_turns, max_chars)
    return _select_within(transcript.turns[::-1], max_turns, max_chars)[::-1]


def turns_read(transcript: Transcript, watermark: str) -> int:
    """How many turns lie at or before the watermark; 0 when it is unknown."""
    ids = [turn.id for turn in transcript.turns]
    return ids.index(watermark) + 1 if watermark in ids else transcript.gone.get(watermark, 0)


def _select_within(turns: Sequence[Turn], max_turns: int, max_chars: int) -> list[Turn]:
    first: list[Turn] = []
    characters = 0
    for turn in turns[:max_turns]:
        characters += len(turn.text)
        if first and characters > max_chars:
            break
        first.append(turn)
    return first


# --- what the readers of all hosts share


def is_id(text: str) -> bool:
    """Whether a host's name for a session or message can be used as it is."""
    return bool(_ID.fullmatch(text))


def is_ours(title: str) -> bool:
    """Whether a session is one of mdmemory's own, from which nothing may be captured."""
    return title.strip().lower().startswith(_OWN_TITLE)


def clean(text: str) -> str:
    """A message without private text, unseen characters and injected memory. Of a message longer
    than `bounds.MESSAGE` only the beginning is read."""
    text = without_unseen(beginning_of(text))
    return without_memory(strip_private(text)[0]).strip()


def as_text(value: object) -> str:
    """A string that can be written as UTF-8 (JSON may carry half a surrogate pair), else ""."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
