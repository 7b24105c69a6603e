"""What the words of a proposal show of how long it holds: for good or for the moment. Pure.

Words alone decide little: they are one of two judges, beside the model that is asked (`lasting`).
The words that they go by are the sections `lasts`, `moment` and `gate` of the word lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mdmemory.capture.fact_type import languages_of
from mdmemory.text import wordlists

LASTING, UNSURE, MOMENT = "lasting", "unsure", "moment"

JUDGED = 600  # characters of a claim, a quote or a sentence; a fact takes one or two sentences
NEAR = 80  # characters beside a quote in which its sentence may tie it to the moment

_FOR = ("lasts.ground", "lasts.party", "lasts.rule", "lasts.settled", "lasts.wish")
_AGAINST = (
    "moment.asks", "moment.guess", "moment.leaving", "moment.mood", "moment.now", "moment.work",
)  # fmt: skip
# A reason that is given may tell what happened: "Why: the tests failed twice".
OF_THE_CLAIM = ("task", "progress", "event", "measured", "temporary")
SOFT = ("restated", "bad_feedback", "bad_decision", "dangling")
_RULES_OF_USERS = ("user", "feedback")  # an order in a note of these types is a rule


class Shown(NamedTuple):
    """What the words show: `value` is LASTING, UNSURE or MOMENT; `marks` are the sections and codes
    that speak for it to last (`lasts`) and against it (`passes`)."""

    value: str
    lasts: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        """How much more speaks for it than against it; the inbox shows the highest first."""
        return len(self.lasts) - 2 * len(self.passes)


def shown(claim: str, quote: str, type: str, *, beside: str = "") -> Shown:
    """What the words of a candidate show. `claim` is the model's sentence, `quote` the user's words
    that it rests on, `beside` the rest of their sentence.

    That something lasts, only the user's own words show; that it does not, either may.
    """
    claim, quote, beside = claim[:JUDGED], quote[:JUDGED], beside[:JUDGED]
    languages = languages_of(f"{claim} {quote}".strip() or beside)
    plain = wordlists.pattern("{gate.reason}", claim).sub("", claim).strip() or claim
    plain = without_frame(plain, type)

    def marks(section: str, text: str) -> bool:
        return wordlists.in_languages(f"{{{section}}}", languages).search(text) is not None

    lasts = tuple(each for each in _FOR if marks(each, quote))
    passes = [each for each in _AGAINST if marks(each, quote) or marks(each, plain)]
    passes += ["moment.once"] if marks("moment.once", beside) else []
    passes += [code for code in _of_the_moment(quote, plain, type) if code not in passes]
    if bool(lasts) == bool(passes):
        return Shown(UNSURE, lasts, tuple(passes))
    return Shown(LASTING if lasts else MOMENT, lasts, tuple(passes))


def _of_the_moment(quote: str, claim: str, type: str) -> list[str]:
    """The codes of what is a task, progress, an event, a measurement or a passing state."""
    found = [
        code for code in OF_THE_CLAIM if PASSING[code](claim, type) or PASSING[code](quote, type)
    ]
    is_order = type not in _RULES_OF_USERS and _says("{proof.order}", quote)
    return list(dict.fromkeys([*found, *(["task"] if is_order else [])]))


def beside(quote: str, turn: str) -> str:
    """The rest of the sentence that a quote stands in, as far as it is near; "" where the turn does
    not have it."""
    at = turn.casefold().find(quote.casefold()) if quote else -1
    if at < 0:
        return ""
    before, after = turn[max(0, at - NEAR) : at], turn[at + len(quote) :][:NEAR]
    for end in _ENDS:
        before, after = before.rpartition(end)[2], after.partition(end)[0]
    return f"{before} {after}".strip()


_ENDS = (". ", "! ", "? ", "\n", "; ", "。", "！", "？", "；")


def without_frame(fact: str, type: str) -> str:
    """The fact without a frame such as "The user said that" or "The assistant should"."""
    said = wordlists.pattern("{gate.said}", fact).sub("", fact)
    if said != fact:
        said = wordlists.pattern(r"^(?:they|he|she)\b", said).sub("The user", said)
    if type == "feedback":
        said = wordlists.pattern("{gate.duty}", said).sub("", said)
    return said or fact


def _says(expression: str, fact: str) -> bool:
    return wordlists.pattern(expression, fact).search(fact) is not None


# --- what will not be true, or of use, next month ------------------------------------------------


def _task(fact: str, type: str) -> bool:
    if (_order(fact, type) or _wish(fact, type)) and not _says("{gate.each_time}", fact):
        return True
    some_day = _says("{gate.perhaps}", fact) or (
        _says("{gate.planned}", fact) and (type != "user" or _says("{gate.work}", fact))
    )
    return (some_day and not _says("{gate.dated}", fact)) or _says("{gate.to_do}", fact)


def _order(fact: str, type: str) -> bool:
    """In feedback an order is a rule, but for what was to be done there and then."""
    if type == "feedback":
        return _says("{gate.at_once}", fact)
    return (_says("{gate.order}", fact) or _says("{gate.once}", fact)) and not _says(
        "{gate.how}", fact
    )


def _wish(fact: str, type: str) -> bool:
    if type == "project":
        return _says("{gate.wants}", fact) or _says("{gate.wished_cjk}", fact)
    return (
        _says("{gate.wants}", fact)
        and _says("{gate.work}", fact)
        and not _says("{gate.rule}", fact)
    )


def _progress(fact: str, type: str) -> bool:
    if _says("{gate.forbids}", fact):
        return False
    of_user = _says("{gate.user_did}", fact) and type not in ("user", "feedback")
    if of_user or _says("{gate.progress}", fact):
        return not _says("{gate.came_to}", fact)
    if _says("{gate.progress_unless_rule}", fact) and not _says("{gate.law}", fact):
        return True
    report = _says("{gate.labelled}", fact) or (
        type != "feedback" and _says("{gate.report}", fact) and not _says("{gate.rule}", fact)
    )
    state = report or (_says("{gate.state}", fact) and not _says("{gate.if_so}", fact))
    return state and not _says("{gate.dated}", fact)


def _event(fact: str, type: str) -> bool:
    """Something that happened, and neither decided anything nor says how things are."""
    if type == "reference" or _says("{gate.year}", fact) or _says("{gate.came_to}", fact):
        return False
    # a life is told in the past tense, and so is what a preference was seen by
    if type == "user" or (type == "feedback" and _says("{gate.of_the_user}", fact)):
        return _says("{gate.in_session}", fact)
    told = _says("{gate.happened}", fact) or (fact.isascii() and _says("{gate.did}", fact))
    if told and not _says("{gate.present}", fact) and not _says("{gate.lasts}", fact):
        return True
    return (
        not fact.isascii()
        and _says("{gate.happened_cjk}", fact)
        and not _says("{gate.lasts_cjk}", fact)
    )


def _measured(fact: str, type: str) -> bool:
    return (
        type != "user"
        and _says("{gate.measured}", fact)
        and not (_says("{gate.bound}", fact) or _says("{gate.dated}", fact))
    )


def _restated(fact: str, type: str) -> bool:
    """What a piece of code does, without a rule about it."""
    rule = _says("{gate.rule}", fact) or _says("{gate.each_time}", fact)
    told = _says("{gate.handbook}", fact) or (
        _says("{gate.restated}", fact) and not _says("{gate.outside}", fact)
    )
    return type == "project" and not rule and told


def _dangling(fact: str, type: str) -> bool:
    here = (
        type != "reference" and _says("{gate.here}", fact) and not _says("{gate.each_time}", fact)
    )
    return here or _says("{gate.dangling}", fact)


def _temporary(fact: str, _: str) -> bool:
    return _says("{gate.for_now}", fact) and not _says("{gate.dated}", fact)


def _bad_feedback(fact: str, type: str) -> bool:
    """Praise, a mood or good advice that comes with no rule."""
    if type != "feedback":
        return False
    advice = _says("{gate.platitude}", fact) and not _says("{gate.particular}", fact)
    return advice or (_says("{gate.mood}", fact) and not _says("{gate.rule}", fact))


def _bad_decision(fact: str, type: str) -> bool:
    """A decision that does not say what was chosen."""
    decided = type == "project" and _says("{gate.decided}", fact)
    return decided and _says("{gate.no_choice}", fact)


PASSING: dict[str, Callable[[str, str], bool]] = {
    "task": _task,
    "progress": _progress,
    "event": _event,
    "measured": _measured,
    "restated": _restated,
    "temporary": _temporary,
    "bad_feedback": _bad_feedback,
    "bad_decision": _bad_decision,
    "dangling": _dangling,
}
