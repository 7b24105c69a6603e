"""Under a locale that is not UTF-8 the same notes give the same index, and no name is misspelt."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pace import HUNG, seldom
from projects import Ask, Git, Say
from stores import BeginStore

NAMES = ("plain", "größe", "喜欢")
LATIN = "de_DE.ISO-8859-1"
LIBRARY = """
import sys
from mdmemory import Memory
assert sys.getfilesystemencoding() != "utf-8"
memory = Memory.open(".")
memory.index()
rows = memory.listing()
print(ascii([row.head.file for row in rows if row.digest]))
print(memory.add("two", type="user", description="Two", body="Two.").file)
for act in (
    lambda: memory.add("喜", type="user", description="Tea", body="Tea."),
    lambda: memory.edit("user-größe.md", body="Other."),
    lambda: memory.remove("user-größe.md"),
):
    try:
        print(act())
    except Exception as problem:
        print(type(problem).__name__, ascii(problem.message), problem.hint)
"""


@pytest.fixture(params=seldom(["C", LATIN], 2))
def locale(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The variables of a locale in which Python takes file names for other than UTF-8."""
    found = {"LC_ALL": request.param, "PYTHONUTF8": "0", "LOCPATH": str(tmp_path)}
    if request.param == LATIN:
        words = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(tmp_path / LATIN)]
        made = shutil.which(words[0]) and subprocess.run(words, check=False, timeout=HUNG)
        if not made or made.returncode:
            pytest.skip("there are no sources of locales here")
    return found


@pytest.fixture
def store(begin_store: BeginStore, git: Git) -> Path:
    """A store that was begun under UTF-8, with its index and its notes committed."""
    memory = begin_store()
    folder = memory.project.store
    for name in NAMES:
        head = f"---\nname: {name}\ndescription: Über {name}\nmetadata:\n  type: user\n---\n"
        (folder / f"user-{name}.md").write_text(f"{head}\nWas {name} heißt.\n", encoding="utf-8")
    memory.index()
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "notes", "--allow-empty")
    return folder


def call(root: Path, locale: dict[str, str], *words: str) -> str:
    return python(root, locale, "-m", "mdmemory", *words)


def python(root: Path, locale: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", *words], cwd=root, env={**os.environ, **locale},
        capture_output=True, check=True, timeout=HUNG,
    )  # fmt: skip
    return done.stdout.decode("utf-8")


def test_commands_know_names_in_every_locale(store: Path, locale: dict[str, str], git: Git) -> None:
    root = store.parents[1]
    assert "Was größe heißt." in call(root, locale, "show", "größe")
    about = ("--type", "feedback", "--description", "Mag Tee 茶")
    call(root, locale, "add", "tee", *about, "Grüner Tee.")
    call(root, locale, "edit", "größe", "--description", "Über die Länge")
    call(root, locale, "forget", "喜欢")
    expected = {"user-plain.md", "user-größe.md", "feedback-tee.md"}
    assert {path.name for path in store.glob("*-*.md")} == expected
    listed = call(root, locale, "list")
    assert "Mag Tee 茶" in listed
    assert "Über die Länge" in listed
    assert "memory: remove 喜欢" in call(root, locale, "log")
    assert git(root, "status", "--porcelain") == ""
    assert "up to date" in call(root, {}, "index", "--check")


def test_a_program_that_takes_names_for_another_encoding_makes_the_same_index_and_misspells_none(
    store: Path, locale: dict[str, str], git: Git
) -> None:
    root, index = store.parents[1], store / "MEMORY.md"
    before = index.read_bytes()
    index.unlink()
    shutil.rmtree(root / ".mdmemory")
    (root / "program.py").write_text(LIBRARY, encoding="utf-8")
    files, added, *refused = python(root, locale, "program.py").splitlines()
    assert files == ascii([f"user-{name}.md" for name in sorted(NAMES)])
    assert added == "user-two.md"
    for line in refused:
        assert line.startswith("MdmemoryError ")
        assert "Python takes file names for" in line
        assert "PYTHONUTF8=1" in line
    assert len(refused) == 3
    git(root, "revert", "--no-edit", "HEAD")
    assert index.read_bytes() == before
    assert len(list(store.glob("user-*"))) == 3


# A note that is far too large, or has zero bytes after a power cut, stops nothing else.

TWIN = "---\nname: {0}\ndescription: Likes tea.\nmetadata:\n  type: user\n---\n\nLikes tea.\n"


@pytest.fixture
def huge(project: Path) -> Path:
    folder = project / "notes" / "memory"
    for name in ("one", "two"):
        (folder / f"user-{name}.md").write_text(TWIN.format(name))
    (folder / "user-long.md").write_text("x" * 5_000_000)
    with (folder / "user-sparse.md").open("wb") as file:
        file.truncate(1 << 30)
    return folder


def test_notes_too_large_to_read_stop_no_compaction_and_are_named(
    huge: Path, git: Git, ask: Ask, say: Say
) -> None:
    assert ask("compact")["outcome"] == "applied"
    assert not (huge / "user-two.md").exists()
    held = git(huge, "ls-tree", "--name-only", "HEAD", "./").split()
    assert "user-one.md" in held
    assert not {"user-long.md", "user-sparse.md"} & {*held}
    assert (huge / "user-long.md").read_bytes() == b"x" * 5_000_000
    assert "unreadable  user-long.md, user-sparse.md:" in say("status")
    assert ask("status")["unread"] == ["user-long.md", "user-sparse.md"]
    op = {"op": "delete", "file": "user-long.md", "reason": "out of date"}
    Path("plan.json").write_text(json.dumps({"ops": [op]}))
    assert ask("compact", "--plan", "plan.json", code=1)["refused"][0]["code"] == "held"
    assert (huge / "user-long.md").stat().st_size == 5_000_000


# Zero bytes that a power cut left in a note.

NAMED = b"---\nname: x\ndescription: %s\nmetadata:\n  type: project\n---\n\n%s\n"
NOTES = {
    "no head": b"a\0b",
    "nothing but zeros": bytes(300),
    "as YAML writes it": NAMED % (rb'"a\0b"', b"body"),
    "in the body": NAMED % (b"ok", b"bo\0dy"),
}


@pytest.mark.parametrize("data", NOTES.values(), ids=NOTES)
def test_zero_bytes_in_a_note_stop_no_command_and_doctor_names_the_file(
    project: Path, git: Git, say: Say, tmp_path: Path, data: bytes
) -> None:
    say("add", "Deploys go out on Tuesdays")
    note = project / "notes/memory/project-x.md"
    note.write_bytes(data)
    for words in ("list", "index", "doctor --fix", "review", "search deploys"):
        say(*words.split())
    assert "project-x.md: It holds zero bytes" in say("doctor")
    assert "Stored" in say("add", "The office is in Graz")
    assert "Undone: The office is in Graz" in say("undo", "--yes")
    id = git(project, "hash-object", "--no-filters", str(note))
    assert git(project, "rev-parse", "HEAD:notes/memory/project-x.md") == id
    git(tmp_path, "init", "-q", "--bare", "there.git")
    git(project, "remote", "add", "origin", str(tmp_path / "there.git"))
    git(project, "push", "-q", "-u", "origin", "HEAD")
    say("sync")
    say("forget", "x")
    assert not note.exists()
    say("undo", "--yes")
    assert note.read_bytes() == data
    git(project, "fsck", "--strict")
