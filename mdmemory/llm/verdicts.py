"""A model's verdicts on numbered things: asked once more where an answer cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Asking, ContextExceeded, Schema, once_more
from mdmemory.llm.json_answer import BadAnswer, read_list

_Verdict = TypeVar("_Verdict")
_Thing = TypeVar("_Thing")


@dataclass
class Spent:
    """What questions cost; `failure` says why there are fewer verdicts than things asked about."""

    input: int = 0
    output: int = 0
    calls: int = 0
    failure: MdmemoryError | None = None


def ask(
    asking: Asking, question: str, schema: Schema, fields: Collection[str], spent: Spent
) -> Sequence[object]:
    """The objects of the answer. Raises BadAnswer where neither of two can be read, and what asking
    raises."""
    for text in (question, once_more(question, schema)):
        answer = asking.model.complete(asking.system, text, schema)
        spent.calls += 1
        spent.input += answer.input_tokens
        spent.output += answer.output_tokens
        try:
            return read_list(answer.text, "verdicts", fields=fields, mark="verdict").objects
        except BadAnswer as problem:
            bad = problem
    raise bad


def ask_in_parts(
    parts: Iterable[Sequence[_Thing]], ask_about: Callable[[Sequence[_Thing]], None], spent: Spent
) -> None:
    """Ask about each part; where one is too long, or its answer cannot be read, about its halves,
    down to one thing. The first failure that is left is told in `spent`."""
    left = [*parts]
    while left:
        part = left.pop(0)
        try:
            ask_about(part)
        except (BadAnswer, ContextExceeded) as problem:
            parts = halves(part)
            left = [*parts, *left]
            spent.failure = spent.failure or (None if parts else problem)
        except MdmemoryError as problem:
            spent.failure = problem
            return


def halves(part: Sequence[_Thing]) -> list[Sequence[_Thing]]:
    """What a question was about in two parts; none of what cannot be parted."""
    middle = len(part) // 2
    return [part[:middle], part[middle:]] if middle else []


def by_place(
    objects: Sequence[object], places: Sequence[int],
    read: Callable[[str, Mapping[str, Any]], _Verdict | None],
) -> dict[int, _Verdict]:  # fmt: skip
    """The verdicts on these places, counted from 0 where the answer's numbers are from 1; what
    `read` makes nothing of is left out, and of two on one number neither counts."""
    rows: dict[int, _Verdict] = {}
    twice = set()
    for each in (row for row in objects if isinstance(row, dict)):
        word, number = each.get("verdict"), str(each.get("number", "")).strip()
        at = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if at not in places or not isinstance(word, str):
            continue
        if at in rows:
            twice.add(at)
        if (verdict := read(word.strip().casefold(), each)) is not None:
            rows[at] = verdict
    return {at: verdict for at, verdict in rows.items() if at not in twice}
