"""What each line of a message looks like by itself: code, quotation, log, chat, mail, markup.

Pure, and linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from mdmemory.capture import whose_words as words

LOOKED_AT = 400  # characters of a line that are read to tell what kind of line it is
_CLOSING = r"</(?P<name>[a-z][\w-]{0,40})"
# Marks around quoted text; over more than one line they stand at the beginning of a line.
_INLINE = (
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|„[^„“”"\n]{1,400}[“”"]|«[^«»\n]{1,400}»|「[^「」\n]{1,400}」'
    r"|『[^『』\n]{1,400}』|(?<!\w)['‘](?:[^'‘’\n]|(?<=\w)['’](?=\w)){2,300}['’](?!\w)"
)
_SPAN = r"(`{1,2})(?!`)[^`\n]+\1"
_AROUND_LINES = r'(?m)^[ \t]{0,3}(?:"{3}[^"]*"{3}|"[^"]*"|“[^“”]*”|„[^„“”"]*[“”"]|«[^«»]*»)'


@dataclass(slots=True)
class Line:
    """`kind` is "", blank, code, quote, log, shell, chat, head (of a mail), markup, or rule.

    `quoted` are places between quotation marks or in code spans, `told_at` is where another's words
    begin in it ("the page says: ..."), 0 for nowhere; `closes` names the elements that end here.
    """

    start: int
    text: str
    kind: str = ""
    own: bool = True
    told_at: int = 0
    quoted: list[tuple[int, int]] = field(default_factory=list)
    closes: tuple[str, ...] = ()


def lines_of(text: str) -> list[Line]:
    """The lines of a text, each with its kind."""
    lines, start = [], 0
    for piece in text.split("\n"):
        lines.append(Line(start, piece))
        start += len(piece) + 1
    _mark_quotations(text, lines)
    fence = ""
    for line in lines:
        before, fence = fence, fence_after(line.text, fence)
        if before or fence:
            line.kind = "code"
        elif not line.kind:
            line.kind = _kind(line.text[:LOOKED_AT])
            _look_into(line)
    _heads(lines)
    _speakers(lines)
    return lines


def fence_after(text: str, fence: str) -> str:
    """The code fence that is open after a line, "" where none is."""
    mark = _pattern(r"[ \t]*(`{3,}|~{3,})").match(text)
    if not fence:
        return mark[1] if mark and not (mark[1][0] == "`" and "`" in text[mark.end() :]) else ""
    is_end = mark and mark[1].startswith(fence) and not text[mark.end() :].strip("`~ \t\r")
    return "" if is_end else fence


def _kind(text: str) -> str:
    bare = text.strip()
    if not bare:
        return "blank"
    if _pattern(r" {4}|\t| {0,3}(?:>|&gt;)").match(text):
        return "quote"
    if _pattern(words.RULE).fullmatch(bare):
        return "rule"
    for kind, expression in (
        ("shell", words.SHELL), ("log", words.LOG), ("head", words.HEADER), ("chat", words.CHAT),
        ("markup", words.MARKUP),
    ):  # fmt: skip
        if _pattern(expression).match(bare):
            return kind
    return "head" if _pattern(words.FORWARDED).match(bare) else ""


def _look_into(line: Line) -> None:
    """Quotations and code spans in a line, and where another's words begin in it."""
    if line.kind not in ("", "markup"):
        return
    line.closes = tuple(found["name"] for found in _pattern(_CLOSING).finditer(line.text))
    for expression in (_SPAN, _INLINE):
        line.quoted += [found.span() for found in _pattern(expression).finditer(line.text)]
    begin = line.text[:LOOKED_AT]
    asked = _pattern(r"[^.!?:\n]{3,160}[?][ ]+(?=\S)").match(begin)
    if asked and not line.kind and _pattern(words.WORDING).search(asked[0]):
        line.told_at = asked.end() if _pattern(words.DONE_WITH).search(asked[0]) else 0
    colon = _pattern(r"[^:.!?\n]{2,160}?[ ]?:[ ]+(?=\S)").match(begin)
    # what stands between quotation marks is another's by these alone
    is_quoted = colon and any(start <= colon.end() for start, _ in line.quoted)
    if colon and not line.kind and not is_quoted:
        before = colon[0]
        says = _pattern(rf"\b(?:{words.SAYS}|{words.DONE_WITH})\b").search(before)
        names = _pattern(rf"\b{words.TEXTS}\b[^:]{{0,20}}:").search(before)
        says = None if _pattern(words.I_SAY).search(before) else says
        if (says or names) and not _pattern(words.KEEPS).search(before):
            line.told_at = colon.end()


def _mark_quotations(text: str, lines: Sequence[Line]) -> None:
    """Lines that lie whole between two quotation marks are a quotation."""
    spans = [found.span() for found in _pattern(_AROUND_LINES).finditer(text)]
    at = 0
    for line in lines:
        end = line.start + len(line.text.rstrip())
        while at < len(spans) and spans[at][1] < end - 2:
            if spans[at][1] > line.start:
                break
            at += 1
        if at < len(spans) and line.text.strip():
            begin, stop = spans[at]
            if begin <= line.start and end <= stop + 2:
                line.kind = "quote"


def _heads(lines: Sequence[Line]) -> None:
    """ "To: ..." alone is no head of a mail; with another such line beside it, it is."""
    places = [at for at, line in enumerate(lines) if line.kind == "head"]
    sure = (words.HEADER_SURE, words.FORWARDED)
    for number, at in enumerate(places):
        text = lines[at].text.strip()[:LOOKED_AT]
        beside = places[max(0, number - 1) : number + 2]
        near = any(0 < abs(other - at) <= 2 for other in beside)
        if not near and not any(_pattern(each).match(text) for each in sure):
            lines[at].kind = ""


def _speakers(lines: Sequence[Line]) -> None:
    """Lines such as "Anna: ..." are a chat where two stand together, or one has a whole name."""
    found: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        named = _pattern(words.SPEAKER).match(line.text[:LOOKED_AT]) if not line.kind else None
        name = named["name"] if named else ""
        if _pattern(words.KEEPS).search(f"{name}:"):
            continue  # "No. Remember: ..." names nobody
        if name and name.lower().split()[0] not in words.LABELS and not line.told_at:
            found.append((at, name))
    for (at, one), (after, other) in pairwise(found):
        if after - at <= (6 if one == other else 3):
            lines[at].kind = lines[after].kind = "chat"
    for at, name in found:
        said = name.split()
        if len(said) > 1 and all(word[0].isupper() for word in said):
            lines[at].kind = "chat"


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)
