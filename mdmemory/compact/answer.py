"""A model's answer as a plan. Strict, except for fields that were left blank.

Endpoints that hold a model to a schema make it give every field: an empty one does not apply.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from typing import Any

from mdmemory.compact.plan import MAX_ANSWER, Delete, Flag, Merge, Plan, Rewrite, parse

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n```", re.DOTALL | re.IGNORECASE)
_REQUIRED = {
    kind.__name__.lower(): {each.name for each in fields(kind) if each.default is MISSING}
    for kind in (Merge, Delete, Rewrite, Flag)
}


def read(text: str) -> Plan:
    """The plan in an answer. Raises PlanRefused.

    It has no digests: whoever asked knows which notes it showed, and a model's word counts nothing.
    """
    found = parse(_without_blanks(text))
    return Plan(found.ops, flawed=found.flawed)


def _without_blanks(text: str) -> str:
    """The answer without blank fields; as it came where it is not plainly a plan, for `parse` to
    say what is wrong with it."""
    if len(text) > MAX_ANSWER:
        return text
    stripped = text.strip(" \t\r\n")
    fenced = _FENCED.fullmatch(stripped)
    try:
        value = json.loads(fenced[1] if fenced else stripped, object_pairs_hook=_once)
        if not isinstance(value, dict) or not isinstance(value.get("ops"), list):
            return text
        return json.dumps(value | {"ops": [_applying(op) for op in value["ops"]]})
    except (ValueError, RecursionError):
        return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _applying(op: Any) -> Any:
    word = op.get("op") if isinstance(op, dict) else None
    if not isinstance(word, str):
        return op
    required = _REQUIRED.get(word, set())
    return {key: value for key, value in op.items() if value not in ("", []) or key in required}
