"""The type of a fact that another memory had: by what its text says, then by the headings above.

`user` is who somebody is and what they like, `feedback` a rule of working, `reference` a pointer,
`project` the rest: what holds for the work.
"""

from __future__ import annotations

import re

from mdmemory.capture.triggers import type_of

JUDGED = 600  # characters of a fact

_PLACE = re.compile(
    r"\b(?:documented|docs|documentation|dokumentiert|wiki|runbook|confluence|channel|repo(?:sitory)?)"
    r"\b.{0,40}\b(?:at|in|under|on|unter|is|ist|lives?|found)\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|\bport \d{2,5}\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:always|never|must(?:n['’]t)?|should(?:n['’]t)?|avoid|prefer\b(?!s)|do not|don['’]t"
    r"|make sure|instead of|no more than|only use|use \w+|run \w+|keep \w+|write \w+"
    r"|immer|nie(?:mals)?|kein\w*"
    r"|bitte|toujours|jamais|il faut|siempre|nunca|hay que|sempre|mai)\b"
    r"|必ず|常に|总是|永远|不要|항상|절대",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"^(?:the )?user(?:['’]s)?\b|^(?:name|role|location|time ?zone|pronouns|languages?)[ \t]*[:=]"
    r"|\b(?:i|he|she|they) (?:am|is|are|lives?|works?|likes?|love|prefers?|speak)\b"
    r"|^(?:[\w .-]{1,40}: )?(?:i['’]m|likes|prefers|loves|lives|speaks|works (?:at|as|in|for)"
    r"|enjoys|dislikes)\b"
    r"|\bmy \w+|^(?:ich|mein\w*|je|mon|ma|mi|soy|vivo|eu|io)\b|^(?:wohnt|arbeitet|mag|bevorzugt)\b",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided|decision|chose|agreed|entschieden|beschlossen|décidé|decidido|decidimos)\b",
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
_SECTION = [(type, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for type, words in _SECTIONS]


def type_of_fact(text: str, origin: str) -> tuple[str, str]:
    """The type and kind of a fact. `origin` ends with the headings above it, ` > ` between them."""
    text = text[:JUDGED]
    if _DECISION.search(text):
        return "project", "decision"
    for type, pattern in (("user", _PERSON), ("reference", _PLACE), ("feedback", _RULE)):
        if pattern.search(text):
            return type, ""
    type, kind = type_of(text)
    if type != "feedback":  # what it says of a fact that nothing tells
        return type, kind
    for heading in reversed(origin.split(" > ")[1:]):
        for type, pattern in _SECTION:
            if pattern.search(heading):
                return type, ""
    return "project", ""
