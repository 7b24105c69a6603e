"""A memory that fails, is gone or was never wanted: the assistant works as if there were none."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import NAMES, Desk
from fake_provider import FakeProvider, Request

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

FACT = "The staging host is called beta"
TROUBLE = re.compile(
    r"mdmemory|hook[^\n]*(?:fail|error|block)|no such file|traceback|cancel", re.IGNORECASE
)
TURNS = 5  # in a bridge that did not start is tried again: after five seconds
RECEIPT = "Hook system message:"  # Gemini's for what a hook says to the person


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, provider: FakeProvider) -> Iterator[Desk]:
    with Desk(tmp_path, provider) as each:
        yield each


def answered(desk: Desk, name: str, prompt: str = "Hello", folder: Path | None = None) -> None:
    """A turn succeeds, and nothing that a person reads has a word of trouble."""
    desk.provider.say("Good morning.")
    ran, _ = desk.turn(name, prompt, folder=folder)
    assert ran.output.strip() == "Good morning."
    lines = [line for line in ran.errors.splitlines() if not line.startswith(RECEIPT)]
    assert [line for line in lines if TROUBLE.search(line)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_bridge_that_is_killed_is_not_missed(desk: Desk, name: str) -> None:
    desk.set_up(name)
    answered(desk, name)
    assert desk.end() == 1, "one bridge for the store"
    answered(desk, name, f"Remember that {FACT.lower()}.")
    desk.end()
    (request,) = desk.ask(name, "Hello")
    assert request.lines("taging host is called beta") == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_is_gone_breaks_no_turn(desk: Desk, name: str) -> None:
    desk.set_up(name)
    launcher = desk.home / ".config/mdmemory/launch"
    text = launcher.read_text("utf-8")
    gone, changed = re.subn(r"(?m)^program=.*$", "program=/nowhere/mdmemory", text)
    assert changed == 1
    launcher.write_text(gone, "utf-8")
    answered(desk, name)
    launcher.unlink()
    answered(desk, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_home_that_is_copied_elsewhere_works_there(desk: Desk, name: str) -> None:
    desk.set_up(name)
    desk.mdmemory("add", FACT)
    answered(desk, name)
    old, new = desk.home, desk.move_home()
    desk.end()
    answered(desk, name)  # whose the copy of a project is that is still in its place, is asked
    old.rename(old.with_name("gone"))
    for _ in range(TURNS):
        answered(desk, name)
        if desk.processes(bridges=True):
            break
    (request,) = desk.ask(name, "Hello")
    assert request.lines(FACT) == 1
    assert str(old) not in request.text.replace(str(new), "")


SERVERS = {  # what a client says of a server by itself
    "claude": ["## mdmemory"],
    "codex": [],
    "gemini": ["The following are instructions provided by the tool server 'mdmemory':"],
}


def lines(request: Request, word: str) -> list[str]:
    said = "\n".join((request.system, *request.users))
    return [line.strip() for line in said.splitlines() if word in line.lower()]


def is_skill(line: str) -> bool:
    """Whether a client lists a skill in this line: those of a person are there in all projects."""
    return line.startswith(("- mdmemory:", "<name>")) or "skills/mdmemory" in line


@pytest.mark.parametrize("name", NAMES)
def test_a_project_without_a_store_costs_one_tool_and_no_word(desk: Desk, name: str) -> None:
    other = desk.repository("other")
    (bare,) = desk.ask(name, "Hello", folder=other)
    desk.set_up(name)
    answered(desk, name, folder=other)
    wired = desk.provider.turns[-1]
    assert len([tool for tool in wired.tools if "memory" in tool and tool not in bare.tools]) <= 1
    assert [line for line in lines(wired, "mdmemory") if not is_skill(line)] == SERVERS[name]
    assert not (other / ".mdmemory").exists()
    assert not (desk.home / "mdmemory" / "other").exists(), "a question makes no store"


@pytest.mark.parametrize("name", NAMES)
def test_removing_the_wiring_leaves_the_client_as_it_was(desk: Desk, name: str) -> None:
    desk.ask(name, "Hello")
    before = configuration(desk)
    desk.set_up(name)
    assert configuration(desk) != before
    answered(desk, name)
    desk.mdmemory("setup", "--remove", name)
    assert configuration(desk) == before
    (request,) = desk.ask(name, "Hello")
    assert request.count("memory_search") == 0


CONFIGURED = (".claude/settings.json", ".claude/skills", ".claude.json", ".codex/config.toml",
              ".codex/hooks.json", ".gemini/settings.json", ".agents")  # fmt: skip


def configuration(desk: Desk) -> dict[str, bytes]:
    """What a person would find in the files where clients are configured."""
    found = {}
    for place in CONFIGURED:
        path = desk.home / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                found[str(file.relative_to(desk.home))] = file.read_bytes()
    if own := found.get(".claude.json"):  # the client itself writes times and counts into it
        servers = json.loads(own).get("mcpServers", {})
        found[".claude.json"] = json.dumps(servers).encode()
    return found
