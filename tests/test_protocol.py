"""Prompts are cut from the protocol, each rule stands once, and only a person widens them."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from projects import Patch, Say
from stores import BeginStore

from mdmemory import assets, protocol
from mdmemory.capture.candidates import parse as candidates
from mdmemory.capture.fact import fact_of
from mdmemory.cli import main
from mdmemory.compact import dialogue
from mdmemory.compact.plan import PlanRefused
from mdmemory.llm import schemas
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.sizes import tokens
from mdmemory.note.limits import TYPES
from mdmemory.privacy.redaction import has_secret
from mdmemory.store.store import is_note_name

# what prompts are cut from; no note is written by one that reads a session
SECTIONS = {
    "extract": ("Types", "The bar", "Limits"),
    "compact": ("Types", "The bar", "Format", "Limits"),
}
FILES = ("PROTOCOL.md", "extract.md", "compact.md")
EDITED = protocol.shipped_protocol().replace("next month", "next year")


@pytest.fixture
def own(empty_home: Path) -> Path:
    """The person's own protocol, which is not there yet."""
    path = empty_home / ".config/mdmemory/PROTOCOL.md"
    path.parent.mkdir(parents=True)
    return path


# --- prompts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", SECTIONS)
def test_a_prompt_holds_the_rules_of_the_protocol_at_run_time(task: str) -> None:
    ours = protocol.Protocol(protocol.shipped_protocol())
    told = protocol.task_prompt(task, ours)
    for name in SECTIONS[task]:
        assert re.sub(r"(?ms)^```.*?^```$", "", ours.section(name)).strip() in told
    assert "{{" not in told
    changed = protocol.task_prompt(task, protocol.Protocol(EDITED))
    assert changed == told.replace("next month", "next year") != told


def phrases(text: str, length: int = 6) -> set[str]:
    """Every run of six words of a sentence; samples in code blocks aside."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = set()
    for sentence in re.split(r"[.:;!?](?=\s)|\n", prose):
        words = re.findall(r"\w+", sentence.lower())
        found |= {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}
    return found


def test_each_rule_stands_in_one_file_and_types_are_explained_in_the_protocol_alone() -> None:
    pages = {name: assets.read(f"protocol/{name}") for name in FILES}
    for one, other in combinations(FILES, 2):
        assert phrases(pages[one]) & phrases(pages[other]) == set()
    for task, sections in SECTIONS.items():
        page = pages[f"{task}.md"]
        assert not re.findall(rf"^- `(?:{'|'.join(TYPES)})`", page, re.MULTILINE)
        assert set(re.findall(r"\{\{(.+?)\}\}", page)) == set(sections)


def samples(task: str) -> list[Any]:
    """The answers that a prompt shows."""
    page = assets.read(f"protocol/{task}.md")
    return [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]


def fits(value: object, schema: Any) -> bool:
    """Whether a value fits one of our schemas; they use no more of JSON Schema than this."""
    if "anyOf" in schema:
        return any(fits(value, each) for each in schema["anyOf"])
    if schema["type"] == "object":
        inner = schema["properties"]
        return (
            isinstance(value, dict) and set(value) == set(inner)
            and all(fits(value[key], inner[key]) for key in inner)
        )  # fmt: skip
    if schema["type"] == "array":
        return isinstance(value, list) and all(fits(each, schema["items"]) for each in value)
    return isinstance(value, str) and value in schema.get("enum", [value])


def test_each_prompt_shows_an_answer_with_nothing_and_one_with_something() -> None:
    for task, schema in (("extract", schemas.CANDIDATES), ("compact", schemas.PLAN)):
        nothing, something = samples(task)
        assert list(nothing.values()) == [[]]
        assert list(something.values()) != [[]]
        assert fits(nothing, schema)
        assert fits(something, schema)
    assert not fits({"ops": [{"op": "delete", "file": "a.md"}]}, schemas.PLAN)
    assert not fits({"candidates": [{"action": "drop"}]}, schemas.CANDIDATES)


def filled(task: str) -> str:
    """The answer that a prompt shows, as a model with something to say would fill it in."""
    words = {"<file>": "feedback-a.md", "<other file>": "feedback-b.md", "<its name>": "a"}
    text = json.dumps(samples(task)[1])
    for sign, word in words.items():
        text = text.replace(sign, word)
    return re.sub(r"<([a-z ]+)>", r"The \1 that was said", text)


def test_the_sample_answers_would_be_taken() -> None:
    fact, update = json.loads(filled("extract"))["candidates"]
    for each in (fact, update):
        assert fact_of(each["fact"], each["title"], each["type"], each["why"]).type == each["type"]
        assert len(each["fact"]) <= 150
    assert (update["action"], [*map(is_note_name, update["replaces"])]) == ("update", [True])
    assert len(candidates(filled("extract")).candidates) == 2
    assert len(dialogue.read(filled("compact")).ops) == 1


def test_a_sample_that_a_model_copies_does_no_harm() -> None:
    for read, task in ((candidates, "extract"), (dialogue.read, "compact")):
        with pytest.raises((BadAnswer, PlanRefused)):
            read(json.dumps(samples(task)[1]))


# Tokens of the system text by our own estimate, which is rather too many.
MOST = {"extract": 1_650, "compact": 1_450, "compress": 665, "summarize": 420, "lasting": 560}


@pytest.mark.parametrize("task", MOST)
def test_a_prompt_is_short_loses_nothing_to_redaction_and_names_no_command(task: str) -> None:
    told = protocol.task_prompt(task, protocol.Protocol(protocol.shipped_protocol()))
    assert tokens(told) <= MOST[task]
    assert not has_secret(told)
    assert not re.findall(r"`?mdmemory [a-z]+|(?<![\w-])--[a-z]+", told)


# --- the person's own protocol -----------------------------------------------------------------


def test_without_a_persons_own_file_ours_is_in_force(own: Path) -> None:
    assert protocol.in_force() == protocol.Protocol(protocol.shipped_protocol())


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_persons_own_file_enters_prompts(own: Path, ends: str) -> None:
    own.write_bytes(EDITED.replace("\n", ends).encode())
    assert protocol.in_force() == protocol.Protocol(EDITED, is_edited=True)
    assert "next year" in protocol.task_prompt("compact", protocol.in_force())
    assert "next year" in protocol.for_tools()


def test_no_file_of_a_project_has_a_say(own: Path, repository: Path) -> None:
    assert main(["init", str(repository), "--opencode"]) == 0
    (repository / ".opencode/memory/PROTOCOL.md").write_text(EDITED, encoding="utf-8")
    assert protocol.in_force() == protocol.Protocol(protocol.shipped_protocol())
    assert "next year" not in protocol.for_tools()


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * 70_000], ids=["not text", "too large"])
def test_a_protocol_that_cannot_be_read_is_told_and_ours_used(
    data: bytes, own: Path, begin_store: BeginStore, say: Say, monkeypatch: Patch
) -> None:
    own.write_bytes(data)
    found = protocol.in_force()
    assert (found.text, found.is_edited) == (protocol.shipped_protocol(), False)
    assert found.said.startswith("Our own protocol is used: ")
    monkeypatch.chdir(begin_store().project.root)
    assert "Our own protocol is used" in say("status")


def test_no_link_is_followed_to_a_protocol(own: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text(EDITED, encoding="utf-8")
    own.symlink_to(tmp_path / "elsewhere.md")
    assert not protocol.in_force().is_edited


def test_a_section_that_is_missing_is_ours_and_placeholders_in_one_stay(own: Path) -> None:
    own.write_text("# Mine\n\n## Types\n\n- `user`: {{Limits}}\n\n```\n## Limits\n```\n", "utf-8")
    told = protocol.task_prompt("extract", protocol.in_force())
    assert "- `user`: {{Limits}}" in told
    assert protocol.Protocol(protocol.shipped_protocol()).section("Limits") in told
