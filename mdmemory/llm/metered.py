"""A model behind the account: what every caller is given, so that no call goes by uncounted.

Every text passes redaction here, whoever wrote it, before it can leave the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mdmemory import debugging
from mdmemory.llm.answer import Answer, Model, ModelFailed, Schema, outside_locks
from mdmemory.store.state import State


@dataclass(frozen=True)
class Metered:
    """`model`, asked for one `purpose` ("extract", "compact") on one day (`YYYY-MM-DD`, UTC)."""

    model: Model
    purpose: str
    state_file: Path
    today: str
    daily_calls: int
    redact: Callable[[str], str]

    @property
    def kind(self) -> str:
        return self.model.kind

    @property
    def name(self) -> str:
        return self.model.name or f"the default of {self.kind}"

    @property
    def sends_to(self) -> str:
        return self.model.sends_to

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """Ask, and count it. Raises ModelFailed (code over_cap when the day's calls are used up)
        and RuntimeError where a lock is held."""
        outside_locks()
        # the database is closed meanwhile: a call takes long, and may never come back
        with State(self.state_file) as state:
            if not state.begin_call(self.today, self.purpose, self.name, self.daily_calls):
                raise ModelFailed(
                    f"Models were asked {self.daily_calls} times today (UTC), which is the limit.",
                    "Wait until tomorrow, or raise llm.daily_calls in your settings.",
                    "over_cap",
                )
        system, user = self._fit(system), self._fit(user)
        with debugging.timed("model %s, %d characters", self.name, len(system) + len(user)):
            answer = self.model.complete(system, user, schema)
        debugging.log("model %s: %d characters of answer", self.name, len(answer.text))
        with State(self.state_file) as state:
            cost = answer.input_tokens, answer.output_tokens
            state.add_tokens(self.today, self.purpose, self.name, *cost)
        return answer

    def _fit(self, text: str) -> str:
        """Without secrets, and without the lone surrogates of a file that was not UTF-8."""
        return self.redact(text.encode("utf-8", "replace").decode("utf-8"))
