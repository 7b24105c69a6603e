"""The JSON that `mdmemory export` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mdmemory.capture.imports.incoming import Incoming, day, text, word
from mdmemory.capture.imports.markdown import SOURCES
from mdmemory.note.limits import ALIASES

_PLAIN = ("source", "importance", "session", "turn", "status")
_DAYS = ("created", "updated", "last_reinforced")


def is_ours(value: object) -> bool:
    """Whether a JSON value is a list of exported notes."""
    return isinstance(value, list) and bool(value) and all(
        isinstance(each, Mapping) and {"file", "body", "type", "description"} <= set(each)
        for each in value
    )  # fmt: skip


def facts_of(value: Sequence[Mapping[str, Any]]) -> Iterator[Incoming]:
    """The notes, with what their heads tell."""
    for each in value:
        head = each.get("head")
        top = head if isinstance(head, Mapping) else {}
        metadata, aliases = top.get("metadata"), top.get(ALIASES)
        about = metadata if isinstance(metadata, Mapping) else {}
        plain = {key: word(about.get(key)) for key in _PLAIN}
        if plain["source"] not in SOURCES:
            plain["source"] = "manual"
        count = word(about.get("reinforced"))
        yield Incoming(
            text(each["body"]), word(each["file"]),
            name=word(each.get("name")), description=word(each["description"]),
            type=word(each["type"]), kind=word(each.get("kind")),
            aliases=tuple(filter(None, map(word, aliases if isinstance(aliases, list) else ()))),
            reinforced=int(count) if count.isdecimal() and len(count) < 4 else 0,
            **plain, **{key: day(about.get(key)) for key in _DAYS},
        )  # fmt: skip
