"""Where Claude Code's own memory lies is read from its settings; what mdmemory 0.2 set there is
taken back byte for byte, and what a person set stays."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands_host import CommandHost

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.hosts import entries
from mdmemory.hosts.claude import own_memory_settings
from mdmemory.note.editing import edit
from mdmemory.note.note import parse

Git = Callable[..., str]


@pytest.fixture
def claude(empty_home: Path) -> Path:
    """The person's settings of Claude."""
    path = empty_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}", "utf-8")
    return path


@pytest.fixture
def store(claude: Path, repository: Path) -> Path:
    """The project's store in the memory folder."""
    return Memory.init(repository, home=True)[0].project.store


def local(repository: Path) -> Path:
    return repository / ".claude" / "settings.local.json"


def note_down(path: Path, **entry: object) -> None:
    """What 0.2 noted of a settings file that it wrote."""
    record = Path.home() / ".local/state/mdmemory/claude-memory.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    noted = {str(path): {**entry, "home": str(Path.home())}}
    record.write_text(json.dumps(noted), "utf-8")


def point(repository: Path, store: Path) -> None:
    """Set in a project what 0.2 set there."""
    path = local(repository)
    before = path.read_bytes().decode() if path.exists() else ""
    note_down(path, value=str(store), file=not before, folder=not path.parent.exists(), line=True)
    path.parent.mkdir(exist_ok=True)
    alone = json.dumps({"autoMemoryDirectory": str(store)}, indent=2) + "\n"
    text = entries.put_value(before, ["autoMemoryDirectory"], str(store)) if before else alone
    path.write_bytes(text.encode())
    exclude = repository / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    with exclude.open("a", encoding="utf-8") as file:
        file.write("/.claude/settings.local.json\n")


def carried(folder: Path) -> Path | None:
    return own_memory_settings.carried_folder(folder, os.environ)


@pytest.mark.parametrize(
    "before",
    [
        None,
        "{}",
        '{"a": 1}',
        '{\n  "permissions": {\n    "allow": ["Bash(ls)"]\n  }\n}\n',
        '{\r\n\t"env": {"A": "b"},\r\n\t"model": "opus"\r\n}',
    ],
)
def test_what_was_set_goes_byte_for_byte(
    store: Path, repository: Path, git: Git, before: str | None
) -> None:
    exclude = repository / ".git" / "info" / "exclude"
    there = exclude.read_bytes() if exclude.exists() else None
    if before is not None:
        local(repository).parent.mkdir()
        local(repository).write_bytes(before.encode())
        local(repository).chmod(0o640)
    point(repository, store)
    assert carried(repository) == store
    assert own_memory_settings.withdraw_settings(os.environ, dry_run=True)
    assert carried(repository) == store
    assert own_memory_settings.withdraw_settings(os.environ)
    assert own_memory_settings.withdraw_settings(os.environ) == []
    if before is None:
        assert not local(repository).parent.exists()
        assert (exclude.read_bytes() if exclude.exists() else None) == there
    else:
        assert local(repository).read_bytes() == before.encode()
        assert local(repository).stat().st_mode & 0o777 == 0o640


def test_what_a_person_added_since_stays_when_ours_goes(store: Path, repository: Path) -> None:
    point(repository, store)
    named = json.loads(local(repository).read_bytes())
    local(repository).write_text(json.dumps({"model": "opus", **named}, indent=2), "utf-8")
    own_memory_settings.withdraw_settings(os.environ)
    assert json.loads(local(repository).read_bytes()) == {"model": "opus"}


@pytest.mark.parametrize("text", ['{"autoMemoryDirectory": "/srv/notes"}', "{not json", "[]"])
def test_what_a_person_set_and_what_is_broken_stays(
    store: Path, repository: Path, text: str
) -> None:
    local(repository).parent.mkdir()
    local(repository).write_text(text, "utf-8")
    note_down(local(repository), value=str(store), file=True)
    assert own_memory_settings.withdraw_settings(os.environ) == []
    assert local(repository).read_text("utf-8") == text


def test_where_claude_carries_what_by_its_settings(
    repository: Path, claude: Path, monkeypatch: pytest.MonkeyPatch, empty_home: Path
) -> None:
    claude.write_text('{"autoMemoryDirectory": "~/notes"}', "utf-8")
    assert carried(repository) == empty_home / "notes"
    local(repository).parent.mkdir()
    local(repository).write_text('{"autoMemoryDirectory": "/srv/own"}', "utf-8")
    assert carried(repository) == Path("/srv/own")
    claude.write_text('{"autoMemoryEnabled": false}', "utf-8")
    assert carried(repository) is None
    claude.write_text("{}", "utf-8")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
    assert carried(repository) is None


@pytest.mark.parametrize("words", [["setup", "claude"], ["setup", "claude", "--remove"]], ids=str)
def test_setup_takes_back_what_was_set(
    store: Path, repository: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    point(repository, store)
    assert main(words) == 0
    assert "keeps its own memory in its own folder again" in capsys.readouterr().out
    assert not local(repository).exists()


def test_the_start_of_a_session_takes_back_what_was_set(store: Path, repository: Path) -> None:
    point(repository, store)
    CommandHost("claude", repository).start()
    assert not local(repository).exists()


def test_what_a_copied_home_shares_with_the_first_one_stays(
    store: Path, repository: Path, empty_home: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    point(repository, store)
    before = local(repository).read_bytes()
    shutil.copytree(empty_home, tmp_path / "copy")
    monkeypatch.setenv("HOME", str(tmp_path / "copy"))
    assert own_memory_settings.withdraw_settings(os.environ) == []
    assert local(repository).read_bytes() == before


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


@pytest.fixture
def memory(repository: Path) -> Memory:
    return Memory.init(repository, home=True)[0]


def test_what_claude_moves_in_a_head_is_still_read() -> None:
    head = parse(REWRITTEN, FILE).head
    assert head.aliases == ("deploy-tuesdays-blue-script",)
    assert head.title == "Deploys"
    assert head.session == "b65b1161-02b5-4e27-88f7-8b92ffef0ab3"
    assert head.problems == ()


def test_an_alias_that_is_added_stands_beside_those_that_claude_moved() -> None:
    lines = REWRITTEN.replace("metadata:", "aliases: [newer]\nmetadata:")
    assert parse(lines, FILE).head.aliases == ("newer", "deploy-tuesdays-blue-script")


def test_a_note_that_claude_changed_is_unconfirmed_until_a_person_confirms(memory: Memory) -> None:
    memory.add("We deploy on Tuesdays with the blue script", type="project")
    path = memory.project.store / FILE
    assert path.is_file()
    path.write_text(REWRITTEN, "utf-8")
    memory.adopt()
    head = memory.note(FILE).note.head
    assert (head.status, head.source) == ("unconfirmed", "assistant")
    assert path.read_text("utf-8") == REWRITTEN
    assert FILE not in (memory.project.store / "MEMORY.md").read_text("utf-8")
    memory.confirm(FILE)
    head = memory.note(FILE).note.head
    assert (head.status, head.source) == ("", "manual")
    assert FILE in (memory.project.store / "MEMORY.md").read_text("utf-8")
    changed = {*path.read_text("utf-8").splitlines()} ^ {*REWRITTEN.splitlines()}
    assert changed <= {"  modified: 2026-11-24T17:00:22.841Z", f"  updated: {head.updated}",
                       "  updated: 2026-11-24"}  # fmt: skip
    path.write_text(path.read_text("utf-8").replace("  created", "  modified: x\n  created"))
    assert memory.note(FILE).note.head.status == "unconfirmed"


def test_a_superseded_note_stays_superseded_whoever_rewrites_it() -> None:
    text = REWRITTEN.replace("  source: manual", "  source: manual\n  status: superseded")
    assert parse(text, FILE).head.status == "superseded"


def test_a_note_of_claudes_can_be_edited_like_any_other() -> None:
    changed = edit(parse(REWRITTEN, FILE), set={"description": "Deploys run on Fridays"})
    assert changed.text == REWRITTEN.replace(
        "We deploy on Wednesdays with the blue script", "Deploys run on Fridays"
    )
