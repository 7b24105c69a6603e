"""Events made short by a model: one question for a batch, an answer that is held to the events."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from mdmemory import assets, bounds
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Model
from mdmemory.llm.schemas import OBSERVATIONS
from mdmemory.observe.event import Event, by_its_metadata
from mdmemory.observe.observation import TYPES, USUAL, Draft, drafted

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


def compressed(events: Sequence[Event], model: Model) -> dict[int, Draft]:
    """What the model made of each event, by the event's id; what showed nothing new is left out.

    Raises ModelFailed, and BadObservation for an answer that cannot be read.
    """
    system = assets.read("protocol/compress.md")
    return parse(model.complete(system, question(events), OBSERVATIONS).text, events)


def question(events: Sequence[Event]) -> str:
    """What the model is shown; the events are clean of secrets and private text."""
    shown = [
        {
            "number": str(number), "tool": event.tool, "input": json.loads(event.input),
            "output": event.output, "files": [*event.files],
        }
        for number, event in enumerate(events, 1)
    ]  # fmt: skip
    return json.dumps({"events": shown}, ensure_ascii=False)


def parse(answer: str, events: Sequence[Event]) -> dict[int, Draft]:
    """The drafts in an answer. One that cannot be read gives way to its event's metadata, a second
    for the same event is dropped. Raises BadObservation where there is no list of them."""
    listed = read(answer).get("observations")
    if not isinstance(listed, list):
        raise bad("holds no list of observations")
    found: dict[int, Draft] = {}
    for value in listed:
        event = _event(value, events)
        if event is not None and event.id not in found:
            found[event.id] = _draft(value, event)
    if listed and not found:
        raise bad("speaks of events that there are not")
    return found


def _event(value: object, events: Sequence[Event]) -> Event | None:
    number = value.get("number") if isinstance(value, dict) else None
    at = str(number)
    known = at.isascii() and at.isdecimal() and len(at) < 4 and 1 <= int(at) <= len(events)
    return events[int(at) - 1] if known else None


def _draft(value: dict[str, object], event: Event) -> Draft:
    title = text(value.get("title")).strip()
    if value.get("type") not in TYPES or not title:
        return by_its_metadata(event)
    importance = str(value.get("importance"))
    whole = "\n".join((event.input, event.output))
    return drafted(
        str(value["type"]), title, text(value.get("narrative")),
        texts(value.get("facts")), texts(value.get("concepts")),
        # a path that the event does not name is a guess
        [f for f in texts(value.get("files")) if f in event.files or f in whole],
        int(importance) if importance in ("1", "2", "3", "4", "5") else USUAL,
    )  # fmt: skip
