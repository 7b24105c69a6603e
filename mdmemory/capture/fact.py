"""A text that an assistant hands over, read as a fact: cleaned, typed, named, or turned down; and
whether the user said it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mdmemory import bounds, unseen
from mdmemory.capture.claims import invented
from mdmemory.capture.fact_type import type_of
from mdmemory.capture.gate import judge
from mdmemory.capture.note_text import as_sentence, bare, description_of, name_of, worded
from mdmemory.capture.proof import heard
from mdmemory.capture.triggers import FLOOR, holds_everywhere, own, weight
from mdmemory.errors import BadNote, MdmemoryError, UsageError
from mdmemory.note import limits
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.text.words import keys
from mdmemory.transcripts.injected import without_memory
from mdmemory.transcripts.turns import Turn
from mdmemory.transcripts.turns import cleaned as heard_as

BORNE_OUT = 0.3  # the share of a claim's words that one turn of the user has to have
HOOK = 20  # letters; a shorter first line says too little to find the note by

_REDACTED = re.compile(r"\[redacted:\w+\]")
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+")
# what begins a heading, quotation, item or code block, and what ends a heading
_MARKS = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+|(?:`{3,}|~{3,})[^`~]*$)?|[ \t]+#+[ \t]*$")
_WHY = re.compile(r"\bWhy:|原因[：:]")
_ASKED = re.compile(r"(?:(?<=[.!?。！？\n])|\A)[^.!?。！？\n]*+[?？]")
_HOW = re.compile(
    r"\b(?:prefer|like|want|always|never|avoid|don't|do not|should|must|please|user|I|my)\w{0,3}\b"
    r"|喜欢|偏好|不要|总是|必须|请|好き|好む|ください|선호|좋아|항상",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!;]\s|[。！；]")


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
    """A text without secrets and private parts, and what it will be called."""

    body: str
    description: str
    name: str
    type: str
    kind: str
    redacted: tuple[str, ...]


def fact_of(content: str, title: str = "", type: str = "") -> Fact:
    """The fact that a text states. `type` is one of the four, or "" to guess.

    Raises NotStored with the reasons, BadNote for a text that no note may hold, UsageError for a
    type that there is not.
    """
    for given in (content, title):
        if len(given) > bounds.FACT:
            raise BadNote(
                f"The text has {len(given):,} characters: no fact has so many.",
                "Store what lasts of it, in a sentence or two.",
            )
    visible, blocks = strip_private(unseen.without(content))
    if blocks and not visible.strip():
        raise NotStored("private")
    body, kinds = redact(visible.strip())
    heading, more = redact(strip_private(unseen.without(title))[0])
    limits.check_body(body)
    type_, kind = _kind(type, body)
    description = hook(body)
    if reasons := _objections(body, heading, type_):
        raise NotStored(*reasons)
    name = name_of(_REDACTED.sub(" ", heading).strip() or _REDACTED.sub(" ", description))
    name = name.removeprefix(f"{type_}-") or name
    return Fact(body, description, name, type_, kind, tuple(dict.fromkeys([*kinds, *more])))


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
    guessed = type_of(bare(said))
    type_, kind = (type, kind) if type else (guessed[0], kind or guessed[1])
    description, reason = worded(said)
    called = limits.slug(name) if name else name_of(_REDACTED.sub(" ", said))
    return Stated(called, type_, kind, description, body or reason, said, holds_everywhere(said))


def _kind(named: str, body: str) -> tuple[str, str]:
    """Type and kind, as they were named or as the text suggests."""
    if not named:
        type_, kind = type_of(body)
        # without a request to follow, what is no way of working is about the work
        return ("project", "") if type_ == "feedback" and not _HOW.search(body) else (type_, kind)
    if named not in limits.TYPES:
        raise UsageError(f"{named[:40]!r} is no type.", f"Use one of: {', '.join(limits.TYPES)}.")
    return named, ""


def _objections(body: str, heading: str, type: str) -> tuple[str, ...]:
    """What speaks against a text as a note, as reason codes."""
    whole = f"{heading}\n{body}"
    if without_memory(whole) != whole:
        return ("memory",)
    if not says_something(body):
        return ("secret",)
    # a heading of markdown is no prompt of a shell
    verdict = judge(_HEADING.sub("", body), type=type, source="assistant")
    if not verdict.accepted:
        return verdict.reasons
    titled = judge(heading, type=type, source="assistant").reasons if heading else ()
    return ("injection",) if "injection" in titled else ()


def hook(body: str) -> str:
    """A description for a text: its first line, or where that says too little all in one."""
    lines = [_MARKS.sub("", line).strip() for line in body.splitlines()]
    lines = [line for line in lines if re.search(r"\w", line)] or [body]
    first = lines[0] if weight(lines[0]) >= HOOK else " ".join(lines)
    return description_of(as_sentence(bare(first)))


class BorneOut(NamedTuple):
    """The turn of the user that says a fact in most of its words, of several the last: its
    sentence, as typed, and the turns after it. "" and () where none says it."""

    sentence: str = ""
    later: tuple[str, ...] = ()


def is_borne_out(body: str, said: Sequence[str]) -> bool:
    """Whether a turn of the user says it. Raises NotStored where the user asked not to keep it."""
    return bool(borne_out(body, said).sentence)


def borne_out(body: str, said: Sequence[str]) -> BorneOut:
    """Where the user says it. Raises NotStored where the user asked not to keep it."""
    claim = _WHY.split(body, maxsplit=1)[0].strip() or body
    visible = [heard_as(text) for text in said]
    turns = heard([Turn(str(at), "user", text) for at, text in enumerate(visible)])
    # a question says nothing, and nor does what was pasted
    on_it = [(each, words) for each in turns if _shares(claim, words := _ASKED.sub(" ", each.own))]
    if on_it and on_it[-1][0].refuses(claim):
        raise NotStored("negated")
    places = [int(each.turn.id) for each, words in on_it if _agrees(claim, words)]
    wanted, found, most = set(keys(claim)), BorneOut(), 0
    for at in places:
        typed = own(visible[at])
        for sentence in filter(str.strip, _SENTENCE.split(typed)):
            if (count := len(wanted & set(keys(sentence)))) >= most:
                most, found = count, BorneOut(sentence.strip(), tuple(said[at + 1 :]))
    return found if found.sentence or not places else BorneOut(claim)


def _shares(claim: str, own: str) -> bool:
    """Whether a turn has enough of the claim's words to be on the same matter."""
    wanted = set(keys(claim))
    shared = len(wanted & set(keys(own)))
    return shared >= max(1, min(2, len(wanted) - 1)) and shared >= BORNE_OUT * len(wanted)


def _agrees(claim: str, own: str) -> bool:
    """Whether a turn on the matter has the claim's literals, and no sentence that denies it."""
    from mdmemory.text.contradiction import speaks_against  # only where words meet

    sentences = [each for each in _SENTENCE.split(own) if each.strip()]
    denied = any(speaks_against(each, claim) for each in sentences)
    return not denied and not invented(claim, [own])
