"""Claude Code is pointed at a project's store by its own settings, and what was set is taken back
byte for byte. What a person set stays."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory import Layers, Memory
from mdmemory.hosts.claude import own_memory, own_memory_settings

Git = Callable[..., str]
HOOK = 'l="$HOME/.config/mdmemory/launch"; [ -x "$l" ] || exit 0; exec "$l" hook claude'
WIRED = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": HOOK}]}]}}


@pytest.fixture
def claude(empty_home: Path) -> Path:
    """The person's settings of Claude, wired as `mdmemory setup claude` does."""
    path = empty_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps(WIRED), encoding="utf-8")
    return path


@pytest.fixture
def store(claude: Path, repository: Path) -> Path:
    """The project's store in the memory folder."""
    return Memory.init(repository, home=True)[0].project.store


def point(folder: Path) -> list[str]:
    return own_memory.point(Layers.open(folder), folder, os.environ)


def local(repository: Path) -> Path:
    return repository / ".claude" / "settings.local.json"


def carried(folder: Path) -> Path | None:
    return own_memory.carried(folder, os.environ)


def test_claude_is_pointed_at_the_projects_store_and_git_does_not_see_it(
    store: Path, repository: Path, git: Git
) -> None:
    assert carried(repository) is None
    (said,) = point(repository)
    assert str(local(repository)) in said
    assert json.loads(local(repository).read_bytes()) == {"autoMemoryDirectory": str(store)}
    assert carried(repository) == store
    assert git(repository, "status", "--porcelain", "--untracked-files=all") == ""
    stamp = local(repository).stat().st_mtime_ns
    assert point(repository) == []
    assert local(repository).stat().st_mtime_ns == stamp


def test_a_worktree_and_a_subfolder_mean_the_main_checkout(
    store: Path, repository: Path, git: Git, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked))
    (repository / "sub").mkdir()
    assert point(linked)
    assert not (linked / ".claude").exists()
    assert carried(linked) == carried(repository / "sub") == store
    assert git(linked, "status", "--porcelain") == ""


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
def test_what_was_set_is_taken_back_byte_for_byte(
    store: Path, repository: Path, git: Git, before: str | None
) -> None:
    exclude = repository / ".git" / "info" / "exclude"
    there = exclude.read_bytes() if exclude.exists() else None
    if before is not None:
        local(repository).parent.mkdir()
        local(repository).write_bytes(before.encode())
        local(repository).chmod(0o640)
    assert point(repository)
    assert carried(repository) == store
    assert own_memory_settings.withdraw_all(os.environ, dry_run=True)
    assert carried(repository) == store
    assert own_memory_settings.withdraw_all(os.environ)
    assert own_memory_settings.withdraw_all(os.environ) == []
    if before is None:
        assert not local(repository).parent.exists()
        assert (exclude.read_bytes() if exclude.exists() else None) == there
    else:
        assert local(repository).read_bytes() == before.encode()
        assert local(repository).stat().st_mode & 0o777 == 0o640


def test_what_a_person_added_since_stays_when_ours_is_taken_back(
    store: Path, repository: Path
) -> None:
    point(repository)
    named = json.loads(local(repository).read_bytes())
    local(repository).write_text(json.dumps({"model": "opus", **named}, indent=2), "utf-8")
    own_memory_settings.withdraw_all(os.environ)
    assert json.loads(local(repository).read_bytes()) == {"model": "opus"}


@pytest.mark.parametrize("text", ['{"autoMemoryDirectory": "/srv/notes"}', "{not json", "[]"])
def test_what_a_person_set_and_what_cannot_be_read_stays(
    store: Path, repository: Path, text: str
) -> None:
    local(repository).parent.mkdir()
    local(repository).write_text(text, "utf-8")
    assert point(repository) == []
    assert own_memory_settings.withdraw_all(os.environ) == []
    assert local(repository).read_text("utf-8") == text


@pytest.mark.parametrize(
    "more", [{"autoMemoryDirectory": "~/notes"}, {"autoMemoryEnabled": False}], ids=str
)
def test_a_person_who_has_claudes_memory_elsewhere_or_off_is_left_alone(
    store: Path, repository: Path, claude: Path, more: dict[str, object]
) -> None:
    claude.write_text(json.dumps(WIRED | more), "utf-8")
    assert point(repository) == []
    assert not local(repository).exists()


def test_a_file_that_the_project_commits_is_never_changed(
    store: Path, repository: Path, git: Git
) -> None:
    local(repository).parent.mkdir()
    local(repository).write_text("{}", "utf-8")
    git(repository, "add", "-f", ".claude")
    assert point(repository) == []
    assert local(repository).read_text("utf-8") == "{}"


def test_a_link_is_not_written_through(store: Path, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    local(repository).parent.symlink_to(tmp_path / "elsewhere")
    assert point(repository) == []
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_claude_is_pointed_only_where_it_starts_our_hook(
    store: Path, repository: Path, claude: Path
) -> None:
    claude.write_text("{}", "utf-8")
    assert point(repository) == []
    claude.write_text(json.dumps({"enabledPlugins": {"mdmemory@mdmemory": True}}), "utf-8")
    assert point(repository)


def test_a_shared_store_is_meant_only_where_the_person_says_so(
    claude: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, _ = Memory.init(repository)
    assert point(repository) == []
    monkeypatch.setenv("MDMEMORY_CLAUDE_MEMORY", "shared")
    assert point(repository)
    assert carried(repository) == shared.project.store
    monkeypatch.delenv("MDMEMORY_CLAUDE_MEMORY")
    assert point(repository)
    assert carried(repository) is None


@pytest.mark.parametrize("wanted", ["read", "off"])
def test_a_person_can_keep_claude_out_of_the_store(
    store: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    point(repository)
    monkeypatch.setenv("MDMEMORY_CLAUDE_MEMORY", wanted)
    assert point(repository)
    assert not local(repository).exists()


def test_a_moved_store_is_followed_and_one_that_is_gone_is_named_no_more(
    store: Path, repository: Path, empty_home: Path
) -> None:
    point(repository)
    moved = store.rename(store.with_name("shop"))
    assert point(repository)
    assert carried(repository) == moved
    moved.rename(empty_home / "away")
    assert point(repository)
    assert not local(repository).exists()


def test_where_the_record_is_lost_a_store_of_ours_is_still_told_from_a_persons_folder(
    store: Path, repository: Path, empty_home: Path
) -> None:
    point(repository)
    (empty_home / ".local/state/mdmemory/claude-memory.json").unlink()
    moved = store.rename(store.with_name("shop"))
    assert point(repository)
    assert carried(repository) == moved


def test_a_build_service_points_nobody_anywhere(
    store: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    assert point(repository) == []


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


@pytest.mark.parametrize("before", ["{}", '{"model": "opus"}\n', '{"autoMemoryEnabled": true}', ""])
def test_claudes_own_memory_is_switched_off_and_on_again(claude: Path, before: str) -> None:
    claude.unlink()
    if before:
        claude.write_text(before, "utf-8")
    assert own_memory_settings.switch_on(os.environ) == []
    assert own_memory_settings.switch_off(os.environ)
    assert own_memory_settings.switch_off(os.environ) == []
    assert json.loads(claude.read_bytes())["autoMemoryEnabled"] is False
    assert own_memory_settings.switch_on(os.environ)
    assert (claude.read_text("utf-8") if claude.exists() else "") == before


@pytest.fixture
def pointed_copy(
    claude: Path, empty_home: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The copy of a home in which Claude was pointed at the store of `project`, in use now."""
    project = empty_home / "project"
    project.mkdir()
    git(project, "init", "-q")
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    git(project, *who, "commit", "-q", "--allow-empty", "-m", "first")
    Memory.init(project, home=True)
    assert point(project)
    copy = tmp_path / "copy"
    shutil.copytree(empty_home, copy)
    monkeypatch.setenv("HOME", str(copy))
    return copy


def test_of_a_home_that_was_copied_only_its_own_files_are_taken_back(
    pointed_copy: Path, empty_home: Path
) -> None:
    (said,) = own_memory_settings.withdraw_all(os.environ)
    assert str(pointed_copy) in said
    assert not local(pointed_copy / "project").exists()
    assert local(empty_home / "project").exists()


def test_in_a_home_that_was_copied_claude_is_pointed_at_the_store_there(
    pointed_copy: Path, empty_home: Path
) -> None:
    shutil.rmtree(empty_home / "project")
    assert point(pointed_copy / "project")
    store = pointed_copy / "mdmemory" / "project"
    named = json.loads(local(pointed_copy / "project").read_bytes())
    assert named == {"autoMemoryDirectory": str(store)}


def test_what_a_copied_home_shares_with_the_first_one_stays(
    store: Path, repository: Path, empty_home: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert point(repository)
    before = local(repository).read_bytes()
    shutil.copytree(empty_home, tmp_path / "copy")
    monkeypatch.setenv("HOME", str(tmp_path / "copy"))
    assert own_memory_settings.withdraw_all(os.environ) == []
    assert local(repository).read_bytes() == before
