"""Whether the user's typed words bear out what an assistant hands over with a quote. Pure.

This says who said it, and judges no meaning: the quote stands in a typed turn; the literals and
most of the telling words of the fact stand there, in the question that the turn answers or in a
note that it replaces; and none of these words is denied in one and stated in the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

from mdmemory.capture.notice import is_request, spares_note, typed_text, wants_gone
from mdmemory.note.note import Note
from mdmemory.text import literals
from mdmemory.text.conflict import SENTENCE_ENDS, count_negations, reversed_words
from mdmemory.text.dates import Named, named_dates
from mdmemory.text.numbers import NUMBERS
from mdmemory.text.stop_words import table_lines
from mdmemory.text.words import compiled, is_cjk, normal_text, word_key, word_keys, word_runs
from mdmemory.transcripts.turns import Turn

SHORTEST = 8  # letters of a quote that proves anything by itself
# The shares of a fact's telling words that have to stand in what it rests on, and of those that no
# replaced note has in the user's turn: the cases of tests/capture/test_quote_proof.py.
SAID, NEW = 0.5, 0.5
_NEARLY = 92.0  # of 100: a quote with a typo mended
_LAST = 2_000  # characters of an answer in which its last question stands
_BRACKETS = "()[]{}<>\"'`.,;:!?"
_AROUND = " \t\"'“”‘’«»„.,;:!?…"
_QUESTION = r"(?:[^.!?。！？\n]|\.(?=\w))*[?？]"
_CLAUSE = r"\s*[,;:–—，、；：]|\s+-\s"
# Words that begin a question, and what ends one where no mark does.
_ASKS = (
    r"(?:is|are|was|were|am|do|does|did|can|could|should|shall|will|would|may|might|has|have|had"
    r"|what|which|who|whose|when|where|why|how|if|whether"
    r"|ist|sind|war|kann|können|soll|sollen|wird|hat|was|wer|wie|wo|wann|warum|welche\w*|ob"
    r"|est-ce|qui|que|quoi|où|quand|comment|pourquoi|quelle?s?|si|qué|quién|cuándo|dónde|cómo|cuál"
    r"|é|será|posso|pode|quem|quando|onde|como|qual|chi|cosa|dove|perché)\b"
)
_ASKED = ("か", "吗", "嗎", "呢", "까", "나요", "니")

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
    wanted, before = {*word_keys(fact)}, {*word_keys("\n".join(replaced))}

    def judge(at: int, own: str, question: str | None) -> Proof:
        if question is None:
            return Proof(why="question")
        words = f"{own}\n{question}"
        if wrong := invented_literals(fact, [words, *replaced], turns[at].day):
            return Proof(why="invented", words=(*dict.fromkeys(wrong),))
        stated, fresh = {*word_keys(words)}, wanted - before
        few = len(wanted & (stated | before)) < SAID * len(wanted)
        if few or len(fresh & stated) < NEW * len(fresh) or (replaced and not stated & wanted):
            return Proof(why="other_words")
        if odd := reversed_words(fact, words, "\n".join(replaced)):
            return Proof(why="reversed", words=(*odd,))
        return Proof(turns[at].id or "turn")

    return _judge_places(quote, quote, turns, judge)


def of_reading(fact: str, quote: str, turns: Sequence[Turn], replaced: Sequence[str] = ()) -> Proof:
    """Which turn of the user states the fact, for a fact of which a second reading judges what that
    turn says: it holds the quote and a telling word of the fact, and every literal of the fact
    stands there, in the answer before it or in a note that it replaces. A quote of a question of
    the assistant means the user's turn that answers it."""

    def judge(at: int, own: str, question: str | None) -> Proof:
        before, day = turns[at - 1] if at else turns[at], turns[at].day
        answered = before.text[-_LAST:] if before.role == "assistant" else ""
        # a date may be written out with a year where none was said: "last year"
        years = {str(int(day[:4]) + off) for off in (-1, 0, 1)} if day else set()
        invented = invented_literals(fact, [own, answered, *replaced], day)
        if wrong := [each for each in invented if each not in years]:
            return Proof(why="invented", words=(*dict.fromkeys(wrong),))
        if question is None:
            return Proof(why="question")
        is_told = question or {*word_keys(own)} & {*word_keys(fact.partition("\n")[0])}
        return Proof(turns[at].id or "turn") if is_told else Proof(why="other_words")

    wanted, meant = fold_text(quote).strip(" \t\"'“”"), quote
    for turn, answer in pairwise(turns) if wanted.endswith(("?", "？")) else ():
        is_answered = turn.role == "assistant" and answer.role == "user"
        if is_answered and wanted in fold_text(turn.text):
            meant = typed_text(answer.text)
            break
    return _judge_places(quote, meant, turns, judge)


def of_forgetting(quote: str, turns: Sequence[Turn], note: Note) -> Proof:
    """Whether a turn of the user asks for a note to go: its words name the note, or point at what
    was said just before, and do not repeat what the note says."""
    description = note.head.description

    def judge(at: int, own: str, question: str | None) -> Proof:
        if question is None:
            return Proof(why="question")
        sentence = question or _sentence_of(quote, own)
        is_meant = _names_note(note, sentence)
        if not is_meant and not question:
            # one that says little of its own can only point at what came before
            beyond = {*word_keys(sentence)} - {*word_keys(description)}
            # what its message says before it, else the turns before
            before = own.partition(sentence)[0].strip() if sentence in own else ""
            texts = [typed_text(turn.text) if turn.role == "user" else turn.text[-_LAST:]
                     for turn in turns[max(0, at - 2) : at]]  # fmt: skip
            before = before or "\n".join(texts)
            is_meant = len(beyond) <= 3 and _names_note(note, before)
        is_wish = question or not spares_note(sentence)
        goes = question or wants_gone(sentence) or reversed_words(description, sentence)
        is_proof = is_meant and is_wish and goes
        return Proof(turns[at].id or "turn") if is_proof else Proof(why="not_about")

    return _judge_places(quote, quote, turns, judge)


# --- where the quote stands


def _judge_places(
    quote: str, meant: str, turns: Sequence[Turn], judge: Callable[[int, str, str | None], Proof]
) -> Proof:
    """The first proof that `judge` sees where the quote, or what is meant by it, stands; else the
    last reason for none."""
    if not quote.strip():
        return Proof(why="no_quote")
    proof = Proof(why="not_said" if any(turn.role == "user" for turn in turns) else "unheard")
    for place in _find_places(meant, turns):
        proof = judge(*place)
        if proof.turn:
            break
    return proof


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
            # "yes": it says nothing by itself, and its message denies and asks nothing
            is_bare = len({*word_keys(quote)}) <= 2 and not re.search("[?？]", own)
            question = _question_before(turns, at) if is_bare and not count_negations(own) else ""
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

    if fuzz.partial_ratio(wanted, there) < _NEARLY:
        return False
    known = {*word_runs(there)}
    return all(run in known for run in word_runs(wanted) if any(map(str.isdigit, run)))


def _question_before(turns: Sequence[Turn], at: int) -> str:
    """The one question at the end of the answer before a turn; "" where there is none, or two."""
    if not at or turns[at - 1].role != "assistant":
        return ""
    questions = [each.strip() for each in compiled(_QUESTION).findall(turns[at - 1].text[-_LAST:])]
    return questions[0] if len(questions) == 1 else ""


def _is_asked(quote: str, own: str) -> bool:
    """Whether the sentence of the quote only asks: not where a statement is quoted, and the
    question is a clause behind it."""
    sentence = _sentence_of(quote, own).rstrip(" \t\"'”*_)")
    if not sentence.endswith(("?", "？")):
        return False
    words, rest = fold_text(quote).strip(_AROUND), fold_text(sentence)
    is_clause = words and compiled(_CLAUSE).match(rest.partition(words)[2]) is not None
    if is_clause and not compiled(_ASKS).match(words) and not words.endswith(_ASKED):
        return False
    return not is_request(sentence)


def _sentence_of(quote: str, own: str) -> str:
    """The sentences that the quote is of."""
    wanted = fold_text(quote).strip(_AROUND)
    sentences = [each for each in SENTENCE_ENDS.split(own) if each and each.strip()]
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


_DATE = r"\d{4}(?:-\d\d){1,2}"
_REASON = r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：][*_ \t]*"
_SEPARATORS = r"(?<=\d)[,.'’  ](?=\d{3}(?!\d))"
_FIGURE = r"\d+(?:[.,]\d+)?"
_THOUSANDS = r"(?<![\w.])(\d{1,4}(?:\.\d)?)\s?k\b"
_AFTERNOON = r"(?<![\w.:])(\d{1,2})(?::(\d\d))?\s?p\.?\s?m\b"
_HOURS = r"0?(\d{1,2}):(\d\d)"
_SIGNS = {"%": r"%|per ?cent|prozent|pour cent|por ciento|por cento|per cento|百分", "€": "€|euro",
          "$": r"\$|dollar|usd", "£": "£|pound|gbp"}  # fmt: skip
# Words by which a German text is known: there every noun has a capital.
_GERMAN = r"(?i)\b(?:der|die|das|und|nicht|ist|wir|ich|eine?|für|mit|auf|wird)\b"
STEM = 4  # letters of a word that may have an ending
_TELLING = 2_000  # characters of what was said that tell its language
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
    rest, wrong = unproven.without_dates(compiled(_REASON).sub("", claim))
    german = len(compiled(_GERMAN).findall(f"{claim}\n{unproven.whole[:_TELLING]}")) > 1
    _, source_words = literals.audit_literals(unproven.texts, rest)
    return wrong + [
        literal
        for literal in source_words
        if len(literal) > 1
        and not literal.startswith("[[")
        # it may be any German noun
        and not (german and unproven.today and literal.isalpha() and literal.istitle())
        and not unproven.gives(literal)
        and not unproven.gives_longer_word(literal, rest)
    ]


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
        for each in named_dates(claim):
            written = claim[each.start : each.end]
            in_full = compiled(_DATE).fullmatch(written) is not None
            was_given = self.today is not None and is_given(each, self.whole, self.today)
            if in_full and self.today and not was_given:
                wrong.append(written)
            if in_full or was_given:
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
        if word_key(folded) in self._word_keys:
            return True
        if (at := weekday_names().get(folded)) is not None:
            return at in mean_weekdays(self.whole, self.today)
        forms = {folded, *(folded + ending for ending in ENDINGS)}
        forms |= {folded.removesuffix(each) for each in ENDINGS if len(folded) > STEM}
        return not forms.isdisjoint(self._whole_words)

    def gives_longer_word(self, literal: str, claim: str) -> bool:
        """Whether they have the longer word of the claim that a literal is a part of: a path."""
        words = (fold_text(word.strip(_BRACKETS)) for word in claim.split() if literal in word)
        return any(
            len(word) > len(literal) and literals.stands_alone(word, self.whole) for word in words
        )

    def _counts_figure(self, figure: str) -> bool:
        """Whether the sources have a number: in digits, in words, with its sign."""
        for sign, form in _SIGNS.items():
            if sign in figure and not re.search(form, self.whole):
                return False
        forms = {bare := compiled(_SEPARATORS).sub("", figure.strip("%€$£ +"))}
        if hours := compiled(_HOURS).fullmatch(bare):
            forms = {f"{int(hours[1])}:{hours[2]}", *([hours[1]] if hours[2] == "00" else [])}
        return not forms.isdisjoint(self._number_values)

    @cached_property
    def _word_keys(self) -> set[str]:
        return {word_key(word) for word in self._whole_words}

    @cached_property
    def _whole_words(self) -> set[str]:
        return set(word_runs(self.whole))

    @cached_property
    def _number_values(self) -> set[str]:
        plain = compiled(_SEPARATORS).sub("", self.whole)
        numbers = {NUMBERS.get(word, "") for word in self._whole_words if word.isalpha()}
        numbers |= {*compiled(_FIGURE).findall(plain)}
        numbers |= {f"{float(each) * 1000:.0f}" for each in compiled(_THOUSANDS).findall(plain)}
        for hour, minute in compiled(_AFTERNOON).findall(plain):
            at = int(hour) % 12 + 12
            numbers |= {f"{at}", f"{at}:{minute or '00'}"}
        numbers |= {f"{int(hour)}:{minute}" for hour, minute in compiled(_HOURS).findall(plain)}
        return numbers - {""}


# --- the dates that a text names, or means on the day on which it was said, in nine languages

_A_YEAR = 366  # days from the day it was said to a date without its year

_WORD = r"(?<!\w)"


def is_given(claimed: Named, text: str, today: date) -> bool:
    """Whether a text, said on a day, gives a date that somebody wrote out."""
    dates = named_dates(text)
    if any(_is_same(claimed, each, today) for each in dates):
        return True
    meant, span = _meant_days(text, today)
    if not claimed.day:
        return any((each.year, each.month) == (claimed.year, claimed.month) for each in meant)
    with suppress(ValueError):
        day = date(claimed.year or today.year, claimed.month, claimed.day)
        return day in meant or abs((day - today).days) <= span
    return False


def mean_weekdays(text: str, today: date) -> set[int]:
    """The days of the week (0 is Monday) of the dates that a text means or names in full."""
    days = _meant_days(text, today)[0]
    for each in named_dates(text):
        with suppress(ValueError):
            if each.day:  # "out" is a short October
                days.add(date(each.year or today.year, each.month, each.day))
    return {each.weekday() for each in days}


def _is_same(claimed: Named, named: Named, today: date) -> bool:
    if claimed.month != named.month or (claimed.day and claimed.day != named.day):
        return False
    if named.year or not claimed.year:
        return claimed.year in (named.year, 0) or not named.year
    with suppress(ValueError):
        day = date(claimed.year, claimed.month, claimed.day or 15)
        return abs((day - today).days) <= _A_YEAR
    return False


def _meant_days(text: str, today: date) -> tuple[set[date], int]:
    """The days that a text means by such words as "tomorrow", and how far from today those may lie
    that it means by "next month"; 0 where it says nothing like it."""
    folded = normal_text(text).casefold().replace("’", "'")
    meant: set[date] = set()
    for days, form in _section_forms("days"):
        if form.search(folded):
            meant.add(today + timedelta(days))
    for name, at in weekday_names().items():
        if name in folded and re.search(_any_of([name]), folded):
            ahead = (at - today.weekday()) % 7
            # "next Friday" is this week's to some and next week's to others; or it is past
            meant |= {today + timedelta(ahead + 7 * weeks) for weeks in (-1, 0, 1)}
    for days, form in _section_forms("units"):  # "in two weeks", and the days around those
        around = days // 10 if days > 7 else 0
        for word in form.findall(folded):
            count = int(word) if word.isdecimal() else int(NUMBERS.get(word, 0))
            for off in range(-around, around + 1) if 0 < count < 1_000 else ():
                meant |= {today + timedelta(way * count * days + off) for way in (1, -1)}
    spans = (days for days, form in _section_forms("about") if form.search(folded))
    return meant, max(spans, default=0)


# --- the words


@cache
def _section_lines() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for section, line in table_lines("calendar"):
        sections.setdefault(section, []).append(line)
    return sections


@cache
def weekday_names() -> dict[str, int]:
    """The days of the week (0 is Monday) by their names, folded."""
    lines = enumerate(_section_lines()["weekdays"])
    return {name: at for at, line in lines for name in line.split()}


def _any_of(names: Sequence[str]) -> str:
    """Any of these as a word of its own; in scripts without spaces wherever it stands."""
    ordered = sorted(names, key=len, reverse=True)
    latin = "|".join(re.escape(name) for name in ordered if not is_cjk(name[0]))
    eastern = "|".join(re.escape(name) for name in ordered if is_cjk(name[0]))
    return "|".join(filter(None, [rf"(?<!\w)(?:{latin})(?!\w)" if latin else "", eastern]))


@cache
def _section_forms(section: str) -> list[tuple[int, re.Pattern[str]]]:
    """What each line of a section stands for: days, and an expression for any of its words; of the
    units with a group for their count."""
    forms = []
    for line in _section_lines()[section]:
        days, _, names = line.partition(" ")
        form = _any_of(names.split("|"))
        if section == "units":
            form = rf"(?<!\w)(\d{{1,3}}|[^\W\d_]{{2,12}})\s?(?:{form.replace(_WORD, '', 1)})"
        forms.append((int(days), re.compile(form)))
    return forms
