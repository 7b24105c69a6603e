"""What assistants are told: few words, which say one thing, and name only what exists."""

import json
import re
from pathlib import Path

import pytest
from rows import each

from mdmemory import assets, protocol
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.store_fact import Stored
from mdmemory.cli.commands import COMMANDS
from mdmemory.mcp import server
from mdmemory.prompt import lines
from mdmemory.prompt.message_part import part
from mdmemory.session.session import MOST
from mdmemory.store.adopt import Unadopted
from mdmemory.tools.table import TOOLS, _stored_sentences

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


def tokens(text: str) -> float:
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


def test_whoever_has_the_tools_is_told_in_less_than_350_tokens() -> None:
    assert tokens(protocol.short_protocol()) < 350


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
    "taken back by /memory-undo": (lambda: lines.taken_back([FACT], [], "m-1a2b3c4d").text, 65),
    "all that can wait, counted": (lambda: lines.waiting(dict.fromkeys(lines._WAITING, 9)), 65),
    "changed by other hands": (
        lambda: lines.by_hand([Unadopted(FILE, "changed")] * 9, ["gone.md"] * 9), 90,
    ),
    "the memory of a session": (lambda: "x" * MOST, 1_600),
}  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_of_the_plugin_costs_at_most(message: str) -> None:
    make, most = MESSAGES[message]
    assert 0 < tokens(make()) <= most
