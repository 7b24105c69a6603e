"""How well the written notes and conversations are searched, and what stands in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from bench import locomo
from bench import search_quality as quality
from bench.retrieval import Finder, Question, measured

from mdmemory.note.note import parse
from mdmemory.search import by_words
from mdmemory.search.results import MEMORY


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Finder, Finder]]:
    """The plain full-text table, and our search."""
    with quality.finders() as finders:
        yield finders


def of_kind(kind: str) -> list[Question]:
    return [question for question in quality.questions() if question.kind == kind]


def test_more_is_found_than_a_plain_table_finds(both: tuple[Finder, Finder]) -> None:
    assert quality.failures(*both) == []


def test_what_the_ranking_was_not_tuned_on_is_found_as_well(both: tuple[Finder, Finder]) -> None:
    floor, find = (measured(finder, quality.halved()[1]) for finder in both)
    assert find.five >= floor.five + quality.BETTER
    assert find.mrr >= floor.mrr + quality.BETTER
    assert find.false <= 2


def test_saying_nothing_costs_english_questions_little(both: tuple[Finder, Finder]) -> None:
    floor, find = (measured(finder, quality.english()) for finder in both)
    assert find.mrr >= floor.mrr + quality.BETTER
    assert find.five >= floor.five - 0.03  # a plain table never says that it knows nothing
    assert floor.false > 3 * find.false


def test_every_chinese_question_is_answered_first(both: tuple[Finder, Finder]) -> None:
    assert measured(both[1], of_kind("chinese")).first >= 0.95


def test_notes_are_found_by_name_even_by_words_that_very_many_have(
    both: tuple[Finder, Finder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_words, "MANY", 2)
    assert measured(both[1], of_kind(quality.KNOWN)).five == 1


def test_long_talks_are_measured_by_fact_turn_and_session() -> None:
    said = {
        "1": ("1:56 pm on 8 May, 2023", ["I adopted a turtle.", "I started pottery classes."]),
        "2": ("9:00 am on 1 June, 2023", ["My bowl cracked in the kiln.", "Oh no!"]),
    }
    talk: dict[str, object] = {"session_3_date_time": "1:00 pm on 2 June, 2023"}  # it has no turns
    observed = {}
    for number, (day, texts) in said.items():
        talk[f"session_{number}_date_time"] = day
        talk[f"session_{number}"] = [
            {"speaker": speaker, "dia_id": f"D{number}:{at}", "text": text}
            for at, (speaker, text) in enumerate(zip(("Ann", "Bo"), texts, strict=True), 1)
        ]
        observed[f"session_{number}_observation"] = {"Ann": [[f"Ann: {texts[0]}", f"D{number}:1"]]}
    questions = [
        {"question": "What did Ann adopt?", "evidence": ["D1:1"], "category": 4},
        {"question": "What happened to the bowl in the kiln?", "evidence": ["D2:1; D2:2"]},
        {"question": "What did Bo adopt?", "category": 5},
    ]
    conversation = {"conversation": talk, "observation": observed, "qa": questions}
    for level, five in ((locomo.facts, 1), (locomo.turns, 0.75), (locomo.sessions, 1)):
        for figures in locomo.both([conversation], level):
            assert (figures.asked, figures.five, figures.mrr) == (2, five, 1)


def test_the_corpus_is_what_it_is_said_to_be() -> None:
    kinds = Counter(question.kind for question in quality.questions())
    assert kinds.total() == 150
    assert (kinds["unanswerable"], kinds["chinese"], kinds["known_item"]) == (25, 20, 30)
    notes = quality.notes()
    heads = [parse(text, file).head for file, text in notes.items()]
    assert len(notes) >= 150
    assert {head.type for head in heads} == {"user", "feedback", "project", "reference"}
    assert not any(head.problems for head in heads)
    assert len(quality.conversations()) == 20


def test_every_answer_is_in_the_corpus() -> None:
    known = {*quality.notes(), *quality.conversations()}
    assert {file for question in quality.questions() for file in question.answers} <= known
    assert {document.source for document in quality.documents()} == {MEMORY}
