"""What docs/how-it-works.md, the examples beside it and the protocol promise is what happens."""

from __future__ import annotations

import random
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory import assets
from mdmemory.capture.gate import REASONS, judge
from mdmemory.capture.triggers import find
from mdmemory.note.limits import TYPES
from mdmemory.note.note import parse
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact
from mdmemory.transcripts.injected import without_memory

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
FIGURES = (DOCS / "performance.md").read_text(encoding="utf-8")
EXAMPLES = Path(__file__).with_name("examples.md").read_text(encoding="utf-8")

DATA = Path(__file__).parent / "data"
LETTERS = string.ascii_letters + string.digits
RUN = "from mdmemory.cli import run; raise SystemExit(run())"


def table(heading: str, text: str = EXAMPLES) -> list[list[str]]:
    """The rows of the first table under a heading, without its head."""
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    first = re.search(r"(?:^(?:\|.*|.* \| .*|[-|]+)\n)+", section, re.MULTILINE)
    assert first
    rows = first[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def example(cell: str) -> str:
    found = re.fullmatch(r"(`+) ?(.+?) ?\1", cell.strip())
    assert found
    return found[2]


@pytest.mark.parametrize(
    ("line", "stored", "fact"), [*table("What triggers"), *table("What is stored", PAGE)]
)
def test_each_trigger_is_stored_as_it_says(line: str, stored: str, fact: str) -> None:
    (trigger,) = find(example(line))
    assert trigger.reason == ""
    assert trigger.text == fact
    assert ", ".join(filter(None, (trigger.type, trigger.kind))) == stored


@pytest.mark.parametrize(("line", "reason"), table("What is left out, and told"))
def test_each_refusal_has_its_reason(line: str, reason: str) -> None:
    assert [trigger.reason for trigger in find(example(line))] == [reason]


@pytest.mark.parametrize(("_", "line"), table("What never triggers"))
def test_nothing_triggers_that_should_not(_: str, line: str) -> None:
    assert find(without_memory(example(line))) == []


@pytest.mark.parametrize(("reason", "fact"), table("What a model proposes"))
def test_each_reason_of_the_gate_is_given_for_its_example(reason: str, fact: str) -> None:
    type_ = "feedback" if reason == "bad_feedback" else "project"
    verdict = judge(example(fact), type=type_, source="extraction")
    assert reason in verdict.reasons
    assert not verdict.accepted


def test_the_page_and_the_examples_name_every_reason() -> None:
    assert [reason for reason, _ in table("What a model proposes")] == list(REASONS)
    stored = PAGE.split("\n## What is stored\n")[1].split("\n## ")[0]
    asked, found = stored.split("**What a model finds**")
    codes = re.compile(r"`([a-z]+(?:_[a-z]+)*)`")
    assert codes.findall(found.split("It must last")[0]) == list(REASONS)
    left_out = {reason.strip("`") for _, reason in table("What is left out, and told")}
    assert left_out < {*codes.findall(asked)}


@pytest.mark.parametrize(("text", "becomes"), table("Secrets and private text"))
def test_each_secret_is_replaced_as_it_says(text: str, becomes: str) -> None:
    noise = random.Random(3)
    made = re.sub("‹noise›", lambda _: "".join(noise.choices(LETTERS, k=14)), example(text))
    made = made.replace("‹digits›", "".join(noise.choices(string.digits, k=4)))
    assert redact(made)[0] == example(becomes)


def test_private_blocks_are_cut_out_in_both_forms() -> None:
    assert strip_private("a <private>b</private> [PRIVATE]c[/PRIVATE] d") == ("a   d", 2)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["capture/gate_cases.py", "privacy/secret_corpus.py"])
def test_the_figures_of_the_page_are_what_the_command_prints(script: str) -> None:
    block = FIGURES.split(f"$ python tests/{script}\n")[1].split("```")[0]
    words = [sys.executable, str(Path(__file__).parents[1] / script)]
    printed = subprocess.run(words, check=True, capture_output=True, text=True, timeout=HUNG)
    assert printed.stdout == block


# --- the protocol ----------------------------------------------------------------------------

PROTOCOL = assets.read("protocol/PROTOCOL.md")
HEADINGS = ["Reading", "Types", "The bar", "Format", "Writing", "Updating", "Limits"]


def test_the_protocol_costs_less_than_1200_tokens() -> None:
    assert len(PROTOCOL) / 4 < 1200


def test_the_protocol_keeps_the_headings_that_prompts_are_cut_from() -> None:
    assert re.findall(r"^## (.+)$", PROTOCOL, re.MULTILINE) == HEADINGS


def test_the_protocol_names_every_type() -> None:
    section = PROTOCOL.split("\n## Types\n")[1].split("\n## ")[0]
    assert re.findall(r"^- `(\w+)`", section, re.MULTILINE) == list(TYPES)


def test_the_sample_note_of_the_protocol_is_well_formed() -> None:
    sample = re.findall(r"```markdown\n(.*?)```", PROTOCOL, re.DOTALL)[0]
    note = parse(sample, "feedback-prefers-pnpm.md")
    assert note.head.problems == ()
    assert (note.head.name, note.head.type) == ("prefers-pnpm", "feedback")
    assert "Why:" in note.body


def test_the_protocol_itself_asks_for_nothing_to_be_remembered() -> None:
    assert find(PROTOCOL) == find(assets.read("protocol/TOOLS.md")) == []


def test_the_command_of_the_page_stores_what_was_asked(tmp_path: Path) -> None:
    (extract,) = re.findall(r"`(mdmemory extract [^`]+)`", PAGE)
    shutil.copy(DATA / "work.json", tmp_path / "session.json")
    for command in ("mdmemory init --shared", extract):
        words = [sys.executable, "-P", "-c", RUN, *command.split()[1:]]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=HUNG)
    # the third is about the person, and goes to their own store
    assert len(list((tmp_path / "notes" / "memory").glob("[!M_]*.md"))) == 2
