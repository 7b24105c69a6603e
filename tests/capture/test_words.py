"""Each row of the word lists has a sentence, and the sentence depends on it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pace import FULL, sample
from rows import each

import mdmemory
from mdmemory.capture import consent, endurance, fact_type, foreign, note_text, takebacks, triggers
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.gate import judge
from mdmemory.capture.proof import heard, prove
from mdmemory.compact import text_guards
from mdmemory.note.note import parse
from mdmemory.text import change, gaps, wordlists
from mdmemory.transcripts.turns import Turn

LANGUAGES = sorted(path.stem for path in wordlists.FOLDER.glob("*.toml"))
FACT = "The tests run in UTC on every machine."
HEAD = "---\nname: shop\ndescription: The shop.\ntype: project\n---\n\n"
Row = tuple[str, str, str, str]  # language, section, row, "verdict: sentence"


def every_row() -> Iterator[Row]:
    for language in LANGUAGES:
        for section, rows in sections(language).items():
            for row, shown in rows.items():
                yield language, section, row, shown


@cache
def sections(language: str) -> dict[str, dict[str, str]]:
    """The rows of each section of a language, with their sentences."""
    text = (wordlists.FOLDER / f"{language}.toml").read_text(encoding="utf-8")
    return {
        f"{room}.{name}": rows
        for room, tables in tomllib.loads(text).items()
        for name, rows in tables.items()
    }


def gate(label: str, sentence: str) -> tuple[str, object]:
    type_, _, _ = label.partition(" ")
    found = judge(sentence, type=type_, source="extraction")
    words = ["kept"] if found.accepted else []
    return " ".join([type_, *words, *found.reasons]), found


def endured(_: str, sentence: str) -> tuple[str, object]:
    """What a sentence shows of how long it holds, said by the user and proposed as it is."""
    found = endurance.shown(sentence, sentence, "project")
    return found.value, found


def tied(_: str, rest: str) -> tuple[str, object]:
    """The same of what stands beside a quote, in its sentence."""
    found = endurance.shown("", "", "project", beside=rest)
    return found.value, found


def request(_: str, message: str) -> tuple[str, object]:
    found = triggers.find(message)
    words = sorted({one.reason or "kept" for one in found})
    return " ".join(words) or "nothing", found


def noted(_: str, fact: str) -> tuple[str, object]:
    return note_text.name_of(fact), note_text.worded(fact)


def typed(_: str, fact: str) -> tuple[str, object]:
    label = " ".join(word for word in fact_type.type_of(fact) if word)
    return label, (fact_type.languages_of(fact), fact_type.signs(fact))


def order(_: str, line: str) -> tuple[str, object]:
    found = foreign.is_order(line)
    return "order" if found else "nothing", found


def proved(_: str, sentence: str) -> tuple[str, object]:
    """What comes of a candidate whose quote is this sentence of the user's, or, where it asks for
    nothing to be remembered, the sentence before it."""
    quote = FACT if triggers.find(sentence) else sentence
    turns = [Turn("1", "user", FACT), Turn("2", "user", sentence)]
    candidate = Candidate("add", "project", "", "name", quote, quote, "", quote)
    type_ = "feedback" if sentence.endswith(("?", "？")) else "project"
    found = prove(candidate, type_, heard(turns))
    return " ".join((found.dropped, *found.waits)).strip() or "kept", found


def instruction(_: str, sentence: str) -> tuple[str, object]:
    found = text_guards.instructs(sentence)
    return "instruction" if found else "nothing", found


def taken_back(_: str, sentence: str) -> tuple[str, object]:
    found = takebacks.find(sentence)
    told = [(each, takebacks.subject_keys(each.subject)) for each in found]
    return " ".join(sorted(each.kind for each in found)) or "nothing", told


def doubted(_: str, sentence: str) -> tuple[str, object]:
    """Whether a wish to forget leaves open that it is one."""
    found = [each.doubted for each in takebacks.find(sentence)]
    return "doubted" if found and all(found) else "nothing", found


def agreed(_: str, sentence: str) -> tuple[str, object]:
    found = takebacks.is_yes(sentence)
    return "yes" if found else "nothing", found


def put_to_the_user(_: str, question: str) -> tuple[str, object]:
    """What a bare yes to a question proves."""
    note = parse(HEAD, "project-parcels.md")
    turns = [Turn("1", "assistant", question), Turn("2", "user", "yes")]
    found = consent.to_forget("yes", turns, note, [])
    return "asked" if found.turn else "nothing", found


def changed(_: str, shown: str) -> tuple[str, object]:
    """What a sentence does to a stored one: `stored | said`."""
    stored, _, said = shown.partition(" | ")
    found = change.changes(said, {"note.md": stored})
    words = ["certain" if one.is_certain else "perhaps" for one in found]
    return " ".join(words) or "nothing", found


ROOMS = {
    "back": taken_back,
    "back.doubted": doubted,
    "back.shall": put_to_the_user,
    "back.yes": agreed,
    "change": changed,
    "gate": gate,
    "guard": instruction,
    "keep": request,
    "lasts": endured,
    "moment": endured,
    "moment.once": tied,
    "note": noted,
    "proof": proved,
    "rule": request,
    "shape": request,
    "trigger": request,
    "type": typed,
    "whose": request,
    "whose.machine": order,
    "whose.order": order,
}


def verdict(section: str, shown: str) -> tuple[str, str, object]:
    """The stated label, the label that the code gives, and all that it says."""
    stated, _, sentence = shown.partition(": ")
    code = ROOMS.get(section) or ROOMS[section.partition(".")[0]]
    label, found = code(stated, sentence)
    return stated, label, found


def test_every_sentence_has_the_verdict_that_its_row_states() -> None:
    def check(language: str, section: str, row: str, shown: str) -> None:
        stated, label, _ = verdict(section, shown)
        assert label == stated

    each(every_row(), check)


@pytest.mark.slow
def test_without_the_row_its_sentence_is_judged_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = wordlists.rows

    def check(language: str, section: str, row: str, shown: str) -> None:
        def less(name: str, of: str) -> tuple[str, ...]:
            hidden = (name, of) == (section, language)
            return tuple(one for one in whole(name, of) if not hidden or one != row)

        before = verdict(section, shown)
        with monkeypatch.context() as patch:
            patch.setattr(wordlists, "rows", less)
            forget()
            after = verdict(section, shown)
        forget()
        assert before != after

    rows = list(every_row())
    each(sample(rows, 1 if FULL else 60), check)


def forget() -> None:
    for kept in (
        *(wordlists.filled, wordlists.words, wordlists.in_languages, wordlists._written_out),
        *(wordlists._with_case, wordlists._compiled),
        *(triggers._found, triggers.said, triggers._opening),
        *(gaps.cut, gaps.is_small, gaps.is_verb, gaps._key, gaps._kind),
    ):
        kept.cache_clear()


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_are_sorted_and_each_is_an_expression(language: str) -> None:
    assert language in wordlists.LATIN + wordlists.CJK
    for section, shown in sections(language).items():
        rows = wordlists.rows(section, language)
        assert list(rows) == list(shown) == sorted(shown), section
        each(rows, lambda row: re.compile(wordlists.filled(row)))


@pytest.mark.parametrize("section", ["change.small", "change.verb", "change.day", "change.unit"])
def test_rows_that_are_written_out_mean_what_they_mean_as_an_expression(section: str) -> None:
    few, others = wordlists._written_out(section, wordlists.EVERY)
    assert len(few) > 100 > len(others) / 4  # nearly all rows are plain
    told = {word for language in LANGUAGES for row in wordlists.rows(section, language)
            for word in re.findall(r"[\w’'-]+", row.casefold())}  # fmt: skip
    near = {*few, *told, *(f"{word}s" for word in few), *(word[:-1] for word in few)}
    near |= {word.replace("i", "ı") for word in few} | {word.replace("'", "’") for word in few}
    for word in near:
        expression = wordlists.pattern(f"{{{section}}}", word)
        is_one = expression.fullmatch(word) is not None
        assert wordlists.is_one_of(section, word) == is_one, word


def test_every_section_is_named_in_the_code_or_in_a_row() -> None:
    assert mdmemory.__file__
    code = [path.read_text("utf-8") for path in Path(mdmemory.__file__).parent.rglob("*.py")]
    told = "".join([*code, *(row for _, _, row, _ in every_row())])
    named = {section for language in LANGUAGES for section in sections(language)}
    assert {
        section for section in named if f"{{{section}}}" not in told and f'"{section}"' not in told
    } == set()


def test_a_text_without_east_asian_characters_is_read_without_their_rows() -> None:
    latin = wordlists.pattern("{gate.for_now}", "für heute – ’s \ufffc").pattern
    assert "今天" not in latin
    assert "今天" in wordlists.pattern("{gate.for_now}", "今天").pattern
    with pytest.raises(KeyError):
        wordlists.pattern("{gate.none_such}", "")
