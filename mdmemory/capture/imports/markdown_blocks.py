"""A markdown text as facts, with nothing left out: each block becomes a fact, or is named as none.

A fact is an item of a list (with all that is nested in it) or a paragraph. Headings above it are
its section. Code, tables, quotes, tasks and headings without a fact are no facts, and are handed
on with the reason, so that the one who imports can keep them. Lines are taken as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from mdmemory.expressions import lazy
from mdmemory.records import dataclass

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_WHOLE = 1_500  # characters; a text without lists below one heading is one fact up to this
LINES = 200_000  # a longer text is refused: it is no memory

NO_FACT = "no_fact"
TASK = "task"

_TASK = lazy(r"\[[ xX]\][ \t]")
_MARKER = lazy(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_INTRO = (
    80  # characters; a line that ends with a colon above a list, and is no longer, is a heading
)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of a text: `start` counts from 1; `section` are the headings above, the
    outermost first; `reason` is "" for a fact, else says why it is none."""

    text: str
    start: int
    section: tuple[str, ...] = ()
    reason: str = ""


def blocks(text: str) -> list[Block]:
    """The blocks of a text, in its order. Every line that says something is in one of them, or is
    a heading in the section of a fact."""
    lines = text.splitlines()
    found = list(_Reader(lines).read("\n".join(lines)))
    facts = [block for block in found if not block.reason]
    has_list = any(_MARKER.match(lines[block.start - 1]) for block in facts)
    is_one = len({block.section for block in found}) == 1
    if facts and is_one and not has_list and len(text) <= MAX_WHOLE:
        start = found[0].start
        return [Block("\n".join(lines[start - 1 :]).strip(), start, facts[0].section)]
    return found


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 60 ms, and only an import needs it

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])  # lines are taken as they stand
    return parser


class _Reader:
    """Walks over the blocks of the outermost level."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._headings: list[tuple[int, int, str]] = []  # level, line, text
        self._titles: list[tuple[int, str]] = []  # all headings: line and text as it stands
        self._used: set[int] = set()  # lines of headings that a fact has above it
        self._steps: int | None = None  # the line that introduces the numbered steps below it
        self._at = 0  # lines before this one are in a block

    def read(self, text: str) -> Iterator[Block]:
        found: list[Block] = []
        for token in _parser().parse(text):
            if token.map is None or token.nesting < 0 or token.map[0] < self._at:
                continue
            is_item = token.type == "list_item_open" and token.level == 1
            if token.level > 0 and not is_item:
                continue
            found += self._between(token.map[0])
            if token.type == "ordered_list_open" and self._steps is not None:
                start, end = self._trimmed(self._steps, token.map[1])
                self._steps, self._at = None, token.map[1]
                found.append(self._fact("\n".join(self._lines[start:end]), start))
            elif token.type not in ("bullet_list_open", "ordered_list_open"):
                found += self._taken(token, *self._trimmed(*token.map))
        found += self._between(len(self._lines))
        yield from sorted(found + self._unused(), key=lambda block: block.start)

    def _between(self, end: int) -> Iterator[Block]:
        """The lines that no block of the parser holds, such as the targets of links."""
        start, self._at = self._at, max(self._at, end)
        for number in range(start, end):
            if line := self._lines[number].strip():
                yield Block(line, number + 1, self._section(), NO_FACT)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        while end > start and not self._lines[end - 1].strip():
            end -= 1
        return start, end

    def _taken(self, token: Token, start: int, end: int) -> Iterator[Block]:
        self._at = max(self._at, token.map[1] if token.map else end)
        text = "\n".join(self._lines[start:end])
        if token.type == "heading_open":
            self._head(int(token.tag[1:]), start, text)
        elif token.type == "hr":
            pass
        elif token.type == "list_item_open":
            yield from self._item(start, end)
        elif token.type == "paragraph_open":
            below = self._below(text, end)
            if below and below.strip()[0].isdigit():
                self._steps = start  # a step says nothing without the others
            elif below:
                self._head(7, start, text)
            else:
                yield self._fact(text, start)
        else:
            yield Block(text, start + 1, self._section(), NO_FACT)

    def _item(self, start: int, end: int) -> Iterator[Block]:
        first = self._lines[start]
        marker = _MARKER.match(first)
        width = marker.end() if marker else 0
        rest = [_dedented(line, width) for line in self._lines[start + 1 : end]]
        text = "\n".join([first[width:], *rest]).strip()
        if not text:
            return
        if _TASK.match(text):
            yield Block(text, start + 1, self._section(), TASK)
        else:
            yield self._fact(text, start)

    def _fact(self, text: str, start: int) -> Block:
        self._used |= {line for _, line, _ in self._headings}
        return Block(text.strip(), start + 1, self._section())

    def _below(self, text: str, end: int) -> str:
        """The first line of the list that a short line with a colon introduces, or ""."""
        if "\n" in text or len(text) > _INTRO or not text.rstrip().endswith((":", "：")):
            return ""
        below = next((line for line in self._lines[end:] if line.strip()), "")
        return below if _MARKER.match(below) else ""

    def _head(self, level: int, start: int, text: str) -> None:
        self._headings = [heading for heading in self._headings if heading[0] < level]
        self._titles.append((start, text))
        plain = re.sub(r"^[ \t]*#{1,6}[ \t]*|[ \t]*#*[ \t]*$|\n[ \t]*[=-]+[ \t]*$", "", text)
        self._headings.append((level, start, " ".join(plain.split()).rstrip(":：")))

    def _section(self) -> tuple[str, ...]:
        return tuple(text for _, _, text in self._headings if text)

    def _unused(self) -> list[Block]:
        return [
            Block(text, start + 1, (), NO_FACT)
            for start, text in self._titles
            if start not in self._used
        ]


def _dedented(line: str, width: int) -> str:
    """A line without the indentation that made it part of an item."""
    bare = line.expandtabs(4) if line[:1] == "\t" else line
    indent = len(bare) - len(bare.lstrip(" "))
    return bare[min(indent, width) :]
