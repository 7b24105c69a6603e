"""[[links]] between notes: which lead nowhere, which say a name that a note no longer has.

Pure text; who is called what comes from the notes, and from history for what a hand renamed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdmemory.limits import TYPES
from mdmemory.note import Note, body_span, opened
from mdmemory.store.merged import folded, former, own_names

# What stands in code is no link: `[[ -f x ]]` asks a shell for a file.
_LINK = re.compile(
    r"^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|\[\[[ \t]*(?P<target>[^\[\]|#\n]*[^\[\]|#\s])[ \t]*(?:[|#][^\[\]\n]*)?\]\]",
    re.MULTILINE | re.DOTALL,
)

Found = Mapping[str, Note]  # by a link that leads nowhere, the note that it once led to


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a note that does not lead to a name of now; `now` is what it should say, or ""."""

    file: str
    target: str
    now: str


def stray(
    notes: Sequence[Note], renamed: Callable[[Sequence[str]], Found] = lambda _: {}
) -> list[Link]:
    """The links of these notes that say no name of now, in their order, each once a note.

    `renamed` is asked once, and only for links that lead nowhere.
    """
    known = {name for note in notes for name in own_names(note)}
    links = [
        (note.head.file, target)
        for note in notes
        for target in dict.fromkeys(_targets(note))
        if folded(target) not in known
    ]
    if not links:
        return []
    now = _former(notes)
    if lost := sorted({target for _, target in links if folded(target) not in now}):
        now |= {folded(target): _as_said(target, note) for target, note in renamed(lost).items()}
    return [Link(file, target, now.get(folded(target), "")) for file, target in links]


def rewritten(note: Note, links: Iterable[Link]) -> str:
    """The note's whole text with these links saying what they should; all other bytes as before."""
    now = {link.target: link.now for link in links if link.now}

    def said(found: re.Match[str]) -> str:
        target = found["target"]
        if target not in now:
            return found[0]
        at, end = (place - found.start() for place in found.span("target"))
        ending = ".md" if target.endswith(".md") else ""
        return f"{found[0][:at]}{now[target]}{ending}{found[0][end:]}"

    start, end = body_span(note.text, opened(note.text)[0])
    return note.text[:start] + _LINK.sub(said, note.text[start:end]) + note.text[end:]


def _targets(note: Note) -> Iterator[str]:
    if "[[" in note.body:
        yield from (found["target"] for found in _LINK.finditer(note.body) if found["target"])


def _former(notes: Iterable[Note]) -> dict[str, str]:
    """Folded names that exactly one note had before, by what a link to it says now."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for note in notes:
        stem = folded(note.head.file)
        kind, _, rest = stem.partition("-")
        if rest and kind in TYPES:
            found[rest][stem] = note.head.name  # its file still says what it was called
        for name, now in former(note).items():
            found[name][stem] = now
    return {name: now for name, by in found.items() if len(by) == 1 for now in by.values()}


def _as_said(target: str, note: Note) -> str:
    """The name for a name, the stem of the file for a stem."""
    is_stem = folded(target).partition("-")[0] in TYPES
    return note.head.file.removesuffix(".md") if is_stem else note.head.name
