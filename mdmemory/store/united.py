"""The one place that unites the heads of notes that become one: no key of a person's is lost.

Lists are joined, and of two values the second goes to an `x-` key of the note that stays. Keys of
ours are not united here: what becomes of them is for whoever merges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmemory.errors import BadNote
from mdmemory.note import editing, frontmatter, frontmatter_union
from mdmemory.note.editing import put
from mdmemory.note.limits import KNOWN_KEYS
from mdmemory.note.note import Note, opened
from mdmemory.store.merged import KEY as MERGED

_OURS = (KNOWN_KEYS | {MERGED}) - {"title"}
_LISTS = ("aliases", "tags")  # one value alone is a list of one
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}")


def own_keys(note: Note) -> dict[str, object]:
    """What a person put into the head beside our keys, and the title: place and value, as read.

    Places are like `aliases` and `metadata.owner`. What is empty is left out.
    """
    found = frontmatter.flat(opened(note.text)[1].fields)
    return {
        place: value
        for place, value in found.items()
        if place.removeprefix("metadata.") not in _OURS and value not in ("", [], {}, None)
    }


def united(base: Note, others: Sequence[Note]) -> Note:
    """`base` with the own keys of the `others`; itself where it has them all.

    Raises BadNote where two notes differ in a way that cannot be kept side by side.
    """
    owned = [(other, own_keys(other)) for other in others]
    if not any(own for _, own in owned):
        return base
    union = _Union(base)
    for other, own in owned:
        reading = opened(other.text)[1]
        if own and reading.problem:
            raise BadNote(
                f"The head of {other.head.file} cannot be read: {reading.problem}",
                "Correct it by hand, or leave the note out of the merge.",
            )
        for place, value in own.items():
            union.take(place, value, other)
    return union.note()


class _Union:
    """The head of the note that stays, while the keys of the others join it."""

    def __init__(self, base: Note) -> None:
        fences, self._reading = opened(base.text)
        self._base = base
        self._before = base.text[fences.head : fences.closing] if fences else ""
        self._head = self._before
        self._eol = editing.line_end(base.text)
        self._values = frontmatter.flat(self._reading.fields)

    def note(self) -> Note:
        if self._head == self._before:
            return self._base
        return editing.with_head(self._base, self._head, self._values)

    def take(self, place: str, value: object, source: Note) -> None:
        mine = self._values.get(place)
        if mine == value:
            return
        if mine in ("", [], {}, None):
            fences, _ = opened(source.text)
            head = source.text[fences.head : fences.closing] if fences else ""
            self._head = frontmatter_union.carry(self._head, place, value, head, self._eol)
            self._values[place] = value
            return
        left, right = _items(place, mine), _items(place, value)
        is_list = _is_listed(place) or isinstance(mine, list) or isinstance(value, list)
        if is_list and left is not None and right is not None:
            self._join(place, left, right)
        elif isinstance(mine, str) and isinstance(value, str):
            self._aside(place, value, source)
        else:
            raise self._differing(place, source)

    def _join(self, place: str, mine: list[str], theirs: list[str]) -> None:
        new = list(dict.fromkeys(item for item in theirs if item not in mine))
        if not new:
            return
        if isinstance(self._values[place], list):
            self._head = frontmatter_union.extend(self._head, place, new, self._eol)
        else:
            self._head = frontmatter_union.as_list(self._head, place, [*mine, *new], self._eol)
        self._values[place] = [*mine, *new]

    def _aside(self, place: str, value: str, source: Note) -> None:
        """A second value of a key: it goes to `x-KEY`, or to `x-KEY-2` and so on."""
        key = place.removeprefix("metadata.")
        if not _KEY.fullmatch(key):
            raise self._differing(place, source)
        first = place.removesuffix(key) + (key if key.startswith("x-") else f"x-{key}")
        name, number = first, 1
        while self._values.get(name, value) != value:
            number += 1
            name = f"{first}-{number}"
        if name not in self._values:
            self._head = put(self._head, name, value, self._eol)
            self._values[name] = value

    def _differing(self, place: str, source: Note) -> BadNote:
        key = place.removeprefix("metadata.")
        return BadNote(
            f"`{key[:40]}` of {self._base.head.file} and of {source.head.file} cannot be united.",
            "Make them agree by hand, or leave one of the notes out of the merge.",
        )


def _items(place: str, value: object) -> list[str] | None:
    """A value as a list of texts; None for what is neither text nor such a list."""
    if isinstance(value, str):
        return None if _is_listed(place) and "," in value else [value]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return None


def _is_listed(place: str) -> bool:
    return place.removeprefix("metadata.") in _LISTS
