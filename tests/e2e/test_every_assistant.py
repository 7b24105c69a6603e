"""One memory for all assistants of a person: what one is told, each other knows at its next start.

In the real Claude Code, Codex and Gemini CLI, wired by `mdmemory setup` alone, and OpenCode as the
fourth of them. And a memory that fails, is gone or was never wanted: the assistant works as if
there were none. The plugin and the extension are installed as docs/clients.md says.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from assistants import ROOT, Claude, Gemini
from client import OpenCode
from desk import NAMES, Desk
from fake_provider import FakeProvider, Request
from fake_server import FakeServer, system_text
from pace import FULL
from plugged import spare_npm
from stores import BeginStore
from terminal import HAS_TMUX, MISSING

from mdmemory import Memory
from mdmemory.hosts import launcher
from mdmemory.hosts.claude import own_memory_notes

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

NEIGHBOURS = [("claude", "codex"), ("codex", "gemini"), ("gemini", "claude")]
PAIRS = list(permutations(NAMES, 2)) if FULL else NEIGHBOURS
ANSWERS = "short answers"
MONDAYS, TUESDAYS = "Deploys go out on Mondays only", "eploys go out on Tuesdays only"
CHANGED = "From now on deploys go out on Tuesdays only, not on Mondays."
BETA = "The staging host is called beta"


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture
def bare(tmp_path: Path, provider: FakeProvider) -> Iterator[Desk]:
    """A desk at which no assistant is wired."""
    with Desk(tmp_path, provider) as each:
        yield each


@pytest.fixture
def desk(bare: Desk) -> Desk:
    return bare.set_up()


def first(requests: list[Request]) -> Request:
    assert requests, "the client asked its model nothing"
    return requests[0]


@pytest.mark.parametrize(("told", "asked"), PAIRS)
def test_a_preference_and_a_correction_are_known_to_another(
    desk: Desk, told: str, asked: str
) -> None:
    desk.mdmemory("add", MONDAYS)
    former = desk.name_of(MONDAYS)
    desk.ask(told, "Keep in mind that I prefer short answers.")
    desk.provider.call("memory_search", query="when do deploys go out")
    desk.provider.call("memory_store", **corrected(desk))
    found, stored = desk.ask(told, CHANGED, again=True)[-1].results[-2:]
    assert ("Mondays" in found, "unconfirmed" in stored) == (True, False), "their words prove it"
    request = first(desk.ask(asked, "What is the capital of France?"))
    assert request.lines(ANSWERS) == 1, "once, and in the first request"
    assert request.lines(TUESDAYS) == 1
    assert request.lines(MONDAYS) == 0, "what is superseded has left the prompt"
    assert "Mondays" in desk.mdmemory("show", former), "and is kept"


@pytest.mark.parametrize(("told", "asked"), PAIRS)
def test_what_is_forgotten_in_one_is_gone_from_both(desk: Desk, told: str, asked: str) -> None:
    desk.ask(told, "Remember that the printer on floor 2 is called Gutenberg.")
    assert first(desk.ask(asked, "Hello")).lines("called Gutenberg") == 1
    gone = "Forget what I told you about the printer."
    (note,) = [each for each in desk.notes() if "Gutenberg" in each]
    name = desk.name_of(note)
    desk.provider.call("memory_forget", names=[name], quote=gone)
    requests = desk.ask(asked, gone)
    assert "memory_forget" in " ".join(first(requests).tools), "the tool is there at once"
    assert desk.notes() == [], requests[-1].results
    assert first(desk.ask(told, "Hello again")).count("Gutenberg") == 0
    assert first(desk.ask(asked, "Hello again")).count("Gutenberg") == 0
    desk.mdmemory("undo")
    assert desk.notes() == [note]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_that_is_taken_up_again_has_the_memory_once(desk: Desk, name: str) -> None:
    desk.mdmemory("add", MONDAYS)
    desk.ask(name, "Which day is it?")
    (request,) = desk.ask(name, "And tomorrow?", again=True)
    assert request.lines(MONDAYS) == 1
    assert request.count("Which day is it?") == 1, "what the person said is still there"


@pytest.mark.parametrize("name", NAMES)
def test_a_subfolder_and_a_linked_worktree_have_the_memory(desk: Desk, name: str) -> None:
    desk.mdmemory("add", MONDAYS)
    folder = desk.project / "deep/inside"
    folder.mkdir(parents=True)
    linked = desk.home / "linked"
    desk.run("git", "worktree", "add", "-q", linked)
    for each in (folder, linked):
        assert first(desk.ask(name, "Hello", folder=each)).lines(MONDAYS) == 1


@pytest.mark.skipif(not HAS_TMUX, reason=MISSING)
@pytest.mark.parametrize("name", NAMES)
def test_a_person_at_the_terminal_sees_what_was_kept(desk: Desk, name: str) -> None:
    said = "Remember that the printer on floor 2 is called Gutenberg."
    desk.watch(name, said, "(?is)remembered in your words.*gutenberg")
    assert "Gutenberg" in " ".join(desk.notes())


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_request_amid_the_message_of_a_program_waits_for_a_person(desk: Desk, name: str) -> None:
    said = "the printer on floor 2 is called Gutenberg."
    desk.ask(name, f"Read the file notes.txt first. Remember that {said}")
    assert desk.notes() == []
    waiting = desk.mdmemory("review")
    assert "called Gutenberg" in waiting
    assert "asked amid the message of a program" in waiting
    desk.ask(name, f"Remember that {said}")
    assert desk.notes() != [], "it is all that the program asks"


@pytest.fixture
def four(desk: Desk) -> Desk:
    desk.mdmemory("setup", "opencode")
    spare_npm(desk.home / ".config/opencode")
    return desk


def tell_opencode(desk: Desk, server: FakeServer, *texts: str) -> list[str]:
    """What OpenCode has in its prompt at each of these messages, in one new session."""
    before = len(server.turns)
    author = {"GIT_CONFIG_GLOBAL": str(desk.home / ".gitconfig")}
    with OpenCode(desk.project, desk.home, server.url, **author) as client:
        session = client.new_session()
        for text in texts:
            client.send(session, text)
    desk.settle()
    return [system_text(turn) for turn in server.turns[before:]]


def corrected(desk: Desk) -> dict[str, Any]:
    """The call that answers CHANGED."""
    fact = "Deploys go out on Tuesdays only."
    return {"fact": fact, "quote": CHANGED, "replaces": [desk.name_of(MONDAYS)]}


def lines(text: str, words: str) -> int:
    return sum(words in line for line in text.splitlines())


def test_what_opencode_is_told_each_other_assistant_knows_and_it_what_they_are_told(
    four: Desk, server: FakeServer
) -> None:
    four.mdmemory("add", MONDAYS)
    tell_opencode(four, server, "Keep in mind that I prefer short answers.")
    server.call("memory_store", **corrected(four))
    tell_opencode(four, server, CHANGED)
    for name in NAMES:
        request = four.ask(name, "What is the capital of France?")[0]
        assert [request.lines(words) for words in (ANSWERS, TUESDAYS, MONDAYS)] == [1, 1, 0], name
        four.ask(name, f"Remember that the desk of {name} is number {len(name)}0.")
    first, *_ = tell_opencode(four, server, "What is the capital of France?")
    for name in NAMES:
        assert lines(first, f"he desk of {name} is number") == 1


def test_forgetting_in_claude_code_counts_in_opencode_and_the_other_way_round(
    four: Desk, server: FakeServer
) -> None:
    four.mdmemory("add", "The printer is called Gutenberg")
    four.mdmemory("add", "The office dog is called Ada")
    gone = "Forget what I told you about the printer."
    printer = four.name_of("The printer is called Gutenberg")
    four.provider.call("memory_forget", names=[printer], quote=gone)
    four.ask("claude", gone)
    first, *_ = tell_opencode(four, server, "Hello")
    assert [lines(first, word) for word in ("Gutenberg", "called Ada")] == [0, 1]
    mine = "Forget what I told you about the office dog."
    server.call("memory_forget", names=[four.name_of("The office dog is called Ada")], quote=mine)
    tell_opencode(four, server, mine)
    assert four.notes() == [], json.dumps(server.turns[-1]["messages"][-1])
    assert four.ask("claude", "Hello")[0].count("Ada") == 0


ASKED = ("Which host do we use for staging?", "And when do deploys go out?")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_was_recalled_is_mined_again(desk: Desk, name: str) -> None:
    for fact in (BETA, "I prefer short answers", MONDAYS):
        desk.mdmemory("add", fact)
    before, history = desk.notes(), desk.mdmemory("log", "--json")
    desk.provider.say("Beta, and remember that I told you so.")
    first, *_ = desk.ask(name, ASKED[0])
    assert first.count("staging host is called beta") >= 1, "it was recalled, or is in the index"
    desk.ask(name, ASKED[1], again=True)
    read = desk.transcript(name)
    said = [turn.text for turn in read.turns if turn.role == "user"]
    assert said == list(ASKED), "the person's turns are what was typed, no more"
    desk.mdmemory("extract", f"--session={read.session}")
    assert (desk.notes(), desk.mdmemory("log", "--json")) == (before, history)
    assert json.loads(desk.mdmemory("review", "--json")) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_session_of_another_project_is_not_read(desk: Desk, name: str) -> None:
    other = desk.repository("other")
    desk.ask(name, ASKED[0])
    desk.ask(name, "Where do other people keep their hosts?", folder=other)
    listed = desk.mdmemory("session", "--json")
    assert len(json.loads(listed)) == 1, listed
    assert desk.transcript(name).session not in listed


TROUBLE = re.compile(
    r"mdmemory|hook[^\n]*(?:fail|error|block)|no such file|traceback|cancel", re.IGNORECASE
)
TURNS = 5  # in a bridge that did not start is tried again: after five seconds
RECEIPT = "Hook system message:"  # Gemini's for what a hook says to the person


def answered(bare: Desk, name: str, prompt: str = "Hello", folder: Path | None = None) -> None:
    """A turn succeeds, and nothing that a person reads has a word of trouble."""
    bare.provider.say("Good morning.")
    ran, _ = bare.turn(name, prompt, folder=folder)
    assert ran.output.strip() == "Good morning."
    lines = [line for line in ran.errors.splitlines() if not line.startswith(RECEIPT)]
    assert [line for line in lines if TROUBLE.search(line)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_bridge_that_is_killed_is_not_missed(bare: Desk, name: str) -> None:
    bare.set_up(name)
    answered(bare, name)
    assert bare.end() == 1, "one bridge for the store"
    answered(bare, name, f"Remember that {BETA.lower()}.")
    bare.end()
    (request,) = bare.ask(name, "Hello")
    assert request.lines("taging host is called beta") == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_is_gone_breaks_no_turn(bare: Desk, name: str) -> None:
    bare.set_up(name)
    launcher = bare.home / ".config/mdmemory/launch"
    text = launcher.read_text("utf-8")
    gone, changed = re.subn(r"(?m)^program=.*$", "program=/nowhere/mdmemory", text)
    assert changed == 1
    launcher.write_text(gone, "utf-8")
    answered(bare, name)
    launcher.unlink()
    answered(bare, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_home_that_is_copied_elsewhere_works_there(bare: Desk, name: str) -> None:
    bare.set_up(name)
    bare.mdmemory("add", BETA)
    answered(bare, name)
    old, new = bare.home, bare.move_home()
    bare.end()
    answered(bare, name)  # whose the copy of a project is that is still in its place, is asked
    old.rename(old.with_name("gone"))
    for _ in range(TURNS):
        answered(bare, name)
        if bare.processes(bridges=True):
            break
    (request,) = bare.ask(name, "Hello")
    assert request.lines(BETA) == 1
    assert str(old) not in request.text.replace(str(new), "")


SERVERS = {  # what a client says of a server by itself
    "claude": ["## mdmemory"],
    "codex": [],
    "gemini": ["The following are instructions provided by the tool server 'mdmemory':"],
}


def told(request: Request, word: str) -> list[str]:
    said = "\n".join((request.system, *request.users))
    return [line.strip() for line in said.splitlines() if word in line.lower()]


def is_skill(line: str) -> bool:
    """Whether a client lists a skill in this line: those of a person are there in all projects."""
    return line.startswith(("- mdmemory:", "<name>")) or "skills/mdmemory" in line


@pytest.mark.parametrize("name", NAMES)
def test_a_project_without_a_store_costs_one_tool_and_no_word(bare: Desk, name: str) -> None:
    other = bare.repository("other")
    (plain,) = bare.ask(name, "Hello", folder=other)
    bare.set_up(name)
    answered(bare, name, folder=other)
    wired = bare.provider.turns[-1]
    ours = [tool for tool in wired.tools if "memory" in tool and tool not in plain.tools]
    assert len(ours) <= 1
    assert [line for line in told(wired, "mdmemory") if not is_skill(line)] == SERVERS[name]
    assert not (other / ".mdmemory").exists()
    assert not (bare.home / "mdmemory" / "other").exists(), "a question makes no store"


@pytest.mark.parametrize("name", NAMES)
def test_removing_the_wiring_leaves_the_client_as_it_was(bare: Desk, name: str) -> None:
    bare.ask(name, "Hello")
    before = configuration(bare)
    bare.set_up(name)
    assert configuration(bare) != before
    answered(bare, name)
    bare.mdmemory("setup", "--remove", name)
    assert configuration(bare) == before
    (request,) = bare.ask(name, "Hello")
    assert request.count("memory_search") == 0


CONFIGURED = (".claude/settings.json", ".claude/skills", ".claude.json", ".codex/config.toml",
              ".codex/hooks.json", ".gemini/settings.json", ".agents")  # fmt: skip


def configuration(bare: Desk) -> dict[str, bytes]:
    """What a person would find in the files where clients are configured."""
    found = {}
    for place in CONFIGURED:
        path = bare.home / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                found[str(file.relative_to(bare.home))] = file.read_bytes()
    if own := found.get(".claude.json"):  # the client itself writes times and counts into it
        servers = json.loads(own).get("mcpServers", {})
        found[".claude.json"] = json.dumps(servers).encode()
    return found


LOGGED = """\
#!/bin/sh
echo "$@" >>"$HOME/called"
exec {} "$@"
"""


@pytest.fixture
def project(begin_store: BeginStore, repository: Path, empty_home: Path) -> Path:
    """A project with a store; the launcher notes how it is called."""
    memory = begin_store()
    memory.add("proxy", type="project", description="The proxy's port", body="It is 8080.")
    launcher = empty_home / ".config/mdmemory/launch"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(LOGGED.format(ROOT / ".venv/bin/mdmemory"))
    launcher.chmod(0o755)
    return repository


def called(home: Path) -> list[str]:
    return (home / "called").read_text().splitlines()


def run(client: Claude | Gemini, *words: str) -> str:
    done = subprocess.run(
        [client.program, *words], env=client.environment(), cwd=client.project, text=True,
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_claude_code_installs_the_plugin_and_takes_it_out_again(
    project: Path, empty_home: Path, provider: FakeProvider
) -> None:
    client = Claude(project, empty_home, provider.url)
    run(client, "plugin", "validate", str(ROOT))
    run(client, "plugin", "marketplace", "add", str(ROOT))
    run(client, "plugin", "install", "mdmemory@mdmemory")
    client.run("/mdmemory:remember the build needs Java 21")
    (first,) = [each for each in provider.turns if "Remember: the build" in each.text][:1]
    assert any(tool.endswith("memory_store") for tool in first.tools)
    assert first.count("mdmemory:mdmemory") > 0  # the skill
    assert called(empty_home).count("hook claude") >= 3
    assert "mcp --no-index" in called(empty_home)
    run(client, "plugin", "uninstall", "mdmemory@mdmemory")
    run(client, "plugin", "marketplace", "remove", "mdmemory")
    (empty_home / "called").unlink()
    client.run("Hello.")
    assert not (empty_home / "called").exists()


def test_where_setup_wired_claude_code_the_plugin_says_nothing(
    project: Path, empty_home: Path, provider: FakeProvider
) -> None:
    client = Claude(project, empty_home, provider.url)
    run(client, "plugin", "marketplace", "add", str(ROOT))
    run(client, "plugin", "install", "mdmemory@mdmemory")
    file = empty_home / ".claude/settings.json"
    settings = json.loads(file.read_text())
    hook = {"type": "command", "command": launcher.any_shell_line("hook claude")}
    settings["hooks"] = {"UserPromptSubmit": [{"hooks": [hook]}]}
    file.write_text(json.dumps(settings))
    ran = client.run("Hello.")
    assert called(empty_home) == ["hook claude"]  # set-up's own, and only once
    assert ran.errors == ""
    assert not any("memory_store" in tool for each in provider.turns for tool in each.tools)


def test_gemini_cli_links_the_extension(
    project: Path, empty_home: Path, provider: FakeProvider
) -> None:
    client = Gemini(project, empty_home, provider.url)
    run(client, "extensions", "link", str(ROOT / "templates/gemini/extension"), "--consent")
    client.run("/remember the build needs Java 21")
    asked = [user for each in provider.turns for user in each.users]
    assert any(user.startswith("Remember: the build needs Java 21") for user in asked)
    assert called(empty_home).count("hook gemini") >= 3
    assert "mcp --no-index" in called(empty_home)


NOTE = "---\nname: pnpm\ndescription: {}\nmetadata:\n  type: project\n---\n\n{}.\n"
PNPM = "Installs go by pnpm"


def test_what_claude_wrote_into_its_own_folder_is_taken_over(
    provider: FakeProvider, repository: Path, empty_home: Path
) -> None:
    claude = Claude(repository, empty_home, provider.url)
    claude.run("Hello")
    (place,) = (empty_home / ".claude" / "projects").glob("*/memory")
    provider.call("Write", file_path=str(place / "pnpm.md"), content=NOTE.format(PNPM, PNPM))
    claude.run("We use pnpm")
    layers = Memory.around(repository, automatic=True)
    assert own_memory_notes.take_in(layers, repository, os.environ)
    assert [each.note.head.description for each in Memory.open(repository).notes()] == [PNPM]
