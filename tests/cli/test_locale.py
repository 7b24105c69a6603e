"""Under a locale that is not UTF-8 the same notes give the same index, and no name is misspelt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG, seldom

Git = Callable[..., str]
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
def store(repository: Path, git: Git) -> Path:
    """A store that was begun under UTF-8, with its index and its notes committed."""
    say(repository, {}, "init", "--store", "notes/memory")
    folder = repository / "notes" / "memory"
    for name in NAMES:
        head = f"---\nname: {name}\ndescription: Über {name}\nmetadata:\n  type: user\n---\n"
        (folder / f"user-{name}.md").write_text(f"{head}\nWas {name} heißt.\n", encoding="utf-8")
    say(repository, {}, "index")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "notes", "--allow-empty")
    return folder


def say(root: Path, locale: dict[str, str], *words: str) -> str:
    return python(root, locale, "-m", "mdmemory", *words)


def python(root: Path, locale: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", *words], cwd=root, env={**os.environ, **locale},
        capture_output=True, check=True, timeout=HUNG,
    )  # fmt: skip
    return done.stdout.decode("utf-8")


def test_the_index_has_the_same_bytes_under_every_locale(
    store: Path, locale: dict[str, str], git: Git
) -> None:
    root, index = store.parents[1], store / "MEMORY.md"
    before = index.read_bytes()
    assert "(user-größe.md)" in before.decode("utf-8")
    index.unlink()
    shutil.rmtree(root / ".mdmemory")
    assert "3 of 3 notes" in say(root, locale, "index")
    assert index.read_bytes() == before
    assert git(root, "status", "--porcelain") == ""


def test_commands_call_notes_by_their_names_under_every_locale(
    store: Path, locale: dict[str, str], git: Git
) -> None:
    root = store.parents[1]
    assert "Was größe heißt." in say(root, locale, "show", "größe")
    say(
        root,
        locale,
        "add",
        "tee",
        "--type",
        "feedback",
        "--description",
        "Mag Tee 茶",
        "Grüner Tee.",
    )
    say(root, locale, "edit", "größe", "--description", "Über die Länge")
    say(root, locale, "forget", "喜欢")
    assert {path.name for path in store.glob("*-*.md")} == {
        "user-plain.md", "user-größe.md", "feedback-tee.md",
    }  # fmt: skip
    listed = say(root, locale, "list")
    assert "Mag Tee 茶" in listed
    assert "Über die Länge" in listed
    assert "memory: remove 喜欢" in say(root, locale, "log")
    assert git(root, "status", "--porcelain") == ""
    assert "up to date" in say(root, {}, "index", "--check")


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
