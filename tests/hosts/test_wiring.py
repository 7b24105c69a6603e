"""The plugin or the MCP server, never both; what npm would do; what doctor says of all that."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mdmemory.cli import main
from mdmemory.hosts.opencode import checks, wiring
from mdmemory.hosts.opencode.files import CONFIGURATION, NAMES, PLUGIN, Wanted
from mdmemory.hosts.opencode.places import Place
from mdmemory.note.stamps import is_unedited, stamped, version_of

COMMAND = [sys.executable, "-P", "-m", "mdmemory"]
SERVER = {"type": "local", "command": [*COMMAND, "mcp"], "enabled": True}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "notes/memory").mkdir(parents=True)
    (folder / "notes/memory/MEMORY.md").write_text("# Memory index\n", encoding="utf-8")
    return folder


def place(project: Path) -> Place:
    return Place(project, project / "notes/memory")


def wire(project: Path, **more: Any) -> list[str]:
    wanted = Wanted("# Memory\n", COMMAND)
    return wiring.install(place(project), wanted, **more)


def unwire(project: Path) -> list[str]:
    return wiring.remove(place(project))


def examine(project: Path, command: list[str] | None = None) -> list[str]:
    return checks.examine(place(project), command or COMMAND, project.parent / "nowhere")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def configured(project: Path) -> dict[str, object]:
    """The configuration of ours, below its stamp."""
    text = (project / ".opencode" / CONFIGURATION).read_text(encoding="utf-8")
    return dict(json.loads(text.partition("\n")[2]))


# --- stamps ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "begins"),
    [
        ("P.md", "# P\n", "<!-- mdmemory: "),
        ("p.ts", "export default 1\n", "// mdmemory: "),
        ("o.json", "{}\n", "// mdmemory: "),
        ("c.md", "---\ndescription: c\n---\nC\n", "---\n# mdmemory: "),
    ],
)
def test_an_installed_file_tells_its_version_and_whether_it_was_edited(
    name: str, text: str, begins: str
) -> None:
    data = stamped(text, name, "1.2.3")
    assert data.decode().startswith(begins)
    assert version_of(data) == "1.2.3"
    for same in (data, data.replace(b"\n", b"\r\n")):
        assert is_unedited(same)
    assert not is_unedited(data + b" ")
    assert not is_unedited(text.encode())


# --- plugin and server -------------------------------------------------------------------------


def test_the_plugin_starts_this_very_mdmemory(project: Path) -> None:
    wire(project)
    source = (project / ".opencode" / PLUGIN).read_text(encoding="utf-8")
    assert json.dumps(COMMAND) in source
    assert examine(project) == []


def test_all_of_it_goes_as_it_came(project: Path) -> None:
    (project / "opencode.jsonc").write_text('{\n  "model": "a/b" // mine\n}\n', encoding="utf-8")
    (project / ".opencode/command").mkdir(parents=True)
    (project / ".opencode/command/mine.md").write_text("Mine.\n", encoding="utf-8")
    before = snapshot(project)
    for mcp in (False, True):
        wire(project, mcp=mcp)
        assert snapshot(project) != before
        unwire(project)
        assert snapshot(project) == before
        assert unwire(project) == []


def test_a_server_stands_in_place_of_the_plugin_and_the_other_way_round(project: Path) -> None:
    wire(project, mcp=True)
    assert configured(project) == {
        "$schema": "https://opencode.ai/config.json",
        "instructions": [str(each) for each in place(project).wanted],
        "mcp": {"mdmemory": SERVER},
    }
    assert not (project / ".opencode" / PLUGIN).exists()
    assert not (project / ".opencode/package.json").exists()
    assert examine(project) == []
    assert "Removed from .opencode: opencode.json." in wire(project)
    assert (project / ".opencode" / PLUGIN).exists()
    said = wire(project, mcp=True)
    assert "Removed from .opencode: plugin/mdmemory.ts." in said
    assert not (project / ".opencode/node_modules").exists()


def test_a_server_that_a_person_set_up_stays_and_is_told(project: Path) -> None:
    mine = {"type": "local", "command": ["uvx", "mdmemory", "mcp"], "timeout": 9}
    text = json.dumps({"mcp": {"mdmemory": mine}})
    (project / "opencode.json").write_text(text, "utf-8")
    wire(project)
    assert any("both bring our tools" in sentence for sentence in examine(project))
    wire(project, mcp=True)
    assert "mcp" not in configured(project), "one of the name is enough"
    unwire(project)
    assert (project / "opencode.json").read_text("utf-8") == text


def test_a_persons_configuration_at_our_place_stays_and_they_are_told_what_to_add(
    project: Path,
) -> None:
    file = project / ".opencode" / CONFIGURATION
    file.parent.mkdir()
    file.write_text('{"model": "a/b"}', "utf-8")
    left = wire(project, mcp=True)[1]
    before, _, snippet = left.partition(": {")
    assert before == "Left .opencode/opencode.json as it is: it is yours. Add this to it"
    assert file.read_text("utf-8") == '{"model": "a/b"}'
    file.write_text(json.dumps({"model": "a/b", **json.loads("{" + snippet)}), "utf-8")
    assert wire(project, mcp=True) == examine(project) == []
    unwire(project)
    assert json.loads(file.read_text("utf-8"))["mcp"] == {"mdmemory": SERVER}


# --- npm ---------------------------------------------------------------------------------------


def test_opencode_is_spared_npm_only_where_nothing_else_wants_it(project: Path) -> None:
    folder = project / ".opencode"
    wire(project)
    assert json.loads((folder / "package-lock.json").read_text())["packages"][""]["dependencies"]
    assert (folder / "node_modules").is_dir()
    ignored = (folder / ".gitignore").read_text(encoding="utf-8").split()
    assert {"package.json", "package-lock.json", "node_modules", ".gitignore"} <= set(ignored)
    unwire(project)
    assert not folder.exists()
    for others in (("package.json", "{}"), ("plugin/other.ts", ""), ("plugins/other.js", "")):
        (folder / others[0]).parent.mkdir(parents=True, exist_ok=True)
        (folder / others[0]).write_text(others[1], encoding="utf-8")
        wire(project)
        assert not (folder / "package-lock.json").exists()
        assert any("npm install" in sentence for sentence in examine(project))
        unwire(project)
        (folder / others[0]).unlink()


def test_what_npm_made_of_our_files_stays(project: Path) -> None:
    wire(project)
    (project / ".opencode/node_modules/left-pad").mkdir()
    (project / ".opencode/package.json").write_text('{"dependencies": {"x": "1"}}', "utf-8")
    unwire(project)
    assert (project / ".opencode/node_modules/left-pad").is_dir()
    assert (project / ".opencode/package.json").exists()


# --- what doctor says ---------------------------------------------------------------------------


def test_an_outdated_an_edited_and_a_foreign_plugin_are_told_apart(project: Path) -> None:
    wire(project)
    path = project / ".opencode" / PLUGIN
    text = "const COMMAND: string[] = " + json.dumps(COMMAND) + "\n"
    path.write_bytes(stamped(text, PLUGIN, "0.0.1"))
    assert [s for s in examine(project) if "is of mdmemory 0.0.1" in s]
    path.write_bytes(stamped(text, PLUGIN) + b"// mine\n")
    assert [s for s in examine(project) if "was edited" in s]
    gone = json.dumps(["/nowhere/mdmemory"])
    path.write_bytes(stamped(f"const COMMAND: string[] = {gone}\n", PLUGIN))
    assert [s for s in examine(project) if "does not exist or cannot be run" in s]
    path.write_bytes(stamped(text, PLUGIN))
    assert [s for s in examine(project, ["/other"]) if "another mdmemory" in s]
    assert wire(project)[0] == "Updated in .opencode: plugin/mdmemory.ts."
    assert examine(project) == []


def test_a_bridge_that_had_trouble_is_told(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(repository), "--opencode"]) == 0
    monkeypatch.chdir(repository)
    line = "2026-06-01T00:01:00Z plugin: the bridge is gone: it ended (1); it is started again\n"
    (repository / ".mdmemory/bridge.log").write_text(line, encoding="utf-8")
    capsys.readouterr()
    assert main(["doctor"]) == 0
    assert "the bridge is gone: it ended (1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("said", "told"), [("1.18.33\n", 0), ("1.19.0\n", 1), ("2.0.0", 1), ("", 0), ("dev\n", 0)]
)
def test_a_client_outside_the_tested_range_is_told(said: str, told: int) -> None:
    assert len(checks.outside(said)) == told


# --- the choice of who reads ---------------------------------------------------------------------


# --- at the command line -------------------------------------------------------------------------


def test_a_dry_run_leaves_the_disk_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "new"), "--opencode", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "Would create a store in" in said
    assert "A dry run writes nothing" in said
    assert list(tmp_path.iterdir()) == []


def test_init_wires_chooses_and_takes_it_all_back(
    repository: Path, empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(repository), "--opencode", "--planner", "opencode"]) == 0
    settings = empty_home / ".config/mdmemory/config.toml"
    assert settings.read_text(encoding="utf-8") == 'planner = "opencode"\n'
    assert not (empty_home / ".config/opencode").exists()
    installed = [repository / ".opencode" / name for name in NAMES if name != CONFIGURATION]
    assert all(is_unedited(path.read_bytes()) for path in installed)
    assert main(["init", "--remove", str(repository)]) == 0
    assert not (repository / ".opencode").exists()
    assert not (repository / "opencode.json").exists()


def test_the_way_to_choose_is_told_where_nobody_can_be_asked(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(repository), "--opencode"]) == 0
    assert "mdmemory init --planner NAME" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["--mcp"], ["--no-npm"], ["--dry-run"], ["--remove", "--planner", "offline"]]
)
def test_options_that_mean_nothing_together_are_refused(words: list[str], tmp_path: Path) -> None:
    assert main(["init", str(tmp_path), *words]) == 2
    assert list(tmp_path.iterdir()) == []
