"""A model's answer, read as candidates: facts proposed for the store, each with its evidence.

Believes nothing: an answer that is not what was asked for is refused whole, a candidate that is
not is left out with the reason `schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mdmemory import bounds
from mdmemory.errors import MdmemoryError
from mdmemory.note.limits import MAX_DESCRIPTION, TYPES

MAX_ANSWER = bounds.CANDIDATES
MAX_CANDIDATES = 30  # a good answer has three
MAX_TEXT = 4_000  # characters of a body or a quote; a fact takes a sentence or two
MAX_SUPERSEDED = 50

ACTIONS = ("add", "update", "reinforce", "flag")
KINDS = ("", "decision")
_TEXTS = ("action", "type", "kind", "name", "description", "body", "file", "quote")
_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)


class BadAnswer(MdmemoryError):
    """The model's answer is not what was asked for; nothing of it was used."""

    code = "bad_answer"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact. A field that does not apply is "" (or no items)."""

    action: str
    type: str
    kind: str
    name: str
    description: str
    body: str
    file: str
    quote: str
    superseded: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What it says, in one line, for people."""
        return self.description or self.quote or self.file


@dataclass(frozen=True, slots=True)
class Answered:
    """The candidates that can be judged, and those that cannot: what each says, and why."""

    candidates: tuple[Candidate, ...] = ()
    dropped: tuple[tuple[str, str], ...] = field(default=())


def parse(answer: str) -> Answered:
    """The candidates in an answer: `{"candidates": [...]}` or the list alone, with nothing around
    it but a code fence. Raises BadAnswer."""
    found = _json(answer)
    if isinstance(found, dict):
        if set(found) != {"candidates"}:
            raise _bad("has other fields than `candidates`")
        found = found["candidates"]
    if not isinstance(found, list):
        raise _bad("holds no list of candidates")
    good: list[Candidate] = []
    dropped = []
    for number, value in enumerate(found):
        candidate = _candidate(value)
        if number >= MAX_CANDIDATES:
            dropped.append((_preview(value), "too_many"))
        elif candidate is None:
            dropped.append((_preview(value), "schema"))
        else:
            good.append(candidate)
    return Answered(tuple(good), tuple(dropped))


def _json(answer: str) -> Any:
    if len(answer) > MAX_ANSWER:
        raise _bad(f"has more than {MAX_ANSWER} characters")
    text = answer.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        return json.loads(
            fenced[1] if fenced else text, object_pairs_hook=_once, parse_constant=_no_number
        )
    except BadAnswer:
        raise
    except (ValueError, RecursionError) as problem:
        raise _bad("is not JSON, or was cut off") from problem


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _bad("names a field twice")
    return found


def _no_number(word: str) -> Any:
    raise _bad(f"holds {word}, which is no number")


def _bad(why: str) -> BadAnswer:
    return BadAnswer(
        f"The model's answer {why}; none of it was stored.",
        "The same turns are read again next time. If it happens again, choose another model: "
        "extract.model in your settings.",
    )


def _candidate(value: object) -> Candidate | None:
    """The candidate, or None where a field is missing, unknown, or not what it may be."""
    if not isinstance(value, dict) or not set(value) <= {*_TEXTS, "superseded"}:
        return None
    texts = {name: value.get(name, "") for name in _TEXTS}
    named = value.get("superseded", [])
    if not all(map(_is_text, texts.values())) or not isinstance(named, list):
        return None
    if len(named) > MAX_SUPERSEDED or not all(_is_text(each) and each.strip() for each in named):
        return None
    trimmed = {name: text.strip() for name, text in texts.items()}
    candidate = Candidate(**trimmed, superseded=tuple(each.strip() for each in named))
    return candidate if _fits(candidate) else None


def _is_text(value: object) -> bool:
    """A string that can be written as UTF-8 (JSON may carry half a surrogate pair)."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff\x00]", value)


def _fits(candidate: Candidate) -> bool:
    """Whether the fields are those that the action needs, and only those it may have."""
    action = candidate.action
    if action not in ACTIONS or not candidate.quote:
        return False
    if max(len(candidate.body), len(candidate.quote), len(candidate.description)) > MAX_TEXT:
        return False
    if bool(candidate.file) != (action != "add"):
        return False
    if candidate.superseded and action != "update":
        return False
    if action == "reinforce":
        return True
    if candidate.type not in TYPES or candidate.kind not in KINDS:
        return False
    if candidate.kind and candidate.type != "project":
        return False
    return bool(candidate.description and candidate.body)


def _preview(value: object) -> str:
    """What a candidate that cannot be read seems to say, for the log."""
    fields: Mapping[str, object] = value if isinstance(value, dict) else {}
    for name in ("description", "body", "quote", "file"):
        text = fields.get(name)
        if isinstance(text, str) and text.strip():
            cut = " ".join(text.split())[:MAX_DESCRIPTION]
            return cut.encode("utf-8", "replace").decode("utf-8")
    return "a candidate that cannot be read"
