"""One word is one word everywhere: in each form, spelling and script, to everything that reads."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from itertools import product
from string import ascii_lowercase

import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import HUNG, sample

from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.search.answer import answer_query
from mdmemory.search.near import scan_notes
from mdmemory.search.notes import note_document
from mdmemory.search.query import mark_words
from mdmemory.search.sqlite import SQLite
from mdmemory.store.store import StoredNote, decode_note
from mdmemory.text.conflict import other_literal
from mdmemory.text.literals import audit_literals, linked_names, literal_tokens
from mdmemory.text.search_words import index_text
from mdmemory.text.words import stem_in, stem_of, word_key, word_keys, word_synonyms

# One thing, said in two ways.
SAME = [
    ("The ledger is kept in postgres", "The ledger is kept in PostgreSQL"),
    ("The dashboard is written in ts", "The dashboard is written in TypeScript"),
    ("Deploys run on Tuesday", "Deploys run on Tuesdays"),
    ("The cluster runs k8s", "The cluster runs Kubernetes"),
    ("Antwortet mit kurzen Beispielen", "Antwortet mit kurzem Beispiel"),
    ("Die Rechnungen liegen im Archiv", "Die Rechnung liegt im Archiv"),
    ("배포는 화요일에 한다", "배포를 화요일에만 한다"),
    ("배포는 화요일에 합니다", "화요일마다 배포한다"),
    ("회의록은 위키에 저장한다", "위키에 회의록을 저장합니다"),
    ("喜欢简短的回答", "喜欢简短回答"),
]
OTHER = ["Likes gardening at night", "Der Hund schläft gern", "고양이가 좋다", "项目会议在九点"]


def note(name: str, text: str) -> StoredNote:
    whole = compose(name=name, type="user", description=text, body=text)
    file = f"user-{name}.md"
    return StoredNote(file, digest(whole.encode()), decode_note(whole.encode(), file))


@pytest.mark.parametrize(("one", "two"), SAME)
def test_search_and_capture_find_it_and_it_contradicts_nothing(one: str, two: str) -> None:
    notes = [note("one", one), *(note(f"n{at}", text) for at, text in enumerate(OTHER))]
    with closing(SQLite(None, "x")) as database:
        database.put([note_document(each, "", False) for each in notes])
        found = answer_query(database, two, source="memory", k=1, today=date(2026, 6, 1))
    assert [hit.file for hit in found.hits] == ["user-one.md"]
    assert scan_notes(two, notes[::-1])[0].file == "user-one.md"
    assert other_literal(one, two) is None


def test_what_differs_about_it_does() -> None:
    for one, two in (
        ("The ledger in postgres has 3 replicas", "The ledger in PostgreSQL has 5 replicas"),
        ("The deployments run on Tuesday", "The deployment runs on Friday"),
        ("The ts dashboard listens on port 80", "The TypeScript dashboard listens on port 90"),
        ("배포는 화요일 3시에 한다", "배포는 화요일 5시에 한다"),
    ):
        assert other_literal(one, two), one


def test_it_is_marked_in_any_form() -> None:
    text = "Tuesday, database, Datenbanken"
    marked = [text[start:end] for start, end in mark_words("Tuesdays Datenbank", text)]
    assert marked == ["Tuesday", "Datenbanken"]


def test_unlike_words_stay_apart() -> None:
    pairs = (
        "server database | authentication authorization | c go | Java JavaScript | test text | "
        "mail message | 数据 据库"
    )
    for pair in pairs.split(" | "):
        one, two = pair.split()
        assert word_key(one) != word_key(two)


def test_a_short_form_of_two_names_is_found_by_both_and_is_neither() -> None:
    assert word_synonyms("auth") == (("authentication",), ("authorization",))
    assert word_key("auth") not in (word_key("authentication"), word_key("authorization"))


def test_small_words_tell_nothing() -> None:
    told = [word_key(word) for word in ("database", "heißt", "Tabelle")]
    assert word_keys("What is the database of it, und wie heißt die Tabelle?") == told


def test_korean_words_are_one_in_plain_and_polite_sentences_and_others_stay_apart() -> None:
    for one, two, is_same in (
        ("Matrix를 씁니다", "Matrix를 쓴다", True),
        ("팀은 서버를 옮겼습니다", "우리 팀은 서버를 옮겼다", True),
        ("데이터는 없습니다", "데이터가 없다", True),
        ("API에서 오류를 찾는다", "API의 오류는 찾습니다", True),
        ("npm을 쓴다", "npm을 쓰지 않는다", False),
        ("데이터가 있다", "데이터가 없다", False),
        ("람다를 본다", "람을 본다", False),
        ("배포는 화요일에 한다", "배포는 목요일에 한다", False),
    ):
        assert (word_keys(one) == word_keys(two)) == is_same
        assert ({*word_keys(one)} == {*word_keys(two)}) == is_same


def test_any_text_has_words() -> None:
    for text in (
        "",
        "\ud800",
        "'s",
        "²",
        "\u0301",
        "x" * 100_000,
        "各" * 9_000,
        "다" * 9_000,
        "漢다",
    ):
        assert index_text(text) == index_text(text)
        assert word_keys(text) == word_keys(text)


def test_a_word_loads_two_stemmers_and_no_other() -> None:
    code = (
        "import sys; from mdmemory.text import words; assert 'snowballstemmer' not in str("
        "sys.modules.keys()); words.stem_of('tests'); import snowballstemmer;"
        "print(snowballstemmer.stemmer('german').stemWord('Datenbanken'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HUNG
    )
    assert done.stdout.split() == ["Datenbank"]


@pytest.mark.slow
def test_english_stems_are_those_of_the_stemmer() -> None:
    stemmer = snowballstemmer.stemmer("english")
    for end in sample([*map("".join, product(ascii_lowercase, repeat=3))], 3):
        for begin in ("", "relat"):
            assert stem_in("en", begin + end) == stemmer.stemWord(begin + end)


@pytest.mark.slow
def test_threads_stem_side_by_side() -> None:
    words_of = [f"{chr(97 + n % 26)}{chr(97 + n // 26)}nationalizations" for n in range(600)]

    def stems(_: int) -> list[str]:
        return [stem_of.__wrapped__(word) for word in words_of]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(stems, range(16)))
    assert all(each == results[0] for each in results)


# Literals survive a compaction: none is lost, none is invented.

SENTENCES = [
    "The API answers on port 8080 (v1.2.3) since 2026-06-01.",
    "Mail anna.b@example.co.uk, or see https://example.com/a/b?x=1#y.",
    "Run `make test -j 2`; logs lie in /var/log/app/x.log and ~/notes.",
    "Why: the build of 12:30 broke twice, by 1,200 files.",
    "See [[monorepo-layout]] and [[Other Note|the other]].",
    "1. First step\n2. Second step of 10",
    "版本3在`main`分支，见https://example.com/文档。",
    "Nothing to see here, and/or there.",
    "- [ ] ticked `a b` in src/app/main.py, 50 %",
    "It costs $3.50 (about 3 EUR): 1/2 of 7.",
]

sentences = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4)


@given(st.lists(sentences.map("\n\n".join), min_size=1, max_size=4))
@settings(deadline=None)
def test_plain_concatenation_is_never_refused(texts: list[str]) -> None:
    for joint in ("\n", "\n\n"):
        assert audit_literals(texts, joint.join(texts)) == ([], [])


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5))
@settings(deadline=None)
def test_sentences_joined_by_spaces_are_never_refused(texts: list[str]) -> None:
    assert audit_literals(texts, " ".join(texts)) == ([], [])


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
@settings(deadline=None)
def test_a_text_that_stays_loses_nothing(texts: list[str]) -> None:
    assert audit_literals(texts, "\n\n".join(texts))[0] == []


def test_literals_are_found_whole() -> None:
    for at, literals in (
        (0, {"8080", "1.2.3", "2026-06-01"}),
        (1, {"anna.b@example.co.uk", "https://example.com/a/b?x=1#y", "1"}),
        (2, {"make test -j 2", "2", "/var/log/app/x.log", "~/notes"}),
        (4, {"[[monorepo-layout]]", "[[other note]]"}),
        (7, set()),
    ):
        assert literal_tokens(SENTENCES[at]) == literals


def test_each_removed_literal_is_seen() -> None:
    for text in (SENTENCES[at] for at in (0, 1, 2, 4, 6, 8, 9)):
        for token in literal_tokens(text) - {"1", "2", "3", "3.50"}:
            word = token.strip("[]")
            lost, _ = audit_literals([text], text.replace(word, "").replace("Other Note", ""))
            assert lost, token


def test_a_changed_number_is_lost_and_invented() -> None:
    assert audit_literals(["Port 8080."], "Port 80801.") == (["8080"], ["80801"])
    assert audit_literals(["Version 1.2"], "Version 1.20") == (["1.2"], ["1.20"])


def test_a_why_line_stays_with_most_of_its_words() -> None:
    why = "Why: npm broke the workspaces twice."
    for text, lost in (
        ("Use pnpm.\n\nWhy: twice the workspaces were broken by npm.", []),
        ("Use pnpm. **Why:** npm broke the workspaces twice", []),
        ("Use pnpm, npm broke workspaces.", [why]),
        ("Use pnpm.\n\nWhy: it is fast.", [why]),
        ("Use pnpm.\n\nWhy: npm broke.", [why]),
    ):
        assert audit_literals([f"Use pnpm.\n\n{why}"], text)[0] == lost


def test_the_numbers_of_a_list_and_links_among_merged_notes_may_go() -> None:
    assert audit_literals(["1. a", "1. b"], "1. a\n2. b") == ([], [])
    texts = ["See [[b]] and [[c]].", "See [[a]]."]
    assert audit_literals(texts, "See [[c]].", merged=["a", "b"]) == ([], [])
    assert audit_literals(texts, "See [[b]].", merged=["a", "b"])[0] == ["[[c]]"]


def test_links_are_folded_names() -> None:
    assert linked_names("[[A]] [[b.md]] [[c|see]] [[d#part]] [[x\ny]] [e]") == {"a", "b", "c", "d"}
