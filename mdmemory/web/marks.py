"""Note text on a page: never obeyed, what nobody sees and words that differ marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from mdmemory import unseen
from mdmemory.actions.word_diff import (
    GONE,
    NEW,
    SAME,
    DiffPiece,
    Line,
    diff_lines,
    diff_sides,
    shorten_lines,
)

_TAGS = {GONE: "del", NEW: "ins"}


def shown(value: object) -> object:
    """A value as a template may put it on a page; what is no markup of ours is cleaned."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return unseen.shown_text(value)
    return value


def commands(sentence: str) -> Markup:
    """A sentence of ours, with what stands between backticks as code."""
    parts = unseen.shown_text(sentence).split("`")
    spans = [Markup("<code>{}</code>" if n % 2 else "{}").format(part)
             for n, part in enumerate(parts)]  # fmt: skip
    if len(parts) % 2:
        return Markup("").join(spans)
    return Markup("").join([*spans[:-1], "`", parts[-1]])


def lines(diff: Iterable[Line]) -> Markup:
    """Lines of a word diff, each in a row."""
    rows = (Markup('<span class="line {}">{}</span>').format(_kind(each), line(each))
            for each in diff)  # fmt: skip
    return Markup("").join(rows)


def line(pieces: Line) -> Markup:
    """One line of a word diff."""
    parts = []
    for piece in pieces:
        words = escape(unseen.shown_text(piece.words))
        tag = _TAGS.get(piece.sign)
        parts.append(Markup("<{0}>{1}</{0}>").format(Markup(tag), words) if tag else words)
    return Markup("").join(parts)


def _kind(pieces: Line) -> str:
    signs = {piece.sign for piece in pieces}
    if len(signs) == 1:
        return {GONE: "gone", NEW: "new", SAME: "same"}[signs.pop()]
    return "changed" if signs else "same"


def beside(one: str, other: str) -> tuple[Markup, Markup]:
    """Two texts that stand beside each other, with the words marked that the other one lacks."""
    first, second = diff_sides(one, other)
    return _beside(first), _beside(second)


def _beside(diff: Iterable[Line]) -> Markup:
    rows = (
        Markup("").join(
            escape(words) if piece.sign == SAME else Markup("<mark>{}</mark>").format(words)
            for piece in each
            if (words := unseen.shown_text(piece.words))
        )
        for each in diff
    )
    return Markup("\n").join(rows)


def words(text: str, places: Sequence[tuple[int, int]]) -> Markup:
    """A text with the words at these places marked."""
    parts, at = [], 0
    for start, end in places:
        if start >= at:
            parts += [escape(unseen.shown_text(text[at:start]))]
            parts += [Markup("<mark>{}</mark>").format(unseen.shown_text(text[start:end]))]
            at = end
    return Markup("").join([*parts, escape(unseen.shown_text(text[at:]))])


def hunks(parts: Iterable[Iterable[Line]]) -> Markup:
    """The stretches of a file's difference, with a sign between them."""
    return Markup('<span class="line left-out">…</span>').join(map(lines, parts))


def changes(before: str, after: str) -> Markup:
    """What changed from one text to another, with a few lines around each change."""
    return hunks(shorten_lines(diff_lines(before, after)))


def signed(diff: str) -> Markup:
    """Lines with `-` or `+` in front, as they stand."""
    rows = [
        (DiffPiece(row[:1] if row[:1] in _TAGS else SAME, row[1:]),) for row in diff.splitlines()
    ]
    return lines(rows)
