"""What a model gave a tool, held against the tool's own schema (of JSON Schema, what we use)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mdmemory.errors import UsageError

_NAMES = {"string": "a text", "integer": "a whole number", "boolean": "true or false"}


def schema(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }


def text(description: str, *, among: tuple[str, ...] = (), default: str = "") -> dict[str, Any]:
    """A text; `among` are the only ones that it may be."""
    found: dict[str, Any] = {"type": "string", "description": description}
    found |= {"enum": [*among]} if among else {}
    return found | ({"default": default} if default else {})


def whole(description: str, *, least: int, most: int, default: int) -> dict[str, Any]:
    """A whole number within bounds."""
    return {
        "type": "integer", "description": description, "minimum": least, "maximum": most,
        "default": default,
    }  # fmt: skip


def checked(tool: str, wanted: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with defaults filled in; an absent one without a default is left out.

    A `null` counts as absent: hosts send it for what a model left open. Raises UsageError.
    """
    properties: Mapping[str, Mapping[str, Any]] = wanted["properties"]
    found = {name: value for name, value in given.items() if value is not None}
    for name in found:
        if name not in properties:
            raise UsageError(
                f"{tool} has no argument {name[:40]!r}.", f"It has: {', '.join(properties)}."
            )
    for name in wanted["required"]:
        if name not in found:
            raise UsageError(f"{tool} needs the argument {name!r}.", _hint(name, properties[name]))
    defaults = {name: of["default"] for name, of in properties.items() if "default" in of}
    return defaults | {name: _value(tool, name, properties[name], found[name]) for name in found}


def _value(tool: str, name: str, of: Mapping[str, Any], value: Any) -> Any:
    if of["type"] == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON knows no difference
    if not _is(of["type"], value):
        raise UsageError(f"{tool}: {name!r} is not {_NAMES[of['type']]}.", _hint(name, of))
    if "enum" in of and value not in of["enum"]:
        raise UsageError(f"{tool}: {name!r} cannot be {value[:40]!r}.", _hint(name, of))
    if of["type"] == "integer" and not of["minimum"] <= value <= of["maximum"]:
        raise UsageError(f"{tool}: {name!r} cannot be {value}.", _hint(name, of))
    if of["type"] == "string" and not _is_writable(value):
        raise UsageError(f"{tool}: {name!r} is not valid text.", "Send it as UTF-8.")
    return value


def _is(type: str, value: Any) -> bool:
    if type == "string":
        return isinstance(value, str)
    if type == "boolean":
        return isinstance(value, bool)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_writable(value: str) -> bool:
    """Whether it can be written as UTF-8 (JSON may carry half a surrogate pair)."""
    return "\x00" not in value and not any("\ud800" <= char <= "\udfff" for char in value)


def _hint(name: str, of: Mapping[str, Any]) -> str:
    if "enum" in of:
        return f"Use one of: {', '.join(of['enum'])}."
    if of["type"] == "integer":
        return f"Use a whole number from {of['minimum']} to {of['maximum']}."
    return f"{name}: {of['description']}"
