"""What every test stands on: an empty home, no git configuration, nothing of the machine's."""

import gc
import os
import shutil
import signal
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from fake_server import FakeServer
from hypothesis import settings
from pace import FULL

import mdmemory

pytest_plugins = ("machines", "projects", "stores", "citing_projects")

SCRUBBED = ("GIT_", "MDMEMORY_", "MEMORY_", "OPENAI_", "XDG_", "OPENCODE")
MEMORY_DISK = Path("/dev/shm")
ROOM = 2 * 1024**3  # bytes; a whole run takes a tenth of it
QUICK = "not slow"  # and given none of these
SLOW = 20  # other tests take as long as a slow one
REPOSITORIES = frozenset(
    "_cited _first_commit _machines _made begin_store clones empty_remote git home machine server"
    " template".split()
)
# where Debian and others keep `useradd`, which the PostgreSQL of the tests calls as root
SYSTEM_PROGRAMS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def pytest_configure(config: pytest.Config) -> None:
    """Scratch folders in memory where that is possible: thousands of commits wait for a disk.

    And without the slow tests, laws are tried on fewer examples (see `pace.py`).
    """
    _find_system_programs()
    _hear_interrupts()
    if os.environ.get("MDMEMORY_TEST_INSTALLED") == "1":
        _require_installed()
    if config.option.basetemp is None and _holds_programs(MEMORY_DISK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
    # no law is about time, and a busy machine takes ten times as long as an idle one
    settings.register_profile("usual", settings.default, deadline=None)
    settings.load_profile("usual")
    settings.register_profile("patient", deadline=None)  # no test fails by the clock
    settings.register_profile("sample", settings.get_profile("patient"), max_examples=50)
    settings.register_profile("quick", settings.get_profile("patient"), max_examples=25)
    quick = config.option.markexpr == QUICK
    settings.load_profile("patient" if FULL else "quick" if quick else "sample")


def pytest_xdist_auto_num_workers() -> int:
    """Half as many workers again as there are cores: a quarter of a run is waiting for clients."""
    return -(-3 * (os.cpu_count() or 1) // 2)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make quick` tries what begins no repository and starts no client or server.

    Tests in clients that are large to install run only where they are asked for.
    """
    if os.environ.get("MDMEMORY_TEST_HOSTS") != "1":
        _keep(config, items, {item for item in items if not item.get_closest_marker("hosts")})
    if not FULL:
        _keep(config, items, {item for item in items if not item.get_closest_marker("full")})
    if config.option.markexpr == QUICK:
        _keep(config, items, {item for item in items if REPOSITORIES.isdisjoint(item.fixturenames)})
    # the files that take longest begin: a slow test counts as many
    costs = Counter[Path]()
    for item in items:
        costs[item.path] += SLOW if item.get_closest_marker("slow") else 1
    items.sort(key=lambda item: -costs[item.path])


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not look through it again."""
    gc.collect()
    gc.freeze()


def _keep(config: pytest.Config, items: list[pytest.Item], chosen: set[pytest.Item]) -> None:
    """Leave the other tests out of this run."""
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def _find_system_programs() -> None:
    """Put the system's folders of programs behind the others of PATH."""
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    missing = [folder for folder in SYSTEM_PROGRAMS if folder not in known]
    os.environ["PATH"] = os.pathsep.join([*known, *missing])


def _require_installed() -> None:
    """Refuse to try a checkout where the installed wheel is meant (`make release`)."""
    package, installed = Path(mdmemory.__file__).parent, Path(sysconfig.get_path("purelib"))
    if package.parent != installed:
        raise pytest.UsageError(f"mdmemory was imported from {package}, not from {installed}.")


def _hear_interrupts() -> None:
    """Answer Ctrl-C: under nohup or in the background it is ignored, also by what we start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _holds_programs(folder: Path) -> bool:
    """Whether there is room, and scripts can be run there: a container's often forbids that."""
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    may = os.access(folder, os.W_OK) and not room.f_flag & os.ST_NOEXEC
    return may and room.f_bavail * room.f_frsize >= ROOM


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(SCRUBBED) or name in ("EDITOR", "VISUAL"):
                patch.delenv(name)
        patch.delenv("CI", raising=False)  # there no store is made in the memory folder
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Empty folders: the same again as long as nobody wrote into it."""
    base = tmp_path_factory.mktemp("homes")

    def homes() -> Iterator[Path]:
        for number in count():
            home = base / str(number)
            home.mkdir()
            yield home
            while not any(home.iterdir()):
                yield home

    return homes()


@pytest.fixture(autouse=True)
def empty_home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, so that nothing of the machine is read or written."""
    home = next(_homes)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture(scope="session")
def git() -> Callable[..., str]:
    """Runs the real git: `git(folder, "log", "--oneline")` gives what it prints."""
    from projects import git

    return git


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A server that speaks as those of models do."""
    with FakeServer() as running:
        yield running


@pytest.fixture(scope="session")
def _first_commit(
    _clean_environment: None, tmp_path_factory: pytest.TempPathFactory, git: Callable[..., str]
) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.com")
    for room in ("hooks", "info"):  # as a template of git has them
        (folder / ".git" / room).mkdir()
    (folder / "README").write_text("a project\n", encoding="utf-8")
    git(folder, "add", "README")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def repository(_first_commit: Path, tmp_path: Path) -> Path:
    """A git repository of a person's own, with one commit and an identity."""
    return shutil.copytree(_first_commit, tmp_path / "project")
