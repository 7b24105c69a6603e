"""The memory of one session: takes what a host's plugin reports, and gives the prompt's block.

Every change is in `state.db` when a method returns, so that a tool call in another thread or
process sees it. A section that a setting switches off is neither kept nor shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from mdmemory.config.settings import Settings
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.files import name_refusals
from mdmemory.session import block, changes, pressure, pruning, storage, tracking
from mdmemory.session.block import PromptBlock
from mdmemory.session.cleaning import clean, visible
from mdmemory.session.pressure import ContextUsage
from mdmemory.session.sections import BLOCKS, Sections, is_followed, names, sections_of
from mdmemory.session.storage import Parts

if TYPE_CHECKING:  # as in `storage`
    from mdmemory.store.state import State

Result = TypeVar("Result")
Later = Callable[[Callable[[], None]], None]
MEMORY = "memory"  # the document of the sections


class SessionMemory:
    """The memory of `session`, for one thread; the caller closes `state`."""

    def __init__(self, state: State, session: str, settings: Settings) -> None:
        if not session:
            raise UsageError("The host names no session, and its state belongs to one.")
        self.session = session
        self._state = state
        self._settings = settings
        self._folder = state.path.parent / storage.FOLDER
        self._root = str(state.path.parent.parent)
        self._frozen: PromptBlock | None = None
        # in WAL mode this cannot corrupt; a lost last event is no loss that matters here
        state.rows("PRAGMA synchronous = NORMAL")

    # reports of the host

    def tool(
        self, tool: str, args: Mapping[str, Any], output: str, *, now: datetime,
        exit_code: int | None = None, synthetic: bool = False, later: Later = lambda work: work(),
    ) -> str | None:  # fmt: skip
        """A tool ran: the text to show instead of its output, or None to show the output.

        `exit_code` is None for a tool without one; `now` is UTC. `later` gets the work that the
        answer need not wait for, which is to save the whole of a pruned output; it raises
        MdmemoryError if that fails. Done at once, a failure shows the whole output instead.
        """
        if not is_followed(self._settings):
            return None
        seen = visible(output)
        pruned = self._prune(tool, args, output, seen, synthetic, later)
        shown = output if pruned is None else pruned

        def edit(parts: Parts) -> None:
            self._take(parts, lambda memory: tracking.take_result(
                memory, tool, args, seen, exit_code, self._root
            ))  # fmt: skip
            _count(parts, len(shown))

        storage.change(self._state, self.session, edit, now, counts=True)
        if storage.is_sweep_due(self._state):
            storage.sweep(self._state, now)
        return pruned

    def message(
        self, role: str, text: str, *, now: datetime, tokens: int = 0, window: int = 0
    ) -> list[str]:
        """A message of the user or the assistant: the lines to show the assistant in this turn,
        one if the context's level changed, else none.

        `tokens` is the size of the context as the provider last counted it, `window` the tokens
        that fit (`pressure.usable`); 0 means unknown, or as last time.
        """
        if not is_followed(self._settings):
            return []
        seen = visible(text)
        sizes = self._now_in_prompt().sizes

        def edit(parts: Parts) -> list[str]:
            self._take(parts, lambda memory: tracking.take_message(memory, role, seen))
            _count(parts, len(text))
            return self._notices(parts, tokens, window, sizes)

        return self._change(edit, now)

    def new_epoch(self, *, now: datetime, compacted: bool = False) -> None:
        """The session starts, restarts or (`compacted`) was summarised: `blocks` shows the memory
        of now from here on."""
        self._frozen = None
        if compacted:
            self._change(_after_compaction, now)

    def delete(self) -> None:
        """The session is gone: remove its memory."""
        self._frozen = None
        storage.forget(self._state, self.session)

    # the prompt

    def blocks(self) -> str:
        """The text for the prompt, "" for an empty memory; it stays the same until `new_epoch`."""
        self._frozen = self._now_in_prompt()
        return self._frozen.text

    def _now_in_prompt(self) -> PromptBlock:
        if self._frozen is not None:
            return self._frozen
        return block.render(self.read(), names() if self._is_on("memory") else ())

    # calls of the assistant; the prompt shows a change after `new_epoch`

    def read(self) -> Sections:
        """The memory as it is now."""
        return _memory(self._parts())

    def write(self, section: str, text: str, *, append: bool = False, now: datetime) -> str:
        """Replace a block, or append a line to it; returns a warning about a lost end, or "".
        Raises UsageError for what is no block."""
        if section not in BLOCKS:
            raise UsageError(
                f"There is no block {section[:40]!r}.", f"Blocks: {', '.join(BLOCKS)}."
            )
        return self._edit(lambda memory: changes.write(memory, section, text, append=append), now)

    def add(self, section: str, text: str, *, now: datetime) -> str:
        """Add an entry to a list; returns its id. Raises UsageError."""
        return self._edit(lambda memory: changes.add(memory, section, text), now)

    def remove(self, section: str, text: str, *, now: datetime) -> str:
        """Remove an entry, named by its words or its id, from a section, or from any list for "";
        returns its text. Raises NotFound."""
        return self._edit(lambda memory: changes.remove(memory, section, text), now)

    def leave(self, section: str, texts: Collection[str], *, now: datetime) -> None:
        """Take these entries out of a list, as far as they are in it."""
        if texts:
            self._edit(lambda memory: changes.leave(memory, section, texts), now)

    def clear(self, *sections: str, now: datetime) -> int:
        """Empty sections; returns how many entries they had."""
        return self._edit(lambda memory: sum(changes.clear(memory, each) for each in sections), now)

    # the parts

    def _take(self, parts: Parts, take: Callable[[Sections], object]) -> None:
        """Let `take` change the memory, unless it is switched off."""
        if self._is_on("memory"):
            memory = _memory(parts)
            take(memory)
            parts[MEMORY] = memory.document()

    def _notices(
        self, parts: Parts, tokens: int, window: int, sizes: Mapping[str, int]
    ) -> list[str]:
        """Update the level of the context: a notice if it changed."""
        counts = parts["pressure"]
        # the last counts hold until there are new ones
        counts["tokens"] = tokens = tokens or _whole(counts.get("tokens"))
        counts["window"] = window = window or _whole(counts.get("window"))
        usage = ContextUsage(tokens, window, _whole(counts.get("characters")))
        before = str(counts.get("level", pressure.THRESHOLDS[0].level))
        notice = pressure.notice(before, usage, sizes)
        counts["level"] = pressure.find_level(usage)
        return [notice] if notice and self._is_on("memory") else []

    def _prune(
        self, tool: str, args: Mapping[str, Any], output: str, seen: str, synthetic: bool,
        later: Later,
    ) -> str | None:  # fmt: skip
        """The pruned output, whose whole text is saved; None to show the output as it is."""
        if not self._is_on("pruning") or _is_saved_output(args):
            return None
        id = storage.output_id(self.session, output)
        pruned = pruning.prune(
            output, tool=tool, args=args, level=self._level(), synthetic=synthetic,
            where=str(storage.output_path(self._folder, id)),
        )  # fmt: skip
        # lines that cannot be got back are not left out
        return pruned.text if pruned and self._is_saved(id, seen, later) else None

    def _is_saved(self, id: str, seen: str, later: Later) -> bool:
        """Whether the whole output is saved, or will be as far as anyone can tell now."""

        def save() -> None:
            with name_refusals(storage.output_path(self._folder, id)):
                storage.put_output(self._folder, id, clean(seen))

        try:
            storage.prepare_output(self._folder, id)
            later(save)
        except (OSError, MdmemoryError):
            return False
        return True

    def _level(self) -> str:
        """The level of pruning for the context's last level."""
        level = self._parts().get("pressure", {}).get("level")
        table = pressure.THRESHOLDS
        return next((each.pruning for each in table if each.level == level), table[0].pruning)

    def _edit(self, act: Callable[[Sections], Result], now: datetime) -> Result:
        def edit(parts: Parts) -> Result:
            memory = _memory(parts)
            result = act(memory)
            parts[MEMORY] = memory.document()
            return result

        return self._change(edit, now)

    def _parts(self) -> Parts:
        return storage.read(self._state, self.session)

    def _change(self, edit: Callable[[Parts], Result], now: datetime) -> Result:
        return storage.change(self._state, self.session, edit, now)

    def _is_on(self, part: str) -> bool:
        return self._settings.switch(f"session.{part}")


def _memory(parts: Parts) -> Sections:
    return sections_of(parts.get(MEMORY, {}))


def _after_compaction(parts: Parts) -> None:
    memory = _memory(parts)
    changes.halve(memory)
    parts[MEMORY] = memory.document()
    # the context is empty again, so the next rise of its level is reported anew
    parts["pressure"] = {"characters": 0}


def _count(parts: Parts, characters: int) -> None:
    """Count characters that went into the context."""
    counts = parts.setdefault("pressure", {})
    counts["characters"] = _whole(counts.get("characters")) + characters


def _is_saved_output(args: Mapping[str, Any]) -> bool:
    """Whether a call reads a saved output, which the assistant asked for as a whole."""
    place = f"{os.sep}{storage.FOLDER}{os.sep}o-"
    return any(isinstance(each, str) and place in each for each in args.values())


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
