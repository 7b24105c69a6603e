"""What doctor finds, what it mends, and that looking changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.store.doctor import Finding

Git = Callable[..., str]


@pytest.fixture
def memory(repository: Path) -> Memory:
    opened, _ = Memory.init(repository)
    opened.add("prefers-pnpm", type="feedback", description="Uses pnpm.", body="Uses pnpm.")
    return opened


def found(memory: Memory, check: str, *, fix: bool = False) -> list[Finding]:
    return [finding for finding in memory.doctor(fix=fix) if finding.check == check]


def test_a_sound_store_has_no_findings_and_looking_changes_nothing(
    memory: Memory, git: Git
) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD")
    assert memory.doctor() == []
    assert memory.doctor(fix=True) == []
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    assert git(memory.project.root, "status", "--porcelain") == ""


def test_a_stale_index_is_found_and_mended(memory: Memory) -> None:
    index = memory.project.store / "MEMORY.md"
    good = index.read_bytes()
    index.write_bytes(good + b"a line by hand\n")
    (finding,) = found(memory, "index")
    assert finding.fixable
    assert found(memory, "index", fix=True) == []
    assert index.read_bytes() == good


def test_missing_attributes_are_found_and_mended_in_a_commit(memory: Memory, git: Git) -> None:
    path = memory.project.store / ".gitattributes"
    path.write_text("*.png binary\n", encoding="utf-8")
    (finding,) = found(memory, "attributes")
    assert finding.fixable
    assert found(memory, "attributes", fix=True) == []
    assert path.read_text(encoding="utf-8").startswith("*.png binary\n*.md -text\n")
    assert git(memory.project.root, "status", "--porcelain") == ""


def test_somebody_s_own_index_is_an_error_and_stays(memory: Memory) -> None:
    index = memory.project.store / "MEMORY.md"
    index.write_bytes(b"mine\n")
    (finding,) = found(memory, "index")
    assert finding.level == "error"
    assert index.read_bytes() == b"mine\n"


def test_what_is_no_note_is_named_and_left_alone(memory: Memory, tmp_path: Path) -> None:
    store = memory.project.store
    (store / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (store / "folder.md").mkdir()
    os.mkfifo(store / "fifo.md")
    (store / "_CONFLICTS.md").symlink_to(tmp_path / "elsewhere.md")
    named = {finding.path: finding.message for finding in found(memory, "files")}
    assert sorted(named) == ["_CONFLICTS.md", "fifo.md", "folder.md", "link.md"]
    assert "link" in named["link.md"]
    assert [note.file for note in memory.notes()] == ["feedback-prefers-pnpm.md"]


def test_a_name_that_is_not_utf8_is_named(memory: Memory) -> None:
    (memory.project.store / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x\n")
    assert any("UTF-8" in finding.message for finding in found(memory, "files"))


def test_problems_of_notes_are_told_file_by_file(memory: Memory) -> None:
    store = memory.project.store
    (store / "binary.md").write_bytes(b"\xff\xfe\x00")
    (store / "twin.md").write_bytes(b"---\nname: prefers-pnpm\ndescription: x\n---\n\nx\n")
    (store / "links.md").write_bytes(b"See [[prefers-pnpm]] and [[nowhere]].\n")
    assert {finding.path for finding in found(memory, "note")} >= {"binary.md", "twin.md"}
    (name,) = found(memory, "names")
    assert name.path == "twin.md"
    (link,) = found(memory, "links")
    assert "[[nowhere]]" in link.message


def test_a_held_note_is_an_error(memory: Memory) -> None:
    text = "The token is ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5\n"
    (memory.project.store / "mine.md").write_text(text, encoding="utf-8")
    (finding,) = found(memory, "secrets")
    assert (finding.level, finding.path) == ("error", "mine.md")


@pytest.mark.parametrize("how", ["ignored", "assume-unchanged"])
def test_notes_that_git_does_not_see_are_named(memory: Memory, git: Git, how: str) -> None:
    root, file = memory.project.root, "notes/memory/feedback-prefers-pnpm.md"
    if how == "ignored":
        (root / ".gitignore").write_text(f"{file}\n", encoding="utf-8")
        git(root, "rm", "-q", "--cached", file)
    else:
        git(root, "update-index", "--assume-unchanged", file)
    (finding,) = found(memory, "unseen")
    assert finding.path == "feedback-prefers-pnpm.md"


def test_state_that_git_tracks_is_an_error(memory: Memory, git: Git) -> None:
    git(memory.project.root, "add", "-f", ".mdmemory/catalog")
    (finding,) = found(memory, "state")
    assert finding.level == "error"


def test_a_merge_under_way_is_told(memory: Memory, git: Git) -> None:
    head = git(memory.project.root, "rev-parse", "HEAD")
    (memory.project.root / ".git" / "MERGE_HEAD").write_text(head, encoding="utf-8")
    (finding,) = found(memory, "git")
    assert "merge" in finding.message


def test_a_content_filter_is_an_error(memory: Memory) -> None:
    path = memory.project.store / ".gitattributes"
    path.write_text(path.read_text(encoding="utf-8") + "*.md filter=crypt\n", encoding="utf-8")
    (finding,) = found(memory, "filter")
    assert finding.level == "error"


def test_late_text_beside_a_note_is_pointed_at(memory: Memory) -> None:
    (memory.project.store / ".mdmemory-tx-0123-0.old").write_bytes(b"late\n")
    (finding,) = found(memory, "aside")
    assert finding.path == ".mdmemory-tx-0123-0.old"


def test_a_link_to_a_merged_note_is_not_broken(memory: Memory) -> None:
    text = "Uses pnpm."
    memory.add("pnpm-again", type="feedback", description="Uses pnpm!", body=text)
    memory.add("other", type="user", description="See it.", body="See [[pnpm-again]].")
    assert memory.compact().outcome == "applied"
    assert len(memory.notes()) == 2
    assert found(memory, "links") == []
