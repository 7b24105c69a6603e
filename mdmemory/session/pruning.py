"""Chooses the lines of a long tool output that an assistant sees. Pure.

They stay in their order; marks between them count the missing lines, and the last mark says where
the whole output is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from string import hexdigits
from typing import Any

from mdmemory.session.failures import command_of, list_decisive

MARK = "[mdmemory: "  # every line that is ours begins with it


@dataclass(frozen=True, slots=True)
class Level:
    """Outputs of more than `over` lines are pruned to `head` and `tail` lines and at most `errors`
    lines about errors. Lines of more than `longest` characters are left out; if all lines are so
    long, the two ends of the output stay."""

    over: int
    head: int
    tail: int
    errors: int
    longest: int
    repeats: bool  # whether only the first and last of a run of similar lines stay


LEVELS = {
    "normal": Level(50, 30, 30, 20, 10_000, False),
    "aggressive": Level(30, 20, 20, 12, 4_000, True),
    "hyper": Level(15, 10, 10, 6, 2_000, True),
}
ORDER = tuple(LEVELS)

# The level from which on a tool's output is pruned, None for never; others from the first level on.
# Files that the assistant works on stay whole as long as there is room.
TOOLS: dict[str, str | None] = {
    "read": "aggressive", "webfetch": "aggressive", "task": "aggressive", "edit": None,
    "write": None, "multiedit": None, "patch": None, "apply_patch": None, "grep": "hyper",
    "glob": "hyper", "skill": None, "todowrite": None, "todoread": None, "question": None,
}  # fmt: skip
OWN_TOOL = re.compile(r"(?:mdmemory_)?(?:session_memory|(?:memory|core_memory|working_memory)_\w+)")

Lines = Sequence[str]
Keep = Callable[[Lines, Level], set[int]]


@dataclass(frozen=True, slots=True)
class Rule:
    """How outputs of a kind are cut: `fits(lines, commands)` recognises the kind, `keep` chooses
    line numbers. `commands` are the bare commands of a shell tool, or the tool's name."""

    name: str
    fits: Callable[[Lines, Sequence[str]], bool]
    keep: Keep


@dataclass(frozen=True, slots=True)
class Pruned:
    """The text to show: `kept` of `total` lines, by the rule of that name."""

    text: str
    kept: int
    total: int
    rule: str


# --- what the kinds look like

_LISTING = re.compile(r"(?:ls|find|fd|du|git ls-files|glob)\b")
_LOG_COMMAND = re.compile(r"(?:journalctl|docker(?: compose)? logs|kubectl logs|tail|dmesg)\b")
_TREE = re.compile(r"^(?P<depth>[│ |]*)(?:[├└]──|[|`+]--|\+---)")
_STAMPED = re.compile(r"^\W{0,2}\d{2,4}[-/:]\d\d[-/:]\d\d|^\w{3} [ \d]\d \d\d:\d\d|^\[?\d{10,13}\b")
_PATH_LINE = re.compile(r"^\s*(?:[-dlrwxst.@+]{10,}\s.*|\.{0,2}/?(?:[\w.@+-]+/)*[\w.@+-]+/?)\s*$")
_ERROR = re.compile(
    r"\b(?:error|failed|failure|fatal|panic|exception|traceback|critical)\b|\w(?:Error|Exception)\b"
    r"|^E  |^FAIL|✗|✕",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(r"\b(?:0|no) (?:errors?|failed|failures?)\b", re.IGNORECASE)
# Every line that `_ERROR` matches holds one of these in small letters, after its line end.
_ERROR_HINTS = (
    "error", "fail", "fatal", "panic", "exception", "traceback", "critical", "\ne  ", "✗", "✕",
)  # fmt: skip
_LOOKED_AT = 500  # characters of a line that are searched
_HEX = re.compile(rb"0[xX][0-9a-fA-F]+")
# An id by its classes: h for hexadecimal, w for other letters. The literal stands first, because
# it is quick to search.
_ID = re.compile(rb"hhhhhhhh(?<![hw]hhhhhhhh)h*(?![hw])")
_CLASSES = bytes(
    104 if chr(byte) in hexdigits else 119 if byte > 127 or chr(byte).isidentifier() else 46
    for byte in range(256)
)
_DIGITS = bytes(48 if 48 <= byte < 58 else byte for byte in range(256))
_RUN = 4  # the least similar lines of which some are left out


def _count_share(lines: Lines, expression: re.Pattern[str]) -> float:
    some = lines[:: max(1, len(lines) // 200)]
    return sum(1 for each in some if expression.search(each)) / (len(some) or 1)


def _is(expression: re.Pattern[str]) -> Callable[[Sequence[str]], bool]:
    return lambda commands: any(expression.match(each) for each in commands)


def ends(lines: Lines, level: Level) -> set[int]:
    """The first and the last lines."""
    count = len(lines)
    return {*range(min(level.head, count)), *range(max(0, count - level.tail), count)}


def _beginning(lines: Lines, level: Level) -> set[int]:
    """The beginning of a listing, and its last lines, which may hold a total."""
    return {*range(level.head + level.tail - 3), *range(max(0, len(lines) - 3), len(lines))}


def _end(lines: Lines, level: Level) -> set[int]:
    """Mostly the end of a log: the latest events."""
    head = level.head // 3
    return {*range(head), *range(len(lines) - (level.head + level.tail - head), len(lines))}


def _pick_shallow(lines: Lines, level: Level) -> set[int]:
    """The upper levels of a tree, and its last two lines."""
    room = level.head + level.tail - 2
    chosen = {len(lines) - 1, len(lines) - 2}
    depths = [len(match["depth"]) if (match := _TREE.match(each)) else 0 for each in lines]
    by_depth = sorted(range(len(lines)), key=lambda at: (depths[at], at))
    return chosen | set(by_depth[:room])


# The first that fits is used; the last one always does.
RULES: tuple[Rule, ...] = (
    Rule("tree", lambda lines, _: _count_share(lines, _TREE) > 0.6, _pick_shallow),
    Rule(
        "log",
        lambda lines, commands: _is(_LOG_COMMAND)(commands) or _count_share(lines, _STAMPED) > 0.6,
        _end,
    ),
    Rule(
        "listing",
        lambda lines, commands: _is(_LISTING)(commands) or _count_share(lines, _PATH_LINE) > 0.9,
        _beginning,
    ),
    Rule("ends", lambda lines, commands: True, ends),
)


# --- pruning


def prune(
    output: str, *, tool: str, args: Mapping[str, Any], level: str, where: str,
    synthetic: bool = False,
) -> Pruned | None:  # fmt: skip
    """The part of an output to show, or None to show all of it.

    `where` completes "the whole output: ..."; a `synthetic` output, a host's own words, stays.
    """
    lines = output.split("\n")
    limits = LEVELS[level]
    if synthetic or not _is_pruned(tool, level):
        return None
    if len(lines) <= limits.over and len(output) <= limits.longest:
        return None
    if output.strip("\n") and not any(0 < len(each) <= limits.longest for each in lines):
        text = _both_ends(output.strip("\n"), limits.longest // 2, len(lines), where)
        return Pruned(text, 0, len(lines), "long")
    name, numbers = _choose(output, lines, limits, _list_commands(tool, args))
    if len(numbers) == len(lines):
        return None
    text = _render_marked(lines, numbers, where)
    return Pruned(text, len(numbers), len(lines), name) if len(text) < len(output) else None


def _is_pruned(tool: str, level: str) -> bool:
    least = TOOLS.get(tool.lower(), ORDER[0])
    if least is None or OWN_TOOL.fullmatch(tool):
        return False
    return ORDER.index(level) >= ORDER.index(least)


def _list_commands(tool: str, args: Mapping[str, Any]) -> list[str]:
    command = command_of(tool, args)
    return list_decisive(command)[0] if command else [tool.lower()]


def _choose(
    output: str, lines: Lines, level: Level, commands: Sequence[str]
) -> tuple[str, set[int]]:
    """The name of the rule, and the numbers of the lines of `output` that stay."""
    left: Sequence[int] = range(len(lines))
    if max(map(len, lines)) > level.longest:
        left = [at for at in left if len(lines[at]) <= level.longest]
    if level.repeats:
        left = _without_repeats(lines, left)
    if len(left) == len(lines):
        text, some = output, lines
    else:
        some = [lines[at] for at in left]
        text = "\n".join(some)
    if len(some) <= level.over:
        return "repeats", set(left)
    rule = next(each for each in RULES if each.fits(some, commands))
    chosen = {at for at in rule.keep(some, level) if 0 <= at < len(some)}
    errors = (at for at in _find_failing(text, some) if at not in chosen)
    chosen |= set(islice(errors, level.errors))
    return rule.name, {left[at] for at in chosen}


def _find_failing(text: str, lines: Lines) -> Iterator[int]:
    """The numbers of the lines of a text about errors, in order."""
    for at in _find_hinting(text, len(lines)):
        some = lines[at][:_LOOKED_AT]
        if _ERROR.search(some) and not _NO_ERROR.search(some):
            yield at


def _find_hinting(text: str, lines: int) -> Iterator[int]:
    """The numbers of the lines that may be about errors. A search of the whole text for literals
    takes a tenth of the time of an expression line by line."""
    lower = f"\n{text.lower()}"
    if len(lower) != len(text) + 1:  # one character of Turkish becomes two
        yield from range(lines)
        return
    number, counted = -1, 0
    for at in merge(*(_places(hint, lower) for hint in _ERROR_HINTS)):
        further = lower.count("\n", counted, at + 1)
        if further:
            number, counted = number + further, at + 1
            yield number


def _places(hint: str, text: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + 1)


def _without_repeats(lines: Lines, left: Sequence[int]) -> list[int]:
    """Line numbers without the middles of runs of lines that differ only in numbers."""
    runs: list[list[int]] = []
    before = None
    for at, shape in zip(left, _shapes([lines[at] for at in left]), strict=True):
        if runs and shape == before:
            runs[-1].append(at)
        else:
            runs.append([at])
        before = shape
    left_over: list[int] = []
    for run in runs:
        left_over += run if len(run) < _RUN else (run[0], run[-1])
    return left_over


def _shapes(lines: Lines) -> list[bytes]:
    """Each line with 0 for every number; the whole is handled as bytes, which is quick."""
    text = "\n".join(each[:_LOOKED_AT].strip() for each in lines).encode("utf-8", "surrogatepass")
    shape = _HEX.sub(b"0", _without_ids(text)).translate(_DIGITS)
    while b"00" in shape:
        shape = shape.replace(b"00", b"0")
    return shape.split(b"\n")


def _without_ids(text: bytes) -> bytes:
    """`text` with 0 for each hexadecimal word of 8 or more characters with a digit."""
    pieces: list[bytes] = []
    end = 0
    for id in _ID.finditer(text.translate(_CLASSES)):
        start, stop = id.span()
        if not text[start:stop].isalpha():
            pieces += text[end:start], b"0"
            end = stop
    return b"".join((*pieces, text[end:]))


def _both_ends(output: str, room: int, lines: int, where: str) -> str:
    """The first and last `room` characters of an output whose lines are all too long."""
    first, last = output[:room].split("\n")[0], output[-room:].split("\n")[-1]
    out = len(output) - len(first) - len(last)
    counted = f"0 of {lines:,} line{'' if lines == 1 else 's'}"
    return "\n".join((
        first, f"{MARK}{out:,} characters left out]", last,
        f"{MARK}{counted} shown whole; the whole output: {where}]",
    ))  # fmt: skip


def _render_marked(lines: Lines, numbers: set[int], where: str) -> str:
    """The lines that stay, with a mark for each gap and one for the whole."""
    shown: list[str] = []
    before = -1
    for at in [*sorted(numbers), len(lines)]:
        gap = at - before - 1
        if gap:
            shown.append(f"{MARK}{gap:,} line{'' if gap == 1 else 's'} left out]")
        if at < len(lines):
            shown.append(lines[at])
        before = at
    shown.append(
        f"{MARK}{len(numbers):,} of {len(lines):,} lines shown; the whole output: {where}]"
    )
    return "\n".join(shown)
