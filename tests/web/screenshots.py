"""Pictures of every page, at the widths of a desk and of a phone, light and dark.

`python tests/web/screenshots.py [PAGE...]` writes build/web/PAGE-WIDTH-SCHEME.png from the demo
store, and docs/images/inbox.png for docs/inbox.md when no page is named.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "web"), str(ROOT / "tests/web/browser")]

import chromium  # noqa: E402
import demo_store  # noqa: E402
from running import running  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

NOTE = "/note/project/reference-staging-address"
PAGES = {
    "inbox": "/inbox", "overview": "/overview", "memory": "/memory",
    "inbox-edit": "/inbox/edit/c-b5b7d1f9?side=0",
    "memory-md": "/memory/index", "note": NOTE, "note-edit": f"{NOTE}/edit",
    "note-decision": "/note/project/project-api-versioning", "changes": "/changes",
    "change": "/changes/project/newest", "compaction": "/compaction", "search": "/search?q=staging",
    "sessions": "/sessions", "session": f"/sessions/{demo_store.SESSION}", "health": "/health",
    "keys": "/keys", "missing": "/no-such-page",
}  # fmt: skip
WIDTHS = {1280: 860, 390: 844}
SCHEMES = ("light", "dark")


def pictures(browser: Browser, address: str, wanted: list[str], folder: Path) -> None:
    """Write a picture of each page that is wanted."""
    cookies = []
    for width, height in WIDTHS.items():
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme,
                device_scale_factor=1,
            )  # fmt: skip
            if cookies:
                context.add_cookies(cookies)
            page = context.new_page()
            if not cookies:
                page.goto(address)
                page.wait_for_url("**/inbox")
                cookies = context.cookies()
            base = address.partition("/open")[0]
            for name in wanted:
                page.goto(base + PAGES[name])
                page.wait_for_load_state("networkidle")
                while page.locator(".stale").count():
                    page.wait_for_timeout(500)
                if name == "compaction":
                    page.get_by_role("button", name="Preview without a model").click()
                path = folder / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=path, full_page=True)
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    print(f"{path.name}: {wide} pixels wide")
            context.close()


def readme(context: BrowserContext, base: str) -> None:
    """The one picture of the README."""
    page = context.new_page()
    page.goto(f"{base}/inbox")
    page.wait_for_load_state("networkidle")
    target = ROOT / "docs" / "images" / "inbox.png"
    target.parent.mkdir(exist_ok=True)
    page.screenshot(path=target, clip={"x": 0, "y": 0, "width": 1000, "height": 640})
    print(target, target.stat().st_size)


def main(wanted: list[str]) -> None:
    """Make the pictures that are named, or all."""
    folder = ROOT / "build" / "web"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        demo_store.make(Path(made))
        environment = demo_store.environment(Path(made))
        project = Path(made) / "billing"
        with running(project, environment) as (address, _), chromium.browser() as browser:
            pictures(browser, address, wanted or [*PAGES], folder)
        if not wanted:
            with running(project, environment) as (address, _), chromium.browser() as browser:
                context = browser.new_context(viewport={"width": 1000, "height": 640})
                page = context.new_page()
                page.goto(address)
                page.wait_for_url("**/inbox")
                readme(context, address.partition("/open")[0])


if __name__ == "__main__":
    main(sys.argv[1:])
