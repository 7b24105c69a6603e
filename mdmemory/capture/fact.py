"""A text that an assistant or a person hands over, read as a fact: cleaned, typed, named, or turned
down by its form. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from mdmemory import bounds, unseen
from mdmemory.capture.gate import form
from mdmemory.capture.note_text import as_sentence, bare, description_of, name_of, worded
from mdmemory.capture.notice import FLOOR, holds_everywhere, is_about_user, weight
from mdmemory.errors import BadNote, MdmemoryError, UsageError
from mdmemory.note import limits
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.transcripts.injected import without_memory

HOOK = 20  # letters; a shorter first line says too little to find the note by

_REDACTED = re.compile(r"\[redacted:\w+\]")
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+")
# what begins a heading, quotation, item or code block, and what ends a heading
_MARKS = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+|(?:`{3,}|~{3,})[^`~]*$)?|[ \t]+#+[ \t]*$")

_ONE_FACT = "Store one lasting fact, in words that stand alone, or leave it out."
_NO_SECRETS = "Without its secret it says nothing: secrets belong in a password manager."


class NotStored(MdmemoryError):
    """The text is no fact to keep; `reasons` are the codes of docs/how-it-works.md."""

    code = "not_stored"

    def __init__(self, *reasons: str) -> None:
        is_secret = "secret" in reasons
        super().__init__(
            f"The text was not stored: {', '.join(reasons)}.",
            _NO_SECRETS if is_secret else _ONE_FACT,
        )
        self.reasons = reasons


class Fact(NamedTuple):
    """A text without secrets and private parts, and what it will be called; `title` may be ""."""

    body: str
    description: str
    name: str
    type: str
    title: str = ""
    kind: str = ""
    redacted: tuple[str, ...] = ()


def fact_of(content: str, title: str = "", type: str = "", why: str = "") -> Fact:
    """The fact that a text states, with its reason. `type` is one of the four; without one it is
    `user` for a sentence whose subject is the first person, else `project`.

    Raises NotStored with the reasons, BadNote for a text that no note may hold, UsageError for a
    type that there is not.
    """
    for given in (content, title, why):
        if len(given) > bounds.FACT:
            raise BadNote(
                f"The text has {len(given):,} characters: no fact has so many.",
                "Store what lasts of it, in a sentence or two.",
            )
    visible, blocks = strip_private(unseen.without(content))
    if blocks and not visible.strip():
        raise NotStored("private")
    said, kinds = redact(visible.strip())
    heading, more = redact(strip_private(unseen.without(title))[0])
    reason, kept = redact(strip_private(unseen.without(why))[0].strip())
    limits.check_body(said)
    type_ = type or type_of(said)
    if type_ not in limits.TYPES:
        raise UsageError(f"{type_[:40]!r} is no type.", f"Use one of: {', '.join(limits.TYPES)}.")
    reason = re.sub(r"(?i)\Awhy:\s*", "", reason)
    body = f"{said}\n\nWhy: {reason}" if reason and "Why:" not in said else said
    if reasons := _objections(said, f"{heading}\n{reason}"):
        raise NotStored(*reasons)
    description = hook(said)
    name = name_of(_REDACTED.sub(" ", heading).strip() or _REDACTED.sub(" ", description))
    name = name.removeprefix(f"{type_}-") or name
    redacted = tuple(dict.fromkeys([*kinds, *more, *kept]))
    return Fact(body, description, name, type_, " ".join(heading.split()), redacted=redacted)


def fact_as_said(text: str, type: str = "", kind: str = "") -> Fact:
    """What a person asked to remember, in their own words and whole: its first sentence describes
    it. The text is redacted. Raises BadNote for one that no note may hold."""
    limits.check_body(text)
    description, rest = worded(text)
    name = name_of(_REDACTED.sub(" ", text))
    is_whole = description.endswith("…") or description in rest
    body = rest if rest and is_whole else f"{description}\n\n{rest}".strip()
    return Fact(body, description, name, type or type_of(text), kind=kind)


def type_of(text: str) -> str:
    """The type of a fact that nobody named one for."""
    return "user" if is_about_user(text) else "project"


class Stated(NamedTuple):
    """What a person states in a sentence, as its note will have it; `said` are their words.
    `everywhere`: the sentence says that it holds in all projects."""

    name: str
    type: str
    kind: str
    description: str
    body: str
    said: str
    everywhere: bool


def stated(text: str, *, type: str = "", name: str = "", body: str = "", kind: str = "") -> Stated:
    """The note for a sentence of a person's: what is not given is worked out from its words.

    A secret is taken out. Raises NotStored where nothing is left, BadNote for a text that is too
    long or too short for a fact.
    """
    if len(text) > bounds.FACT:
        raise BadNote(f"The text has {len(text):,} characters.", "State one fact in a sentence.")
    visible = unseen.without(strip_private(text)[0])
    said = " ".join(redact(visible)[0].split())
    if not says_something(said):
        raise NotStored("secret" if said else "private")
    if weight(bare(said)) < FLOOR:
        raise BadNote(
            f"{said[:40]!r} is too short for a fact.",
            "Say it in a sentence, or give a NAME with --type and --description.",
        )
    limits.check_body(said)
    type_ = type or type_of(bare(said))
    description, reason = worded(said)
    called = limits.slugify(name) if name else name_of(_REDACTED.sub(" ", said))
    return Stated(called, type_, kind, description, body or reason, said, holds_everywhere(said))


def _objections(said: str, more: str) -> tuple[str, ...]:
    """What speaks against a text as a note by its form, as reason codes."""
    whole = f"{more}\n{said}"
    if without_memory(whole) != whole:
        return ("memory",)
    if not says_something(said):
        return ("secret",)
    # a heading of markdown is no prompt of a shell
    if reasons := form(_HEADING.sub("", said)):
        return reasons
    return ("injection",) if more.strip() and "injection" in form(more) else ()


def hook(body: str) -> str:
    """A description for a text: its first line, or where that says too little all in one."""
    lines = [_MARKS.sub("", line).strip() for line in body.splitlines()]
    lines = [line for line in lines if re.search(r"\w", line)] or [body]
    first = lines[0] if weight(lines[0]) >= HOOK else " ".join(lines)
    return description_of(as_sentence(bare(first)))
