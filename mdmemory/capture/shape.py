"""What the shape of a message tells of whose words it holds: a task about a text, and the text.

A paragraph that gives a task, asks, or names a source makes what follows another's, up to a last
paragraph in which the user speaks again; one that looks back does so with what stands before it.
Pure, and linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mdmemory.capture.pasted_lines import Line
from mdmemory.text.wordlists import match, search

_READ = 400  # characters of a paragraph that tell what it is
_SHORT = 240  # characters; who gives a task says no more
_BULLET = r"[ \t]*(?:[-*+•✗✓●]|\[[ x]?\]|\d{1,2}[.)])[ \t]+\S|[^|\n]{1,60}[ ]\|[ ][^|\n]"
# The user speaks again.
BACK = r"(?:{whose.back_lead}[,.!:]?[ ]+){0,2}{whose.back}"
# A question may be about the text, or lead to it.
_QUESTION = r"[^\n]{0,240}[?？][ )]*$"
# Only pages and machines begin a line so.
_LABELLED = (
    r"[ \t]*(?!(?:REMEMBER|IMPORTANT|RULE|MERKE|WICHTIG|REGEL|REGLA|RECUERDA|RETIENS)\b)"
    r"(?:[A-ZÄÖÜÉÈÁÍÓÚÑ]{3,}(?: [A-ZÄÖÜÉ]+){0,6}[ ]?:|[A-ZÄÖÜÉ]{3,}(?: [A-ZÄÖÜÉ]+){2,})"
)
_ABOUT = ("{shape.task}", "{shape.source}")
_FRAMED = ("quote", "log", "chat", "markup", "shell")


class _Paragraph(NamedTuple):
    """Lines between blank ones; `text` is what the user typed of them, `lines` are these lines."""

    text: str
    lines: tuple[Line, ...]
    all: tuple[Line, ...]

    def disown(self) -> None:
        for line in self.lines:
            line.own = False


def mark(lines: Sequence[Line], asks: Callable[[str], bool]) -> None:
    """Mark the lines that are another's by the shape of the message."""
    for paragraph in _paragraphs(lines):
        _between(paragraph.all)
    paragraphs = _paragraphs(lines)
    _lists(lines, paragraphs, asks)
    if len(paragraphs) < 2:
        return
    _behind_a_task(_paragraphs(lines), asks)
    _before_a_task(_paragraphs(lines), asks)
    for number, paragraph in enumerate(_paragraphs(lines)):
        is_page = number > 0 and any(re.match(_LABELLED, line.text) for line in paragraph.all)
        if is_page or (paragraph.text and search("{shape.to_many}", paragraph.text)):
            paragraph.disown()


def _paragraphs(lines: Sequence[Line]) -> list[_Paragraph]:
    found: list[list[Line]] = [[]]
    for line in lines:
        if line.text.strip() and line.kind != "blank":
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [_paragraph(block) for block in found if block]


def _paragraph(block: Sequence[Line]) -> _Paragraph:
    own = tuple(line for line in block if line.own)
    text = "\n".join(line.text.strip()[:_READ] for line in own[:4])
    return _Paragraph(text, own, tuple(block))


def _between(block: Sequence[Line]) -> None:
    """A line between two quoted ones, of a log or a chat is one of them."""
    framed = [at for at, line in enumerate(block) if line.kind in _FRAMED and not line.own]
    for line in block[framed[0] : framed[-1]] if framed else ():
        line.own = False


def _lists(
    lines: Sequence[Line], paragraphs: Sequence[_Paragraph], asks: Callable[[str], bool]
) -> None:
    """A list that no request of the user's leads to, beside other words of theirs, is pasted."""
    bullets = {id(line) for line in lines if line.own and match(_BULLET, line.text[:_READ])}
    if not any(id(each) not in bullets for paragraph in paragraphs for each in paragraph.lines):
        return
    before: Line | None = None
    run: list[Line] = []
    for line in [*lines, Line(0, "", "blank", own=False)]:
        if id(line) in bullets:
            run.append(line)
            continue
        if len(run) > 1 and not (before and before.own and _leads(before.text.strip(), asks)):
            for each in run:
                each.own = False
        if run or line.kind != "blank":
            before, run = line, []


def _leads(text: str, asks: Callable[[str], bool]) -> bool:
    """Whether a line leads to a list of the user's own."""
    own = search("{whose.own_list}|{whose.keeps}", text[-_READ:]) is not None
    return own or asks(text)


def _behind_a_task(paragraphs: Sequence[_Paragraph], asks: Callable[[str], bool]) -> None:
    last = len(paragraphs) - 1
    for at, paragraph in enumerate(paragraphs[:-1]):
        text = paragraph.text
        if not text or len(text) > _SHORT or not _leads_to_a_text(text):
            continue
        is_task = any(search(each, text) for each in (*_ABOUT, ":$", "{shape.this}"))
        if any(asks(line.text.strip()) for line in paragraph.lines) and not is_task:
            continue
        for number in range(at + 1, last + 1):
            following = paragraphs[number]
            if not following.text:
                return  # that is the text, and known by its marks
            directly = number == at + 1
            if number == last and _speaks(following.text, strict=directly and is_task):
                return
            following.disown()
        return


def _leads_to_a_text(text: str) -> bool:
    """Whether a paragraph gives a task about a text, asks, or names where a text is from."""
    if text.endswith((":", "：")):
        return any(search(each, text) for each in _ABOUT)
    found = any(search(each, text) for each in _ABOUT)
    return found or match(_QUESTION, text.split("\n")[-1]) is not None


def _speaks(text: str, *, strict: bool) -> bool:
    """Whether the last paragraph is the user's. `strict`: a task stands directly above it."""
    if search("{shape.to_many}", text):
        return False
    if match("{shape.aside}", text):
        return len(text) <= 2 * _SHORT
    if not strict and (match("{shape.goes_on}", text) or match(BACK, text)):
        return True
    if strict or len(text) > _SHORT or "\n" in text:
        return False
    return search("{shape.first}", text) is not None


def _before_a_task(paragraphs: Sequence[_Paragraph], asks: Callable[[str], bool]) -> None:
    """What stands before a last paragraph that looks back at it is another's."""
    last = paragraphs[-1].text
    if not last or len(last) > _SHORT or asks(last):
        return
    looks_back = search("{shape.looks_back}", last) or search("{shape.source}", last)
    for at, paragraph in enumerate(paragraphs[:-1]):
        if not paragraph.text or (at == 0 and len(paragraphs) > 2):
            continue  # the first of three leads to the second
        is_one = len(paragraph.lines) == 1
        first = paragraph.text.split("\n")[0]
        is_own = first.endswith(":") or (is_one and search("{shape.first}", first))
        speaks = is_own and asks(first)
        is_task = search("{shape.task}", last) and (not is_one or ". " in paragraph.text)
        is_page = any(re.match(_LABELLED, line.text) for line in paragraph.lines)
        if not speaks and (looks_back or is_task or is_page):
            paragraph.disown()
    opening = paragraphs[0].text.split("\n")[0]
    if looks_back and opening and not asks(opening):
        paragraphs[0].disown()
