"""The database: whole files in and out, other processes, and whatever may be wrong with it."""

import sqlite3
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from search.conformance import at_once, document, who_has

from mdmemory.errors import Busy, Unwritable
from mdmemory.search import sqlite
from mdmemory.search.chunks import count_tokens, cut_text
from mdmemory.search.database import LockedError
from mdmemory.search.query import Term
from mdmemory.search.sqlite import SQLite, use_file

Spoil = Callable[[Path], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "search.db"


def test_what_another_process_puts_in_is_counted(path: Path) -> None:
    with closing(SQLite(path, "1")) as database, closing(SQLite(path, "1")) as other:
        assert database.count("memory") == 0
        database.put([document("a.md", "green", "black")])
        assert database.count("memory") == other.count("memory") == 2
        other.put([document("b.md", "rum")])
        assert database.count("memory") == 3
        database.remove("memory", ["a.md"])
        assert database.count("memory") == other.count("memory") == 1


TEXTS = some.text(alphabet="ab Ab[]x数据é\u0301ǅ.-\n", max_size=30)


@settings(max_examples=30, deadline=None)
@given(some.lists(some.tuples(some.sampled_from("abc"), TEXTS, TEXTS), max_size=8))
def test_taking_out_leaves_no_word_behind(steps: Sequence[tuple[str, str, str]]) -> None:
    with closing(SQLite(None, "1")) as database:
        for file, name, text in steps:
            database.put([document(file, text, name=name)])
        database.remove("memory", "abc")
        assert database._rows("SELECT count(*) FROM vocabulary") == [(0,)]


def test_another_stamp_makes_the_database_anew(path: Path) -> None:
    with closing(SQLite(path, "1")) as database:
        database.put([document("a.md", "tea")])
        database.set_seal("memory", "s")
    with closing(SQLite(path, "2")) as database:
        assert (database.prints("memory"), database.seal("memory")) == ({}, "")
    with closing(SQLite(path, "2", anew=True)) as database:
        assert database.count("memory") == 0


def words_in(path: Path | None) -> tuple[list[str], list[str]]:
    def job(database: SQLite) -> list[str]:
        database.put([document("a.md", "tea")])
        return who_has(database, "tea")

    return use_file(path, "1", job)


def broken_head(path: Path) -> None:
    path.write_bytes(b"this is no database" * 400)


def broken_pages(path: Path) -> None:
    words_in(path)
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(data)


def missing_table(path: Path) -> None:
    words_in(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE chunks")


@pytest.mark.parametrize("spoil", [broken_head, broken_pages, missing_table])
def test_a_broken_database_is_moved_aside_and_made_anew(path: Path, spoil: Spoil) -> None:
    spoil(path)
    said = "search.db was broken: it is made anew, and the old one is search.db.aside."
    assert words_in(path) == (["a.md:1"], [said])
    assert path.with_name("search.db.aside").exists()
    assert words_in(path) == (["a.md:1"], [])


def somebody_elses(path: Path) -> None:
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE words (x)")  # the name of one of ours


def a_link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def a_linked_journal(path: Path) -> None:
    words_in(path)
    a_link(path.with_name(f"{path.name}-wal"))


@pytest.mark.parametrize("spoil", [Path.mkdir, a_link, somebody_elses, a_linked_journal])
def test_without_a_file_the_search_is_in_memory_and_says_so(path: Path, spoil: Spoil) -> None:
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    found, (said,) = words_in(path)
    assert found == ["a.md:1"]
    assert said.endswith("everything is read anew for this search.")
    assert before == (path.read_bytes() if path.is_file() else b"")
    assert not path.with_name("elsewhere").exists()
    with pytest.raises(Unwritable):
        use_file(path, "1", lambda database: None, must=True)


def test_no_path_is_no_word(path: Path) -> None:
    assert words_in(None) == (["a.md:1"], [])


def test_who_reads_never_waits_and_who_writes_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words_in(path)
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(SQLite(path, "1")) as database:
            assert who_has(database, "tea") == ["a.md:1"]
            with pytest.raises(LockedError):
                database.put([document("b.md", "rum")])
        with pytest.raises(Busy):
            use_file(path, "1", lambda database: database.remove("memory", ["a.md"]), must=True)


def test_many_writers_and_readers_at_once_lose_nothing(path: Path) -> None:
    def write(name: str) -> None:
        for number in range(10):
            with closing(SQLite(path, "1")) as database:
                database.put([document(f"{name}{number}.md", "tea")])
                database.best([Term((("tea",),))], (), "memory", 99)

    failed = at_once(write, "abcd")
    with closing(SQLite(path, "1")) as database:
        assert (failed, database.count("memory")) == ([], 40)


def test_tidying_up_makes_the_file_smaller_and_keeps_all(path: Path) -> None:
    with closing(SQLite(path, "1")) as database:
        for number in range(20):
            database.put([document(f"{number}.md", "tea " * 200)])
        database.remove("memory", [f"{number}.md" for number in range(15)])
    before = path.stat().st_size
    with closing(SQLite(path, "1")) as database:
        database.tidy()
        assert len(who_has(database, "tea")) == 5
    assert path.stat().st_size < before


# How a text is cut: whole lines, an overlap, line numbers that lead back to the file.


def test_four_characters_are_a_token_and_each_of_cjk_is_one() -> None:
    for text, count in ("", 0), ("abcd", 1), ("abcde", 2), ("数据库", 3), ("ab数", 2), ("한국", 2):
        assert count_tokens(text) == count


def test_a_small_text_is_one_piece_as_it_stands_and_an_empty_one_none() -> None:
    (piece,) = cut_text("one\n\ntwo", first=9)
    assert (piece.start, piece.end, piece.text) == (9, 11, "one\n\ntwo")
    assert [*cut_text(""), *cut_text("   "), *cut_text("\n\n \n")] == []


def test_pieces_are_whole_lines_that_overlap_and_stay_in_size() -> None:
    lines = [f"line {number} " + "word " * (number % 13) for number in range(300)]
    pieces = list(cut_text("\n".join(lines), 100, 20))
    assert len(pieces) > 10
    for piece in pieces:
        assert piece.text == "\n".join(lines[piece.start - 1 : piece.end])
        assert count_tokens(piece.text) <= 100
    for one, other in pairwise(pieces):
        assert one.start < other.start <= one.end + 1  # nothing between them
        assert count_tokens("\n".join(lines[other.start - 1 : one.end])) <= 20
    assert any(other.start <= one.end for one, other in pairwise(pieces))


def test_one_huge_line_is_split_at_spaces() -> None:
    text = "word " * 4000
    pieces = list(cut_text(text, 100, 0))
    assert "".join(piece.text for piece in pieces) == text
    assert {(piece.start, piece.end) for piece in pieces} == {(1, 1)}
    assert all(count_tokens(piece.text) <= 100 for piece in pieces)


@settings(max_examples=30, deadline=None)
@given(some.text(alphabet="ab \n数据", max_size=400), some.integers(1, 20), some.integers(0, 30))
def test_every_line_with_words_is_in_some_piece(text: str, size: int, overlap: int) -> None:
    pieces = list(cut_text(text, size, overlap))
    got = {number for piece in pieces for number in range(piece.start, piece.end + 1)}
    assert {number for number, line in enumerate(text.split("\n"), 1) if line.strip()} <= got
    assert all(count_tokens(piece.text) <= size for piece in pieces)
    whole = set(text.replace("\n", "").replace(" ", ""))
    assert whole == {sign for piece in pieces for sign in piece.text if not sign.isspace()}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["words of a line\n" * 65_536, "数" * 349_525])
def test_a_megabyte_is_cut_without_taking_much_more_than_itself(text: str) -> None:
    tracemalloc.start()
    count = sum(1 for _ in cut_text(text))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count > 500
    assert peak < 5 * len(text)
