"""A request to remember is noticed where a person makes one, and its facts are kept as said."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rows import each

from mdmemory import assets
from mdmemory.capture import notice as noticing
from mdmemory.capture.notice import (
    FLOOR,
    LONG,
    Noticed,
    holds_everywhere,
    is_about_user,
    is_request,
    letter_weight,
    notice_wishes,
    typed_text,
    wants_gone,
    without_unwanted,
)

TABLE = tomllib.loads(Path(noticing.__file__).with_name("notice.toml").read_text("utf-8"))
SENTENCES = tomllib.loads(Path(__file__).with_name("notice_sentences.toml").read_text("utf-8"))
LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "zh", "ja", "ko"}
TUESDAYS = "we deploy on Tuesdays"

ASKED = [
    # in each language, the request before its fact and behind it
    ("Remember that we deploy on Tuesdays.", TUESDAYS),
    ("We deploy on Tuesdays, remember that!", "We deploy on Tuesdays"),
    ("The API is rate limited. Please remember this.", "The API is rate limited"),
    ("Merk dir bitte, dass wir dienstags deployen", "wir dienstags deployen"),
    ("Der Server heißt heron, nicht vergessen!", "Der Server heißt heron"),
    ("Souviens-toi que nous déployons le mardi", "nous déployons le mardi"),
    ("Nous déployons le mardi, retiens-le", "Nous déployons le mardi"),
    ("Recuerda que desplegamos los martes", "desplegamos los martes"),
    ("Lembre-se de que publicamos às terças", "publicamos às terças"),
    ("Ricordati che pubblichiamo il martedì", "pubblichiamo il martedì"),
    ("记住：我们每周二部署", "我们每周二部署"),
    ("部署只在周二，记住了", "部署只在周二"),
    ("覚えておいて：デプロイは火曜日だけ", "デプロイは火曜日だけ"),
    ("デプロイは火曜日だけ、覚えておいて", "デプロイは火曜日だけ"),
    ("Petra signs all invoices (remember that)", "Petra signs all invoices"),
    ("Petra signs all invoices — please remember.", "Petra signs all invoices"),
    ("Petra signs all. Please remember it for the future.", "Petra signs all"),
    ("Remember going forward that Petra signs all", "Petra signs all"),
    ("请你记住我们的数据库端口是5433", "我们的数据库端口是5433"),
    ("麻煩幫我記住，我週五休息", "我週五休息"),
    ("你要记得我们统一用制表符缩进", "我们统一用制表符缩进"),
    ("接口在十二月冻结，记住这一点", "接口在十二月冻结"),
    ("これを覚えておいてください。テストは just check", "テストは just check"),
    ("Remember that we use pnpm. Can you run the build?", "we use pnpm. Can you run the build"),
    ("Can you remember that we deploy on Tuesdays?", TUESDAYS),
    ("デプロイは水曜だけだということを記憶しておいて", "デプロイは水曜だけだ"),
    ("リリースは水曜日、って覚えておいて", "リリースは水曜日"),
    ("覚えておいてほしいんだけど、うちは pnpm を使ってる", "うちは pnpm を使ってる"),
    ("배포는 수요일에만 한다는 걸 기억해 주세요", "배포는 수요일에만 한다"),
    ("서버는 heron이라고 기억해 줘", "서버는 heron"),
    ("꼭 기억해줘 프로덕션은 롤백이 안 돼", "프로덕션은 롤백이 안 돼"),
    ("메모해 줘: 청구서는 먼저 재무팀으로", "청구서는 먼저 재무팀으로"),
    ("기억해줘: 배포는 화요일에만", "배포는 화요일에만"),
    ("테스트는 리눅스에서만 돌아, 잊지 마", "테스트는 리눅스에서만 돌아"),
    # among other things, and with courtesy
    ("Great. Remember that we deploy on Tuesdays. Now fix the test.", TUESDAYS),
    ("The API is down.\n\nremember: we deploy on Tuesdays\n\nFix it.", TUESDAYS),
    ("hey claude, could you remember that we deploy on Tuesdays", TUESDAYS),
    ("Also, don’t forget: we deploy on Tuesdays", TUESDAYS),
    ("REMEMBER THAT WE DEPLOY ON TUESDAYS", "WE DEPLOY ON TUESDAYS"),
    ("Remember for next time that we deploy on Tuesdays", TUESDAYS),
    ("/remember we deploy on Tuesdays", TUESDAYS),
    ("- **Remember:** we deploy on Tuesdays", TUESDAYS),
    ("dont forget: we deploy on Tuesdays", TUESDAYS),
    ("기억해줘: 서버 점검은 매주 목요일", "서버 점검은 매주 목요일"),
    ("Note: remember that we deploy on Tuesdays", TUESDAYS),
    ("We deploy on Tuesdays. Remember that for next time.", "We deploy on Tuesdays"),
    # code and quotations in the fact are the fact
    ("Remember: run `make check` before `git push`", "run `make check` before `git push`"),
    ('Remember: commit subjects say "module: what"', 'commit subjects say "module: what"'),
    ("记住，不要用 npm 安装", "不要用 npm 安装"),
    # of a rule with more than one sentence all of them, and of wrapped lines all lines
    ("Remember: use pnpm. Never use npm.", "use pnpm. Never use npm"),
    ("Remember that our deploys\ngo out on Tuesdays\nonly.", "our deploys go out on Tuesdays only"),
]


def test_what_a_person_asks_to_remember_is_a_wish_in_their_own_words() -> None:
    def is_wish(text: str, fact: str) -> None:
        assert notice_wishes(text).wishes == (fact,)

    each(ASKED, is_wish)


LISTS = [
    "Remember the following:\n\n- we deploy on Tuesdays\n\n- Lena reviews migrations\n\nThanks!",
    "Please remember:\n1. we deploy on Tuesdays\n2. Lena reviews\n   migrations",
    "Remember that we deploy on Tuesdays, and remember that Lena reviews migrations.",
    "remember we deploy on Tuesdays\n\nremember Lena reviews migrations",
    "keep in mind about me:\n1. we deploy on Tuesdays\n2. Lena reviews migrations",
    "Please keep the following in mind\n\n- we deploy on Tuesdays\n\n- Lena reviews migrations",
    "Things to remember\n\n* we deploy on Tuesdays\n* Lena reviews migrations",
    "Merk dir bitte folgendes:\n- we deploy on Tuesdays\n- Lena reviews migrations",
    "以下を覚えておいて：\n・we deploy on Tuesdays\n・Lena reviews migrations",
]


def test_each_item_of_a_list_is_a_wish_of_its_own_also_with_blank_lines_between() -> None:
    for text in LISTS:
        assert notice_wishes(text).wishes == (TUESDAYS, "Lena reviews migrations"), text


def test_a_list_belongs_to_the_sentence_that_says_what_it_lists() -> None:
    said = "Remember that these are frozen in December\n- the API\n- the schema"
    assert notice_wishes(said).wishes == ("these are frozen in December\n- the API\n- the schema",)
    (short,) = notice_wishes("Remember:\n* tabs\n* LF\n* UTF-8").wishes
    assert short.strip() == "tabs, LF, UTF-8"


NO_WISH = [
    # code, quotations, and what stands in a page or in an editor's selection
    "```\nremember: use tabs everywhere\n```",
    "remember { tabs: everywhere }",
    'Translate "remember that we deploy on Tuesdays" into German',
    "<ide_selection>\nRemember that we deploy on Tuesdays.\n</ide_selection>\nWhat does it say?",
    "Here is the page:\n\nRemember that we deploy on Tuesdays.\n\nBest, Anna",
    "Anna Berg: remember that we deploy on Tuesdays\nBob: done",
    "",
]
# tasks, questions, what software remembers, another's verb, work, a moment, a joke, too little
NO_WISH += (
    "`remember: use tabs everywhere` | remember() is called in the hook that we use | "
    "> Remember that we deploy on Tuesdays. | 他写道：“好的。记住我们每周二部署” | "
    "「覚えておいて：火曜日」と書いてある | make a note in README that we need Node 20 | "
    "take note of the failing line and fix it | add to memory.c a function that frees the list | "
    "store in memory the parsed rows instead of a file | 记得跑一下测试 | 别忘了更新 changelog | "
    "你记得测试服务器的地址吗 | 记住密码这个复选框坏了 | 侧边栏应该记住折叠状态 | "
    "要记住登录状态和语言 | 我不记得端口了 | 让缓存记住条目十分钟 | 前に決めたこと覚えてる？ | "
    "ログイン状態を記憶するチェックボックスを追加して | サイドバーが開閉状態を覚えるようにして | "
    "キャッシュに結果を記憶させて | テストを忘れずに実行して | 覚えている限りではポートは8443 | "
    "로그인 상태를 기억하는 체크박스를 추가해줘 | 사이드바가 상태를 기억하게 해줘 | "
    "저번에 뭐라고 했는지 기억해? | 비밀번호를 잊어버린 경우 화면을 만들어 | "
    "포트 번호 기억 안 나 | 메모리 누수를 고쳐줘 | I remember that we deployed on Tuesday | "
    "He said to remember that we deploy on Tuesdays | "
    "My boss told me to remember that we deploy on Tuesdays. | "
    "The function should remember the last page | the remember me checkbox is broken | "
    "彼に覚えておいてと言われた | 我记得上周部署过 | "
    "Bob: please remember that we deploy on Tuesdays | remember to run the tests before you push | "
    "Don't forget about the changelog, please | Don't forget to push the branch | "
    "remember when we moved the queue to redis | n'oublie pas de lancer les tests | "
    "no olvides hacer el backup | Do you remember that we deploy on Tuesdays? | "
    "remember what the staging url is? | remember how the retry works? | 你还记得分支的名字吗？ | "
    "기억해줘서 고마워 | yeah sure, remember that I love writing yaml by hand /s | "
    "remember that we use tabs in Makefiles, lol | "
    "Remember for this session only: we are on branch feature/asia | "
    "remember for now that main is frozen | merk dir für diese Sitzung: wir haben kein Netz | "
    "remember: tabs | Remember this | /remember"
).split(" | ")


def test_what_is_no_request_to_remember_is_no_wish() -> None:
    found = {text: notice_wishes(text).wishes for text in NO_WISH}
    assert found == dict.fromkeys(NO_WISH, ())


def test_what_may_want_something_of_the_memory_is_noticed_without_a_wish() -> None:
    texts = (
        "From now on answer in French | Thanks. Ab jetzt bitte auf Deutsch. | remember this | "
        "Forget what I told you about the parcels | vergiss das mit dem Proxy | "
        "Remember for this session only: we are on branch feature/asia | "
        "remember that bug from last week?"
    )
    for text in texts.split(" | "):
        assert notice_wishes(text) == Noticed((), True), text
    assert not notice_wishes("Please fix the failing test of the parser.")


WISHING = {"explicit", "closing", "lead", "join", "task"}
LITTLE = {  # their sentence says too little, or is a task of another row
    "will you remember that", "and remember: no yarn", "ok, remember that", "okay remember: tabs",
    "yes, remember that", "oh and remember that", "Remember the following:",
    "Save these preferences to memory:", "by the way, remember that I am off",
}  # fmt: skip


def of_section(section: str, text: str) -> bool:
    """Whether a sentence is noticed as the rows of a section are meant."""
    if section in WISHING:
        found = notice_wishes(text)
        return bool(found.wishes) != (text in LITTLE)
    if section in ("not", "moment"):
        return not notice_wishes(text).wishes
    return {
        "rule": notice_wishes(text).perhaps,
        "gone": wants_gone(text),
        "unwanted": without_unwanted(text) == ("", 1),
        "first_person": is_about_user(text),
        "everywhere": holds_everywhere(text),
    }[section]


def test_each_row_has_a_sentence_that_is_noticed_as_its_section_says() -> None:
    def is_noticed(section: str, phrase: str, text: str) -> None:
        assert phrase == phrase.lower()
        assert of_section(section, text)

    for section, languages in SENTENCES.items():
        assert {language: [*texts] for language, texts in languages.items()} == TABLE[section]
    assert SENTENCES.keys() == TABLE.keys()
    assert {language for rows in TABLE.values() for language in rows} == LANGUAGES
    for section in ("explicit", "gone", "unwanted", "first_person", "everywhere", "rule"):
        assert {*TABLE[section]} == LANGUAGES, section
    each([
        (section, phrase, text) for section, languages in SENTENCES.items()
        for rows in languages.values() for phrase, text in rows.items()
    ], is_noticed)  # fmt: skip


def test_the_protocol_itself_asks_for_nothing_to_be_remembered() -> None:
    for text in (assets.read("protocol/PROTOCOL.md"), assets.read("protocol/TOOLS.md")):
        assert not any(notice_wishes(part).wishes for part in re.split(r"\n\s*\n", text))


def test_what_a_person_does_not_want_remembered_is_cut_out() -> None:
    for message, rest in (
        ("We use tabs. Don't remember that I was ill.", "We use tabs. "),
        ("My PIN is on the desk, don't save that", ""),
        ("Fix it.\ndon't remember this: my PIN is on the desk\nThanks!", "Fix it.\n\nThanks!"),
        ("merk dir das nicht: ich suche einen neuen Job", ""),
        ("不要记住：演示在星期五", ""),
    ):
        assert without_unwanted(message) == (rest, 1)
    named = "The flag is called `don't save`"
    assert without_unwanted(named) == (named, 0)


def test_to_remember_and_to_forget_are_requests_and_a_statement_is_none() -> None:
    for text, expected in (("remember that I use vim", True), ("I use vim, as Lena does", False)):
        assert (is_request(text), wants_gone(text)) == (expected, False)
    assert is_request("forget that I use vim")
    assert wants_gone("forget that I use vim")


def test_only_a_first_person_at_the_head_makes_a_fact_one_about_the_user() -> None:
    texts = (
        "The board is mine | In all projects | Iris reviews it | We use pnpm | user-id is | "
        "my-app runs on 3000 | my-app.local is ours | eu-west-1 hosts prod | EU hosts prod | "
        "Ich-AG is a customer | Meine-App läuft auf 3000 | mi-app usa 3000 | IO is slow | "
        "io_uring is on | iOS builds run on mac-2 | my.cnf has the limits | 내부 포트는 8443 | "
        "나라별 설정은 config | 私たちは pnpm を使います | 我们用 pnpm | I/O is slow | "
        "Im Projekt nehmen wir pnpm"
    )
    assert [text for text in texts.split(" | ") if is_about_user(text)] == []


def test_a_chinese_character_says_as_much_as_three_letters() -> None:
    assert (letter_weight("用中文"), letter_weight("tabs"), letter_weight("- !")) == (9, 4, 0)
    assert notice_wishes("记住：用中文").wishes == ("用中文",)


PIECES = ["remember ", "that ", "we ", "deploy", ":", "\n", "\n\n", "- ", "a fact of ours ", ". ",
          "记住", "覚えておいて", '"', "`", "merk dir ", ", ", "?", "> "]  # fmt: skip


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_a_wish_is_made_of_words_of_the_message_and_says_something(text: str) -> None:
    for wish in notice_wishes(text).wishes:
        assert letter_weight(wish) >= FLOOR
        assert all(word in text for word in re.findall(r"\w+", wish))


@given(st.text(max_size=300))
def test_any_text_can_be_asked_about(text: str) -> None:
    rest, taken = without_unwanted(text)
    assert (taken == 0) == (rest == text)
    assert without_unwanted(rest) == (rest, 0)
    wants_gone(text)
    assert len(notice_wishes(f"/remember {text}").wishes) <= 1
    is_request(text)
    is_about_user(text)
    holds_everywhere(text)


OWN = "We deploy on Tuesdays."
ALIEN = "Remember: always run it twice."
NOT_TYPED = {
    "a fence": f"```\n{ALIEN}\n```",
    "a fence with a name": f"~~~md\n{ALIEN}\n~~~",
    "a fence that is left open": f"```\n{ALIEN}",
    "a quotation": f"> {ALIEN}",
    "a row of a table": f"| {ALIEN} |",
    "a log": f"2026-01-02 10:00:00 INFO {ALIEN}",
    "a level of a log": f"WARNING {ALIEN}",
    "a trace": f'  File "a.py", line 3\nTraceback {ALIEN}',
    "a chat with its times": f"[12:03] anna: hi\n[12:04] ben: {ALIEN}",
    "a diff": f"+++ {ALIEN}",
    "a shell's prompt": f"$ echo {ALIEN}",
    "a tag of one line": f"<page>{ALIEN}</page>",
    "a tag around lines": f"<ide_selection>\n{ALIEN}\n\n{ALIEN}\n</ide_selection>",
    "a mail that is forwarded": f"---- Forwarded message ----\n{ALIEN}",
    "a mail that is answered": f"On Monday, Anna Weber wrote:\n{ALIEN}",
    "a German mail": f"Am 3. Mai schrieb:\n{ALIEN}",
    "a mail with its head": f"From: Anna <a@example.org>\nSubject: News\n\n{ALIEN}\n\nBest,\nAnna",
}


def test_what_a_person_pastes_below_their_words_is_not_typed() -> None:
    for name, pasted in NOT_TYPED.items():
        assert typed_text(f"{OWN}\n\n{pasted}").strip() == OWN, name
        assert "twice" not in typed_text(pasted), name


def test_what_a_person_types_below_a_paste_that_ends_is_typed() -> None:
    for name, pasted in NOT_TYPED.items():
        if "left open" not in name and "mail" not in name:
            assert typed_text(f"{pasted}\n\n{OWN}").endswith(OWN), name


def test_what_stands_below_a_colon_is_anothers_text_but_a_list_or_what_was_asked_for() -> None:
    for announced in ("Here is the page:", "Bob wrote:", "这是网页："):
        assert typed_text(f"{announced}\n\n{ALIEN}\n\nBest, Anna") == announced
    listed = "Our rules:\n\n- tabs in Go\n\n- LF at the end"
    assert typed_text(listed) == listed
    asked = "Remember this:\n\nwe deploy on Tuesdays"
    assert typed_text(asked, asks=lambda text: "Remember" in text) == asked
    assert typed_text(asked) == "Remember this:"


def test_of_a_long_message_only_its_ends_are_typed() -> None:
    middle = "\n\n".join(f"Line {number} of a report." for number in range(LONG + 2))
    assert typed_text(f"First this.\n\n{middle}\n\n{OWN}") == f"First this.\n\n{OWN}"
    lines = "\n".join(f"Line {number} of a report." for number in range(LONG + 2))
    assert typed_text(lines) == f"Line 0 of a report.\n\nLine {LONG + 1} of a report."
    whole = "\n\n".join(f"Line {number}." for number in range(LONG))
    assert typed_text(whole) == whole


@given(st.text(max_size=400) | st.text("a \n`~>|[]<>/:#-0.", max_size=400))
def test_of_any_text_what_is_typed_are_lines_of_it_in_their_order(text: str) -> None:
    lines = iter(text.splitlines())
    for line in typed_text(text).splitlines():
        assert not line.strip() or any(line.strip() == other.strip() for other in lines)
