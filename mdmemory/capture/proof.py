"""Whether a session bears a candidate out: its quote must stand in a turn, and in whose. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mdmemory.capture.candidates import Candidate
from mdmemory.capture.takebacks import is_meant, later
from mdmemory.capture.triggers import FLOOR, find, own, weight
from mdmemory.note.limits import MAX_DESCRIPTION
from mdmemory.text import literals
from mdmemory.text.wordlists import search
from mdmemory.text.words import keys
from mdmemory.transcripts.turns import Turn

USER_ONLY = ("user", "feedback")  # what these claim about the user, the user said

_AROUND = " \t\"'“”‘’「」…."
_DATE = re.compile(r"\d{4}(?:-\d\d){1,2}")
_REASON = re.compile(r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：][*_ \t]*")


def fold(text: str) -> str:
    """A text as it is compared: composed, one case, each run of space one space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'}).split())


def invented(claim: str, sources: Iterable[str]) -> list[str]:
    """The literals of a claim that stand in none of the sources.

    A date is none (what was said as "next Friday" is written out), nor is a single digit, nor a
    link; and case says nothing in what people type.
    """
    said = [fold(text) for text in sources]
    _, found = literals.audit(said, _REASON.sub("", claim))
    whole = "\n".join(said)
    return [
        literal
        for literal in found
        if len(literal) > 1
        and not _DATE.fullmatch(literal)
        and not literal.startswith("[[")
        and not literals.stands(fold(literal), whole)
    ]


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as it is compared: all of its text, and what of it are the speaker's own words."""

    turn: Turn
    text: str
    own: str
    unwanted: bool = False  # the user asked not to remember it
    taken_back: tuple[str, ...] = ()  # subjects that the user took back later

    def refuses(self, text: str) -> bool:
        """Whether the user does not want a text of this turn remembered."""
        return self.unwanted or any(is_meant(subject, text) for subject in self.taken_back)


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a proposal by how long it holds: it waits for `reasons`, or is dropped for
    them (`is_dropped`); without reasons it is stored."""

    reasons: tuple[str, ...] = ()
    is_dropped: bool = False


STORED = Fate()


@dataclass(frozen=True, slots=True)
class Proof:
    """What bears a candidate out. `dropped` or `waits` say in a word what is wrong, or are "".

    `turn` is the id of the turn that the quote stands in; `by_user`: it is the user's own words.
    `fate` is what becomes of a note that is made of it, as far as its time goes.
    """

    turn: str = ""
    by_user: bool = False
    dropped: str = ""
    waits: tuple[str, ...] = ()
    fate: Fate = STORED


def heard(turns: Sequence[Turn]) -> list[Said]:
    """The turns (redacted, without memory and private text), ready to be searched."""
    found = []
    taken_back = later(turns)
    for at, turn in enumerate(turns):
        # the assistant quotes nobody: what it shows is its own
        bare = own(turn.text) if turn.role == "user" else turn.text
        unwanted = _is_unwanted(turn)
        found.append(Said(turn, fold(turn.text), fold(bare), unwanted, taken_back[at]))
    users = [at for at, each in enumerate(found) if each.turn.role == "user"]
    for before, at in pairwise(users):
        if found[at].unwanted and _speaks_of_before(found[at].turn):
            found[before] = replace(found[before], unwanted=True)
    return found


def prove(candidate: Candidate, type: str, said: Sequence[Said], note: str = "") -> Proof:
    """What the session has on a candidate for a note of this type; `note` is the text of the one
    it names, which it may repeat."""
    quote = fold(candidate.quote).strip(_AROUND)
    if weight(quote) < FLOOR:
        return Proof(dropped="no_evidence")
    places = [each for each in said if quote in each.text]
    if not places:
        return Proof(dropped="no_evidence")
    # said again later, and not taken back there, it counts
    claim = f"{candidate.quote}\n{candidate.description}"
    wanted = [each for each in places if not each.refuses(claim)]
    if not wanted:
        return Proof(dropped="negated")
    own = [each for each in wanted if each.turn.role == "user" and quote in each.own]
    place = (own or wanted)[-1]
    if not own and type in USER_ONLY:
        return Proof(place.turn.id, dropped="not_the_users_words")
    if type not in USER_ONLY and candidate.action != "reinforce" and search("{proof.order}", quote):
        return Proof(place.turn.id, dropped="task")
    sources = [note, *(each.turn.text for each in said)]
    waits = _doubts(candidate, quote, place, bool(own), sources)
    return Proof(place.turn.id, bool(own), waits=tuple(waits))


def _doubts(
    candidate: Candidate, quote: str, place: Said, by_user: bool, sources: Iterable[str]
) -> Iterable[str]:
    if not by_user:
        yield "assistant_said" if place.turn.role == "assistant" else "pasted"
    if _is_asked(quote, place.own):
        yield "question"
    if candidate.action == "reinforce":
        return
    claim = f"{candidate.description}\n\n{candidate.body}"
    if not set(keys(quote)) & set(keys(claim)):
        yield "weak_evidence"
    if invented(claim, sources):
        yield "invented"


def _is_asked(quote: str, text: str) -> bool:
    """Whether the sentence that the quote ends in is a question, and no request."""
    at = text.find(quote)
    if at < 0:
        return False
    before = re.split(r"[.!。！]\s|\n", text[:at])[-1]
    after = re.match(r"[^.!?。！？\n]{0,200}[?？]", text[at + len(quote) :])
    asked = bool(after) or quote.endswith(("?", "？"))
    return asked and not search("{proof.request}", before + quote)


def _is_unwanted(turn: Turn) -> bool:
    return turn.role == "user" and any(trigger.negated for trigger in find(turn.text))


def _speaks_of_before(turn: Turn) -> bool:
    """ "Don't remember that", and little else: it means what was said before."""
    return weight(turn.text) <= MAX_DESCRIPTION // 2 and bool(search("{proof.that}", turn.text))
