"""The second question: whether each proposal lasts, and what the answer to it is worth. Pure.

The model is asked once more, about each proposal in its surroundings. Its verdict and what the
words show decide together: both sure, it is stored; both against it, it is dropped; else it waits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mdmemory.capture import endurance
from mdmemory.capture.candidates import Candidate, cleaned
from mdmemory.capture.duplicates import canonical
from mdmemory.capture.endurance import LASTING, MOMENT, Shown
from mdmemory.capture.pending import PendingFact
from mdmemory.capture.proof import STORED, Fate
from mdmemory.errors import MdmemoryError
from mdmemory.text.polarity import may_deny
from mdmemory.text.similarity import likeness
from mdmemory.text.words import keys
from mdmemory.transcripts.turns import Turn

UNCLEAR = "unclear"
VERDICTS = (LASTING, MOMENT, UNCLEAR)

MAX_QUESTION = 24_000  # characters of one question; more is asked in parts
TURN = 600  # characters that are shown of the turn a quote stands in
BESIDE = 160  # characters of the turns before and after it
SAME = 0.8  # of their words, two wordings of one fact have at least this share in common
REASON = 120  # characters of a reason that are kept
MANY = 6  # proposals of one answer: so many hardly ever all last
PLAIN = 2  # plainly momentary proposals from which on they tell of the judge
KEPT = 40  # plainly momentary proposals that the record goes back

# Why a proposal waits or is dropped: codes of the inbox and of the evidence log.
MOMENTARY, UNSURE, WORDS, DOUBTED = "momentary", "unclear", "momentary_words", "doubted_judge"
REASONS = (MOMENTARY, UNSURE, WORDS, DOUBTED)


@dataclass(frozen=True, slots=True)
class TimeVerdict:
    """What the model says of one proposal: one of VERDICTS, and why."""

    word: str = UNCLEAR
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What questions cost: calls, and tokens in and out (0 where the server does not say)."""

    calls: int = 0
    input: int = 0
    output: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.calls + other.calls, self.input + other.input, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal that is asked about: the number of its turn among the turns, and what its words
    show."""

    candidate: Candidate
    turn: int
    shown: Shown


@dataclass(frozen=True, slots=True)
class Record:
    """How a model judged so far: of the `plain` proposals that its words show to be of the moment
    it called `affirmed` lasting; `denied` counts all that it did not call lasting."""

    plain: int = 0
    affirmed: int = 0
    denied: int = 0

    def __add__(self, other: Record) -> Record:
        return Record(
            self.plain + other.plain, self.affirmed + other.affirmed, self.denied + other.denied
        )

    def aged(self) -> Record:
        """The record with its older half forgotten where it is long: a server's model changes."""
        if self.plain <= KEPT:
            return self
        return Record(self.plain // 2, self.affirmed // 2, self.denied // 2)


NO_RECORD = Record()


def is_same(candidate: Candidate, fact: PendingFact) -> bool:
    """Whether a proposal says what a fact says that waits: in the same words, or nearly so."""
    mine, theirs = (candidate.body, candidate.description), (fact.body, fact.description)
    if {*map(canonical, mine)} & {*map(canonical, theirs)} - {""}:
        return True
    one, other = candidate.description, fact.description
    if may_deny(one) != may_deny(other) or _numbers(one) != _numbers(other):
        return False
    return likeness({*keys(one)}, {*keys(other)}) >= SAME


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The verdicts on the proposals of one answer. `is_believed`: the model tells lasting and
    momentary apart, so that its word counts where the words are unsure. `this` is what the answer
    adds to the model's record, `waiting` the facts of other sessions that wait for their time,
    `failure` why there are fewer verdicts than proposals."""

    proposed: tuple[Proposed, ...] = ()
    verdicts: tuple[TimeVerdict, ...] = ()
    is_believed: bool = True
    this: Record = NO_RECORD
    waiting: tuple[PendingFact, ...] = ()
    cost: Cost = Cost()
    failure: MdmemoryError | None = None

    def as_json(self) -> dict[str, Any]:
        """What programs are told of it."""
        cost = {"input": self.cost.input, "output": self.cost.output, "calls": self.cost.calls}
        told = {"asked": len(self.proposed), "believed": self.is_believed, "tokens": cost}
        return told | ({"failure": self.failure.code} if self.failure else {})

    def as_text(self) -> str:
        """The same for people, in one line."""
        if self.failure is not None and self.failure.code == "over_cap" and not self.cost.calls:
            what = f"Whether what it found lasts ({len(self.proposed)}) was not asked."
            return f"{what} {self.failure.message} It waits."
        spent = f"{self.cost.input:,} tokens in, {self.cost.output:,} out"
        told = f"Asked once more whether what it found lasts ({len(self.proposed)}; {spent})."
        if self.failure is not None:
            return f"{told} {self.failure.message} What had no answer waits."
        doubt = "It calls nearly everything lasting, so its word alone does not count."
        return told if self.is_believed else f"{told} {doubt}"

    def fate(self, candidate: Candidate) -> Fate:
        """What becomes of a proposal, as far as its time goes. One without a verdict waits, and
        one that waits since another session is stored unless the model calls it momentary."""
        for each, verdict in zip(self.proposed, self.verdicts, strict=True):
            if each.candidate == candidate:
                fate = decided(each.shown, verdict, is_believed=self.is_believed)
                is_against = MOMENT in (verdict.word, each.shown.value)
                said_again = not is_against and any(is_same(candidate, one) for one in self.waiting)
                return STORED if said_again else fate
        return Fate((UNSURE,))


def rank(fact: PendingFact) -> int:
    """How likely a fact that waits is to last; the inbox shows the highest first."""
    score = endurance.shown(fact.description, fact.quote, fact.type).score
    return score - (len(REASONS) * 2 if MOMENTARY in fact.reasons else 0)


def _numbers(text: str) -> list[str]:
    return [word.strip(".,;:!?()") for word in text.split() if any(map(str.isdigit, word))]


def decided(shown: Shown, verdict: TimeVerdict, *, is_believed: bool) -> Fate:
    """What the two judges come to."""
    against = shown.value == MOMENT
    if verdict.word == MOMENT:
        return Fate((MOMENTARY, *shown.passes), True) if against else Fate((MOMENTARY,))
    if against:
        return Fate((WORDS, *((UNSURE,) if verdict.word == UNCLEAR else ())))
    if verdict.word == UNCLEAR:
        return Fate((UNSURE,))
    return STORED if is_believed or shown.value == LASTING else Fate((DOUBTED,))


def looked(
    proposed: Sequence[Proposed], verdicts: Mapping[int, TimeVerdict], before: Record = NO_RECORD
) -> SecondLook:
    """The verdicts (by the proposals' places), weighed with the model's record `before` this."""
    given = tuple(verdicts.get(at, TimeVerdict()) for at in range(len(proposed)))
    words = [each.word for each in given]
    plain = [word for each, word in zip(proposed, words, strict=True) if each.shown.value == MOMENT]
    # who did not answer said nothing
    denied = sum(each.word != LASTING for each in verdicts.values())
    this = Record(len(plain), plain.count(LASTING), denied)
    return SecondLook(tuple(proposed), given, is_judge(before + this, len(words)), this)


def is_judge(record: Record, asked: int) -> bool:
    """Whether a model tells lasting and momentary apart, by its record with the answer about
    `asked` proposals.

    It is believed as long as nothing speaks against it: one to three proposals that all last are
    what a good proposer brings, and a model that never proposes junk could never show that it says
    no. It is not believed where it calls most of what is plainly of the moment lasting, or, as long
    as too little of that is known, where it never said anything but `lasting` and was either wrong
    or asked about many at once.
    """
    if record.plain >= PLAIN:
        return 2 * record.affirmed <= record.plain
    return record.denied > 0 or (not record.affirmed and asked < MANY)


def proposal(candidate: Candidate, turn: int, turns: Sequence[Turn]) -> Proposed:
    """A candidate whose quote stands in the turn at this place of `turns`, -1 for none."""
    said = cleaned(candidate)
    rest = endurance.beside(said.quote, turns[turn].text) if 0 <= turn < len(turns) else ""
    shown = endurance.shown(said.description, said.quote, said.type, beside=rest)
    return Proposed(candidate, turn, shown)


# --- the question --------------------------------------------------------------------------------


def parts(
    proposed: Sequence[Proposed], turns: Sequence[Turn], today: str, room: int = MAX_QUESTION
) -> list[range]:
    """The places of `proposed` that each question is about, so that its text has at most `room`
    characters; a proposal that alone has more is a question of its own."""
    found: list[range] = []
    first = 0
    for end in range(1, len(proposed) + 1):
        longer = range(first, end + 1)
        if end == len(proposed) or len(question(proposed, longer, turns, today)) > room:
            found.append(range(first, end))
            first = end
    return found


def question(proposed: Sequence[Proposed], places: range, turns: Sequence[Turn], today: str) -> str:
    """The question about the proposals at these places; `turns` are redacted."""
    facts = [
        {
            "number": str(at + 1), "text": proposed[at].candidate.description,
            "quote": proposed[at].candidate.quote, "around": around(proposed[at], turns),
        }
        for at in places
    ]  # fmt: skip
    return json.dumps({"today": today, "facts": facts}, ensure_ascii=False)


def around(proposed: Proposed, turns: Sequence[Turn]) -> list[dict[str, str]]:
    """The turn that a quote stands in, and a line of those before and after it."""
    at = proposed.turn
    if not 0 <= at < len(turns):
        return []
    found = []
    if at:
        found.append({"role": turns[at - 1].role, "text": _end(turns[at - 1].text)})
    found.append({"role": turns[at].role, "text": _part(turns[at].text, proposed.candidate.quote)})
    if at + 1 < len(turns):
        found.append({"role": turns[at + 1].role, "text": _begin(turns[at + 1].text)})
    return found


def _begin(text: str) -> str:
    return text if len(text) <= BESIDE else f"{text[:BESIDE].rstrip()} …"


def _end(text: str) -> str:
    return text if len(text) <= BESIDE else f"… {text[-BESIDE:].lstrip()}"


def _part(text: str, quote: str) -> str:
    """The part of a long turn that has the quote in its middle."""
    if len(text) <= TURN:
        return text
    middle = max(0, text.casefold().find(quote.casefold())) + len(quote) // 2
    begin = max(0, min(middle - TURN // 2, len(text) - TURN))
    cut = text[begin : begin + TURN].strip()
    return f"{'… ' if begin else ''}{cut}{' …' if begin + TURN < len(text) else ''}"


# --- the answer ----------------------------------------------------------------------------------


def read(objects: Sequence[object], places: range) -> dict[int, TimeVerdict]:
    """The verdicts of an answer on these places, one by one; what cannot be read is left out, and
    of two verdicts on one number neither counts."""
    found: dict[int, TimeVerdict] = {}
    twice = set()
    for each in objects:
        if not isinstance(each, dict):
            continue
        word, number = each.get("verdict"), str(each.get("number", "")).strip()
        at = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if at not in places or not isinstance(word, str):
            continue
        if at in found:
            twice.add(at)
        reason = each.get("reason")
        said = " ".join(reason.split())[:REASON] if isinstance(reason, str) else ""
        word = word.strip().casefold()
        found[at] = TimeVerdict(word if word in VERDICTS else UNCLEAR, said)
    return {at: verdict for at, verdict in found.items() if at not in twice}
