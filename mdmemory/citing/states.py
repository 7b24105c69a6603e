"""The states of a citation, in words that notes, searches and people meet. Values only."""

from __future__ import annotations

from mdmemory.records import dataclass

FRESH, MOVED, DRIFTED, GONE, UNKNOWN = "fresh", "moved", "drifted", "gone", "unknown"
# Seconds that one command of git may take while a search waits, and while a message does.
QUICKLY, AT_ONCE = 2.0, 0.1


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """How a citation stands: the last four fields of a `CheckedCitation`."""

    state: str
    now: str = ""
    diff: str = ""
    why: str = ""

    @property
    def values(self) -> tuple[str, str, str, str]:
        """The four, in their order."""
        return self.state, self.now, self.diff, self.why


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation of a note, and how it stands. `file` is the note's, `cite` the text as it is
    written there, `place` the same without what it is pinned to.

    `state` is fresh (what is cited stands there), moved (the same stands elsewhere), drifted (the
    lines were changed), gone, or unknown. `now` is the place where it stands, or what was put
    instead, such as `src/app.py#L12-L22`; "" where that is as written or nowhere. `diff` has the
    cited lines with `-` and those in their place with `+` in front, at most 40, without secrets.
    `why` says in words what else there is to know.
    """

    file: str
    cite: str
    place: str
    state: str
    now: str = ""
    diff: str = ""
    why: str = ""

    @property
    def is_outdated(self) -> bool:
        """Whether the project no longer holds what the note cites."""
        return self.state in (DRIFTED, GONE)
