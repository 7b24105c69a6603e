"""Where Claude Code's own memory lies is read from its settings; what mdmemory 0.2 set there is
taken back byte for byte, and what a person set stays."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands_host import CommandHost

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.hosts import entries
from mdmemory.hosts.claude import own_memory_settings
from mdmemory.note.note import parse


@pytest.fixture
def claude(empty_home: Path) -> Path:
    """The person's settings of Claude."""
    path = empty_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}", "utf-8")
    return path


@pytest.fixture
def memory(repository: Path) -> Memory:
    """The project's store in the memory folder."""
    return Memory.init(repository, home=True)[0]


@pytest.fixture
def local(claude: Path, repository: Path) -> Path:
    """The project's own settings of Claude, which are not there yet."""
    return repository / ".claude" / "settings.local.json"


def note_down(path: Path, **entry: object) -> None:
    """What 0.2 noted of a settings file that it wrote."""
    record = Path.home() / ".local/state/mdmemory/claude-memory.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    noted = {str(path): {**entry, "home": str(Path.home())}}
    record.write_text(json.dumps(noted), "utf-8")


@pytest.fixture
def pointed(local: Path, memory: Memory) -> Path:
    """They hold what 0.2 set there."""
    return point(local, memory.project.store)


def point(local: Path, store: Path) -> Path:
    before = local.read_bytes().decode() if local.exists() else ""
    made = not local.parent.exists()
    note_down(local, value=str(store), file=not before, folder=made, line=True)
    local.parent.mkdir(exist_ok=True)
    alone = json.dumps({"autoMemoryDirectory": str(store)}, indent=2) + "\n"
    text = entries.put_value(before, ["autoMemoryDirectory"], str(store)) if before else alone
    local.write_bytes(text.encode())
    with (local.parents[1] / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write("/.claude/settings.local.json\n")
    return local


def withdraw(**how: bool) -> list[str]:
    return own_memory_settings.withdraw_settings(os.environ, **how)


def carried(folder: Path) -> Path | None:
    return own_memory_settings.carried_folder(folder, os.environ)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "{}",
        '{"a": 1}',
        '{\n  "permissions": {\n    "allow": ["Bash(ls)"]\n  }\n}\n',
        '{\r\n\t"env": {"A": "b"},\r\n\t"model": "opus"\r\n}',
    ],
)
def test_what_was_set_goes_byte_for_byte(
    local: Path, memory: Memory, repository: Path, before: str
) -> None:
    if before:
        local.parent.mkdir()
        local.write_bytes(before.encode())
        local.chmod(0o640)
    point(local, memory.project.store)
    assert carried(repository) == memory.project.store
    assert withdraw(dry_run=True)
    assert carried(repository) == memory.project.store
    assert withdraw()
    assert withdraw() == []
    if before:
        assert (local.read_bytes(), local.stat().st_mode & 0o777) == (before.encode(), 0o640)
    else:
        assert not local.parent.exists()
        assert not (repository / ".git/info/exclude").exists()


def test_what_a_person_added_since_stays_when_ours_goes(pointed: Path) -> None:
    named = json.loads(pointed.read_bytes())
    pointed.write_text(json.dumps({"model": "opus", **named}, indent=2), "utf-8")
    withdraw()
    assert json.loads(pointed.read_bytes()) == {"model": "opus"}


@pytest.mark.parametrize("text", ['{"autoMemoryDirectory": "/srv/notes"}', "{not json", "[]"])
def test_what_a_person_set_and_what_is_broken_stays(local: Path, memory: Memory, text: str) -> None:
    local.parent.mkdir()
    local.write_text(text, "utf-8")
    note_down(local, value=str(memory.project.store), file=True)
    assert (withdraw(), local.read_text("utf-8")) == ([], text)


def test_where_claude_carries_what_by_its_settings(
    repository: Path, claude: Path, local: Path, monkeypatch: pytest.MonkeyPatch, empty_home: Path
) -> None:
    claude.write_text('{"autoMemoryDirectory": "~/notes"}', "utf-8")
    assert carried(repository) == empty_home / "notes"
    local.parent.mkdir()
    local.write_text('{"autoMemoryDirectory": "/srv/own"}', "utf-8")
    assert carried(repository) == Path("/srv/own")
    claude.write_text('{"autoMemoryEnabled": false}', "utf-8")
    assert carried(repository) is None
    claude.write_text("{}", "utf-8")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
    assert carried(repository) is None


@pytest.mark.parametrize("words", [["setup", "claude"], ["setup", "claude", "--remove"]], ids=str)
def test_setup_takes_back_what_was_set(
    pointed: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert "keeps its own memory in its own folder again" in capsys.readouterr().out
    assert not pointed.exists()


def test_the_start_of_a_session_takes_back_what_was_set(pointed: Path, repository: Path) -> None:
    CommandHost("claude", repository).start()
    assert not pointed.exists()


def test_what_a_copied_home_shares_with_the_first_one_stays(
    pointed: Path, empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pointed.read_bytes()
    shutil.copytree(empty_home, tmp_path / "copy")
    monkeypatch.setenv("HOME", str(tmp_path / "copy"))
    assert (withdraw(), pointed.read_bytes()) == ([], before)


# Notes as Claude Code writes them (2.1.330): read, confirmed by a person, borne out by the words

# as the client left it behind after an edit of a note of ours
REWRITTEN = """\
---
name: deploy-tuesdays-blue-script
description: We deploy on Wednesdays with the blue script
metadata:
  node_type: memory
  aliases:
    - deploy-tuesdays-blue-script
  title: Deploys
  type: project
  source: manual
  created: 2026-11-24
  updated: 2026-11-24
  originSessionId: b65b1161-02b5-4e27-88f7-8b92ffef0ab3
  modified: 2026-11-24T17:00:22.841Z
---

"""
FILE = "project-we-deploy-on-tuesdays-with.md"


def test_what_claude_moves_in_a_head_is_still_read() -> None:
    head = parse(REWRITTEN, FILE).head
    assert (head.aliases, head.title) == (("deploy-tuesdays-blue-script",), "Deploys")
    assert head.session == "b65b1161-02b5-4e27-88f7-8b92ffef0ab3"
    assert head.problems == ()
    added = parse(REWRITTEN.replace("metadata:", "aliases: [newer]\nmetadata:"), FILE).head
    assert added.aliases == ("newer", "deploy-tuesdays-blue-script"), "one that is added, too"
    status = REWRITTEN.replace("  source: manual", "  source: manual\n  status: superseded")
    assert parse(status, FILE).head.status == "superseded", "whoever rewrites it"


def test_a_note_that_claude_changed_is_unconfirmed_until_a_person_confirms(memory: Memory) -> None:
    def known() -> tuple[str, str, bool]:
        head, index = memory.note(FILE).note.head, memory.project.store / "MEMORY.md"
        return head.status, head.source, FILE in index.read_text("utf-8")

    memory.add("We deploy on Tuesdays with the blue script", type="project")
    path = memory.project.store / FILE
    assert path.is_file()
    path.write_text(REWRITTEN, "utf-8")
    memory.adopt()
    assert known() == ("unconfirmed", "assistant", False)
    assert path.read_text("utf-8") == REWRITTEN
    memory.confirm(FILE)
    assert known() == ("", "manual", True)
    updated = f"  updated: {memory.note(FILE).note.head.updated}"
    changed = {*path.read_text("utf-8").splitlines()} ^ {*REWRITTEN.splitlines()}
    was = {"  modified: 2026-11-24T17:00:22.841Z", "  updated: 2026-11-24"}
    assert changed <= {*was, updated}
    path.write_text(path.read_text("utf-8").replace("  created", "  modified: x\n  created"))
    assert memory.note(FILE).note.head.status == "unconfirmed"
