"""Tokens of services, by the table of shapes, in one pass behind their keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mdmemory.privacy.tables import Shape, any_of, shapes
from mdmemory.privacy.values import changes, made_up, mixed

Span = tuple[int, int, str]

_SHORTEST = 14  # characters of the shortest token; none has a blank in it
_LONGEST = 6_000  # a web token with many claims has 4,000
_BEFORE = 90  # characters that may stand before a keyword: Azure's 76


@cache
def _table() -> tuple[re.Pattern[str], dict[str, list[tuple[int, Shape]]]]:
    """What finds any keyword, and the rows that each of them may belong to.

    A token that begins with its keyword begins a word, too.
    """
    rows: dict[str, list[tuple[int, Shape]]] = {}
    for at, shape in enumerate(shapes()):
        rows.setdefault(shape.keyword, []).append((at, shape))
    # what begins like a longer keyword is of both: "sk-" and "sk-ant-"
    for keyword in rows:
        rows[keyword] = sorted(
            (row for short, some in rows.items() if keyword.startswith(short) for row in some),
            key=lambda row: (-len(row[1].keyword), row[0]),
        )
    inner = {keyword for keyword, some in rows.items() if any(shape.front for _, shape in some)}
    first = rf"(?<![A-Za-z0-9_])(?:{any_of(rows.keys() - inner)})"
    return re.compile(f"{first}|{any_of(inner)}"), rows


def find(text: str) -> Iterator[Span]:
    """Every token of the table; the kind is its row's."""
    keywords = _table()[0]
    for word in re.finditer(rf"\S{{{_SHORTEST},}}", text):
        if first := keywords.search(text, *word.span()):
            yield from _in_word(text, first.start(), word.end(), word.start())


def _in_word(text: str, at: int, stop: int, done: int) -> Iterator[Span]:
    """The tokens in a word from `at` on; `done` is where the word begins."""
    keywords, rows = _table()
    read_to: dict[int, int] = {}  # of each row: what was tried without success, or is a token
    while found := keywords.search(text, at, stop):
        at = found.start() + 1
        for row, shape in rows[found[0]]:
            if found.start() < max(read_to.get(row, 0), done):
                continue
            token = _match(shape, text, found.start(), done)
            if token is None:
                if shape.is_open:
                    read_to[row] = _run(text, found.end(), stop)
                continue
            begin, end = token
            if _is_noise(text[begin:end], shape):
                yield begin, end, shape.kind
                done = at = end
                break
            if shape.is_open:
                read_to[row] = end


def _match(shape: Shape, text: str, at: int, done: int) -> tuple[int, int] | None:
    begin = at
    if shape.front:
        window = text[max(done, at - _BEFORE) : at]
        before = _pattern(f"(?:{shape.front})\\Z").search(window)
        if before is None:
            return None
        begin = at - len(window) + before.start()
    if not _begins(text, begin):
        return None
    found = _pattern(shape.rest).match(text, at, at + _LONGEST)
    return (begin, found.end()) if found else None


def _run(text: str, at: int, stop: int) -> int:
    """Where the run of letters, digits, hyphens and underscores ends: until there, no other place
    of an open row can succeed."""
    found = _pattern(r"[A-Za-z0-9_-]*").match(text, at, stop)
    return found.end() if found else at


def _begins(text: str, at: int) -> bool:
    """Whether a token may begin here: after no letter or digit but a Chinese one."""
    before = text[at - 1 : at]
    return not (before.isascii() and before.isalnum()) and before != "_"


def _is_noise(token: str, shape: Shape) -> bool:
    tail = token[len(shape.keyword) :] if not shape.front else token
    if made_up(token) or not mixed(tail):
        return False
    return changes(tail[:200]) >= 0.12


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
