"""The second question: whether each proposal of a run lasts, and whether it makes untrue what it is
to replace. Another reading of the same turns, without what the first one thought.

No answer, or one that cannot be read, loses nothing: the proposals wait in the inbox.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mdmemory import assets
from mdmemory.capture.candidates import Candidate
from mdmemory.llm import sizes, verdicts
from mdmemory.llm.answer import Asking, Model
from mdmemory.llm.schemas import VERDICTS
from mdmemory.transcripts.turns import Turn

LASTING, MOMENT, UNCLEAR = "lasting", "moment", "unclear"
_FIELDS = ("number", "reason", "verdict", "untrue")
MAX_QUESTION = 40_000  # characters
_BESIDE = 400  # characters of the turns before and after
_TURN = 2_000  # characters of the turn itself


class Asked(NamedTuple):
    """A proposal that is asked about: the place of its turn among the turns (-1 for none), and the
    texts of the notes that it is to replace."""

    candidate: Candidate
    turn: int
    replaced: tuple[str, ...] = ()


class FactVerdict(NamedTuple):
    """`word` is lasting, moment or unclear; `untrue`: what it replaces is untrue now."""

    word: str = UNCLEAR
    untrue: bool = False


@dataclass
class SecondLook(verdicts.Spent):
    """The verdicts on the proposals of one run, by their places."""

    verdicts: dict[int, FactVerdict] = field(default_factory=dict)
    asked: int = 0

    def as_json(self) -> dict[str, Any]:
        """What programs are told of it."""
        cost = {"input": self.input, "output": self.output, "calls": self.calls}
        told = {"asked": self.asked, "tokens": cost}
        return told | ({"failure": self.failure.code} if self.failure else {})

    def as_text(self) -> str:
        """The same for people, in one line."""
        spent = f"{self.input:,} tokens in, {self.output:,} out"
        told = f"Asked once more whether what it found lasts ({self.asked}; {spent})."
        if self.failure is None:
            return told
        return f"{told} {self.failure.message} What had no answer waits."


def ask(model: Model, proposed: Sequence[Asked], turns: Sequence[Turn], today: str) -> SecondLook:
    """The second look at these proposals; `turns` are those that the model read (redacted). Where
    they are too many for it, it is asked in parts."""
    asking = Asking(model, assets.read("protocol/lasting.md"))
    look = SecondLook(asked=len(proposed))
    like = proposed[0].candidate.quote if proposed else ""
    room = sizes.room(asking, VERDICTS).characters(MAX_QUESTION, like)

    def ask_about(places: Sequence[int]) -> None:
        text = question(proposed, places, turns, today)
        look.verdicts |= read(verdicts.ask(asking, text, VERDICTS, _FIELDS, look), places)

    verdicts.ask_in_parts(_parts(proposed, turns, today, room), ask_about, look)
    return look


def read(objects: Sequence[object], places: Sequence[int]) -> dict[int, FactVerdict]:
    """The verdicts of an answer on these places."""

    def verdict(word: str, row: Mapping[str, Any]) -> FactVerdict:
        is_untrue = str(row.get("untrue", "")).strip().casefold() in ("yes", "true")
        return FactVerdict(word if word in (LASTING, MOMENT) else UNCLEAR, is_untrue)

    return verdicts.by_place(objects, places, verdict)


# --- the question


def _parts(proposed: Sequence[Asked], turns: Sequence[Turn], today: str, room: int) -> list[range]:
    """The places of `proposed` that each question is about, so that its text has at most `room`
    characters; a proposal that alone has more is a question of its own."""
    found: list[range] = []
    first = 0
    for end in range(1, len(proposed) + 1):
        longer = range(first, end + 1)
        if end == len(proposed) or len(question(proposed, longer, turns, today)) > room:
            found.append(range(first, end))
            first = end
    return found


def question(
    proposed: Sequence[Asked], places: Sequence[int], turns: Sequence[Turn], today: str
) -> str:
    """The question about the proposals at these places."""
    facts: list[Mapping[str, Any]] = [
        {
            "number": str(at + 1), "text": proposed[at].candidate.fact,
            "quote": proposed[at].candidate.quote, "replaces": [*proposed[at].replaced],
            "around": _around(proposed[at], turns),
        }
        for at in places
    ]  # fmt: skip
    return json.dumps({"today": today, "facts": facts}, ensure_ascii=False)


def _around(proposed: Asked, turns: Sequence[Turn]) -> list[dict[str, str]]:
    """The turn that a quote stands in, and a line of those before and after it."""
    at = proposed.turn
    if not 0 <= at < len(turns):
        return []
    found = []
    if at:
        found.append({"role": turns[at - 1].role, "text": turns[at - 1].text[-_BESIDE:]})
    text, quote = turns[at].text, proposed.candidate.quote
    begin = max(0, min(text.find(quote[:40]) - _TURN // 2, len(text) - _TURN))
    found.append({"role": turns[at].role, "text": text[begin : begin + _TURN]})
    if at + 1 < len(turns):
        found.append({"role": turns[at + 1].role, "text": turns[at + 1].text[:_BESIDE]})
    return found
