"""Which words a text denies: what says the opposite is told, and a doubt never makes two texts
opposite."""

from contextlib import closing
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.search.answer import answer_query
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import Document
from mdmemory.search.query import parse
from mdmemory.search.sqlite import SQLite
from mdmemory.text import korean, search_words
from mdmemory.text.conflict import (
    clause_parts,
    count_negations,
    find_pairs,
    find_polarities,
    other_literal,
    reversed_words,
    why_contrary,
)
from mdmemory.text.search_words import (
    compound_halves,
    index_text,
    rule_of,
    small_words,
    stem_ways,
    written_names,
)

OPPOSITE = [
    ("Deploy on Fridays", "never deploy on Fridays"),
    ("Use spaces in Go", "Use tabs in Go, not spaces"),
    ("Comments are wanted in tests", "no comments in tests, please"),
    ("The worker may send mail", "The worker isn't allowed to send mail"),
    ("The team uses yarn", "stop using yarn in the team"),
    ("Wir nutzen npm im Projekt", "Wir nutzen npm nicht im Projekt"),
    ("Tabs in den Vorlagen", "Wir wollen keine Tabs in den Vorlagen"),
    ("Utilise yarn", "n'utilise pas yarn"),
    ("Usa yarn en el proyecto", "nunca usa yarn en el proyecto"),
    ("Usa yarn em produção", "não usa yarn em produção"),
    ("Usa yarn nel progetto", "senza yarn nel progetto"),
    ("使用 npm 安装", "不要使用 npm 安装"),
    ("テストは並列で実行", "テストは並列で実行しないでください"),
    ("npm을 쓴다", "npm을 쓰지 마"),
]
ALIKE = [
    ("Never deploy on Fridays", "deploys do not go out on Fridays"),
    ("Use tabs", "Use tabs, not spaces"),
    ("Tests run without a database", "the tests need no database"),
    ("Avoid yarn", "no yarn in this repository"),
    ("Lena reviews migrations", "Bob never merges, and Lena reviews migrations"),
    ("Uses pnpm", "I never use npm but pnpm"),
    ("Notebooks are cleared", "notebooks and nightly jobs are cleared"),
    ("", "never"),
]


def test_what_one_states_the_other_denies_is_named_either_way_and_nothing_else() -> None:
    for claim, source in OPPOSITE:
        assert reversed_words(claim, source)
        assert sorted(reversed_words(claim, source)) == sorted(reversed_words(source, claim))
    for claim, source in ALIKE:
        assert reversed_words(claim, source) == reversed_words(source, claim) == []


def test_a_word_whose_clause_and_part_disagree_counts_as_both() -> None:
    found = find_polarities("Do not merge and rebase, but ask")
    assert found["merg"] == {True}
    assert found["rebas"] == {True, False}
    assert found["ask"] == {False}


def test_the_parts_of_a_text_end_at_marks_and_at_words_that_join() -> None:
    parts = clause_parts("Tabs, and spaces but no LF. v1.5 is 没有，好")
    assert [part.strip() for part in parts] == ["Tabs", "spaces", "no LF", "v1.5 is 没有", "好"]


def test_words_that_deny_are_counted_and_words_that_only_hold_one_are_not() -> None:
    assert count_negations("Never use npm, don't use yarn, ohne Tabs, pas de LF") == 4
    assert count_negations("notes, knot, nothing2do, Nonne, sinus, noon") == 0


@given(st.text(max_size=300))
def test_no_text_is_the_opposite_of_itself(text: str) -> None:
    assert reversed_words(text, text) == []


WORDS = ["never ", "deploy ", "on Fridays", "not ", "and ", ", ", "tabs ", "不", "kein ", ". "]


@given(*[st.lists(st.sampled_from(WORDS), max_size=12).map("".join)] * 2)
def test_what_is_reversed_stands_in_both_and_is_one_from_either_side(one: str, other: str) -> None:
    odd = reversed_words(one, other)
    assert set(odd) <= find_polarities(one).keys() & find_polarities(other).keys()
    assert sorted(odd) == sorted(reversed_words(other, one))


# Two facts that differ in one literal are shown to a person, and no others.

PAIRS = [
    ("The API limit is 100 requests per minute", "The API limit is 500 requests per minute", "100"),
    ("Deploys go out on Friday", "Deploys go out on Monday.", "Friday"),
    ("The daily standup is at 9:30", "the daily standup is at 10:00", "9:30"),
    ("Runs everything on Node v18", "Runs everything on Node v20", "v18"),
    ("The default branch is `main_dev`", "The default branch is `main_release`", "main_dev"),
    ("The release was on 2026-03-01", "The release was on 2026-04-01", "2026-03-01"),
    ("The database of the project is Postgres", "The database of the project is MySQL", "Postgres"),
    ("Backups are kept for 30 days", "Backups are kept for 90 days", "30"),
    ("服务器端口是8080", "服务器端口是9090", "8080"),
]  # fmt: skip
APART = [
    ("Use tabs for indentation in Go", "Use spaces for indentation in Go"),  # no literal
    ("Always squash commits", "Never squash commits"),
    ("The staging proxy listens on port 8080", "The production proxy listens on port 9090"),
    ("The limit is 100 requests", "The limit is 100 requests since 2025"),  # an addition
    ("The limit is 100 requests", "the limit is 100 requests!"),  # the same
    ("The proxy listens on port 8080", "Port 9090 is what the proxy uses"),
    ("Billing is written in Go", "Search is written in Go"),  # of two things
    ("limit is 100", "limit is 200"),  # too little in common
    ("", ""),
]


def test_the_one_literal_in_which_facts_differ_is_named() -> None:
    for one, other, literal in PAIRS:
        found = other_literal(one, other)
        assert found[0] == literal
        assert other_literal(other, one) == found[::-1]
        assert why_contrary(found) == f"the same words but for {found[0]} and {found[1]}"


def test_facts_that_differ_in_more_or_in_no_literal_are_left_alone() -> None:
    for one, other in APART:
        assert other_literal(one, other) is other_literal(other, one) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_of_any_two_texts_what_differs_stands_in_them(one: str, other: str) -> None:
    assert other_literal(one, one) is None
    found = other_literal(one, other)
    assert found is None or (found[0] in one and found[1] in other)


@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_two_numbers_in_one_sentence_are_a_conflict_unless_equal(one: int, other: int) -> None:
    said = "The proxy of the shop listens on {}"
    found = other_literal(said.format(one), said.format(other))
    assert found == (None if one == other else (str(one), str(other)))


CONFLICTING = st.sampled_from(["Node", "18", "20", "runs", "The", "shop", "端口", "9:30"])


@given(st.lists(st.lists(CONFLICTING, min_size=3, max_size=6).map(" ".join), max_size=9))
def test_of_many_facts_each_two_that_differ_so_are_found(facts: list[str]) -> None:
    kinds = ["user"] * len(facts)
    every = [(at, more) for more in range(len(facts)) for at in range(more)]
    odd = {(at, more) for at, more in every if other_literal(facts[at], facts[more])}
    assert odd <= {*find_pairs(facts, kinds)}
    for wanted in range(len(facts)):
        some = find_pairs(facts, kinds, [wanted])
        assert {pair for pair in odd if wanted in pair} <= {*some}
        assert all(wanted in pair for pair in some)
    assert find_pairs(facts, [str(at) for at in range(len(facts))]) == []


# A question finds what was noted in other forms of its words, in each language.

TODAY = date(2026, 6, 1)
# A question and the note that answers it, with no word in the same form in both.
FORMS = [
    ("Who bought the chairs?", "Buying a chair is up to Ana"),
    ("what did we choose in the end", "The team chose Lit over React"),
    ("linters for shell scripts", "Each shell script is linted"),
    ("Wann lief das letzte Mal die Sicherung?", "Sicherungen laufen nachts um drei"),
    ("Wer hat die Bücher bekommen?", "Ein Buch bekommt jeder Neue"),
    ("Wie hoch sind die Preise?", "Der Preis beträgt neun Euro"),
    ("Wo liegen die Schluessel?", "Der Schlüssel hängt am Tor"),
    ("Où sont conservées les sauvegardes ?", "Chaque sauvegarde est gardée à Lyon"),
    ("qui envoie les factures ?", "Léa s'occupe d'envoyer la facturation"),
    ("Quel chœur a payé ?", "Les choeurs paient en mai"),
    ("¿Quién hizo las pruebas?", "Hay que hacer la prueba en el banco azul"),
    ("¿Dónde se guardan las copias?", "La copia la guardamos en Vigo"),
    ("Quem fez as entregas?", "A entrega é feita pela Rita"),
    ("Onde estão as imagens?", "A imagem vive no cofre"),
    ("백업은 어디에 저장했어요?", "백업을 서울에서 저장한다"),
    ("배포는 누가 합니까", "배포할 때에 민수가 한다"),
    ("支払いは誰が承認しますか", "承認するのは経理で、支払う前に行う"),
    ("请问备份放在哪里", "每天的备份放到南京"),
]
# And with words in other forms than those of inflection: names, compounds, what is used for them.
RELATED = [
    ("Where does Kubernetes run?", "Die Dienste von Kubernetes laufen in Bremen"),
    ("Wann ist die Migration der Datenbank?", "Die Datenbankmigration ist am Freitag"),
    ("Wie fest sitzt der Gehäusedeckel?", "Der Deckel am Gehäuse wird mit der Hand angezogen"),
    ("Wo hängt der Schlüssel vom Keller?", "Die Kellerschlüssel hängen bei Ute"),
    ("at what resolution do we scan?", "Scans are kept at 300 dpi"),
    ("Was kostet das Handy im Monat?", "Das Telefon läuft über einen Tarif von Mara"),
    ("¿Qué sueldo tiene Ana?", "El salario de Ana sube en enero"),
    ("quel est le numéro du médecin ?", "Le docteur Blanc répond au 12 34"),
    ("qual é a senha do portão?", "A palavra-passe do portão mudou em maio"),
]
OTHERS = [
    "Likes gardening at night", "The office closes at nine", "Der Hund schläft gern im Flur",
    "Le chat dort dans le jardin", "El perro duerme en la cocina", "O gato dorme na cama",
    "고양이가 방에서 잔다", "猫は庭で寝る", "猫在院子里睡觉",
]  # fmt: skip


def first(question: str, *notes: str) -> str:
    """The note that a question finds first; "" for none."""
    with closing(SQLite(None, "x")) as database:
        for at, text in enumerate(notes):
            chunks = (Chunk(1, 1, text),)
            database.put([Document("memory", f"{at}.md", "", "", name=f"n{at}", chunks=chunks)])
        found = answer_query(database, question, source="memory", k=1, today=TODAY)
    return found.hits[0].text if found.hits else ""


@pytest.mark.parametrize(("question", "note"), FORMS + RELATED)
def test_a_word_is_found_in_its_other_forms(question: str, note: str) -> None:
    assert first(question, *OTHERS, note) == note
    if (question, note) in FORMS:  # a text is kept by the rule of its language
        assert rule_of(note) == rule_of(question)


def test_a_word_of_one_language_does_not_find_another_word_of_a_second() -> None:
    assert "not" not in stem_ways("notes")
    assert "not" in index_text("It is not so").split()


def test_a_word_that_tells_in_its_language_stays() -> None:
    for question, kept in (
        ("Why did the server die?", {"server", "die"}),
        ("Wann stirbt die Maus?", {"stirbt", "maus"}),
        ("un vuelo sin escalas", {"vuelo", "escalas"}),
        ("IT budget for it", {"it", "budget"}),
        ("Qui s'occupe du serveur ?", {"occupe", "serveur"}),
        ("who", set()),
        ("C# style", {"c#", "style"}),
        ("IT", {"it"}),
    ):
        words = {word.strip("?'").casefold() for word in question.replace("'", " ").split()} - {""}
        small = small_words(question).stop
        assert {word for word in words if word.strip("+#.") not in small} == kept
    assert parse("¿qué es?", TODAY).terms, "a question of nothing but small words looks for these"


def test_names_that_only_signs_or_capitals_tell() -> None:
    assert written_names("C# or C++ on .net, see example.org") == {"c#", "c++", ".net"}
    assert written_names("who is IT") == {"IT"}
    assert written_names("WHO IS IT") == frozenset()
    assert written_names("a_b+ #x ++ ..") == frozenset()


def test_korean_words_lose_particles_and_endings_alone() -> None:
    pairs = (
        "백업은 백업 | 서버에서 서버 | 회의 회의 | 휴가는 휴가 | 가을 가을 | 온도 온도 | "
        "저장했어요 저장 | 예약했나요 예약 | 차를 차 | 담당자인가요 담당자"
    )
    for pair in pairs.split(" | "):
        word, cut = pair.split()
        assert korean.cut_word(word) == cut


def test_pairs_of_grammar_are_not_asked_for() -> None:
    for question, pieces in (
        ("我们用什么数据库？", {"数据", "据库"}),
        ("会议室在几楼", {"会议", "议室"}),
        ("バックアップはどこですか", {"バッ", "ック", "クア", "アッ", "ップ"}),
        ("誰が承認しますか", {"承認"}),
        ("비밀번호가 뭐였지?", {"비밀", "밀번", "번호"}),
    ):
        asked = search_words.asked_pieces(question)
        assert {each.text for each in asked if each.weight == 1} == pieces


def test_what_only_looks_like_a_compound_stays_whole() -> None:
    for word in ("Verarbeitung", "abgeschlossen", "Transport", "Tisch", "x" * 70):
        assert compound_halves(word) == ()


def test_the_word_that_was_asked_for_comes_before_those_used_for_it() -> None:
    other, asked = "The salary of Ana is fixed in May", "The wage of Ana is fixed in May"
    assert first("What is the wage of Ana?", *OTHERS, other, asked) == asked
    assert first("What is the salary of Ana?", *OTHERS, other, asked) == other
