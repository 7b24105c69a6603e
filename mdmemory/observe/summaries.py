"""Summaries of sessions: request, investigated, learned, completed, next steps; one per session.

A model writes them at idle and before a compaction, or they are made of titles and facts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mdmemory import assets
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Asking, ContextExceeded, Model
from mdmemory.llm.json_answer import BadAnswer, as_text, read_object
from mdmemory.llm.schemas import SUMMARY
from mdmemory.llm.sizes import room
from mdmemory.observe import observation
from mdmemory.observe.compress import MAX_ANSWER
from mdmemory.observe.observation import MAX_DAYS, Observation
from mdmemory.session.cleaning import cut, line, visible
from mdmemory.store.state import State

FIELDS = ("request", "investigated", "learned", "completed", "next_steps")
MAX_FIELD = 1_000  # characters
MAX_READ = 50  # observations of a session, the newest
MAX_ASKED = 24_000  # characters of these
LEAST_ASKED = 500  # fewer are no session
MAX_SUMMARIES = 300
_SELECT = f"SELECT session, at, upto, model, {', '.join(FIELDS)} FROM session_summary"


@dataclass(frozen=True, slots=True)
class Summary:
    """`at` is ISO 8601 in UTC, `upto` the id of its newest observation, `model` "" for none."""

    session: str
    at: str
    upto: int
    model: str
    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The fields with text."""
        return {name: getattr(self, name) for name in FIELDS if getattr(self, name)}

    @property
    def text(self) -> str:
        """The whole summary, a line for each field."""
        named = ((name.replace("_", " ").capitalize(), each) for name, each in self.fields.items())
        return "\n".join(f"{name}: {each}" for name, each in named)


@dataclass(frozen=True, slots=True)
class Summed:
    """The summary of now, or None; `failure` is why a model did not write it."""

    summary: Summary | None
    failure: MdmemoryError | None = None


def get(state: State, session: str) -> Summary | None:
    """The summary of a session, or None."""
    rows = state.rows(f"{_SELECT} WHERE session = ?", (session,))
    return Summary(*rows[0]) if rows else None


def forget(state: State, sessions: Iterable[str]) -> None:
    """Remove the summaries of these sessions."""
    state.change(*(("DELETE FROM session_summary WHERE session = ?", (each,)) for each in sessions))


def summarize(
    state: State, session: str, model: Model | None, now: datetime, *, request: str = ""
) -> Summed:
    """Update a session's summary, if there are newer observations.

    `request` is what the user wanted, in their words. If the model fails, a summary by a model
    stays as it is, and any other is made of titles and facts.
    """
    before = get(state, session)
    observations = observation.newest(state, MAX_READ, session)[::-1]
    upto = max((each.id for each in observations), default=0)
    if not observations or (before is not None and before.upto >= upto):
        return Summed(before)
    wanted = _clean(request) or (before.request if before else "")
    failure, fields, name = None, None, ""
    if model is not None:
        try:
            fields, name = _ask_model(observations, before, wanted, model), model.name
        except MdmemoryError as problem:
            failure = problem
            if before is not None and before.model:
                return Summed(before, failure)
    fields = fields or _join_titles(observations, wanted)
    row = (session, now.isoformat(timespec="seconds"), upto, name, *(fields[f] for f in FIELDS))
    oldest = (now - timedelta(days=MAX_DAYS)).isoformat(timespec="seconds")
    state.change(
        # unless another process stored a newer one
        (f"INSERT INTO session_summary VALUES ({', '.join('?' * len(row))})"
         " ON CONFLICT (session) DO UPDATE SET at = excluded.at, upto = excluded.upto,"
         " model = excluded.model, request = excluded.request,"
         " investigated = excluded.investigated, learned = excluded.learned,"
         " completed = excluded.completed, next_steps = excluded.next_steps"
         " WHERE excluded.upto >= upto", row),
        ("DELETE FROM session_summary WHERE at < ?", (oldest,)),
        ("DELETE FROM session_summary WHERE session IN"
         " (SELECT session FROM session_summary ORDER BY at DESC LIMIT -1 OFFSET ?)",
         (MAX_SUMMARIES,)),
    )  # fmt: skip
    return Summed(get(state, session), failure)


def _ask_model(
    observations: Sequence[Observation], before: Summary | None, request: str, model: Model
) -> dict[str, str]:
    """The fields in the model's words. Raises ModelFailed, BadAnswer.

    As many observations are shown as the model's window holds; where it holds fewer than is known,
    half as many are tried.
    """
    system = assets.read("protocol/summarize.md")
    like = "\n".join(each.text for each in observations)[:MAX_ASKED]
    most = room(Asking(model, system), SUMMARY).characters(MAX_ASKED, like)
    while True:
        text = _question(observations, before, request, most)
        try:
            completed = model.complete(system, text, SUMMARY)
            break
        except ContextExceeded:
            if (most := most // 2) < LEAST_ASKED:
                raise
    answer = read_object(completed.text[:MAX_ANSWER], FIELDS)
    fields = {name: _clean(as_text(answer.get(name)) or "") for name in FIELDS}
    if not any(fields.values()):
        raise BadAnswer("says nothing")
    return fields | {"request": fields["request"] or request}


def _question(
    observations: Sequence[Observation], before: Summary | None, request: str, most: int
) -> str:
    """The question, with the newest observations in at most that many characters."""
    shown: list[str] = []
    left = most
    for each in reversed(observations):  # the newest matter most
        left -= len(each.text)
        if left < 0:
            break
        shown.insert(0, each.text)
    question = {
        "request": request, "before": before.fields if before else None, "observations": shown,
    }  # fmt: skip
    return json.dumps(question, ensure_ascii=False)


def _join_titles(observations: Sequence[Observation], request: str) -> dict[str, str]:
    """The fields from titles and facts, the newest first."""
    newest = [*reversed(observations)]
    titles = [each.draft.title for each in newest if each.draft.type == "discovery"]
    done = [each.draft.title for each in newest if each.draft.type not in ("discovery", "decision")]
    learned = [fact for each in newest for fact in each.draft.facts]
    learned += [each.draft.title for each in newest if each.draft.type == "decision"]
    named = {"investigated": titles, "learned": learned, "completed": done}
    joined = {key: cut("; ".join(dict.fromkeys(each)), MAX_FIELD) for key, each in named.items()}
    return {"request": request, "next_steps": "", **joined}


def _clean(text: str) -> str:
    return line(visible(text), MAX_FIELD)
