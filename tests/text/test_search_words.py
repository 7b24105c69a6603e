"""A question finds what was noted in other forms of its words, in each language."""

from contextlib import closing
from datetime import date

import pytest

from mdmemory.search.answer import answer_query
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import Document
from mdmemory.search.query import parse
from mdmemory.search.sqlite import SQLite
from mdmemory.text import korean, search_words
from mdmemory.text.search_words import (
    compound_halves,
    index_text,
    rule_of,
    small_words,
    stem_ways,
    written_names,
)

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
OTHERS = [
    "Likes gardening at night", "The office closes at nine", "Der Hund schläft gern im Flur",
    "Le chat dort dans le jardin", "El perro duerme en la cocina", "O gato dorme na cama",
    "고양이가 방에서 잔다", "猫は庭で寝る", "猫在院子里睡觉",
]  # fmt: skip


def first(question: str, *notes: str) -> str:
    """The note that a question finds first; "" for none."""
    with closing(SQLite(None, "x")) as database:
        database.put(
            [
                Document("memory", f"{at}.md", "", "", name=f"n{at}", chunks=(Chunk(1, 1, text),))
                for at, text in enumerate(notes)
            ]
        )
        found = answer_query(database, question, source="memory", k=1, today=TODAY)
    return found.hits[0].text if found.hits else ""


@pytest.mark.parametrize(("question", "note"), FORMS)
def test_a_word_is_found_in_its_other_forms(question: str, note: str) -> None:
    assert first(question, *OTHERS, note) == note


@pytest.mark.parametrize(("question", "note"), FORMS)
def test_a_text_is_kept_by_the_rule_of_its_language(question: str, note: str) -> None:
    assert rule_of(note) == rule_of(question)


def test_a_name_in_a_note_of_another_language_is_found() -> None:
    note = "Die Dienste von Kubernetes laufen in Bremen"
    assert first("Where does Kubernetes run?", *OTHERS, note) == note


def test_a_word_of_one_language_does_not_find_another_word_of_a_second() -> None:
    assert "not" not in stem_ways("notes")
    assert "not" in index_text("It is not so").split()


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Why did the server die?", {"server", "die"}),
        ("Wann stirbt die Maus?", {"stirbt", "maus"}),
        ("un vuelo sin escalas", {"vuelo", "escalas"}),
        ("IT budget for it", {"it", "budget"}),
        ("Qui s'occupe du serveur ?", {"occupe", "serveur"}),
        ("who", set()),
        ("C# style", {"c#", "style"}),
        ("IT", {"it"}),
    ],
)
def test_a_word_that_tells_in_its_language_stays(question: str, kept: set[str]) -> None:
    words = {word.strip("?'").casefold() for word in question.replace("'", " ").split()} - {""}
    small = small_words(question).stop
    assert {word for word in words if word.strip("+#.") not in small} == kept


def test_names_that_only_signs_or_capitals_tell() -> None:
    assert written_names("C# or C++ on .net, see example.org") == {"c#", "c++", ".net"}
    assert written_names("who is IT") == {"IT"}
    assert written_names("WHO IS IT") == frozenset()
    assert written_names("a_b+ #x ++ ..") == frozenset()


def test_a_question_of_nothing_but_small_words_looks_for_these() -> None:
    assert parse("¿qué es?", TODAY).terms


@pytest.mark.parametrize(
    ("word", "cut"),
    [
        ("백업은", "백업"), ("서버에서", "서버"), ("회의", "회의"), ("휴가는", "휴가"),
        ("가을", "가을"), ("온도", "온도"), ("저장했어요", "저장"), ("예약했나요", "예약"),
        ("차를", "차"), ("담당자인가요", "담당자"),
    ],
)  # fmt: skip
def test_korean_words_lose_particles_and_endings_alone(word: str, cut: str) -> None:
    assert korean.cut_word(word) == cut


@pytest.mark.parametrize(
    ("question", "pieces"),
    [
        ("我们用什么数据库？", {"数据", "据库"}),
        ("会议室在几楼", {"会议", "议室"}),
        ("バックアップはどこですか", {"バッ", "ック", "クア", "アッ", "ップ"}),
        ("誰が承認しますか", {"承認"}),
        ("비밀번호가 뭐였지?", {"비밀", "밀번", "번호"}),
    ],
)
def test_pairs_of_grammar_are_not_asked_for(question: str, pieces: set[str]) -> None:
    assert {each.text for each in search_words.asked_pieces(question) if each.weight == 1} == pieces


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Wann ist die Migration der Datenbank?", "Die Datenbankmigration ist am Freitag"),
        ("Wie fest sitzt der Gehäusedeckel?", "Der Deckel am Gehäuse wird mit der Hand angezogen"),
        ("Wo hängt der Schlüssel vom Keller?", "Die Kellerschlüssel hängen bei Ute"),
    ],
)
def test_a_german_compound_and_its_parts_find_each_other(question: str, note: str) -> None:
    assert first(question, *OTHERS, note) == note


@pytest.mark.parametrize("word", ["Verarbeitung", "abgeschlossen", "Transport", "Tisch", "x" * 70])
def test_what_only_looks_like_a_compound_stays_whole(word: str) -> None:
    assert compound_halves(word) == ()


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("at what resolution do we scan?", "Scans are kept at 300 dpi"),
        ("Was kostet das Handy im Monat?", "Das Telefon läuft über einen Tarif von Mara"),
        ("¿Qué sueldo tiene Ana?", "El salario de Ana sube en enero"),
        ("quel est le numéro du médecin ?", "Le docteur Blanc répond au 12 34"),
        ("qual é a senha do portão?", "A palavra-passe do portão mudou em maio"),
    ],
)
def test_the_words_that_people_use_for_each_other_find_a_note(question: str, note: str) -> None:
    assert first(question, *OTHERS, note) == note


def test_the_word_that_was_asked_for_comes_before_those_used_for_it() -> None:
    other, asked = "The salary of Ana is fixed in May", "The wage of Ana is fixed in May"
    assert first("What is the wage of Ana?", *OTHERS, other, asked) == asked
    assert first("What is the salary of Ana?", *OTHERS, other, asked) == other
