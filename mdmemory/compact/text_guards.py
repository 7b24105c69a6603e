"""The guards of a text that an op would write: what no note may hold, and what none may gain.

Pure. Each refusal is a code and a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from mdmemory import unseen
from mdmemory.compact import result
from mdmemory.compact.plan import Merge, Rewrite, shown
from mdmemory.errors import BadNote
from mdmemory.note import limits
from mdmemory.store.store import StoredNote

Refusal = tuple[str, str]  # code, sentence

_ANY_DAY = "2000-01-01"  # only to see whether a head can be edited at all
# What tries to pass for the system's voice.
_INJECTION = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*"
    r"(?:previous|prior|above|earlier|preceding|system)\s+(?:\w+\s+)?"
    r"(?:instructions?|prompts?|rules|messages?)"
    r"|</?(?:system|system-reminder|assistant|instructions)\b|<\|[a-z_]{2,20}\|>"
)
# What a viewer fetches as soon as the note is shown: a picture, an embedded note, an HTML tag.
_FETCHED = re.compile(
    r"(?i)!\[\[(?P<note>[^\[\]\n]{1,300})|!\[[^\[\]]{0,300}\](?:\((?P<url>[^()\s]{0,2000})"
    r"|\[(?P<label>[^\[\]\n]{0,300}))?"
    r"|<(?P<tag>(?:img|image|picture|source|video|audio|iframe|embed|object|link|script|style|svg)"
    r"\b[^<>]{0,2000})|!\["
)


def bad_text(op: Merge | Rewrite, store: Mapping[str, StoredNote]) -> Iterator[Refusal]:
    """What is wrong with the description and body of an op, the first thing first."""
    sources = op.sources if isinstance(op, Merge) else (op.file,)
    file = shown(op.target if isinstance(op, Merge) else op.file)
    before = [store[source].note for source in sources]
    description = op.description or ""
    if problem := _problem(limits.check_body, op.body):
        yield "body", f"The body for {file} is refused: {problem}"
    if _INJECTION.search(f"{description}\n{op.body}"):
        yield "body", f"The text for {file} reads like instructions to an assistant."
    if op.description is not None and (problem := _problem(limits.check_description, description)):
        yield "description", f"The description for {file} is refused: {problem}"
    hidden = unseen.added((note.text for note in before), f"{description}\n{op.body}")
    if hidden:
        listed = ", ".join(hidden[:5])
        yield "body", f"{file} would gain characters that nobody sees: {listed}."
    if _fetched(f"{description}\n{op.body}") - _fetched(*(note.text for note in before)):
        yield "body", f"{file} would gain a picture or an embedded file, which viewers fetch."
    try:
        result.changes(op, store, _ANY_DAY)
    except BadNote as found:
        yield "body", f"{file} cannot be written: {found.message}"


def _problem(check: Callable[[str], None], text: str) -> str:
    try:
        check(text)
    except BadNote as problem:
        return problem.message
    return ""


def _fetched(*texts: str) -> set[str]:
    """What is fetched where these texts are shown: each with what it names."""
    found = (match for text in texts for match in _FETCHED.finditer(text))
    return {
        (match["note"] or match["url"] or match["label"] or match["tag"] or match[0]).casefold()
        for match in found
    }
