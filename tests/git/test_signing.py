"""Commits in a person's repository are signed as their git signs; what cannot be signed is kept."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from machines import add
from pace import HUNG
from projects import git, script
from stores import BeginStore

from mdmemory import Memory
from mdmemory.git import persons_git

Patch = pytest.MonkeyPatch
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen")


def sign_with(root: Path, folder: Path, passphrase: str = "") -> None:
    """The person's git signs with a key of their own, and knows it when it sees it."""
    key, signers = folder / "key", folder / "signers"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "test", "-f", key]
    subprocess.run(words, check=True, timeout=HUNG)
    public = key.with_name("key.pub").read_text(encoding="utf-8")
    signers.write_text(f"person@example.com {public}", encoding="utf-8")
    for name, value in {
        "commit.gpgsign": "true", "gpg.format": "ssh", "user.signingkey": str(key),
        "gpg.ssh.allowedSignersFile": str(signers),
    }.items():  # fmt: skip
        git(root, "config", name, value)


@pytest.fixture
def signed(begin_store: BeginStore, repository: Path, tmp_path: Path) -> Path:
    """A project whose person signs their commits, with a store in its repository."""
    begin_store()
    sign_with(repository, tmp_path)
    return repository


def states(root: Path, commits: str = "-1") -> list[str]:
    """Of each commit G (signed by a known key) or N (not at all)."""
    return git(root, "log", "--format=%G?", commits).split()


def test_a_commit_in_a_persons_repository_is_signed_as_theirs_are(signed: Path) -> None:
    said: list[str] = []
    memory = Memory.open(signed, tell=said.append)
    add(memory, "tea", kind="project")
    (memory.project.store / "project-tea.md").write_text("By hand.\n", encoding="utf-8")
    memory.remove("project-tea.md")  # the hand's text is committed first
    assert states(signed, "-3") == ["G", "G", "G"]
    assert said == []


def test_the_first_commit_of_a_shared_store_is_signed(repository: Path, tmp_path: Path) -> None:
    sign_with(repository, tmp_path)
    Memory.init(repository)
    assert states(repository, "-2") == ["G", "N"]


def test_what_waited_is_signed_when_a_person_takes_it_over(signed: Path) -> None:
    automatic = Memory.open(signed, automatic=True)
    add(automatic, "tea", kind="project")
    add(automatic, "rain", kind="project")
    refs = git(signed, "for-each-ref", "--format=%(refname)", "refs/mdmemory").split()
    assert {state for ref in refs for state in states(signed, f"HEAD..{ref}")} == {"N"}
    author = git(signed, "log", "-1", "--format=%an %ae", "HEAD")
    Memory.open(signed).index()
    assert git(signed, "log", "-1", "--format=%s").endswith(" and 1 more\n")
    assert states(signed) == ["G"]
    assert git(signed, "log", "-1", "--format=%an %ae") == author


@pytest.mark.parametrize("wish", [("commit.gpgsign", "false"), ("--unset", "commit.gpgsign")])
def test_a_repository_whose_git_signs_nothing_is_left_unsigned(
    signed: Path, wish: tuple[str, str]
) -> None:
    said: list[str] = []
    git(signed, "config", *wish)
    add(Memory.open(signed, tell=said.append), "tea", kind="project")
    assert states(signed) == ["N"]
    assert said == []


def test_a_store_of_its_own_is_not_signed(repository: Path, tmp_path: Path) -> None:
    memory, _ = Memory.init(repository, own_repo=True)
    sign_with(memory.project.store, tmp_path)
    add(memory, "tea", kind="project")
    assert states(memory.project.store) == ["N"]


def test_a_key_that_wants_a_passphrase_asks_nobody_and_the_note_is_committed(
    repository: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    Memory.init(repository)
    sign_with(repository, tmp_path, "a passphrase")
    asking = script(tmp_path / "ask", f"touch {tmp_path}/asked\necho wrong")
    monkeypatch.setenv("SSH_ASKPASS", str(asking))
    monkeypatch.setenv("DISPLAY", ":0")
    said: list[str] = []
    add(Memory.open(repository, tell=said.append), "tea", kind="project")
    assert "project-tea.md" in git(repository, "ls-tree", "--name-only", "HEAD", "notes/memory/")
    assert states(repository) == ["N"]
    (sentence,) = said
    assert sentence.startswith("What was written is committed without a signature:")
    assert "`git config commit.gpgsign false`" in sentence
    assert not (tmp_path / "asked").exists()


def test_a_program_that_hangs_ends_with_its_time(
    repository: Path, tmp_path: Path, empty_home: Path, monkeypatch: Patch
) -> None:
    Memory.init(repository)
    hanging = script(tmp_path / "gpg", f"echo $$ > {tmp_path}/pid\nexec sleep {HUNG:.0f}")
    text = f"[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = {hanging}\n"
    (empty_home / ".gitconfig").write_text(text, encoding="utf-8")
    monkeypatch.setattr(persons_git, "SIGNING", 1.0)
    said: list[str] = []
    begun = time.monotonic()
    memory = Memory.open(repository, tell=said.append)
    (memory.project.store / "project-tea.md").write_text("By hand.\n", encoding="utf-8")
    memory.remove("project-tea.md")  # two commits: it is tried once
    assert time.monotonic() - begun < HUNG / 2
    (sentence,) = said
    assert "did not end within 1 s" in sentence
    number = (tmp_path / "pid").read_text().strip()
    left = subprocess.run(["ps", "-o", "stat=", "-p", number], capture_output=True, check=False)
    assert left.stdout.strip()[:1] in (b"", b"Z")  # nobody may have collected it yet


@pytest.mark.parametrize("name", ["gpg.ssh.program", "gpg.program", "gpg.ssh.defaultKeyCommand"])
def test_no_program_that_the_repository_names_signs(
    signed: Path, tmp_path: Path, name: str
) -> None:
    git(signed, "config", name, str(script(tmp_path / "evil", f"touch {tmp_path}/ran")))
    if name == "gpg.program":
        git(signed, "config", "gpg.format", "openpgp")
    if name == "gpg.ssh.defaultKeyCommand":
        git(signed, "config", "--unset", "user.signingkey")
    add(Memory.open(signed), "tea", kind="project")
    assert not (tmp_path / "ran").exists()
    assert "project-tea.md" in git(signed, "ls-tree", "--name-only", "HEAD", "notes/memory/")
