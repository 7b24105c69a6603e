"""A record of ours does what a dataclass does, and costs a command less."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pace import HUNG

from mdmemory import Memory, records

PLAIN, FROZEN = {}, {"frozen": True}
SLOTS, BOTH = {"slots": True}, {"frozen": True, "slots": True}
HOW = (PLAIN, FROZEN, SLOTS, BOTH)


def made(by: ModuleType, how: dict[str, bool]) -> tuple[type[Any], type[Any]]:
    """A class with fields of each kind, and one with a field more, as this module makes them."""

    @by.dataclass(**how)
    class Point:
        """A place."""

        x: int
        names: list[str] = by.field(default_factory=list)
        word: str = "here"
        hidden: str = by.field(default="", repr=False)

        def twice(self) -> int:
            return self.x * 2

    @by.dataclass(**how)
    class Named(Point):
        title: str = ""

    return Point, Named


@pytest.mark.parametrize("how", HOW, ids=str)
def test_it_answers_as_a_dataclass_does(how: dict[str, bool]) -> None:
    ours, theirs = made(records, how), made(dataclasses, how)
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda c: c(1), lambda c: c(1, ["a"], "there"), lambda c: c(x=2, hidden="h"),
        lambda c: c(), lambda c: c(1, 2, 3, 4, 5, 6), lambda c: c(1, y=2),
    )  # fmt: skip
    for (own, other), call in product(zip(ours, theirs, strict=True), calls):
        one, two = _outcome(partial(call, own)), _outcome(partial(call, other))
        if isinstance(two, TypeError):
            assert isinstance(one, TypeError)
            continue
        assert repr(one) == repr(two)
        assert one.twice() == two.twice()
        assert own.__match_args__ == other.__match_args__
        assert own.__doc__ == other.__doc__ or own is ours[1]
        assert one == call(own)
        assert one != two
        assert dataclasses.asdict(one) == dataclasses.asdict(two) == records.asdict(one)
        assert records.replace(one, x=9) == dataclasses.replace(one, x=9) != one
        assert repr(records.replace(one, x=9)) == repr(dataclasses.replace(two, x=9))
        assert one.__replace__(x=9) == records.replace(one, x=9)
        assert _names(inspect.signature(own)) == _names(inspect.signature(other))


@pytest.mark.parametrize("how", HOW, ids=str)
def test_it_can_be_changed_and_hashed_as_far_as_a_dataclass_can(how: dict[str, bool]) -> None:
    def tried(by: ModuleType) -> Iterator[object]:
        point = made(by, how)[0](1, ("a",))
        for act in (
            lambda: setattr(point, "x", 2), lambda: delattr(point, "word"),
            lambda: setattr(point, "other", 3), lambda: hash(point), lambda: point.__dict__,
        ):  # fmt: skip
            got = _outcome(act)
            yield type(got) if isinstance(got, Exception) else isinstance(got, int)

    ours, theirs = [*tried(records)], [*tried(dataclasses)]
    # of another name on one with slots dataclasses itself fails in two ways
    assert ours[:2] + ours[3:] == theirs[:2] + theirs[3:]
    assert isinstance(ours[2], type) == isinstance(theirs[2], type)
    assert hash(_Kept(1, "a")) == hash(_Kept(1, "a"))


@records.dataclass(frozen=True, slots=True)
class _Kept:
    number: int
    word: str = "here"

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("It is below zero.")


def test_a_copy_and_a_pickled_one_are_the_same() -> None:
    kept = _Kept(1, "a")
    assert copy.copy(kept) == copy.deepcopy(kept) == pickle.loads(pickle.dumps(kept)) == kept


def test_what_runs_after_the_making_runs() -> None:
    with pytest.raises(ValueError, match="below zero"):
        _Kept(-1)


def test_it_matches_a_pattern_and_is_a_dataclass_to_whoever_asks() -> None:
    match _Kept(3, "b"):
        case _Kept(number, word):
            assert (number, word) == (3, "b")
    assert dataclasses.is_dataclass(_Kept)
    assert [field.name for field in dataclasses.fields(_Kept)] == ["number", "word"]

    @dataclasses.dataclass(frozen=True)
    class More(_Kept):
        third: int = 3

    assert dataclasses.astuple(More(1, "a")) == (1, "a", 3)


def test_a_default_that_all_would_share_is_refused() -> None:
    with pytest.raises(ValueError, match="share"):

        @records.dataclass
        class Shared:
            names: list[str] = []  # noqa: RUF012


def test_what_it_does_not_know_is_refused_and_not_passed_over() -> None:
    with pytest.raises(TypeError):
        records.dataclass(order=True)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        records.field(init=False)


NEW = ("add", "tea", "--type", "project", "--description", "Tea is green", "With milk.")


@pytest.mark.parametrize("words", [("list",), ("log",), NEW], ids=lambda words: words[0])
def test_a_command_loads_nothing_that_it_does_not_need(
    words: tuple[str, ...], repository: Path
) -> None:
    Memory.init(repository)
    dear = {"dataclasses", "inspect", "typing", "tomllib"} - _loaded_by_argparse()
    code = (
        f"from mdmemory.cli.commands import main; import sys; code = main({[*words]!r}); "
        f"sys.stderr.write(str({dear!r} & {{*sys.modules}})); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=repository, capture_output=True, text=True,
        check=False, timeout=HUNG, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr[-5:]) == (0, "set()"), done.stderr


def _loaded_by_argparse() -> set[str]:
    """What Python's own reader of arguments loads: since 3.14 `dataclasses`, for its colours."""
    code = "import argparse, sys; argparse.ArgumentParser('x').parse_args([]); print(*sys.modules)"
    words = [sys.executable, "-S", "-c", code]
    return {*subprocess.check_output(words, text=True, timeout=HUNG).split()}


def _outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as problem:  # noqa: BLE001 - which one it is, is what is compared
        return problem


def _names(signature: inspect.Signature) -> list[tuple[str, bool]]:
    return [
        (name, each.default is inspect.Parameter.empty)
        for name, each in signature.parameters.items()
    ]
