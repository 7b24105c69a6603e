"""Requests to remember in words that no trigger lists: a verb of keeping, or a standing rule such
as "Always run the tests first".

Only for sentences that the user typed: any line of somebody's page reads like this. Pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mdmemory.text.wordlists import fullmatch, match, pattern, search, words

_READ = 1_000  # characters of a sentence
_LEAST = 8
# Between the verb and its fact.
_JOIN = r"[^:,.!?\n]{0,70}?(?: ?:[ \t]+|,? {keep.that})"
_JOIN_AT_ONCE = r",? {keep.that}(?=\S+ \S)| ?: "
_KNOWN = r"[^:,.!?\n]{0,40}?(?: ?:[ \t]+|,? {keep.that}|, )"
_COLON = r"[^:.!?\n]{0,120}? ?: +"
_FEW = 1  # words of substance that a pointer may hold


class Kept(NamedTuple):
    """What a sentence asks to keep: its words from `start` to `end`; where `points`, the sentence
    before it. `phrase` is the wording."""

    phrase: str
    start: int
    end: int
    points: bool = False


def kept(sentence: str) -> Kept | None:
    """What the sentence asks to keep by a verb of keeping, or None."""
    text = sentence[:_READ]
    if len(text) < _LEAST:
        return None
    if any(search(each, text) for each in ("{keep.nobody}", "{keep.unwanted}", "{keep.now}")):
        return None
    for expression, is_mind in (("{keep.mind}", True), ("{keep.paper}", False)):
        for found in pattern(expression, text).finditer(text):
            if wish := _wish(text, found, is_mind):
                return wish
    found_ = search("{keep.know}", text)
    return _told(text, found_) if found_ else None


def _told(text: str, found: re.Match[str]) -> Kept | None:
    """The fact behind "you should know that", or None."""
    end = len(text.rstrip(" \t?？"))
    if joined := match(_KNOWN, text, found.end()):
        is_fact = _substance(text[joined.end() : end]) > 1
        reported = search(r"\b{whose.says}\b", text[: found.start()])
        return Kept(found[0].strip(), joined.end(), end) if is_fact and not reported else None
    return None


def _wish(text: str, found: re.Match[str], is_mind: bool) -> Kept | None:
    before, after = text[: found.start()], text[found.end() :]
    phrase = found[0].strip()
    end = len(text.rstrip(" \t?？"))
    if search(r"\b{whose.says}\b", before):
        return None
    if not is_mind and search("{keep.elsewhere}", text):
        return None
    if not is_mind and match("{keep.explains}", text[found.start() :]) and not before.strip():
        return None
    if joined := _joined(after, is_mind):
        start = found.end() + joined
        if len(text[start:end].strip()) >= 3 and _substance(text[start:end]):
            return Kept(phrase, start, end)
    said_before, said_after = _substance(before), _substance(after)
    if said_before + said_after <= _FEW:
        return Kept(phrase, end, end, points=True)
    if not is_mind:
        is_pointer = said_before > _FEW and said_after <= _FEW
        return Kept(phrase, 0, end) if is_pointer else None
    opens = not said_before and not re.match(r"[ ,]*(?:to|zu|de|d['’]|à)[ ]", after)
    if opens and said_after > 2:
        lead = re.match(r"[ ,:;–—-]*", after)
        return Kept(phrase, found.end() + (lead.end() if lead else 0), end)
    return Kept(phrase, 0, end)


def _joined(after: str, is_mind: bool) -> int:
    """The place where a fact begins behind "that" or a colon, or 0."""
    expressions = (_JOIN, _COLON) if is_mind else (_JOIN_AT_ONCE, _JOIN)
    for expression in expressions:
        if found := match(expression, after):
            return found.end()
    return 0


def _substance(text: str) -> int:
    """The number of words that carry meaning."""
    said = re.findall(r"[^\W_][\w'’-]*", text.lower().replace("’", "'"))
    empty = words("keep.empty")
    return sum(word not in empty and len(word) > 1 for word in said)


_COMMENTS = ("//", "/*", "#", "--", ";", "<", "*/", "=")  # a program's line
_NOD = r"(?:, ?| ){rule.nod} ?[?？]$"
_FOR_GOOD = r"{rule.for_good}(?:,? {rule.please})?[.! \t]*$|{rule.called}"
_RULE_READ = 400  # characters of a sentence; a rule is no longer


def rule(sentence: str) -> str:
    """The wording that makes the sentence a rule, or "". The sentence begins with no blank."""
    text = sentence[:_RULE_READ].rstrip()
    text = pattern(_NOD, text).sub("", text)
    if text.endswith(("?", "？", ":")) or text.startswith(_COMMENTS):
        return ""
    if match(r"{rule.not_first}\b", text):
        return ""
    for expression in ("{rule.always}", "{rule.ordered}", "{rule.ask_first}", "{rule.named}"):
        if found := match(expression, text):
            return _wording(text, found)
    found = match("{rule.ours}", text)
    if found and not search("{rule.complaint}", text):
        return _wording(text, found)
    for expression in ("{rule.standing}", _FOR_GOOD):
        if found := search(expression, text):
            return _wording(text, found)
    return ""


def makes_rule(sentence: str) -> bool:
    """Whether a sentence makes a rule of the one before it: "That's a rule from today."."""
    return fullmatch("{rule.made_rule}", sentence.strip()[:_RULE_READ]) is not None


def _wording(text: str, found: re.Match[str]) -> str:
    """The wording, but "" where somebody else is said to have said so."""
    before = text[: found.start()]
    if search(r"\b{whose.says}\b", before):
        return ""
    end = found.end() + len(re.match(r"\w*", text[found.end() :])[0])  # type: ignore[index]
    return text[found.start() : end].strip(" ,")[:60]
