"""How well the written notes and conversations are searched, and what stands in them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import pytest
from bench import own, promises, search
from bench.retrieval import Outcome, Question, figures, measured, ours
from search.conftest import note

from mdmemory import Memory
from mdmemory.search import answer, near, sources, sqlite
from mdmemory.search.near import near_in, near_notes, scan_notes
from mdmemory.search.project import FILE
from mdmemory.store.store import StoredNote
from mdmemory.text.similarity import Ranking, likeness_of

Patch = pytest.MonkeyPatch
Found = Mapping[str, Sequence[Outcome]]


@pytest.fixture(scope="module")
def found() -> Found:
    """What the plain full-text table and our search find on the notes of the freight company."""
    return search.asked(own.levels()[own.FREIGHT], search.SEARCHES)


def of_kind(kind: str) -> list[Question]:
    (corpus,) = own.levels()[own.FREIGHT]
    return [question for question in corpus.questions if question.kind == kind]


@pytest.mark.slow
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


def test_notes_are_found_by_name_even_by_words_that_very_many_have(monkeypatch: Patch) -> None:
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


# The notes near a text are asked of the search database; without one they are found as well.

TEXTS = {
    "user-deploys.md": note("deploys", "The deploys of the ledger go out on Tuesdays"),
    "user-ledger.md": note("ledger", "The ledger is kept in PostgreSQL 15"),
    "user-answers.md": note("answers", "Bevorzugt kurze Antworten mit Beispielen"),
    "user-korean.md": note("korean", "배포는 화요일에 한다"),
}
ASKED = [
    ("When does the ledger deploy? Tuesday?", "user-deploys.md"),
    ("Our ledger runs on postgres", "user-ledger.md"),
    ("eine kurze Antwort, ein Beispiel", "user-answers.md"),
    ("화요일에만 배포한다", "user-korean.md"),
]


@pytest.fixture
def large(opened: Callable[..., Memory], monkeypatch: Patch) -> Memory:
    """A memory whose store is too large to be scanned."""
    monkeypatch.setattr(near, "SCANNED", 1)
    more = {f"user-n{n}.md": note(f"n{n}", f"Likes song number {n}") for n in range(20)}
    return opened({**TEXTS, **more})


def stored(memory: Memory) -> list[StoredNote]:
    return memory.opened.refresher().store.notes()


@pytest.mark.parametrize(("text", "file"), ASKED)
def test_a_large_store_is_asked_and_a_small_one_scanned(
    large: Memory, text: str, file: str
) -> None:
    notes = stored(large)
    find = near_in(large.opened.refresher())
    assert find(text, notes)[0].file == scan_notes(text, notes)[0].file == file
    assert (large.project.private / FILE).exists()
    assert file not in [each.file for each in find(text, [n for n in notes if n.file != file])]


def test_a_note_that_changed_just_now_is_near(large: Memory) -> None:
    assert near_in(large.opened.refresher())("zebra", stored(large)) == []
    (large.project.store / "user-n1.md").write_text(note("n1", "Feeds a zebra"), "utf-8")
    found = near_in(large.opened.refresher())("zebras", stored(large))
    assert [each.file for each in found] == ["user-n1.md"]
    few = near_notes(large.opened.refresher())("likes a song")
    assert len(few) == near.NEAR, "the nearest six are read, and no more"


def test_without_a_database_all_notes_are_read(large: Memory, monkeypatch: Patch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise sqlite.UnusableError("cannot be used")

    monkeypatch.setattr(sqlite, "use_file", broken)
    assert near_in(large.opened.refresher())(ASKED[1][0], stored(large))[0].file == ASKED[1][1]


class Meaning:
    """An encoder that knows one thing: a queue is where messages wait."""

    model = "scripted"

    def embed(self, texts: list[str]) -> list[list[int]]:
        return [[1, 0] if re.search("queue|messages wait", text) else [0, 1] for text in texts]


def test_meaning_answers_beside_words_once_the_encoder_is_warm(
    opened: Callable[..., Memory], monkeypatch: Patch
) -> None:
    memory = opened({**TEXTS, "user-broker.md": note("broker", "RabbitMQ runs the queue")})
    text = "messages wait for PostgreSQL"
    assert [each.file for each in near_notes(memory.opened.refresher())(text)] == ["user-ledger.md"]
    monkeypatch.setattr(sources, "_chosen_encoder", lambda _: SimpleNamespace(is_warm=False))
    assert sources.warm_encoder(memory.project) is None, "nobody waits for it"
    monkeypatch.setattr(sources, "warm_encoder", lambda _: Meaning())
    monkeypatch.setattr(near, "SCANNED", 0)
    found = [each.file for each in near_notes(memory.opened.refresher())(text)]
    assert {*found[:2]} == {"user-ledger.md", "user-broker.md"}


@pytest.mark.parametrize("text", ["", "?!", "the of and", "\ud800", "*" * 5_000, "NEAR(a b) OR"])
def test_a_text_without_words_is_near_nothing(large: Memory, text: str) -> None:
    assert near_in(large.opened.refresher())(text, stored(large)) == []


def test_the_rarer_word_decides_and_length_does_not() -> None:
    texts = ["tea tea tea", "tea and a zebra", "tea " * 50, "rum"]
    assert Ranking(texts).near("a zebra with tea")[0] == 1
    assert 3 not in Ranking(texts).near("tea")
    assert likeness_of(set(), set()) == 0
    assert likeness_of({"a", "b"}, {"b", "c"}) == 0.5
