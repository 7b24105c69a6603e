"""The interface of a model: it takes a system text and a user text, and returns an answer.

No error contains the text, the key or the server's message: they may be private.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from mdmemory.errors import MdmemoryError
from mdmemory.git import lock


def example(schema: Schema) -> Any:
    """A value that fits a schema, with one item in each list of objects. Its texts are the names of
    their fields in `<...>`, which `json_answer` reads as nothing: small models copy examples."""
    return _value(schema, "")


def _value(schema: Schema, name: str) -> Any:
    if "anyOf" in schema:
        return _value(schema["anyOf"][-1], name)
    if schema["type"] == "object":
        return {key: _value(each, key) for key, each in schema["properties"].items()}
    if schema["type"] == "array":
        if schema["items"].get("type") == "string":
            return ["<file>", "<other file>"] if name in ("sources", "files") else []
        return [_value(schema["items"], name)]
    words = schema.get("enum")
    return next(filter(None, words)) if words and words[0] else "" if words else f"<{name}>"


def once_more(question: str, schema: Schema) -> str:
    """The same question after an answer that could not be read: with one example of the form."""
    text = json.dumps(example(schema), ensure_ascii=False)
    return (
        f"{question}\n\nYour answer to this could not be read. Answer with one JSON object and "
        f"nothing around it, in this form:\n{text}"
    )


Schema = Mapping[str, Any]


class Answer(NamedTuple):
    """The text of an answer, never blank, and its cost in tokens (estimated where the server
    tells none). Where `cut`, the
    answer ended at its length limit: what is whole of it counts, the rest is asked again."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cut: bool = False


class Asking(NamedTuple):
    """A model to ask, and the system text it is asked with; `verifier` is the one that reads again
    what it proposes, where that is another."""

    model: Model
    system: str
    verifier: Model | None = None

    @property
    def reader(self) -> Model:
        """The model of the second reading."""
        return self.verifier or self.model


class ModelFailed(MdmemoryError):
    """No answer; nothing was written, and the same question may be asked later."""

    code = "model_failed"


class ContextExceeded(ModelFailed):
    """The question is longer than the model's window, which holds `tokens` (0: not known).

    What was learnt is remembered: `sizes.room` gives less from now on. Ask about less; the same
    question would fail again. `cost` is what the call used all the same, in and out.
    """

    code = "context"

    def __init__(self, message: str, tokens: int, cost: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message, "Set llm.context_tokens to what the server really holds.")
        self.tokens = tokens
        self.cost = cost


class Model(Protocol):
    """A model. `kind` is the planner's name, `name` the model's, and `sends_to` where text goes,
    as `status` shows it. One that knows its window has `context_tokens`, too (see sizes)."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def sends_to(self) -> str: ...

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """One answer, in bounded time. Raises ModelFailed; ContextExceeded where the question is
        too long for the model.

        With a JSON `schema` the model is asked for an object of that form, as strictly as the
        endpoint can; the text may still not fit it.
        """


def outside_locks() -> None:
    """Raise RuntimeError if the store is locked: a model must not make others wait."""
    if lock.is_held():
        raise RuntimeError("a model is asked while the store is locked")


def in_words(schema: Schema) -> str:
    """The schema as text for the prompt, for endpoints that cannot enforce one."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    sample = json.dumps(example(schema), ensure_ascii=False)
    return (
        "Answer with one JSON object and nothing around it. It fits this JSON schema:\n"
        f"{text}\nAn example of its form: {sample}"
    )
