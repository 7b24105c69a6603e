"""Whether a session bears a candidate out: its quote must stand in a turn, and in whose. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from mdmemory.capture import quotes
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.claims import fold, invented
from mdmemory.capture.takebacks import is_meant, later
from mdmemory.capture.triggers import FLOOR, find, own, weight
from mdmemory.note.limits import MAX_DESCRIPTION
from mdmemory.text.wordlists import search
from mdmemory.text.words import keys
from mdmemory.transcripts.turns import Turn

USER_ONLY = ("user", "feedback")  # what these claim about the user, the user said

_AROUND = " \t\"'“”‘’「」…."
ROOT = 5  # letters
_CLAUSES = re.compile(r"[.!;?]\s|[\n。！；？，,]")


class Said(NamedTuple):
    """A turn as it is compared: all of its text, and what of it are the speaker's own words."""

    turn: Turn
    text: str
    own: str
    typed: str = ""  # the same, as they stand
    unwanted: bool = False  # the user asked not to remember it
    taken_back: tuple[str, ...] = ()  # subjects that the user took back later

    def refuses(self, text: str) -> bool:
        """Whether the user does not want a text of this turn remembered."""
        return self.unwanted or any(is_meant(subject, text) for subject in self.taken_back)


class Fate(NamedTuple):
    """What becomes of a proposal by how long it holds: it waits for `reasons`, or is dropped for
    them (`is_dropped`); without reasons it is stored."""

    reasons: tuple[str, ...] = ()
    is_dropped: bool = False


STORED = Fate()


class Proof(NamedTuple):
    """What bears a candidate out. `dropped` or `waits` say in a word what is wrong, or are "".

    `turn` is the id of the turn that the quote stands in; `by_user`: it is the user's own words;
    `words` are those of the turn, which a quote may give with small changes.
    `fate` is what becomes of a note that is made of it, as far as its time goes.
    """

    turn: str = ""
    by_user: bool = False
    dropped: str = ""
    waits: tuple[str, ...] = ()
    words: str = ""
    fate: Fate = STORED


def heard(turns: Sequence[Turn]) -> list[Said]:
    """The turns (redacted, without memory and private text), ready to be searched."""
    found = []
    taken_back = later(turns)
    for at, turn in enumerate(turns):
        # the assistant quotes nobody: what it shows is its own
        bare = own(turn.text) if turn.role == "user" else turn.text
        unwanted = _is_unwanted(turn)
        found.append(Said(turn, fold(turn.text), fold(bare), bare, unwanted, taken_back[at]))
    users = [at for at, each in enumerate(found) if each.turn.role == "user"]
    for before, at in pairwise(users):
        if found[at].unwanted and _speaks_of_before(found[at].turn):
            found[before] = found[before]._replace(unwanted=True)
    return found


def prove(candidate: Candidate, type: str, said: Sequence[Said], note: str = "") -> Proof:
    """What the session has on a candidate for a note of this type; `note` is the text of the one
    it names, which it may repeat."""
    quote = fold(candidate.quote).strip(_AROUND)
    if weight(quote) < FLOOR:
        return Proof(dropped="no_evidence")
    places = list(_places(candidate.quote, quote, said))
    if not places:
        return Proof(dropped="no_evidence")
    # said again later, and not taken back there, it counts
    claim = f"{candidate.quote}\n{candidate.description}"
    wanted = [each for each in places if not each.said.refuses(claim)]
    if not wanted:
        return Proof(dropped="negated")
    place = max(wanted, key=_Place.worth)  # of several as good the first, so the newest go first
    turn = place.said.turn.id
    if not place.is_own and type in USER_ONLY:
        return Proof(turn, dropped="not_the_users_words" if place.surely else "no_evidence")
    given = candidate._replace(quote=place.words)
    if type not in USER_ONLY and candidate.action != "reinforce" and _is_order(given):
        return Proof(turn, dropped="task")
    sources = [note, *(each.turn.text for each in said)]
    waits = _doubts(given, place, sources)
    return Proof(turn, place.is_own, waits=tuple(dict.fromkeys(waits)), words=place.words)


class _Place(NamedTuple):
    """Where a quote stands: `words` of the turn itself, `surely` those that were quoted;
    `is_own`: the user typed them."""

    said: Said
    words: str
    is_own: bool
    surely: bool = True
    is_exact: bool = True

    def worth(self) -> tuple[bool, bool, bool]:
        return self.surely and self.is_own, self.surely, self.is_own


def _places(quote: str, folded: str, said: Sequence[Said]) -> Iterator[_Place]:
    """Where a quote stands, or nearly stands, in the turns, the newest first."""
    for each in reversed(said):
        by_user = each.turn.role == "user"
        if folded in each.text:
            is_own = by_user and folded in each.own
            yield _Place(each, quote, is_own)
            if is_own or not by_user:
                continue
        texts = (each.typed, each.turn.text) if by_user else (each.turn.text,)
        found = ((text, quotes.find(quote, quotes.words_of(text))) for text in texts)
        for text, near in ((text, near) for text, near in found if near is not None):
            yield _Place(each, near.words, by_user and text is each.typed, near.surely, False)
            break


def _is_order(candidate: Candidate) -> bool:
    """Whether a quote only tells the assistant to do something. Where it gives a reason, or a
    clause of it asks for nothing and has a word of what is claimed, there is a fact in it: whether
    that lasts is asked."""
    quote = candidate.quote
    if not search("{proof.order}", quote) or search("{gate.reason}", quote):
        return False
    clauses = (part for part in _CLAUSES.split(quote) if weight(part) >= FLOOR)
    plain = (part for part in clauses if not search("{proof.order}", part))
    return not any(_share_a_word(part, candidate.description) for part in plain)


def _doubts(candidate: Candidate, place: _Place, sources: Iterable[str]) -> Iterator[str]:
    said = place.said
    if not place.is_own:
        yield "assistant_said" if said.turn.role == "assistant" else "pasted"
    words = fold(place.words).strip(_AROUND)
    if not place.surely or quotes.is_cut_off(words, said.own if place.is_own else said.text):
        yield "weak_evidence"
    if _is_asked(words, said.own):
        yield "question"
    if candidate.action == "reinforce":
        return
    claim = f"{candidate.description}\n\n{candidate.body}"
    if not _share_a_word(words, claim):
        yield "weak_evidence"
    if invented(claim, sources, said.turn.day):
        yield "invented"


def _share_a_word(words: str, claim: str) -> bool:
    """Whether a claim has a word of what was said, in whatever form."""
    mine, theirs = {*keys(words)}, {*keys(claim)}
    return bool(mine & theirs) or bool(_roots(mine) & _roots(theirs))


def _roots(words: Iterable[str]) -> set[str]:
    """The beginnings of longer words: they are the same in most forms of a word."""
    return {word[:ROOT] for word in words if len(word) >= ROOT}


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
