"""One flawed op costs itself and what leans on it, and no plan removes more than it may."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from compact import plans

from mdmemory.compact.guards import Verdict, check
from mdmemory.compact.plan import Delete, Flag, Merge, Op, Plan, Rewrite, flagged_pairs, parse
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]


def judge(notes: list[StoredNote], *ops: Op, **more: int) -> Verdict:
    return check(Plan(ops), notes, has_secret=lambda text: False, **more)  # type: ignore[arg-type]


def codes(verdict: Verdict) -> list[str]:
    assert verdict.refusals == ()
    return [code for _, code, _ in verdict.refused]


@pytest.fixture(scope="module")
def many(make: Make) -> list[StoredNote]:
    """Twelve notes on twelve matters; three may go."""
    words = [
        *("tea", "chess", "opera", "violin", "gardens", "trains"),
        *("maps", "bread", "sailing", "clay", "poems", "kites"),
    ]
    return [make(word, f"Enjoys {word}", f"Said so about {word}.") for word in words]


def test_a_flawed_op_of_a_plan_is_left_out_and_named() -> None:
    good = {"op": "delete", "file": "user-tea.md", "reason": "over"}
    plan = parse(json.dumps({"ops": [{"op": "rename", "file": "user-tea.md"}, good]}))
    assert plan.ops == (Delete("user-tea.md", "over"),)
    assert [message[:5] for message in plan.flawed] == ["Op 1:"]


@pytest.mark.parametrize(
    "reason",
    [
        "merged into user-sailing.md", "a duplicate", "said twice", "already in the other note",
        "doppelt", "steht schon in der anderen", "重复", "the same fact as user-sailing.md",
        "user-sailing has it", "unita a user-sailing", "已放进user-sailing了", "see [[sailing]]",
    ],
)  # fmt: skip
def test_a_note_that_no_other_says_is_never_deleted_as_merged(
    make: Make, many: list[StoredNote], reason: str
) -> None:
    orders = make("orders", "The orders service owns the queue", "It is so.", type="project")
    stock = make("stock", "The stock service owns the queue", "It is so.", type="project")
    twin = make("twin", "Orders services own the queue", "It is so.", type="project")
    op = Delete(orders.file, reason)
    assert codes(judge([*many, orders, stock], op)) == ["literal_lost"]
    assert judge([*many, orders, stock, twin], op).accepted == (op,)
    for own in ("the service was shut down in May", "the move already happened, it is over"):
        over = Delete(orders.file, own)
        assert judge([*many, orders, stock], over).accepted == (over,)


def test_no_op_passes_that_leans_on_a_bad_one() -> None:
    found = [each for row in plans.rows() for each in plans.judged(row)]
    passed = [(each.row, each.op) for each in found if each.kind == plans.LEANING and not each.code]
    assert passed == []
    assert sum(each.kind == plans.LEANING for each in found) == 40


def test_of_two_twins_that_name_each_other_one_stays(make: Make, many: list[StoredNote]) -> None:
    one, two = make("one", "Likes rain", "It rains."), make("two", "Likes rain", "It rains.")
    both = (Delete(one.file, "duplicate of two"), Delete(two.file, "duplicate of one"))
    verdict = judge([*many, one, two], *both)
    assert verdict.accepted == ()
    assert codes(verdict) == ["literal_lost"] * 2


def test_a_delete_falls_with_the_merge_that_it_leans_on(make: Make, many: list[StoredNote]) -> None:
    """Its link would lead nowhere, for the text that was to take the link out is refused."""
    linking = make("cups", "Owns cups", "For [[tea]], on port 8080.")
    lossy = Rewrite(linking.file, "For the tea.")
    gone = Delete("user-tea.md", "over")
    other = Rewrite("user-chess.md", "He said so about chess.")
    more = Rewrite("user-opera.md", "He said so about opera.")
    verdict = judge([*many, linking], lossy, gone, other, more)
    assert sorted(codes(verdict)) == ["dangling_link", "literal_lost"]
    assert verdict.accepted == (other, more)


def test_where_most_of_a_plan_is_refused_nothing_is_removed(many: list[StoredNote]) -> None:
    delete = Delete("user-tea.md", "over")
    flag = Flag(("user-opera.md", "user-violin.md"), "which one")
    wrong = [Rewrite(f"user-{word}.md", "") for word in ("maps", "bread", "clay")]
    half = judge(many, delete, flag, *wrong[:2])
    assert (half.accepted, codes(half)) == ((delete, flag), ["body"] * 2)
    most = judge(many, delete, flag, *wrong)
    assert (most.accepted, codes(most)) == ((flag,), ["budget"] + ["body"] * 3)
    # those that were refused before the plan was put together count, too
    assert judge(many, delete, flag, refused_before=3).accepted == (flag,)


def test_what_automatic_passes_removed_in_these_days_counts(many: list[StoredNote]) -> None:
    deletes = [Delete(f"user-{word}.md", "over") for word in ("tea", "chess", "opera")]
    for gone, room in ((0, 3), (1, 2), (2, 1), (3, 0), (9, 0)):
        verdict = judge(many, *deletes, gone=gone)
        assert verdict.accepted == tuple(deletes[:room])
        assert [op for op, _ in verdict.skipped] == deletes[room:]
        assert verdict.refused == ()


def test_a_flag_of_many_notes_writes_ten_lines_and_leaves_no_note_out() -> None:
    for count in range(2, 21):
        files = [f"n{at}.md" for at in range(count)]
        pairs = flagged_pairs(files)
        assert len(pairs) == len(set(pairs)) == min(10, count * (count - 1) // 2)
        assert {file for pair in pairs for file in pair} == set(files)


def test_merges_and_deletes_of_one_plan_stand_together(make: Make) -> None:
    """A duplicate may go because the note that says it takes another one in."""
    one = make("one", "Sarah owns billing", "Ask Sarah.")
    two = make("two", "Ask Sarah for the invoices", "Sarah has the invoices.")
    twin = make("three", "Sarah owns billing", "Ask Sarah.")
    others = [make(f"n{at}", f"Matter {at}", f"It is {at}.") for at in range(4)]
    merge = Merge((one.file, two.file), one.file, "one", "user", "Sarah owns billing",
                  "Ask Sarah for the invoices: Sarah has them.")  # fmt: skip
    delete = Delete(twin.file, "merged into user-one.md")
    assert judge([one, two, twin, *others], merge, delete).accepted == (merge, delete)
