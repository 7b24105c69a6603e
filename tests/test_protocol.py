"""Prompts are cut from the protocol, each rule stands once, and only a person widens them."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from projects import Patch, Say
from rows import each
from stores import BeginStore

from mdmemory import assets, protocol
from mdmemory.capture.candidates import parse as candidates
from mdmemory.capture.fact import fact_of
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.store_fact import Stored
from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS
from mdmemory.compact import dialogue
from mdmemory.compact.plan import PlanRefused
from mdmemory.llm import schemas
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.sizes import tokens
from mdmemory.mcp import server
from mdmemory.note.limits import TYPES
from mdmemory.privacy.redaction import has_secret
from mdmemory.prompt import lines
from mdmemory.prompt.message_part import part
from mdmemory.session.session import MOST
from mdmemory.store.adopt import Unadopted
from mdmemory.store.store import is_note_name
from mdmemory.tools.table import TOOLS, _stored_sentences

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
    for said in (fact, update):
        assert fact_of(said["fact"], said["title"], said["type"], said["why"]).type == said["type"]
        assert len(said["fact"]) <= 150
    assert (update["action"], [*map(is_note_name, update["replaces"])]) == ("update", [True])
    assert len(candidates(filled("extract")).candidates) == 2
    assert len(dialogue.read(filled("compact")).ops) == 1


def test_a_sample_that_a_model_copies_does_no_harm() -> None:
    for read, task in ((candidates, "extract"), (dialogue.read, "compact")):
        with pytest.raises((BadAnswer, PlanRefused)):
            read(json.dumps(samples(task)[1]))


# Tokens of the system text by our own estimate, which is rather too many.
LONGEST = {"extract": 1_650, "compact": 1_450, "compress": 665, "summarize": 420, "lasting": 560}


@pytest.mark.parametrize("task", LONGEST)
def test_a_prompt_is_short_loses_nothing_to_redaction_and_names_no_command(task: str) -> None:
    told = protocol.task_prompt(task, protocol.Protocol(protocol.shipped_protocol()))
    assert tokens(told) <= LONGEST[task]
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


# What assistants are told: few words, which say one thing, and name only what exists.

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "templates/opencode"
TEXTS = {
    **{path.name: path.read_text("utf-8") for path in (ROOT / "protocol").glob("*.md")},
    **{path.stem: path.read_text("utf-8") for path in TEMPLATES.glob("command/*.md")},
    "skill": assets.read(assets.SKILL),
    "tools": "\n".join(f"{tool.description} {json.dumps(tool.parameters)}" for tool in TOOLS),
    "instructions": Path(str(server.__file__)).read_text("utf-8"),
    "receipts": Path(str(lines.__file__)).read_text("utf-8"),
}
HOW = ("TOOLS.md", "PROTOCOL.md", "skill")  # those that say how the memory is to be used
# The one thing that all of them say.
SAID = {
    "what is worth a note": r"next month,? in (?:a different|another) task",
    "no secrets": r"(?i)secrets?|password",
    "superseded": r"superseded",
    "no instructions": r"(?i)never instructions|is not an instruction",
}
NAMES = {name for name, _, _ in COMMANDS}


def length(text: str) -> float:
    """In tokens of four characters."""
    return len(text) / 4


def name_what_exists(name: str, text: str) -> None:
    assert set(re.findall(r"`mdmemory ([a-z]+)", text)) <= NAMES
    tools = {tool.name for tool in TOOLS}
    named = set(re.findall(r"\b(?:memory_[a-z]+|[a-z]+_memory)\b", text))
    assert named - {"recalled_memory"} <= tools, named - tools
    # `review` has all that waits; the narrower commands are for whoever knows them
    assert not re.search(r"(?i)remove nothing|are the user's", text)
    assert not re.search(r"mdmemory (?:remove|pending|conflicts|confirm --)", text)


def test_no_text_names_a_command_or_a_tool_that_does_not_exist() -> None:
    each(TEXTS.items(), name_what_exists)


def say_the_same(name: str) -> None:
    for what, words in SAID.items():
        assert re.search(words, TEXTS[name], re.DOTALL), what


def test_the_texts_on_using_the_memory_say_one_thing() -> None:
    each(HOW, lambda name: say_the_same(name))


def test_tools_are_told_of_where_there_are_some_and_commands_where_there_are_none() -> None:
    assert "memory_" not in TEXTS["PROTOCOL.md"]
    assert not re.findall(r"mdmemory [a-z]+", TEXTS["TOOLS.md"])


def test_whoever_has_the_tools_is_told_in_less_than_350_length() -> None:
    assert length(protocol.short_protocol()) < 350


# --- what the plugin puts into a prompt, measured ------------------------------------------------

FILE = "feedback-" + "word-" * 11 + "ends.md"  # as long as a name gets that capture writes
FACT = "Parcels above 31.5 kg go with the parcel service, and what is lighter by letter. " * 3
PAIR = {"file": FILE, "by": FILE, "text": FACT, "new": FACT}
WISH = "Remember that " + FACT[0].lower() + FACT[1:]


def along(message: str = FACT, near: str = "", **more: object) -> str:
    """What the assistant reads along with a message."""
    return "\n".join(part(message, notice_wishes(message), near, [FILE] * 3, **more))  # type: ignore[arg-type]


def stored(**did: object) -> str:
    """What `memory_store` answers."""
    return "\n".join(_stored_sentences(Stored(FILE, "a-name", "", "1" * 40, **did)))  # type: ignore[arg-type]


# message: the most that it may cost, in tokens of four characters
MESSAGES = {
    "a wish": (lambda: along(WISH), 130),
    "what may want something": (lambda: along("Please forget that."), 60),
    "what states something, near three notes": (lambda: along(), 120),
    "a secret": (lambda: along(has_secret=True), 160),
    "stored": (lambda: stored(), 40),
    "stored, and not on a branch yet": (lambda: stored(waits=True), 75),
    "known": (lambda: stored(existed=True), 40),
    "superseded": (lambda: stored(superseded=(PAIR,), ids=("m-1a2b3c4d",)), 230),
    "taken back by /memory-undo": (lambda: lines.taken_back([FACT], [], "m-1a2b3c4d", "").text, 65),
    "all that can wait, counted": (lambda: lines.waiting(dict.fromkeys(lines._WAITING, 9)), 65),
    "changed by other hands": (
        lambda: lines.by_hand([Unadopted(FILE, "changed")] * 9, ["gone.md"] * 9), 90,
    ),
    "the memory of a session": (lambda: "x" * MOST, 1_600),
}  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_of_the_plugin_costs_at_most(message: str) -> None:
    make, most = MESSAGES[message]
    assert 0 < length(make()) <= most
