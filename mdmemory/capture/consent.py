"""Whether the user's own words ask for what an assistant wants to do with a note. Pure.

A typed turn proves what it says and no more: what was pasted or quoted in it proves nothing, and a
bare "yes" only the one thing that the question just before it named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mdmemory.capture import takebacks
from mdmemory.capture.claims import fold, invented
from mdmemory.capture.takebacks import SHARE, SPOKEN_OF, Takeback, is_doubted
from mdmemory.capture.triggers import FLOOR, weight
from mdmemory.note.note import Note
from mdmemory.text.polarity import may_deny
from mdmemory.text.wordlists import search
from mdmemory.text.words import keys
from mdmemory.transcripts.turns import Turn

_AROUND = " \t\"'“”‘’「」…."
_END = re.compile(r"(?<=[.!?;])[ \t]+|(?<=[。！？；])|\n")
_LAST = 1_000  # characters at the end of an answer in which its question may stand

# Why something is not proven, for the assistant.
WHY = {
    "no_quote": "no words of the user were quoted",
    "unheard": "this host does not show what the user typed",
    "not_said": "the user typed no such words",
    "not_asked": "these words of the user do not ask for it",
    "other_subject": "these words of the user do not name this note",
    "claims_more": "the new text says more than these words of the user",
    "anothers": "another person wrote it",
    "too_many": "one message of the user removes at most three notes",
}


@dataclass(frozen=True, slots=True)
class Consent:
    """`turn` is the id of the turn that proves it; else `why` says, in a key of WHY, what lacks."""

    turn: str = ""
    why: str = ""


def to_forget(quote: str, turns: Sequence[Turn], note: Note, others: Iterable[Note]) -> Consent:
    """Whether the turns of a session ask to forget a note; `others` are the rest of the store,
    which may be read only when it is asked for."""
    why = _unusable(quote, turns)
    for at, text in _places(quote, turns) if not why else ():
        why = why or "not_asked"
        if takebacks.is_yes(text):
            question = _question_before(turns, at)
            is_asked = search("{back.shall}", question) and not is_doubted(question)
            if is_asked and not _denies(question, note) and _is_named(note, others, question):
                return Consent(turns[at].id)
            continue
        wishes = takebacks.asks_to_forget(takebacks.find(turns[at].text))
        for wish in (each for each in wishes if _overlap(quote, each.sentence)):
            if _is_open(wish, note):
                continue
            why = "other_subject"
            if _means(wish, turns, at, note, others):
                return Consent(turns[at].id)
    return Consent(why=why or "not_said")


def to_say(
    quote: str, turns: Sequence[Turn], content: str, note: Note, others: Iterable[Note]
) -> Consent:
    """Whether the turns of a session say `content` in place of what a note says."""
    why = _unusable(quote, turns)
    for at, text in _places(quote, turns) if not why else ():
        if takebacks.is_yes(text):
            question = _question_before(turns, at)
            if _is_named(note, others, question) and _holds(content, question):
                return Consent(turns[at].id)
            why = why or "not_asked"
            continue
        said = "\n".join(each for each in _sentences(text) if not _is_question(each))
        sentence = next((s for s in _sentences(said) if _overlap(quote, s)), "")
        known = f"{note.head.description}\n{note.body}"
        if not sentence or (is_doubted(sentence) and not is_doubted(content)):
            why = "not_asked"
        elif not _speaks_of(sentence, content, known):
            why = "other_subject"
        elif not _follows(content, said, known):
            why = "claims_more"
        else:
            return Consent(turns[at].id)
    return Consent(why=why or "not_said")


def _unusable(quote: str, turns: Sequence[Turn]) -> str:
    if not quote.strip():
        return "no_quote"
    return "" if any(turn.role == "user" for turn in turns) else "unheard"


def _places(quote: str, turns: Sequence[Turn]) -> Iterator[tuple[int, str]]:
    """The user's turns that hold the quote in words of their own, the newest first, each with
    these words."""
    wanted = fold(quote).strip(_AROUND)
    for at in range(len(turns) - 1, -1, -1):
        if turns[at].role == "user" and wanted in fold(turns[at].text):
            text = takebacks.typed(turns[at].text)
            is_whole = weight(wanted) >= FLOOR or wanted == fold(text).strip(_AROUND)
            if wanted and is_whole and wanted in fold(text):
                yield at, text


def _overlap(quote: str, sentence: str) -> bool:
    one, other = (fold(text).strip(_AROUND) for text in (quote, sentence))
    return bool(one and other) and (one in other or other in one)


def _is_open(wish: Takeback, note: Note) -> bool:
    """Whether a sentence leaves open that the note is to go: a question, a condition, the word of
    others, or a negation that is not the note's own."""
    is_question = _is_question(wish.sentence) and not search("{proof.request}", wish.sentence)
    return is_question or wish.doubted or (wish.denies and _denies(wish.sentence, note))


def _denies(text: str, note: Note) -> bool:
    return may_deny(text) and not may_deny(note.text)


# --- what is meant -------------------------------------------------------------------------------


def _means(
    wish: Takeback, turns: Sequence[Turn], at: int, note: Note, others: Iterable[Note]
) -> bool:
    """Whether a wish is about this note, and no other fits it better."""
    if takebacks.names(note, wish.sentence):
        return True
    if any(takebacks.names(each, wish.sentence) for each in others):
        return False
    if wish.subject:
        if invented(wish.subject, [note.text, note.head.file]):
            return False  # "delete that class from src/x.py" is about no note
        mine = takebacks.share(wish.subject, note)
        rest = (takebacks.share(wish.subject, each) for each in others)
        return mine >= SHARE and mine >= max(rest, default=0.0)
    return any(_is_spoken_of(note, others, text) for text in _before(turns, at, wish))


def _before(turns: Sequence[Turn], at: int, wish: Takeback) -> Iterator[str]:
    """What a wish that only points may point at: the sentence before it, or the message before,
    and where it says that something is no longer so, the answer before."""
    earlier = [*_sentences(turns[at].text.partition(wish.sentence)[0])]
    if earlier:
        yield earlier[-1]
        return
    previous = [turn for turn in turns[:at] if turn.role == "user"]
    if previous:
        yield takebacks.typed(previous[-1].text)
    if at and turns[at - 1].role == "assistant" and wish.kind == takebacks.OUTDATED:
        yield turns[at - 1].text


def _is_spoken_of(note: Note, others: Iterable[Note], text: str) -> bool:
    """Whether a text says what a note says, and none of the others as much."""
    there = {*keys(text)}
    mine = _part(note.head.description, there)
    rest = (_part(each.head.description, there) for each in others)
    return mine >= SPOKEN_OF and mine > max(rest, default=0.0)


def _is_named(note: Note, others: Iterable[Note], question: str) -> bool:
    """Whether a question names this note and no other."""
    if any(takebacks.names(each, question) for each in others):
        return False
    return takebacks.names(note, question) or _is_spoken_of(note, others, question)


def _question_before(turns: Sequence[Turn], at: int) -> str:
    """The one question at the end of the answer before a turn; "" where there is none, or two."""
    if not at or turns[at - 1].role != "assistant":
        return ""
    found = [each for each in _sentences(turns[at - 1].text[-_LAST:]) if _is_question(each)]
    return found[0] if len(found) == 1 else ""


# --- what follows --------------------------------------------------------------------------------


def _speaks_of(sentence: str, content: str, known: str) -> bool:
    """Whether a sentence is on the matter of a note and of its new text, and of nothing else."""
    said = {*keys(sentence)}
    if not said & {*keys(known)} & {*keys(content)}:
        return False
    return _part(" ".join(said), {*keys(content), *keys(known)}) >= SPOKEN_OF


def _follows(content: str, said: str, known: str) -> bool:
    """Whether each word and literal of the new text stands in the message or in the note, and no
    sentence of the message denies it."""
    from mdmemory.text.contradiction import speaks_against

    if {*keys(content)} - {*keys(said)} - {*keys(known)} or invented(content, [said, known]):
        return False
    return not any(speaks_against(each, content) for each in _sentences(said))


def _holds(content: str, question: str) -> bool:
    return not {*keys(content)} - {*keys(question)} and not invented(content, [question])


def _part(text: str, there: set[str]) -> float:
    """The share of the words of a text that stand in `there`."""
    wanted = {*keys(text)}
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _sentences(text: str) -> list[str]:
    return [each for each in _END.split(text) if each and each.strip()]


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(" \t\"'”*_)").endswith(("?", "？"))
