"""The event in a hook's request, as text that can be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mdmemory.errors import UsageError


def event(params: Mapping[str, Any]) -> dict[str, Any]:
    """The event of a hook. Half a surrogate pair, which JSON may carry, stands for no character and
    cannot be written. Raises UsageError where there is none, or an empty one."""
    found = params.get("event")
    if not isinstance(found, dict) or not found:
        raise UsageError("The event of the hook is no JSON object.")
    return {_whole(key): _whole(value) for key, value in found.items()}


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
