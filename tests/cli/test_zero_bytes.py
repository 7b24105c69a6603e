"""A note that a power cut left with zero bytes in it: it stops nothing, and its bytes stay."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.cli import main

Git = Callable[..., str]
NAMED = b"---\nname: x\ndescription: %s\nmetadata:\n  type: project\n---\n\n%s\n"
NOTES = {
    "no head": b"a\0b",
    "nothing but zeros": bytes(300),
    "as YAML writes it": NAMED % (rb'"a\0b"', b"body"),
    "in the body": NAMED % (b"ok", b"bo\0dy"),
}


@pytest.fixture(scope="module")
def template(begin: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("zeros") / "project"
    begin(root, ("mdmemory", "add", "Deploys go out on Tuesdays"))
    return root


@pytest.mark.parametrize("data", NOTES.values(), ids=NOTES)
def test_zero_bytes_in_a_note_stop_no_command_and_doctor_names_the_file(
    project: Path, git: Git, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes
) -> None:
    def say(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 0, (words, capsys.readouterr().err)
        return capsys.readouterr().out

    store = project / "notes/memory"
    (store / "project-x.md").write_bytes(data)
    for words in (["list"], ["index"], ["doctor", "--fix"], ["review"], ["search", "deploys"]):
        say(*words)
    assert "project-x.md: It holds zero bytes" in say("doctor")
    assert "Stored" in say("add", "The office is in Graz")
    assert "Undone: The office is in Graz" in say("undo", "--yes")
    whole = subprocess.run(
        ["git", "-C", store, "show", "HEAD:./project-x.md"], capture_output=True, check=True
    )
    assert whole.stdout == data
    git(tmp_path, "init", "-q", "--bare", "there.git")
    git(project, "remote", "add", "origin", str(tmp_path / "there.git"))
    git(project, "push", "-q", "-u", "origin", "HEAD")
    say("sync")
    say("forget", "x")
    assert not (store / "project-x.md").exists()
    say("undo", "--yes")
    assert (store / "project-x.md").read_bytes() == data
    git(project, "fsck", "--strict")
