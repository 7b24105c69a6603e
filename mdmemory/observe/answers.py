"""A model's answer about observations, read strictly: one JSON object, or none of it counts."""

from __future__ import annotations

import json
import re
from typing import Any

from mdmemory import bounds
from mdmemory.errors import MdmemoryError

MAX_ANSWER = bounds.OBSERVATION
_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)


class BadObservation(MdmemoryError):
    """The answer is not what was asked for; nothing of it was kept."""

    code = "bad_answer"


def read(answer: str) -> dict[str, Any]:
    """The object in an answer, with nothing around it but a code fence. Raises BadObservation."""
    if len(answer) > MAX_ANSWER:
        raise bad(f"has more than {MAX_ANSWER} characters")
    text = answer.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        found = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as problem:
        raise bad("is not JSON, or was cut off") from problem
    if not isinstance(found, dict):
        raise bad("is no object")
    return found


def bad(why: str) -> BadObservation:
    """The error that says what is wrong with an answer."""
    return BadObservation(
        f"The model's answer {why}; none of it was kept.",
        "It is asked again later. If it happens again, choose another model: extract.model in "
        "your settings.",
    )


def text(value: object) -> str:
    """A text that can be written as UTF-8, "" for anything else."""
    return value.encode("utf-8", "ignore").decode("utf-8") if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The texts of a list."""
    return [found for each in value if (found := text(each))] if isinstance(value, list) else []
