"""A plan: what a planner wants done to the notes, as data, and its strict parser.

Whatever bytes come in, `parse` returns a Plan or raises PlanRefused: no guess, no repair. It knows
the shape of a plan only; what the shape does to the notes is judged in `guards`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from types import MappingProxyType
from typing import Any

from mdmemory import bounds
from mdmemory.errors import MdmemoryError
from mdmemory.expressions import lazy
from mdmemory.records import dataclass, field

MAX_ANSWER = bounds.PLAN
MAX_DEPTH = 8  # a plan needs 4
MAX_FLAGGED = 20  # files of one flag
MAX_LINES = 10  # that one flag writes to the ledger, one a pair
_NAMED = 10  # files of one op that a line of the commit names
MAX_PASS_LINES = 50  # that all flags of one pass write; a person reads them
MAX_REASON = 500  # characters
MAX_REPORTED = 20  # refusals of one plan that are listed


@dataclass(frozen=True, slots=True)
class Merge:
    """Several notes become one: `target` is one of `sources`, or a file that is not there yet."""

    sources: tuple[str, ...]
    target: str
    name: str
    type: str
    description: str
    body: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """A whole note goes, for a reason."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A note gets another body and, unless it is None, another description."""

    file: str
    body: str
    description: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """Notes that contradict each other: shown to a person, never changed."""

    files: tuple[str, ...]
    reason: str


Op = Merge | Delete | Rewrite | Flag


@dataclass(frozen=True, slots=True)
class Plan:
    """Ops in their order, and the digests (sha256) of the files as the planner saw them.

    `flawed` says of ops that are none what is wrong with each; they were left out. Of a model's
    answer `lost` counts the ops that did not stand in it whole, of `count` in all.
    """

    ops: tuple[Op, ...]
    digests: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    flawed: tuple[str, ...] = ()
    lost: int = 0
    count: int = 0


class PlanRefused(MdmemoryError):
    """An answer that is no plan. `refusals` lists why: `{"code", "message"}`, never empty."""

    code = "unparsable"

    def __init__(self, refusals: Sequence[Mapping[str, str]]) -> None:
        self.refusals = [dict(refusal) for refusal in refusals]
        first = self.refusals[0]
        hint = "Nothing was changed; ask the planner for a new plan."
        super().__init__(first["message"], hint, first["code"])


def named(op: Op) -> tuple[str, ...]:
    """The files that an op names, in its order; one named twice stands here twice."""
    match op:
        case Merge():
            return op.sources if op.target in op.sources else (*op.sources, op.target)
        case Flag():
            return op.files
        case _:
            return (op.file,)


def flagged_pairs(files: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs that a flag of these files writes down: each with each as far as the lines reach,
    and where they do not, every file in one pair at least."""
    pairs = list(combinations(files, 2))
    if len(pairs) > MAX_LINES:
        side_by_side = list(zip(files[::2], files[1::2], strict=False))
        if len(files) % 2:
            side_by_side.append((files[-2], files[-1]))
        pairs = list(dict.fromkeys([*side_by_side, *pairs]))[:MAX_LINES]
    return pairs


def shown(file: str) -> str:
    """A file name as it may stand in a message, whatever it is."""
    return file if file.isprintable() and 0 < len(file) <= 120 else ascii(file[:60])


def one_line(reason: str) -> str:
    """Folded, for it stands in commit messages, where a line could pass for a trailer."""
    printable = "".join(char if char.isprintable() else " " for char in reason)
    folded = " ".join(printable.split())
    return folded if len(folded) <= MAX_REASON else folded[: MAX_REASON - 1] + "…"


def as_json(op: Op) -> dict[str, Any]:
    """The op as it stands in a plan; optional fields that are empty are absent."""
    kind = _KINDS[type(op)]
    values = {key: getattr(op, key) for key in kind.fields}
    shown = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if key in kind.required or value not in (None, "")
    }
    return {"op": kind.word, **shown}


def ops_of(values: Sequence[Any]) -> tuple[tuple[Op, ...], tuple[str, ...]]:
    """The ops that JSON values are, in their order, and of those that are none what is wrong with
    each."""
    flaws = [[*_flaws(number, raw)] for number, raw in enumerate(values, 1)]
    ops = tuple(_op(raw) for raw, wrong in zip(values, flaws, strict=True) if not wrong)
    return ops, tuple(wrong[0] for wrong in flaws if wrong)


def fields_of(word: str) -> tuple[Collection[str], Collection[str]]:
    """The fields that an op must have, and all that it may have; none for an op that is unknown."""
    kind = _WORDS.get(word)
    return (kind.required, kind.fields) if kind else ((), ())


def render(ops: Iterable[Op], digests: Mapping[str, str]) -> str:
    """The JSON text of a plan; `parse` reads it back."""
    plan = {"ops": [as_json(op) for op in ops], "digests": dict(digests)}
    return json.dumps(plan, ensure_ascii=False)


def parse(answer: str | bytes) -> Plan:
    """The plan in an answer: one JSON object, in an optional code fence. Raises PlanRefused.

    An op of the wrong shape is left out, unless all are.
    """
    value = _json(_unfenced(_text(answer)))
    problems = list(islice(_problems(value), MAX_REPORTED))
    if not problems:
        ops, flawed = ops_of(value["ops"])
        if ops or not flawed:
            return Plan(ops, MappingProxyType(dict(value.get("digests", {}))), flawed)
        each = (
            wrong for number, raw in enumerate(value["ops"], 1) for wrong in _flaws(number, raw)
        )
        problems = list(islice(each, MAX_REPORTED))
    raise PlanRefused([_refusal("schema", message) for message in problems])


# --- from bytes to JSON values


def _text(answer: str | bytes) -> str:
    if len(answer) > MAX_ANSWER:
        raise _unparsable(f"The answer is longer than {MAX_ANSWER} bytes.")
    try:
        # both ways: a str may hold lone surrogates, which no file can hold
        data = answer.encode() if isinstance(answer, str) else answer
        text = data.decode()
    except UnicodeError:
        raise _unparsable("The answer is not UTF-8 text.") from None
    if len(data) > MAX_ANSWER:
        raise _unparsable(f"The answer is longer than {MAX_ANSWER} bytes.")
    return text


def _unfenced(text: str) -> str:
    text = text.strip(" \t\r\n")
    head, _, rest = text.partition("\n")
    if rest.endswith("\n```") and head.strip().lower() in ("```", "```json"):
        return rest.removesuffix("```")
    return text


def _json(text: str) -> Any:
    if _depth(text) > MAX_DEPTH:
        raise _unparsable(f"The answer is nested more than {MAX_DEPTH} deep.")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            # No field is a number; int() would refuse 4,301 digits with an error of its own.
            parse_int=float,
        )
    except ValueError as problem:
        where = f" at line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
        raise _unparsable(f"The answer is not one JSON object{where}.") from None
    if not _sound(value):
        raise _unparsable("The answer holds a lone surrogate, which no file can hold.")
    return value


# Possessive: an unclosed string must not make this quadratic.
_NESTING = lazy(r'"(?:[^"\\]++|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def _depth(text: str) -> int:
    """How deep brackets nest, counted without recursion: json.loads has a stack to overflow."""
    deepest = depth = 0
    for token in _NESTING.finditer(text):
        step = token.group()
        if step in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif step in ("]", "}"):
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            message = f"A JSON object has the key {_shown(key)} twice."
            raise PlanRefused([_refusal("duplicate_key", message)])
        found[key] = value
    return found


def _constant(word: str) -> float:
    raise _unparsable(f"The answer holds {word}, which is not JSON.")


def _sound(value: Any) -> bool:
    if isinstance(value, str):
        return not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, dict):
        return all(_sound(key) and _sound(item) for key, item in value.items())
    return not isinstance(value, list) or all(map(_sound, value))


# --- from JSON values to ops


@dataclass(frozen=True, slots=True)
class _Kind:
    word: str
    make: type[Op]
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return self.required + self.optional


_TABLE = (
    _Kind(
        "merge", Merge, ("sources", "target", "name", "type", "description", "body"), ("reason",)
    ),
    _Kind("delete", Delete, ("file", "reason")),
    _Kind("rewrite", Rewrite, ("file", "body"), ("description", "reason")),
    _Kind("flag", Flag, ("files", "reason")),
)
_WORDS = {kind.word: kind for kind in _TABLE}
_KINDS: dict[type[Op], _Kind] = {kind.make: kind for kind in _TABLE}
_LISTS = {"sources": 1_000_000, "files": MAX_FLAGGED}  # each at least two
_DIGEST = lazy(r"[0-9a-f]{64}")


def _problems(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "A plan is one JSON object."
        return
    for key in value:
        if key not in ("ops", "digests"):
            yield f"A plan has no field {_shown(key)}."
    if not isinstance(value.get("ops"), list):
        yield "A plan has a list `ops`."
        return
    yield from _digest_problems(value.get("digests", {}))


def _flaws(number: int, raw: Any) -> Iterator[str]:
    return (f"Op {number}: {problem}" for problem in _op_problems(raw))


def _op_problems(raw: Any) -> Iterator[str]:
    if not isinstance(raw, dict):
        yield "an op is a JSON object."
        return
    word = raw.get("op")
    kind = _WORDS.get(word) if isinstance(word, str) else None
    if kind is None:
        yield f"its `op` is none of {', '.join(_WORDS)}."
        return
    for key in raw:
        if key not in ("op", *kind.fields):
            yield f"a {kind.word} has no field {_shown(key)}."
    for key in kind.required:
        if key not in raw:
            yield f"a {kind.word} needs the field `{key}`."
    for key in kind.fields:
        if key in raw:
            yield from _value_problems(kind, key, raw[key])


def _value_problems(kind: _Kind, key: str, value: Any) -> Iterator[str]:
    if key in _LISTS:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            yield f"`{key}` is a list of file names."
        elif not 2 <= len(value) <= _LISTS[key]:
            yield f"`{key}` names at least two files{' and at most 20' if key == 'files' else ''}."
    elif not isinstance(value, str):
        yield f"`{key}` is a string."
    elif key == "reason" and key in kind.required and not value.strip():
        yield f"a {kind.word} gives its reason."


def _digest_problems(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "`digests` is an object from file names to sha256 digests."
    elif not all(isinstance(item, str) and _DIGEST.fullmatch(item) for item in value.values()):
        yield "A digest is 64 hex digits in lower case."


def _op(raw: Mapping[str, Any]) -> Op:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in raw.items()
        if key != "op"
    }
    if "reason" in values:
        values["reason"] = one_line(values["reason"])
    return _WORDS[raw["op"]].make(**values)


# --- words


def _shown(key: str) -> str:
    """A key of the answer, unless it looks unlike a field: then it may be a secret."""
    return f"`{key}`" if re.fullmatch(r"[a-z_]{1,24}(?:\.md)?", key) else "of another name"


def _refusal(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


def _unparsable(message: str) -> PlanRefused:
    return PlanRefused([_refusal("unparsable", message)])


def describe(op: Op) -> str:
    """One line on an op, as it stands in the commit message."""
    match op:
        case Merge():
            text = f"merge {_listed(op.sources, ' + ')} -> {shown(op.target)}"
        case Delete():
            text = f"delete {shown(op.file)}"
        case Rewrite():
            text = f"rewrite {shown(op.file)}"
        case Flag():
            text = f"flag {_listed(op.files, ' × ')}"
    reason = one_line(op.reason)
    return f"{text}: {reason}" if reason else text


def _listed(files: Sequence[str], sign: str) -> str:
    more = [f"{len(files) - _NAMED} more"] if len(files) > _NAMED else []
    return sign.join([*map(shown, files[:_NAMED]), *more])
