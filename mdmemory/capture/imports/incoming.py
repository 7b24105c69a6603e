"""A fact as another memory had it, before anything was checked. Values only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mdmemory.errors import MdmemoryError

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SINCE_1970 = re.compile(r"1\d{9}(?:\d{3})?")
_DAYS = ("created_at", "createdAt", "created", "date", "timestamp", "time", "created_time")


class BadImport(MdmemoryError):
    """What was named holds no memory that can be read."""

    code = "bad_import"


@dataclass(frozen=True, slots=True)
class Incoming:
    """`origin` is the place it comes from, such as `mem0.json:4f1a`; `reason` is "" or says why it
    is left out already, `metadata` are values of its head that a note has, too, `own` keys that are
    nobody's but the person's. Dates are `YYYY-MM-DD`; the rest as in a note, "" where unknown."""

    text: str
    origin: str
    name: str = ""
    description: str = ""
    type: str = ""
    kind: str = ""
    source: str = "extraction"
    reason: str = ""
    title: str = ""
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, object] = field(default_factory=dict)


def day(value: object) -> str:
    """The UTC day of an ISO date, or of (milli)seconds since 1970; "" for anything else."""
    if isinstance(value, str) and _SINCE_1970.fullmatch(value):
        value = int(value)  # in a head all is text
    if isinstance(value, str):
        return match[0] if (match := _DAY.match(value)) else ""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 4e12:
        seconds = value / 1000 if value > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return ""


def day_of(row: Mapping[str, object]) -> str:
    """The day on which a fact was first told, by the keys that memories have for it, or ""."""
    return next(filter(None, (day(row.get(key)) for key in _DAYS)), "")


def word_of(value: object) -> str:
    """A text of one line that can be written as UTF-8, else ""."""
    return " ".join(text_of(value).split())


def text_of(value: object) -> str:
    """A text that can be written as UTF-8 (JSON may carry half a surrogate pair), else ""."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
