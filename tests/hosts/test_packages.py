"""The packages that clients install by themselves, and how they start mdmemory; slash commands and
the skill: one source text, in the form that each client reads."""

import json
import os
import subprocess
import tomllib
from pathlib import Path

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import HUNG
from write_packages import EXTENSION, MARKETPLACE, PLUGIN, ROOT, files, present

from mdmemory.hosts import launcher, texts
from mdmemory.hosts.texts import COMMANDS, FORGET, REMEMBER, SKILL, UNDO, files_for, read_typed
from mdmemory.note.stamps import add_stamp, is_unedited

PACKAGES = {"claude": PLUGIN, "gemini": EXTENSION}
PATH = "/usr/bin:/bin"
SETTINGS = {"claude": ".claude/settings.json", "gemini": ".gemini/settings.json"}


def test_the_packages_are_what_texts_and_version_make_of_them() -> None:
    assert present() == files(), "run: python tests/write_packages.py"


def test_the_marketplace_names_a_plugin_that_is_there() -> None:
    (plugin,) = json.loads((ROOT / MARKETPLACE).read_text("utf-8"))["plugins"]
    assert (ROOT / plugin["source"] / ".claude-plugin/plugin.json").is_file()
    assert "version" not in plugin  # the plugin's own says it


def test_nothing_in_a_package_names_a_place_of_one_machine() -> None:
    for name, text in files().items():
        assert "/home/" not in text, name
        assert str(ROOT) not in text, name


def start(host: str, home: Path, *words: str, said: str = "", path: str = PATH) -> tuple[int, str]:
    """How the script of a package ends, and all that it prints."""
    done = subprocess.run(
        ["sh", str(ROOT / PACKAGES[host] / "start"), *words], input=said, text=True, timeout=HUNG,
        capture_output=True, env={"HOME": str(home), "PATH": path},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def program(path: Path, code: int = 0) -> Path:
    """A program that says how it was called."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0 $*"\ncat\nexit {code}\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("host", PACKAGES)
def test_a_hook_starts_the_launcher_else_the_program_on_the_path(host: str, tmp_path: Path) -> None:
    known = program(tmp_path / "bin/mdmemory")
    path = f"{known.parent}{os.pathsep}{PATH}"
    asked = (0, f"{known} hook {host}\n{{}}")
    assert start(host, tmp_path, "hook", said="{}", path=path) == asked
    launcher = program(tmp_path / ".config/mdmemory/launch")
    asked = (0, f"{launcher} hook {host}\n{{}}")
    assert start(host, tmp_path, "hook", said="{}", path=path) == asked
    assert start(host, tmp_path, "mcp", path=path) == (0, f"{launcher} mcp --no-index\n")


@pytest.mark.parametrize("host", PACKAGES)
def test_a_hook_is_silent_where_mdmemory_is_gone_or_fails(host: str, tmp_path: Path) -> None:
    assert start(host, tmp_path, "hook", said="{}") == (0, "")
    program(tmp_path / ".config/mdmemory/launch", code=2)
    assert start(host, tmp_path, "hook", said="{}")[0] == 0  # 2 would block the turn


@pytest.mark.parametrize("host", PACKAGES)
def test_a_package_leaves_a_client_to_setup_where_that_wired_it(host: str, tmp_path: Path) -> None:
    program(tmp_path / ".config/mdmemory/launch")
    file = tmp_path / SETTINGS[host]  # as `mdmemory setup` wires it
    file.parent.mkdir(parents=True)
    hook = {"type": "command", "command": launcher.any_shell_line(f"hook {host}")}
    file.write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}, indent=2))
    assert start(host, tmp_path, "hook", said="{}") == (0, "")
    assert start(host, tmp_path, "mcp") == (0, "")


def test_without_a_program_the_server_has_no_tools_and_no_error(tmp_path: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "resources/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "resources/read"}, {"method": "ping", "id": 4},
    ]  # fmt: skip
    said = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in asked)
    answers = [
        json.loads(line) for line in start("claude", tmp_path, "mcp", said=said)[1].split("\n")[:-1]
    ]
    assert [each["id"] for each in answers] == [0, "b", 2, 3, 4]
    assert answers[0]["result"]["protocolVersion"] == "2025-11-25"
    assert (answers[1]["result"], answers[4]["result"]) == ({"tools": []}, {})


HOSTS = ("claude", "codex", "gemini", "opencode")
PLACES = {
    "claude": "commands/{}.md", "codex": "skills/{}/SKILL.md", "gemini": "commands/{}.toml",
    "opencode": "command/{}.md",
}  # fmt: skip
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)


def prompt_of(host: str, name: str) -> str:
    text = files_for(host)[PLACES[host].format(name)]
    if host == "gemini":
        return str(tomllib.loads(text)["prompt"])
    return str(frontmatter.loads(text).content)


@pytest.mark.parametrize("host", HOSTS)
def test_each_client_gets_every_command_and_the_skill_with_a_description(host: str) -> None:
    files = files_for(host)
    assert files[SKILL].startswith("---\nname: mdmemory\n")
    for name in COMMANDS:
        text = files[PLACES[host].format(name)]
        head = tomllib.loads(text) if host == "gemini" else frontmatter.loads(text).metadata
        assert len(str(head["description"])) > 20


@pytest.mark.parametrize("host", HOSTS)
def test_a_command_says_the_same_in_each_client(host: str) -> None:
    for name in COMMANDS:
        said, source = prompt_of(host, name).strip(), prompt_of("opencode", name).strip()
        assert said.split("\n\n")[1:] == source.split("\n\n")[1:]


def test_the_place_of_the_arguments_is_what_the_client_fills_in() -> None:
    assert "$ARGUMENTS" in prompt_of("claude", REMEMBER)
    assert "{{args}}" in prompt_of("gemini", REMEMBER)
    assert "$ARGUMENTS" not in prompt_of("gemini", REMEMBER) + prompt_of("codex", REMEMBER)


def test_codex_starts_a_command_only_where_a_person_does() -> None:
    files = files_for("codex")
    for name in COMMANDS:
        assert "allow_implicit_invocation: false" in files[f"skills/{name}/agents/openai.yaml"]
    assert "skills/mdmemory/agents/openai.yaml" not in files  # that one a model reads by itself


def test_no_command_lets_claude_code_give_a_persons_answer_unasked() -> None:
    files = files_for("claude")
    assert "allowed-tools" not in files["commands/memory-review.md"]
    assert "Bash(mdmemory undo:*)" in files["commands/memory-undo.md"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_stamp_leaves_a_file_readable(host: str) -> None:
    for name, text in files_for(host).items():
        data = add_stamp(text, name)
        assert is_unedited(data)
        if name.endswith(".toml"):
            assert tomllib.loads(data.decode()) == tomllib.loads(text)
        elif name.endswith(".md"):
            assert frontmatter.loads(data.decode()).metadata == frontmatter.loads(text).metadata
        else:
            assert data.startswith(b"# ")


@given(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), st.sampled_from(COMMANDS))
def test_what_was_typed_is_found_in_each_clients_form(words: str, name: str) -> None:
    filled = prompt_of("gemini", name).replace("{{args}}", words)
    forms = (f"/{name} {words}", f"/{texts.PLUGIN}:{name} {words}", f"${name} {words}\n", filled)
    for form in forms:
        found = read_typed(form)
        assert (found.name, found.words) == (name, words)


def test_what_was_said_is_a_sentence_that_can_be_quoted() -> None:
    assert read_typed("/forget the proxy's port").said == "Forget the proxy's port"
    assert read_typed("$remember") == ("remember", "", "Remember:")


@pytest.mark.parametrize(
    "prompt",
    ["", "/", "$", "/ remember x", "remember x", "/remembering x", "$HOME is wrong", "/undo",
     "Forget the port", "/other:remember x", f"/{FORGET}: x", f"/{UNDO}x"],
)  # fmt: skip
def test_other_prompts_are_no_command_of_ours(prompt: str) -> None:
    assert read_typed(prompt) is None
