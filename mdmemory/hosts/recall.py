"""The blocks of a session's prompt: looked up here, made text by `prompt.blocks`.

One function a block; it returns "" where the settings switch the block off.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.layers import MINE, Layers
from mdmemory.memory import Memory
from mdmemory.note.note import SUPERSEDED
from mdmemory.prompt import blocks, receipts

if TYPE_CHECKING:
    from mdmemory.search.results import Hit

# Seconds for a search by meaning, and again for one by words; the host waits for three.
PATIENCE = 1.25


def at_hand(memory: Memory, session: str) -> str:
    """The memory of the session."""
    if not os.path.lexists(memory.project.state_file):
        return ""  # reading does not make the file
    with memory.session(session) as own:
        return own.blocks()


def waiting(layers: Layers) -> dict[str, int]:
    """How many things of each kind wait for the user."""
    if not layers.there():
        return {}
    from mdmemory.review import waiting as inbox

    return inbox.counts(layers)


def by_hand(layers: Layers, _session: str, _message: str) -> str:
    """A line for each layer that other hands changed and no commit holds so yet."""
    looks = [look for memory in layers.there() if (look := memory.unadopted())]
    return "\n".join(filter(None, (receipts.by_hand(look.found, look.lost) for look in looks)))


def notes(layers: Layers, session: str, message: str) -> str:
    """The notes of both layers that fit the user's message best; the person's are `me/FILE`."""
    memory = layers.main
    settings = memory.project.settings
    mode = settings.text("recall.notes")
    if mode == "off":
        return ""
    title = "" if message.strip() else last_title(memory, session)
    query = blocks.query(message, memory.project.root.name, title)
    found: list[Hit] = []
    for each in layers.there():
        prefix = MINE if each is not memory else ""
        found_here = _hits(each, query, mode)
        hits = [hit for hit in found_here if not hit.weak and hit.status != SUPERSEDED]
        found += [hit._replace(file=f"{prefix}{hit.file}") for hit in hits]
    found.sort(key=lambda hit: -hit.score)  # stable: of two as good the project's comes first
    return blocks.notes(found, settings.whole("recall.tokens"))


def observations(layers: Layers, session: str, _: str = "") -> str:
    """The observations of earlier sessions, the newest in full."""
    memory = layers.main
    observations = memory.observations()
    budget = memory.project.settings.whole("recall.observation_tokens")
    return observations.block(budget=budget) if observations.is_on and budget else ""


BLOCKS = (notes, observations)


def for_compaction(memory: Memory, session: str) -> list[str]:
    """Texts for the prompt of the host's own summary of the session."""
    seen, observations = "", memory.observations()
    if observations.is_on:
        seen = observations.block(session=session, budget=blocks.COMPACTION_BUDGET)
    return blocks.for_compaction(at_hand(memory, session), seen)


def last_title(memory: Memory, session: str) -> str:
    """The title of the newest other session of this project in OpenCode, or ""."""
    from mdmemory.search.sources import session_folders
    from mdmemory.transcripts import opencode
    from mdmemory.transcripts.sources import began_in

    try:
        wanted = began_in(session_folders(memory.project))
        titles = opencode.titles(person.hosts().opencode, wanted)
    except (MdmemoryError, OSError):
        return ""
    return next((title for id, title in titles if id != session), "")


def _hits(memory: Memory, query: str, mode: str) -> Sequence[Hit]:
    hits = _in_time(memory, query, meaning=True) if mode == "hybrid" else None
    return (_in_time(memory, query, meaning=False) if hits is None else hits) or ()


def _in_time(memory: Memory, query: str, *, meaning: bool) -> Sequence[Hit] | None:
    """The hits, or None: too late, or a search by meaning that failed.

    A thread searches, because no prompt may wait for a server that hangs.
    """
    results: list[Sequence[Hit]] = []
    problems: list[Exception] = []

    def search() -> None:
        try:
            results.append(memory.search(query, k=blocks.MOST, meaning=meaning).hits)
        except Exception as problem:  # noqa: BLE001 - raised below, in the caller's thread
            problems.append(problem)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if problems and not meaning:
        raise problems[0]
    return results[0] if results else None
