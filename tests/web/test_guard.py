"""Who reaches a page, and what every answer says to the browser: each rule by itself."""

import os
import re
from typing import Any

from starlette.testclient import TestClient
from visiting import SAME_ORIGIN, Visitor

from mdmemory.web.access import ENTRY, Access
from mdmemory.web.guard import MOST_BODY, Guard

PORT = 4567
OURS = f"http://127.0.0.1:{PORT}"
FORM = "application/x-www-form-urlencoded"


class Reached(Exception):
    """A request came through to the pages."""


async def pages(scope: Any, receive: Any, send: Any) -> None:
    raise Reached


def guarded(user: int | None = None) -> tuple[TestClient, Access]:
    access = Access(PORT)
    guard = Guard(pages, access, user_of=lambda *_: user)
    return TestClient(guard, base_url=OURS), access  # type: ignore[arg-type]


def let_in(user: int | None = None) -> tuple[TestClient, Access]:
    client, access = guarded(user)
    assert client.get(path_of(access)).status_code == 200
    return client, access


def path_of(access: Access) -> str:
    return access.address().removeprefix(OURS)


def reaches(client: TestClient, method: str = "GET", path: str = "/inbox", **how: Any) -> int:
    """200 where the request reached a page, else the status of the refusal."""
    try:
        return client.request(method, path, **how).status_code
    except Reached:
        return 200


def test_nobody_gets_in_without_the_token() -> None:
    client, _ = guarded()
    for path in ("/", "/inbox", "/static/style.css", ENTRY, f"{ENTRY}?token=", f"{ENTRY}?token=x"):
        assert reaches(client, path=path) == 403
    assert reaches(client, "POST", "/inbox", content="a=b", headers={"content-type": FORM}) == 403


def test_the_token_works_once_and_for_one_browser() -> None:
    client, access = guarded()
    assert client.get(path_of(access)).status_code == 200
    assert reaches(client) == 200
    assert client.get(path_of(access)).status_code == 200, "the browser that is in may come back"
    client.cookies.clear()
    assert client.get(path_of(access)).status_code == 403
    assert reaches(client) == 403


def test_the_cookie_is_out_of_reach_and_its_name_is_another_one_each_run() -> None:
    names = set()
    for _ in range(2):
        client, access = guarded()
        said = client.get(path_of(access)).headers["set-cookie"]
        name, _, options = said.partition(";")
        assert re.fullmatch(r"mdmemory-[0-9a-f]{12}=[\w-]{43}", name)
        assert options == " Path=/; HttpOnly; SameSite=Strict"
        names.add(said.partition("=")[0])
    assert len(names) == 2


def test_a_cookie_of_another_run_or_a_guess_is_none() -> None:
    client, access = guarded()
    for value in ("x", "", Access(PORT).set_cookie().partition("=")[2].partition(";")[0]):
        assert reaches(client, headers={"cookie": f"{access.cookie}={value}"}) == 403
    assert reaches(client, headers={"cookie": "\x01;;=;" + "a" * 4000}) == 403


def test_the_token_is_no_key_to_the_pages_themselves() -> None:
    client, access = guarded()
    token = path_of(access).partition("=")[2]
    assert reaches(client, path=f"/inbox?token={token}") == 403
    assert reaches(client, headers={"cookie": f"{access.cookie}={token}"}) == 403
    assert reaches(client, "POST", path_of(access), headers={"content-type": FORM}) == 403


# --- the name by which we are called -------------------------------------------------------------


def test_our_own_names_with_our_port_are_ours() -> None:
    client, _ = let_in()
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert reaches(client, headers={"host": f"{host}:{PORT}"}) == 200


def test_every_other_name_is_refused_so_that_rebinding_is_no_use() -> None:
    client, _ = let_in()
    for host in (
        *("evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost:80", f"0.0.0.0:{PORT}"),
        *(f"127.0.0.1.evil:{PORT}", f"LOCALHOST.evil:{PORT}", "", f"localhost:{PORT}@evil"),
        f"[::2]:{PORT}",
    ):
        for path in ("/inbox", ENTRY):
            assert reaches(client, path=path, headers={"host": host}) == 403, host


def posted(client: TestClient, access: Access, path: str = "/undo", **headers: str) -> int:
    body = f"form_token={access.form_token(path)}&act=1"
    given = {name.replace("_", "-"): text for name, text in headers.items()}
    given["content-type"] = FORM
    return reaches(client, "POST", path, content=body, headers=given)


def test_a_form_of_our_own_page_is_taken() -> None:
    client, access = let_in()
    assert posted(client, access, sec_fetch_site="same-origin", origin=OURS) == 200
    assert posted(client, access, sec_fetch_site="same-origin", origin="null") == 200
    assert posted(client, access, origin=OURS) == 200, "an old browser says no more"
    assert posted(client, access, origin=f"http://localhost:{PORT}") == 200


def test_a_form_of_another_site_is_refused_though_it_has_cookie_and_token() -> None:
    client, access = let_in()
    for site, origin in (
        *(("", ""), ("", "null"), ("", "http://evil.example"), ("none", ""), ("cross-site", OURS)),
        *(("same-site", ""), ("cross-site", "null"), ("same-origin", "http://evil.example")),
        *(("", f"https://127.0.0.1:{PORT}"), ("", "http://127.0.0.1:1"), ("", f"{OURS}.evil")),
    ):
        headers = {"sec_fetch_site": site, "origin": origin}
        given = {name: text for name, text in headers.items() if text}
        assert posted(client, access, **given) == 403, given


def test_each_form_needs_a_token_of_its_own() -> None:
    client, access = let_in()
    for token in ("", "x", "a.b", access.form_token("/other"), Access(PORT).form_token("/undo")):
        body = f"form_token={token}&act=1"
        headers = {"content-type": FORM, **SAME_ORIGIN}
        assert reaches(client, "POST", "/undo", content=body, headers=headers) == 403
    assert access.form_token("/undo") != access.form_token("/undo")


def test_only_whole_small_forms_are_read() -> None:
    client, _ = let_in()
    for kind in ("application/json", "multipart/form-data; boundary=x", "text/plain", ""):
        headers = {"content-type": kind, **SAME_ORIGIN}
        assert reaches(client, "POST", "/undo", content="{}", headers=headers) == 415
    headers = {"content-type": FORM, **SAME_ORIGIN}
    for body in ("a=" + "b" * MOST_BODY, "&".join(f"a{n}=" for n in range(3000)), "a=%ff%fe"):
        assert reaches(client, "POST", "/undo", content=body, headers=headers) in (400, 413)


def test_there_are_no_other_methods_and_no_cors() -> None:
    client, _ = let_in()
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        answer = client.request(method, "/inbox", headers={"origin": "http://evil.example"})
        assert answer.status_code == 405, method
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_every_answer_has_the_headers_that_keep_a_browser_safe(visitor: Visitor) -> None:
    for path in ("/inbox", "/static/keys.js", "/static/none", "/nothing", ENTRY, "/"):
        headers = visitor.client.get(path, follow_redirects=False).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control-")]
        assert "server" not in headers


def test_no_page_has_an_inline_script_style_or_handler_or_an_outside_asset(
    visitor: Visitor,
) -> None:
    for path in (
        "/inbox", "/memory", "/note/project/project-api-versioning", "/changes", "/compaction",
        "/sessions", "/health", "/search?q=staging", "/nothing",
    ):  # fmt: skip
        page = visitor.get(path)
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:", page)
        found = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', page)
        assert found
        assert all(each.startswith("/static/") for each in found)


def test_a_get_of_any_page_changes_nothing(visitor: Visitor, folder: Any, git: Any) -> None:
    store = folder / "home" / "mdmemory" / "billing"
    before = git(store, "rev-parse", "HEAD"), sorted(p.read_bytes() for p in store.glob("*.md"))
    for path in ("/inbox", "/inbox/answer/drop/p-1", "/undo", "/memory/add", "/compaction/apply",
                 "/note/project/feedback-review-size/forget", "/changes/project/newest/undo",
                 "/health/again", "/compaction/preview", "/health"):  # fmt: skip
        visitor.get(path)
        assert visitor.status in (200, 404, 405)
    after = git(store, "rev-parse", "HEAD"), sorted(p.read_bytes() for p in store.glob("*.md"))
    assert after == before


def test_another_user_of_this_machine_is_refused_before_the_token_is_looked_at() -> None:
    client, access = guarded(user=os.geteuid() + 1)
    assert reaches(client, path=path_of(access)) == 403
    client, access = guarded(user=-1)  # the machine knows its users, and this is nobody's
    assert reaches(client, path=path_of(access)) == 403
    for known in (os.geteuid(), None):  # None: a machine that does not tell
        client, access = guarded(user=known)
        assert reaches(client, path=path_of(access)) == 200


def test_a_form_token_is_of_the_address_without_its_question(visitor: Visitor) -> None:
    visitor.get("/inbox")
    assert visitor.forms()
    assert all("?" not in form.action for form in visitor.forms())
