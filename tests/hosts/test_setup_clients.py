"""`mdmemory setup` for Claude Code, Codex, Gemini CLI and editors: put in, and taken out."""

import json
import logging
import os
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pace import HUNG
from rows import each, replace

from mdmemory import debugging
from mdmemory.cli import main
from mdmemory.hosts import clients, launcher
from mdmemory.note.stamps import add_stamp, drop_stamp

Say = Callable[..., tuple[int, str]]

# The words that every client's configuration holds. They never change: Codex trusts a hook by a
# hash of them.
STARTS = (
    'd="$XDG_CONFIG_HOME"; [ "$d" ] || d="$HOME/.config"; l="$d/mdmemory/launch"; '
    '[ -x "$l" ] || exit 0; exec "$l" '
)
HOOK = f"sh -c '{STARTS}hook %s'"
SERVER = f"{STARTS}mcp --no-index"
WIRED = ("claude", "codex", "gemini", "cursor", "vscode")
FILES = {
    "claude": [".claude/settings.json", ".claude.json"],
    "codex": [".codex/hooks.json", ".codex/config.toml"],
    "gemini": [".gemini/settings.json"],
    "cursor": [".cursor/mcp.json"],
    "vscode": [".config/Code/User/mcp.json"],
}
THEIRS = {
    ".claude/settings.json": '{\r\n\t"model": "opus", // mine\r\n\t"hooks": {"Stop": [{"hooks": '
    '[{"type": "command", "command": "say done"}]}]},\r\n\t"permissions": {"allow": []}\r\n}',
    ".claude.json": '\ufeff{"numStartups": 7, "mcpServers": {"x": {"command": "x"}}, "é": 1}\n\n',
    ".codex/hooks.json": "",
    ".codex/config.toml": '# mine\nmodel = "gpt"\n\n[mcp_servers.other] # why\ncommand = "o"',
    ".gemini/settings.json": '{ "hooks": {}, "mcpServers": {} }',
    ".cursor/mcp.json": "{}",
    ".config/Code/User/mcp.json": '{\n    // all\n    "servers": {\n    },\n}\n',
    ".config/opencode/opencode.json": '{\n  // mine\n  "model": "a/b",\n}\n',
    ".config/opencode/plugin/other.ts": "export default async () => ({})\n",
    ".config/opencode/command/mine.md": "Do it.\n",
}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def found(folder: Path) -> str:
    """What doctor finds of the clients."""
    return "\n".join(clients.client_findings(os.environ, folder))


@pytest.fixture
def lived_in(empty_home: Path) -> Path:
    """A home in which every client has settings, laid out in its own way."""
    for name, text in THEIRS.items():
        put(empty_home / name, text).chmod(0o600)
    (empty_home / ".config/opencode/skills").mkdir()
    return empty_home


def tree(folder: Path) -> dict[str, tuple[bytes | None, int]]:
    """All files with their bytes and permissions, and all folders."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes() if path.is_file() else None,
            path.stat().st_mode & 0o777 if path.is_file() else 0,
        )
        for path in folder.rglob("*")
    }


def data(path: Path) -> Any:
    """What a file of settings says, comments of a person's own aside."""
    return json.loads(path.read_text(encoding="utf-8-sig").replace("// mine", ""))


def commands(hooks: dict[str, Any]) -> dict[str, list[str]]:
    """The commands of each event."""
    return {
        event: [hook["command"] for group in groups for hook in group["hooks"]]
        for event, groups in hooks.items()
    }


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_each_client_gets_a_hook_for_its_four_events(
    client: str, empty_home: Path, say: Say
) -> None:
    assert say(client)[0] == 0
    turn = ["BeforeAgent", "AfterAgent"] if client == "gemini" else ["UserPromptSubmit", "Stop"]
    settings = data(empty_home / FILES[client][0])
    hooks = settings["hooks"]
    events = ["SessionStart", *turn, "SessionEnd"]
    assert commands(hooks) == {event: [HOOK % client] for event in events}
    if client == "claude":
        assert {group[0]["hooks"][0]["timeout"] for group in hooks.values()} == {30}
        assert settings["permissions"]["allow"] == ["mcp__mdmemory"]
        assert (empty_home / ".claude/skills/mdmemory/SKILL.md").is_file()
    if client == "codex":
        last = hooks["SessionEnd"][0]["hooks"][0]
        assert last["timeout"] <= 3, "Codex warns of more at each start"


def test_each_client_gets_a_server_in_its_form(empty_home: Path, say: Say) -> None:
    def server(client: str, where: str = "mcpServers") -> dict[str, Any]:
        text = (empty_home / FILES[client][-1]).read_text()
        config = tomllib.loads(text) if client == "codex" else json.loads(text)
        return dict(config[where]["mdmemory"])

    code, said = say(*WIRED)
    assert (code, "was not run here" in said) == (0, True), said
    assert server("claude") == {
        "command": "sh", "args": ["-c", SERVER], "type": "stdio", "alwaysLoad": True,
    }  # fmt: skip
    assert (empty_home / ".claude.json").stat().st_mode & 0o777 == 0o600
    codex, gemini = server("codex", "mcp_servers"), server("gemini")
    assert codex["args"] == gemini["args"] == ["-c", SERVER]
    assert "XDG_CONFIG_HOME" in codex["env_vars"], "Codex hands on none by itself"
    assert "required" not in codex, "it would stop Codex where mdmemory is gone"
    assert gemini["trust"] is True, "it shows its tools"
    for editor in (server("cursor"), server("vscode", "servers")):  # instructions bring the index
        assert editor["args"][1] == SERVER.removesuffix(" --no-index")


def test_what_is_written_holds_everywhere(empty_home: Path, say: Say) -> None:
    say(*WIRED)
    text = "".join((empty_home / name).read_text() for names in FILES.values() for name in names)
    # no version, no home, and no variable that an editor would fill in
    for word in (str(empty_home), "site-packages", ".venv", "${"):
        assert word not in text.replace("${workspaceFolder}", "")
    # one word in single quotes: fish, csh and nushell take it as `sh` does
    program, option, script = shlex.split(HOOK % "claude")
    assert (program, option) == ("sh", "-c")
    assert not {"'", "\\", "!", "\n"} & {*script}


def test_the_command_runs_the_launcher_and_is_silent_without(
    empty_home: Path, tmp_path: Path
) -> None:
    def run(**more: str) -> tuple[int, str]:
        words = ["sh", "-c", launcher.any_shell_line("hook claude")]
        done = subprocess.run(
            words, env={**os.environ, **more}, capture_output=True, text=True, timeout=HUNG,
            check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    assert run() == (0, "")
    for folder in (empty_home / ".config", tmp_path / "a b"):
        path = folder / "mdmemory/launch"
        path.parent.mkdir(parents=True)
        path.write_text('#!/bin/sh\necho "$@" from ' + shlex.quote(folder.name))
        path.chmod(0o755)
    assert run() == (0, "hook claude from .config\n")
    assert run(XDG_CONFIG_HOME=str(tmp_path / "a b")) == (0, "hook claude from a b\n")


AGAIN = (0, "All is in place; nothing changed.\n")


@pytest.mark.parametrize("client", [*WIRED, "opencode", "all"])
@pytest.mark.parametrize("home", ["lived_in", "empty_home"])
def test_what_was_put_in_is_taken_out_byte_for_byte(
    client: str, home: str, empty_home: Path, say: Say, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(home)
    before, names = tree(empty_home), (*WIRED, "opencode") if client == "all" else (client,)
    code, said = say(*names)
    assert code == 0, said
    wired = tree(empty_home)
    assert wired != before
    assert {wired[name][1] for name in before if name in THEIRS} <= {0o600}
    code, said = say("--remove")
    assert code == 0, said
    assert tree(empty_home) == before
    assert say("--remove") == (0, "Nothing to remove.\n")


def test_setup_ends_in_five_lines_and_names_each_file_where_that_is_asked_for(
    empty_home: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debugging, "logger", logging.getLogger("quiet"))
    (empty_home / ".claude").mkdir()
    lines = say("claude")[1].splitlines()
    begins = ("Connected, for all your projects: Claude Code.", f"Notes will lie in {empty_home}",
              "Changed: ", 'Next: start them again, and say "Remember', "To take all")  # fmt: skip
    assert all(map(str.startswith, lines, begins)), lines
    assert len(lines) == 5
    assert "SKILL.md" in say("--remove", "--dry-run")[1]
    _, said = say("--remove", "--verbose")
    _, again = say("claude", "--verbose")
    (installed,) = [line for line in again.splitlines() if line.startswith("Installed ")]
    assert installed.replace("Installed", "Removed") in said.splitlines()
    assert "Next:" not in said + say("claude", "--dry-run")[1]


@pytest.mark.parametrize("key", ["openai.api_key", "search.embedding_key", "planner"])
def test_removal_names_a_settings_file_with_a_key_that_stays(key: str, say: Say) -> None:
    say("cursor")
    main(["config", "set", "--global", key, "offline"])
    file = launcher.launcher_place().with_name("config.toml")
    assert (f"{file} stays, with an API key in it." in say("--remove")[1]) == ("key" in key)
    assert file.is_file()


def test_a_dry_run_names_each_file_and_writes_none(lived_in: Path, say: Say) -> None:
    for words in ((), ("--remove",)):
        before = tree(lived_in)
        code, said = say(*WIRED, "--dry-run", *words)
        assert code == 0
        for name in (name for names in FILES.values() for name in names):
            assert str(lived_in / name) in said
        assert tree(lived_in) == before
        say(*WIRED)


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def test_where_the_rest_was_edited_since_only_ours_goes(lived_in: Path, say: Say) -> None:
    changes = {
        ".claude/settings.json": ('"model": "opus", // mine', '"model": "haiku", // now'),
        ".claude.json": ('"numStartups": 7', '"numStartups": 8, "tips": [1, 2]'),
        ".codex/config.toml": ('model = "gpt"', 'model = "other" # since'),
        ".gemini/settings.json": ("{ ", '{ "ui": {"theme": "a"}, '),
    }
    say(*WIRED)
    for name, (old, new) in changes.items():
        edited(lived_in / name, old, new)
    assert say("--remove")[0] == 0
    for name, (old, new) in changes.items():
        assert (lived_in / name).read_bytes().decode() == THEIRS[name].replace(old, new), name


def test_a_tool_that_a_person_allows_in_codex_makes_no_wiring_of_ours_another_one(
    lived_in: Path, say: Say
) -> None:
    path = lived_in / ".codex/config.toml"
    say("codex")
    allowed = b'\n[mcp_servers.mdmemory.tools.memory_store]\napproval_mode = "approve"\n'
    path.write_bytes(path.read_bytes() + allowed)
    assert say("codex") == AGAIN
    assert "edited" not in found(lived_in)
    say("codex", "--remove")
    assert path.read_text().rstrip() == THEIRS[".codex/config.toml"].rstrip()


def test_a_hook_that_a_person_put_beside_ours_stays(lived_in: Path, say: Say) -> None:
    path = lived_in / ".claude/settings.json"
    say("claude")
    settings, theirs = data(path), {"type": "command", "command": "mine"}
    settings["hooks"]["SessionStart"][0]["hooks"].append(theirs)
    path.write_text(json.dumps(settings), "utf-8")
    say("claude", "--remove")
    left = data(path)["hooks"]
    assert left["SessionStart"] == [{"hooks": [theirs]}]
    assert commands(left)["Stop"] == ["say done"]


def test_without_our_record_ours_is_found_by_what_it_starts(lived_in: Path, say: Say) -> None:
    say(*WIRED)
    (lived_in / ".local/state/mdmemory/wiring.json").unlink()
    assert say(*WIRED) == AGAIN
    assert say("--remove")[0] == 0
    left = {name: (lived_in / name).read_text("utf-8") for name in THEIRS}
    for name in (".claude.json", ".codex/config.toml"):
        assert left[name].strip() == THEIRS[name].strip(), name
    assert "mdmemory" not in "".join(left.values())


@pytest.mark.parametrize("odd", ["a link", "a folder", "read-only", "no JSON"])
def test_a_file_that_cannot_be_changed_is_named_before_others(
    odd: str, lived_in: Path, say: Say
) -> None:
    path = lived_in / ".gemini/settings.json"
    if odd == "read-only":
        path.chmod(0o444)
    elif odd == "no JSON":
        path.write_text("{")
    else:
        path.rename(lived_in / "elsewhere")
        path.mkdir() if odd == "a folder" else path.symlink_to(lived_in / "elsewhere")
    before = tree(lived_in)
    code, said = say("claude", "gemini")
    assert (code, str(path) in said) == (1, True), said
    assert said.endswith("For the others: `mdmemory setup claude`.\n"), said
    assert tree(lived_in) == before
    assert say("claude")[0] == 0


def test_a_command_of_the_persons_by_our_name_stays_theirs(empty_home: Path, say: Say) -> None:
    path = put(empty_home / ".claude/commands/remember.md", "mine")
    assert f"Left {path} as it is: it is not ours." in say("claude")[1]
    assert found(empty_home) == ""
    say("--remove")
    assert path.read_text() == "mine"


def test_a_permission_that_a_person_gave_before_stays(empty_home: Path, say: Say) -> None:
    path = put(
        empty_home / ".claude/settings.json", '{"permissions": {"allow": ["mcp__mdmemory"]}}'
    )
    before = tree(empty_home)
    assert say("claude")[0] == 0
    assert data(path)["permissions"]["allow"] == ["mcp__mdmemory"]
    assert say("--remove")[0] == 0
    assert tree(empty_home) == before


def test_a_home_that_was_copied_is_itself_again_and_the_first_one_stays_wired(
    lived_in: Path, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, copy = tree(lived_in), tmp_path / "copy"
    say(*WIRED)
    wired = tree(lived_in)
    shutil.copytree(lived_in, copy)
    monkeypatch.setenv("HOME", str(copy))
    assert say(*WIRED) == AGAIN
    assert say("--remove")[0] == 0
    assert (tree(copy), tree(lived_in)) == (before, wired)


def test_a_place_that_a_variable_named_has_all_of_it_and_is_left(
    lived_in: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, work = tree(lived_in), lived_in / "work"
    with monkeypatch.context() as elsewhere:
        for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
            elsewhere.setenv(variable, str(work))
        say(*WIRED)
    now = tree(lived_in)
    kept = {name for name in before if name.startswith((".claude", ".codex", ".gemini"))}
    assert {name for name in now if name.startswith((".claude", ".codex", ".gemini"))} == kept
    assert {"settings.json", ".claude.json", "skills"} <= {path.name for path in work.iterdir()}
    assert say("claude", "--remove")[0] == 0
    assert "hook gemini" in (work / ".gemini/settings.json").read_text()
    assert say("--remove")[0] == 0
    assert tree(lived_in) == before


ROWS: list[tuple[str, dict[str, str], dict[str, bytes], str]] = [
    # the home's name, variables that are gone at the removal, the person's files, the refusal
    ("Zoë's \"new\" home", {}, {}, ""),
    ("a$HOME `x` \\b", {}, {".codex/config.toml": b"[[x]]\na = 1\n[[x]]\na = 2"}, ""),
    ("Jo\u0308rg", {"XDG_DATA_HOME": "my data", "XDG_STATE_HOME": ""}, {}, ""),
    ("h", {"XDG_CONFIG_HOME": "conf ig's"}, {}, ""),
    ("h", {"XDG_CONFIG_HOME": "cfg"}, {"cfg/opencode/opencode.jsonc": b"{ // c\n}"}, ""),
    ("h", {"CODEX_HOME": "work/codex é"}, {}, ""),
    ("h", {"CODEX_HOME": "my codex"}, {"my codex/config.toml": b'model = "x"\n'}, ""),
    ("h", {"GEMINI_CLI_HOME": "gem ini", "CLAUDE_CONFIG_DIR": "cl/"}, {}, ""),
    ("h", {}, {".claude.json": b"{\r\n}\r\n",
               ".claude/settings.json": b"\xef\xbb\xbf{\r\n  // a\r\n"
               b'  "permissions": {\r\n "allow": [\r\n "Bash(ls)", /* x */\r\n ],\r\n},\r\n}'}, ""),
    ("h", {}, {".codex/config.toml": b"\xef\xbb\xbf# hi\r\n[mcp_servers]\r\n\r\n[p.x]\r\na=1"}, ""),
    ("h", {}, {".codex/config.toml": b"notes = \'\'\'\n[mcp_servers.mdmemory]\n\'\'\'\n"}, ""),
    ("h", {}, {".codex/config.toml": b'mcp_servers.a.command = "x"\nmodel = "y"\n'}, ""),
    ("h", {}, {".claude.json": b'{"p\\u00fc": "\\ud800", "n": 12345678901234567890.5e5}\n'}, ""),
    ("h", {}, {".claude/settings.json": b'{"hooks": {"Stop": []}, "hooks": {"Stop": []}}'}, ""),
    ("h", {}, {".cursor/mcp.json": b' { "mcpServers" : { "x" : { "command" : "y" } } }  '}, ""),
    ("h", {}, {".config/mdmemory": b"mine"}, "mdmemory is no folder. Move it"),
    ("h", {}, {".gemini": b"link"}, ".gemini is a link that leads nowhere. Move it"),
    ("h", {}, {".config/opencode": b"link"}, "opencode is a link that leads nowhere. Move it"),
    ("h", {}, {".local": b"mine"}, "Not a directory. Nothing was changed"),
]  # fmt: skip


@pytest.mark.slow
def test_each_byte_of_a_home_is_as_it_was_once_all_is_removed_again(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(number: int, row: tuple[str, dict[str, str], dict[str, bytes], str]) -> None:
        name, variables, files, refusal = row
        about = " ".join([*files, *variables]).lower()
        names = [each for each in (*WIRED, "opencode") if each in about] or [*WIRED, "opencode"]
        home = tmp_path / str(number) / name
        for file, content in files.items():
            path = home / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to("nowhere") if content == b"link" else path.write_bytes(content)
        home.mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("HOME", str(home))
        before = tree(home)
        for _ in range(2):
            with monkeypatch.context() as elsewhere:
                for variable, folder in variables.items():
                    elsewhere.setenv(variable, folder and str(home / folder))
                code, answer = say(*names)
                assert (code, refusal in answer) == (int(bool(refusal)), True), answer
                wired = tree(home)
                assert refusal or say(*names)[1].startswith("All is in place")
                assert tree(home) == (before if refusal else wired)
            say("--remove")
            assert tree(home) == before

    each(enumerate(ROWS), check)


def test_a_new_version_replaces_ours_alone(lived_in: Path, say: Say) -> None:
    before, settings = tree(lived_in), lived_in / ".claude/settings.json"
    with pytest.MonkeyPatch.context() as patch:
        old = replace(clients._BY_NAME["claude"], hooks=clients.HookSettings("settings.json", 20))
        patch.setitem(clients._BY_NAME, "claude", old)
        say("claude")
    skill = lived_in / ".claude/skills/mdmemory/SKILL.md"
    skill.write_bytes(add_stamp(drop_stamp(skill.read_text("utf-8")), skill.name, "0.0.9"))
    said = found(lived_in).splitlines()
    assert any("hooks.Stop" in each and "another version" in each for each in said), said
    assert any("is of mdmemory 0.0.9" in each for each in said), said
    _, told = say("claude", "--dry-run")
    assert ("Updated in" in told, f"Updated {skill}" in told) == (True, True), told
    say("claude")
    text = settings.read_text("utf-8")
    assert ('"timeout": 30' in text, '"timeout": 20' in text) == (True, False)
    assert found(lived_in) == ""
    say("--remove")
    assert tree(lived_in) == before


def test_what_a_person_changed_in_ours_stays_and_is_named(empty_home: Path, say: Say) -> None:
    say("gemini")
    path = empty_home / ".gemini/settings.json"
    edited(path, '"trust": true', '"trust": false')
    before = path.read_bytes()
    code, said = say("gemini")
    assert (code, said.startswith("Left mcpServers.mdmemory in")) == (0, True), said
    assert path.read_bytes() == before
    (told,) = [each for each in found(empty_home).splitlines() if "edited" in each]
    assert "mcpServers.mdmemory" in told


def test_a_server_of_the_persons_own_stays_and_is_named(empty_home: Path, say: Say) -> None:
    mine = '{"mcpServers": {"mdmemory": {"command": "mdmemory", "args": ["mcp"]}}}'
    path = put(empty_home / ".claude.json", mine)
    code, said = say("claude")
    assert (code, f"Left mcpServers.mdmemory in {path}" in said) == (0, True), said
    assert path.read_text() == mine
    assert "is not ours" in found(empty_home)
    say("--remove")
    assert path.read_text() == mine


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        (".claude.json", b'{"a": 1,,}', "line 1, column 9"),
        (".claude/settings.json", b'{"hooks": []}', "line 1, column 11"),
        (".claude/settings.json", b'{"hooks": null}', "An object was expected"),
        (".claude/settings.json", b'{"permissions": {"allow": 3}}', "line 1, column 27"),
        (".codex/config.toml", b"a = 1\nb = \n", "line 2"),
        (".codex/config.toml", b'mcp_servers = {x = {command = "x"}}\n', "mcp_servers"),
        (".gemini/settings.json", b"[1]", "line 1, column 1"),
        (".gemini/settings.json", b"\xff\xfe{}", "not UTF-8"),
    ],
)
def test_a_file_that_is_not_valid_is_refused_before_the_first_byte(
    name: str, text: bytes, where: str, lived_in: Path, say: Say
) -> None:
    (lived_in / name).write_bytes(text)
    before = tree(lived_in)
    code, said = say(*WIRED)
    assert code == 1
    for words in (str(lived_in / name), where, "nothing was written"):
        assert words in said
    assert tree(lived_in) == before


def test_a_folder_behind_a_link_is_the_persons_way_to_keep_settings(
    empty_home: Path, say: Say, tmp_path: Path
) -> None:
    (empty_home / ".claude").symlink_to(tmp_path)
    assert say("claude")[0] == 0
    assert (tmp_path / "settings.json").is_file()
    assert say("claude", "--remove")[0] == 0
    assert [*tmp_path.iterdir()] == []


def test_without_names_the_installed_are_wired_and_a_named_one_that_is_not_there(
    empty_home: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (empty_home / ".gemini").mkdir()
    code, said = say()
    assert (code, "Connected, for all your projects: Gemini CLI.\n" in said) == (0, True)
    assert {path.name for path in empty_home.iterdir()} == {".gemini", ".config", ".local"}
    code, said = say("codex")
    assert (code, "Codex is not installed here" in said) == (0, True), said


def test_the_launcher_goes_with_the_last_client(say: Say) -> None:
    say("claude", "opencode")
    for client, is_left in (("claude", True), ("opencode", False)):
        say(client, "--remove")
        assert launcher.launcher_place().exists() is is_left


def test_no_client_sees_the_skill_twice(empty_home: Path, say: Say) -> None:
    ours = empty_home / ".config/opencode/skills/mdmemory/SKILL.md"
    claudes = empty_home / ".claude/skills/mdmemory/SKILL.md"
    say("opencode")
    assert ours.is_file()
    say("claude")
    assert (ours.exists(), claudes.exists()) == (False, True), "OpenCode reads Claude's, too"
    assert say("opencode", "claude") == AGAIN
    say("--remove")
    say("opencode", "claude")
    assert not ours.exists(), "nor is it written first, and then removed"
    assert say("opencode", "claude") == AGAIN
    say("claude", "--remove")
    assert (ours.exists(), claudes.exists()) == (True, False)
    assert not (empty_home / ".agents").exists()
    say("--remove")
    assert tree(empty_home) == {}


@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_package_of_ours_is_carrier_enough(client: str, empty_home: Path, say: Say) -> None:
    if client == "claude":
        plugins = '{"enabledPlugins": {"mdmemory@mdmemory": true}}'
        put(empty_home / ".claude/settings.json", plugins)
    else:
        (empty_home / ".gemini/extensions/mdmemory").mkdir(parents=True)
    before = tree(empty_home)
    code, said = say(client)
    assert (code, "already" in said, launcher.launcher_place().is_file()) == (0, True, True), said
    assert before.items() <= tree(empty_home).items()
    assert say(client) == AGAIN


def test_both_a_plugin_and_a_wiring_are_named(empty_home: Path, say: Say) -> None:
    say("gemini", "claude")
    (empty_home / ".gemini/extensions/mdmemory").mkdir(parents=True)
    plugins = '"enabledPlugins": {"mdmemory@x": true},'
    edited(empty_home / ".claude/settings.json", '{\n  "hooks"', f'{{\n  {plugins} "hooks"')
    assert found(empty_home).count("each hook runs twice") == 2


def test_doctor_names_a_wiring_of_which_a_half_is_missing(empty_home: Path, say: Say) -> None:
    assert found(empty_home) == ""
    say("claude")
    assert found(empty_home) == ""
    (empty_home / ".claude.json").unlink()
    assert "mcpServers.mdmemory is not there. Run `mdmemory setup claude`" in found(empty_home)


def test_before_the_first_store_doctor_and_status_look_at_the_assistants(
    empty_home: Path, say: Say, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(empty_home)
    for command in ("doctor", "status"):
        assert main([command]) == 1, "nothing is connected, and there is no store"
    assert say("codex")[0] == 0
    for command, told in (("doctor", "Start `codex` once"), ("status", "assistants  Codex")):
        capsys.readouterr()
        assert main([command]) == 0
        printed = capsys.readouterr().out
        assert "There is no store yet." in printed
        assert told in printed


def test_doctor_sees_whether_codex_was_asked_to_trust_the_hooks(empty_home: Path, say: Say) -> None:
    say("codex")
    assert "Start `codex` once" in found(empty_home)
    config, hooks = (empty_home / ".codex" / name for name in ("config.toml", "hooks.json"))
    trusting = config.read_text()
    for event in ("session_start", "user_prompt_submit", "stop", "session_end"):
        trusting += f'\n[hooks.state."{hooks}:{event}:0:0"]\ntrusted_hash = "sha256:1"\n'
    config.write_text(trusting)
    assert found(empty_home) == ""
    config.write_text(trusting.replace(':stop:0:0"]', ':stop:0:0"]\nenabled = false'))
    assert "are switched off in Codex" in found(empty_home)
    config.write_text(trusting + "\n[features]\nhooks = false\n")
    assert "switches hooks off" in found(empty_home)


def test_doctor_sees_whether_gemini_trusts_a_folder(
    empty_home: Path, say: Say, tmp_path: Path
) -> None:
    say("gemini")
    project = tmp_path / "p"
    project.mkdir()
    assert "does not trust" in found(project)
    trusted = empty_home / ".gemini/trustedFolders.json"
    for rules, is_trusted in (
        ({str(tmp_path): "TRUST_FOLDER"}, True),
        ({str(project / "x"): "TRUST_PARENT"}, True),
        ({str(tmp_path): "TRUST_FOLDER", str(project): "DO_NOT_TRUST"}, False),
        ({f"{project}x": "TRUST_FOLDER"}, False),
    ):
        trusted.write_text(json.dumps(rules))
        assert (found(project) == "") is is_trusted, rules


def test_doctor_and_status_hold_on_files_that_are_not_valid(empty_home: Path, say: Say) -> None:
    say("codex", "gemini")
    (empty_home / ".gemini/settings.json").write_text("{")
    (empty_home / ".codex/config.toml").write_text("=")
    assert found(empty_home)
