"""How full the model's context is, and what is said of it, once for each level. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WINDOW = 180_000  # characters, where the model's window is not known
PER_TOKEN = 4  # characters, where the provider counted no tokens
RESERVED = 32_000  # tokens that a host keeps free at most for the answer
RESERVED_OF_INPUT = 20_000  # the same, of a window that is told as that of the input alone


@dataclass(frozen=True, slots=True)
class Threshold:
    """A level from `percent` of the window on; `pruning` is what outputs are cut by there, `advice`
    what the assistant is told when it is reached."""

    level: str
    percent: int
    pruning: str
    advice: str


# By rising percentage; those of moderate, high and critical are settings.
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
class Usage:
    """What is known of the context: tokens as the provider counted them, the tokens that fit, and
    the characters that were seen to go into it. 0: not known."""

    tokens: int = 0
    window: int = 0
    characters: int = 0

    @property
    def percent(self) -> float:
        """How full it is, 0 and more."""
        if self.window:
            return 100 * (self.tokens or self.characters / PER_TOKEN) / self.window
        return 100 * (self.tokens * PER_TOKEN or self.characters) / WINDOW


def usable(context: int, input: int = 0, output: int = 0) -> int:
    """The tokens of a model's window that a host fills before it compacts; 0: not known.

    `context`, `input` and `output` are the model's limits in tokens, 0 where it states none.
    """
    if input:
        return max(0, input - min(RESERVED_OF_INPUT, output or RESERVED_OF_INPUT))
    return max(0, context - min(RESERVED, output or RESERVED)) if context else 0


def thresholds(percents: Mapping[str, int]) -> list[Threshold]:
    """The table with the percentages of the settings, by rising percentage."""
    found = [
        Threshold(each.level, percents.get(each.level, each.percent), each.pruning, each.advice)
        for each in THRESHOLDS
    ]
    return sorted(found, key=lambda each: each.percent)


def level(percent: float, table: Sequence[Threshold]) -> Threshold:
    """The highest threshold that is reached."""
    return [each for each in table if percent >= each.percent or each is table[0]][-1]


def told(before: str, usage: Usage, table: Sequence[Threshold], sizes: Mapping[str, int]) -> str:
    """What to say in the turn, "" as long as the level is the one of `before`.

    At the highest level it names what of ours is in the prompt (`sizes`, in characters) and the
    choices there are; it repeats none of it.
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
