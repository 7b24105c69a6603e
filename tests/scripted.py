"""A model that says what a test queued, and keeps what it was asked.

`model = Scripted({"ops": []}, ModelFailed("It is down."))`: each call takes the next, in order.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mdmemory.llm.answer import Answer, Schema, outside_locks

Said = str | Answer | Exception | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it reached the model."""

    system: str
    user: str
    schema: Schema | None


class Scripted:
    """Stands for any model. An object is said as JSON, an exception raised; a text costs 100
    tokens in and 10 out. Asked more often than was queued, or under a lock, it fails the test."""

    kind = "scripted"
    name = "scripted"
    sends_to = "nowhere"

    def __init__(self, *answers: Said) -> None:
        self.answers = deque(answers)
        self.asked: list[Asked] = []

    def say(self, *answers: Said) -> None:
        """Queue more."""
        self.answers.extend(answers)

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """The next answer."""
        outside_locks()
        self.asked.append(Asked(system, user, schema))
        assert self.answers, f"the model was asked {len(self.asked)} times: no answer is left"
        said = self.answers.popleft()
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Answer):
            return said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Answer(text, 100, 10)
