"""What the user's own words ask to remember, as facts: before anything is compared or written.

Loads little, because a hook that has nothing else to do asks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mdmemory import bounds, unseen
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.routes import ALL, Route
from mdmemory.capture.triggers import Trigger, find
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.text import wordlists
from mdmemory.transcripts.injected import without_memory
from mdmemory.transcripts.turns import Turn

_CHANGE = "{change.word}|{change.made}|{change.old}|{change.gone}"
_BEFORE = 200  # characters before a fact that may say what becomes of an older one
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a trigger in the turn of that id asked for, after redaction; `reason` as in Trigger, or
    private, secret. `before` is what the sentence says before the fact, `day` when it was said
    (`YYYY-MM-DD`, "": now)."""

    turn: str
    text: str
    trigger: Trigger
    reason: str
    before: str = ""
    day: str = ""

    @property
    def said(self) -> str:
        """The fact with the user's words before it that say that it replaces another. Those that
        only ask for it would count as a difference."""
        before = self.before or self.trigger.phrase
        if not wordlists.search(_CHANGE, self.trigger.phrase):
            before = before.replace(self.trigger.phrase, "")
        return f"{before} {self.text}" if wordlists.search(_CHANGE, before) else self.text


def asked_in(turns: Iterable[Turn]) -> list[Asked]:
    """What the user's turns ask for, without what a later one of them takes back. Only this reads
    all they say: no lock is held meanwhile."""
    turns = [*turns]
    taken_back = _later(turns) if len(turns) > 1 else [()]
    return [
        _wanted(fact, subjects)
        for turn, subjects in zip(turns, taken_back, strict=False)
        for fact in _facts(turn)
    ]


def wishes_in(text: str, turn: str, route: Route = ALL) -> list[Asked]:
    """The facts of a message that a note could hold."""
    asked = asked_in([Turn(turn, "user", text)])
    return [each for each in asked if not each.reason and route.hears(each.trigger, "")]


def without_fact(text: str, session: str, turn: str) -> Extracted:
    """What becomes of a message that asks for nothing that a note could hold."""
    from mdmemory.capture.note_text import description_of

    done = Extracted(session)
    for each in asked_in([Turn(turn, "user", text)]):
        done.dropped.append({"text": description_of(each.text), "reasons": [each.reason]})
    return done


def _wanted(fact: Asked, taken_back: Sequence[str]) -> Asked:
    """A fact as it was asked for, or negated where the user took it back later."""
    if fact.reason or not taken_back:
        return fact
    from mdmemory.capture.takebacks import is_meant

    is_gone = any(is_meant(subject, fact.text) for subject in taken_back)
    return replace(fact, text="", reason="negated") if is_gone else fact


def _later(turns: Sequence[Turn]) -> list[tuple[str, ...]]:
    from mdmemory.capture.takebacks import later  # of one turn nothing is asked

    return later(turns)


def _facts(turn: Turn) -> Iterator[Asked]:
    """The facts of a user's turn; whatever is private or secret is gone before it is looked at."""
    if turn.role != "user":
        return
    visible, blocks = strip_private(unseen.without(bounds.beginning(turn.text)))
    said = without_memory(_CONTROL.sub("", visible))
    for trigger in find(redact(said)[0]):
        reason = trigger.reason
        if blocks and reason == "vague":
            reason = "private"
        if reason in ("", "too_short") and not says_something(trigger.text):
            reason = "secret"
        fact = " ".join(trigger.text.split())
        yield Asked(turn.id, fact, trigger, reason, _before(said, trigger), turn.day)


def _before(said: str, trigger: Trigger) -> str:
    """What the sentence of a request says before its fact: "Actually, from now on"."""
    at = said.find(trigger.text) if trigger.text and not trigger.reason else -1
    if at < 0:
        return ""
    return " ".join(re.split(r"[.!?。！？]\s|\n", said[max(0, at - _BEFORE) : at])[-1].split())
