"""A citation held against one version of its file, and what stands in place of its lines. Pure."""

from __future__ import annotations

from functools import lru_cache

from mdmemory.citing.citation import Citation, place
from mdmemory.citing.lines import MOST_LINES, Comparison, Span, Squeezed, lines_hash
from mdmemory.citing.states import DRIFTED, FRESH, MOVED, UNKNOWN, CitationVerdict

_SHOWN = 40  # lines of a diff
_WIDE = 200  # characters of one of them
_HASHED = 20_000_000  # bytes that are hashed to find lines by their hash alone

_LARGE = "the file is too large to be compared, or is no text"
_UNFIT = "its pin does not fit its lines: `mdmemory confirm` pins it anew"
NO_VERSION = "the version that it cites is not in this repository, so there is no diff"


def in_version(cite: Citation, old: bytes | None, new: bytes | None) -> CitationVerdict | None:
    """How the lines of a citation stand in the `new` version of the file, with the `old` one that
    it cites where that is at hand. None: they are not there."""
    if not cite.lines:
        return CitationVerdict(FRESH)
    if new is None or is_no_text(new):
        return CitationVerdict(UNKNOWN, why=_LARGE)
    there = _squeezed(new)
    if old is None:
        found = by_hash(cite, there)
        return _stands(cite, FRESH, there, found) if found else None
    compared = _comparison(old, new)
    before = compared.old
    span = before.span(cite.lines)
    if cite.lines_hash and lines_hash(before.text(span)) != cite.lines_hash:
        return CitationVerdict(UNKNOWN, why=_UNFIT)
    if span[0] == span[1]:
        return CitationVerdict(FRESH)
    if found := compared.standing(span):
        return _stands(cite, FRESH, there, found)
    if found := compared.moved(span):
        return _stands(cite, MOVED, there, found)
    return None


def _stands(cite: Citation, state: str, there: Squeezed, found: Span) -> CitationVerdict:
    lines = there.in_file(found)
    is_same = cite.lines is not None and found == there.span(cite.lines)
    return CitationVerdict(state, "" if is_same else place(cite.path, lines))


@lru_cache(maxsize=16)
def _squeezed(data: bytes) -> Squeezed:
    return Squeezed(data)


@lru_cache(maxsize=8)
def _comparison(old: bytes, new: bytes) -> Comparison:
    return Comparison(_squeezed(old), _squeezed(new))


def is_no_text(data: bytes) -> bool:
    """Whether a file's lines cannot be judged: it is binary, or has too many."""
    return b"\0" in data or data.count(b"\n") >= MOST_LINES


def by_hash(cite: Citation, there: Squeezed) -> Span | None:
    """Where the lines stand of which only the hash is at hand: where they stood, or at the one
    other place that has as many lines."""
    if not cite.lines or not cite.lines_hash:
        return None
    first, last = cite.lines
    span = there.span(cite.lines)
    if span[0] < span[1] and lines_hash(there.text(span)) == cite.lines_hash:
        return span
    found: list[Span] = []
    hashed = 0
    for start, number in enumerate(there.numbers):
        span = start, there.span((number, number + last - first))[1]
        text = there.text(span)
        if (hashed := hashed + len(text)) > _HASHED:
            return None
        if lines_hash(text) == cite.lines_hash:
            found.append(span)
    return found[0] if len(found) == 1 else None


def drifted(cite: Citation, old: bytes | None, new: bytes, path: str) -> CitationVerdict:
    """The verdict on lines that were changed in a file, which lies at `path` now."""
    now = path if path != cite.path else ""
    if old is None or not cite.lines or is_no_text(new) or is_no_text(old):
        return CitationVerdict(DRIFTED, now, why=NO_VERSION if old is None else "")
    compared = _comparison(old, new)
    there = compared.new
    instead = compared.instead(compared.old.span(cite.lines))
    # without lines: nothing was put in their place
    now = place(path, there.in_file(instead) if instead[0] < instead[1] else None)
    now = "" if now == cite.place else now
    return CitationVerdict(DRIFTED, now, _diff(_text(old, cite.lines), _new(new, there, instead)))


def _new(data: bytes, there: Squeezed, span: Span) -> list[str]:
    return _text(data, there.in_file(span)) if span[0] < span[1] else []


def _text(data: bytes, lines: tuple[int, int]) -> list[str]:
    """Some lines of a file as text, at most as many as are shown of a diff."""
    first, last = lines
    some = data.split(b"\n", last)[first - 1 : min(last, first - 1 + _SHOWN)]
    return [line.decode("utf-8", "replace").rstrip()[:_WIDE] for line in some]


def _diff(old: list[str], new: list[str]) -> str:
    from difflib import unified_diff  # only where something was changed

    from mdmemory.privacy.redaction import redact

    rows = [*unified_diff(old, new, n=_SHOWN, lineterm="")][3:]
    return redact("\n".join(rows[:_SHOWN]))[0]
