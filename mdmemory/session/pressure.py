"""How full the model's context is, and the notice at each change of its level. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

WINDOW = 180_000  # characters, where the model's window is not known
PER_TOKEN = 4  # characters, where the provider counted no tokens
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


# By rising percentage; the percentages of moderate, high and critical are settings.
THRESHOLDS: tuple[Threshold, ...] = (
    Threshold("safe", 0, "normal", "There is room again."),
    Threshold("moderate", 70, "normal", "Read parts of files rather than whole ones."),
    Threshold(
        "high", 85, "aggressive",
        "Long outputs are shown in part from now on. Put what must survive into core memory "
        "(core_memory_update), and finish the step at hand.",
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
    def percent(self) -> float:
        """How full the context is; may exceed 100."""
        if self.window:
            return 100 * (self.tokens or self.characters / PER_TOKEN) / self.window
        return 100 * (self.tokens * PER_TOKEN or self.characters) / WINDOW


def usable(context: int, input: int = 0, output: int = 0) -> int:
    """The tokens that a host fills before it compacts, from a model's limits in tokens; 0 is
    unknown or no limit."""
    if input:
        return max(0, input - min(RESERVED_OF_INPUT, output or RESERVED_OF_INPUT))
    return max(0, context - min(RESERVED, output or RESERVED)) if context else 0


def thresholds(percents: Mapping[str, int]) -> list[Threshold]:
    """The table with these percentages by level, by rising percentage."""
    table = [replace(each, percent=percents.get(each.level, each.percent)) for each in THRESHOLDS]
    return sorted(table, key=lambda each: each.percent)


def level(percent: float, table: Sequence[Threshold]) -> Threshold:
    """The highest threshold that is reached."""
    return [each for each in table if percent >= each.percent or each is table[0]][-1]


def notice(
    before: str, usage: ContextUsage, table: Sequence[Threshold], sizes: Mapping[str, int]
) -> str:
    """The text for the turn, "" while the level is still `before`.

    At the highest level it lists our blocks in the prompt (`sizes`, in characters) and the choices.
    """
    now = level(usage.percent, table)
    if now.level == before:
        return ""
    line = f"Context {now.level}: about {int(usage.percent)}% full. {now.advice}"
    return f"{line}\n{_choices(sizes)}" if now.level == INTERVENES else line


def _choices(sizes: Mapping[str, int]) -> str:
    ours = ", ".join(f"{name} {size:,}" for name, size in sizes.items()) or "nothing"
    return (
        f"Of the session's memory the prompt holds, in characters: {ours}. Choices: write the goal "
        "and the state of the work into core memory with core_memory_update; drop what is done "
        "with working_memory_clear or working_memory_clear_slot; finish the step and let the "
        "session be compacted; or go on in a new session."
    )
