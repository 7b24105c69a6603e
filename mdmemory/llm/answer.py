"""What a model is: a system text and a user text in, an answer with its cost out.

No failure carries the text, the key, or what the server said: these may hold what is private.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mdmemory.errors import MdmemoryError
from mdmemory.git import lock

Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of an answer, never blank, and its cost in tokens (0 where it was not told)."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Asking:
    """A model to ask, and the system text it is asked with."""

    model: Model
    system: str


class ModelFailed(MdmemoryError):
    """There is no answer: nothing was written, and the same may be asked again later."""

    code = "model_failed"


class Model(Protocol):
    """Something that answers. `kind` is the planner's word, `name` the model's, and `sends_to`
    says where text goes, as `status` shows it."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def sends_to(self) -> str: ...

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """One answer. With a JSON `schema` the model is asked for an object that fits it, as
        strictly as the endpoint can; nothing here promises that the text does. Takes bounded
        time. Raises ModelFailed."""


def outside_locks() -> None:
    """Raise RuntimeError where the store is locked: a model must not make others wait."""
    if lock.is_held():
        raise RuntimeError("a model is asked while the store is locked")


def in_words(schema: Schema) -> str:
    """How a model is told of a schema where the endpoint itself cannot hold it to one."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing around it. It fits this JSON schema:\n{text}"
