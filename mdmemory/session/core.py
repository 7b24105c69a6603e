"""Core blocks: the assistant's own words about a session, which survive compactions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mdmemory.errors import UsageError
from mdmemory.session.cleaning import clean, cut, visible

# The most characters of each block, in the order of the prompt.
BLOCKS = {"goal": 1_000, "progress": 2_000, "context": 1_500}
MODES = ("replace", "append")
_NAMED = 60  # characters that the warning repeats of a lost end


@dataclass(frozen=True, slots=True)
class CoreUpdate:
    """The blocks after a change; `warning` quotes a lost end, "" when the text fits."""

    blocks: dict[str, str]
    warning: str


def blocks_of(document: Mapping[str, object] | None) -> dict[str, str]:
    """The blocks with text in a document."""
    return {name: str(document[name]) for name in BLOCKS if document and document.get(name)}


def update(blocks: Mapping[str, str], name: str, content: str, mode: str = "replace") -> CoreUpdate:
    """Replace a block by `content`, or (append) add it as a line; a text too long loses its end.

    Raises UsageError for an unknown block or mode.
    """
    if name not in BLOCKS or mode not in MODES:
        raise UsageError(
            f"There is no block {name[:40]!r}, or no way {mode[:40]!r} to change it.",
            f"Blocks: {', '.join(BLOCKS)}; ways: {', '.join(MODES)}.",
        )
    text = clean(visible(content)).strip()
    if mode == "append" and blocks.get(name):
        text = f"{blocks[name]}\n{text}" if text else blocks[name]
    block = text[: BLOCKS[name]].rstrip()
    lost = text[len(block) :].strip()
    warning = (
        f"{name} holds {BLOCKS[name]} characters: the last {len(lost)} were cut off, from "
        f"{cut(' '.join(lost.split()), _NAMED)!r} on. Shorten the block and replace it."
    )
    others = {other: old for other, old in blocks.items() if other != name}
    return CoreUpdate(others | ({name: block} if block else {}), warning if lost else "")


def render(blocks: Mapping[str, str]) -> str:
    """The blocks as text for the prompt, "" when all are empty."""
    shown = [
        f'<{name} chars="{len(blocks[name])}/{most}">\n{blocks[name]}\n</{name}>'
        for name, most in BLOCKS.items()
        if blocks.get(name)
    ]
    return "\n".join(["<core_memory>", *shown, "</core_memory>"]) if shown else ""
