"""The guards of what an op would say: nothing lost, nothing invented, nothing turned around.

Pure, and by words alone. A description is judged with its body and by itself, for it is what the
index shows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

from mdmemory.note.note import Note
from mdmemory.text import frames, literals, places, units
from mdmemory.text.contradiction import Profile, contradiction, opposed
from mdmemory.text.statements import Statement, flipped, turned
from mdmemory.text.subjects import subjects

Refusal = tuple[str, str]  # code, sentence

_ONLY = re.compile(
    r"(?i)\b(?:only|solely|exclusively|nobody else|no one else|nur|ausschließlich|lediglich|"
    r"seulement|uniquement|solamente|únicamente)\b|只有|仅|僅|だけ|のみ"
)
_LISTED = 5  # words named in one message
_PAIRS = 300  # of sources, whose sentences are compared


def meaning(
    file: str,
    sources: Sequence[Note],
    description: str,
    body: str,
    merged: Collection[str] = (),
) -> Iterator[Refusal]:
    """What is wrong with one note in place of these, `file` as it is shown.

    `merged` are the names of notes that become one: links among them may go.
    """
    after = said(description, body)
    whole = [said(note.head.description, note.body) for note in sources]
    texts = [text for text in whole if text != after]
    if not texts:
        return
    lost, invented = literals.audit(texts, after, merged=merged)
    if lost:
        yield "literal_lost", f"{file} would lose {_some(lost)}."
    if invented and len(texts) == len(whole):
        yield "literal_invented", f"{file} would gain {_some(invented)} from nowhere."
    if words := turned(texts, after):
        yield "negation", f"{file} would turn around what is said of {_some(words)}."
    if word := _only(texts, after):
        yield "negation", f"{file} would say {word}, or no longer say it."
    if pair := opposed(Statement("\n".join(texts)), Statement(after)):
        yield "negation", f"{file} would say {pair[1]} for {pair[0]}."
    yield from _description(file, sources, description)
    if words := _missing(whole, after):
        yield "literal_lost", f"{file} would lose {_some(words)}."
    if pair := frames.replaced(whole, after):
        yield "negation", f"{file} would say {pair[0]} for {pair[1]}."
    if words := places.moved(whole, after):
        yield "negation", f"{file} would put {_some(words)} in the place of another value."


def _only(texts: Sequence[str], after: str) -> str:
    """The word by which one side excludes all else and the other does not; "" where there is none.

    Only who may, and who may: that is another fact, though no word is denied.
    """
    before = [found[0] for found in map(_ONLY.search, texts) if found]
    now = _ONLY.search(after)
    if bool(before) == bool(now):
        return ""
    return before[0] if before else now[0] if now else ""


def said(description: str, body: str) -> str:
    """A note as one text."""
    return f"{description}\n\n{body}"


def _description(file: str, sources: Sequence[Note], description: str) -> Iterator[Refusal]:
    """What a new description turns around, whatever the body says."""
    old = [note.head.description for note in sources]
    if description in old:
        return
    whole = "\n".join(said(note.head.description, note.body) for note in sources)
    if words := flipped(old, description, whole):
        where = f"The description of {file}"
        yield "negation", f"{where} would turn around what is said of {_some(words)}."
    new = Profile("", description, "")
    for each in old:
        if why := contradiction(Profile("", each, ""), new):
            yield "negation", f"The description of {file} contradicts the old one: {why}."


def _missing(texts: Sequence[str], after: str) -> list[str]:
    """The plain words that a text must keep: of what its sentences speak, what tells two alike
    ones apart, and units."""
    known = frames.vocabulary([after])
    found: set[str] = set()
    for text in texts:
        found |= {word for sense, word in subjects(text).items() if sense not in known}
        found.update(units.lost(text, after))
    for one, other in islice(combinations(texts, 2), _PAIRS):
        found |= {word for word in frames.rivals(one, other) if not frames.holds(known, word)}
    return sorted(word for word in found if not any(f" {word}" in other for other in found))


def _some(tokens: Sequence[str]) -> str:
    more = f" and {len(tokens) - _LISTED} more" if len(tokens) > _LISTED else ""
    return ", ".join(token[:80] for token in tokens[:_LISTED]) + more
