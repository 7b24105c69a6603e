"""An expression that is compiled for one text finds in it what the whole expression finds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import cycle

import pytest
from pace import FULL

from mdmemory.expressions import in_small_letters
from mdmemory.text import wordlists
from mdmemory.text.alternatives import LONGEST, Alternatives

SECTIONS = sorted({each for name in wordlists.EVERY for each in wordlists._sections(name)})
PIECES = re.compile(r"[^\W_]+(?:[ ’'][^\W_]+)*")
ODD = [("i", "ı"), ("I", "İ"), ("s", "ſ"), ("k", "\u212a"), ("ß", "ẞ")]
UNSAID = "unsaid" * 20  # an expression is not looked into where it is short
Span = tuple[int, int]


def texts(section: str, made: random.Random) -> Iterator[str]:
    """Texts of words of a section and of others, in all shapes."""
    own = [word for name in wordlists.EVERY for row in wordlists.rows(section, name)
           for word in PIECES.findall(row)]  # fmt: skip
    for _ in range(200 if FULL else 12):
        words = made.choices([*own, "the", "Harbour", "5", "na", "is"], k=made.randint(1, 7))
        text = made.choice((" ", " ", ", ", "")).join(words)
        text = made.choice((str, str.upper, str.title))(text).replace("’", made.choice("’'"))
        yield text
        yield text.replace(*made.choice(ODD))


def places(expression: re.Pattern[str], text: str) -> tuple[list[Span], Span | None, Span | None]:
    match, whole = expression.match(text), expression.fullmatch(text)
    return (
        [each.span() for each in expression.finditer(text)],
        match and match.span(),
        whole and whole.span(),
    )


@pytest.mark.parametrize("flags", [0, re.IGNORECASE], ids=["small", "any case"])
def test_of_every_section_each_text_is_matched_alike(flags: int) -> None:
    made, hits, less = random.Random(7), 0, 0
    for section in SECTIONS:
        filled = wordlists.filled(f"{{{section}}}")
        whole, known = re.compile(filled, flags), Alternatives(filled, flags)
        for text in texts(section, made):
            small = in_small_letters(text)
            if small is None:
                continue
            fitting = known.fitting(small)
            given = text if flags else small
            assert places(fitting, given) == places(whole, given), (section, given)
            hits += whole.search(given) is not None
            less += len(fitting.pattern) < len(filled)
    assert hits > 100
    assert less > 100


@pytest.mark.parametrize(
    ("expression", "text", "left"),
    [
        (r"\b(?:to|from) (?:now|here)\b", "from here", r"\b(?:from) (?:here)\b"),
        (r"\b(?:to|from) (?:now|here)\b", "from there on", r"\b(?:from) (?:here)\b"),
        (r"\b(?:to|from) (?:now|here)\b", "to them", "(?!)"),
        (r"ab?c|de+f|gh{2}", "a c, d e", r"ab?c"),
        (r"no(?= \w+ more\b)|never", "no one", "(?!)"),
        (r"no(?= \w+ more\b)|never", "no one more", r"no(?= \w+ more\b)"),
        (r"(?:quite )?new(?! idea)", "new", r"new(?! idea)"),
        (r"[a-z|]+\(x\)|(?<!be)fore\|", "fore|", r"(?<!be)fore\|"),
        ("Big|small", "big", "Big"),
        ("µm|mm", "m", "µm"),
    ],
)
def test_what_is_left_of_an_expression(expression: str, text: str, left: str) -> None:
    assert Alternatives(f"{expression}|{UNSAID}").fitting(text).pattern == left


def test_where_case_is_ignored_words_are_found_by_their_small_letters() -> None:
    found = Alternatives(f"Big|Small|{UNSAID}", re.IGNORECASE).fitting("big")
    assert found.pattern == "big"
    assert found.fullmatch("BIG")


@pytest.mark.parametrize("expression", ["a(b)|c", "(?P<one>a)|c", "(?i:a)|c"])
def test_an_expression_with_groups_of_its_own_stays_whole(expression: str) -> None:
    whole = f"{expression}|{UNSAID}"
    assert Alternatives(whole).fitting("d").pattern == whole


def test_a_process_that_meets_many_texts_compiles_the_whole_once() -> None:
    filled = wordlists.filled("{change.moment}")
    known = Alternatives(filled)
    found = {known.fitting(f"just for {number} times").pattern for number in range(500)}
    assert filled in found
    assert known.fitting("nothing of it").pattern == filled


def test_a_long_text_is_held_against_the_whole() -> None:
    assert Alternatives("some|thing").fitting("x" * (LONGEST + 1)).pattern == "some|thing"


def test_what_another_thread_asks_in_between_is_no_answer() -> None:
    mine, others = re.compile("mine"), re.compile("others")

    class Raced(Alternatives):
        seen = cycle([("this time", mine), ("just now", others)])

        @property
        def _last(self) -> tuple[str, re.Pattern[str]]:
            return next(self.seen)

        @_last.setter
        def _last(self, value: object) -> None:
            pass

    assert Raced(wordlists.filled("{change.moment}")).fitting("this time") is mine
