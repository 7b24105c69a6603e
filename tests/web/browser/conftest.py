"""A real browser at a real server, on the demo's stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromium
import demo_store
import pytest
from running import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OPENED = "**/inbox"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser, started once; without one the tests are skipped, and say so."""
    if chromium.program() is None:
        pytest.skip(chromium.MISSING)
    try:
        with chromium.browser() as started:
            yield started
    except chromium.NotStarted as problem:
        pytest.skip(str(problem))


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    """The address of a server at the demo's stores, with its token."""
    environment = demo_store.environment(folder)
    with running(folder / "billing", environment) as (address, _):
        yield address


@pytest.fixture
def open_page(browser: Browser, served: str) -> Iterator[Callable[..., Page]]:
    """Opens a page of a browser that was let in; of one that forbids a script of its own nothing
    may run, and what a page complains of fails the test."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def heard(said: Any) -> None:
        if said.type in ("error", "warning"):
            complaints.append(said.text)

    def opened(**options: Any) -> Page:
        if contexts and not options:
            page = contexts[0].new_page()
        else:
            context = browser.new_context(**options)
            contexts.append(context)
            page = context.new_page()
            page.goto(served)
            page.wait_for_url(OPENED)
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        page.on("console", heard)
        return page

    yield opened
    for context in contexts:
        context.close()
    # an answer of 409 or 404 is a complaint of the console, and what the test asked for
    assert [each for each in complaints if "status of 4" not in each] == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core; without it the tests are skipped, and say so."""
    found = chromium.axe()
    if found is None:
        pytest.skip("NOT RUN: axe-core is not here. `sh tests/e2e/axe/install` brings it.")
    return found
