"""Whether the user's typed words bear out what an assistant hands over with a quote. Pure.

This says who said it, and judges no meaning: the quote stands in a typed turn; the literals and
most of the telling words of the fact stand there, in the question that the turn answers or in a
note that it replaces; and none of these words is denied in one and stated in the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from mdmemory.capture import said_dates
from mdmemory.capture.notice import is_request, spares_note, typed_text, wants_gone
from mdmemory.note.note import Note
from mdmemory.text import literals
from mdmemory.text.negation import count_negations, reversed_words
from mdmemory.text.quantities import number_digits
from mdmemory.text.words import word_key, word_keys, word_runs
from mdmemory.transcripts.turns import Turn

SHORTEST = 8  # letters of a quote that proves anything by itself
# The shares of a fact's telling words that have to stand in what it rests on, and of those that no
# replaced note has in the user's turn: the cases of tests/capture/test_quote_proof.py.
SAID, NEW = 0.5, 0.5
_NEARLY = 92.0  # of 100: a quote with a typo mended
_LAST = 2_000  # characters of an answer in which its last question stands
_BRACKETS = "()[]{}<>\"'`.,;:!?"
_AROUND = " \t\"'“”‘’«»„.,;:!?…"
_QUESTION = re.compile(r"(?:[^.!?。！？\n]|\.(?=\w))*[?？]")
_CLAUSE = re.compile(r"\s*[,;:–—，、；：]|\s+-\s")
# Words that begin a question, and what ends one where no mark does.
_ASKS = re.compile(
    r"(?:is|are|was|were|am|do|does|did|can|could|should|shall|will|would|may|might|has|have|had"
    r"|what|which|who|whose|when|where|why|how|if|whether"
    r"|ist|sind|war|kann|können|soll|sollen|wird|hat|was|wer|wie|wo|wann|warum|welche\w*|ob"
    r"|est-ce|qui|que|quoi|où|quand|comment|pourquoi|quelle?s?|si|qué|quién|cuándo|dónde|cómo|cuál"
    r"|é|será|posso|pode|quem|quando|onde|como|qual|chi|cosa|dove|perché)\b"
)
_ASKED = ("か", "吗", "嗎", "呢", "까", "나요", "니")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")

# Why a quote proves nothing, for the assistant.
WHY = {
    "no_quote": "no quote of the user came with it",
    "unheard": "no words of the user are known here",
    "not_said": "the quote is not in what the user typed",
    "question": "the quote is a question of the user, which states nothing",
    "invented": "it holds {words}, which the user did not say",
    "other_words": "most of its words are not the user's",
    "reversed": "the user's words and it say opposite things of {words}",
    "not_about": "the quote does not speak of that note",
    "too_many": "one message settles at most 5 notes",
    "too_often": "a client without hooks settles at most 3 notes an hour",
    "other_store": "a fact about the user does not replace a note of a shared store",
}


class Proof(NamedTuple):
    """`turn` is the id of the user's turn that proves it; else `why` is a key of `WHY`, and `words`
    what speaks against it."""

    turn: str = ""
    why: str = ""
    words: tuple[str, ...] = ()

    def reason(self) -> str:
        """Why it is not proven, as half a sentence."""
        return WHY[self.why].format(words=", ".join(self.words) or "it")


def of_fact(fact: str, quote: str, turns: Sequence[Turn], replaced: Sequence[str] = ()) -> Proof:
    """Whether a turn of the user proves the fact, which replaces notes of these texts."""
    proof = Proof(why=_why_unusable(quote, turns))
    for at, own, question in () if proof.why else _find_places(quote, turns):
        if question is None:
            proof = Proof(why="question")
            continue
        proof = _borne_out(fact, f"{own}\n{question}", replaced, turns[at])
        if not proof.why:
            return proof
    return proof if proof.why else Proof(why="not_said")


def of_reading(fact: str, quote: str, turns: Sequence[Turn], replaced: Sequence[str] = ()) -> Proof:
    """Which turn of the user states the fact, for a fact of which a second reading judges what that
    turn says: it holds the quote and a telling word of the fact, and every literal of the fact
    stands there, in the answer before it or in a note that it replaces. A quote of a question of
    the assistant means the user's turn that answers it."""
    question = Proof(why=_why_unusable(quote, turns))
    for at, own, sources in () if question.why else _find_places(_answer_to(quote, turns), turns):
        before = turns[at - 1] if at else turns[at]
        answered = before.text[-_LAST:] if before.role == "assistant" else ""
        proof = [own, answered, *replaced]
        years = _years_near(turns[at].day)
        wrong = [
            each for each in invented_literals(fact, proof, turns[at].day) if each not in years
        ]
        if wrong:
            question = Proof(why="invented", words=(*dict.fromkeys(wrong),))
        elif sources is None:
            question = Proof(why="question")
        elif sources or {*word_keys(own)} & {*word_keys(fact.partition("\n")[0])}:
            return Proof(turns[at].id or "turn")
        else:
            question = Proof(why="other_words")
    return question if question.why else Proof(why="not_said")


def _years_near(day: str) -> set[str]:
    """The years that a date may be written out with where none was said: "last year"."""
    year = int(day[:4] or 0)
    return {str(each) for each in range(year - 1, year + 2)} if year else set()


def _answer_to(quote: str, turns: Sequence[Turn]) -> str:
    """The user's turn behind a question of the assistant that is quoted; else the quote."""
    wanted = fold_text(quote).strip(" \t\"'“”")
    for turn, answer in pairwise(turns):
        is_answered = turn.role == "assistant" and answer.role == "user"
        if is_answered and wanted.endswith(("?", "？")) and wanted in fold_text(turn.text):
            return typed_text(answer.text)
    return quote


def _borne_out(fact: str, words: str, replaced: Sequence[str], turn: Turn) -> Proof:
    sources = [words, *replaced]
    if wrong := invented_literals(fact, sources, turn.day):
        return Proof(why="invented", words=(*dict.fromkeys(wrong),))
    wanted, own = {*word_keys(fact)}, {*word_keys(words)}
    known = own.union(*map(word_keys, replaced))
    fresh = wanted.difference(*map(word_keys, replaced))
    if len(wanted & known) < SAID * len(wanted) or len(fresh & own) < NEW * len(fresh):
        return Proof(why="other_words")
    if replaced and not own & wanted:
        return Proof(why="other_words")
    if odd := reversed_words(fact, words, "\n".join(replaced)):
        return Proof(why="reversed", words=(*odd,))
    return Proof(turn.id or "turn")


def of_forgetting(quote: str, turns: Sequence[Turn], note: Note) -> Proof:
    """Whether a turn of the user asks for a note to go: its words name the note, or point at what
    was said just before, and do not repeat what the note says."""
    proof = Proof(why=_why_unusable(quote, turns))
    for at, own, question in () if proof.why else _find_places(quote, turns):
        proof = Proof(why="question" if question is None else "not_about")
        if question is None:
            continue
        sentence = question or _sentence_of(quote, own)
        before = "" if question else _text_before(turns, at, own, sentence)
        if not (
            _names_note(note, sentence)
            or (_only_points(sentence, note) and _names_note(note, before))
        ):
            continue
        if not question and spares_note(sentence):
            continue
        if not question and not wants_gone(sentence) and not _denies_note(note, sentence):
            continue
        return Proof(turns[at].id or "turn")
    return proof if proof.why else Proof(why="not_said")


# --- where the quote stands


def _why_unusable(quote: str, turns: Sequence[Turn]) -> str:
    if not quote.strip():
        return "no_quote"
    return "" if any(turn.role == "user" for turn in turns) else "unheard"


def _find_places(quote: str, turns: Sequence[Turn]) -> Iterator[tuple[int, str, str | None]]:
    """The user's turns that hold the quote in words that they typed, the newest first, each with
    these words and the question that they answer by it: None where it only asks."""
    wanted = fold_text(quote).strip(_AROUND)
    is_long = sum(map(str.isalnum, wanted)) >= (SHORTEST if wanted.isascii() else SHORTEST // 2)
    for at in range(len(turns) - 1, -1, -1):
        if turns[at].role != "user":
            continue
        own = typed_text(turns[at].text)
        there = fold_text(own)
        if wanted == there.strip(_AROUND) or (is_long and _stands_in(wanted, there)):
            question = _question_before(turns, at) if _only_agrees(quote, own) else ""
            yield at, own, question if question or not _is_asked(quote, own) else None


def _stands_in(wanted: str, there: str) -> bool:
    if wanted in there:
        return True
    # an ellipsis leaves something out; a typo may be mended
    parts = [part.strip(_AROUND) for part in re.split(r"…|\.\.\.", wanted) if part.strip(_AROUND)]
    if len(parts) > 1:
        return all(part in there for part in parts)
    if len(wanted) < 2 * SHORTEST or len(wanted) > len(there) + SHORTEST:
        return False
    from rapidfuzz import fuzz

    return fuzz.partial_ratio(wanted, there) >= _NEARLY and _same_numbers(wanted, there)


def _same_numbers(wanted: str, there: str) -> bool:
    known = {*word_runs(there)}
    return all(run in known for run in word_runs(wanted) if any(map(str.isdigit, run)))


def _only_agrees(quote: str, own: str) -> bool:
    """Whether a quote says nothing by itself, and its message denies and asks nothing: "yes"."""
    is_bare = len({*word_keys(quote)}) <= 2
    return is_bare and not count_negations(own) and not re.search("[?？]", own)


def _question_before(turns: Sequence[Turn], at: int) -> str:
    """The one question at the end of the answer before a turn; "" where there is none, or two."""
    if not at or turns[at - 1].role != "assistant":
        return ""
    questions = [each.strip() for each in _QUESTION.findall(turns[at - 1].text[-_LAST:])]
    return questions[0] if len(questions) == 1 else ""


def _is_asked(quote: str, own: str) -> bool:
    """Whether the sentence of the quote only asks: not where a statement is quoted, and the
    question is a clause behind it."""
    sentence = _sentence_of(quote, own).rstrip(" \t\"'”*_)")
    if not sentence.endswith(("?", "？")):
        return False
    words, rest = fold_text(quote).strip(_AROUND), fold_text(sentence)
    is_clause = words and _CLAUSE.match(rest.partition(words)[2]) is not None
    if is_clause and not _ASKS.match(words) and not words.endswith(_ASKED):
        return False
    return not is_request(sentence)


def _sentence_of(quote: str, own: str) -> str:
    """The sentences that the quote is of."""
    wanted = fold_text(quote).strip(_AROUND)
    sentences = [each for each in _SENTENCE.split(own) if each and each.strip()]
    near_sentences = [
        each for each in sentences
        if (words := fold_text(each).strip(_AROUND)) and (words in wanted or wanted in words)
    ]  # fmt: skip
    return " ".join(near_sentences) or quote


# --- which note is meant


def _names_note(note: Note, text: str) -> bool:
    """Whether a text has a telling word of what the note says or is called."""
    head = note.head
    named = f"{head.description} {head.title} {head.name.replace('-', ' ')} {note.body[:_LAST]}"
    return bool({*word_keys(text)} & {*word_keys(named)})


def _only_points(sentence: str, note: Note) -> bool:
    """Whether a sentence says so little of its own that it can only point at what came before."""
    return len({*word_keys(sentence)} - {*word_keys(note.head.description)}) <= 3


def _text_before(turns: Sequence[Turn], at: int, own: str, sentence: str) -> str:
    """What a sentence may point at: what its message says before it, else the turns before."""
    earlier = own.partition(sentence)[0].strip() if sentence in own else ""
    if earlier:
        return earlier
    texts = [typed_text(turn.text) if turn.role == "user" else turn.text[-_LAST:]
            for turn in turns[max(0, at - 2) : at]]  # fmt: skip
    return "\n".join(texts)


def _denies_note(note: Note, sentence: str) -> bool:
    """Whether a sentence denies what the note states."""
    return bool(reversed_words(note.head.description, sentence))


_DATE = re.compile(r"\d{4}(?:-\d\d){1,2}")
_REASON = re.compile(r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：][*_ \t]*")
_SEPARATORS = re.compile(r"(?<=\d)[,.'’  ](?=\d{3}(?!\d))")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)?")
_THOUSANDS = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d)?)\s?k\b")
_AFTERNOON = re.compile(r"(?<![\w.:])(\d{1,2})(?::(\d\d))?\s?p\.?\s?m\b")
_HOURS = re.compile(r"0?(\d{1,2}):(\d\d)")
_SIGNS = {"%": r"%|per ?cent|prozent|pour cent|por ciento|por cento|per cento|百分", "€": "€|euro",
          "$": r"\$|dollar|usd", "£": "£|pound|gbp"}  # fmt: skip
# Words by which a German text is known: there every noun has a capital.
_GERMAN = re.compile(r"(?i)\b(?:der|die|das|und|nicht|ist|wir|ich|eine?|für|mit|auf|wird)\b")
STEM = 4  # letters of a word that may have an ending
LONGEST = 2_000  # characters of what was said that tell its language
YEARS = (1970, 2999)  # in which a session may lie
ENDINGS = ("s", "es", "n", "en", "e")


def fold_text(text: str) -> str:
    """A text as it is compared: composed, one case, each run of space one space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'}).split())


def invented_literals(claim: str, sources: Iterable[str], day: str = "") -> list[str]:
    """The literals of a claim that nothing in the sources bears out.

    `day` (YYYY-MM-DD) is the one on which the sources were said; without it each literal has to
    stand there as it is, and any date in full is taken for one that somebody meant. No literal is a
    single digit, nor a link; and case says nothing in what people type.
    """
    unproven = _Said(sources, day)
    rest, wrong = unproven.without_dates(_REASON.sub("", claim))
    german = len(_GERMAN.findall(f"{claim}\n{unproven.whole[:LONGEST]}")) > 1
    _, source_words = literals.audit_literals(unproven.texts, rest)
    return wrong + [
        literal
        for literal in source_words
        if len(literal) > 1
        and not literal.startswith("[[")
        and not (german and unproven.today and _is_noun(literal))
        and not unproven.gives(literal)
        and not unproven.gives_longer_word(literal, rest)
    ]


def _is_noun(literal: str) -> bool:
    """Whether it may be any German noun."""
    return literal.isalpha() and literal.istitle()


class _Said:
    """What was said, as the literals of a claim are looked for in it."""

    def __init__(self, sources: Iterable[str], day: str) -> None:
        self.texts = [fold_text(text) for text in sources]
        self.whole = "\n".join(self.texts)
        # NAME=value names both
        self.loose = self.whole.replace("=", " = ")
        self.today: date | None = None
        with suppress(ValueError):
            today = date.fromisoformat(day)
            self.today = today if YEARS[0] <= today.year <= YEARS[1] else None

    def without_dates(self, claim: str) -> tuple[str, list[str]]:
        """The claim without the dates that were given, and those that were not."""
        parts, wrong, at = [], [], 0
        for each in said_dates.named_dates(claim):
            written = claim[each.start : each.end]
            if self.today is None:
                is_given = _DATE.fullmatch(written) is not None
            else:
                is_given = said_dates.is_given(each, self.whole, self.today)
                if not is_given and _DATE.fullmatch(written):
                    wrong.append(written)
                    is_given = True
            if is_given:
                parts.append(claim[at : each.start])
                at = each.end
        return " ".join([*parts, claim[at:]]), wrong

    def gives(self, literal: str) -> bool:
        """Whether the sources have a literal, in whatever form."""
        folded = fold_text(literal)
        if literals.stands_alone(folded, self.whole):
            return True
        if self.today is None:
            return False
        if literals.stands_alone(folded, self.loose):
            return True
        if folded[0].isdigit() or folded[-1] in _SIGNS or folded[0] in _SIGNS:
            return all(self._counts_figure(part) for part in re.split(r"[–-]", folded) if part)
        parts = folded.split("-")
        if len(parts) > 1 and all(map(str.isalpha, parts)):
            return all(map(self.gives, parts))
        if not folded.isalpha():
            return False
        at = said_dates.weekday_of(folded)
        if at is not None and self.today:
            return (
                at in said_dates.mean_weekdays(self.whole, self.today)
                or word_key(folded) in self._word_keys
            )
        return word_key(folded) in self._word_keys or self._has_form(folded)

    def gives_longer_word(self, literal: str, claim: str) -> bool:
        """Whether they have the longer word of the claim that a literal is a part of: a path."""
        words = (fold_text(word.strip(_BRACKETS)) for word in claim.split() if literal in word)
        return any(
            len(word) > len(literal) and literals.stands_alone(word, self.whole) for word in words
        )

    def _has_form(self, folded: str) -> bool:
        """Whether they have the word with an ending, or without its own."""
        forms = {folded, *(folded + ending for ending in ENDINGS)}
        forms |= {folded.removesuffix(each) for each in ENDINGS if len(folded) > STEM}
        return not forms.isdisjoint(self._whole_words)

    def _counts_figure(self, figure: str) -> bool:
        """Whether the sources have a number: in digits, in words, with its sign."""
        for sign, form in _SIGNS.items():
            if sign in figure and not re.search(form, self.whole):
                return False
        bare = _SEPARATORS.sub("", figure.strip("%€$£ +"))
        hours = _HOURS.fullmatch(bare)
        if hours:
            full = f"{int(hours[1])}:{hours[2]}"
            return full in self._number_values or (
                hours[2] == "00" and hours[1] in self._number_values
            )
        return bare in self._number_values

    @cached_property
    def _word_keys(self) -> set[str]:
        return {word_key(word) for word in self._whole_words}

    @cached_property
    def _whole_words(self) -> set[str]:
        return set(word_runs(self.whole))

    @cached_property
    def _number_values(self) -> set[str]:
        plain = _SEPARATORS.sub("", self.whole)
        numbers = {number_digits(word) for word in self._whole_words if word.isalpha()}
        numbers |= {*_FIGURE.findall(plain)}
        numbers |= {f"{float(each) * 1000:.0f}" for each in _THOUSANDS.findall(plain)}
        for hour, minute in _AFTERNOON.findall(plain):
            at = int(hour) % 12 + 12
            numbers |= {f"{at}", f"{at}:{minute or '00'}"}
        numbers |= {f"{int(hour)}:{minute}" for hour, minute in _HOURS.findall(plain)}
        return numbers - {""}
