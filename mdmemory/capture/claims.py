"""What a claim says of its own: the literals that nothing bears out which was said. Pure.

A date is borne out by a turn that means it on its day, a number by its name, a name by its short
form, all by another inflection.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from functools import cached_property

from mdmemory.capture import said_dates
from mdmemory.text import literals
from mdmemory.text.quantities import number
from mdmemory.text.words import key, runs

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
_AROUND = "()[]{}<>\"'`.,;:!?"
SHORTEST = 4  # letters of a word that may have an ending
LONGEST = 2_000  # characters of what was said that tell its language
YEARS = (1970, 2999)  # in which a session may lie
ENDINGS = ("s", "es", "n", "en", "e")


def fold(text: str) -> str:
    """A text as it is compared: composed, one case, each run of space one space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'}).split())


def invented(claim: str, sources: Iterable[str], day: str = "") -> list[str]:
    """The literals of a claim that nothing in the sources bears out.

    `day` (YYYY-MM-DD) is the one on which the sources were said; without it each literal has to
    stand there as it is, and any date in full is taken for one that somebody meant. No literal is a
    single digit, nor a link; and case says nothing in what people type.
    """
    said = _Said(sources, day)
    rest, wrong = said.without_dates(_REASON.sub("", claim))
    german = len(_GERMAN.findall(f"{claim}\n{said.whole[:LONGEST]}")) > 1
    _, found = literals.audit(said.texts, rest)
    return wrong + [
        literal
        for literal in found
        if len(literal) > 1
        and not literal.startswith("[[")
        and not (german and said.today and _is_noun(literal))
        and not said.gives(literal)
        and not said.gives_whole(literal, rest)
    ]


def _is_noun(literal: str) -> bool:
    """Whether it may be any German noun."""
    return literal.isalpha() and literal.istitle()


class _Said:
    """What was said, as the literals of a claim are looked for in it."""

    def __init__(self, sources: Iterable[str], day: str) -> None:
        self.texts = [fold(text) for text in sources]
        self.whole = "\n".join(self.texts)
        # NAME=value names both
        self.loose = self.whole.replace("=", " = ")
        self.today: date | None = None
        with suppress(ValueError):
            today = date.fromisoformat(day)
            self.today = today if YEARS[0] <= today.year <= YEARS[1] else None

    def without_dates(self, claim: str) -> tuple[str, list[str]]:
        """The claim without the dates that were given, and those that were not."""
        kept, wrong, at = [], [], 0
        for each in said_dates.named(claim):
            written = claim[each.start : each.end]
            if self.today is None:
                is_given = _DATE.fullmatch(written) is not None
            else:
                is_given = said_dates.is_given(each, self.whole, self.today)
                if not is_given and _DATE.fullmatch(written):
                    wrong.append(written)
                    is_given = True
            if is_given:
                kept.append(claim[at : each.start])
                at = each.end
        return " ".join([*kept, claim[at:]]), wrong

    def gives(self, literal: str) -> bool:
        """Whether the sources have a literal, in whatever form."""
        folded = fold(literal)
        if literals.stands(folded, self.whole):
            return True
        if self.today is None:
            return False
        if literals.stands(folded, self.loose):
            return True
        if folded[0].isdigit() or folded[-1] in _SIGNS or folded[0] in _SIGNS:
            return all(self._counts(part) for part in re.split(r"[–-]", folded) if part)
        parts = folded.split("-")
        if len(parts) > 1 and all(map(str.isalpha, parts)):
            return all(map(self.gives, parts))
        if not folded.isalpha():
            return False
        at = said_dates.weekday(folded)
        if at is not None and self.today:
            return at in said_dates.weekdays(self.whole, self.today) or key(folded) in self._keys
        return key(folded) in self._keys or self._has_form(folded)

    def gives_whole(self, literal: str, claim: str) -> bool:
        """Whether they have the longer word of the claim that a literal is a part of: a path."""
        words = (fold(word.strip(_AROUND)) for word in claim.split() if literal in word)
        return any(len(word) > len(literal) and literals.stands(word, self.whole) for word in words)

    def _has_form(self, folded: str) -> bool:
        """Whether they have the word with an ending, or without its own."""
        forms = {folded, *(folded + ending for ending in ENDINGS)}
        forms |= {folded.removesuffix(each) for each in ENDINGS if len(folded) > SHORTEST}
        return not forms.isdisjoint(self._words)

    def _counts(self, figure: str) -> bool:
        """Whether the sources have a number: in digits, in words, with its sign."""
        for sign, form in _SIGNS.items():
            if sign in figure and not re.search(form, self.whole):
                return False
        bare = _SEPARATORS.sub("", figure.strip("%€$£ +"))
        hours = _HOURS.fullmatch(bare)
        if hours:
            full = f"{int(hours[1])}:{hours[2]}"
            return full in self._numbers or (hours[2] == "00" and hours[1] in self._numbers)
        return bare in self._numbers

    @cached_property
    def _keys(self) -> set[str]:
        return {key(word) for word in self._words}

    @cached_property
    def _words(self) -> set[str]:
        return set(runs(self.whole))

    @cached_property
    def _numbers(self) -> set[str]:
        plain = _SEPARATORS.sub("", self.whole)
        found = {number(word) for word in self._words if word.isalpha()}
        found |= {*_FIGURE.findall(plain)}
        found |= {f"{float(each) * 1000:.0f}" for each in _THOUSANDS.findall(plain)}
        for hour, minute in _AFTERNOON.findall(plain):
            at = int(hour) % 12 + 12
            found |= {f"{at}", f"{at}:{minute or '00'}"}
        found |= {f"{int(hour)}:{minute}" for hour, minute in _HOURS.findall(plain)}
        return found - {""}
