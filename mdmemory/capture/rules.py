"""Standing rules that a user types without a word for remembering: "Always run the tests first".

Only for sentences that are the user's own: of somebody else's page any line reads like this. Pure.
"""

from __future__ import annotations

import re
from functools import cache

from mdmemory.capture import rule_words as words
from mdmemory.capture.whose_words import SAYS

_COMMENTS = ("//", "/*", "#", "--", ";", "<", "*/", "=")  # a program's line
_READ = 400  # characters of a sentence; a rule is no longer


def rule(sentence: str) -> str:
    """The wording that makes a rule of a sentence, which begins with no blank; "" for none."""
    text = _pattern(words.NOD).sub("", sentence[:_READ].rstrip())
    if text.endswith(("?", "？", ":")) or text.startswith(_COMMENTS):
        return ""
    if _pattern(rf"{words.NOT_FIRST}\b").match(text):
        return ""
    for expression in (words.ALWAYS, words.ORDERED, words.ASK_FIRST, words.NAMED):
        if found := _pattern(expression).match(text):
            return _told(text, found)
    found = _pattern(words.OURS).match(text)
    if found and not _pattern(words.COMPLAINT).search(text):
        return _told(text, found)
    for expression in (words.STANDING, words.FOR_GOOD):
        if found := _pattern(expression).search(text):
            return _told(text, found)
    return ""


def makes_rule(sentence: str) -> bool:
    """Whether a sentence makes a rule of the one before it: "That's a rule from today."."""
    return _pattern(words.MADE_RULE).fullmatch(sentence.strip()[:_READ]) is not None


def _told(text: str, found: re.Match[str]) -> str:
    """The wording, but "" where somebody else is said to have said so."""
    before = text[: found.start()]
    if _pattern(rf"\b{SAYS}\b").search(before):
        return ""
    end = found.end() + len(re.match(r"\w*", text[found.end() :])[0])  # type: ignore[index]
    return text[found.start() : end].strip(" ,")[:60]


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)
