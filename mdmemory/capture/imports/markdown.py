"""Memories kept as markdown: a folder of notes with heads, as several assistants have it, or a
plain file, of which each bullet is a fact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mdmemory.capture.imports.incoming import Incoming, day
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular
from mdmemory.note.limits import TYPES
from mdmemory.note.note import Note, parse
from mdmemory.store.store import INDEX, Store

SOURCES = ("explicit", "manual", "extraction", "assistant")
MAX_WHOLE = 1_500  # characters; a longer file without bullets is cut at its paragraphs

_BULLET = re.compile(r"[-*+•][ \t]+|\d{1,3}[.)][ \t]+")
_LINK_LINE = re.compile(r"[-*+][ \t]+\[[^\]]*\]\([^)]*\.md\)")
_FENCE = re.compile(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)")


def notes_of(folder: Path) -> Iterator[Incoming]:
    """The notes directly in a folder, and the facts of a MEMORY.md that is more than an index."""
    store = Store(folder)
    for file in store.files():
        stored = store.read(file)
        if not stored.digest or not stored.note.text.strip():
            why = "unreadable" if stored.note.text.strip() or not stored.digest else "empty"
            yield Incoming(file, file, source="manual", reason=why)
            continue
        yield of_note(stored.note, file)
    try:
        index = read_regular(folder / INDEX).decode("utf-8", "replace")
    except MdmemoryError:
        return
    if not any(map(_LINK_LINE.match, index.splitlines())):
        yield from facts_of(index, INDEX)


def of_note(note: Note, origin: str) -> Incoming:
    """A note with its head, whichever of its keys there are."""
    head = note.head
    return Incoming(
        note.body, origin,
        name=head.name, description=head.description,
        type=head.type if head.type in TYPES else "", kind=head.kind,
        source=head.source if head.source in SOURCES else "manual",
        importance=head.importance if head.importance in ("low", "normal", "high") else "",
        created=day(head.created), updated=day(head.updated), reinforced=head.reinforced,
        last_reinforced=day(head.last_reinforced), session=head.session, turn=head.turn,
        status=head.status if head.status == "unconfirmed" else "",
    )  # fmt: skip


def facts_of(text: str, origin: str) -> Iterator[Incoming]:
    """The facts of a plain file: its one note, where it has a head; its bullets, where it has
    some; else its paragraphs, or all of it when that is short."""
    text = text.removeprefix("\ufeff")
    if text.startswith("---"):
        note = parse(text, origin)
        if note.body != text:
            yield of_note(note, origin)
            return
    found = list(_bullets(_FENCE.sub("", text)))
    if not found:
        bare = text.strip()
        found = [bare] if len(bare) <= MAX_WHOLE else re.split(r"\n[ \t]*\n", bare)
    for number, fact in enumerate(found, 1):
        said = fact.strip()
        if said and not re.fullmatch(r"#{1,6}[ \t].*", said):
            yield Incoming(said, f"{origin}:{number}", source="manual")


def _bullets(text: str) -> Iterator[str]:
    """Each bullet of the first level with what is indented below it."""
    fact: list[str] = []
    for line in text.splitlines():
        opened = _BULLET.match(line)
        if opened:
            if fact:
                yield "\n".join(fact)
            fact = [line[opened.end() :]]
        elif fact and line[:1] in (" ", "\t"):
            fact.append(line.strip())
        elif fact:
            yield "\n".join(fact)
            fact = []
    if fact:
        yield "\n".join(fact)
