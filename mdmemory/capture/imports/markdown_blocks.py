"""A markdown text as facts, with nothing left out: each block becomes a fact, or is named as none.

A fact is an item of a list (with all that is nested in it) or a paragraph; headings above are its
section. Code, tables, quotes, tasks, marks of other programs and bare headings are none, and are
handed on with the reason, so that who imports can keep them. Lines are taken as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MAX_WHOLE = 1_500  # characters; a text without lists below one heading is one fact up to this
LINES = 200_000  # a longer text is refused: it is no memory

NO_FACT = "no_fact"
TASK = "task"

# of GitHub and Obsidian, and of Logseq
_TASK = re.compile(r"\[[ xX/>-]\][ \t]|(?:TODO|DOING|DONE|LATER|NOW|WAITING|CANCELL?ED)[ \t]")
# What other programs put in a place of their own: fields of a template, queries, properties.
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)
_PROPERTIES = re.compile(r"(?:[\w-]+::(?:[ \t].*)?(?:\n|\Z))+")
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_LISTS = ("bullet_list", "ordered_list")
_INTRO = 80  # characters; a line with a colon above a list, and no longer, is a heading
_BELOW_ALL = 7  # the level of such a heading


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
    reader = _Reader(text.splitlines())
    everything = sorted(reader.read(), key=lambda block: block.start)
    facts = [block for block in everything if not block.reason]
    is_one = len({block.section for block in everything}) == 1
    begins_so = bool(facts) and everything[0] is facts[0]  # a text is about what it begins with
    if begins_so and is_one and not reader.has_list and len(text) <= MAX_WHOLE:
        start = facts[0].start
        return [Block("\n".join(reader.lines[start - 1 :]).strip(), start, facts[0].section)]
    return everything


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 60 ms, and only an import needs it

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])  # lines are taken as they stand
    return parser


class _Reader:
    """Walks over the blocks of the outermost level."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.has_list = False
        self._headings: list[tuple[int, int, str]] = []  # level, line, text
        self._unused: dict[int, str] = {}  # headings without a fact: line and text as it stands
        self._line = 0  # lines before this one are in a block

    def read(self) -> Iterator[Block]:
        from markdown_it.tree import SyntaxTreeNode

        nodes = SyntaxTreeNode(_parser().parse("\n".join(self.lines))).children
        steps: int | None = None  # the line that introduces the numbered steps below it
        for node, below in zip(nodes, [*nodes[1:], None], strict=False):
            start, end = self._lines_of(node)
            yield from self._read_between(start, end)
            if node.type == "paragraph" and below and self._is_intro(start, end, below):
                if below.type == "ordered_list":
                    steps = start  # a step says nothing without the others
                else:
                    self._add_heading(_BELOW_ALL, start, end)
            elif steps is not None:
                yield self._fact(self._text(steps, end), steps)
                steps = None
            else:
                yield from self._read_node(node, start, end)
        yield from self._read_between(len(self.lines), len(self.lines))
        for line, text in self._unused.items():
            yield Block(text, line + 1, (), NO_FACT)

    def _read_node(self, node: SyntaxTreeNode, start: int, end: int) -> Iterator[Block]:
        if node.type == "heading" and node.markup == "-" and end > start + 2:
            # several lines with a rule right below them, which markdown takes for a heading
            yield self._fact(self._text(start, end - 1), start)
        elif node.type == "heading":
            self._add_heading(int(node.tag[1:]), start, end)
        elif node.type in _LISTS:
            for item in node.children:
                yield from self._read_item(*self._lines_of(item))
        elif node.type == "paragraph":
            yield self._fact(self._text(start, end), start)
        elif node.type != "hr":
            yield Block(self._text(start, end), start + 1, self._section(), NO_FACT)

    def _read_item(self, start: int, end: int) -> Iterator[Block]:
        first = self.lines[start]
        marker = _MARKER.match(first)
        width = marker.end() if marker else 0
        rest = [_dedented(line, width) for line in self.lines[start + 1 : end]]
        if text := "\n".join([first[width:], *rest]).strip():
            self.has_list = True
            task = Block(text, start + 1, self._section(), TASK)
            yield task if _TASK.match(text) else self._fact(text, start)

    def _read_between(self, start: int, end: int) -> Iterator[Block]:
        """The lines that no block of the parser holds, such as the targets of links."""
        for number in range(self._line, start):
            if line := self.lines[number].strip():
                yield Block(line, number + 1, self._section(), NO_FACT)
        self._line = max(self._line, end)

    def _lines_of(self, node: SyntaxTreeNode) -> tuple[int, int]:
        """The first line of a block, and the one behind its last that says something."""
        start, end = node.map or (self._line, self._line)
        while end > start and not self.lines[end - 1].strip():
            end -= 1
        return start, end

    def _text(self, start: int, end: int) -> str:
        return "\n".join(self.lines[start:end])

    def _fact(self, text: str, start: int) -> Block:
        if is_placeholder(text):
            return Block(text.strip(), start + 1, self._section(), NO_FACT)
        for _, line, _ in self._headings:
            self._unused.pop(line, None)
        return Block(text.strip(), start + 1, self._section())

    def _is_intro(self, start: int, end: int, below: SyntaxTreeNode) -> bool:
        line = self.lines[start].rstrip()
        is_short = end == start + 1 and len(line) <= _INTRO
        return is_short and line.endswith((":", "：")) and below.type in _LISTS

    def _add_heading(self, level: int, start: int, end: int) -> None:
        text = self._text(start, end)
        self._headings = [heading for heading in self._headings if heading[0] < level]
        self._unused[start] = text
        plain = re.sub(r"^[ \t]*#{1,6}[ \t]*|[ \t]*#*[ \t]*$|\n[ \t]*[=-]+[ \t]*$", "", text)
        self._headings.append((level, start, " ".join(plain.split()).rstrip(":：")))

    def _section(self) -> tuple[str, ...]:
        return tuple(text for _, _, text in self._headings if text)


def is_placeholder(text: str) -> bool:
    """Whether a text says something only to the program that it was written for."""
    left = _PLACEHOLDER.sub("", text)
    is_empty = left != text and not re.search(r"\w", left)
    return is_empty or _PROPERTIES.fullmatch(text) is not None


def _dedented(line: str, width: int) -> str:
    """A line without the indentation that made it part of an item."""
    bare = line.expandtabs(4) if line[:1] == "\t" else line
    indent = len(bare) - len(bare.lstrip(" "))
    return bare[min(indent, width) :]
