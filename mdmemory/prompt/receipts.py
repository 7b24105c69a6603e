"""Sentences for the assistant on what was replaced, and on what other hands did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mdmemory.session.cleaning import line

if TYPE_CHECKING:
    from mdmemory.store.adopt import Unadopted

_FACT = 160  # characters of a fact that a sentence repeats
_FILES, _NAME = 3, 60  # that a line names, and the characters of each


def replaced(pairs: Sequence[Mapping[str, str]], ids: Sequence[str]) -> list[str]:
    """The sentences for the assistant on notes that were replaced, and how to take that back."""
    texts = [
        f'"{line(pair["new"], _FACT)}" ({pair["by"]}) replaces '
        f'"{line(pair["text"], _FACT)}" ({pair["file"]}), which is superseded now.'
        for pair in pairs
    ]
    if texts:
        undo = " and ".join(f"`mdmemory undo {id}`" for id in ids)
        back = f": {undo}, or /memory-undo, takes it back" if ids else ""
        texts.append(f"Tell the user so in a few words{back}.")
    return texts


def by_hand(changes: Sequence[Unadopted], lost: Sequence[str]) -> str:
    """The line on what other hands did and no commit holds yet; "" for nothing. A file that waits
    for a person is counted, and not named: its name may be part of what it is to do."""
    parts = []
    if lost:
        parts.append(f"{len(lost)} notes are gone without a commit that removes them")
    free = [each.file for each in changes if not each.why and each.file not in lost]
    if free:
        names = ", ".join(line(file, _NAME) for file in free[:_FILES])
        more = f" and {len(free) - _FILES} more" if len(free) > _FILES else ""
        parts.append(f"changed by other hands and in no commit yet: {names}{more}")
    if waiting := sum(bool(each.why) for each in changes):
        parts.append(f"{waiting} held back until the user looks at it")
    return f"Notes of mdmemory, {'; '.join(parts)} (`mdmemory status`)." if parts else ""
