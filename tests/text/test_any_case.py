"""An expression that ignores case finds what `re` finds, however capitals are written."""

from __future__ import annotations

import random
import re

import pytest

from mdmemory.text import meanings, moments, wordlists
from mdmemory.text.any_case import AnyCase, folded, in_small_letters
from mdmemory.text.gaps import CHANGED
from mdmemory.text.meanings import plain
from mdmemory.text.relation import relation

WORDS = [
    *("Noon", "MITTAGS", "mediodía", "5", "May", "MÄRZ", "März", "april", "Monday", "Lunedì"),
    *("and not", "STATT", "not", "Evening", "abends", "soir", "Ä", "ß", "ẞ", "K", "naïve", "周一"),
    *("now", "No longer", "INSTEAD", "switched to", "wieder", "désormais", "n’est plus", "ya no"),
]  # fmt: skip
ODD = [("i", "ı"), ("i", "İ"), ("s", "ſ")]  # ignoring case takes the second for the first


def texts(seed: int, *, odd: bool) -> list[str]:
    made = random.Random(seed)
    found = [" ".join(made.choices(WORDS, k=made.randint(1, 9))) for _ in range(400)]
    for one, other in ODD if odd else ():
        found += [text.replace(one, other, made.randint(1, 2)) for text in found[:300]]
    return found


EVERY = [value for module in (moments, meanings) for value in vars(module).values()
         if isinstance(value, AnyCase)]  # fmt: skip


@pytest.mark.parametrize("expression", EVERY, ids=[each.pattern[:30] for each in EVERY])
def test_it_finds_what_re_finds(expression: AnyCase) -> None:
    whole = re.compile(expression.pattern, re.IGNORECASE)
    hits = 0
    for text in texts(1, odd=True):
        found = whole.search(text)
        ours = expression.search(text)
        assert (ours and ours.span()) == (found and found.span()), text
        assert expression.sub("<>", text) == whole.sub("<>", text)
        spans = [match.span() for match in expression.finditer(text)]
        assert spans == [match.span() for match in whole.finditer(text)]
        hits += found is not None
    assert hits


@pytest.mark.parametrize("expression", [CHANGED, "{change.made}"])
def test_the_places_of_a_word_list_are_those_that_re_finds(expression: str) -> None:
    hits = 0
    for text in texts(2, odd=True):
        found = [each.span() for each in wordlists.pattern(expression, text).finditer(text)]
        assert wordlists.spans(expression, text) == found, text
        blank = wordlists.pattern(expression, text).sub(" ", text)
        assert wordlists.without(expression, text) == blank, text
        hits += bool(found)
    assert hits > 100


def test_small_letters_keep_their_places() -> None:
    assert in_small_letters("Größe: ÄÖÜ") == "größe: äöü"
    assert [in_small_letters(text) for text in ("İstanbul", "ılık", "Waſſer")] == [None] * 3


@pytest.mark.parametrize("text", ["5 APRİL", "On MONDAY, 12 aprıle", "no İonger deİxamos de usar"])
def test_letters_of_turkish_stop_nothing(text: str) -> None:
    assert folded("APRİL ı ſ") == "april i s"
    for language in meanings.LANGUAGES:
        plain(text, language)
    relation(text, text.lower())


def test_a_sign_that_means_the_same_is_shown_as_it_stands() -> None:
    met = relation("The port of the web server is open", "The port of the web server is ==")
    assert met.why == "open against =="
