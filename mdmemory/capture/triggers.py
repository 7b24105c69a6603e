"""What a user asked to be remembered, word for word: force-save in four languages.

Deterministic. A trigger opens a line or a sentence (in Japanese and Korean it may close one), and
stands outside code and quotation marks. What must not be stored is found all the same, with the
reason, so that it can be told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from mdmemory import bounds
from mdmemory.capture import unlisted, wordings
from mdmemory.capture.fact_type import type_of
from mdmemory.capture.whose import BLANK, own_lines, parted
from mdmemory.text.wordlists import fullmatch, match, pattern, search
from mdmemory.text.words import CJK

FLOOR = 8
JUDGED = 2_000  # characters of a sentence, or of a fact, that tell what it is
_DATE = re.compile(
    r"\d{1,2}\.\d{1,2}\. (?:bis|ist|sind|gilt|und|oder|ab|wird|nicht|um|kein)\b", re.IGNORECASE
)
_CJK = re.compile(f"[{CJK}]")
_CLOSE = 200  # characters at the end of a fact in which thanks may stand
CLAUSES = 8  # of a sentence, in which a request is looked for


class Trigger(NamedTuple):
    """`phrase` is the wording that triggered, `text` the fact in the user's words.

    `reason` is "" for a fact to store; else negated, deferred, vague, question, task or
    too_short, and the text is only to be shown (what is negated is not even repeated).
    `everywhere`: the sentence says that it holds in all projects.
    """

    phrase: str
    text: str
    type: str
    kind: str = ""
    reason: str = ""
    everywhere: bool = False

    @property
    def negated(self) -> bool:
        return self.reason == "negated"


def find(text: str) -> list[Trigger]:
    """Every trigger in a user's message, in order; of a very long one in its beginning. Runs of
    blanks and of marks count once."""
    return list(_found(bounds.beginning(text)))


@lru_cache(maxsize=4)  # one message is looked at several times on its way to a note
def _found(text: str) -> tuple[Trigger, ...]:
    text = squeezed(text)
    masked = said(text)[0]
    triggers: list[Trigger] = []
    read_to = 0
    for line in re.finditer(r"[^\n]+", masked):
        is_next = line.start() >= read_to and line[0].strip(BLANK)
        for opening in _openings(line[0]) if is_next else ():
            fact = text[line.start() + opening.start : line.start() + opening.end].strip()
            before = len(triggers)
            if opening.negated:
                triggers.append(Trigger(opening.phrase, "", "feedback", reason="negated"))
            elif opening.end == len(line[0]) and fullmatch(wordings.BELOW, fact):
                read_to, facts = _below(text, masked, line.end())
                if not facts and search("{trigger.what_stands}", opening.phrase):
                    facts = _quotation_below(text, line.end())
                if not facts and opening.prior:
                    triggers.append(_pointed_at(opening, text, line.start()))
                else:
                    triggers += [_trigger(opening.phrase, each) for each in facts or [""]]
            elif opening.before:
                triggers.append(_told_before(opening.phrase, fact))
            else:
                told = _trigger(opening.phrase, fact)
                points = opening.prior and fullmatch(wordings.POINTS, told.text)
                if points and not opening.rule:
                    told = _pointed_at(opening, text, line.start())
                triggers.append(told)
            triggers[before:] = _placed(triggers[before:], line[0], opening)
    return tuple(_without_pointers(triggers))


def holds_everywhere(text: str) -> bool:
    """Whether a sentence says that it holds in all projects of who says it."""
    return bool(search("{trigger.everywhere}", text[:JUDGED]))


def _placed(found: Sequence[Trigger], line: str, opening: _Opening) -> list[Trigger]:
    """What a request asks for, marked where its sentence, or the fact itself, holds everywhere."""
    spans = _sentences(line)
    start, end = spans[bisect_right(spans, opening.start, key=itemgetter(0)) - 1]
    of_all = bool(found) and holds_everywhere(line[start : max(end, opening.end)])
    return [each._replace(everywhere=of_all or holds_everywhere(each.text)) for each in found]


def own(text: str) -> str:
    """The lines of a message that the user typed."""
    return own_lines(bounds.beginning(text), opens)


def foreign(text: str) -> list[str]:
    """The lines of a message that are not the user's own, without fenced code."""
    return [*said(squeezed(bounds.beginning(text)))[1]]


@lru_cache(maxsize=2)  # a message is asked for its requests, orders and takebacks, each by itself
def said(text: str) -> tuple[str, Sequence[str]]:
    """A `squeezed` text with what is not the user's blanked out, and the lines that are not."""
    return parted(text, opens)


def openings(line: str) -> list[str]:
    """The wordings by which a line asks to remember something, whoever says it; no mere rules."""
    return [opening.phrase for opening in _openings(line) if not opening.rule]


def squeezed(text: str) -> str:
    """The text with no long run of blanks or of one mark: such a run says nothing, and each
    expression would begin anew at each of its places."""
    text = pattern(r"(?<=[^ \t\n])(?:[ \t]{2,}|\t)", text).sub(" ", text)
    text = pattern(r"(?m)^[ \t]{8,}", text).sub(" " * 8, text)
    return re.compile(r"([.!?…。！？,;:'\"\-–—])\1{3,}").sub(r"\1\1\1", text)


def _without_pointers(triggers: Sequence[Trigger]) -> list[Trigger]:
    """Without "Keep that in mind." behind a fact, which is kept already."""
    found: list[Trigger] = []
    for each in triggers:
        if not (each.reason == "vague" and found and not found[-1].reason):
            found.append(each)
    return found


def weight(fact: str) -> int:
    """The length a fact is measured by: a CJK character says as much as three letters."""
    return len(fact) + 2 * len(_CJK.findall(fact))


# --- how a sentence opens, and what it says ----------------------------------------------------


class _Opening(NamedTuple):
    """The wording a sentence triggers by, and where in the line its fact begins and ends.

    `before`: the wording closed the sentence, and the fact stands in front of it. `rule`: there is
    no wording, the whole sentence is a rule. `points`: it has no fact of its own. `prior` is the
    sentence before it, which it may point at: "We deploy on Tuesdays. Remember that."
    """

    phrase: str
    start: int
    end: int
    negated: bool = False
    before: bool = False
    rule: bool = False
    points: bool = False
    prior: tuple[int, int] | None = None


def opens(line: str) -> bool:
    """Whether the last sentence of a line asks for something to be remembered."""
    start, end = _sentences(line)[-1]
    return _opening(line[start : min(end, start + JUDGED)]) is not None


def _openings(line: str) -> list[_Opening]:
    """The triggers of a line. A fact reaches over the sentences that follow it, up to the next
    trigger or a sentence that turns to something else."""
    found: list[_Opening] = []
    open_ended = False
    before_start = told_from = 0
    for start, end in _sentences(line):
        sentence = line[start : min(end, start + JUDGED)]
        points_back = bool(start) and not open_ended and unlisted.makes_rule(sentence)
        is_told = points_back or fullmatch("{trigger.reported}", sentence)
        opening = None if is_told else _opening(sentence)
        if opening and opening.rule and open_ended:
            opening = None  # it belongs to the fact that it follows
        if opening and opening.end == len(sentence):
            opening = opening._replace(end=end - start)
        before = line[before_start:start] if opening else ""
        prior = (told_from, start) if _is_told(before, found) else None
        if opening and opening.points and prior is None:
            opening = None  # nothing stands before it
        if opening:
            if opening.before and prior and match(wordings.REFERS, sentence):
                opening = opening._replace(start=told_from - start)
            moved = opening._replace(
                start=start + opening.start, end=start + opening.end, prior=prior
            )
            open_ended = not (opening.negated or opening.before or opening.rule or moved.end < end)
            found.append(moved)
        elif points_back and not (
            (found and found[-1].start >= before_start)
            or unlisted.makes_rule(line[before_start:start])
        ):
            found.append(_Opening(sentence.strip(), before_start, start, before=True))
            open_ended = False
        elif open_ended and fullmatch("{trigger.turn}", sentence.strip()):
            open_ended = False
        elif open_ended:
            found[-1] = found[-1]._replace(end=end)
        told_from = told_from if match(wordings.REFERS, sentence) else start
        before_start = start
    return found


def _is_told(sentence: str, found: Sequence[_Opening]) -> bool:
    """Whether a sentence states something that the next one may point at."""
    bare = sentence.strip()[:JUDGED]
    if found or not bare or BLANK in bare or fullmatch("{trigger.turn}", bare):
        return False
    return weight(bare) >= 2 * FLOOR and not bare.endswith(("?", "？"))


def _pointed_at(opening: _Opening, text: str, offset: int) -> Trigger:
    """The trigger for the sentence before a pointer; vague where that is no fact."""
    assert opening.prior is not None
    stated = text[offset + opening.prior[0] : offset + opening.prior[1]].strip()
    told = _told_before(opening.phrase, stated)
    return told if not told.reason else told._replace(text="", reason="vague")


@lru_cache(maxsize=8)  # each request of a line asks for them
def _sentences(line: str) -> tuple[tuple[int, int], ...]:
    found, start = [], 0
    for end in pattern(r"(?<![.!?…])[.!?…]++[)\]]*+[ \t]++|[。！？]+[ \t]*", line).finditer(line):
        if line[end.start() - 1 : end.start()].isdigit() and _is_date(line, end.end()):
            continue
        if end.end() < len(line):
            found.append((start, end.end()))
            start = end.end()
    return (*found, (start, len(line)))


def _is_date(line: str, end: int) -> bool:
    """Whether the point before `end` is that of a day in German: "vom 15.12. bis 10.1."."""
    return any(_DATE.match(line, max(0, end - back)) for back in (5, 6, 7))


@lru_cache(maxsize=64)  # what a line opens with is asked for by each step of reading a message
def _opening(sentence: str) -> _Opening | None:
    end = _end_of_fact(sentence)
    return (
        _asked(sentence, end) or _refused(sentence, end) or _told(sentence)
        or _stated(sentence, end) or _in_a_clause(sentence, end) or _ruled(sentence, end)
        or _kept(sentence)
    )  # fmt: skip


def _asked(sentence: str, end: int, start: int = 0) -> _Opening | None:
    """ "Remember that ..." at the beginning of a sentence, or of the clause at `start`."""
    saved = match(wordings.LEAD + r"(?P<p>{trigger.save})" + wordings.JOIN, sentence, start)
    return _Opening(saved["p"], saved.end(), end) if saved else None


def _refused(sentence: str, end: int) -> _Opening | None:
    refused = (
        match(wordings.LEAD + "(?P<p>{trigger.refusal})", sentence)
        or match(wordings.LEAD + wordings.TURNED_DOWN, sentence)
        or search(r"(?P<p>{trigger.refused})[。！!. \t]*$", sentence)
    )
    return _Opening(refused["p"], end, end, negated=True) if refused else None


def _told(sentence: str) -> _Opening | None:
    """The fact stands between two parts of the wording, or before it."""
    for expression in wordings.AROUND:
        around = match(wordings.LEAD + expression, sentence)
        if around:
            return _Opening("to memory", *around.span("between"))
    for expression in wordings.BEFORE:
        told = match(wordings.LEAD + expression, sentence)
        # "so, remember that we deploy on Tuesdays" tells what follows
        if told and not fullmatch("{trigger.that_states}", sentence[told.start("p") :]):
            return _Opening(told["p"], *told.span("fact"), before=True)
    return None


def _stated(sentence: str, end: int) -> _Opening | None:
    stated = match(wordings.LEAD + "(?P<p>{trigger.states})", sentence)
    return _Opening(stated["p"], stated.start("p"), end) if stated else None


def _in_a_clause(sentence: str, end: int) -> _Opening | None:
    """A request in a later clause: "Not for us: remember ...", "I use zsh, so remember to ..."."""
    for clause in islice(pattern(wordings.CLAUSE, sentence).finditer(sentence), CLAUSES):
        opening = _asked(sentence, end, clause.end())
        if opening is None:
            continue
        told = wordings.TELLS if ":" in clause[0] else "{whose.says}"
        before = sentence[: clause.start()]
        if BLANK not in before and search(rf"\b{told}\b", before):
            return None  # "He told us: remember that ..."
        if clause["so"]:  # what stands before is a part of it
            return opening._replace(start=len(sentence) - len(sentence.lstrip()))
        return opening
    return None


def _ruled(sentence: str, end: int) -> _Opening | None:
    lead = match(wordings.POLITE, sentence)
    start = lead.end() if lead else 0
    for begin in dict.fromkeys((start, len(sentence) - len(sentence.lstrip(" \t-*+•")))):
        if phrase := unlisted.rule(sentence[begin:]):
            return _Opening(phrase, begin, end, rule=True)
    return None


def _kept(sentence: str) -> _Opening | None:
    """A verb of keeping in any form: "would be great if you kept in mind that ..."."""
    wish = None if BLANK * 60 in sentence else unlisted.kept(sentence)
    if wish is None:
        return None
    return _Opening(wish.phrase, wish.start, wish.end, points=wish.points, rule=not wish.points)


def _end_of_fact(sentence: str) -> int:
    """Where a sentence ends without the question mark of who asks for it: "Can you ...?", "ok?"."""
    bare = sentence.rstrip(" \t?？")
    if "?" not in sentence[len(bare) :] and "？" not in sentence[len(bare) :]:
        return len(sentence)
    if match(wordings.ASKED, sentence):
        return len(bare)
    start = max(0, len(bare) - 16)
    tag = search(r"{trigger.tag}\Z", bare[start:])
    return start + tag.start() if tag else len(sentence)


def _below(text: str, masked: str, start: int) -> tuple[int, list[str]]:
    """Where the lines under a trigger end (a blank line, code, another trigger), and the facts
    they state: one for each bullet, or all lines as one."""
    end = start
    lines: list[str] = []
    for line in re.compile(r"\n([^\n]*)").finditer(masked, start):
        shown = text[line.start(1) : line.end(1)].strip()
        if not shown or set(line[1].strip()) == {BLANK} or _openings(line[1]):
            break
        lines.append(shown)
        end = line.end()
    bullets = [fullmatch(r"(?:[-*+•]|\d{1,2}[.)、])[ \t]+(.+)", line) for line in lines]
    if lines and all(bullets):
        return end, [bullet[1] for bullet in bullets if bullet]
    return end, [" ".join(lines)] if lines else []


def _quotation_below(text: str, end: int) -> list[str]:
    """The quotation that begins below a line, as one fact: "remember what this mail says:"."""
    found = match(r'\s{0,9}["“„«]([^"“”„«»]{1,2000})["“”»]', text, end)
    return [" ".join(found[1].split())] if found else []


def _told_before(phrase: str, told: str) -> Trigger:
    """The trigger for a fact that stands before its verb: what joins the two is no part of it."""
    fact = _without(wordings.TAIL, told)
    trigger = _trigger(phrase, fact)
    errand = fullmatch("{trigger.not_to_forget}", phrase) and fullmatch(wordings.ERRAND, told)
    if errand and not trigger.reason and fullmatch(wordings.EVERY, fact):
        return trigger._replace(reason="task")
    return trigger


def _trigger(phrase: str, fact: str) -> Trigger:
    fact = _without(wordings.THANKS, fact)
    type_, kind = type_of(fact)
    return Trigger(phrase, fact, type_, kind, _reason(fact[:JUDGED]))


def _without(closing: str, fact: str) -> str:
    """A fact without what it closes with."""
    return fact[:-_CLOSE] + pattern(closing, fact[-_CLOSE:]).sub("", fact[-_CLOSE:])


def _reason(fact: str) -> str:
    """Why a fact is not stored; "" when it is."""
    stated = match("{trigger.states}", fact)
    chosen = stated and match(wordings.CHOICE, fact, stated.end())
    if fullmatch("{trigger.later}", fact):
        return "deferred"
    if chosen or fullmatch(wordings.POINTS + "|{trigger.pointed}", fact):
        return "vague"
    if fullmatch("{trigger.question}", fact):
        return "question"
    if fullmatch("{trigger.task}", fact):
        return "task"
    return "too_short" if weight(fact) < FLOOR else ""
