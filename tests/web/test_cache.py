"""What is kept between pages: as long as its mark holds, and never for longer than that unsaid."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from pace import HUNG

from mdmemory.errors import MdmemoryError
from mdmemory.web import cache
from mdmemory.web.cache import KeptValues
from mdmemory.web.site import cut


def test_a_value_is_made_once_for_a_mark() -> None:
    values, made = KeptValues(HUNG), []
    for mark in (1, 1, 2, 2, 1):
        assert values.get("a", mark, partial(made.append, mark)).is_fresh
    assert made == [1, 2, 1]
    values.close()


def test_a_page_that_does_not_wait_shows_what_was_and_says_so() -> None:
    values, go = KeptValues(0.001), threading.Event()
    assert values.get("a", 1, lambda: "old").value == "old"

    def slow() -> str:
        assert go.wait(HUNG)
        return "new"

    found = values.get("a", 2, slow)
    assert (found.value, found.is_fresh) == ("old", False)
    values.change("a", lambda value: f"{value}, changed")
    assert values.get("a", 2, slow).value == "old, changed"
    go.set()
    while not (found := values.get("a", 2, slow)).is_fresh:
        pass
    assert found.value == "new"
    values.close()


def test_the_first_value_is_waited_for() -> None:
    values = KeptValues(0.0)
    assert values.get("a", 1, lambda: "there").is_fresh
    values.close()


def test_a_failure_is_the_callers_and_is_not_kept() -> None:
    values = KeptValues(HUNG)

    def fails() -> str:
        raise MdmemoryError("No.")

    for _ in range(2):
        with pytest.raises(MdmemoryError):
            values.get("a", 1, fails)
    assert values.get("a", 1, lambda: "yes").value == "yes"
    values.close()


def test_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    values = KeptValues(HUNG)
    for name in "abc":
        values.get(name, 1, lambda name=name: name)
    values.get("a", 1, lambda: "again")
    values.get("d", 1, lambda: "d")
    assert [values.peek(name) for name in "abcd"] == ["a", None, "c", "d"]
    values.close()


@pytest.mark.parametrize(
    ("asked", "number"), [("", 1), ("2", 2), ("99", 3), ("-1", 1), ("x", 1), ("9" * 40, 1)]
)
def test_a_page_of_a_list_is_the_nearest_that_there_is(asked: str, number: int) -> None:
    page = cut(range(25), asked, 10)
    assert (page.number, page.last, page.total) == (number, 3, 25)
    assert list(page.rows) == list(range(25))[(number - 1) * 10 : number * 10]
