"""A model that says what a test queued, and keeps what it was asked.

`model = Scripted({"ops": []}, ModelFailed("It is down."))`: each call takes the next, in order.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mdmemory.llm.answer import Answer, Schema, outside_locks
from mdmemory.llm.schemas import READINGS, VERDICTS

Said = str | Answer | Exception | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it reached the model."""

    system: str
    user: str
    schema: Schema | None


class Scripted:
    """Stands for any model. An object is said as JSON, an exception raised; a text costs 100
    tokens in and 10 out. Asked more often than was queued, or under a lock, it fails the test.

    Asked whether facts will last, it takes no answer from the queue: `judge` gives a verdict for
    each text (all last), and `looked` keeps what was asked. So it is with a second reading of ops:
    `reader` says of each op as it is shown what is wrong with it ("ok": nothing), or is all that is
    answered, and `reread` keeps the questions.
    """

    kind = "scripted"
    name = "scripted"
    sends_to = "nowhere"

    def __init__(
        self, *answers: Said, judge: Callable[[str], str] | Said = lambda _: "lasting",
        reader: Callable[[dict[str, Any]], str] | Said = lambda _: "ok",
    ) -> None:  # fmt: skip
        self.answers = deque(answers)
        self.asked: list[Asked] = []
        self.judge = judge
        self.looked: list[Asked] = []
        self.reader = reader
        self.reread: list[Asked] = []

    def say(self, *answers: Said) -> None:
        """Queue more."""
        self.answers.extend(answers)

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """The next answer."""
        outside_locks()
        if schema is VERDICTS:
            self.looked.append(Asked(system, user, schema))
            return self._said(verdicts(user, self.judge) if callable(self.judge) else self.judge)
        if schema is READINGS:
            self.reread.append(Asked(system, user, schema))
            return self._said(readings(user, self.reader) if callable(self.reader) else self.reader)
        self.asked.append(Asked(system, user, schema))
        assert self.answers, f"the model was asked {len(self.asked)} times: no answer is left"
        return self._said(self.answers.popleft())

    def _said(self, said: Said) -> Answer:
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Answer):
            return said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Answer(text, 100, 10)


def verdicts(question: str, judge: Callable[[str], str]) -> dict[str, Any]:
    """The answer to the second question, with what `judge` says of each text."""
    facts = json.loads(question)["facts"]
    return {
        "verdicts": [
            {"number": each["number"], "reason": "", "verdict": judge(each["text"])}
            for each in facts
        ]
    }


def readings(question: str, reader: Callable[[dict[str, Any]], str]) -> dict[str, Any]:
    """The answer to a second reading, with what `reader` says of each op."""
    ops = json.loads(question)["ops"]
    said = [{"number": each["number"], "verdict": reader(each), "what": "it"} for each in ops]
    return {"verdicts": said}
