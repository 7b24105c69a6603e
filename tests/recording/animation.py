"""Steps of a session in a terminal as one animated SVG: CSS alone, no script, no font from outside.

Each line is drawn once. What is typed lies under a cover that slides away; what is shown comes in
at its moment; the lines move up as in a terminal. The last screen comes first, for HOLD seconds, so
that a still picture is readable; who wants no motion sees nothing else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from textwrap import TextWrapper
from xml.sax.saxutils import escape

COLUMNS, ROWS = 96, 24
WIDE, HIGH, MARGIN, BAR = 8.4, 18, 16, 30  # pixels: of a character, a line, around them, the title
HOLD = 4.0  # seconds that the last screen stays, first and last
_TYPED, _READ = 0.025, 0.025  # seconds for a character
_LONGEST, _SHORTEST = 2.6, 0.9  # seconds to read what is shown
STYLE = """\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;\
white-space:pre;fill:#d6dbe1}
.b{fill:#12161c}.c{fill:#8b95a1}.s{fill:#7ee787;font-weight:bold}.a{fill:#79c0ff;font-weight:bold}
.r{fill:#f2cc60}"""


@dataclass(frozen=True, slots=True)
class Step:
    """What was typed after a sign (`$` at the shell, `>` to the assistant, `#` a comment), and what
    was shown then."""

    sign: str
    typed: str
    shown: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A step on the screen: its first row, when typing begins and ends, and when the next begins,
    in seconds."""

    step: Step
    row: int
    begins: float
    typed: float
    ends: float


def animated(steps: Sequence[Step], title: str) -> str:
    """The SVG."""
    moments = list(timed(steps))
    total = moments[-1].ends + HOLD
    width = COLUMNS * WIDE + 2 * MARGIN
    height = ROWS * HIGH + 2 * MARGIN + BAR
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}\n{motion(moments, total)}</style>",
        f'<rect class="b" x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="8" '
        'stroke="#3d444d"/>',
        *(f'<circle cx="{18 + 18 * at}" cy="17" r="5.5" fill="#3d444d"/>' for at in range(3)),
        f'<svg x="{MARGIN}" y="{BAR + MARGIN}" width="{COLUMNS * WIDE:g}" height="{ROWS * HIGH}">',
        '<g class="up">',
        *(line for at, moment in enumerate(moments) for line in drawn(at, moment)),
        "</g>\n</svg>\n</svg>\n",
    ]
    return "\n".join(lines)


def timed(steps: Sequence[Step]) -> Iterator[Moment]:
    """Each step with its place and its times."""
    row, now = 0, HOLD + 0.6
    for step in steps:
        typed = now + len(step.typed) * (_TYPED if step.sign != "#" else 0)
        reading = min(max(_SHORTEST, len(step.shown) * _READ), _LONGEST)
        yield Moment(step, row, now, typed, typed + reading)
        row, now = row + len(rows(step)) + (step.sign != "#"), typed + reading


def rows(step: Step) -> list[str]:
    """The lines of a step on the screen; a long one goes on below, as whole words."""
    cut = TextWrapper(COLUMNS, break_on_hyphens=False).wrap
    lines = [f"{step.sign} {step.typed}", *step.shown.splitlines()]
    return [part for line in lines for part in cut(line) or [""]]


def last_row(moment: Moment) -> int:
    """The row behind the last one of a step."""
    return moment.row + len(rows(moment.step))


def scrolled(moment: Moment) -> int:
    """The rows above the screen once the step is shown."""
    return max(0, last_row(moment) - ROWS)


def drawn(at: int, moment: Moment) -> Iterator[str]:
    """The elements of a step."""
    typed, *shown = rows(moment.step)
    kind = {"$": "s", ">": "a", "#": "c"}[moment.step.sign]
    yield f'<g class="m{at}">{text(moment.row, typed, kind)}'
    if kind != "c":
        y = moment.row * HIGH
        yield (
            f'<g class="t{at}"><rect class="b" x="{2 * WIDE:g}" y="{y}" '
            f'width="{len(typed) * WIDE:g}" height="{HIGH}"/></g>'
        )
    yield "</g>"
    if shown:
        kind = "r" if moment.step.sign == ">" else ""
        lines = [text(moment.row + 1 + row, line, kind) for row, line in enumerate(shown)]
        yield "\n".join([f'<g class="o{at}">', *filter(None, lines), "</g>"])


def text(row: int, line: str, kind: str) -> str:
    """A line of text, as wide as its characters; "" for an empty one."""
    if not line.strip():
        return ""
    named = f' class="{kind}"' if kind else ""
    return (
        f'<text{named} y="{row * HIGH + 13}" textLength="{len(line) * WIDE:g}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(line)}</text>'
    )


def motion(moments: Sequence[Moment], total: float) -> str:
    """The style sheet of the animation, which repeats after `total` seconds."""
    end = scrolled(moments[-1]) * HIGH
    frames, names = [up(moments, total)], ["up"]
    for at, moment in enumerate(moments):
        for kind, when in [("m", moment.begins)] + [("o", moment.typed)] * bool(moment.step.shown):
            names.append(f"{kind}{at}")
            frames.append(
                f"@keyframes {kind}{at}{{0%{{opacity:1}}{part(HOLD, total)}{{opacity:0}}"
                f"{part(when, total)}{{opacity:1}}}}"
            )
        if moment.step.sign != "#":
            names.append(f"t{at}")
            frames.append(typing(at, moment, total))
    used = "".join(f".{name}{{animation-name:{name}}}" for name in names)
    groups = ",".join(f".{name}" for name in names)
    covers = ",".join(f".{name}" for name in names if name.startswith("t"))
    return (
        f".up{{transform:translateY({-end}px)}}{covers}{{opacity:0}}\n"
        "@media (prefers-reduced-motion:no-preference){\n"
        f"{groups}{{animation:{total:.1f}s step-end infinite}}{covers}{{opacity:1}}\n{used}\n"
        + "\n".join(frames) + "\n}\n"
    )  # fmt: skip


def part(when: float, total: float) -> str:
    """A moment as a share of the whole."""
    return f"{100 * when / total:.2f}%"


def typing(at: int, moment: Moment, total: float) -> str:
    """The cover of what is typed slides to the right, one character at a time."""
    count = len(moment.step.typed)
    away = f"{{transform:translateX({count * WIDE:g}px)}}"
    return (
        f"@keyframes t{at}{{0%{away}{part(HOLD, total)}{{transform:none}}"
        f"{part(moment.begins, total)}{{transform:none;"
        f"animation-timing-function:steps({count},end)}}{part(moment.typed, total)},100%{away}}}"
    )


def up(moments: Sequence[Moment], total: float) -> str:
    """The lines move up as the screen fills."""
    tops = accumulate((scrolled(moment) for moment in moments), max)
    stops = [
        f"{part(moment.typed, total)}{{transform:translateY({-top * HIGH}px)}}"
        for moment, top in zip(moments, tops, strict=True)
        if top
    ]
    end = f"{{transform:translateY({-scrolled(moments[-1]) * HIGH}px)}}"
    return f"@keyframes up{{0%{end}{part(HOLD, total)}{{transform:none}}{''.join(stops)}}}"
