"""Recall by message: the notes that fit what the person just said, for every host.

What a message needs is looked up here; `prompt.recalled` makes it text. No turn waits for it
longer than PATIENCE.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mdmemory.errors import MdmemoryError
from mdmemory.files import read_if_there
from mdmemory.hosts.following import Following
from mdmemory.layers import MINE, Layers
from mdmemory.note.note import SUPERSEDED
from mdmemory.privacy import is_secret
from mdmemory.session import recalls
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import INDEX, StoredNote

if TYPE_CHECKING:
    from mdmemory.prompt.recalled import RecalledNote
    from mdmemory.search.results import Hit

PATIENCE = 0.25  # seconds that a message waits for its notes
MESSAGE_TOKENS = 600  # of the notes that go with one message
SESSION_TOKENS = 6_000  # of these notes in one session
_STEPS = 5  # notes of a chain, each superseded by the next, that are gone through
Found = list[tuple[str, Refresher, "Hit"]]  # a prefix for its file, its store, the hit


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of the person: `text` is what they said, `prompt` the frozen text of the session's
    prompt, whose notes need not come again, `indexes` the text of all indexes there; None: as the
    files are now."""

    session: str
    id: str
    text: str
    prompt: str = ""
    indexes: str | None = None


class Near(NamedTuple):
    """The notes near a message as text ("" for none), and the files of those of which the prompt
    has every word already."""

    text: str = ""
    named: tuple[str, ...] = ()


class TooSlow(MdmemoryError):
    """The search was not done in time: the message goes without notes."""

    code = "too_slow"


class ByMessage:
    """Finds the notes for messages, one search at a time."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._thread: threading.Thread | None = None

    def near(
        self, layers: Layers, heard: Heard, fresh: Sequence[Refresher | None], *,
        with_shown: bool = False,
    ) -> Near:  # fmt: skip
        """The notes that go with a message, which are then remembered as recalled; with
        `with_shown` also those of which the prompt has every word.

        `fresh` are refreshers of both layers, in their order, that have seen the folders as they
        are now: nothing is looked at twice. Raises MdmemoryError, which costs nobody more than
        this text, and TooSlow.
        """
        if not layers.settings.switch("recall.by_message") or not layers.there():
            return Near()
        stores = [each for each in fresh if each is not None]
        seen = stores if len(stores) == len(layers.there()) else ()
        result = self._in_time(partial(_search, layers, heard.text, seen))
        notes = [*_notes_found(result, heard.indexes)]
        whole = [each.file for each, is_whole in notes if is_whole]
        fitting = [
            each for each, is_whole in notes
            if with_shown or not (is_whole or _names_file(heard.prompt, each.file))
        ]  # fmt: skip
        named = () if with_shown else tuple(whole)
        if not fitting:
            return Near("", named)
        from mdmemory.prompt import recalled  # few messages need it

        database = self._following.state(layers.main)
        before = recalls.read(database, heard.session)
        room = SESSION_TOKENS - before.tokens
        text, files = recalled.block(
            [each for each in fitting if with_shown or each.file not in before.files],
            min(MESSAGE_TOKENS, room),
        )
        if files:
            recalls.add(database, heard.session, heard.id, files, layers.main.now())
        again = (each.file for each in fitting if each.file in before.files)
        return Near(text, (*named, *(file for file in again if file not in files)))

    def _in_time(self, search: Callable[[], Found]) -> Found:
        """What a search finds. Raises TooSlow, also while an earlier one is still at work."""
        if self._thread is not None and self._thread.is_alive():
            raise TooSlow("An earlier search is still at work.")
        results: list[Found] = []
        problems: list[Exception] = []

        def do_work() -> None:
            try:
                results.append(search())
            except Exception as problem:  # noqa: BLE001 - raised below, in the caller's thread
                problems.append(problem)

        self._thread = threading.Thread(target=do_work, daemon=True)
        self._thread.start()
        self._thread.join(PATIENCE)
        if problems:
            raise problems[0]
        if not results:
            raise TooSlow(f"The search took longer than {PATIENCE} s.")
        return results[0]


def notes_for(layers: Layers, text: str) -> list[RecalledNote]:
    """The notes that would go with a message, whatever came before it and however long it takes.
    Raises MdmemoryError."""
    results = _notes_found(_search(layers, text, ()), None) if layers.there() else ()
    return [each for each, is_whole in results if not is_whole]


def _search(layers: Layers, text: str, fresh: Sequence[Refresher]) -> Found:
    """The notes of both layers that a message needs, the surest first."""
    from mdmemory.prompt.message_part import is_statement
    from mdmemory.prompt.typed import read_typed
    from mdmemory.search import sources
    from mdmemory.search.by_message import MOST

    message = read_typed(text)
    stores = fresh or [Refresher(each.project, is_secret) for each in layers.there()]
    results: Found = []
    if not message:
        return results
    for memory, refresher in zip(layers.there(), stores, strict=True):
        prefix = "" if memory is layers.main else MINE
        search, may_change = sources.near_search(refresher), is_statement(message)
        hits = search.for_message(message, memory.now().date(), may_change=may_change)
        results += [(prefix, refresher, hit) for hit in hits]
    results.sort(
        key=lambda each: -each[2].score
    )  # stable: of two as sure the project's comes first
    return results[:MOST]


def _notes_found(results: Found, shown: str | None) -> Iterator[tuple[RecalledNote, bool]]:
    """The notes of these hits that are in force, each with whether the index in the prompt has all
    that it says."""
    from mdmemory.prompt.recalled import RecalledNote, is_shown_whole

    indexes: dict[str, str] = {}
    for prefix, refresher, hit in results:
        if shown is not None:
            indexes[prefix] = shown
        elif prefix not in indexes:
            data = read_if_there(refresher.store.folder / INDEX) or b""
            indexes[prefix] = data.decode("utf-8", "replace")
        stored = _in_force(refresher, hit.file)
        if stored is None:
            continue
        is_hit = stored.file == hit.file
        mark = hit.mark if is_hit else stored.note.head.status
        place = hit.text if is_hit else ""
        is_brief = hit.score <= 0  # only near
        recalled = RecalledNote(f"{prefix}{stored.file}", stored.note, place, mark, is_brief)
        yield recalled, is_shown_whole(stored.note, indexes[prefix])


def _in_force(refresher: Refresher, file: str) -> StoredNote | None:
    """The note in a file, or of a superseded one the note at the end of its chain; None where that
    leads nowhere, or to a note on hold. The folder decides: a search may be behind it."""
    known = refresher.catalog()
    stored = refresher.store.read(file) if file in known.files else None
    for _ in range(_STEPS):
        if stored is None or stored.file in known.held:
            return None
        head = stored.note.head
        if head.status != SUPERSEDED:
            return stored
        stored = _find_named(refresher, head.superseded_by)
    return None


def _find_named(refresher: Refresher, name: str) -> StoredNote | None:
    """The note with this name or alias: only the few that may have it are read."""
    if not name:
        return None
    few = [refresher.store.read(file) for file in refresher.catalog().holding(name)]
    return next(
        (each for each in few if name in (each.note.head.name, *each.note.head.aliases)), None
    )


def _names_file(prompt: str, file: str) -> bool:
    """Whether the notes of a frozen prompt name this one."""
    return f"({file}," in prompt or f"({file})" in prompt
