"""The plugin and the extension, installed by the real clients as docs/clients.md says."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from assistants import ROOT, Claude, Gemini
from fake_provider import FakeProvider
from stores import BeginStore

from mdmemory.hosts import launcher

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

LOGGED = """\
#!/bin/sh
echo "$@" >>"$HOME/called"
exec {} "$@"
"""


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as served:
        yield served


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


def say(client: Claude | Gemini, *words: str) -> str:
    done = subprocess.run(
        [client.program, *words], env=client.environment(), cwd=client.project, text=True,
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_claude_code_installs_the_plugin_and_takes_it_out_again(
    project: Path, empty_home: Path, provider: FakeProvider
) -> None:
    client = Claude(project, empty_home, provider.url)
    say(client, "plugin", "validate", str(ROOT))
    say(client, "plugin", "marketplace", "add", str(ROOT))
    say(client, "plugin", "install", "mdmemory@mdmemory")
    client.run("/mdmemory:remember the build needs Java 21")
    (first,) = [each for each in provider.turns if "Remember: the build" in each.text][:1]
    assert any(tool.endswith("memory_store") for tool in first.tools)
    assert first.count("mdmemory:mdmemory") > 0  # the skill
    assert called(empty_home).count("hook claude") >= 3
    assert "mcp --no-index" in called(empty_home)
    say(client, "plugin", "uninstall", "mdmemory@mdmemory")
    say(client, "plugin", "marketplace", "remove", "mdmemory")
    (empty_home / "called").unlink()
    client.run("Hello.")
    assert not (empty_home / "called").exists()


def test_where_setup_wired_claude_code_the_plugin_says_nothing(
    project: Path, empty_home: Path, provider: FakeProvider
) -> None:
    client = Claude(project, empty_home, provider.url)
    say(client, "plugin", "marketplace", "add", str(ROOT))
    say(client, "plugin", "install", "mdmemory@mdmemory")
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
    say(client, "extensions", "link", str(ROOT / "templates/gemini/extension"), "--consent")
    client.run("/remember the build needs Java 21")
    asked = [user for each in provider.turns for user in each.users]
    assert any(user.startswith("Remember: the build needs Java 21") for user in asked)
    assert called(empty_home).count("hook gemini") >= 3
    assert "mcp --no-index" in called(empty_home)
