"""What every search database must do, whatever keeps it: `check` runs on each, and both together.

Each takes `fresh`, which opens a database that is empty.
"""

import math
import re
import struct
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date
from inspect import isfunction, signature
from pathlib import Path

import pytest
from rows import replace

from mdmemory.files import digest
from mdmemory.search.answer import answer_query
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import KEPT_QUERIES, Database, Document
from mdmemory.search.notes import note_document as of_note
from mdmemory.search.query import Term, parse
from mdmemory.store.store import StoredNote, decode_note
from mdmemory.text.search_words import RULES, stem_by

Fresh = Callable[[], AbstractContextManager[Database]]
TODAY = date(2026, 6, 12)
# Notes as a team's assistant may have taken them, and questions with the notes that answer them:
# ranking is tuned on these and on nothing else. In notes.txt each line is type, name, description
# and body; in questions.txt a question and the names that answer it.
DATA = Path(__file__).parent / "data"


def document(
    file: str, *texts: str, name: str = "n", print: str = "p", source: str = "memory"
) -> Document:
    chunks = tuple(Chunk(at, at, text) for at, text in enumerate(texts, 1))
    return Document(source, file, print, "00", name=name, chunks=chunks)


def at_once(work: Callable[[str], None], names: str) -> list[BaseException]:
    """Do the work in a thread for each name; what went wrong in any."""
    failed: list[BaseException] = []

    def told(name: str) -> None:
        try:
            work(name)
        except BaseException as problem:  # noqa: BLE001 - told by the assertion
            failed.append(problem)

    threads = [threading.Thread(target=told, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def who_has(
    database: Database, *words: str, source: str = "memory", prefix: bool = False
) -> list[str]:
    """The places with these words side by side."""
    ways = (tuple(stem_by(rule, word) for word in words) for rule in RULES)
    term = Term((words,) if prefix else tuple(ways), prefix)
    found = database.best([term], (), source, 99)
    assert {*found}.issuperset(database.having(term, found)), words
    assert database.held(term, source) == len(found), words
    return sorted(f"{row.file}:{row.start}" for row in database.rows(found).values())


def a_file_takes_the_place_of_what_was_there_of_it(fresh: Fresh) -> None:
    with fresh() as database:
        database.put([document("a.md", "green tea", "black tea"), document("b.md", "rum")])
        assert who_has(database, "tea") == ["a.md:1", "a.md:2"]
        database.put([document("a.md", "milk [[tea-house]] 数据库 on 2026-06-01")])
        assert (who_has(database, "tea"), who_has(database, "milk")) == (["a.md:1"], ["a.md:1"])
        database.remove("memory", ["a.md", "none.md"])
        assert database.count("memory") == 1
        assert [who_has(database, word) for word in ("tea", "milk", "数据", "june")] == [[]] * 4
        assert database.prints("memory") == {"b.md": ("p", "00")}
        assert database.similar("milks") == ()


def a_failing_file_leaves_none_of_its_batch(fresh: Fresh) -> None:
    bad = Document("memory", "b.md", "p", "00", chunks=(Chunk(1, 1, None),))  # type: ignore[arg-type]
    with fresh() as database:
        with pytest.raises(Exception):  # noqa: B017 - whatever it is, nothing may stay
            database.put([document("a.md", "tea"), bad])
        assert (database.prints("memory"), database.count("memory")) == ({}, 0)
        database.put([document("a.md", "tea")])
        assert who_has(database, "tea") == ["a.md:1"]


def files_seals_and_prints_are_remembered(fresh: Fresh) -> None:
    with fresh() as database:
        assert (database.seal("memory"), database.count("memory")) == ("", 0)
        database.put([document("a.md", "tea"), document("empty.md")])
        database.reprint("memory", {"a.md": "q", "none.md": "q"})
        database.set_seal("memory", "one")
        database.set_seal("memory", "two")
        assert database.prints("memory") == {"a.md": ("q", "00"), "empty.md": ("p", "00")}
        assert (database.seal("memory"), database.seal("sessions")) == ("two", "")
        database.tidy()
        assert who_has(database, "tea") == ["a.md:1"]
        assert database.lasting in (True, False)


def sources_are_kept_apart(fresh: Fresh) -> None:
    with fresh() as database:
        database.put([document("a.md", "tea"), document("a.md", "rum", "tea", source="sessions")])
        assert (database.count("memory"), database.count("sessions")) == (1, 2)
        assert who_has(database, "tea") == ["a.md:1"]
        assert who_has(database, "tea", source="sessions") == ["a.md:2"]
        database.remove("sessions", ["a.md"])
        assert (who_has(database, "tea"), database.count("sessions")) == (["a.md:1"], 0)


def words_are_found_in_every_spelling(fresh: Fresh) -> None:
    text = "The naïve Café deploys index.max_chars at 3.11, 数据库迁移 ready; o'clock isReadyNow"
    with fresh() as database:
        database.put([document("a.md", text, name="crème-brûlée"), document("b.md", "max index")])
        for words in (("naive",), ("deployed",), ("3", "11"), ("index", "max", "chars"), ("数据",),
                      ("brulee",), ("creme", "brulee"), ("数据", "据库"), ("ready",)):  # fmt: skip
            assert who_has(database, *words) == ["a.md:1"], words
        for words in (("11", "3"), ("index", "chars"), ("据数",), ("brulee", "the"), ("'",), ("",)):
            assert who_has(database, *words) == [], words
        assert who_has(database, "depl", prefix=True) == ["a.md:1"]
        assert who_has(database, "max", "cha", prefix=True) == ["a.md:1"]
        assert database.similar("deployz") == ("deploy",)


def odd_texts_come_back_and_harm_nothing(fresh: Fresh) -> None:
    odd = ("'); DROP TABLE chunks; --", "a\\b 'c' \"d\" %s :* & | !", "\u0301\u0301", "x" * 5_000,
           "tea\ttea\n", "\U0001f375 tea", "ﬁne ǅ İstanbul ß")  # fmt: skip
    with fresh() as database:
        database.put([document(f"{at}.md", text, name=text) for at, text in enumerate(odd)])
        for text in odd:
            terms = parse(text, TODAY).terms
            if terms:  # there is nothing to ask without one
                database.best(terms, terms, "memory", 9)
            for term in terms:
                database.held(term, "memory")
                database.having(term, (1,))
        found = database.best([Term((("tea",),)), Term((("drop",),))], (), "memory", 9)
        assert {row.text for row in database.rows(found).values()} == {odd[0], *odd[4:6]}


def a_limit_and_a_choice_are_kept_to(fresh: Fresh) -> None:
    tea = Term((("tea",),))
    with fresh() as database:
        database.put([document(f"{at}.md", "tea " * (at + 1), "rum") for at in range(9)])
        first, second, *_ = sorted(database.best([tea], (), "memory", 99))
        assert database.having(tea, {first, second, 10**12}) == {first, second}
        assert (database.having(tea, ()), database.held(tea, "memory")) == (set(), 9)
        assert len(database.holding(tea, "memory", 99)) == 9
        assert len(database.holding(tea, "memory", 4)) == 4
        best = database.best([tea], (), "memory", 3)
        assert len(best) == 3
        assert [*best.values()] == sorted(best.values(), reverse=True)


def dates_and_names_come_back(fresh: Fresh) -> None:
    known = replace(document("a.md", "tea", name="a"), aliases="GHA\nbuild pipeline",
                    days="2026-06-01 2025-03-09")  # fmt: skip
    with fresh() as database:
        database.put([known, document("b.md", "tea")])
        found = database.rows(database.best([Term((("tea",),))], (), "memory", 9))
        row, other = sorted(found.values(), key=lambda row: row.file)
        assert row.aliases == "GHA\nbuild pipeline"
        assert (other.aliases, other.days) == ("", "")
        for words in (("gha",), ("pipeline",), ("20250309",), ("june",)):
            assert who_has(database, *words) == ["a.md:1"], words
        database.remove("memory", ["a.md"])
        assert who_has(database, "march") == []


def links_and_heads_are_told_apart(fresh: Fresh) -> None:
    with fresh() as database:
        database.put([document("a.md", "of [[tea]]"), document("b.md", "tea"),
                      document("c.md", "2026-06-01", name="tea")])  # fmt: skip
        tea, june = Term((("tea",),)), Term((("20260601",),))
        every = database.best([tea, june], (), "memory", 9)
        _, b, c = sorted(every)
        assert (len(every), database.held(tea, "memory")) == (3, 3)
        assert database.having(tea, every) == {b, c}
        assert database.having(june, every) == {c}


def phrases_are_needed(fresh: Fresh) -> None:
    with fresh() as database:
        database.put([document("a.md", "green black tea"), document("b.md", "black green tea")])
        terms, phrase = [Term((("tea",),)), Term((("rum",),))], Term((("green", "tea"),))
        found = database.best(terms, [phrase], "memory", 9)
        assert [row.file for row in database.rows(found).values()] == ["b.md"]
        assert database.best(terms, [Term((("tea", "green"),))], "memory", 9) == {}


def _vector(*numbers: float) -> bytes:
    length = math.sqrt(sum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def the_nearest_vectors_are_found(fresh: Fresh) -> None:
    with fresh() as database:
        database.put([document(f"{at}.md", f"text {at}") for at in range(4)])
        assert database.nearest("memory", "m", _vector(1, 0), 2) == ({}, 0.0)
        assert database.without_vector("memory", "m") == 4
        texts = database.next_without_vector("memory", "m", 3)
        assert [row.file for row in texts.values()] == ["0.md", "1.md", "2.md"]
        first, second, third = texts
        numbers = database.best([Term((("text",),))], (), "memory", 9)
        near, slant, far, gone = (*sorted(numbers)[:3], 10**12)
        vectors = {first: _vector(1, 0), second: _vector(1, 1), third: _vector(-1, 0.5)}
        database.put_vectors("m", {**vectors, b"gone": _vector(1, 0)})
        database.put_vectors("other", {first: _vector(1, 0, 0)})
        assert database.without_vector("memory", "m") == 1
        found, low = database.nearest("memory", "m", _vector(1, 0), 2, {far, gone})
        assert [*found] == [near, slant, far]
        assert [*found.values()] == pytest.approx([1, 0.70710678, -0.89442719], abs=1e-6)
        assert low == pytest.approx(-0.89442719, abs=1e-6)
        assert database.nearest("sessions", "m", _vector(1, 0), 2) == ({}, 0.0)
        database.remove("memory", ["0.md"])
        assert [*database.nearest("memory", "m", _vector(1, 0), 9)[0]] == [slant, far]
        database.put([document("0.md", "text 0"), document("again.md", "text 0")])
        assert database.without_vector("memory", "m") == 1, "its vector serves again, and twice"
        database.remove("memory", ["0.md", "again.md"])
        database.forget_vectors("m")
        database.put([document("0.md", "text 0"), document("again.md", "text 0")])
        assert [row.file for row in database.next_without_vector("memory", "m", 9).values()] == [
            "3.md", "again.md",
        ]  # fmt: skip
        assert database.without_vector("memory", "m") == 2, "one of a text that is there twice"
        assert len(database.next_without_vector("memory", "other", 9)) == 4


def the_vectors_of_queries_are_kept(fresh: Fresh) -> None:
    with fresh() as database:
        assert database.query_vector("m", b"q") is None
        database.keep_query("m", b"q", _vector(1, 2))
        database.keep_query("m", b"q", _vector(1, 2))
        assert database.query_vector("m", b"q") == _vector(1, 2)
        assert database.query_vector("other", b"q") is None
        database.put([document("a.md", "tea")])
        (text,) = database.next_without_vector("memory", "m", 9)
        database.keep_query("m", text, _vector(1, 2))
        assert database.without_vector("memory", "m") == 1, "it is the vector of no text"
        database.forget_vectors("m")
        assert database.query_vector("m", b"q") == _vector(1, 2), "new texts leave it"
        database.forget_vectors("other")
        assert database.query_vector("m", b"q") is None
    with fresh() as database:
        for at in range(KEPT_QUERIES + 1):
            database.keep_query("m", b"%d" % at, _vector(1, 2))
        assert database.query_vector("m", b"%d" % KEPT_QUERIES) is not None
        assert database.query_vector("m", b"0") is None


def the_written_corpus_is_answered(fresh: Fresh) -> None:
    with fresh() as database:
        _fill(database)
        for question, (name,) in questions("known"):
            assert _asked(database, question)[0] == name
        for question, names in questions("chinese"):
            assert names & {*_asked(database, question)}
        natural = [bool(names & {*_asked(database, q)}) for q, names in questions("natural")]
        assert sum(natural) >= 0.95 * len(natural)


def notes() -> dict[str, str]:
    """The text of each note, by file."""
    found = {}
    for line in (DATA / "notes.txt").read_text("utf-8").splitlines():
        type, name, description, body = (part.strip() for part in line.split(" | ", 3))
        said = f'"{description}"' if re.search(": | #", description) else description
        head = f"name: {name}\ndescription: {said}\nmetadata:\n  type: {type}"
        found[f"{type}-{name}.md"] = f"---\n{head}\n---\n\n{body}\n"
    return found


def questions(kind: str) -> list[tuple[str, frozenset[str]]]:
    """Questions of a kind (natural, known, chinese, unanswerable), each with the names of the
    notes that answer it."""
    sections = (DATA / "questions.txt").read_text("utf-8").split("## ")
    (section,) = (text for text in sections if text.startswith(f"{kind}\n"))
    rows = (line.partition(" | ") for line in section.splitlines()[1:])
    return [(question, frozenset(filter(None, names.split(",")))) for question, _, names in rows]


def _fill(database: Database) -> None:
    stored = [
        StoredNote(file, digest(text.encode()), decode_note(text.encode(), file))
        for file, text in notes().items()
    ]
    database.put([of_note(each, "", False) for each in stored])


def _asked(database: Database, question: str) -> list[str]:
    found = answer_query(database, question, source="memory", k=5, today=TODAY)
    return [hit.name for hit in found.hits]


def agree(one: Database, other: Database) -> None:
    """Two databases with the corpus give the same hits in the same order."""
    for database in (one, other):
        _fill(database)
    kinds = ("natural", "known", "chinese", "unanswerable")
    asked = [question for kind in kinds for question, _ in questions(kind)]
    assert [q for q in asked if _asked(one, q) != _asked(other, q)] == []
    for question in asked:
        query = parse(question, TODAY)
        scores = [_by_place(database, query.terms) for database in (one, other)]
        assert scores[0] == pytest.approx(scores[1], rel=1e-6, abs=1e-9), question


def _by_place(database: Database, terms: tuple[Term, ...]) -> dict[str, float]:
    found = database.best(terms, (), "memory", 10**4)
    rows = database.rows(found)
    return {f"{rows[chunk].file}:{rows[chunk].start}": score for chunk, score in found.items()}


CHECKS = [
    check
    for check in [*globals().values()]
    if isfunction(check) and [*signature(check).parameters] == ["fresh"]
]
