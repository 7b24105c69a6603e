"""How one thing that waits looks on a screen of some columns and lines: text in, lines out.

Control and hidden characters of a note never reach the terminal; wide characters count two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from unicodedata import category, east_asian_width

from mdmemory import unseen
from mdmemory.review.items import KEYS, InboxItem, Side, label

SIDE_BY_SIDE = 80  # columns from which two texts stand beside each other
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_BETWEEN = " │ "
HELP = """\
1 or a   keep this: store the fact, confirm the note, or the first of two that contradict
2 or b   keep that: the second of the two
3        both hold: they do not contradict
e        edit it in your editor, and keep your wording
d        drop it
l        later: it stays in the inbox
u        take the last answer back
↑ ↓      scroll; space: a page on
q        quit; what you did not answer stays in the inbox

Each answer is one change. `mdmemory log` lists them, `mdmemory undo` takes one back."""


@dataclass(frozen=True, slots=True)
class View:
    """What is drawn: an item, its place among `total`, a line about the last answer, and how far
    the text is scrolled. `question` stands in the place of the keys."""

    item: InboxItem
    place: int
    total: int
    said: str = ""
    scrolled: int = 0
    question: str = ""
    can_undo: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """The lines of a screen, and how far its text can be scrolled."""

    lines: list[str]
    most: int


def draw_screen(view: View, columns: int, lines: int, *, colour: bool) -> Drawn:
    """The screen for an item. No line is wider than the columns, nor are there more lines."""
    width = columns - 1  # the last column makes some terminals begin a new line
    item = view.item
    title = f"{view.place} of {view.total} · {item.kind.replace('_', ' ')} · {item.id}"
    head = [_style_text(cut_line(title, width), _BOLD, colour)]
    foot = [*_foot_lines(view, width)]
    if len(foot) > lines - 4:  # a very small screen: the keys alone
        foot = pack_parts([KEYS[each] for each in item.actions] + ["q", "?"], " ", width)
    body = [*_body_lines(item, width, colour)]
    room = max(1, lines - len(head) - len(foot) - 2)
    most = max(0, len(body) - room)
    begin = min(view.scrolled, most)
    shown = body[begin : begin + room]
    shown += [""] * (room - len(shown))
    more = (
        "" if not most else cut_line(f"lines {begin + 1}-{begin + room} of {len(body)}: ↑ ↓", width)
    )
    drawn = [*head, "", *shown, _style_text(more, _DIM, colour), *foot]
    return Drawn(drawn[:lines], most)


def help_screen(columns: int, lines: int) -> list[str]:
    """The keys, in words."""
    width = columns - 1
    help_lines = [
        part
        for line in HELP.split("\n")
        for part in ([line] if text_width(line) <= width else wrap_text(line, width))
    ]
    return [*help_lines[: lines - 1], cut_line("Any key: back", width)]


def _foot_lines(view: View, width: int) -> Iterator[str]:
    if view.said:
        yield cut_line(clean_text(view.said), width)
    if view.question:
        yield cut_line(view.question, width)
        return
    words = [f"{KEYS[each]} {label(view.item, each)}" for each in view.item.actions]
    words += ["u undo"] if view.can_undo else []
    yield from pack_parts([*words, "q quit", "? help"], " · ", width)


def _body_lines(item: InboxItem, width: int, colour: bool) -> Iterator[str]:
    yield from wrap_text(clean_text(f"Why: {item.why}"), width)
    if item.quote:
        yield from wrap_text(clean_text(f"Quote: “{item.quote}”"), width)
    yield ""
    if not item.is_pair:
        for side in item.notes:
            yield from _side_lines(side, "", width, colour)
            yield ""
        return
    if width + 1 < SIDE_BY_SIDE:
        yield from _side_lines(item.notes[0], "1 this: ", width, colour)
        yield ""
        yield from _side_lines(item.notes[1], "2 that: ", width, colour)
        return
    half = (width - len(_BETWEEN)) // 2
    names = ("1 this: ", "2 that: ")
    columns = [
        [*_side_lines(side, name, half, colour)]
        for side, name in zip(item.notes, names, strict=True)
    ]
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f"{left}{' ' * (half - text_width(left))}{_BETWEEN}{right}"


def _side_lines(side: Side, name: str, width: int, colour: bool) -> Iterator[str]:
    yield _style_text(cut_line(clean_text(f"{name}{side.name}"), width), _BOLD, colour)
    about = " · ".join(each for each in (side.layer, side.date, side.source) if each)
    yield _style_text(cut_line(clean_text(about), width), _DIM, colour)
    for line in clean_text(side.text).split("\n") if side.text else ():
        yield from wrap_text(line, width)


def _style_text(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour and text else text


# --- text as a terminal shows it


def clean_text(text: str) -> str:
    """The text without what a terminal would obey, and with a mark for what nobody sees."""
    return unseen.shown_text(text.expandtabs(4))


def text_width(text: str) -> int:
    """The columns that a text takes; styles take none."""
    for style in (_BOLD, _DIM, _PLAIN):
        text = text.replace(style, "")
    return sum(map(_char_width, text))


def _char_width(char: str) -> int:
    """The columns of one character: accents of their own take none, wide ones two."""
    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut_line(text: str, width: int) -> str:
    """The text on one line of at most `width` columns, with an ellipsis where it was longer."""
    line = " ".join(text.split())
    return line if text_width(line) <= width else f"{_first_part(line, width - 1)}…"


def wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks where there are any."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and text_width(line) + 1 + text_width(word) <= width:
            line = f"{line} {word}"
            continue
        lines += [line] if line else []
        *whole, line = _word_pieces(word, width)
        lines += whole
    return [*lines, line]


def pack_parts(parts: Sequence[str], between: str, width: int) -> list[str]:
    """The parts in lines of at most `width` columns, none of them broken."""
    lines = [parts[0]]
    for part in parts[1:]:
        if text_width(lines[-1]) + text_width(between) + text_width(part) <= width:
            lines[-1] += f"{between}{part}"
        else:
            lines.append(part)
    return lines


def _word_pieces(word: str, width: int) -> Sequence[str]:
    if text_width(word) <= width:
        return [word]
    pieces = []
    while text_width(word) > width:
        piece = _first_part(word, width)
        pieces.append(piece)
        word = word[len(piece) :]
    return [*pieces, word]


def _first_part(text: str, width: int) -> str:
    """As much of the text as `width` columns hold; at least one character."""
    used = 0
    for at, char in enumerate(text):
        used += text_width(char)
        if used > width:
            return text[: max(1, at)]
    return text
