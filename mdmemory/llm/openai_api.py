"""Any server that speaks OpenAI's protocol, for chats and vectors, through the `openai` package.

Every call ends in bounded time: a deadline for the first token and for the silence between two, one
for the whole answer where it is not streamed, a cap where it is; and few tries. What a server says
when it fails is never told: it may repeat the key or the text.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from mdmemory import debugging
from mdmemory.errors import BadSetting
from mdmemory.files import digest
from mdmemory.llm import connection, manners
from mdmemory.llm.answer import (
    Answer,
    ContextExceeded,
    ModelFailed,
    Schema,
    in_words,
    outside_locks,
)
from mdmemory.llm.sizes import FRAME, LEAST, THOUGHT, answer_tokens, tokens, was_cut
from mdmemory.store.state import EMBED, State

HOSTED = "api.openai.com"  # the one host that is known to want a key
MAX_ANSWER = 4 * 1024 * 1024  # bytes; a plan for the largest batch has a tenth of it
# Seconds for a whole answer, however lively: a model of five tokens a second writes 4,500 in it,
# and a plan has hardly more. Who asks may hold up a command that a person waits for.
LONGEST = 900.0
MAX_PAUSE = 20.0  # seconds; a server that asks for more is not asked again

PAUSES = (1.0, 2.0, 4.0)  # seconds before the second, third and fourth try of vectors
TIMEOUT = 30.0  # seconds for a request of vectors with all its tries, the pauses apart
LONGEST_TEXT = 24_000  # characters of a text; models take about 8,000 tokens
MAX_VECTORS = 64 * 1024 * 1024  # bytes: 100 vectors of 16,000 numbers, in digits
REST = 60.0  # seconds in which a server that was late is not asked: each search would wait
_HUNG_UP = "cannot be reached, or hung up before its answer was whole."
_late: dict[str, float] = {}  # by address, when that was
_T = TypeVar("_T")


@dataclass(eq=False)
class _Refused(Exception):
    """The server refused the request, perhaps only its form, a field of it, or its length."""

    status: int
    refusal: manners.Refusal


@dataclass(eq=False)
class _Again(Exception):
    """A failure that may be over after a pause."""

    failure: ModelFailed
    pause: float | None = None  # seconds, where the server named them


@dataclass(frozen=True)
class _Endpoint:
    name: str
    base_url: str
    key: str = field(repr=False)
    state_file: Path

    @property
    def sends_to(self) -> str:
        """The host, and the port where one is named."""
        return connection.host(self.base_url)

    def _failed(self, sentence: str, hint: str = "Try again later.", code: str = "") -> ModelFailed:
        return ModelFailed(f"{self.sends_to} {sentence}", hint, code)

    def _connect(
        self, silence: float, longest: float
    ) -> AbstractContextManager[connection.Connection]:
        if not self.key and self.sends_to == HOSTED:
            raise BadSetting(
                f"There is no key for {HOSTED}.",
                "Set OPENAI_API_KEY, or openai.api_key in your settings.",
            )
        return connection.connect(self.base_url, self.key, silence, longest)


def _try(
    line: connection.Connection, ask: Callable[[], _T], sleep: Callable[[float], None],
    pauses: Iterable[float],
) -> _T:  # fmt: skip
    """What `ask` gives, tried once more after each of these pauses, which are seconds, as long as
    the server has time left."""
    following = iter(pauses)
    while True:
        try:
            return ask()
        except _Again as problem:
            pause = next(following, None)
            wait = pause if problem.pause is None else problem.pause
            if pause is None or wait is None or wait > MAX_PAUSE or line.clock.left() <= 0:
                raise problem.failure from None
        sleep(wait)
        line.clock.hold(wait)


@dataclass(frozen=True, slots=True)
class _Question:
    """One question to the model, whatever manner it is asked in; `fixed` and `length` are the
    tokens of the system text with its form, and of the user's text."""

    system: str
    user: str
    schema: Schema | None
    fixed: int
    length: int

    def messages(self, form: str) -> list[dict[str, str]]:
        """The two messages; the form stands in words where the server cannot hold to it."""
        words = "" if self.schema is None or form == "schema" else f"\n\n{in_words(self.schema)}"
        system = {"role": "system", "content": f"{self.system}{words}"}
        return [system, {"role": "user", "content": self.user}]


@dataclass(frozen=True)
class OpenAIModel(_Endpoint):
    """The model `name` at `base_url`. `state_file` remembers how it is best asked, as of `today`.

    `context` are the tokens of its window, where a person set them (0: they did not).
    """

    timeout: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    kind: str = "openai"
    context: int = 0
    today: str = ""

    @property
    def context_tokens(self) -> int:
        """The window in tokens: as set, or as learnt; 0 if not known."""
        return self.context or int(self._known().get("context", "0"))

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """See Model."""
        fixed = tokens(system) + (tokens(in_words(schema)) if schema else 0)
        question = _Question(system, user, schema, fixed, tokens(user))
        with self._connect(self.timeout, LONGEST) as line:
            answer = self._in_a_manner(line, question)
        if was_cut(system, user, answer.input_tokens, self.context_tokens):
            cost = answer.input_tokens, answer.output_tokens
            raise self._too_long(max(answer.input_tokens, LEAST), cost)
        if answer.input_tokens or answer.output_tokens:
            return answer
        return answer._replace(
            input_tokens=question.fixed + question.length, output_tokens=tokens(answer.text)
        )

    def _in_a_manner(self, line: connection.Connection, question: _Question) -> Answer:
        """Ask in the manner that is known to work, then in others as long as it is refused."""
        begun = manners.first(self.name, self._known())
        if question.schema is None:
            begun = replace(begun, form=manners.FORMS[-1])
        manner, window, is_shorter = begun, self.context_tokens, False
        while True:
            try:
                answer = self._try_twice(line, question, manner, window)
            except _Refused as problem:
                if problem.refusal.is_too_long:
                    # the window that it names, or half of what was asked
                    fixed, length = question.fixed, question.length
                    is_bounded = not manner.without.issuperset(manners.LIMITS)
                    most = answer_tokens(length, fixed, window) if is_bounded else 0
                    window = max(LEAST, problem.refusal.window or (fixed + length + most) // 2)
                    self._learn({"context": str(window)})
                    # whether the question has room, with an answer a third of its length
                    if is_shorter or FRAME + fixed + length * 4 // 3 > window:
                        raise self._too_long(window) from None
                    is_shorter = True  # once more, with less room for the answer
                    continue
                following = manner.after(problem.refusal)
                if following is None:
                    text = f"{self.sends_to} refused the request to {self.name} ({problem.status})."
                    hint = "If the text is too long for this model, set llm.context_tokens to what "
                    raise ModelFailed(text, f"{hint}it holds.") from None
                manner = following
                continue
            self._learn(manners.learn_manner(begun, manner))
            return answer

    @property
    def _endpoint(self) -> str:
        return digest(f"{self.base_url}\n{self.name}")

    def _known(self) -> dict[str, str]:
        """What was learnt of this server and model, not too long ago."""
        with State(self.state_file) as state:
            return state.learnt(self._endpoint, manners.month_before(self.today))

    def _learn(self, facts: dict[str, str]) -> None:
        if facts:
            with State(self.state_file) as state:
                for what, value in facts.items():
                    state.learn(self._endpoint, what, value, self.today)

    def _try_twice(
        self, line: connection.Connection, question: _Question, manner: manners.Manner, window: int
    ) -> Answer:
        most = answer_tokens(question.length, question.fixed, window)
        request: dict[str, Any] = {"model": self.name, "messages": question.messages(manner.form)}
        request |= manner.fields(most)
        if question.schema is not None:
            request |= manners.response_format(manner.form, question.schema)
        # between half and one and a half seconds: many machines must not come back at once
        pauses = (0.5 + random.random(),)
        return _try(line, lambda: self._ask(line, request), self.sleep, pauses)

    def _ask(self, line: connection.Connection, request: dict[str, Any]) -> Answer:
        create = line.client.chat.completions.with_streaming_response.create
        try:
            whole = line.ask(create, request, MAX_ANSWER)
        except connection.Late as problem:
            raise self._late(problem.has_begun) from None
        except connection.Denied as problem:
            raise self._failure(problem, request) from None
        except connection.TooLong:
            sentence = f"sent more than {MAX_ANSWER} bytes, which is no answer."
            raise self._failed(sentence, "Check openai.base_url.") from None
        except connection.Senseless:
            raise self._senseless() from None
        except connection.Unfinished:
            hint = "Check the network and openai.base_url, and try again."
            raise _Again(self._failed(_HUNG_UP, hint)) from None
        return self._answer(whole, request)

    def _answer(self, whole: Any, request: dict[str, Any]) -> Answer:
        if isinstance(whole, dict) and whole.get("error") and not whole.get("choices"):
            # some say so after a 200, or in the middle of a stream
            error = whole["error"]
            code = error.get("code") if isinstance(error, dict) else None
            status = code if type(code) is int and 400 <= code < 600 else 500
            problem = connection.Denied(status, "", json.dumps(whole).encode())
            raise self._failure(problem, request)
        try:
            choice = whole["choices"][0]
            text, why = choice["message"].get("content") or "", choice.get("finish_reason")
            declined = bool(choice["message"].get("refusal"))
        except (LookupError, TypeError, AttributeError):
            raise self._senseless() from None
        if declined or why == "content_filter":
            raise self._no("declined to answer", "Choose another model.")
        is_cut = why == "length"
        if is_cut and not (isinstance(text, str) and text.strip()):
            if min(request.get(name, THOUGHT) for name in manners.LIMITS) < THOUGHT:
                # the question left the model no room to think: half of it leaves more
                raise self._too_long(self.context_tokens, _cost(whole.get("usage")))
            raise self._no("was cut off at its length limit", "Choose a model with a larger one.")
        if not isinstance(text, str) or not text.strip():
            raise self._no("gave an empty answer", "Try again, or choose another model.")
        return Answer(text, *_cost(whole.get("usage")), is_cut)

    def _failure(self, problem: connection.Denied, request: dict[str, Any]) -> Exception:
        status, sent = problem.status, request["messages"][-1]["content"]
        refusal = manners.read(status, problem.body, sent, manners.FIELDS)
        # llama.cpp's own server names a field it does not know with 500
        if status in (400, 422, 501) or refusal.is_too_long or (status >= 500 and refusal.fields):
            return _Refused(status, refusal)
        if status == 429:
            wait = float(problem.retry_after) if problem.retry_after.isdecimal() else None
            hint = "Wait a while; if it stays so, look at the account's limits."
            return _Again(self._failed("takes no more requests for now (429).", hint), wait)
        if status >= 500:
            return _Again(self._failed(f"failed ({status})."))
        sentence, hint = {
            401: ("did not accept the key", "Check OPENAI_API_KEY, or openai.api_key."),
            403: ("does not let this key use the model", "Check the key, and the model's name."),
            404: (f"knows no model {self.name}, or is no such server",
                  "Check extract.model, compact.model and openai.base_url (mostly .../v1)."),
        }.get(status, ("did not take the request", "Check openai.base_url."))  # fmt: skip
        if 300 <= status < 400:
            sentence = "points to another address, where text is not sent unasked"
            hint = "Set openai.base_url to the address that answers."
        return self._failed(f"{sentence} ({status}).", hint)

    def _too_long(self, window: int, cost: tuple[int, int] = (0, 0)) -> ContextExceeded:
        """A question that was cut, or refused for its length; the window is remembered."""
        self._learn({"context": str(window)})
        text = f"The question is too long for {self.name}, which takes {window} tokens."
        return ContextExceeded(text, window, cost)

    def _senseless(self) -> ModelFailed:
        sentence = "answered with something that is no chat completion."
        return self._failed(sentence, "Check openai.base_url: it mostly ends in /v1.")

    def _late(self, has_begun: bool) -> ModelFailed:
        sentence = f"did not answer within {self.timeout:g} s."
        if has_begun:
            sentence = f"fell silent for {self.timeout:g} s in the middle of its answer, "
            sentence += f"or was not done after {LONGEST / 60:g} minutes."
        return self._failed(sentence, "Try again later, or raise llm.timeout_s in your settings.")

    def _no(self, what: str, hint: str) -> ModelFailed:
        return ModelFailed(f"The model {self.name} {what}.", hint)


def _cost(usage: object) -> tuple[int, int]:
    fields = usage if isinstance(usage, dict) else {}
    counts = (fields.get("prompt_tokens"), fields.get("completion_tokens"))
    into, out = (n if type(n) is int and 0 <= n < 2**40 else 0 for n in counts)
    return into, out


@dataclass(frozen=True)
class EmbeddingAPI(_Endpoint):
    """Makes vectors by the model `name` at `base_url`. What a server answers is not trusted: who
    asks has to look at the numbers.

    On the day `today` (UTC) it is asked `daily_calls` times at most; `redact` cleans what it is
    asked. `sleep` is for tests.
    """

    today: str
    daily_calls: int
    redact: Callable[[str], str]
    timeout: float = field(default_factory=lambda: TIMEOUT)
    sleep: Callable[[float], None] = time.sleep

    @property
    def model(self) -> str:
        """The name of the vector space: only vectors with the same name can be compared."""
        return f"{self.sends_to} {self.name}"

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """The vectors of up to 100 texts, in their order.

        Raises ModelFailed, BadSetting without the key that it wants, and RuntimeError where the
        store is locked.
        """
        outside_locks()
        with State(self.state_file) as state:
            if not state.begin_call(self.today, EMBED, self.name, self.daily_calls):
                raise ModelFailed(
                    f"Vectors were asked for {self.daily_calls} times today (UTC): the limit.",
                    "Wait until tomorrow; search goes by words until then.",
                    "over_cap",
                )
        # without secrets and lone surrogates
        whole = [self.redact(text.encode("utf-8", "replace").decode("utf-8")) for text in texts]
        asked = [text[:LONGEST_TEXT] for text in whole]
        with debugging.timed_block("vectors of %s for %d texts", self.name, len(texts)):
            if time.monotonic() < _late.get(self.base_url, -REST) + REST:
                raise self._failed("did not answer a moment ago.")
            with self._connect(self.timeout, self.timeout) as line:
                vectors, cost = _try(line, lambda: self._ask(line, asked), self.sleep, PAUSES)
        with State(self.state_file) as state:
            state.add_tokens(self.today, EMBED, self.name, cost, 0)
        return vectors

    def _ask(self, line: connection.Connection, texts: list[str]) -> tuple[list[Any], int]:
        """The vectors of these texts in their order, and their cost in tokens."""
        create = line.client.embeddings.with_streaming_response.create
        request = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            whole = line.ask(create, request, MAX_VECTORS)
            rows = sorted(whole["data"], key=lambda row: row["index"])
            vectors = [row["embedding"] for row in rows]
            cost = _cost(whole.get("usage"))[0]
        except connection.Late:
            _late[self.base_url] = time.monotonic()
            raise self._failed(f"did not answer within {self.timeout:g} s.") from None
        except connection.Denied as problem:
            raise self._failure(problem.status) from None
        except connection.Unfinished:
            hint = "Check the network, and the address in your settings."
            raise self._failed(_HUNG_UP, hint) from None
        except (connection.TooLong, connection.Senseless, LookupError, TypeError, AttributeError):
            raise self._senseless() from None
        if not all(isinstance(vector, list) for vector in vectors):
            raise self._senseless()
        return vectors, cost

    def _senseless(self) -> ModelFailed:
        sentence = "answered with something that is no list of vectors."
        return self._failed(sentence, "Check the address in your settings: it mostly ends in /v1.")

    def _failure(self, status: int) -> Exception:
        if status == 429 or status >= 500:
            return _Again(self._failed(f"gives no vectors for now ({status})."))
        if status in (400, 413, 422):
            hint = "One may be too long for search.embedding_model: it has to read 400 tokens."
            return self._failed(f"refused these texts ({status}).", hint, "refused")
        sentence, hint = {
            401: ("did not accept the key", "Check OPENAI_API_KEY, or search.embedding_key."),
            404: (f"knows no model {self.name}, or is no such server",
                  "Check search.embedding_model, and the address (mostly .../v1)."),
        }.get(status, ("did not take the texts", "Check search.embedding_model."))  # fmt: skip
        return self._failed(f"{sentence} ({status}).", hint)
