"""How strongly a note is remembered: a pure function of the notes' own words and dates.

Strength only orders the index when not everything fits. It never deletes, and it asks no clock:
"now" is the newest date that the notes themselves carry.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from operator import attrgetter

from mdmemory.note.note import Head

TYPE_WEIGHTS = {"decision": 2.5, "feedback": 2.25, "user": 2.25, "project": 1.25, "reference": 1.0}
SOURCE_WEIGHTS = {"explicit": 2.0, "manual": 1.4}
IMPORTANCE_WEIGHTS = {"low": 0.7, "high": 1.5}
CAPS = {"decision": 10, "feedback": 10, "user": 10, "project": 8, "reference": 6}  # of 28 places
CAPS_MADE_FOR = 28

HALF_LIFE = 45.0  # days
SLOWING = 0.85  # each reinforcement multiplies the rate of forgetting by this ...
MAX_REINFORCED = 6  # ... up to so many
AWAKE = 14  # days between two dates that count in full
DORMANT_RATE = 0.25  # what a day beyond them counts
LEAP = 366  # days; a newest date further ahead of the second newest is taken for a slip
UNIT = 10**6  # strengths are rounded to 6 digits

_WORDS = attrgetter("type", "kind", "source", "importance", "reinforced")
_DATES = attrgetter("created", "updated", "last_reinforced")


def trace(head: Head) -> str:
    """All that the strength of a note depends on, as one word-separated line without newline:
    pool, initial weight, reinforcements, and its dates, newest first. Many notes share one.
    """
    return f"{_beginning(*_WORDS(head))} {_dates(*_DATES(head))}"


def pool(trace: str) -> str:
    """Whose places a note with this trace takes: a key of CAPS."""
    return trace.partition(" ")[0]


def weigh(traces: Iterable[str]) -> dict[str, float]:
    """The strength for each distinct trace of a whole store."""
    distinct = set(traces)
    words = set(" ".join(distinct).replace(",", " ").split(" "))
    ages = _ages({word for word in words if _is_date(word)})
    ages[""] = 0.0
    manners: dict[str, tuple[float, float]] = {}
    found = {}
    for trace in distinct:
        beginning, _, dates = trace.rpartition(" ")
        if beginning not in manners:
            manners[beginning] = _manner(beginning)
        initial, rate = manners[beginning]
        # not round(x, 6), which goes through decimal text and costs more than all the rest
        found[trace] = round(initial * 2.0 ** (-ages[dates[:10]] * rate) * UNIT) / UNIT
    return found


def _manner(beginning: str) -> tuple[float, float]:
    """Initial weight and halvings per day, from the words of a trace before the dates."""
    _, initial, reinforced = beginning.split(" ")
    return float(initial), SLOWING ** int(reinforced) / HALF_LIFE


@lru_cache(maxsize=1024)
def _beginning(type: str, kind: str, source: str, importance: str, reinforced: int) -> str:
    """The words before the dates. A type that we do not know weighs and counts as a reference."""
    pool = "decision" if (type, kind) == ("project", "decision") else type
    if pool not in CAPS or type == "decision":
        pool = "reference"
    initial = TYPE_WEIGHTS[pool] * SOURCE_WEIGHTS.get(source, 1.0)
    initial *= IMPORTANCE_WEIGHTS.get(importance, 1.0)
    return f"{pool} {initial!r} {max(0, min(reinforced, MAX_REINFORCED))}"


@lru_cache(maxsize=16_384)
def _dates(*dates: str) -> str:
    """The true dates among these, newest first, joined by commas; "" when there are none."""
    return ",".join(sorted({text for text in dates if _is_date(text)}, reverse=True))


@lru_cache(maxsize=4096)
def _is_date(text: str) -> bool:
    """Whether this is a day as `YYYY-MM-DD`; anything else counts as no date at all."""
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _ages(dates: Iterable[str]) -> dict[str, float]:
    """The age in effective days for each of the store's dates; 0 for those after "now"."""
    days = sorted(((date.fromisoformat(text).toordinal(), text) for text in dates), reverse=True)
    slip = len(days) > 1 and days[0][0] - days[1][0] > LEAP
    ages = {days[0][1]: 0.0} if days else {}
    age, later = 0.0, days[slip][0] if days else 0
    for day, text in days[slip:]:
        gap = later - day
        age += min(gap, AWAKE) + max(gap - AWAKE, 0) * DORMANT_RATE
        ages[text], later = age, day
    return ages
