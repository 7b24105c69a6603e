"""What an answer to an item came to, and the words that a person gave with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.memory import Memory
from mdmemory.review.items import InboxItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.store.writer import Written

Left = tuple[Path, bytes, int]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What an answer did, in a sentence. `memory` holds the change `id` (None: no commit);
    `left` is a file that an undo does not bring back, with its bytes and mode."""

    item: InboxItem
    action: str
    said: str
    memory: Memory
    id: str | None = None
    commit: str | None = None
    left: Left | None = None

    @property
    def can_be_taken_back(self) -> bool:
        """Whether `take_back` has anything to do."""
        return self.id is not None or self.left is not None


@dataclass(frozen=True, slots=True)
class Wording:
    """The text that a person left in an editor: of the note `side` of an item, or of what waits."""

    text: str
    side: int = 0


def finish(
    item: InboxItem, action: str, text: str, memory: Memory, written: Written,
    left: Left | None = None,
) -> Reviewed:  # fmt: skip
    """What an answer came to whose change was written. Raises MdmemoryError where a hand was
    quicker, and a file stayed as it is."""
    if written.kept:
        file, why = written.kept[0]
        raise MdmemoryError(f"{file} was not changed: {why}.", "Answer again.")
    return Reviewed(item, action, text, memory, written.id, written.commit, left)
