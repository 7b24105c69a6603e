"""What a pasted, quoted or forwarded text asks for: nothing of it is the user's wish.

An order to an assistant in it waits for a person; of other requests the assistant is told, so that
it can ask. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from mdmemory import bounds
from mdmemory.capture.note_text import description_of, name_of
from mdmemory.capture.pending import PendingFact
from mdmemory.capture.triggers import foreign, openings
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact
from mdmemory.text.wordlists import search
from mdmemory.transcripts.injected import without_memory

MOST = 5  # of a message; a page full of orders is no reason for a list full of them
_READ = 600  # characters of a line


def gives_orders(text: str) -> bool:
    """Whether a text that is not the user's reads like an order to an assistant."""
    return bool(_orders(text))


def requests(text: str) -> list[str]:
    """The lines of somebody else's that ask to remember something, redacted; at most a few."""
    return _redacted(line for line in _lines(text) if openings(line))


def orders(text: str, session: str, today: str) -> list[PendingFact]:
    """What of it reads like an order to an assistant, for a person to look at."""
    return [
        PendingFact(
            "feedback", "", name_of(line), description_of(line), line, session, today,
            ("order", "pasted"),
        )
        for line in _orders(text)
    ]  # fmt: skip


def is_order(line: str) -> bool:
    """Whether a line reads like an order to an assistant, or like one that harms."""
    said = line[:_READ]
    return search("{gate.injection}|{whose.order}", said) is not None


def _orders(text: str) -> list[str]:
    return _redacted(line for line in _lines(text) if is_order(line))


def _lines(text: str) -> list[str]:
    visible = without_memory(strip_private(bounds.beginning(text))[0])
    found = [line.strip()[:_READ] for line in foreign(visible)]
    return [line for line in found if line]


def _redacted(lines: Iterable[str]) -> list[str]:
    """The first few of them; only these are looked through for secrets, which takes time."""
    return [redact(line)[0] for line in islice(lines, MOST)]
