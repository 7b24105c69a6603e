"""What a note has of the notes that were merged into it: their names, and a person's own keys.

By the names, `metadata.merged`, a [[link]] to a merged or renamed note still finds its text. No key
of a person's is lost: lists are joined, and of two values the second goes to an `x-` key.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from mdmemory.errors import BadNote
from mdmemory.note import editing, frontmatter
from mdmemory.note.editing import copy_key, put
from mdmemory.note.limits import ALIASES, CITES, KNOWN_KEYS, file_name
from mdmemory.note.note import Head, Note, read_fields, split

KEY = "merged"


def merged_names(head: Mapping[str, object]) -> set[str]:
    """The names that lead to a note besides its own, as links are compared: without case and `.md`.

    `head` is what `mdmemory.note.read_fields` reads. A name stands for its file name, too.
    """
    block = head.get("metadata")
    block = block if isinstance(block, dict) else head
    written = _listed_in(head)
    files = [file_name(str(block.get("type", head.get("type", ""))), name) for name in written]
    return {fold_name(name) for name in (*written, *files)}


def note_names(note: Note) -> set[str]:
    """Every name under which a link finds the note."""
    own = own_names(note.head) | alias_names(note.head)
    # cheap: few notes were ever merged, and reading a head again is dear
    return own | merged_names(read_fields(note)) if f"{KEY}:" in note.text else own


def own_names(head: Head) -> set[str]:
    """The names that the note has now: its name, and the stem of its file."""
    return {fold_name(head.name), fold_name(head.file)}


def alias_names(head: Head) -> set[str]:
    """The aliases as links are compared. One that is not the name stands for the name of the file
    that the note had by it, too."""
    files = (file_name(head.type, alias) for alias in head.aliases if alias != head.name)
    return {fold_name(alias) for alias in (*head.aliases, *files)}


def former_names(note: Note) -> dict[str, str]:
    """The names that the note took over, folded, each with what a link to it should say now:
    the name for a name, the stem of the file for a stem."""
    head, stem = note.head, note.head.file.removesuffix(".md")
    written = _listed_of(note)
    names = {fold_name(file_name(head.type, name)): stem for name in written}
    return names | {fold_name(name): head.name for name in written}


def join_merged(base: Note, name: str, gone: Iterable[Note]) -> str | None:
    """The value of `metadata.merged` for the note that `gone` notes join; None when it stays.

    `base` is the note that is written, `name` the one it will have.
    """
    before = _listed_of(base)
    names = dict.fromkeys(before)
    for note in gone:
        names |= dict.fromkeys((*_listed_of(note), *last_names(note.head)))
    others = [each for each in names if fold_name(each) != fold_name(name)]
    return ", ".join(others) if others and others != before else None


def last_names(head: Head) -> list[str]:
    """The name of a note that goes, and its stem where that does not follow from type and name."""
    follows = head.file == file_name(head.type, head.name)
    names = [head.name] if follows else [head.name, head.file.removesuffix(".md")]
    return [name for name in names if "," not in name and name.isprintable()]


def _listed_in(fields: Mapping[str, object]) -> list[str]:
    """The names of `metadata.merged`, as they are written; a list, or one text with commas."""
    block = fields.get("metadata")
    value = (block if isinstance(block, dict) else fields).get(KEY, fields.get(KEY))
    words = value if isinstance(value, list) else str(value or "").split(",")
    return [name for word in words if (name := str(word).strip().removesuffix(".md"))]


def _listed_of(note: Note) -> list[str]:
    # cheap: few notes were ever merged, and reading a head again is dear
    return _listed_in(read_fields(note)) if f"{KEY}:" in note.text else []


def fold_name(name: str) -> str:
    """A name as links compare it: composed, without case, without `.md`."""
    return unicodedata.normalize("NFC", name).strip().casefold().removesuffix(".md")


# --- a person's own keys

_OURS = (KNOWN_KEYS | {KEY}) - {"title"}
_LISTS = (ALIASES, CITES, "tags")  # one value alone is a list of one
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}")


def own_keys(note: Note) -> dict[str, object]:
    """What a person put into the head beside our keys, and the title: place and value, as read.

    Places are like `aliases` and `metadata.owner`. What is empty is left out.
    """
    fields = frontmatter.flatten(split(note.text)[1].fields)
    return {
        place: value
        for place, value in fields.items()
        if place.removeprefix("metadata.") not in _OURS and value not in ("", [], {}, None)
    }


def has_own_keys(note: Note) -> bool:
    """Whether a person put anything into the head beside our keys; aliases that only repeat what
    the note is or was called are ours."""
    keys = own_keys(note)
    ours = own_names(note.head) | former_names(note).keys()
    if ALIASES in keys and ours.issuperset(map(fold_name, note.head.aliases)):
        del keys[ALIASES]
    return bool(keys)


def with_aliases(note: Note, names: Iterable[str]) -> Note:
    """The note with these names among its aliases, too; itself where they are there already.

    Raises BadNote for a head in which they cannot be written.
    """
    known = set(map(fold_name, note.head.aliases))
    new = [name for name in dict.fromkeys(names) if fold_name(name) not in known]
    if not new:
        return note
    union = _Union(note)
    union.add(ALIASES, new)
    return union.note()


def unite_notes(base: Note, others: Sequence[Note]) -> Note:
    """`base` with the own keys and the citations of the `others`; itself where it has them all.

    Raises BadNote where two notes differ in a way that cannot be kept side by side.
    """
    owned: list[tuple[Note, dict[str, object]]] = []
    for other in others:
        cites = {f"metadata.{CITES}": [*other.head.cites]} if other.head.cites else {}
        owned.append((other, own_keys(other) | cites))
    if not any(own for _, own in owned):
        return base
    union = _Union(base)
    for other, own in owned:
        reading = split(other.text)[1]
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
        self._base = base
        self._head = self._before = editing.head_of(base.text)
        self._eol = editing.line_end(base.text)
        self._values = frontmatter.flatten(split(base.text)[1].fields)

    def note(self) -> Note:
        if self._head == self._before:
            return self._base
        return editing.with_head(self._base, self._head, self._values)

    def take(self, place: str, value: object, source: Note) -> None:
        mine = self._values.get(place)
        if mine == value:
            return
        if mine in ("", [], {}, None):
            self._head = copy_key(self._head, place, editing.head_of(source.text), self._eol)
            self._values[place] = value
            return
        left, right = _value_items(place, mine), _value_items(place, value)
        is_list = _is_listed(place) or isinstance(mine, list) or isinstance(value, list)
        if is_list and left is not None and right is not None:
            self._join_items(place, left, right)
        elif isinstance(mine, str) and isinstance(value, str):
            self._set_aside(place, value, source)
        else:
            raise self._differing_error(place, source)

    def add(self, place: str, items: list[str]) -> None:
        """More items for a list, at the end of it; a new list where there is none."""
        mine = self._values.get(place)
        if mine in ("", [], {}, None):
            self._head = put(self._head, place, items, self._eol)
            self._values[place] = items
            return
        before = _value_items(place, mine)
        if before is None and isinstance(mine, str):
            before = [each.strip() for each in mine.split(",")]
        if before is None:
            raise BadNote(
                f"`{place}` of {self._base.head.file} is not a list of names.",
                "Write it as `aliases: [one, two]`, by hand.",
            )
        self._join_items(place, before, items)

    def _join_items(self, place: str, mine: list[str], theirs: list[str]) -> None:
        new = list(dict.fromkeys(item for item in theirs if item not in mine))
        if new:
            self._head = put(self._head, place, [*mine, *new], self._eol)
            self._values[place] = [*mine, *new]

    def _set_aside(self, place: str, value: str, source: Note) -> None:
        """A second value of a key: it goes to `x-KEY`, or to `x-KEY-2` and so on."""
        key = place.removeprefix("metadata.")
        if not _KEY.fullmatch(key):
            raise self._differing_error(place, source)
        first = place.removesuffix(key) + (key if key.startswith("x-") else f"x-{key}")
        name, number = first, 1
        while self._values.get(name, value) != value:
            number += 1
            name = f"{first}-{number}"
        if name not in self._values:
            self._head = put(self._head, name, value, self._eol)
            self._values[name] = value

    def _differing_error(self, place: str, source: Note) -> BadNote:
        key = place.removeprefix("metadata.")
        return BadNote(
            f"`{key[:40]}` of {self._base.head.file} and of {source.head.file} cannot be united.",
            "Make them agree by hand, or leave one of the notes out of the merge.",
        )


def _value_items(place: str, value: object) -> list[str] | None:
    """A value as a list of texts; None for what is neither text nor such a list."""
    if isinstance(value, str):
        return None if _is_listed(place) and "," in value else [value]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return None


def _is_listed(place: str) -> bool:
    return place.removeprefix("metadata.") in _LISTS
