"""Standing rules that a user types without a word for remembering: "Always run the tests first".

Only for sentences that are the user's own: of somebody else's page any line reads like this. Pure.
"""

from __future__ import annotations

import re

from mdmemory.text.wordlists import fullmatch, match, pattern, search

_COMMENTS = ("//", "/*", "#", "--", ";", "<", "*/", "=")  # a program's line
_NOD = r"(?:, ?| ){rule.nod} ?[?？]$"
_FOR_GOOD = r"{rule.for_good}(?:,? {rule.please})?[.! \t]*$|{rule.called}"
_READ = 400  # characters of a sentence; a rule is no longer


def rule(sentence: str) -> str:
    """The wording that makes a rule of a sentence, which begins with no blank; "" for none."""
    text = sentence[:_READ].rstrip()
    text = pattern(_NOD, text).sub("", text)
    if text.endswith(("?", "？", ":")) or text.startswith(_COMMENTS):
        return ""
    if match(r"{rule.not_first}\b", text):
        return ""
    for expression in ("{rule.always}", "{rule.ordered}", "{rule.ask_first}", "{rule.named}"):
        if found := match(expression, text):
            return _told(text, found)
    found = match("{rule.ours}", text)
    if found and not search("{rule.complaint}", text):
        return _told(text, found)
    for expression in ("{rule.standing}", _FOR_GOOD):
        if found := search(expression, text):
            return _told(text, found)
    return ""


def makes_rule(sentence: str) -> bool:
    """Whether a sentence makes a rule of the one before it: "That's a rule from today."."""
    return fullmatch("{rule.made_rule}", sentence.strip()[:_READ]) is not None


def _told(text: str, found: re.Match[str]) -> str:
    """The wording, but "" where somebody else is said to have said so."""
    before = text[: found.start()]
    if search(r"\b{whose.says}\b", before):
        return ""
    end = found.end() + len(re.match(r"\w*", text[found.end() :])[0])  # type: ignore[index]
    return text[found.start() : end].strip(" ,")[:60]
