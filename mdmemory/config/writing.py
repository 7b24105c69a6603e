"""Changing one setting in a settings file: comments, order and all other bytes stay."""

from __future__ import annotations

from pathlib import Path

from mdmemory.errors import BadSetting
from mdmemory.toml_text import TomlError, read_toml, set_value, write_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def change_setting(text: str, name: str, value: Any, file: Path) -> str:
    """The text of the settings `file` with the setting `name` at `value`; None takes it out.

    Raises BadSetting if the text is not TOML, or if no edit changes this setting alone.
    """
    try:
        read_toml(text)
    except TomlError as problem:
        raise BadSetting(f"{file} is not valid: {problem}.", "Correct it first.") from problem
    try:
        return set_value(text, name.split("."), value)
    except TomlError as problem:
        line = f"no line for {name}" if value is None else f"`{name} = {write_value(value)}`"
        raise BadSetting(
            f"{file} could not be changed without changing other settings.",
            f"Edit it by hand, so that it has {line}.",
        ) from problem
