"""What a user wants out of the memory, or says is no longer so, in their own typed words. Pure.

Nothing is done because of it: it tells which notes to offer to the assistant, and is part of the
proof that a person wanted one gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from mdmemory import bounds
from mdmemory.capture import wordings
from mdmemory.capture.triggers import JUDGED, said, squeezed, weight
from mdmemory.capture.whose import BLANK
from mdmemory.note.limits import MAX_DESCRIPTION
from mdmemory.note.note import Note
from mdmemory.text.polarity import may_deny
from mdmemory.text.wordlists import fullmatch, match, pattern, search
from mdmemory.text.words import keys
from mdmemory.transcripts.turns import Turn

FORGET, UNWANTED, OUTDATED, CORRECT = "forget", "unwanted", "outdated", "correct"
MOST = 8  # sentences of one message
SHARE = 0.5  # of the words of a subject that a note has to have, to be meant by it
SPOKEN_OF = 0.6  # of the words of a fact that stand in a text that speaks of it
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?…]+(?=[ \t]|\n|\Z)|[。！？]+|(?=\n)|\Z)")
_TRAILING = " \t.!?。！？…\"'“”«»,;:"


class Takeback(NamedTuple):
    """`kind` is forget, unwanted ("don't remember ..."), outdated or correct. `subject` are the
    words that say what is meant, "" where the sentence only points at what was said before.
    `plain`: it can mean nothing but this memory. `doubted`: told of others, or under a condition;
    `denies`: with a negation besides ("vergiss das nicht"), so it may mean the opposite."""

    kind: str
    sentence: str
    subject: str
    plain: bool = False
    doubted: bool = False
    denies: bool = False


def find(text: str) -> list[Takeback]:
    """Every such sentence that the user typed, in their order; of quotations and pastes none."""
    text, masked = _typed(text)
    found = (_of(masked[s:e], text[s:e]) for s, e in _sentences(masked))
    return list(islice(filter(None, found), MOST))


def asks_to_forget(found: Iterable[Takeback]) -> list[Takeback]:
    """Those that want something gone."""
    return [each for each in found if each.kind != CORRECT]


def typed(text: str) -> str:
    """What the user surely typed: the beginning of a message, up to the first line that is
    another's, or that announces another's words. What is behind it may be pasted, too."""
    return _typed(text)[0]


def _typed(text: str) -> tuple[str, str]:
    """The same, and with what it quotes blanked out at equal length."""
    text = squeezed(bounds.beginning(text))
    masked = said(text)[0]
    end = 0
    for line in masked.split("\n"):
        if line and not line.strip(BLANK + " \t"):
            break
        end += len(line) + 1
        if line.rstrip().endswith((":", "：")):
            break
    return text[:end], masked[:end]


def later(turns: Sequence[Turn]) -> list[tuple[str, ...]]:
    """For each turn what the user took back after it: subjects, and "" where all of it was meant
    ("don't remember that" in their next message)."""
    found: list[tuple[str, ...]] = []
    subjects: tuple[str, ...] = ()
    points = False
    for turn in reversed(turns):
        mine = turn.role == "user"
        found.append((*subjects, *([""] if mine and points else [])))
        if mine:
            wishes = [each for each in find(turn.text) if each.kind in (FORGET, UNWANTED)]
            subjects += tuple(each.subject for each in wishes if each.subject)
            points = any(not each.subject and each.plain for each in wishes) and _is_short(turn)
    return found[::-1]


def _is_short(turn: Turn) -> bool:
    """Whether a message says little else, so that "that" means the message before."""
    return weight(turn.text) <= MAX_DESCRIPTION // 2


def is_meant(subject: str, text: str) -> bool:
    """Whether a text has enough of a subject's words to be meant by it; "" means any text."""
    wanted, there = subject_keys(subject), {*keys(text)}
    return sum(word in there for word in wanted) >= SHARE * len(wanted)


def says(text: str, fact: str) -> bool:
    """Whether a text has most words of a fact."""
    wanted, there = {*keys(fact)}, {*keys(text)}
    return len(wanted & there) >= SPOKEN_OF * len(wanted) > 0


def subject_keys(text: str) -> list[str]:
    """The words of a subject that tell what is meant, as `keys` gives them."""
    plain = pattern(r"\b{back.light}\b|{back.light}(?=\W|$)", text).sub(" ", text)
    return list(dict.fromkeys(keys(plain)))


def share(subject: str, note: Note) -> float:
    """The share of a subject's words that stand in a note, from 0 to 1; 0 for no words."""
    wanted = subject_keys(subject)
    there = {*keys(_text(note))}
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0


def names(note: Note, text: str) -> bool:
    """Whether a text names a note: its file, its stem, or its name where that is no plain word."""
    bare = text.casefold()
    stem = note.head.file.removesuffix(".md").casefold()
    name = note.head.name.casefold()
    return stem in bare or ("-" in name and name in bare)


def is_yes(text: str) -> bool:
    """Whether a message agrees, and says nothing else."""
    words = text.strip()[:60].strip(_TRAILING)
    return bool(fullmatch(r"{back.yes}(?:[ ,.!，。！]+{back.yes}){0,2}", words))


def _text(note: Note) -> str:
    head = note.head
    aliases = " ".join(head.aliases)
    return f"{head.name.replace('-', ' ')} {aliases}\n{head.title}\n{head.description}\n{note.body}"


def _sentences(masked: str) -> Iterable[tuple[int, int]]:
    for each in _SENTENCE.finditer(masked):
        if each[0].strip() and not each[0].startswith(BLANK):
            yield each.start(), min(each.end(), each.start() + JUDGED)


def _of(sentence: str, shown: str) -> Takeback | None:
    """What a sentence (`shown` with what it quotes) wants to be taken back."""
    for kind, expression, is_plain in _OPENINGS:
        opening = match(wordings.LEAD + expression, sentence)
        if opening:
            subject = _subject(shown[opening.end() :])
            if not is_plain and not subject:
                is_plain = bool(_points(shown[opening.end() :]))
            return _told(kind, shown, shown[opening.end() :], is_plain, subject)
    if closing := search(r"{back.closes}[。！!. \t]*$", sentence):
        return _told(FORGET, shown, shown[: closing.start()], plain=True)
    if refused := search(r"(?P<p>{trigger.refused})[。！!. \t]*$", sentence):
        return _told(UNWANTED, shown, shown[: refused.start()], plain=True)
    if untrue := search("{back.untrue}", sentence):
        return _told(OUTDATED, shown, shown[: untrue.start()] + " " + shown[untrue.end() :])
    return None


def _told(
    kind: str, shown: str, rest: str, plain: bool = False, subject: str | None = None
) -> Takeback:
    """What a sentence wants, of which `rest` stands beside the words that say so."""
    about = _subject(rest) if subject is None else subject
    denies = kind in (FORGET, OUTDATED) and may_deny(rest)
    return Takeback(kind, shown.strip(), about, plain, is_doubted(rest), denies)


def is_doubted(text: str) -> bool:
    """Whether what a text says is under a condition, in doubt, or the word of others."""
    return bool(search("{back.doubted}", text))


def _subject(words: str) -> str:
    """The words that say what is meant; "" for "that" and "it", which only point."""
    words = words.strip().strip(_TRAILING)
    return "" if _points(words) or not subject_keys(words) else words


def _points(words: str) -> bool:
    bare = words.strip().strip(_TRAILING)
    return bool(fullmatch(wordings.POINTS, bare) or fullmatch("{proof.that}", bare))


_OPENINGS: Sequence[tuple[str, str, bool]] = (
    (UNWANTED, "(?:{trigger.refusal})", True),
    (UNWANTED, wordings.TURNED_DOWN, True),
    (FORGET, "(?:{back.told})", True),
    (FORGET, "(?:{back.forget})", False),
    (CORRECT, "(?:{back.actually})", False),
)
