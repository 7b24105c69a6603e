"""Which lines of a long output an assistant sees, in their order: marks between them count the
missing lines, and the last mark says where the whole output is. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from mdmemory.session.failures import command_of, list_decisive

MARK = "[mdmemory: "  # every line that is ours begins with it


class Level(NamedTuple):
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


class Rule(NamedTuple):
    """How outputs of a kind are cut: `fits(lines, commands)` recognises the kind, `keep` chooses
    line numbers. `commands` are the bare commands of a shell tool, or the tool's name."""

    name: str
    fits: Callable[[Lines, Sequence[str]], bool]
    keep: Keep


class Pruned(NamedTuple):
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
# What each such line holds in small letters, which is ten times as quick to look for.
_HINTS = ("error", "fail", "fatal", "panic", "exception", "traceback", "critical", "e  ", "✗", "✕")
_NO_ERROR = re.compile(r"\b(?:0|no) (?:errors?|failed|failures?)\b", re.IGNORECASE)

_LOOKED_AT = 500  # characters of a line that are searched
# A number, or an id in hexadecimal, by which two lines that are else alike may differ.
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\b|[0-9]+")
_RUN = 4  # the least similar lines of which some are left out


def _count_share(lines: Lines, expression: re.Pattern[str]) -> float:
    some = lines[:: max(1, len(lines) // 200)]
    return sum(1 for each in some if expression.search(each)) / (len(some) or 1)


def ends(lines: Lines, level: Level) -> set[int]:
    """The first and the last lines."""
    count = len(lines)
    return {*range(min(level.head, count)), *range(max(0, count - level.tail), count)}


def _ends_at(lines: Lines, level: Level, head: int) -> set[int]:
    """So many first lines, and as many last ones as there is room for besides."""
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
    Rule(  # mostly the end of a log: the latest events
        "log",
        lambda lines, commands: (
            any(map(_LOG_COMMAND.match, commands)) or _count_share(lines, _STAMPED) > 0.6
        ),
        lambda lines, level: _ends_at(lines, level, level.head // 3),
    ),
    Rule(  # the beginning of a listing, and its last lines, which may hold a total
        "listing",
        lambda lines, commands: (
            any(map(_LISTING.match, commands)) or _count_share(lines, _PATH_LINE) > 0.9
        ),
        lambda lines, level: _ends_at(lines, level, level.head + level.tail - 3),
    ),
    Rule("ends", lambda lines, commands: True, ends),
)


def prune(
    output: str, *, tool: str, args: Mapping[str, Any], level: str, where: str,
    synthetic: bool = False,
) -> Pruned | None:  # fmt: skip
    """The part of an output to show, or None to show all of it.

    `where` completes "the whole output: ..."; a `synthetic` output, a host's own words, stays.
    """
    lines = output.split("\n")
    limits = LEVELS[level]
    least = TOOLS.get(tool.lower(), ORDER[0])
    is_whole = synthetic or least is None or OWN_TOOL.fullmatch(tool)
    if is_whole or least is None or ORDER.index(level) < ORDER.index(least):
        return None
    if len(lines) <= limits.over and len(output) <= limits.longest:
        return None
    bare, room, count = output.strip("\n"), limits.longest // 2, len(lines)
    if bare and not any(0 < len(each) <= limits.longest for each in lines):
        # where all lines are too long, the two ends of the output stay
        first, last = bare[:room].split("\n")[0], bare[-room:].split("\n")[-1]
        text = "\n".join((
            first, f"{MARK}{len(bare) - len(first) - len(last):,} characters left out]", last,
            f"{MARK}0 of {count:,} line{'' if count == 1 else 's'} shown whole; "
            f"the whole output: {where}]",
        ))  # fmt: skip
        return Pruned(text, 0, count, "long")
    command = command_of(tool, args)
    commands = list_decisive(command)[0] if command else [tool.lower()]
    name, numbers = _choose(lines, limits, commands)
    if len(numbers) == len(lines):
        return None
    text = _render_marked(lines, numbers, where)
    return Pruned(text, len(numbers), len(lines), name) if len(text) < len(output) else None


def _choose(lines: Lines, level: Level, commands: Sequence[str]) -> tuple[str, set[int]]:
    """The name of the rule, and the numbers of the lines that stay."""
    left = [at for at, each in enumerate(lines) if len(each) <= level.longest]
    if level.repeats:
        left = _without_repeats(lines, left)
    some = [lines[at] for at in left]
    if len(some) <= level.over:
        return "repeats", set(left)
    rule = next(each for each in RULES if each.fits(some, commands))
    chosen = {at for at in rule.keep(some, level) if 0 <= at < len(some)}
    errors = set()
    for at, each in enumerate(some):
        head = each[:_LOOKED_AT]
        if any(map(head.lower().__contains__, _HINTS)) and at not in chosen:
            errors |= {at} if _ERROR.search(head) and not _NO_ERROR.search(head) else set()
        if len(errors) == level.errors:
            break
    return rule.name, {left[at] for at in chosen | errors}


def _without_repeats(lines: Lines, left: Sequence[int]) -> list[int]:
    """Line numbers without the middles of runs of lines that differ only in numbers."""
    shapes = (_NUMBER.sub("0", lines[at][:_LOOKED_AT].strip()) for at in left)
    left_over: list[int] = []
    for _, pairs in groupby(zip(shapes, left, strict=True), key=lambda pair: pair[0]):
        run = [at for _, at in pairs]
        left_over += run if len(run) < _RUN else (run[0], run[-1])
    return left_over


def _render_marked(lines: Lines, numbers: set[int], where: str) -> str:
    """The lines that stay, with a mark for each gap and one for the whole."""
    shown: list[str] = []
    before = -1
    for at in [*sorted(numbers), len(lines)]:
        if gap := at - before - 1:
            shown.append(f"{MARK}{gap:,} line{'' if gap == 1 else 's'} left out]")
        shown += lines[at : at + 1]
        before = at
    counted = f"{len(numbers):,} of {len(lines):,} lines shown"
    return "\n".join((*shown, f"{MARK}{counted}; the whole output: {where}]"))
