"""The type of a fact that another memory had: by what its text says, then by the headings above.

`user` is who somebody is and what they like, `feedback` a rule of working, `reference` a pointer,
`project` the rest: what holds for the work.
"""

from __future__ import annotations

import re

from mdmemory.capture.fact_type import signs, type_of
from mdmemory.expressions import lazy

JUDGED = 600  # characters of a fact

_PLACE = lazy(
    r"\b(?:documented|docs|documentation|dokumentiert|wiki|runbook|confluence|channel|repo(?:sitory)?)"
    r"\b.{0,40}\b(?:at|in|under|on|unter|is|ist|lives?|found)\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|\bport \d{2,5}\b",
    re.IGNORECASE,
)
# these signs alone leave the type to the headings
_SAYS_LITTLE = {"thing", "number", "quoted", "contrast", "polite"}
_PERSON = lazy(
    r"^(?:the )?user(?:['’]s)?\b|^(?:name|role|location|time ?zone|pronouns|languages?)[ \t]*[:=]"
    r"|\b(?:i|he|she|they) (?:am|is|are|lives?|works?|likes?|love|prefers?|speak)\b"
    r"|^(?:[\w .-]{1,40}: )?(?:i['’]m|likes|prefers|loves|lives|speaks|works (?:at|as|in|for)"
    r"|enjoys|dislikes)\b"
    r"|\bmy \w+|^(?:ich|mein\w*|je|mon|ma|mi|soy|vivo|eu|io)\b|^(?:wohnt|arbeitet|mag|bevorzugt)\b",
    re.IGNORECASE,
)
# the headings of notes that people and assistants write
_SECTIONS = (
    ("reference", r"links?|resources?|references?|docs|documentation|urls?|contacts?|dashboards?"),
    ("user", r"about (?:me|the user)|user|profile|who i am|personal|preferences?|bio|über mich"),
    ("feedback", r"rules?|style|conventions?|feedback|guidelines?|workflow|standards?|regeln"
                 r"|practices?|règles|reglas|instructions?|do not|don'ts?"),
    ("project", r"project|goals?|status|architecture|decisions?|deployment|context|stack|overview"
                r"|environment|infrastructure|setup|projekt|notes?"),
)  # fmt: skip
_SECTION = [(type, lazy(rf"\b(?:{words})\b", re.IGNORECASE)) for type, words in _SECTIONS]


def type_of_fact(text: str, origin: str) -> tuple[str, str]:
    """The type and kind of a fact. `origin` ends with the headings above it, ` > ` between them."""
    text = text[:JUDGED]
    for type, pattern in (("user", _PERSON), ("reference", _PLACE)):
        if pattern.search(text) and not signs(text) & {"decided"}:
            return type, ""
    if signs(text) - _SAYS_LITTLE:
        return type_of(text)
    for heading in reversed(origin.split(" > ")[1:]):
        for type, pattern in _SECTION:
            if pattern.search(heading):
                return type, ""
    return "project", ""
