"""Heads by way of python-frontmatter: its YAML handler, made strict. Loaded only for a head that is
not plain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

MAX_DEPTH = 4


class RefusedHeadError(Exception):
    """The head is not safe or valid YAML; the message is a sentence for the reader."""


class HeadHandler(YAMLHandler):
    """Every scalar stays a string. Anchors, aliases, tags, depth and repeated keys are refused."""

    def load(self, fm: str, **options: object) -> dict[str, Any]:
        """The keys of a head. Raises RefusedHeadError."""
        # in C where there is one
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        try:
            _refuse_danger(yaml.parse(fm, Loader=loader))
            fields = super().load(fm, Loader=loader, **options)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            # Marks count from 0, and the opening fence is the first line of the file.
            where = f", line {mark.line + 2} of the file" if mark else ""
            problem = f"The head is not valid YAML ({error.problem or error.context}{where})."
            raise RefusedHeadError(problem) from error
        except (yaml.YAMLError, UnicodeError) as error:
            problem = "The head holds characters that YAML does not allow."
            raise RefusedHeadError(problem) from error
        if not isinstance(fields, dict | None):
            raise RefusedHeadError("The head is not made of `key: value` lines.")
        return fields or {}


def _refuse_danger(events: Iterator[Any]) -> None:
    """Refuse anchors, aliases, tags, deep nesting and duplicate keys before building values."""
    open_keys: list[set[str] | None] = []  # one per open collection; None for a sequence
    at_key: list[bool] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            open_keys.pop()
            at_key.pop()
        elif isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent, yaml.AliasEvent)):
            if event.anchor is not None:
                raise RefusedHeadError("The head uses YAML anchors or aliases.")
            if not isinstance(event, yaml.AliasEvent) and event.tag is not None:
                raise RefusedHeadError("The head uses YAML tags.")
            if open_keys and (keys := open_keys[-1]) is not None:
                if at_key[-1] and isinstance(event, yaml.ScalarEvent):
                    if event.value in keys:
                        twice = event.value[:40]
                        raise RefusedHeadError(f"The key `{twice}` stands twice in the head.")
                    keys.add(event.value)
                at_key[-1] = not at_key[-1]
            if isinstance(event, yaml.CollectionStartEvent):
                open_keys.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
                at_key.append(True)
        if len(open_keys) > MAX_DEPTH:
            raise RefusedHeadError(f"The head is nested deeper than {MAX_DEPTH} levels.")
