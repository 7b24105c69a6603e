"""Stores with a page of their own, in this process."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import demo_store
import pytest
from starlette.testclient import TestClient
from visiting import Visit, Visitor

from mdmemory import Memory
from mdmemory.web.access import Access
from mdmemory.web.application import application
from mdmemory.web.cache import KeptValues
from mdmemory.web.guard import Guard
from mdmemory.web.site import Site

PORT = 4567
NOW = datetime(2026, 6, 29, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's stores as they were made, aside; they know the folder that they were made in."""
    folder = tmp_path_factory.mktemp("web") / "demo"
    demo_store.make(folder)
    return folder.rename(folder.with_name("made"))


@pytest.fixture
def folder(_made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's stores, as new, in the folder that they were made in."""
    place = _made.with_name("demo")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_made, place, symlinks=True)
    for name, value in demo_store.environment(place).items():
        monkeypatch.setenv(name, value)
    return place


@pytest.fixture
def opened(folder: Path) -> Callable[..., Memory]:
    """Opens the stores, as another process would."""

    def begin(**how: bool) -> Memory:
        return Memory.around(
            folder / "billing", environment=demo_store.environment(folder), clock=lambda: NOW,
            holder="a test", **how,
        )  # fmt: skip

    return begin


@pytest.fixture
def visit(opened: Callable[..., Memory]) -> Iterator[Visit]:
    """Begins a run and gives a browser that was let in; options are those of `Site`."""
    sites: list[Site] = []

    def watched() -> Memory:
        return opened(watched=True)

    def begin(**options: object) -> Visitor:
        access = Access(PORT)
        kept = KeptValues(patience=60)  # a test waits until what it sees is of now
        site = Site(access, watched, raised, kept=kept, **options)  # type: ignore[arg-type]
        sites.append(site)
        guard = Guard(application(site), access, user_of=lambda *_: None)
        client = TestClient(guard, base_url=f"http://127.0.0.1:{PORT}")  # type: ignore[arg-type]
        return Visitor(client, access).enter()

    yield begin
    for site in sites:
        site.close()


@pytest.fixture
def visitor(visit: Visit) -> Visitor:
    """A browser that was let in."""
    return visit()


def raised(problem: Exception) -> str:
    """A failure that nobody foresaw fails the test."""
    raise problem
