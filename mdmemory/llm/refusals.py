"""What a server's refusal says about a question: that it is too long, or which field it does not
know. Only a number and names of our own fields are taken from its words, which may repeat the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
    return Refusal(is_too_long, _window(words) if is_too_long else 0, named)


def _window(words: str) -> int:
    plain = re.sub(r"(?<=\d)[,_](?=\d{3})", "", words)
    matches = (size.search(plain) for size in _SIZES)
    return next((int(each[1]) for each in matches if each), 0)


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
