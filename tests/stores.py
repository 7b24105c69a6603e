"""A store of a person's own inside a larger repository, and a writer for it."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from projects import commit_all

from mdmemory import Memory
from mdmemory.config.settings import load_settings
from mdmemory.observe import observation
from mdmemory.observe.observation import Observation
from mdmemory.store.project import Project
from mdmemory.store.writer import Writer
from mdmemory.tools import table
from mdmemory.tools.table import Caller, ToolAnswer

BeginStore = Callable[..., Memory]
Begun = dict[tuple[bool, Callable[[Memory], object] | None], Path]  # by its kind, and who filled it


def write_note(store: Path, file: str, body: str) -> bytes:
    """Put a note there as a hand would: its bytes."""
    kind, _, name = file.removesuffix(".md").partition("-")
    head = f"---\nname: {name}\ndescription: About {name}\nmetadata:\n  type: {kind}\n---\n"
    data = f"{head}\n{body}\n".encode()
    (store / file).write_bytes(data)
    return data


def open_writer(root: Path, store: str = "notes/memory") -> Writer:
    """A writer for the store notes/memory of the project `root`."""
    settings = load_settings({}, root / "no-such.toml", root / "mdmemory.toml")
    project = Project(root, root / store, settings)
    return Writer(project, lambda text: "SECRET" in text, "a test")


@pytest.fixture(name="write_note")
def _write_note() -> Callable[[Path, str, str], bytes]:
    return write_note


@pytest.fixture(name="open_writer")
def _open_writer() -> Callable[..., Writer]:
    return open_writer


@pytest.fixture
def store(repository: Path) -> Path:
    """The folder notes/memory of `repository`, with three notes that are committed."""
    folder = repository / "notes" / "memory"
    folder.mkdir(parents=True)
    for file in ("feedback-old.md", "project-plan.md", "user-name.md"):
        write_note(folder, file, f"What {file} says.")
    commit_all(repository, "notes")
    return folder


@pytest.fixture(scope="session")
def _begun(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """Projects with an empty store, in their repository or (True) with one of its own; those of
    which a test filled the store are added."""
    found: Begun = {}
    for own_repo in (False, True):
        folder = tmp_path_factory.mktemp("begun")
        found[own_repo, None] = shutil.copytree(_first_commit, folder / "project")
        Memory.init(folder / "project", own_repo=own_repo, environment={"HOME": str(folder)})
    return found


@pytest.fixture
def begin_store(
    _begun: Begun, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> BeginStore:
    """`begin_store(own_repo=True, clock=...)` gives `repository` an empty store, as `Memory.init`
    does and by a copy, and opens it; with `fill` one that this function filled, once in a run."""

    def begin(
        *, own_repo: bool = False, fill: Callable[[Memory], object] | None = None, **how: Any
    ) -> Memory:
        if (own_repo, fill) not in _begun:
            folder = tmp_path_factory.mktemp("filled") / "project"
            shutil.copytree(_begun[own_repo, None], folder, symlinks=True)
            assert fill
            fill(Memory.open(folder, **how))
            _begun[own_repo, fill] = folder
        source = _begun[own_repo, fill]
        shutil.copytree(source, repository, symlinks=True, dirs_exist_ok=True)
        return Memory.open(repository, **how)

    return begin


def observe(memory: Memory, title: str, session: str, **more: Any) -> Observation:
    """Keep an observation, as the queue does."""
    draft, at = observation.make_draft("discovery", title, **more), memory.now()
    with memory.state() as state:
        insert = observation.insert_statement(session, f"{at:%FT%T+00:00}", "bash", "", draft)
        state.change(insert)
        return observation.newest(state, 1)[0]


def call(
    memory: Memory, name: str, arguments: Mapping[str, Any], caller: Caller | None = None
) -> ToolAnswer:
    """The answer of a tool that is asked of this store alone."""
    root = memory.project.root
    layers = Memory.around(root, store=str(root), clock=memory.now)
    return table.call_tool(layers, name, arguments, caller)
