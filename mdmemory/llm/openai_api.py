"""Any server that speaks OpenAI's chat protocol, through the `openai` package.

Every call ends in bounded time: a deadline for the whole answer, and one second try.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmemory.errors import BadSetting
from mdmemory.files import digest
from mdmemory.llm.answer import Answer, ModelFailed, Schema, in_words
from mdmemory.llm.connection import Connection, TooLong, connected, host
from mdmemory.store.state import State

# How an object is asked for, the strictest first; the others are for servers that refuse it.
FORMS = ("schema", "object", "text")
HOSTED = "api.openai.com"  # the one host that is known to want a key
MAX_ANSWER = 4 * 1024 * 1024  # bytes; a plan for the largest batch has a tenth of it
MAX_PAUSE = 20.0  # seconds; a server that asks for more is not asked again


class _Refused(Exception):
    """The server refused the request (400, 422, 501), perhaps only its form."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Again(Exception):
    """A failure that may be over after a pause."""

    def __init__(self, failure: ModelFailed, pause: float | None = None) -> None:
        super().__init__(failure)
        self.failure = failure
        self.pause = pause  # seconds, where the server named them


@dataclass(frozen=True)
class OpenAIModel:
    """The model `name` at `base_url`. `state_file` remembers which form of answer works there."""

    name: str
    base_url: str
    key: str = field(repr=False)
    state_file: Path
    timeout: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    kind: str = "openai"

    @property
    def sends_to(self) -> str:
        """The host, and the port where one is named."""
        return host(self.base_url)

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """See Model."""
        if not self.key and self.sends_to == HOSTED:
            raise BadSetting(
                f"There is no key for {HOSTED}.",
                "Set OPENAI_API_KEY, or openai.api_key in your settings.",
            )
        with connected(self.base_url, self.key, self.timeout) as line:
            if schema is None:
                return self._plain(line, system, user)
            return self._in_a_form(line, system, user, schema)

    def _plain(self, line: Connection, system: str, user: str) -> Answer:
        try:
            return self._try_twice(line, system, user, {})
        except _Refused as problem:
            raise self._refused(problem.status) from None

    def _in_a_form(self, line: Connection, system: str, user: str, schema: Schema) -> Answer:
        """Ask in the form that is known to work, then in laxer ones if it fails."""
        with State(self.state_file) as state:
            known = state.answer_form(self._endpoint)
        status = 0
        for form in FORMS[FORMS.index(known) if known in FORMS else 0 :]:
            told = system if form == "schema" else f"{system}\n\n{in_words(schema)}"
            try:
                answer = self._try_twice(line, told, user, _response_format(form, schema))
            except _Refused as problem:
                status = problem.status
                continue
            if form != known:
                with State(self.state_file) as state:
                    state.set_answer_form(self._endpoint, form)
            return answer
        raise self._refused(status)

    @property
    def _endpoint(self) -> str:
        return digest(f"{self.base_url}\n{self.name}".encode())

    def _try_twice(self, line: Connection, system: str, user: str, extra: dict[str, Any]) -> Answer:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            return self._ask(line, {"model": self.name, "messages": messages, **extra})
        except _Again as problem:
            # between half and one and a half seconds: many machines must not come back at once
            pause = 0.5 + random.random() if problem.pause is None else problem.pause
            if pause > MAX_PAUSE:
                raise problem.failure from None
        self.sleep(pause)
        try:
            return self._ask(line, {"model": self.name, "messages": messages, **extra})
        except _Again as problem:
            raise problem.failure from None

    def _ask(self, line: Connection, asked: dict[str, Any]) -> Answer:
        import httpx
        import openai

        try:
            data = line.body(
                lambda client: client.chat.completions.with_streaming_response.create(**asked),
                self.timeout, MAX_ANSWER,
            )  # fmt: skip
        except TimeoutError:
            raise self._late() from None
        except TooLong:
            raise ModelFailed(
                f"{self.sends_to} sent more than {MAX_ANSWER} bytes, which is no answer.",
                "Check openai.base_url.",
            ) from None
        except openai.APIStatusError as problem:
            headers = problem.response.headers
            raise self._failure(problem.status_code, headers.get("retry-after", "")) from None
        except (openai.OpenAIError, httpx.HTTPError):
            raise _Again(ModelFailed(
                f"{self.sends_to} cannot be reached, or hung up before its answer was whole.",
                "Check the network and openai.base_url, and try again.",
            )) from None  # fmt: skip
        return self._answer(data)

    def _answer(self, data: bytes) -> Answer:
        try:
            whole = json.loads(data)
            choice = whole["choices"][0]
            text, why = choice["message"].get("content") or "", choice.get("finish_reason")
            declined = bool(choice["message"].get("refusal"))
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            raise ModelFailed(
                f"{self.sends_to} answered with something that is no chat completion.",
                "Check openai.base_url: it mostly ends in /v1.",
            ) from None
        if why == "length":
            raise self._no("was cut off at its length limit", "Choose a model with a larger one.")
        if declined or why == "content_filter":
            raise self._no("declined to answer", "Choose another model.")
        if not isinstance(text, str) or not text.strip():
            raise self._no("gave an empty answer", "Try again, or choose another model.")
        return Answer(text, *_cost(whole.get("usage")))

    # what can go wrong, in words; never what the server said, which may repeat the key or the text

    def _failure(self, status: int, retry_after: str) -> Exception:
        if status in (400, 422, 501):
            return _Refused(status)
        if status == 429:
            told = float(retry_after) if retry_after.isdecimal() else None
            return _Again(ModelFailed(
                f"{self.sends_to} takes no more requests for now (429).",
                "Wait a while; if it stays so, look at the account's limits.",
            ), told)  # fmt: skip
        if status >= 500:
            said = f"{self.sends_to} failed ({status})."
            return _Again(ModelFailed(said, "Try again later."))
        sentence, hint = {
            401: ("did not accept the key", "Check OPENAI_API_KEY, or openai.api_key."),
            403: ("does not let this key use the model", "Check the key, and the model's name."),
            404: (f"knows no model {self.name}, or is no such server",
                  "Check extract.model, compact.model and openai.base_url (mostly .../v1)."),
        }.get(status, ("did not take the request", "Check openai.base_url."))  # fmt: skip
        if 300 <= status < 400:
            sentence = "points to another address, where text is not sent unasked"
            hint = "Set openai.base_url to the address that answers."
        return ModelFailed(f"{self.sends_to} {sentence} ({status}).", hint)

    def _refused(self, status: int) -> ModelFailed:
        return ModelFailed(
            f"{self.sends_to} refused the request to {self.name} ({status}).",
            "The text may be too long for this model: choose one with a larger context.",
        )

    def _late(self) -> ModelFailed:
        return ModelFailed(
            f"{self.sends_to} did not answer within {self.timeout:g} s.",
            "Try again later, or raise llm.timeout_s in your settings.",
        )

    def _no(self, what: str, hint: str) -> ModelFailed:
        return ModelFailed(f"The model {self.name} {what}.", hint)


def _response_format(form: str, schema: Schema) -> dict[str, Any]:
    if form == "schema":
        wanted = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    return {"response_format": {"type": "json_object"}} if form == "object" else {}


def _cost(usage: object) -> tuple[int, int]:
    told = usage if isinstance(usage, dict) else {}
    counts = (told.get("prompt_tokens"), told.get("completion_tokens"))
    into, out = (n if type(n) is int and 0 <= n < 2**40 else 0 for n in counts)
    return into, out
