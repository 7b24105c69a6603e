"""Wiring a store into OpenCode's configuration, which belongs to a person."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mdmemory.errors import MdmemoryError
from mdmemory.hosts import jsonc
from mdmemory.hosts.opencode import wiring
from mdmemory.hosts.opencode.files import NAMES, Wanted
from mdmemory.note.stamps import stamped

PROTOCOL = "# Memory\n\nKeep what is true.\n"
BOTH = [".opencode/memory/PROTOCOL.md", "notes/memory/MEMORY.md"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "notes/memory").mkdir(parents=True)
    (folder / "notes/memory/MEMORY.md").write_text("# Memory index\n", encoding="utf-8")
    return folder


COMMAND = [sys.executable, "-P", "-m", "mdmemory"]
WANTED = Wanted(PROTOCOL, COMMAND)
INSTALLED = f"in .opencode: {', '.join(NAMES)}."


def wire(project: Path, store: Path | None = None, **more: object) -> list[str]:
    store = store or project / "notes/memory"
    return wiring.install(project, store, WANTED, record=project.parent, **more)  # type: ignore


def unwire(project: Path) -> list[str]:
    return wiring.remove(project, project / "notes/memory", record=project.parent)


def instructions(file: Path) -> object:
    root = jsonc.parse(file.read_text(encoding="utf-8-sig")).data
    assert isinstance(root, dict)
    return root["instructions"]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_project_without_configuration_gets_one_that_names_the_schema(project: Path) -> None:
    said = wire(project)
    assert said == [
        f"Installed {INSTALLED}",
        f"Wrote opencode.json, which lists {' and '.join(BOTH)}.",
        "OpenCode needs no npm for our plugin: .opencode/package-lock.json tells it so.",
    ]
    written = json.loads((project / "opencode.json").read_text(encoding="utf-8"))
    assert written == {"$schema": "https://opencode.ai/config.json", "instructions": BOTH}
    first, _, rest = (project / BOTH[0]).read_text(encoding="utf-8").partition("\n")
    assert first.startswith("<!-- mdmemory: ")
    assert rest == PROTOCOL
    assert wiring.check(project, project / "notes/memory") == []


def test_running_twice_changes_nothing_and_says_nothing(project: Path) -> None:
    wire(project)
    before = snapshot(project)
    assert wire(project) == []
    assert snapshot(project) == before


def test_a_dry_run_tells_and_writes_nothing(project: Path) -> None:
    before = snapshot(project)
    assert wire(project, dry_run=True)[1] == f"Installed {INSTALLED}"
    assert snapshot(project) == before


def test_comments_and_layout_of_a_configuration_stay(project: Path) -> None:
    config = project / "opencode.jsonc"
    before = '{\n  // ours\n  "model": "a/b", // fast\n  "instructions": ["AGENTS-extra.md"],\n}\n'
    config.write_text(before, encoding="utf-8")
    wire(project)
    added = "".join(f', "{name}"' for name in BOTH)
    after = before.replace('extra.md"]', f'extra.md"{added}]')
    assert config.read_text(encoding="utf-8") == after
    assert not (project / "opencode.json").exists()


def test_only_what_is_missing_is_added_however_it_is_written(project: Path) -> None:
    config = project / "opencode.json"
    config.write_text('{"instructions": ["./notes/../notes/memory/MEMORY.md"]}', encoding="utf-8")
    wire(project)
    assert instructions(config) == ["./notes/../notes/memory/MEMORY.md", BOTH[0]]


@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf"])
def test_an_empty_configuration_is_filled(project: Path, content: bytes) -> None:
    (project / "opencode.json").write_bytes(content)
    wire(project)
    assert instructions(project / "opencode.json") == BOTH


def test_of_two_configurations_the_one_that_opencode_prefers_grows(project: Path) -> None:
    for name in ("opencode.json", "opencode.jsonc"):
        (project / name).write_text("{}\n", encoding="utf-8")
    said = wire(project)
    assert said[1].endswith("OpenCode merges it with opencode.json, left as found.")
    assert instructions(project / "opencode.jsonc") == BOTH
    assert (project / "opencode.json").read_text(encoding="utf-8") == "{}\n"


def test_a_list_that_is_already_there_is_preferred_to_starting_another(project: Path) -> None:
    (project / ".opencode").mkdir()
    (project / ".opencode/opencode.json").write_text("{}", encoding="utf-8")
    (project / "opencode.json").write_text('{"instructions": ["x.md"]}', encoding="utf-8")
    wire(project)
    assert instructions(project / "opencode.json") == ["x.md", *BOTH]


def test_a_configuration_in_the_folder_of_opencode_is_used(project: Path) -> None:
    (project / ".opencode").mkdir()
    (project / ".opencode/opencode.jsonc").write_text("{}", encoding="utf-8")
    wire(project)
    assert instructions(project / ".opencode/opencode.jsonc") == BOTH
    assert not (project / "opencode.json").exists()


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
def test_an_unsound_configuration_is_refused_before_anything_is_written(
    project: Path, content: bytes, words: str
) -> None:
    (project / "opencode.json").write_bytes(content)
    before = snapshot(project)
    with pytest.raises(MdmemoryError) as caught:
        wire(project)
    assert words in caught.value.message
    assert "opencode.json" in caught.value.message
    assert caught.value.hint
    assert snapshot(project) == before
    assert wiring.check(project, project / "notes/memory") == [caught.value.message]


def test_a_linked_configuration_is_not_written_through(project: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared.json"
    shared.write_text("{}", encoding="utf-8")
    (project / "opencode.json").symlink_to(shared)
    with pytest.raises(MdmemoryError, match="symbolic link"):
        wire(project)
    assert shared.read_text(encoding="utf-8") == "{}"
    assert not (project / ".opencode").exists()


def test_a_linked_folder_does_not_lead_out_of_the_project(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".opencode").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MdmemoryError, match="outside the project"):
        wire(project)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_edited_protocol_is_left_alone_and_named(project: Path) -> None:
    wire(project)
    file = project / BOTH[0]
    file.write_text(file.read_text(encoding="utf-8") + "Our own rule.\n", encoding="utf-8")
    before = snapshot(project)
    assert "it was edited" in wire(project)[0]
    assert snapshot(project) == before


def test_a_protocol_that_somebody_else_put_there_is_left_alone(project: Path) -> None:
    (project / BOTH[0]).parent.mkdir(parents=True)
    (project / BOTH[0]).write_text("mine\n", encoding="utf-8")
    wire(project)
    assert (project / BOTH[0]).read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_an_unedited_older_protocol_is_updated(project: Path, line_end: bytes) -> None:
    wire(project)
    file = project / BOTH[0]
    file.write_bytes(stamped("# Older\n", "PROTOCOL.md", "0.0.1").replace(b"\n", line_end))
    assert wire(project) == ["Updated in .opencode: memory/PROTOCOL.md."]
    assert file.read_text(encoding="utf-8").endswith(PROTOCOL)


def test_permissions_of_a_configuration_stay_private(project: Path) -> None:
    config = project / "opencode.json"
    config.write_text("{}", encoding="utf-8")
    config.chmod(0o600)
    wire(project)
    assert config.stat().st_mode & 0o777 == 0o600


def test_a_store_outside_the_project_is_named_from_the_home(
    project: Path, empty_home: Path
) -> None:
    store = empty_home / ".local/share/mdmemory"
    wire(project, store)
    assert instructions(project / "opencode.json") == [
        BOTH[0],
        "~/.local/share/mdmemory/MEMORY.md",
    ]


def test_a_store_outside_project_and_home_is_named_absolutely(
    project: Path, tmp_path: Path
) -> None:
    wire(project, tmp_path / "store")
    assert instructions(project / "opencode.json") == [BOTH[0], f"{tmp_path}/store/MEMORY.md"]
    assert wire(project, dry_run=True)  # another store: its index is still missing


def test_a_folder_whose_name_is_a_pattern_is_named_absolutely(project: Path) -> None:
    store = project / "notes [old]"
    wire(project, store)
    assert instructions(project / "opencode.json") == [BOTH[0], f"{store}/MEMORY.md"]


def test_the_users_configuration_is_wired_without_touching_the_project(
    project: Path, empty_home: Path
) -> None:
    folder = empty_home / ".config/opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{}", encoding="utf-8")
    store = empty_home / ".local/share/mdmemory"
    before = snapshot(project)
    said = wire(project, store, config_folder=folder)
    assert said[0].startswith(f"Installed in {folder}: memory/PROTOCOL.md, plugin/")
    assert instructions(folder / "opencode.jsonc") == [
        "~/.config/opencode/memory/PROTOCOL.md",
        "~/.local/share/mdmemory/MEMORY.md",
    ]
    assert snapshot(project) == before
    assert wire(project, store, config_folder=folder) == []
    (store).mkdir(parents=True)
    (store / "MEMORY.md").write_text("", encoding="utf-8")
    assert wiring.check(project, store, config_folder=folder) == []


def test_check_names_what_is_not_wired_what_is_gone_and_what_is_anothers(project: Path) -> None:
    store = project / "notes/memory"
    assert len(wiring.check(project, store)) == 2
    wire(project)
    (store / "MEMORY.md").unlink()
    config = project / "opencode.json"
    text = config.read_text(encoding="utf-8").replace('"notes/', '"old/MEMORY.md", "notes/')
    config.write_text(text, encoding="utf-8")
    assert wiring.check(project, store) == [
        "OpenCode is told to read notes/memory/MEMORY.md, which is not there.",
        "OpenCode also reads old/MEMORY.md, which is not this store's index.",
    ]


# --- taking it back ----------------------------------------------------------------------------

LISTS = [
    b'{\n  // ours\n  "model": "a/b", // fast\n  "instructions": ["AGENTS-extra.md"],\n}\n',
    b'{\n  "instructions": [\n    "a.md", // first\n    "b.md" // last\n  ],\n  "x": 1\n}\n',
    b'{\r\n\t"instructions": [\r\n\t\t"a.md", /* kept */\r\n\t],\r\n}\r\n',
    b'\xef\xbb\xbf{"instructions":["a.md"]}',
    b'{\n  "instructions": []\n}\n',
]


@pytest.mark.parametrize("before", LISTS)
def test_removing_gives_a_configuration_its_former_bytes(project: Path, before: bytes) -> None:
    (project / "opencode.jsonc").write_bytes(before)
    wire(project)
    assert (project / "opencode.jsonc").read_bytes() != before
    said = unwire(project)
    assert said == [
        "Took our entries out of the instructions in opencode.jsonc.",
        f"Removed {INSTALLED}".replace(" in", " from"),
    ]
    assert (project / "opencode.jsonc").read_bytes() == before
    assert not (project / ".opencode").exists()
    assert unwire(project) == []


def test_entries_among_others_go_and_comments_stay(project: Path) -> None:
    (project / "opencode.jsonc").write_text(
        '{\n  "instructions": [\n    // memory\n    ".opencode/memory/PROTOCOL.md", // rules\n'
        '    "mine.md",\n    "notes/memory/MEMORY.md" /* index */\n  ]\n}\n',
        encoding="utf-8",
    )
    unwire(project)
    assert (project / "opencode.jsonc").read_text(encoding="utf-8") == (
        '{\n  "instructions": [\n    // memory // rules\n    "mine.md" /* index */\n  ]\n}\n'
    )


def test_a_configuration_that_we_wrote_goes_whole(project: Path) -> None:
    before = snapshot(project)
    wire(project)
    said = unwire(project)
    assert said[0] == "Removed opencode.json, which held nothing else."
    assert snapshot(project) == before


def test_an_edited_protocol_and_entries_of_another_spelling_stay_and_are_said(
    project: Path,
) -> None:
    wire(project)
    with open(project / BOTH[0], "a", encoding="utf-8") as file:
        file.write("And mine.\n")
    text = (project / "opencode.json").read_text(encoding="utf-8")
    (project / "opencode.json").write_text(text.replace('"notes/', '"./notes/'), encoding="utf-8")
    said = unwire(project)
    assert said[2:] == [
        "Left .opencode/memory/PROTOCOL.md where it is: it was edited.",
        "opencode.json still lists ./notes/memory/MEMORY.md, which is not how we write it.",
    ]
    assert (project / BOTH[0]).exists()


def test_an_unsound_configuration_stops_the_removal_before_anything_is_changed(
    project: Path,
) -> None:
    wire(project)
    (project / "opencode.jsonc").write_text("{,}", encoding="utf-8")
    before = snapshot(project)
    with pytest.raises(MdmemoryError, match="not a valid configuration"):
        unwire(project)
    assert snapshot(project) == before
