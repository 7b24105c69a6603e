"""Whatever fails, a fact of a project never goes to the person's layer: it is written in the
project, waits, or is refused."""

import builtins
import io
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from projects import git
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import GitFailed, MdmemoryError
from mdmemory.git import repositories
from mdmemory.transcripts.turns import Turn

Patch = pytest.MonkeyPatch
Harm = Callable[[Path, Path, Patch], object]  # the project, its store
FACT = "deploys go out on Tuesdays only"
PART = FACT[1:]  # a note may begin it with a capital
SAID = f"Remember that {FACT}."


def by_wish(layers: Memory) -> None:
    layers.keep_wishes([FACT], session="ses_1", turn="msg_1", message=SAID)
    layers.begin_for_wishes()
    layers.settle_wishes("ses_1", "msg_2")


def by_call(layers: Memory) -> None:
    layers.store(FactCall(FACT, quote=SAID), Caller("ses_1", (Turn("msg_1", "user", SAID),)))


def by_hand(layers: Memory) -> None:
    layers.add(FACT)


def by_import(layers: Memory) -> None:
    file = layers.start / "facts.md"
    file.write_text(f"- {FACT}.\n")
    layers.import_from(file)


def by_session(layers: Memory) -> None:
    message = {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": SAID}]}
    layers.extract(json.dumps({"info": {"id": "ses_2"}, "messages": [message]}).encode())


WAYS = (by_wish, by_call, by_hand, by_import, by_session)


# --- where the project's store may lie, and what may go wrong: with it, with the project's git,
# with all of git, with the memory folder

Place = Callable[[Path, BeginStore], Path]
PLACES: dict[str, Place] = {
    "shared": lambda project, begin: begin().project.store,
    "own": lambda project, begin: begin(own_repo=True).project.store,
    "in the memory folder": lambda project, _: Memory.init(project, home=True)[0].project.store,
    "not there yet": lambda project, _: project / "not-there",
}


def settings_of(project: Path, store: Path) -> list[Path]:
    return [file for folder in (project, store) if (file := folder / "mdmemory.toml").is_file()]


def link_index(project: Path, store: Path, _: Patch) -> None:
    (store / "MEMORY.md").unlink()
    (store / "MEMORY.md").symlink_to(project / "README")


def break_settings(project: Path, store: Path, _: Patch) -> None:
    for file in settings_of(project, store):
        file.write_text("store = [[[")


def close_settings(project: Path, store: Path, patch: Patch) -> None:
    for file in settings_of(project, store):
        close(file, patch)


def put_in_the_way(store: Path, what: Callable[[Path], object]) -> None:
    store.rename(store.with_name("away"))
    what(store)


def put_for_git(project: Path, what: bytes | None) -> None:
    shutil.rmtree(project / ".git")
    (project / ".git").mkdir() if what is None else (project / ".git").write_bytes(what)


def take_git(project: Path, store: Path, _: Patch) -> None:
    store.stat()  # a folder without store and git is no project
    shutil.rmtree(project / ".git")


def failing(problem: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise problem

    return fail


def close_memory_folder(_: Path, __: Path, patch: Patch) -> None:
    real, closed = os.access, os.path.expanduser("~/mdmemory")
    patch.setattr(os, "access", lambda path, mode: str(path) != closed and real(path, mode))


HANGS = GitFailed("git did not end within 120 s.")
FULL = OSError(28, "No space left on device", "it")
OTHERS = "GIT_TEST_ASSUME_DIFFERENT_OWNER"
HARMS: dict[str, Harm] = {
    "the index is foreign": lambda _, store, __: (store / "MEMORY.md").write_text("# mine\n"),
    "the index is a link": link_index,
    "settings are broken": break_settings,
    "settings are closed": close_settings,
    "the store is gone": lambda _, store, __: store.rename(store.with_name("away")),
    "the store is a file": lambda _, store, __: put_in_the_way(store, Path.touch),
    "the store is a link": lambda p, store, _: put_in_the_way(store, lambda at: at.symlink_to(p)),
    "the store is closed": lambda _, store, patch: close(store, patch),
    "the store's git is broken": lambda _, store, __: (store / ".git/HEAD").unlink(),
    "git refuses it": lambda _, __, patch: patch.setitem(repositories._ENVIRONMENT, OTHERS, "1"),
    "git has no head": lambda project, _, __: (project / ".git/HEAD").unlink(),
    "git has no objects": lambda project, _, __: shutil.rmtree(project / ".git/objects"),
    "git's settings are broken": lambda p, _, __: (p / ".git/config").write_text("[core\n"),
    "git's folder is empty": lambda project, _, __: put_for_git(project, None),
    "git's folder leads nowhere": lambda p, _, __: put_for_git(p, b"gitdir: /nowhere\n"),
    "git's folder is no text": lambda project, _, __: put_for_git(project, b"\xff\0\xfe"),
    "git's folder is gone": take_git,
    "git is not installed": lambda _, __, patch: patch.setenv("PATH", "/nowhere"),
    "git does not end": lambda _, __, patch: patch.setattr(repositories, "run", failing(HANGS)),
    "the memory folder is closed": close_memory_folder,
    "the disk is full": lambda _, __, patch: patch.setattr(Path, "mkdir", failing(FULL)),
}


@pytest.fixture(scope="session")
def _persons(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("person")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        project = shutil.copytree(_first_commit, home / "project")
        Memory.around(project).add("my name is Ada Okafor", type="user")
    return home / "mdmemory"


@pytest.fixture
def persons(_persons: Path, empty_home: Path) -> Path:
    """The person's own store, with one note."""
    return shutil.copytree(_persons, empty_home / "mdmemory", symlinks=True) / "me"


def told(store: Path) -> str:
    """All that the notes of a store, or any commit there, say."""
    files = (path for path in store.rglob("*.md") if ".git" not in path.parts)
    return "".join([*(path.read_text() for path in files), git(store, "log", "-p")])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("harm", HARMS)
def test_whatever_fails_a_fact_of_a_project_never_goes_to_the_persons_layer(
    place: str, harm: str, persons: Path, repository: Path, begin_store: BeginStore
) -> None:
    store = PLACES[place](repository, begin_store)
    with pytest.MonkeyPatch.context() as patch:
        with suppress(FileNotFoundError):  # nothing is there that could be harmed
            HARMS[harm](repository, store, patch)
        for way in WAYS:
            with suppress(MdmemoryError):  # refused, in a sentence
                way(Memory.around(repository))
    now = told(persons)
    assert "Ada Okafor" in now
    assert PART not in now


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_where_nothing_fails_it_goes_to_the_projects(
    place: str,
    way: Callable[[Memory], None],
    persons: Path,
    repository: Path,
    begin_store: BeginStore,
) -> None:
    PLACES[place](repository, begin_store)
    way(Memory.around(repository))
    assert PART in told(Memory.around(repository).of_project.project.store)
    assert PART not in told(persons)


def close(closed: Path, patch: Patch) -> None:
    """Have nobody open or list what lies there: root is kept from nothing by permissions."""

    def close_call(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def call(path: object, *rest: object, **more: object) -> object:
            if not isinstance(path, int) and Path(os.fspath(path)).is_relative_to(closed):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *rest, **more)

        patch.setattr(owner, name, call)

    for owner, name in ((os, "open"), (os, "scandir"), (os, "listdir"), (io, "open"),
                        (builtins, "open")):  # fmt: skip
        close_call(owner, name)
