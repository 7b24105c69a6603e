"""Slash commands and the skill: one source text, in the form that each client reads."""

import tomllib

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.hosts import texts
from mdmemory.hosts.texts import COMMANDS, FORGET, REMEMBER, SKILL, UNDO, files_for, read_typed
from mdmemory.note.stamps import add_stamp, is_unedited

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
        assert found is not None
        assert (found.name, found.words) == (name, words)


def test_what_was_said_is_a_sentence_that_can_be_quoted() -> None:
    found = read_typed("/forget the proxy's port")
    assert found is not None
    assert found.said == "Forget the proxy's port"
    found = read_typed("$remember")
    assert found is not None
    assert (found.words, found.said) == ("", "Remember:")


@pytest.mark.parametrize(
    "prompt",
    ["", "/", "$", "/ remember x", "remember x", "/remembering x", "$HOME is wrong", "/undo",
     "Forget the port", "/other:remember x", f"/{FORGET}: x", f"/{UNDO}x"],
)  # fmt: skip
def test_other_prompts_are_no_command_of_ours(prompt: str) -> None:
    assert read_typed(prompt) is None
