"""Vectors from any server that speaks OpenAI's embeddings protocol, through the `openai` package.

Every text passes redaction here before it leaves, every request is counted, and each ends in
bounded time. What a server answers is not trusted: who asks has to look at the numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmemory import debugging
from mdmemory.errors import BadSetting
from mdmemory.llm.answer import ModelFailed, outside_locks
from mdmemory.llm.connection import Connection, TooLong, connect, host
from mdmemory.llm.openai_api import HOSTED
from mdmemory.store.state import EMBED, State

PAUSES = (1.0, 2.0, 4.0)  # seconds before the second, third and fourth try
TIMEOUT = 30.0  # seconds for a request with all its tries, the pauses apart
LONGEST = 24_000  # characters of a text; models take about 8,000 tokens
MAX_ANSWER = 64 * 1024 * 1024  # bytes: 100 vectors of 16,000 numbers, in digits
REST = 60.0  # seconds in which a server that was late is not asked: each search would wait
_late: dict[str, float] = {}  # by address, when that was


class _Again(Exception):
    """A failure that may be over after a pause."""

    def __init__(self, failure: ModelFailed) -> None:
        super().__init__(failure)
        self.failure = failure


@dataclass(frozen=True)
class EmbeddingAPI:
    """The model `name` at `base_url`.

    On the day `today` (UTC) it is asked `daily_calls` times at most; `redact` cleans what it is
    asked. `sleep` is for tests.
    """

    name: str
    base_url: str
    key: str = field(repr=False)
    state_file: Path
    today: str
    daily_calls: int
    redact: Callable[[str], str]
    timeout: float = field(default_factory=lambda: TIMEOUT)
    sleep: Callable[[float], None] = time.sleep

    @property
    def model(self) -> str:
        """The name of the vector space: only vectors with the same name can be compared."""
        return f"{self.sends_to} {self.name}"

    @property
    def sends_to(self) -> str:
        """The host, and the port where one is named."""
        return host(self.base_url)

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """The vectors of up to 100 texts, in their order.

        Raises ModelFailed, BadSetting without the key that it wants, and RuntimeError where the
        store is locked.
        """
        outside_locks()
        if not self.key and self.sends_to == HOSTED:
            raise BadSetting(
                f"There is no key for {HOSTED}.",
                "Set OPENAI_API_KEY, or openai.api_key in your settings.",
            )
        with State(self.state_file) as state:
            if not state.begin_call(self.today, EMBED, self.name, self.daily_calls):
                raise ModelFailed(
                    f"Vectors were asked for {self.daily_calls} times today (UTC): the limit.",
                    "Wait until tomorrow, or raise search.embedding_calls in your settings.",
                    "over_cap",
                )
        with debugging.timed_block("vectors of %s for %d texts", self.name, len(texts)):
            vectors, cost = self._try([self._fit(text) for text in texts])
        with State(self.state_file) as state:
            state.add_tokens(self.today, EMBED, self.name, cost, 0)
        return vectors

    def _fit(self, text: str) -> str:
        """The text without secrets and lone surrogates."""
        return self.redact(text.encode("utf-8", "replace").decode("utf-8"))[:LONGEST]

    def _try(self, texts: list[str]) -> tuple[list[Any], int]:
        if time.monotonic() < _late.get(self.base_url, -REST) + REST:
            raise ModelFailed(f"{self.sends_to} did not answer a moment ago.", "Try again later.")
        left = self.timeout
        for pause in (*PAUSES, 0.0):
            begun = time.monotonic()
            try:
                with connect(self.base_url, self.key, left) as line:
                    return _vectors(self._ask(line, texts, left), self.sends_to)
            except _Again as problem:
                left -= time.monotonic() - begun
                if not pause or left <= 0:
                    raise problem.failure from None
            self.sleep(pause)
        raise AssertionError("the last try has no pause after it")

    def _ask(self, line: Connection, texts: list[str], seconds: float) -> bytes:
        import httpx
        import openai

        request: dict[str, Any] = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            return line.body(
                lambda client: client.embeddings.with_streaming_response.create(**request),
                seconds, MAX_ANSWER,
            )  # fmt: skip
        except TimeoutError:
            raise self._is_late() from None
        except TooLong:
            raise _senseless(self.sends_to) from None
        except openai.APIStatusError as problem:
            raise self._failure(problem.status_code) from None
        except (openai.OpenAIError, httpx.HTTPError):
            raise ModelFailed(
                f"{self.sends_to} cannot be reached, or hung up before its answer was whole.",
                "Check the network, and the address in your settings.",
            ) from None

    # never what the server said, which may repeat the key or the text

    def _failure(self, status: int) -> Exception:
        if status == 429 or status >= 500:
            reason = f"{self.sends_to} gives no vectors for now ({status})."
            return _Again(ModelFailed(reason, "Try again later."))
        if status in (400, 413, 422):
            return ModelFailed(
                f"{self.sends_to} refused these texts ({status}).",
                "One may be too long for search.embedding_model: it has to read 400 tokens.",
                "refused",
            )
        sentence, hint = {
            401: ("did not accept the key", "Check OPENAI_API_KEY, or search.embedding_key."),
            404: (f"knows no model {self.name}, or is no such server",
                  "Check search.embedding_model, and the address (mostly .../v1)."),
        }.get(status, ("did not take the texts", "Check search.embedding_model."))  # fmt: skip
        return ModelFailed(f"{self.sends_to} {sentence} ({status}).", hint)

    def _is_late(self) -> ModelFailed:
        _late[self.base_url] = time.monotonic()
        return ModelFailed(
            f"{self.sends_to} did not answer within {self.timeout:g} s.", "Try again later."
        )


def _senseless(place: str) -> ModelFailed:
    return ModelFailed(
        f"{place} answered with something that is no list of vectors.",
        "Check the address in your settings: it mostly ends in /v1.",
    )


def _vectors(data: bytes, place: str) -> tuple[list[Any], int]:
    """The vectors of an answer in the order of the texts, and their cost in tokens."""
    try:
        whole = json.loads(data)
        rows = sorted(whole["data"], key=lambda row: row["index"])
        vectors = [row["embedding"] for row in rows]
        usage = whole.get("usage") or {}
        cost = usage.get("prompt_tokens", 0)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise _senseless(place) from None
    if not all(isinstance(vector, list) for vector in vectors):
        raise _senseless(place)
    return vectors, cost if type(cost) is int and 0 <= cost < 2**40 else 0
