"""Core blocks: what a session is about, in the assistant's own words, across compactions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mdmemory.errors import UsageError
from mdmemory.session.wording import clean, cut, visible

# Each block with its characters at most, in the order in which they are shown.
BLOCKS = {"goal": 1_000, "progress": 2_000, "context": 1_500}
MODES = ("replace", "append")
_NAMED = 60  # characters of what was cut off, that the warning repeats


@dataclass(frozen=True, slots=True)
class Updated:
    """The blocks afterwards; `warning` names what was cut off, "" when all of it fits."""

    blocks: dict[str, str]
    warning: str


def blocks_of(document: Mapping[str, object] | None) -> dict[str, str]:
    """The blocks in a document, those without text left out."""
    found = document or {}
    return {name: str(found[name]) for name in BLOCKS if found.get(name)}


def update(blocks: Mapping[str, str], name: str, content: str, mode: str = "replace") -> Updated:
    """Put `content` in place of a block, or (append) on a line below what it holds.

    What is too long loses its end. Raises UsageError for a block or mode that there is not.
    """
    if name not in BLOCKS or mode not in MODES:
        raise UsageError(
            f"There is no block {name[:40]!r}, or no way {mode[:40]!r} to change it.",
            f"Blocks: {', '.join(BLOCKS)}; ways: {', '.join(MODES)}.",
        )
    text = clean(visible(content)).strip()
    if mode == "append" and blocks.get(name):
        text = f"{blocks[name]}\n{text}" if text else blocks[name]
    kept = text[: BLOCKS[name]].rstrip()
    others = {each: old for each, old in blocks.items() if each != name}
    return Updated(others | ({name: kept} if kept else {}), _warning(name, text[len(kept) :]))


def _warning(name: str, lost: str) -> str:
    if not lost.strip():
        return ""
    return (
        f"{name} holds {BLOCKS[name]} characters: the last {len(lost.strip())} were cut off, from "
        f"{cut(' '.join(lost.split()), _NAMED)!r} on. Shorten the block and replace it."
    )


def render(blocks: Mapping[str, str]) -> str:
    """The blocks as they stand in the prompt, "" when all are empty."""
    found = [
        f'<{name} chars="{len(blocks[name])}/{most}">\n{blocks[name]}\n</{name}>'
        for name, most in BLOCKS.items()
        if blocks.get(name)
    ]
    return "\n".join(["<core_memory>", *found, "</core_memory>"]) if found else ""
