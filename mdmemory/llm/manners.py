"""How a server is asked: the form of answer, the fields that not every server knows, and which of
them are given up when it refuses. What works is remembered for each server and model.

Of a refusal's words only a number and names of our own fields are taken: they may repeat the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from mdmemory.llm.answer import Schema

_MOST_BYTES = 200_000
_MOST_WORDS = 2_000  # characters of a message that are looked at
_DEEPEST = 4
# Where servers put words of their own. `input` and the like, where some repeat what they were sent,
# are not among them.
_SAID = ("error", "errors", "message", "msg", "detail", "type", "code", "param", "loc", "raw",
         "metadata", "n_ctx", "status", "name", "data", "responseBody")  # fmt: skip

_CODES = (
    "context_length_exceeded",  # OpenAI, Azure, Groq, OpenRouter, LM Studio
    "exceed_context_size_error",  # llama.cpp
    "context_window_exceeded",
    "tokens_limit_reached",  # GitHub Models
    "model_max_prompt_tokens_exceeded",
    "request_too_large",  # Anthropic
    "contextoverflowerror",  # OpenCode
)
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|exceeds? (?:the )?context|n_ctx"
    r"|prompt (?:is )?too long|input (?:is )?too long|too many (?:input )?tokens"
    r"|maximum prompt length|number of tokens allowed|(?:request|prompt) (?:body )?too large"
    r"|reduce (?:the|your) (?:length|message|prompt|input)|range of input length"
    r"|input tokens exceed|tokens in the prompt cannot exceed|max_new_tokens[`']? must be"
)
# In this order: the first that fits names the window.
_SIZES = tuple(
    re.compile(pattern)
    for pattern in (
        r"n_ctx\W{1,3}(\d{3,8})",  # LM Studio: (n_keep: 9000>= n_ctx: 4096)
        r"\d \+ \d{1,8} > (\d{3,8})",  # Anthropic: 178959 + 64000 > 200000
        r"tokens > (\d{3,8})",  # Anthropic: 208310 tokens > 200000 maximum
        r"with (\d{3,8}) maximum context",  # Mistral
        r"(?:context (?:length|window|size)|prompt length)[^0-9]{0,40}(\d{3,8})",
        r"tokens allowed \(?(\d{3,8})",  # Gemini
        r"(?:configured limit of|cannot exceed|must be <=|max size:|limit) (\d{3,8})",
        r"input length should be \[\d{1,3}, ?(\d{3,8})",  # DashScope
    )
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """`is_too_long`: the question does not fit the window; `window` is its size, 0 where the
    server names none. `fields` are those of the request that it names as the trouble."""

    is_too_long: bool = False
    window: int = 0
    fields: frozenset[str] = frozenset()


def read(status: int, body: bytes | str, sent: str, fields: frozenset[str]) -> Refusal:
    """What a refusal with this HTTP status means. `sent` is the text of the question, which a
    server may repeat; `fields` are the names of the request that can be done without."""
    words = _words(body[:_MOST_BYTES], sent)
    named = frozenset(name for name in fields if re.search(rf"\b{name}\b", words))
    is_too_long = status == 413 or any(code in words for code in _CODES)
    is_too_long = is_too_long or bool(_TOO_LONG.search(words))
    plain = re.sub(r"(?<=\d)[,_](?=\d{3})", "", words)
    sizes = (size.search(plain) for size in _SIZES) if is_too_long else ()
    return Refusal(is_too_long, next((int(each[1]) for each in sizes if each), 0), named)


def _words(body: bytes | str, sent: str) -> str:
    """What the server says itself, in lower case."""
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    try:
        texts = list(_texts(json.loads(text)))
    except (ValueError, RecursionError):
        texts = [text]
    own = (each.replace(sent, " ") if sent else each for each in texts)
    return " ".join(each[:_MOST_WORDS] for each in own).lower()


def _texts(value: Any, deep: int = 0) -> Iterator[str]:
    """The texts of an error in the fields that servers put their own words in."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and deep < _DEEPEST:
        for each in value[:20]:
            yield from _texts(each, deep + 1)
    elif isinstance(value, dict) and deep < _DEEPEST:
        for name in _SAID:
            if name == "n_ctx" and type(value.get(name)) is int:
                yield f"n_ctx: {value[name]}"
            else:
                yield from _texts(value.get(name), deep + 1)


# How an object is asked for, the strictest first; the others are for servers that refuse it.
FORMS = ("schema", "object", "text")
LIMITS = ("max_tokens", "max_completion_tokens")  # of an answer: an older name, and a newer one
_FORM_FIELDS = frozenset(("response_format", "json_schema", "json_object"))
# What the request can do without; of several that a refusal names, the first goes first.
_OPTIONAL = (*LIMITS, "reasoning_effort", "temperature", "stream_options", "stream")
FIELDS = _FORM_FIELDS.union(_OPTIONAL)
_NEWER = re.compile(r"(?:.*/)?(?:o[1-9]|gpt-[5-9])(?![0-9])(?!.*chat)")  # models that reason
_GIVEN_UP = "none"


@dataclass(frozen=True, slots=True)
class Manner:
    """`form` is one of FORMS, `without` are the fields that are not asked for; `reasons`: the model
    is one that thinks before it answers."""

    reasons: bool
    form: str = FORMS[0]
    without: frozenset[str] = frozenset()

    def fields(self, most: int) -> dict[str, Any]:
        """The fields of a request for at most `most` tokens of answer, the form apart."""
        limits = [name for name in LIMITS[:: -1 if self.reasons else 1] if name not in self.without]
        values: dict[str, Any] = dict.fromkeys(limits[:1], most)
        values |= {"reasoning_effort": "low"} if self.reasons else {"temperature": 0}
        values["stream"] = True
        values |= {} if "stream" in self.without else {"stream_options": {"include_usage": True}}
        return {name: value for name, value in values.items() if name not in self.without}

    def after(self, refusal: Refusal) -> Manner | None:
        """What to try next, without what the refusal names; a laxer form where it names nothing;
        at last nothing but the messages. None where nothing is left."""
        named = refusal.fields & self.fields(0).keys()
        if refusal.fields & _FORM_FIELDS:  # some cannot hold to a form only while they stream
            named -= {"stream"}
        if gone := next((name for name in _OPTIONAL if name in named), ""):
            return replace(self, without=self.without | {gone})
        if self.form != FORMS[-1]:
            return replace(self, form=FORMS[FORMS.index(self.form) + 1])
        bare = replace(self, without=frozenset(_OPTIONAL))
        return None if self == bare else bare


def first(name: str, known: Mapping[str, str]) -> Manner:
    """How the model of this name is asked first, by what is `known` of it (see `learn_manner`)."""
    form = known.get("form", FORMS[0])
    without = frozenset(each for each in _OPTIONAL if known.get(each) == _GIVEN_UP)
    return Manner(bool(_NEWER.match(name.lower())), form if form in FORMS else FORMS[0], without)


def learn_manner(before: Manner, now: Manner) -> dict[str, str]:
    """What is to be remembered where `before` was refused and `now` worked."""
    facts = {} if before.form == now.form else {"form": now.form}
    return facts | dict.fromkeys(now.without - before.without, _GIVEN_UP)


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
