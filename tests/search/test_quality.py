"""How well the written notes and conversations are searched, and what stands in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from bench import own, promises, search
from bench.retrieval import Outcome, Question, figures, measured, ours

from mdmemory.search import answer

Found = Mapping[str, Sequence[Outcome]]


@pytest.fixture(scope="module")
def found() -> Found:
    """What the plain full-text table and our search find on the notes of the freight company."""
    return search.asked(own.levels()[own.FREIGHT], search.SEARCHES)


def of_kind(kind: str) -> list[Question]:
    (corpus,) = own.levels()[own.FREIGHT]
    return [question for question in corpus.questions if question.kind == kind]


def test_what_is_promised_of_search_holds(found: Found) -> None:
    lines = [*search.table(own.FREIGHT, found)]
    for name in set(own.HALVES) & own.levels().keys():
        lines += search.table(name, search.asked(own.levels()[name], search.SEARCHES))
    assert promises.broken(lines) == []


def test_what_the_ranking_was_not_tuned_on_is_found_as_well(found: Found) -> None:
    checked = {name: figures(some[1::2]) for name, some in found.items()}
    assert checked[search.OURS].mrr >= checked[search.PLAIN].mrr + promises.BETTER
    assert checked[search.OURS].five >= checked[search.PLAIN].five


def test_every_chinese_question_is_answered_first(found: Found) -> None:
    chinese = [each for each in found[search.OURS] if each.question.lang == "zh"]
    assert figures(chinese).first >= 0.95


def test_notes_are_found_by_name_even_by_words_that_very_many_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer, "SCANNED", 2)
    (corpus,) = own.levels()[own.FREIGHT]
    with ours(corpus.documents, corpus.today) as find:
        assert measured(find, of_kind(promises.KNOWN)).five == 1


def test_the_corpus_is_what_it_is_said_to_be() -> None:
    (corpus,) = own.levels()[own.FREIGHT]
    kinds = Counter(question.kind for question in corpus.questions)
    assert kinds.total() == 150
    assert (kinds["unanswerable"], kinds["chinese"], kinds["known_item"]) == (25, 20, 30)
    assert len(corpus.documents) == 177 + 20
    known = {document.file for document in corpus.documents}
    assert {file for question in corpus.questions for file in question.answers} <= known


def test_a_third_of_a_half_has_no_answer_and_every_language_is_in_it() -> None:
    for name in own.HALVES:
        if name not in own.levels():
            continue
        (half,) = own.levels()[name]
        answerable = [question for question in half.questions if question.answers]
        assert 0.6 <= len(answerable) / len(half.questions) <= 0.7
        langs = Counter(question.lang for question in answerable)
        assert langs.keys() == {"en", "de", "fr", "es", "pt", "zh", "ja", "ko"}
        assert min(langs.values()) >= 10


def test_notes_of_the_corpora_are_as_mdmemory_writes_them() -> None:
    for name, (corpus,) in own.levels().items():
        assert not any(document.status for document in corpus.documents), name
        assert all(document.date for document in corpus.documents), name
