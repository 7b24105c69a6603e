"""Other words for the same are let pass, and what they change is found: marked rows, as figures.

`merges.jsonl` holds merges and rewrites in eight languages, each right or wrong. The figures are
those reached so far: they may only rise.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from mdmemory.text.normal_form import normal_form

BENCH = runpy.run_path(str(Path(__file__).parents[1] / "bench" / "merges.py"), run_name="merges")
ROWS = BENCH["read"](Path(__file__).with_name("merges.jsonl"))
RIGHT_ACCEPTED, WRONG_ACCEPTED = 152, 4


def test_other_words_for_the_same_pass_and_what_they_change_does_not() -> None:
    judged = [BENCH["judge"](row) for row in ROWS]
    right = [each for each in judged if each.row["right"]]
    wrong = [each for each in judged if not each.row["right"]]
    assert (len(right), len(wrong)) == (187, 201)
    table = "\n".join(BENCH["table"](judged))
    assert sum(each.accepted for each in right) >= RIGHT_ACCEPTED, table
    assert sum(each.accepted for each in wrong) <= WRONG_ACCEPTED, table


@pytest.mark.parametrize(
    ("was", "now", "is_right"),
    [
        ("The shop closes on Friday.", "On Monday the shop is closed.", False),
        ("Le fournisseur livre le mardi.", "Livraison du fournisseur chaque jeudi.", False),
        ("日曜日は休み。", "月曜日は休業。", False),
        ("The ticket is signed by the driver.", "The foreman signs the ticket.", False),
        ("The ticket is signed by the driver.", "The driver signs the ticket.", True),
        ("Ravi checks the bills that Helen writes.", "Helen checks the bills Ravi writes.", False),
        ("Ravi checks the bills that Helen writes.", "What Helen bills, Ravi checks.", True),
        ("Dogs and cats wait here. Kit is in the cats' room.",
         "Dogs and cats wait here. In the dogs' room there is the kit.", False),
        ("Texts go out on Friday, unless the patient has opted out.",
         "Every patient is texted on Friday.", False),
        ("釜は開店の2時間前に点火する。", "開店の2時間後に釜へ点火する。", False),
        ("海报用157克铜版纸。", "菜单用157克铜版纸。", False),
        ("老周每周二买面粉，小陈每周五结账。", "老周每周五买面粉，小陈每周二结账。", False),
        ("The desk has a tablet without network.", "A tablet with no network: the desk.", True),
    ],
    ids=str,
)  # fmt: skip
def test_what_stands_in_the_place_of_something_else_is_refused(
    was: str, now: str, *, is_right: bool
) -> None:
    sources = [{"description": "House rules", "body": was}]
    result = {"description": "House rules", "body": now}
    assert BENCH["judge"]({"sources": sources, "result": result}).accepted == is_right


@pytest.mark.parametrize(
    "same",
    [
        ("on 31 December 2026", "on December 31st, 2026", "on 2026-12-31", "on 31.12.2026"),
        ("am 31. Dezember 2026", "am 31.12.2026", "am 31.12.2026"),
        ("le 1er juillet 2026 à 20 h", "le 01/07/2026 à 20:00", "le 1 juillet 2026 à 20h00"),
        ("2026年12月31日 午後6時", "2026-12-31 18:00"),
        ("from 9 am to 5 pm", "from 9 to 5 pm", "from 9:00 to 17:00", "from 9 to 17"),
        ("at quarter past four", "at 4:15", "at 04:15"),
        ("a mezzanotte meno un quarto", "a 23:45"),
        ("12,000 rows", "12000 rows", "12k rows", "12 thousand rows"),
        ("mit 12.000 Zeilen und", "mit 12000 Zeilen und"),
        ("two weeks", "14 days", "2 weeks"),
        ("half an hour", "30 min", "thirty minutes", "1800 s"),
        ("每半小时", "每 30 分钟"),
        ("600 calls per hour", "600 calls/h", "600 calls an hour"),
        ("drei Tage im Monat", "3 Tage im Monat"),
        ("64 Go de RAM", "64 GB de RAM"),
    ],
    ids=lambda same: str(same[0]),
)
def test_one_value_has_one_form(same: tuple[str, ...]) -> None:
    assert len({"".join(normal_form(each).split()) for each in same}) == 1


@pytest.mark.parametrize(
    "text",
    ["`9 to 5 pm`", "https://a.example/12,000/3-4-2026", "db-two", "[[two-weeks]]", "v1.2.3",
     "due once a lot is sold", "3/4/2026", "a.b/two_weeks"],
)  # fmt: skip
def test_what_is_no_value_or_may_be_two_stays(text: str) -> None:
    assert normal_form(text) == text
