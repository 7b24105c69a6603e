"""A request to remember is found where a person makes one, and refused where it is none."""

from __future__ import annotations

import runpy
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each

from mdmemory.capture.fact_type import type_of
from mdmemory.capture.triggers import Trigger, find, weight

SENTENCES = runpy.run_path(str(Path(__file__).with_name("trigger_sentences.py")))["SENTENCES"]
ROWS = [(language, *row) for language, rows in SENTENCES.items() for row in rows]


def keep_or_leave(language: str, text: str, expected: str) -> None:
    found = [f"!{one.reason}" if one.reason else one.text for one in find(text)]
    assert (found or [""]) == [expected]


def test_what_people_type_is_kept_or_left() -> None:
    each(ROWS, keep_or_leave)


@pytest.mark.parametrize("language", ["en", "zh", "ja", "ko"])
def test_a_language_has_many_sentences_and_a_third_ask_for_nothing(language: str) -> None:
    rows = SENTENCES[language]
    assert len(rows) >= 40
    assert sum(not fact or fact.startswith("!") for _, fact in rows) * 3 >= len(rows)


def facts(text: str) -> list[str]:
    return [trigger.text for trigger in find(text) if not trigger.reason]


def reasons(text: str) -> list[str]:
    return [trigger.reason for trigger in find(text)]


@pytest.mark.parametrize(
    "line",
    [
        "remember: use tabs everywhere",
        "Remember that use tabs everywhere",
        "REMEMBER THIS: use tabs everywhere",
        "please remember this - use tabs everywhere",
        "- **Remember:** use tabs everywhere",
        "2. ok, remember use tabs everywhere, please",
        "Also, don’t forget that use tabs everywhere",
        "never forget: use tabs everywhere",
        "add to memory: use tabs everywhere",
        "commit this to your memory: use tabs everywhere",
        "add that use tabs everywhere to memory.",
        "from now on use tabs everywhere",
        "记住：use tabs everywhere",
        "請記住，use tabs everywhere",
        "帮我记一下：use tabs everywhere",
        "存一下 use tabs everywhere，谢谢！",
        "從現在開始，use tabs everywhere",
    ],
)
def test_every_wording_gives_the_fact_alone(line: str) -> None:
    assert facts(f"Hello.\n{line}\nBye.") == ["use tabs everywhere"]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Merke dir bitte, dass wir dienstags deployen", "wir dienstags deployen"),
        ("Souviens-toi que nous déployons le mardi", "nous déployons le mardi"),
        ("Recuerda que desplegamos los martes", "desplegamos los martes"),
        ("Lembre-se de que publicamos às terças", "publicamos às terças"),
        ("Publicamos às terças, guarda isso", "Publicamos às terças"),
        ("Desplegamos los martes, guarda eso", "Desplegamos los martes"),
        ("Nous déployons le mardi, note ça", "Nous déployons le mardi"),
        ("note to self, we deploy on Tuesdays", "we deploy on Tuesdays"),
        ("Keep in mind that we deploy on Tuesdays", "we deploy on Tuesdays"),
        ("Please note that we deploy on Tuesdays", "we deploy on Tuesdays"),
        ("The board moved, it is https://b.example/x — save that",
         "The board moved, it is https://b.example/x"),
        ("save this to memory, we deploy on Tuesdays", "we deploy on Tuesdays"),
        ("So the thing is, remember that we deploy on Tuesdays", "we deploy on Tuesdays"),
        ("Remember for the future that we deploy on Tuesdays", "we deploy on Tuesdays"),
    ],
)  # fmt: skip
def test_a_wish_in_the_middle_or_at_the_end_is_heard(said: str, fact: str) -> None:
    assert facts(said) == [fact]


@pytest.mark.parametrize(
    "said",
    ["Remember this", "Merk dir das", "Speicher das", "Souviens-toi de ça", "Recuerda esto",
     "Guarda eso", "Lembre-se disso", "Guarde isso"],
)  # fmt: skip
def test_a_wish_that_points_at_nothing_is_told_and_stores_nothing(said: str) -> None:
    assert reasons(said) == ["vague"]


@pytest.mark.parametrize(
    "said", ["ne retiens pas ça", "merk dir das nicht", "não guarde isso", "no guardes eso"]
)
def test_a_wish_to_keep_nothing_is_heard_in_each_language(said: str) -> None:
    assert reasons(said) == ["negated"]


@pytest.mark.parametrize(
    "text",
    [
        "I do remember that we use tabs everywhere",
        "Remember when we used tabs everywhere?",
        "remembering that we use tabs everywhere helps",
        "don't write to the database directly",
        "Do you remember what my name is?",
        "I'd prefer tabs for this one file",
        "Save this function in src/tabs.py",
        "store the session cache in memory",
        "Store it in memory, not on disk",
        "add 4 GB to memory",
        "不要保存密码到文件里",
        "",
    ],
)
def test_lines_that_only_look_alike_are_no_trigger(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "```\nremember: use tabs everywhere\n```",
        "````md\n```\nremember: use tabs everywhere\n```\n````",
        "~~~\nremember: use tabs everywhere",
        "`remember: use tabs everywhere`",
        "    remember: use tabs everywhere",
        "\tremember: use tabs everywhere",
        "> remember: use tabs everywhere",
    ],
)
def test_code_and_quotations_trigger_nothing(text: str) -> None:
    assert find(text) == []


def test_a_word_that_belongs_to_the_fact_stays_in_it() -> None:
    assert facts("remember this branch is frozen") == ["this branch is frozen"]
    assert facts("remember it runs on port 8080") == ["it runs on port 8080"]
    assert facts("记住这个项目用 pnpm") == ["这个项目用 pnpm"]


def test_code_in_a_fact_is_kept() -> None:
    assert facts("remember: run `make check` before `git push`") == [
        "run `make check` before `git push`"
    ]


def test_what_follows_a_code_block_still_triggers() -> None:
    assert facts("```\nremember: not this\n```\nremember: but use this") == ["but use this"]


def test_the_lines_below_are_the_fact_when_the_line_ends() -> None:
    assert facts("remember:\nuse tabs\nin Makefiles\n\nand fix it") == ["use tabs in Makefiles"]
    bullets = "Remember the following:\n- use tabs always\n- answer briefly\n\n- fix the test now"
    assert facts(bullets) == ["use tabs always", "answer briefly"]
    assert facts("记住以下：\n1. 用制表符缩进\n2. 回答要简短") == ["用制表符缩进", "回答要简短"]
    assert facts("remember this:\n\nuse tabs everywhere") == []
    assert facts("remember:\n```\nuse tabs everywhere\n```") == []
    assert facts("remember:\nremember: use tabs everywhere") == ["use tabs everywhere"]


@pytest.mark.parametrize(
    "text",
    [
        "don't remember this: the demo is on Friday",
        "Please do not remember that the demo is on Friday",
        "never ever remember the demo is on Friday",
        "don't save the demo date to memory",
        "no need to remember the demo is on Friday",
        "不要记住：演示在星期五",
        "不要記住演示在星期五",
        "别记下演示在星期五",
        "不用记住演示在星期五",
        "请勿记录演示在星期五",
    ],
)
def test_what_is_not_to_be_remembered_is_not_even_repeated(text: str) -> None:
    (trigger,) = find(text)
    assert trigger.negated
    assert trigger.text == ""
    assert "Friday" not in trigger.phrase
    assert "星期五" not in trigger.phrase


@pytest.mark.parametrize(
    "text",
    [
        "remember: never use npm",
        "记住，不要用 npm 安装",
        "remember not to use npm",
        "别忘了不用 npm 安装",
    ],
)
def test_a_negation_inside_the_fact_is_the_fact(text: str) -> None:
    assert reasons(text) == [""]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("remember this later: the rule", "deferred"),
        ("remember it for next time.", "deferred"),
        ("记住，这个以后再说吧", "deferred"),
        ("remember that please", "vague"),
        ("save this", "vague"),
        ("记住我说的", "vague"),
        ("I prefer option B", "vague"),
        ("remember the meeting notes?", "question"),
        ("remember to buy milk", "task"),
        ("记得去买牛奶", "task"),
        ("Save this to memory.", "vague"),
        ("remember: abc", "too_short"),
        ("记住：好吗", "question"),
    ],
)
def test_what_holds_no_lasting_fact_is_told_apart(text: str, reason: str) -> None:
    assert reasons(text) == [reason]


@pytest.mark.parametrize(
    "text",
    [
        "remember: later versions of the API need a header",
        "remember that the next time field is in UTC",
        "remember to always rebase before a merge",
    ],
)
def test_guards_do_not_eat_facts(text: str) -> None:
    assert reasons(text) == [""]


def test_a_chinese_character_says_as_much_as_three_letters() -> None:
    assert weight("用中文") == 9
    assert facts("记住：用中文") == ["用中文"]
    assert reasons("记住：中文") == ["too_short"]


@pytest.mark.parametrize(
    ("fact", "type_", "kind"),
    [
        ("the board is https://example.org/b", "reference", ""),
        ("bugs are filed in Linear", "reference", ""),
        ("use linear interpolation", "feedback", ""),
        ("my name is on the door", "user", ""),
        ("I am a data engineer on the billing project", "user", ""),
        ("we decided to use SQLite in this project", "project", "decision"),
        ("the repo has two owners", "project", ""),
        ("我们决定用 SQLite", "project", "decision"),
        ("ダッシュボードはここ", "reference", ""),
        ("私の名前はマルタ", "user", ""),
        ("私はエンジニアです", "user", ""),
        ("SQLiteに決めた", "project", "decision"),
        ("このリポジトリの担当は二人", "project", ""),
        ("答えは短く", "feedback", ""),
        ("대시보드는 여기", "reference", ""),
        ("제 이름은 마르타", "user", ""),
        ("저는 백엔드 개발자입니다", "user", ""),
        ("SQLite로 결정했다", "project", "decision"),
        ("이 저장소는 두 명이 관리한다", "project", ""),
        ("답변은 짧게", "feedback", ""),
        ("use pnpm", "feedback", ""),
    ],
)
def test_a_short_fact_has_its_type(fact: str, type_: str, kind: str) -> None:
    assert type_of(fact) == (type_, kind)


@given(st.text(max_size=200))
def test_any_text_can_be_searched(text: str) -> None:
    for trigger in find(f"remember: {text}\n{text}"):
        assert isinstance(trigger, Trigger)
        assert "\n" not in trigger.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["remember: ", "`", "```\n", "    ", "- ", "please ", "add x to ", "don't ", "这个", "(", "\n",
     "remember:\n", "remember:\n- a\n", "a. ", "remember: a. ", "覚えて、",
     "のを忘れないで", "기억해줘 ",
     "이거 ", "把", "a, ", '"', "'a ", "今後は", "앞으로 ", "please please "],
)  # fmt: skip
def test_no_text_makes_it_slow(piece: str) -> None:
    text = piece * (24_000 // len(piece))
    begun = time.process_time()
    find(text)
    find(f"remember: {text}?")
    assert time.process_time() - begun < 20
