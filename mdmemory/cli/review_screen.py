"""How one thing that waits looks on a screen of some columns and lines: text in, lines out.

Control and hidden characters of a note never reach the terminal; wide characters count two.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from types import FrameType
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

from mdmemory import unseen
from mdmemory.review.items import KEYS, InboxItem, Side, label

RESIZED, ENDED = "resized", "ended"
UP, DOWN, PAGE_UP, PAGE_DOWN, ESCAPE = "up", "down", "page up", "page down", "escape"
_SEQUENCES = {
    b"\x1b[A": UP, b"\x1b[B": DOWN, b"\x1bOA": UP, b"\x1bOB": DOWN, b"\x1b[5~": PAGE_UP,
    b"\x1b[6~": PAGE_DOWN, b"\x1b": ESCAPE,
}  # fmt: skip
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_SMALLEST = (20, 8)  # columns and lines that anything can be drawn in


class Terminal:
    """Standard input and output as a screen. Use it as a context: whatever happens in it, a signal
    that ends the process among it, the terminal gets its former state back.

    A `plain` one has no cursor that could be moved: each drawing is written below the last.
    """

    def __init__(self) -> None:
        self.input, self.output = sys.stdin.fileno(), sys.stdout.fileno()
        self.is_plain = os.environ.get("TERM", "dumb") in ("dumb", "")
        self.has_colour = not (self.is_plain or os.environ.get("NO_COLOR"))
        self._before: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._wake = (-1, -1)
        self._former_wake = -1

    def __enter__(self) -> Terminal:
        self._before = termios.tcgetattr(self.input)
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        self._former_wake = signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        for number, handler in (
            (signal.SIGWINCH, lambda *_: None), (signal.SIGCONT, lambda *_: self._begin_screen()),
            (signal.SIGTERM, _end_process), (signal.SIGHUP, _end_process),
        ):  # fmt: skip
            self._handlers[number] = signal.signal(number, handler)
        self._begin_screen()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._former_wake)
            for end in self._wake:
                os.close(end)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """The terminal as another program, such as an editor, expects it."""
        self._stop()
        try:
            yield
        finally:
            self._begin_screen()

    def size(self) -> tuple[int, int]:
        """Columns and lines, at least a few."""
        try:
            columns, lines = os.get_terminal_size(self.output)
        except OSError:
            columns, lines = 80, 24
        return max(columns, _SMALLEST[0]), max(lines, _SMALLEST[1])

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines, and nothing else. What was typed before they were seen is no answer."""
        text = "\n".join(lines).encode("utf-8", "replace").decode("utf-8")
        if self.is_plain:
            self._write(f"{text}\n")
        else:
            body = text.replace("\n", "\x1b[K\n")
            self._write(f"\x1b[H{body}\x1b[K\x1b[J")

    def forget_typed(self) -> None:
        """Forget the keys that were pressed and not read yet."""
        termios.tcflush(self.input, termios.TCIFLUSH)

    def key(self) -> str:
        """The next key: a character, or one of the names above; RESIZED where the screen has to be
        drawn again, ENDED where nobody is there any more."""
        while True:
            ready, _, _ = select.select([self.input, self._wake[0]], [], [])
            if self._wake[0] in ready:
                os.read(self._wake[0], 512)
                return RESIZED
            try:
                data = os.read(self.input, 64)
            except OSError:
                return ENDED
            if not data or data[:1] == b"\x04":
                return ENDED
            # several at once are pasted, or were typed before the screen showed what they would
            # answer: one of them counts
            first = data.decode("utf-8", "ignore")[:1]
            known = _SEQUENCES.get(data, "") if data[:1] == b"\x1b" else first
            if known and (len(known) > 1 or known.isprintable()):
                return known

    def _begin_screen(self) -> None:
        tty.setcbreak(self.input, termios.TCSADRAIN)
        modes = termios.tcgetattr(self.input)
        modes[6][termios.VSUSP] = b"\0"  # Ctrl-Z would leave the screen half drawn
        termios.tcsetattr(self.input, termios.TCSADRAIN, modes)
        if not self.is_plain:
            self._write(_ENTER)

    def _stop(self) -> None:
        if not self.is_plain:
            self._write(_LEAVE)
        termios.tcsetattr(self.input, termios.TCSADRAIN, self._before)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _end_process(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


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


class View(NamedTuple):
    """What is drawn: an item, its place among `total`, a line about the last answer, and how far
    the text is scrolled. `question` stands in the place of the keys."""

    item: InboxItem
    place: int
    total: int
    said: str = ""
    scrolled: int = 0
    question: str = ""
    can_undo: bool = False


class Drawn(NamedTuple):
    """The lines of a screen, and how far its text can be scrolled."""

    lines: list[str]
    most: int


def draw_screen(view: View, columns: int, lines: int, *, colour: bool) -> Drawn:
    """The screen for an item. No line is wider than the columns, nor are there more lines."""
    width = columns - 1  # the last column makes some terminals begin a new line
    item = view.item
    title = f"{view.place} of {view.total} · {item.kind.replace('_', ' ')} · {item.id}"
    head = [_style_text(cut_line(title, width), _BOLD, colour)]
    foot = [cut_line(clean_text(view.said), width)] if view.said else []
    if view.question:
        foot.append(cut_line(view.question, width))
    else:
        words = [f"{KEYS[each]} {label(item, each)}" for each in item.actions]
        words += ["u undo"] if view.can_undo else []
        foot += pack_parts([*words, "q quit", "? help"], " · ", width)
    if len(foot) > lines - 4:  # a very small screen: the keys alone
        foot = pack_parts([KEYS[each] for each in item.actions] + ["q", "?"], " ", width)
    body = [*_body_lines(item, width, colour)]
    room = max(1, lines - len(head) - len(foot) - 2)
    most = max(0, len(body) - room)
    begin = min(view.scrolled, most)
    shown = body[begin : begin + room]
    shown += [""] * (room - len(shown))
    more = f"lines {begin + 1}-{begin + room} of {len(body)}: ↑ ↓" if most else ""
    drawn = [*head, "", *shown, _style_text(cut_line(more, width), _DIM, colour), *foot]
    return Drawn(drawn[:lines], most)


def help_screen(columns: int, lines: int) -> list[str]:
    """The keys, in words."""
    width = columns - 1
    help_lines: list[str] = []
    for line in HELP.split("\n"):
        help_lines += [line] if text_width(line) <= width else wrap_text(line, width)
    return [*help_lines[: lines - 1], cut_line("Any key: back", width)]


def _body_lines(item: InboxItem, width: int, colour: bool) -> Iterator[str]:
    yield from wrap_text(clean_text(f"Why: {item.why}"), width)
    if item.quote:
        yield from wrap_text(clean_text(f"Quote: “{item.quote}”"), width)
    yield ""
    names = ("1 this: ", "2 that: ") if item.is_pair else ("",) * len(item.notes)
    if not item.is_pair or width + 1 < SIDE_BY_SIDE:
        for side, name in zip(item.notes, names, strict=True):
            yield from _side_lines(side, name, width, colour)
            yield ""
        return
    half = (width - len(_BETWEEN)) // 2
    columns = [
        [*_side_lines(side, name, half, colour)]
        for side, name in zip(item.notes, names, strict=True)
    ]
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f"{left}{' ' * (half - text_width(left))}{_BETWEEN}{right}"


def _side_lines(side: Side, name: str, width: int, colour: bool) -> Iterator[str]:
    yield _style_text(cut_line(clean_text(f"{name}{side.name}"), width), _BOLD, colour)
    yield _style_text(cut_line(clean_text(" · ".join(side.about())), width), _DIM, colour)
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
    # accents of their own take none, wide characters two
    drawn = (char for char in text if category(char) not in ("Mn", "Me", "Cf"))
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in drawn)


def cut_line(text: str, width: int) -> str:
    """The text on one line of at most `width` columns, with an ellipsis where it was longer."""
    line = " ".join(text.split())
    return line if text_width(line) <= width else f"{_first_part(line, width - 1)}…"


def wrap_text(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks where there are any."""
    words = []
    for word in text.split():
        while text_width(word) > width:
            words.append(_first_part(word, width))
            word = word[len(words[-1]) :]
        words += [word] if word else []
    return pack_parts(words or [""], " ", width)


def pack_parts(parts: Sequence[str], between: str, width: int) -> list[str]:
    """The parts in lines of at most `width` columns, none of them broken."""
    lines = [parts[0]]
    for part in parts[1:]:
        if text_width(lines[-1]) + text_width(between) + text_width(part) <= width:
            lines[-1] += f"{between}{part}"
        else:
            lines.append(part)
    return lines


def _first_part(text: str, width: int) -> str:
    """As much of the text as `width` columns hold; at least one character."""
    used = 0
    for at, char in enumerate(text):
        used += text_width(char)
        if used > width:
            return text[: max(1, at)]
    return text
