"""Small charts as SVG: numbers and classes of ours alone, never a text; that stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

ROW = 32  # pixels of a line beside arcs; style.css has it, too
_WIDE, _STEP = 84, 11  # pixels for all arcs, and by which each line more bends one
_CHART = (
    '<svg class="chart {}" viewBox="0 0 {:g} {:g}"{} aria-hidden="true" focusable="false">{}</svg>'
)
_RECT = Markup('<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>')
_STRETCHED = Markup(' preserveAspectRatio="none"')


def bar(parts: Sequence[float], most: float) -> Markup:
    """Parts of a whole beside each other, as long as their sum is of the `most` of all bars."""
    rects, x = [], 0.0
    for number, part in enumerate(parts):
        width = 100 * part / (most or 1)
        rects += [_RECT.format(f"part{number}", x, 0, width, 10)] if part else []
        x += width
    return Markup(_CHART).format("bar", 100, 10, _STRETCHED, Markup("").join(rects))


def columns(counts: Sequence[int]) -> Markup:
    """A column for each count, all on one line; none is lost to the eye."""
    most, wide = max(counts, default=0) or 1, 100 / (len(counts) or 1)
    rects = []
    for at, count in enumerate(counts):
        height = max(40 * count / most, 1.5 if count else 0.5)
        style = "part0" if count else "none"
        rects.append(_RECT.format(style, at * wide + wide * 0.1, 40 - height, wide * 0.8, height))
    return Markup(_CHART).format("columns", 100, 40, _STRETCHED, Markup("").join(rects))


def arcs(rows: int, edges: Iterable[tuple[int, int, str]], here: int) -> Markup:
    """A dot for each of so many lines, and an arrow for each edge: from, to, and its class."""
    parts = []
    for start, end, style in edges:
        top, bottom = ((at + 0.5) * ROW for at in (start, end))
        bend = max(2, _WIDE - 14 - _STEP * (1 + abs(start - end)))
        path = f"M{_WIDE - 12},{top:g} C{bend},{top:g} {bend},{bottom:g} {_WIDE - 18},{bottom:g}"
        head = f"{_WIDE - 20},{bottom - 4:g} {_WIDE - 12},{bottom:g} {_WIDE - 20},{bottom + 4:g}"
        parts.append(Markup('<path class="{0}" d="{1}"/><polygon class="{0}" points="{2}"/>')
                     .format(style, path, head))  # fmt: skip
    dot = Markup('<circle class="{}" cx="{}" cy="{:g}" r="5"/>')
    parts += [
        dot.format("here" if at == here else "dot", _WIDE - 7, (at + 0.5) * ROW)
        for at in range(rows)
    ]
    size = Markup(' width="{}" height="{}"').format(_WIDE, rows * ROW)
    return Markup(_CHART).format("arcs", _WIDE, rows * ROW, size, Markup("").join(parts))
