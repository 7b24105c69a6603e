"""What a correction has to be to stand in the note itself. Pure.

The user names what they replace, and nothing else of the note goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from mdmemory.capture.candidates import Candidate
from mdmemory.capture.claims import fold
from mdmemory.capture.note_text import description_of
from mdmemory.capture.scene import Scene
from mdmemory.note import editing
from mdmemory.note.note import Note
from mdmemory.privacy.redaction import has_secret
from mdmemory.store.store import StoredNote
from mdmemory.text import literals
from mdmemory.text.words import keys

KEPT_WORDS = 0.5  # of the old words, an update must keep at least this share
# Why a proposed update is let go without a word: it says nothing new, or nothing that may be kept.
SILENT = frozenset(("memory", "secret", "private", "injection", "held", "known", "negated"))


def of_the_note(candidate: Candidate, note: StoredNote) -> Candidate:
    """The candidate, of the type and kind that the note has."""
    return candidate._replace(type=note.note.head.type, kind=note.note.head.kind)


def text_of(note: StoredNote) -> str:
    """All that a note says."""
    return f"{note.note.head.description}\n\n{note.note.body}"


def restated(candidate: Candidate, note: StoredNote) -> Candidate:
    """What the user said, as a fact of its own beside the note."""
    head = note.note.head
    return candidate._replace(action="flag", type=head.type, kind=head.kind, name="",
        description=" ".join(candidate.quote.split()), body=candidate.quote,
    )  # fmt: skip


def trouble(candidate: Candidate, note: StoredNote, scene: Scene) -> str:
    """Why the words of a candidate may not take the place of the note's; "" when they may."""
    if not _names(candidate.quote, candidate.superseded):
        return "not_named"  # the user did not say what is out of date
    if not scene.revertible:
        return "not_revertible"
    if note.file in scene.in_conflict:
        return "in_conflict"  # only a person settles it
    if note.file not in scene.opened or has_secret(note.note.text):
        return "not_shown"  # the model did not see all that it would replace
    old = text_of(note)
    new = f"{candidate.description}\n\n{candidate.body}"
    folded = fold(old)
    if not all(fold(each) in folded for each in candidate.superseded):
        return "bad_superseded"
    lost, _ = literals.audit([old], "\n".join((new, *candidate.superseded)))
    if lost:
        return "literal_lost"
    return "words_lost" if _loses_words(old, new, candidate.superseded) else ""


def updated(candidate: Candidate, note: StoredNote, today: str) -> Note | None:
    """The note with the new words, or None when they are the old ones. Raises BadNote."""
    head = note.note.head
    wanted: dict[str, str | None] = {}
    if (description := description_of(candidate.description)) != head.description:
        wanted["description"] = description
    body = None if candidate.body.strip() == note.note.body.strip() else candidate.body
    if not wanted and body is None:
        return None
    if head.status == "unconfirmed":
        # the user's own words stand behind it now
        wanted |= editing.confirming(note.note, "extraction")
    return editing.edit(note.note, set={**wanted, "metadata.updated": today}, body=body)


def _names(quote: str, superseded: Sequence[str]) -> bool:
    """Whether the user's words name all that they replace."""
    said = fold(quote)
    return all(fold(each) in said for each in superseded)


def _loses_words(old: str, new: str, superseded: Sequence[str]) -> bool:
    """Whether more of the old words go than a correction takes."""
    before = set(keys(old)) - {word for each in superseded for word in keys(each)}
    return bool(before) and len(before & set(keys(new))) < KEPT_WORDS * len(before)
