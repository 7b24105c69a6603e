"""What a user asked to be remembered, word for word: force-save lines in English and Chinese.

Deterministic. A trigger stands at the start of a line and outside code; its fact is the rest of
that line, or the lines below when the line ends there. What must not be stored is found all the
same, with the reason, so that it can be told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mdmemory.capture import wordings

FLOOR = 8


@dataclass(frozen=True, slots=True)
class Trigger:
    """`phrase` is the wording that triggered, `text` the fact in the user's words.

    `reason` is "" for a fact to store; else negated, deferred, vague, question, task or
    too_short, and the text is only to be shown (what is negated is not even repeated).
    """

    phrase: str
    text: str
    type: str
    kind: str = ""
    reason: str = ""

    @property
    def negated(self) -> bool:
        return self.reason == "negated"


def find(text: str) -> list[Trigger]:
    """Every trigger in a user's message, in order."""
    masked = _without_code(text)
    triggers: list[Trigger] = []
    read_to = 0
    for line in re.finditer(r"[^\n]+", masked):
        opening = _opening(line[0]) if line.start() >= read_to else None
        if not opening:
            continue
        fact = text[line.start() + opening.start : line.start() + opening.end].strip()
        if opening.negated:
            triggers.append(Trigger(opening.phrase, "", "feedback", reason="negated"))
        elif _matches(wordings.BELOW, fact):
            read_to, facts = _below(text, masked, line.end())
            triggers += [_trigger(opening.phrase, each) for each in facts or [""]]
        else:
            triggers.append(_trigger(opening.phrase, fact))
    return triggers


def type_of(fact: str) -> tuple[str, str]:
    """The type and kind of an explicit fact: a pointer is a reference, then identity, decision,
    project; everything else is feedback."""
    for type_, kind, expression in wordings.TYPES:
        if _pattern(expression).search(fact):
            return type_, kind
    return "feedback", ""


def weight(fact: str) -> int:
    """The length a fact is measured by: a CJK character says as much as three letters."""
    return len(fact) + 2 * len(_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]").findall(fact))


# --- code ------------------------------------------------------------------------------------

# Blanked out at equal length: code triggers nothing, yet a fact keeps the code it names.
_BLANK = "\ufffc"


def _without_code(text: str) -> str:
    """Fenced and indented blocks, quoted lines and code spans blanked; an open fence to the end."""
    fenced = r"^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\1)[^\n]*)*(?:\n[ \t]*\1[`~]*[^\n]*)?"
    masked = _pattern(fenced, re.MULTILINE).sub(_blank, text)
    masked = _pattern(r"^(?: {4}|\t| {0,3}>)[^\n]*", re.MULTILINE).sub(_blank, masked)
    return _pattern(r"(`{1,2})(?!`)[^`\n]+\1").sub(_blank, masked)


def _blank(code: re.Match[str]) -> str:
    return re.sub(r"[^\n]", _BLANK, code[0])


# --- how a line opens, and what it says ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Opening:
    """The wording a line triggers by, and where in the line its fact begins and ends."""

    phrase: str
    start: int
    end: int
    negated: bool = False


def _opening(line: str) -> _Opening | None:
    asked = _pattern(wordings.ASKED).fullmatch(line)
    end = asked.start("mark") if asked else len(line)
    lead = wordings.LEAD
    saved = _pattern(rf"{lead}(?P<p>{wordings.SAVE}){wordings.JOIN}").match(line)
    if saved:
        return _Opening(saved["p"], saved.end(), end)
    refused = _pattern(rf"{lead}(?P<p>{wordings.NOT}.{{0,30}}?{wordings.KEEP})").match(line)
    if refused:
        return _Opening(refused["p"], end, end, negated=True)
    around = _pattern(rf"{lead}{wordings.AROUND}").match(line)
    if around:
        return _Opening("to memory", *around.span("between"))
    stated = _pattern(rf"{lead}(?P<p>{wordings.STATES})").match(line)
    return _Opening(stated["p"], stated.start("p"), end) if stated else None


def _below(text: str, masked: str, start: int) -> tuple[int, list[str]]:
    """Where the lines under a trigger end (a blank line, code, another trigger), and the facts
    they state: one for each bullet, or all lines as one."""
    end = start
    lines: list[str] = []
    for line in re.compile(r"\n([^\n]*)").finditer(masked, start):
        shown = text[line.start(1) : line.end(1)].strip()
        if not shown or set(line[1].strip()) == {_BLANK} or _opening(line[1]):
            break
        lines.append(shown)
        end = line.end()
    bullets = [_pattern(r"(?:[-*+•]|\d{1,2}[.)、])[ \t]+(.+)").fullmatch(line) for line in lines]
    if lines and all(bullets):
        return end, [bullet[1] for bullet in bullets if bullet]
    return end, [" ".join(lines)] if lines else []


def _trigger(phrase: str, fact: str) -> Trigger:
    fact = _pattern(wordings.THANKS).sub("", fact)
    type_, kind = type_of(fact)
    return Trigger(phrase, fact, type_, kind, _reason(fact))


def _reason(fact: str) -> str:
    """Why a fact is not stored; "" when it is."""
    stated = _pattern(wordings.STATES).match(fact)
    chosen = stated and _pattern(wordings.CHOICE).match(fact, stated.end())
    if chosen or _matches(rf"(?:{wordings.FILLER}|\W)*", fact):
        return "vague"
    if _matches(wordings.LATER, fact):
        return "deferred"
    if _matches(wordings.QUESTION, fact):
        return "question"
    if _matches(wordings.TASK, fact):
        return "task"
    return "too_short" if weight(fact) < FLOOR else ""


def _matches(expression: str, fact: str) -> bool:
    return _pattern(expression).fullmatch(fact) is not None


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE | flags)
