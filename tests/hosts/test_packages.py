"""The packages that clients install by themselves: what is in them, and how they start mdmemory."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pace import HUNG
from write_packages import EXTENSION, MARKETPLACE, PLUGIN, ROOT, files, present

from mdmemory.hosts import launcher
from mdmemory.version import VERSION

HOSTS = {"claude": PLUGIN, "gemini": EXTENSION}
SETTINGS = {"claude": ".claude/settings.json", "gemini": ".gemini/settings.json"}


def loaded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / name).read_text("utf-8"))
    return found


def test_the_packages_are_what_texts_and_version_make_of_them() -> None:
    assert present() == files(), "run: python tests/write_packages.py"


def test_both_packages_have_the_version_of_mdmemory() -> None:
    assert loaded(f"{PLUGIN}/.claude-plugin/plugin.json")["version"] == VERSION
    assert loaded(f"{EXTENSION}/gemini-extension.json")["version"] == VERSION


def test_the_marketplace_names_a_plugin_that_is_there() -> None:
    (plugin,) = loaded(MARKETPLACE)["plugins"]
    assert (ROOT / plugin["source"] / ".claude-plugin/plugin.json").is_file()
    assert "version" not in plugin  # the plugin's own says it


def test_nothing_in_a_package_names_a_place_of_one_machine() -> None:
    for name, text in files().items():
        assert "/home/" not in text, name
        assert str(ROOT) not in text, name


def start(
    host: str, home: Path, *words: str, said: str = "", path: str = "/usr/bin:/bin"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(ROOT / HOSTS[host] / "start"), *words], input=said, text=True, timeout=HUNG,
        capture_output=True, env={"HOME": str(home), "PATH": path},
    )  # fmt: skip


def program(path: Path, code: int = 0) -> Path:
    """A program that says how it was called."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0 $*"\ncat\nexit {code}\n')
    path.chmod(0o755)
    return path


def wire(host: str, home: Path) -> None:
    """As `mdmemory setup` does."""
    file = home / SETTINGS[host]
    file.parent.mkdir(parents=True, exist_ok=True)
    hook = {"type": "command", "command": launcher.any_shell_line(f"hook {host}")}
    file.write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}, indent=2))


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_starts_the_launcher_else_the_program_on_the_path(host: str, tmp_path: Path) -> None:
    known = program(tmp_path / "bin/mdmemory")
    path = f"{known.parent}{os.pathsep}/usr/bin:/bin"
    done = start(host, tmp_path, "hook", said="{}", path=path)
    assert (done.returncode, done.stdout) == (0, f"{known} hook {host}\n{{}}")
    launcher = program(tmp_path / ".config/mdmemory/launch")
    done = start(host, tmp_path, "hook", said="{}", path=path)
    assert done.stdout == f"{launcher} hook {host}\n{{}}"
    assert start(host, tmp_path, "mcp", path=path).stdout == f"{launcher} mcp --no-index\n"


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_is_silent_where_mdmemory_is_gone_or_fails(host: str, tmp_path: Path) -> None:
    done = start(host, tmp_path, "hook", said="{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    program(tmp_path / ".config/mdmemory/launch", code=2)
    assert start(host, tmp_path, "hook", said="{}").returncode == 0  # 2 would block the turn


@pytest.mark.parametrize("host", HOSTS)
def test_a_package_leaves_a_client_to_setup_where_that_wired_it(host: str, tmp_path: Path) -> None:
    program(tmp_path / ".config/mdmemory/launch")
    wire(host, tmp_path)
    assert start(host, tmp_path, "hook", said="{}").stdout == ""
    assert start(host, tmp_path, "mcp").stdout == ""


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
    done = start("claude", tmp_path, "mcp", said=said)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == [0, "b", 2, 3, 4]
    assert answers[0]["result"]["protocolVersion"] == "2025-11-25"
    assert answers[1]["result"] == {"tools": []}
    assert answers[4]["result"] == {}
