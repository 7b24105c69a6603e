"""A plan: what a planner wants done to the notes, as data, and its strict parser.

Whatever bytes come in, `parse` returns a Plan or raises PlanRefused: no guess, no repair. It knows
the shape of a plan only; what the shape does to the notes is judged in `guards`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, ValidationError

from mdmemory import bounds
from mdmemory.errors import MdmemoryError
from mdmemory.llm.json_answer import NotJson, strict

MAX_ANSWER = bounds.PLAN
MAX_FLAGGED = 20  # files of one flag
MAX_LINES = 10  # that one flag writes to the ledger, one a pair
_NAMED = 10  # files of one op that a line of the commit names
MAX_PASS_LINES = 50  # that all flags of one pass write; a person reads them
MAX_REASON = 500  # characters
MAX_REPORTED = 20  # refusals of one plan that are listed


_Text = Annotated[str, Meta(pattern=r"\S")]
_Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class _Op(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op"):
    """A change of notes. A field with a default may be absent."""


class Merge(_Op, frozen=True, tag="merge"):
    """Several notes become one: `target` is one of `sources`, or a file that is not there yet."""

    sources: Annotated[tuple[str, ...], Meta(min_length=2)]
    target: str
    name: str
    type: str
    description: str
    body: str
    reason: str = ""


class Delete(_Op, frozen=True, tag="delete"):
    """A whole note goes, for a reason."""

    file: str
    reason: _Text


class Rewrite(_Op, frozen=True, tag="rewrite"):
    """A note gets another body and, unless it is None, another description."""

    file: str
    body: str
    description: str | None = None
    reason: str = ""


class Flag(_Op, frozen=True, tag="flag"):
    """Notes that contradict each other: shown to a person, never changed."""

    files: Annotated[tuple[str, ...], Meta(min_length=2, max_length=MAX_FLAGGED)]
    reason: _Text


class _PlanFile(Struct, forbid_unknown_fields=True):
    """A plan as JSON: each of its ops is looked at by itself."""

    ops: list[Any]
    digests: dict[str, _Digest] = {}


Op = Merge | Delete | Rewrite | Flag
WORDS: dict[str, type[Op]] = {"merge": Merge, "delete": Delete, "rewrite": Rewrite, "flag": Flag}


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
    """An answer that is no plan. `refusals` lists why: (code, sentence), never empty."""

    code = "unparsable"

    def __init__(self, code: str, *messages: str) -> None:
        self.refusals = tuple((code, message) for message in messages[:MAX_REPORTED])
        hint = "Nothing was changed; ask the planner for a new plan."
        super().__init__(messages[0], hint, code)


def named(op: Op) -> tuple[str, ...]:
    """The files that an op names, in its order; one named twice stands here twice."""
    match op:
        case Merge():
            return op.sources if op.target in op.sources else (*op.sources, op.target)
        case Flag():
            return op.files
        case _:
            return (op.file,)


def sources_of(op: Op) -> tuple[str, ...]:
    """The files that an op takes, which are there."""
    return op.sources if isinstance(op, Merge) else named(op)


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
    values: dict[str, Any] = msgspec.to_builtins(op)
    return {key: list(each) if isinstance(each, tuple) else each for key, each in values.items()}


def ops_of(values: Sequence[Any]) -> tuple[tuple[Op, ...], tuple[str, ...]]:
    """The ops that JSON values are, in their order, and of those that are none what is wrong with
    each."""
    ops: list[Op] = []
    flaws: list[str] = []
    for number, raw in enumerate(values, 1):
        try:
            if isinstance(raw, dict) and None in raw.values():
                raise ValidationError("Expected `str`, got `null`")
            op = msgspec.convert(raw, Op)
        except ValidationError as problem:
            flaws.append(f"Op {number}: {_sentence_of(problem)}")
        else:
            ops.append(msgspec.structs.replace(op, reason=one_line(op.reason)))
    return tuple(ops), tuple(flaws)


def fields_of(word: str) -> tuple[Collection[str], Collection[str]]:
    """The fields that an op must have, and all that it may have; none for an op that is unknown."""
    fields = msgspec.structs.fields(WORDS[word]) if word in WORDS else ()
    return [each.name for each in fields if each.required], [each.name for each in fields]


def render(ops: Iterable[Op], digests: Mapping[str, str]) -> str:
    """The JSON text of a plan; `parse` reads it back."""
    plan = {"ops": [as_json(op) for op in ops], "digests": dict(digests)}
    return json.dumps(plan, ensure_ascii=False)


def parse(answer: str | bytes) -> Plan:
    """The plan in an answer: one JSON object, in an optional code fence. Raises PlanRefused.

    An op of the wrong shape is left out, unless all are.
    """
    if len(answer) > MAX_ANSWER:
        raise _unparsable(f"The answer is longer than {MAX_ANSWER} bytes.")
    try:
        # both ways: a str may hold lone surrogates, which no file can hold
        data = answer.encode() if isinstance(answer, str) else answer
        text = data.decode().strip(" \t\r\n")
    except UnicodeError:
        raise _unparsable("The answer is not UTF-8 text.") from None
    if len(data) > MAX_ANSWER:
        raise _unparsable(f"The answer is longer than {MAX_ANSWER} bytes.")
    head, _, rest = text.partition("\n")
    is_fenced = rest.endswith("\n```") and head.strip().lower() in ("```", "```json")
    value = _json(rest.removesuffix("```") if is_fenced else text)
    try:
        plan = msgspec.convert(value, _PlanFile)
    except ValidationError as problem:
        raise _unparsable(f"This is no plan: {_sentence_of(problem)}", "schema") from None
    ops, flawed = ops_of(plan.ops)
    if flawed and not ops:
        raise PlanRefused("schema", *flawed)
    return Plan(ops, MappingProxyType(plan.digests), flawed)


def _json(text: str) -> Any:
    try:
        # no field is a number; int() would refuse 4,301 digits with an error of its own
        value = strict(text, number=float)
    except NotJson as problem:
        if problem.key is not None:
            message = f"A JSON object has the key {_show_key(problem.key)} twice."
            raise PlanRefused("duplicate_key", message) from None
        raise _unparsable(f"The answer {problem.why}.") from None
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise _unparsable("The answer holds a lone surrogate, which no file can hold.") from None
    except RecursionError:
        raise _unparsable("The answer is nested too deep.") from None
    return value


# --- words

_KINDS = {"str": "a text", "array": "a list", "object": "an object"}


def _sentence_of(problem: ValidationError) -> str:
    """What is wrong with a value, without what it holds: that may be a secret."""
    words, _, place = str(problem).partition(" - at `$")
    where = place.rstrip("`").lstrip(".")
    if match := re.fullmatch(r"Object (?:contains|missing) (unknown|required) field `(.*)`", words):
        has = "has no field" if match[1] == "unknown" else "needs the field"
        return f"it {has} {_show_key(match[2])}."
    if where == "op":
        return f"its `op` is none of {', '.join(WORDS)}."
    subject = f"`{where}`" if re.fullmatch(r"[a-z]{1,24}(?:\[(?:\d+|\.{3})\])?", where) else "it"
    if "matching regex" in words:
        return f"{subject} is blank, or has another form than it should."
    wanted = re.match(r"Expected `(\w+)`(?: of length ([<>])= (\d+))?", words)
    kind = _KINDS.get(wanted[1], "something else") if wanted else "something else"
    least = {"<": "at most", ">": "at least"}.get((wanted and wanted[2]) or "")
    return f"{subject} has to be {kind}{f' of {least} {wanted[3]}' if wanted and least else ''}."


def _show_key(key: str) -> str:
    """A key of the answer, unless it looks unlike a field: then it may be a secret."""
    return f"`{key}`" if re.fullmatch(r"[a-z_]{1,24}(?:\.md)?", key) else "of another name"


def _unparsable(message: str, code: str = "unparsable") -> PlanRefused:
    return PlanRefused(code, f'{message} Give `{{"ops": [...]}}`.')


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
