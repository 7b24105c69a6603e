"""How a server is asked: the form of answer, the fields that not every server knows, and which of
them are given up when it refuses. What works is remembered for each server and model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from mdmemory.llm.answer import Schema
from mdmemory.llm.refusals import Refusal

# How an object is asked for, the strictest first; the others are for servers that refuse it.
FORMS = ("schema", "object", "text")
LIMITS = ("max_tokens", "max_completion_tokens")  # of an answer: an older name, and a newer one
_FORM_FIELDS = frozenset(("response_format", "json_schema", "json_object"))
# What a refusal can name, and the request do without.
FIELDS = frozenset(LIMITS) | _FORM_FIELDS
FIELDS |= {"reasoning_effort", "stream", "stream_options", "temperature"}
_NEWER = re.compile(r"(?:.*/)?(?:o[1-9]|gpt-[5-9])(?![0-9])(?!.*chat)")  # models that reason


@dataclass(frozen=True, slots=True)
class Manner:
    """`form` is one of FORMS; `limit` the name of the field that bounds the answer, "" for none;
    `effort`, `stream`, `usage` and `cold` (a temperature of 0) say whether these are asked for."""

    form: str = FORMS[0]
    limit: str = LIMITS[0]
    effort: bool = False
    stream: bool = True
    usage: bool = True
    cold: bool = True

    def fields(self, most: int) -> dict[str, Any]:
        """The fields of a request for at most `most` tokens of answer, the form apart."""
        values: dict[str, Any] = {self.limit: most} if self.limit else {}
        if self.effort:
            values["reasoning_effort"] = "low"
        if self.cold:
            values["temperature"] = 0
        if self.stream:
            values["stream"] = True
            if self.usage:
                values["stream_options"] = {"include_usage": True}
        return values

    def after(self, refusal: Refusal, tried: frozenset[str]) -> Manner | None:
        """What to try next, without what the refusal names; a laxer form where it names nothing;
        at last nothing but the messages. None where nothing is left. `tried` are limits."""
        named = refusal.fields
        if self.limit in named:
            other = next((each for each in LIMITS if each not in tried | {self.limit}), "")
            return replace(self, limit=other)
        if self.effort and "reasoning_effort" in named:
            return replace(self, effort=False)
        if self.cold and "temperature" in named:
            return replace(self, cold=False)
        if self.stream and self.usage and "stream_options" in named:
            return replace(self, usage=False)
        if self.stream and "stream" in named and not named & _FORM_FIELDS:
            return replace(self, stream=False)
        if self.form != FORMS[-1]:
            return replace(self, form=FORMS[FORMS.index(self.form) + 1])
        bare = Manner(self.form, "", False, False, False, False)
        return None if self == bare else bare


def first(name: str, form: str | None, known: Mapping[str, str]) -> Manner:
    """How the model of this name is asked first, by what is `known` of it (see `learn_manner`)."""
    reasons = bool(_NEWER.match(name.lower()))
    limit = known.get("limit", LIMITS[1] if reasons else LIMITS[0])
    return Manner(
        form if form in FORMS else FORMS[0],
        "" if limit == "none" else limit,
        reasons and known.get("effort") != "none",
        known.get("stream") != "none",
        known.get("usage") != "none",
        not reasons and known.get("cold") != "none",
    )


def learn_manner(before: Manner, now: Manner) -> dict[str, str]:
    """What is to be remembered where `before` was refused and `now` worked."""
    facts = {} if before.limit == now.limit else {"limit": now.limit or "none"}
    given_up = {
        "effort": before.effort and not now.effort,
        "cold": before.cold and not now.cold,
        "stream": before.stream and not now.stream,
        "usage": now.stream and before.usage and not now.usage,
    }
    return facts | {what: "none" for what, gone in given_up.items() if gone}


def month_before(day: str) -> str:
    """The day (YYYY-MM-DD) since when what was learnt still counts: servers are set up anew. ""
    where no day is known: all of it."""
    return str(date.fromisoformat(day) - timedelta(days=30)) if day else ""


def response_format(form: str, schema: Schema) -> dict[str, Any]:
    """The field that asks for a form."""
    if form == "schema":
        wanted = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    return {"response_format": {"type": "json_object"}} if form == "object" else {}
