"""The blocks that a prompt holds besides MEMORY.md, as text under budgets. Pure.

The same entries under the same budget give the same bytes: no clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mdmemory.session.cleaning import clean
from mdmemory.transcripts.injected import MEMORY_TAGS

COMPACTION_BUDGET = 2_000  # tokens of observations that a summary is told
OPEN, CLOSE = "<recalled_memory>", "</recalled_memory>"
_KEPT = (
    "What the session keeps at hand besides the summary. It stays in the prompt by itself, so that "
    "the summary need not repeat it:"
)
# Any of these tags in a note would open or close a block for whoever reads the session later.
_TAGS = re.compile(rf"<(?=/?(?:{MEMORY_TAGS})\b)", re.IGNORECASE)


def join(blocks: Iterable[str]) -> str:
    """The blocks that are not empty, with a blank line between them."""
    return "\n\n".join(each for each in blocks if each)


def safe(text: str) -> str:
    """A text of a note for the prompt: without secrets, and without tags of injected memory."""
    return _TAGS.sub("‹", clean(text))


def for_compaction(at_hand: str, observations: str) -> list[str]:
    """The texts that a host's own summary gets about the session."""
    texts = [f"{_KEPT}\n{at_hand}"] if at_hand else []
    return [*texts, *([observations] if observations else [])]
