"""How full the model's context is, and the notice at each change of its level. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PER_TOKEN = 4  # characters, where the provider counted no tokens
FIRST_COUNT = 50_000  # tokens that are reported where the window is not known, and each doubling
RESERVED = 32_000  # tokens that a host keeps free at most for the answer
RESERVED_OF_INPUT = 20_000  # the same for a window that is given as a limit of the input


@dataclass(frozen=True, slots=True)
class Threshold:
    """A level from `percent` of the window on, its level of pruning, and the advice that the
    assistant gets on reaching it."""

    level: str
    percent: int
    pruning: str
    advice: str


# By rising percentage.
THRESHOLDS: tuple[Threshold, ...] = (
    Threshold("safe", 0, "normal", "There is room again."),
    Threshold("moderate", 70, "normal", "Read parts of files rather than whole ones."),
    Threshold(
        "high", 85, "aggressive",
        "Long outputs are shown in part from now on. Write what must survive with session_memory, "
        "and finish the step at hand.",
    ),
    Threshold(
        "critical", 95, "hyper",
        "Outputs are cut to a few lines from now on. The session is about to be compacted.",
    ),
)  # fmt: skip
INTERVENES = "critical"


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """The size of the context: tokens as the provider counted them, tokens that fit, and characters
    that we saw go into it; 0 is unknown."""

    tokens: int = 0
    window: int = 0
    characters: int = 0

    @property
    def size(self) -> int:
        """The tokens in the context, estimated from characters where nobody counted them."""
        return self.tokens or self.characters // PER_TOKEN

    @property
    def percent(self) -> float | None:
        """How full the context is, which may exceed 100; None where the window is not known."""
        return 100 * self.size / self.window if self.window else None


def usable(context: int, input: int = 0, output: int = 0) -> int:
    """The tokens that a host fills before it compacts, from a model's limits in tokens; 0 is
    unknown or no limit."""
    if input:
        return max(0, input - min(RESERVED_OF_INPUT, output or RESERVED_OF_INPUT))
    return max(0, context - min(RESERVED, output or RESERVED)) if context else 0


def find_level(usage: ContextUsage) -> str:
    """The level of the highest threshold that is reached. Where the window is not known there is
    none, and the last count that was to be reported stands in its place, as `100,000 tokens`."""
    first, percent = THRESHOLDS[0], usage.percent
    if percent is None:
        return f"{_count(usage.size):,} tokens" if usage.size >= FIRST_COUNT else first.level
    reached = [each for each in THRESHOLDS if percent >= each.percent or each is first]
    return reached[-1].level


def notice(before: str, usage: ContextUsage, sizes: Mapping[str, int]) -> str:
    """The text for the turn, "" while the level is still `before`.

    At the highest level it lists the parts of our block (`sizes`, in characters) and the choices.
    Where the window is not known, only a count that grew is reported.
    """
    now = find_level(usage)
    if now == before:
        return ""
    if usage.percent is None:
        known = before.removesuffix(" tokens").replace(",", "")
        last = int(known) if known.isdecimal() else 0
        if usage.size < FIRST_COUNT or _count(usage.size) <= last:
            return ""
        return (
            f"Context: about {usage.size:,} tokens; how many fit is not known. Write what must "
            "survive with session_memory."
        )
    threshold = next(each for each in THRESHOLDS if each.level == now)
    if threshold is THRESHOLDS[0] and before not in {each.level for each in THRESHOLDS}:
        return ""  # there was no level yet
    line = f"Context {now}: about {int(usage.percent)}% full. {threshold.advice}"
    if now != INTERVENES:
        return line
    ours = ", ".join(f"{name} {size:,}" for name, size in sizes.items()) or "nothing"
    return (
        f"{line}\nOf the session's memory the prompt holds, in characters: {ours}. Choices: write "
        "the goal and the state of the work with session_memory; remove or clear there what is "
        "done; finish the step and let the session be compacted; or go on in a new session."
    )


def _count(size: int) -> int:
    """FIRST_COUNT, doubled as often as it still fits into `size`."""
    return FIRST_COUNT << ((size // FIRST_COUNT).bit_length() - 1)
