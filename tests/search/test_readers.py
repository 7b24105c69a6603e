"""The formats of the benchmarks: what is read, and what is said of files that are none of them."""

import json
import re
from pathlib import Path

import pytest
from bench import hybrid, readers, search
from bench.corpus import BadDataError, Levels
from bench.plain import plain, terms
from bench.retrieval import Hits, Outcome, Question, figures, measured

Printed = pytest.CaptureFixture[str]
NOTE = {"id": "n1", "name": "tea", "description": "Drinks green tea", "created": "2026-03-04"}
OTHER = {"id": "n2", "name": "port", "description": "Billing listens on port 8087"}
TALK = {
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a turtle."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "I started pottery classes."},
        ],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "My bowl cracked in the kiln."},
            {"speaker": "Bo", "dia_id": "D2:2", "text": "Oh no!", "blip_caption": "a cup"},
        ],
        "session_3_date_time": "1:00 pm on 2 June, 2023",  # it has no turns
    },
    "observation": {
        "session_1_observation": {"Ann": [["Ann adopted a turtle.", "D1:1"]]},
        "session_2_observation": {"Ann": [["Ann's bowl cracked in the kiln.", "D2:1"]]},
    },
    "qa": [
        {"question": "What did Ann adopt?", "evidence": ["D1:1"], "category": 4},
        {"question": "What happened to the bowl in the kiln?", "evidence": ["D2:1; D2:2"]},
        {"question": "What did Bo adopt?", "category": 5},
    ],
}


def wrote(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def own_questions(folder: Path, *rows: object) -> Path:
    wrote(folder / "notes.jsonl", NOTE, OTHER)
    return wrote(folder / "questions.jsonl", *rows)


def five(levels: Levels) -> dict[str, list[tuple[int, float, float]]]:
    """Asked, R@5 and MRR of both searches by level."""
    return {
        name: [
            (of.asked, of.five, of.mrr)
            for of in map(figures, search.asked(corpora, search.SEARCHES).values())
        ]
        for name, corpora in levels.items()
    }


def test_locomo_is_read_by_fact_turn_and_session(tmp_path: Path) -> None:
    levels = readers.read(wrote(tmp_path / "locomo10.json", [TALK]))
    assert five(levels) == {
        "facts": [(2, 1, 1)] * 2,
        "turns": [(2, 0.75, 1), (2, 1, 1)],  # beside the turn that has the words
        "sessions": [(2, 1, 1)] * 2,
    }  # fmt: skip
    assert [corpora[0].left_out for corpora in levels.values()] == [1, 1, 1]
    assert levels["facts"][0].questions[0].kind == "single-hop"
    assert f"{levels['sessions'][0].today}" == "2023-06-01"


def test_a_talk_that_is_not_as_published_is_named(tmp_path: Path) -> None:
    wrote(tmp_path / "l.json", [{"conversation": {"session_1": []}, "qa": []}])
    with pytest.raises(BadDataError, match="not as LoCoMo publishes it"):
        readers.read(tmp_path / "l.json")


def test_own_questions_name_notes_by_id_file_or_stem(tmp_path: Path) -> None:
    question = {"question": "green tea", "gold": ["n1"], "lang": "en", "kind": "lazy"}
    path = own_questions(tmp_path / "a", question, {"text": "wages", "answers": []})
    for given in (path, path.parent):
        ((corpus,),) = readers.read(given).values()
        assert corpus.questions == [
            Question("green tea", frozenset({"n1"}), "lazy", "en"), Question("wages", frozenset())
        ]  # fmt: skip
    folder = tmp_path / "b"
    for place in ("notes", "."):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "user-tea.md").write_text("Drinks green tea.", encoding="utf-8")
        wrote(folder / "questions.jsonl", {"text": "tea", "answers": ["user-tea"]})
        ((corpus,),) = readers.read(folder).values()
        assert corpus.questions[0].answers == {"user-tea.md"}


def test_a_wrong_line_is_named_by_its_number(tmp_path: Path, capsys: Printed) -> None:
    first = json.dumps({"text": "tea", "answers": ["n1"]})
    path = own_questions(tmp_path)
    for row, told in (
        ("{", " is no JSON"),
        ("[1]", " has to be an object"),
        ('{"answers": []}', ': "text" (or "question")'),
        ('{"text": " ", "answers": []}', ': "text" (or "question")'),
        ('{"text": "x"}', ': "answers" (or "gold")'),
        ('{"text": "x", "answers": "n1"}', ': "answers" (or "gold")'),
        ('{"text": "x", "answers": ["n9"]}', ": there is no note 'n9'"),
        ('{"text": "\\ud800", "answers": []}', " holds half of a pair of UTF-16"),
        ("[" * 100_000, " is no JSON"),
    ):
        path.write_text(f"{first}\n{row}\n", encoding="utf-8")
        assert search.main([str(path)]) == 1
        out, err = capsys.readouterr()
        assert f"line 2{told}" in err
        assert (out, err.count("\n")) == ("", 1)


def test_a_wrong_note_is_named_by_its_number(tmp_path: Path) -> None:
    path = own_questions(tmp_path, {"text": "tea", "answers": []})
    for notes, told in (
        ([{"name": "tea"}], 'notes.jsonl, line 1: "id"'),
        ([NOTE, NOTE], 'notes.jsonl, line 2: "id"'),
        ([{"id": "n1"}], "notes.jsonl, line 1 has no 'name'"),
        ([{**NOTE, "type": "poem"}], "notes.jsonl, line 1: 'poem' is not a type"),
        ([{**NOTE, "aliases": "infusion"}], 'notes.jsonl, line 1: "aliases" has to be a list'),
        ([], "There are no notes"),
    ):
        wrote(tmp_path / "notes.jsonl", *notes)
        with pytest.raises(BadDataError) as raised:
            readers.read(path)
        assert told in f"{raised.value}"


def test_a_note_may_leave_things_open_and_have_a_date_that_is_none(tmp_path: Path) -> None:
    path = own_questions(tmp_path, {"text": "tea", "answers": []})
    vague = {**NOTE, "body": None, "aliases": None, "created": "yesterday"}
    wrote(tmp_path / "notes.jsonl", vague, {**OTHER, "created": 20260304})
    ((corpus,),) = readers.read(path).values()
    assert "None" not in corpus.texts[0][1]


def test_a_path_from_home_and_one_too_long_are_paths_as_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    own_questions(tmp_path / "mine", {"text": "tea", "answers": ["n1"]})
    assert readers.read(Path("~/mine"))
    assert search.main(["x" * 300]) == 1
    assert capsys.readouterr().err.startswith("There is no xxx")


def test_other_paths_are_told_which_formats_there_are(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "image.json").write_bytes(b"\x89PNG\xff")
    for name in ("missing", "empty", "image.json"):
        assert search.main([str(tmp_path / name)]) == 1
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), "questions.jsonl" in err) == ("", 1, True)


def test_the_figures_count_what_is_silent_and_false() -> None:
    def outcome(answers: str, files: str) -> Outcome:
        return Outcome(Question("?", frozenset(answers.split())), Hits(tuple(files.split())), 0.002)

    of = figures([
        outcome("a", "a b"), outcome("a b", "c a"), outcome("a", "c a"), outcome("a", ""),
        outcome("", "a"), outcome("", ""),
    ])  # fmt: skip
    assert (of.asked, of.silent, of.unanswerable, of.false) == (4, 1, 2, 1)
    assert (of.first, of.five, of.mrr) == (0.25, 0.625, 0.5)
    assert (of.p50, of.p95) == (2, 2)


def test_the_plain_table_finds_chinese_japanese_and_korean_by_pairs() -> None:
    rows = (
        ("zh", "数据库迁移在周一", "什么时候迁移？"),
        ("ja", "前処理の変更には承認が要る", "前処理 承認者"),
        ("ko", "알림은 밤에 보낸다", "알림이 언제 와?"),
    )
    with plain([row[:2] for row in rows]) as find:
        for lang, _, text in rows:
            assert find(Question(text, frozenset(), "", lang)).files == (lang,)
        assert measured(find, [Question("你们的", frozenset(), "", "zh")]).false == 0
    assert terms("Wie fest muss die Schraube sein?", "de") == '"fest" OR "schraube"'


def test_one_run_prints_a_table_and_what_is_missed(tmp_path: Path, capsys: Printed) -> None:
    rows = [{"text": "green tea", "lang": "en"}, {"text": "listens", "lang": "de"}]
    path = str(own_questions(tmp_path, *({**row, "answers": ["n1"]} for row in rows)))
    assert search.main([path, "--misses"]) == 0
    shown = capsys.readouterr().out.splitlines()
    first = shown[1].split()
    assert first[:7] == ["notes,", "all,", "plain", "table", "2", ".500", ".500"]
    assert any(line.startswith("notes, de, mdmemory ") for line in shown)
    assert shown[-1] == "notes mdmemory de   -  listens  [n1]  n2"
    assert search.main([path]) == 0
    assert "listens" not in capsys.readouterr().out


def test_with_vectors_the_same_questions_go_by_meaning_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    class Model:
        model = "scripted"

        def embed(self, texts: list[str]) -> list[list[int]]:
            return [[1, 0] if re.search("tea|infusion", text) else [0, 1] for text in texts]

    path = str(own_questions(tmp_path, {"text": "which infusion?", "answers": ["n1"]}))
    missing = str(tmp_path / "no-model")
    assert search.main([path, "--vectors", "--model", missing]) == 1
    said = f"There is no folder {missing}. Check search.embedding_model.\n"
    assert capsys.readouterr().err == said
    monkeypatch.setattr(hybrid, "model", lambda name: Model())
    assert search.main([path, "--vectors"]) == 0
    shown = capsys.readouterr().out
    for name, first in (("plain table", ".000"), ("mdmemory", ".000"), ("and meaning", "1.00")):
        assert re.search(rf"^notes, all, {name} +1 +{re.escape(first)} ", shown, re.MULTILINE)
