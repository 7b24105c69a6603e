"""The text files that ship with the package: protocol/ and templates/.

A wheel carries them inside the package; a checkout has them beside it.
"""

from __future__ import annotations

from pathlib import Path

SKILL = "templates/claude/plugin/skills/mdmemory/SKILL.md"  # the one text for every client
_PACKAGE = Path(__file__).parent


def asset_path(name: str) -> Path:
    """Where the asset `name` lies, such as "protocol/PROTOCOL.md" or "templates/demo"."""
    shipped = _PACKAGE / "shipped" / name
    return shipped if shipped.exists() else _PACKAGE.parent / name


def read(name: str) -> str:
    """The text of the asset `name`."""
    return asset_path(name).read_text(encoding="utf-8")
