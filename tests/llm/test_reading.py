"""Whatever is around an answer, or missing at its end: what is read of it was said."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import FULL, scaled

from mdmemory.llm import json_answer

Item = dict[str, str]
ODD = st.sampled_from([*"ab {}[]\",:'\\\n/#“”‘-`<>1é"])
TEXT = st.text(alphabet=ODD | st.characters(codec="utf-8", exclude_characters="\0"), max_size=25)
ITEM = st.fixed_dictionaries({"action": st.just("add"), "body": TEXT, "quote": TEXT})
DRAFT = {"action": "add", "body": "draft", "quote": "d"}
EXAMPLES = 4_000 if FULL else scaled(150)


def said(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# what models put around the same items, and make of their JSON
FORMS: tuple[Callable[[list[Item]], str], ...] = (
    lambda items: said({"candidates": items}),
    lambda items: f"Sure, [1] {{x}}:\n{said({'candidates': items})}\nDone.",
    lambda items: f"<think>{DRAFT!r}</think>{said({'candidates': items})}",
    lambda items: f"{said({'candidates': [DRAFT]})} </think>{said({'candidates': items})}",
    lambda items: f"```json\n{json.dumps({'candidates': items}, indent=2)}\n```",
    lambda items: repr({"candidates": items}),
    lambda items: said(said({"candidates": items})),
    lambda items: said({"plan": {"candidates": items}}),
    lambda items: "\n".join(map(said, items)),
    said,
    lambda items: said({"candidates": items})[:-2] + ",]}",
    lambda items: said({"candidates": items}).replace('"action"', "action"),
    lambda items: f"\ufeff{said({'candidates': items})} // end",
    lambda items: said({"note": 1, "candidates": items, "x": None}),
)


def objects(text: str) -> list[dict[str, Any]]:
    """The items that are read, none where nothing can be."""
    fields = ("action", "body", "quote")
    try:
        read = json_answer.read_list(text, "candidates", fields=fields, mark="action")
    except json_answer.BadAnswer:
        return []
    return [*read.objects]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(ITEM, min_size=1, max_size=3), st.sampled_from(FORMS), st.integers(0, 400))
def test_no_item_is_read_that_was_not_said(
    items: list[Item], form: Callable[[list[Item]], str], cut: int
) -> None:
    whole = form(items)
    assert all(each in items for each in objects(whole))
    # of an answer that ends within its thoughts, a draft may be all there is
    assert all(each in items or each.get("body") == "draft" for each in objects(whole[:cut]))


@pytest.mark.parametrize("form", FORMS)
def test_plain_items_are_read_in_every_form(form: Callable[[list[Item]], str]) -> None:
    items = [{"action": "add", "body": f"Port {port}.", "quote": "so"} for port in (80, 81)]
    assert objects(form(items)) == items
