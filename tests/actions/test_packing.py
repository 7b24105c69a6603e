"""What is built from a project takes none of its memory along unsaid: real builds are the judge."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.actions.packing import Taken, around, ignores, taken
from mdmemory.memory import Memory

Git = Callable[..., str]
NPM = shutil.which("npm")
HATCH = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "thing"
version = "1"
"""
SRC = {"src/thing/__init__.py": ""}


@pytest.fixture(params=["own", "shared"])
def kind(request: pytest.FixtureRequest) -> str:
    """Where the store's history lies: in a repository of its own in the project, or in its."""
    return str(request.param)


@pytest.fixture
def project(repository: Path, kind: str) -> Path:
    """A project with a store of that kind, a note, and state."""
    for name, text in SRC.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    memory, _ = Memory.init(repository, **{"own_repo": True} if kind == "own" else {})
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    with memory.state():
        pass
    (memory.project.store / ".inbox").mkdir(exist_ok=True)
    (memory.project.store / ".inbox" / "wish.md").write_text("a wish")
    return repository


def found(project: Path) -> list[Taken]:
    memory = Memory.open(project)
    tracked = not (memory.project.store / ".git").exists()
    return [*around(memory.project, tracked=tracked)]


def npm(project: Path) -> list[str]:
    words = [str(NPM), "pack", "--dry-run", "--json", "--ignore-scripts", "--offline"]
    done = subprocess.run(words, cwd=project, capture_output=True, check=True, timeout=HUNG)
    packed = json.loads(done.stdout)  # by its name, from npm 12 on
    (package,) = packed.values() if isinstance(packed, dict) else packed
    return [row["path"] for row in package["files"]]


def sdist(project: Path) -> list[str]:
    words = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(project.parent)]
    subprocess.run(words, cwd=project, capture_output=True, check=True, timeout=HUNG)
    with tarfile.open(project.parent / "thing-1.tar.gz") as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def ours(names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(("notes/memory", ".mdmemory"))]


def test_of_a_store_in_the_memory_folder_no_builder_takes_anything(repository: Path) -> None:
    memory, _ = Memory.init(repository, home=True)
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    with memory.state():
        pass
    (repository / "package.json").write_text('{"name": "thing", "version": "1.0.0"}')
    (repository / "pyproject.toml").write_text(HATCH)
    (repository / "Dockerfile").write_text("FROM scratch\nCOPY . /app\n")
    assert [*around(memory.project, tracked=False)] == []
    packed = [*sdist(repository), *(npm(repository) if NPM else [])]
    assert not any("memory" in name for name in packed)


@pytest.mark.skipif(NPM is None, reason="npm is not installed")
def test_npm_takes_no_note_along_after_the_advice(project: Path) -> None:
    (project / "package.json").write_text('{"name": "thing", "version": "1.0.0"}')
    assert {*ours(npm(project))} > {"notes/memory/user-tea.md"}
    (said,) = found(project)
    assert said.builder == "npm"
    assert said.advice == "Write the line `*` into notes/memory/.npmignore."
    (project / "notes/memory/.npmignore").write_text("*\n")
    assert ours(npm(project)) == []
    assert found(project) == []


def test_hatchling_takes_nothing_along_after_the_advice(project: Path) -> None:
    (project / "pyproject.toml").write_text(HATCH)
    assert {*ours(sdist(project))} > {"notes/memory/user-tea.md", ".mdmemory/state.db"}
    (said,) = found(project)
    assert said.paths == ("notes/memory", ".mdmemory")
    words, _, listed = said.advice.removesuffix(".").partition(": ")
    assert words.endswith("[tool.hatch.build.targets.sdist] in pyproject.toml")
    table = f"[tool.hatch.build.targets.sdist]\nexclude = [{listed}]\n"
    (project / "pyproject.toml").write_text(HATCH + table)
    assert ours(sdist(project)) == []
    assert found(project) == []


def test_doctor_says_it(project: Path) -> None:
    (project / "Dockerfile").write_text("FROM scratch\nCOPY --chown=1:1 . /app\n")
    findings = [each for each in Memory.open(project).doctor() if each.check == "packages"]
    assert [each.path for each in findings] == [str(project / "Dockerfile")]
    said = "the image build takes notes/memory and .mdmemory along."
    assert findings[0].message.startswith(said)


def test_a_store_that_a_clean_would_delete_is_named_until_it_has_a_remote(
    project: Path, kind: str, git: Git
) -> None:
    def said() -> list[str]:
        return [each.message for each in Memory.open(project).doctor() if each.check == "place"]

    assert bool(said()) == (kind == "own")
    if kind == "own":
        git(project, "clean", "-fdxq")
        assert (project / "notes/memory/user-tea.md").exists(), "one -f passes over it"
        git(project / "notes/memory", "remote", "add", "origin", "elsewhere")
        assert said() == []


PATHS = {"notes/memory": True, ".mdmemory": False}
PYTHON = '[build-system]\nbuild-backend = "{0}"\nrequires = ["{1}"]\n'
TAKES = [  # files of a project, and the advice on them
    ({"package.json": '{"name": "a", "private": true}'}, []),
    ({"package.json": '{"name": "a", "files": ["dist"]}'}, []),
    ({"package.json": '{"name": "a", "files": ["notes/**"]}'},
     ["Write the line `*` into notes/memory/.npmignore."]),
    ({"package.json": '{"name": "a"}', ".npmignore": "notes\n.mdmemory/"}, []),
    ({"package.json": '{"name": "a"}', ".gitignore": "/notes/*\n.md*"}, []),
    ({"package.json": "[not json"}, []),
    ({"package.json": '{"name": "a", "engines": {"vscode": "^1"}}'},
     ["Add to .vscodeignore: `notes/memory/**`, `.mdmemory/**`."]),
    ({"package.json": '{"name": "a", "engines": {"vscode": "^1"}}',
      ".vscodeignore": "notes/**\n.mdmemory/**"}, []),
    ({"pyproject.toml": PYTHON.format("hatchling.build", "") +
      '[tool.hatch.build]\nexclude = ["notes"]\n', ".gitignore": ".mdmemory"}, []),
    ({"pyproject.toml": PYTHON.format("hatchling.build", "") +
      '[tool.hatch.build.targets.sdist]\nonly-include = ["src"]\n'}, []),
    ({"pyproject.toml": PYTHON.format("setuptools.build_meta", "setuptools")}, []),
    ({"pyproject.toml": PYTHON.format("setuptools.build_meta", "setuptools_scm>=8")},
     ["Add to the end of MANIFEST.in: `prune notes/memory`."]),
    ({"setup.py": "", "MANIFEST.in": "global-include *.md\nprune .mdmemory"},
     ["Add to the end of MANIFEST.in: `prune notes/memory`."]),
    ({"setup.py": "", "MANIFEST.in": "graft notes\nprune notes/memory"}, []),
    ({"pyproject.toml": PYTHON.format("flit_core.buildapi", "") +
      '[tool.flit.sdist]\ninclude = ["notes/"]\n'},
     ['Add to `exclude` under [tool.flit.sdist] in pyproject.toml: "notes/memory/**".']),
    ({"pyproject.toml": PYTHON.format("poetry.core.masonry.api", "") +
      '[tool.poetry]\ninclude = [{path = "notes", format = "sdist"}]\n'},
     ['Add to `exclude` under [tool.poetry] in pyproject.toml: "notes/memory/**".']),
    ({"pyproject.toml": PYTHON.format("pdm.backend", "") +
      '[tool.pdm.build]\nsource-includes = ["notes/"]\nexcludes = ["notes/memory/**"]\n'}, []),
    ({"Cargo.toml": '[package]\nname = "a"\n'},
     ['Add to `exclude` under [package] in Cargo.toml: "/notes/memory".']),
    ({"Cargo.toml": '[package]\nexclude = ["/notes/memory"]\n'}, []),
    ({"Cargo.toml": '[package]\ninclude = ["src/"]\n'}, []),
    ({"Cargo.toml": '[package]\npublish = false\n'}, []),
    ({"Dockerfile": "FROM a\nCOPY src /app\nCOPY --from=b . .\n"}, []),
    ({"Containerfile": 'ADD [".", "/app"]\n'},
     ["Add to .dockerignore: `notes/memory`, `.mdmemory`."]),
    ({"Dockerfile": "copy ./ .\n", ".dockerignore": "*\n!src\n"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("files", "advice"), TAKES)
def test_a_builder_is_named_where_the_store_would_go_along(
    files: dict[str, str], advice: list[str], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert [each.advice for each in taken(tmp_path, PATHS)] == advice


RULES = [
    (["notes"], True), (["/notes/memory"], True), (["memory/"], True), (["/memory"], False),
    (["**/memory"], True), (["notes/**"], True), (["*.md"], True), (["# notes"], False),
    (["*", "!*.md"], True), (["*.md", "!x.md"], False), (["x.md/"], False), ([""], False),
    (["**/" * 90 + "y"], False),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "held"), RULES)
def test_rules_are_read_as_git_reads_them(
    rules: list[str], held: bool, repository: Path, git: Git
) -> None:
    assert ignores(rules, "notes/memory/x.md") == held
    (repository / ".gitignore").write_text("\n".join(rules) + "\n")
    (repository / "notes/memory").mkdir(parents=True)
    (repository / "notes/memory/x.md").write_text("")
    shown = git(repository, "status", "--porcelain", "-uall", "--", "notes")
    assert (not shown) == held
