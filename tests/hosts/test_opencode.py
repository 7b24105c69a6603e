"""Wiring a store into OpenCode: files of ours come and go, and a person's configuration stays.

The plugin or the MCP server, never both; what npm would do; what doctor says of all that.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from rows import replace

from mdmemory.cli import main
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.opencode import wiring
from mdmemory.hosts.opencode.wiring import CONFIGURATION, NAMES, PLUGIN, Place
from mdmemory.note.stamps import add_stamp
from mdmemory.protocol import short_protocol

PROTOCOL = short_protocol()
PROTOCOL_FILE = ".opencode/memory/PROTOCOL.md"
COMMAND = [sys.executable, "-P", "-m", "mdmemory"]
INSTALLED = f"in .opencode: {', '.join(name for name in NAMES if name != CONFIGURATION)}."
NPM = "Skipped OpenCode's npm install in .opencode (the plugin has no dependencies)."
MINE = '{\n  // ours\n  "model": "a/b", // fast\n  "instructions": ["notes/memory/MEMORY.md"],\n}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    put(folder / "notes/memory/MEMORY.md", "# Memory index\n")
    return folder


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def place(project: Path, store: Path | None = None, folder: Path | None = None) -> Place:
    return Place(project, store or project / "notes/memory", folder, COMMAND)


def wire(project: Path, store: Path | None = None, **more: Any) -> list[str]:
    return wiring.install_wiring(place(project, store), **more)


def unwire(project: Path) -> list[str]:
    return wiring.remove_wiring(place(project))


def instructions(where: Place) -> list[str]:
    """The files that the plugin has OpenCode read."""
    plugin = where.folder / PLUGIN
    names = wiring.plugin_constants(plugin.read_text("utf-8"))["INSTRUCTIONS"]
    return [os.path.normpath(plugin.parent / name) for name in names]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_plugin_starts_this_mdmemory_and_has_the_protocol_and_the_index_read(
    project: Path,
) -> None:
    assert wire(project) == [f"Installed {INSTALLED}", NPM]
    files = [project / PROTOCOL_FILE, project / "notes/memory/MEMORY.md"]
    assert instructions(place(project)) == [str(file) for file in files]
    first, _, rest = files[0].read_text("utf-8").partition("\n")
    assert (first.startswith("<!-- mdmemory: "), rest) == (True, PROTOCOL)
    assert json.dumps(COMMAND) in (project / ".opencode" / PLUGIN).read_text("utf-8")
    assert wiring.reading_problems(place(project)) == examine(project) == []


@pytest.mark.parametrize("mcp", [False, True])
def test_a_persons_configuration_stays_as_it_is(project: Path, mcp: bool) -> None:
    put(project / "opencode.jsonc", MINE)
    put(project / ".opencode/command/mine.md", "Mine.\n")
    before = snapshot(project)
    wire(project, mcp=mcp)
    wired = snapshot(project)
    assert wired["opencode.jsonc"] == MINE.encode()
    assert wire(project, mcp=mcp) == [], "twice changes nothing"
    assert snapshot(project) == wired
    unwire(project)
    assert snapshot(project) == before


def test_a_wired_project_can_be_moved(project: Path, tmp_path: Path) -> None:
    wire(project)
    moved = project.rename(tmp_path / "moved [2]")
    assert wiring.reading_problems(place(moved)) == []


def test_two_stores_at_the_same_relative_path_are_not_mistaken(project: Path) -> None:
    inner = project / "packages/inner"
    index = put(inner / "notes/memory/MEMORY.md", "")
    for mcp in (False, True):
        wire(project, mcp=mcp)
        wire(inner, mcp=mcp)
        assert [wiring.reading_problems(place(each)) for each in (inner, project)] == [[], []]
    assert configured(inner)["instructions"][1] == str(index)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{\n  "a": 1,,\n}', "at line 2, column 10"),
        (b"[]", "An object was expected"),
        (b'{"instructions": "x.md"}', "not a list of strings"),
        (b'{"instructions": [1]}', "not a list of strings"),
        (b"\xff\xfe{}", "not UTF-8"),
    ],
)
def test_an_invalid_configuration_is_refused_first(
    project: Path, content: bytes, words: str
) -> None:
    (project / "opencode.json").write_bytes(content)
    before = snapshot(project)
    with pytest.raises(MdmemoryError) as caught:
        wire(project)
    said = caught.value.message
    assert (words in said, "opencode.json" in said, caught.value.hint != "") == (True, True, True)
    assert (snapshot(project), wiring.reading_problems(place(project))) == (before, [said])


@pytest.mark.parametrize("content", ["", "\n", "\ufeff"])
def test_an_empty_configuration_is_none(project: Path, content: str) -> None:
    put(project / "opencode.json", content)
    wire(project)
    assert (project / "opencode.json").read_text("utf-8") == content


def test_a_linked_configuration_is_only_read(project: Path, tmp_path: Path) -> None:
    theirs = '{"instructions": ["x.md"]}'
    shared, ours = put(tmp_path / "shared.json", theirs), project / ".opencode/opencode.json"
    ours.parent.mkdir()
    for link in (project / "opencode.json", ours):
        link.symlink_to(shared)
    wire(project)
    assert "Left .opencode/opencode.json as it is" in wire(project, mcp=True)[0]
    unwire(project)
    assert (shared.read_text("utf-8"), ours.is_symlink()) == (theirs, True)


@pytest.mark.parametrize("mcp", [False, True])
def test_a_linked_folder_leads_nowhere_else(project: Path, tmp_path: Path, mcp: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".opencode").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MdmemoryError, match="outside the project"):
        wire(project, mcp=mcp)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_an_unedited_older_protocol_is_updated(project: Path, line_end: bytes) -> None:
    wire(project)
    file = project / PROTOCOL_FILE
    file.write_bytes(add_stamp("# Older\n", "PROTOCOL.md", "0.0.1").replace(b"\n", line_end))
    assert wire(project) == ["Updated .opencode/memory/PROTOCOL.md."]
    assert file.read_text("utf-8").endswith(PROTOCOL)


def test_a_store_outside_the_project_is_named_absolutely(project: Path, tmp_path: Path) -> None:
    wire(project, tmp_path / "store [old]")
    assert instructions(place(project))[1] == str(tmp_path / "store [old]/MEMORY.md")
    assert wire(project, dry_run=True)  # another store: its index is still missing


@pytest.mark.parametrize("mcp", [False, True])
def test_the_persons_wiring_touches_no_project(project: Path, empty_home: Path, mcp: bool) -> None:
    folder, store = empty_home / ".config/opencode", empty_home / ".local/share/mdmemory"
    put(folder / "opencode.jsonc", "{}")
    where = place(project, store, folder)
    before = snapshot(project)
    said = wiring.install_wiring(where, mcp=mcp)
    assert said[0].startswith(f"Installed in {folder}: memory/PROTOCOL.md, ")
    assert (folder / "opencode.jsonc").read_text("utf-8") == "{}"
    if not mcp:
        assert instructions(where) == [str(where.wanted[0])], "the bridge names the indexes"
        assert not (folder / "package.json").exists()
    assert (snapshot(project), wiring.install_wiring(where, mcp=mcp)) == (before, [])
    put(store / "MEMORY.md", "")
    assert wiring.reading_problems(where) == []
    others = wiring.reading_problems(place(project), folder)
    assert (others == []) is not mcp, "the person's plugin has the index of each store read"


def test_what_is_not_wired_what_is_gone_and_what_is_anothers_is_told(project: Path) -> None:
    assert wiring.reading_problems(place(project)) == [
        f"OpenCode does not read {file}. Run `mdmemory init --opencode`."
        for file in (PROTOCOL_FILE, "notes/memory/MEMORY.md")
    ]
    wire(project)
    (project / "notes/memory/MEMORY.md").unlink()
    put(project / "opencode.json", '{"instructions": ["old/MEMORY.md"]}')
    assert wiring.reading_problems(place(project)) == [
        "OpenCode is told to read notes/memory/MEMORY.md, which does not exist.",
        "OpenCode also reads old/MEMORY.md, which is not this store's index.",
    ]


def test_an_invalid_configuration_stops_the_removal_in_time(project: Path) -> None:
    wire(project)
    (project / "opencode.jsonc").write_text("{,}", "utf-8")
    before = snapshot(project)
    with pytest.raises(MdmemoryError, match="not a valid configuration"):
        unwire(project)
    assert snapshot(project) == before


def test_an_entry_in_a_persons_spelling_stays_and_is_said(project: Path) -> None:
    mine = '{"instructions": ["./notes/memory/MEMORY.md"]}'
    file = put(project / "opencode.json", mine)
    told = "opencode.json still lists ./notes/memory/MEMORY.md, in a spelling that is not ours."
    assert (unwire(project)[-1], file.read_text("utf-8")) == (told, mine)


SERVER = {"type": "local", "command": [*COMMAND, "mcp"], "enabled": True}


def examine(project: Path, command: list[str] | None = None) -> list[str]:
    where = replace(place(project), command=command or COMMAND)
    return wiring.examine_project(where, project.parent / "nowhere")


def configured(project: Path) -> dict[str, object]:
    """The configuration of ours, below its stamp."""
    text = (project / ".opencode" / CONFIGURATION).read_text("utf-8")
    return dict(json.loads(text.partition("\n")[2]))


def test_a_server_stands_in_place_of_the_plugin_and_the_other_way_round(project: Path) -> None:
    plugin = project / ".opencode" / PLUGIN
    wire(project, mcp=True)
    assert configured(project) == {
        "$schema": "https://opencode.ai/config.json",
        "instructions": [str(each) for each in place(project).wanted],
        "mcp": {"mdmemory": SERVER},
    }
    assert (plugin.exists(), (project / ".opencode/package.json").exists()) == (False, False)
    assert examine(project) == []
    assert "Removed .opencode/opencode.json." in wire(project)
    assert plugin.exists()
    assert "Removed .opencode/plugin/mdmemory.ts." in wire(project, mcp=True)
    assert not (project / ".opencode/node_modules").exists()


def test_a_server_that_a_person_set_up_stays_and_is_told(project: Path) -> None:
    mine = {"type": "local", "command": ["uvx", "mdmemory", "mcp"], "timeout": 9}
    file = put(project / "opencode.json", json.dumps({"mcp": {"mdmemory": mine}}))
    before = file.read_bytes()
    wire(project)
    assert any("both bring our tools" in sentence for sentence in examine(project))
    wire(project, mcp=True)
    assert "mcp" not in configured(project), "one of the name is enough"
    unwire(project)
    assert file.read_bytes() == before


def test_a_configuration_at_our_place_stays_and_they_are_told_what_to_add(project: Path) -> None:
    file = put(project / ".opencode" / CONFIGURATION, '{"model": "a/b"}')
    before, _, snippet = wire(project, mcp=True)[1].partition(": {")
    assert before == "Left .opencode/opencode.json as it is: it is yours. Add this to it"
    assert file.read_text("utf-8") == '{"model": "a/b"}'
    put(file, json.dumps({"model": "a/b", **json.loads("{" + snippet)}))
    assert wire(project, mcp=True) == examine(project) == []
    unwire(project)
    assert json.loads(file.read_text("utf-8"))["mcp"] == {"mdmemory": SERVER}


def test_opencode_is_spared_npm_only_where_nothing_else_wants_it(project: Path) -> None:
    folder = project / ".opencode"
    wire(project)
    assert json.loads((folder / "package-lock.json").read_text())["packages"][""]["dependencies"]
    assert (folder / "node_modules").is_dir()
    ignored = {*(folder / ".gitignore").read_text("utf-8").split()}
    assert {"package.json", "package-lock.json", "node_modules", ".gitignore"} <= ignored
    unwire(project)
    assert not folder.exists()
    for others, text in (("package.json", "{}"), ("plugin/other.ts", ""), ("plugins/other.js", "")):
        put(folder / others, text)
        wire(project)
        assert not (folder / "package-lock.json").exists()
        unwire(project)
        (folder / others).unlink()


def test_what_npm_made_of_our_files_stays(project: Path) -> None:
    wire(project)
    pad = put(project / ".opencode/node_modules/left-pad/x", "")
    file = put(project / ".opencode/package.json", '{"dependencies": {"x": "1"}}')
    unwire(project)
    assert (pad.exists(), file.exists()) == (True, True)


def test_an_outdated_an_edited_and_a_foreign_plugin_are_told_apart(project: Path) -> None:
    def source(*command: str) -> str:
        return f"const COMMAND: string[] = {json.dumps(command)}\n"

    wire(project)
    path = project / ".opencode" / PLUGIN
    for data, command, told in (
        (add_stamp(source(*COMMAND), PLUGIN, "0.0.1"), COMMAND, "is of mdmemory 0.0.1"),
        (add_stamp(source(*COMMAND), PLUGIN) + b"// mine\n", COMMAND, "was edited"),
        (add_stamp(source("/nowhere"), PLUGIN), COMMAND, "does not exist or cannot be run"),
        (add_stamp(source(*COMMAND), PLUGIN), ["/other"], "another mdmemory"),
    ):
        path.write_bytes(data)
        assert [each for each in examine(project, command) if told in each], told
    assert (wire(project)[0], examine(project)) == ("Updated .opencode/plugin/mdmemory.ts.", [])


def test_the_way_to_choose_a_model_is_told_and_a_bridge_that_had_trouble(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(repository), "--opencode"]) == 0
    monkeypatch.chdir(repository)
    line = "2026-06-01T00:01:00Z plugin: the bridge is gone: it ended (1); it is started again\n"
    (repository / ".mdmemory/bridge.log").write_text(line, "utf-8")
    assert "mdmemory config set planner opencode" in capsys.readouterr().out
    assert main(["doctor"]) == 0
    assert "the bridge is gone: it ended (1)" in capsys.readouterr().out


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "new"), "--opencode", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert ("Would create a store in" in said, "A dry run writes nothing" in said) == (True, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["--mcp"], ["--no-npm"], ["--dry-run"], ["--remove", "--git-hooks"]]
)
def test_options_that_mean_nothing_together_are_refused(words: list[str], tmp_path: Path) -> None:
    assert (main(["init", str(tmp_path), *words]), list(tmp_path.iterdir())) == (2, [])
