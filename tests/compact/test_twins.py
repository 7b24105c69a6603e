"""The offline planner finds what docs/performance.md says, and a plan is what the pages say."""

from __future__ import annotations

import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import mdmemory
from mdmemory.compact.plan import Delete, Flag, Merge, Rewrite, parse
from mdmemory.text.near import Neighbours

ROOT = Path(__file__).parents[2]
FIGURES = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
TWINS = runpy.run_path(str(Path(__file__).with_name("twins.py")))


@pytest.fixture(scope="module")
def found() -> Any:
    return TWINS["measure"](TWINS["plant"](1_000, 7))


def told(page: str) -> Mapping[str, float]:
    """What the page promises: of each kind of twins the share that is found, and two precisions."""
    (found,) = re.findall(r"contradictions found:((?:\s+\w+ \d+\s+of\s+\d+[,.])+)", page)
    shares = re.findall(r"(\w+) (\d+)\s+of\s+(\d+)", found)
    promised = {name: int(part) / int(whole) for name, part, whole in shares}
    precisions = re.findall(r"\b(Merges|Flags): precision (\d\.\d+)", page)
    return promised | {name: float(figure) for name, figure in precisions}


def measured(table: str) -> Mapping[str, float]:
    """Every figure of the table that `twins.py` prints, and of the line below it, by its name."""
    rows = re.findall(r"^\| (\w+) \| \d+ \| \d+ \| ([\d.]+) \|$", table, re.MULTILINE)
    rows += re.findall(r"\b(Merges|Flags): precision (\d\.\d+)", table)
    return {name: float(figure) for name, figure in rows}


def test_the_planner_finds_as_much_as_the_page_says(found: Any) -> None:
    promised, real = told(FIGURES), measured(TWINS["table"](found))
    assert {*TWINS["MERGED"], *TWINS["MAY_MERGE"], *TWINS["FLAGGED"], "Merges", "Flags"} == set(
        promised
    )
    for name, figure in promised.items():
        assert real[name] >= round(figure, 3), name


def test_what_is_to_be_left_alone_is_left_alone(found: Any) -> None:
    assert found.planted["neighbour"] > 50
    assert found.wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_another_store_gives_figures_like_these(seed: int) -> None:
    found = TWINS["measure"](TWINS["plant"](600, seed))
    assert found.precision("merge", *TWINS["MERGED"], *TWINS["MAY_MERGE"]) == 1
    assert found.precision("flag", *TWINS["FLAGGED"]) > 0.93
    assert found.recall(*TWINS["MERGED"]) > 0.95
    assert found.recall("value", "opposite") > 0.85


@pytest.mark.slow
def test_twins_meet_though_all_use_the_same_words() -> None:
    """A duplicate or contradiction is among the few notes that are compared with its twin."""
    planted = TWINS["plant"](3_000, 5)
    near = Neighbours([note.note for note in planted.notes])
    met = {
        frozenset((planted.notes[one].file, planted.notes[other].file))
        for one, other in near.pairs()
    }
    wanted = [pair for pair, kind in planted.pairs.items() if kind not in TWINS["LEFT"]]
    assert sum(pair in met for pair in wanted) > 0.95 * len(wanted)
    assert len(met) <= 10 * len(planted.notes)


def test_the_plan_on_the_page_is_a_plan() -> None:
    (block,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    plan = parse(block)
    assert [type(op) for op in plan.ops] == [Merge, Delete, Rewrite, Flag]
    assert set(plan.digests) == {"reference-error-dashboard.md"}


def test_the_page_names_every_code() -> None:
    package = Path(mdmemory.__file__).parent
    rooms = ("plan", "guards", "removals", "text_guards")
    code = "\n".join((package / f"compact/{room}.py").read_text("utf-8") for room in rooms)
    given = set(re.findall(r'(?:yield \(?\s*|_refusal\(|= \()"([a-z_]+)", ?', code))
    given |= set(re.findall(r'yield \(\s*"([a-z_]+)",', code))
    refused = PAGE.partition("Refused as a whole:")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"`([a-z_]+)`", refused)) == sorted(given)
