"""A plan is read strictly, and an answer that is none is refused without a traceback."""

import json
import runpy
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each

from mdmemory.compact.plan import (
    Delete,
    Flag,
    Merge,
    Op,
    PlanRefused,
    Rewrite,
    as_json,
    named,
    parse,
    render,
)

NASTY = runpy.run_path(str(Path(__file__).with_name("nasty_plans.py")))["NASTY"]

words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
reasons = st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,3}", fullmatch=True)
many = st.lists(words, min_size=2, max_size=4).map(tuple)
ops = st.one_of(
    st.builds(Merge, many, words, words, words, words, words, st.just("") | reasons),
    st.builds(Delete, words, reasons),
    st.builds(Rewrite, words, words, st.none() | words.filter(bool), st.just("") | reasons),
    st.builds(Flag, many, reasons),
)


def is_judged(answer: str | bytes) -> bool:
    """Whether an answer is a plan, or is refused with a reason; anything else raises."""
    try:
        return parse(answer).ops is not None
    except PlanRefused as refused:
        return bool(refused.refusals)


def is_refused(answer: str | bytes, code: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        parse(answer)
    assert {each for each, _ in refused.value.refusals} == {code}
    end = 'Give `{"ops": [...]}`.' if code == "unparsable" else "."
    assert all(message.endswith(end) for _, message in refused.value.refusals)
    assert refused.value.code == code


def test_nasty_answer_is_refused_with_its_code() -> None:
    assert len(NASTY) >= 60
    start = time.process_time()
    each(NASTY, is_refused)
    assert time.process_time() - start < 20


def test_deep_nesting_is_refused_however_small_the_stack() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        for bomb in ("[" * 900_000, '{"ops":' * 100_000, '{"ops": [' + "[" * 9 + "]" * 9 + "]}"):
            with pytest.raises(PlanRefused):
                parse(bomb)
    finally:
        sys.setrecursionlimit(limit)


def test_brackets_inside_strings_are_no_nesting() -> None:
    body = '[{"' * 5_000 + "\\"
    plan = json.dumps({"ops": [{"op": "rewrite", "file": "user-a.md", "body": body}]})
    assert parse(plan).ops == (Rewrite("user-a.md", body),)


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_arbitrary_answer_is_a_plan_or_refused(answer: str | bytes) -> None:
    assert is_judged(answer)


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | words | st.just("delete"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["op", "ops", "file", "files", "reason", "x"]), inner)
    ),
    max_leaves=12,
)


@given(values)
def test_arbitrary_json_is_a_plan_or_refused(value: object) -> None:
    for wrapped in (value, {"ops": value}, {"ops": [value]}):
        assert is_judged(json.dumps(wrapped))


@given(st.lists(ops, max_size=4), st.dictionaries(words, st.just("0" * 64), max_size=3))
def test_what_is_rendered_is_read_back(plan: list[Op], digests: dict[str, str]) -> None:
    found = parse(render(plan, digests))
    assert found.ops == tuple(plan)
    assert dict(found.digests) == digests
    assert parse(json.dumps({"ops": [as_json(op) for op in plan]})).ops == tuple(plan)


@pytest.mark.parametrize("fence", ["{}", " \n{}\n\t", "```json\n{}\n```", "```\r\n{}\r\n```\r\n"])
def test_a_fence_and_white_space_around_a_plan_are_fine(fence: str) -> None:
    answer = fence.replace("{}", '{"ops": []}')
    assert parse(answer).ops == ()
    assert parse(answer.encode()).ops == ()


def test_a_reason_cannot_forge_a_commit_trailer() -> None:
    reason = "outdated\n\nMemory-Id: fake\r\u2028Signed-off-by: x\u202e" + "!" * 5_000
    op = parse(json.dumps({"ops": [{"op": "delete", "file": "a.md", "reason": reason}]})).ops[0]
    assert op.reason.startswith("outdated Memory-Id: fake Signed-off-by: x")
    assert len(op.reason) <= 500
    assert op.reason.isprintable()


def test_a_refusal_does_not_repeat_what_may_be_a_secret() -> None:
    with pytest.raises(PlanRefused) as refused:
        parse('{"ops": [], "sk-ant-REDACTED-0123456789": 1}')
    assert "sk-ant" not in str(refused.value.refusals)


def test_an_op_names_its_files_once_each() -> None:
    inside = Merge(("a.md", "b.md"), "a.md", "a", "user", "d", "b")
    outside = Merge(("a.md", "b.md"), "user-c.md", "c", "user", "d", "b")
    assert named(inside) == ("a.md", "b.md")
    assert named(outside) == ("a.md", "b.md", "user-c.md")
    assert named(Flag(("a.md", "a.md"), "r")) == ("a.md", "a.md")
    assert named(Rewrite("a.md", "b")) == ("a.md",)
