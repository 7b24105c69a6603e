"""The pages in a real chromium: the main paths, the keys, two tabs, and nothing that runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import demo_store
import pytest
from pace import FULL, sample
from playwright.sync_api import Error

from mdmemory import Memory
from mdmemory.review import waiting

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Any]
CORPUS = json.loads(Path(__file__).with_name("xss.json").read_text("utf-8"))
PAGES = (
    "/inbox", "/overview", "/memory", "/memory/index", "/note/project/reference-staging-address",
    "/note/project/project-api-versioning", "/note/project/reference-staging-address/edit",
    "/changes", "/changes/project/newest", "/compaction", "/search?q=staging", "/sessions",
    f"/sessions/{demo_store.SESSION}", "/health", "/keys", "/nothing",
)  # fmt: skip


def layers(folder: Path) -> Memory:
    return Memory.around(folder / "billing", environment=demo_store.environment(folder))


def base(page: Page) -> str:
    return page.url.partition("/inbox")[0]


def is_chosen(page: Page, begin: str) -> bool:
    """Whether the item that has the keys is one whose id begins so, as soon as it has them."""
    ask = "document.activeElement.closest('[data-item]')?.id ?? ''"
    for _ in range(200):  # our policy forbids the page to evaluate text, and so `wait_for_function`
        with suppress(Error):  # a page that was not of now is asked for again
            if page.evaluate(ask).startswith(begin):
                return True
        page.wait_for_timeout(50)
    return False


def test_a_whole_review_by_keyboard_alone(open_page: Open, folder: Path) -> None:
    page = open_page()
    kinds = [item.kind for item in waiting.items(layers(folder))]
    assert kinds[:3] == ["conflict", "pending", "pending"]
    page.keyboard.press("j")
    assert is_chosen(page, "item-c-")
    page.keyboard.press("1")  # keep this
    page.get_by_text("holds, and replaced").wait_for()
    assert is_chosen(page, "item-p-")  # the next one, as soon as the keys are there
    page.keyboard.press("u")
    page.get_by_text("Taken back").wait_for()
    assert is_chosen(page, "item-c-")
    page.goto(base(page) + "/inbox", wait_until="networkidle")
    page.keyboard.press("2")  # nothing is chosen yet: this chooses, and answers nothing
    assert is_chosen(page, "item-c-")
    page.keyboard.press("2")
    page.get_by_text("holds, and replaced").wait_for()
    assert is_chosen(page, "item-p-"), "the next one has the keys"
    page.keyboard.press("1")
    page.get_by_text("Stored feedback-no-weekend-deploys").wait_for()
    assert is_chosen(page, "item-p-")
    page.keyboard.press("l")
    page.get_by_text("stays in the inbox").wait_for()
    assert is_chosen(page, "item-u-")
    page.keyboard.press("e")
    page.wait_for_url("**/inbox/edit/**")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Control+End")
    page.keyboard.type("It takes four minutes.\n")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Stored your wording").wait_for()
    assert [item.kind for item in waiting.items(layers(folder))] == ["pending"]
    note = layers(folder).main.note("the-nightly-backup-of-the").note
    assert "It takes four minutes." in note.body
    assert note.head.status == ""


def test_no_note_runs_a_script(open_page: Open, folder: Path, git: Open) -> None:
    assert len(CORPUS) == 100
    store = layers(folder).main.project.store
    rows = sample(list(enumerate(CORPUS)), 12)
    for number, text in rows:
        line = " ".join(text.split())
        head = f"name: bad-{number}\ndescription: {line!r}\nmetadata:\n  type: reference\n"
        (store / f"reference-bad-{number}.md").write_text(
            f"---\n{head}---\n\n{text}\n\nSee {text}\n", "utf-8"
        )
    git(store, "add", ".")  # what is in a commit waits for nobody, and is shown as markdown
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    git(store, *who, "commit", "-q", "-m", "by hand")
    page = open_page()
    outside: list[str] = []
    page.on("request", lambda asked: outside.append(asked.url))
    home = base(page)
    where = "/inbox /overview /memory?q=bad /memory/index /search?q=hacked /changes /health".split()
    for path in [*where, *(f"/note/project/reference-bad-{number}" for number, _ in rows)]:
        page.goto(home + path)
        for link in page.locator("main a").all() if "/note/" in path else ():
            href = link.get_attribute("href") or ""
            assert href.startswith(("https://", "/note/", "/changes/project/")), href
            assert link.get_attribute("onclick") is None
        for name in ("script:not([src])", "main img", "iframe", "object", "embed",
                     "main svg:not(.chart)", ".body svg:not(.arcs)",
                     "svg :not(rect, path, polygon, circle)",
                     "[onerror]", "[onload]", "[style]"):  # fmt: skip
            assert page.locator(name).count() == 0, (path, name)
        assert page.evaluate("window.hacked") is None, path
    assert all(url.startswith(home) for url in outside)


def test_two_tabs_and_a_command_line_at_once(open_page: Open, folder: Path) -> None:
    first, second = open_page(), open_page()
    edit = f"{base(first)}/note/project/feedback-review-size/edit"
    first.goto(edit)
    second.goto(edit)
    second.get_by_label("Text").fill("The second tab was quicker.")
    second.get_by_role("button", name="Save").click()
    second.get_by_text("Changed review-size").wait_for()
    layers(folder).main.edit("review-size", description="The command line came between")
    first.get_by_label("Text").fill("Words of the first tab, which took an hour.")
    first.get_by_role("button", name="Save").click()
    first.get_by_text("The note was changed while you wrote").wait_for()
    assert first.locator("ins", has_text="The second tab").count()
    assert first.get_by_label("Text").input_value() == "Words of the first tab, which took an hour."
    assert layers(folder).main.note("review-size").note.body == "The second tab was quicker."
    first.get_by_role("button", name="Save").click()
    first.get_by_text("Changed review-size").wait_for()
    texts = [step.text or "" for step in layers(folder).main.history("review-size")]
    for words in ("Words of the first tab", "The second tab", "The command line came between"):
        assert any(words in text for text in texts), words


FULL_ONLY = pytest.mark.full


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1280, "light"), (390, "dark"), pytest.param(1280, "dark", marks=FULL_ONLY),
     pytest.param(390, "light", marks=FULL_ONLY)],
)  # fmt: skip
def test_no_page_keeps_anybody_out(
    open_page: Open, axe: str, width: int, scheme: str, folder: Path
) -> None:
    page = open_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    home = base(page)
    wrong = []
    for path in PAGES if FULL else PAGES[width == 390 :: 4]:
        page.goto(home + path)
        while page.locator(".stale").count():
            page.wait_for_timeout(300)
        if path == "/compaction":
            page.get_by_role("button", name="Preview without a model").click()
            # the page loads itself anew until the preview is there, and half a page is no page
            page.get_by_role("button", name="Apply what is ticked").wait_for()
            page.wait_for_load_state()
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        wrong += [
            (path, each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"])
            for each in found["violations"] if each["impact"] in ("serious", "critical")
        ]  # fmt: skip
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert wrong == []


@pytest.mark.full
def test_the_pages_work_without_their_script(open_page: Open, folder: Path) -> None:
    page = open_page(java_script_enabled=False)
    page.get_by_role("button", name="keep this").click()
    page.get_by_text("holds, and replaced").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back").wait_for()
    page.get_by_role("link", name="Memory", exact=True).click()
    page.get_by_role("link", name="Keep pull requests under 400 lines").first.click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Description").fill("Keep pull requests small")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Changed review-size").wait_for()
    page.get_by_role("link", name="Keys").click()
    page.get_by_role("heading", name="Keys").wait_for()


@pytest.mark.full
def test_the_keys_lead_everywhere(open_page: Open) -> None:
    page = open_page()
    for key, path in (("o", "/overview"), ("m", "/memory"), ("c", "/changes"), ("p", "/compaction"),
                      ("s", "/sessions"), ("h", "/health"), ("i", "/inbox")):  # fmt: skip
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**{path}")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("staging")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=staging")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/note/project/reference-staging-address")
    page.keyboard.press("e")
    page.wait_for_url("**/edit")
    page.keyboard.type("1 2 3 d u g m")  # in a field they are letters
    assert page.url.endswith("/edit")


@pytest.mark.full
def test_the_focus_is_seen_and_the_skip_link_skips(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.evaluate("each => each === document.activeElement")
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.full
def test_a_key_pressed_twice_answers_once(open_page: Open, folder: Path) -> None:
    page = open_page()
    before = len(waiting.items(layers(folder)))
    page.keyboard.press("j")
    press = 'new KeyboardEvent("keydown", {key: "1", bubbles: true})'
    page.evaluate(
        f"() => {{ for (let n = 0; n < 3; n++) document.activeElement.dispatchEvent({press}) }}"
    )
    page.get_by_text("holds, and replaced").wait_for()
    assert len(waiting.items(layers(folder))) == before - 1


@pytest.mark.full
def test_another_site_cannot_post_or_frame_or_read(
    open_page: Open, browser: Any, folder: Path
) -> None:
    """A page of another origin in the same browser, with the cookie at hand."""
    import http.server
    import threading

    page = open_page()
    home, before = base(page), len(waiting.items(layers(folder)))
    item = waiting.items(layers(folder))[0]
    attack = (
        f'<form id=f method=post action="{home}/inbox/answer/this/{item.id}">'
        "<input name=seen></form>"
        f'<iframe src="{home}/inbox"></iframe><script>window.read = "";'
        f'fetch("{home}/inbox", {{credentials: "include"}}).then(a => a.text())'
        '.then(t => { window.read = t }, e => { window.read = "refused" })</script>'
    )

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(attack.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        evil = page.context.new_page()
        evil.goto(f"http://localhost:{server.server_port}/")
        evil.wait_for_function("window.read !== ''")
        assert evil.evaluate("window.read") == "refused"
        assert "Inbox" not in (evil.frames[1].content() if len(evil.frames) > 1 else "")
        evil.evaluate("document.getElementById('f').submit()")
        evil.wait_for_url(f"{home}/inbox/answer/**")
        assert "Inbox" not in evil.content()
    finally:
        server.shutdown()
        server.server_close()
    assert len(waiting.items(layers(folder))) == before
