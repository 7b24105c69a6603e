"""A browser without a screen: asks for pages in this process, and sends their forms."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.testclient import TestClient

from mdmemory.web.access import Access

SAME_ORIGIN = {"sec-fetch-site": "same-origin"}
_FORM = re.compile(r'<form method="post" action="([^"]+)"[^>]*>(.*?)</form>', re.DOTALL)
_FIELD = re.compile(r"<(input)([^>]*)>()|<(textarea)([^>]*)>\n?(.*?)</textarea>", re.DOTALL)
_VALUE = re.compile(r'([a-z-]+)(?:="([^"]*)")?')


@dataclass
class Posting:
    """A form of a page: where it posts to, its fields, and the words on its button."""

    action: str
    fields: dict[str, list[str]]
    button: str


@dataclass
class Visitor:
    """One browser at a server; `page` is the text of the page it is on."""

    client: TestClient
    access: Access
    page: str = ""
    path: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def enter(self) -> Visitor:
        """Open the address with the token."""
        self.client.get(self.access.address().partition(str(self.access.port))[2])
        return self

    def get(self, path: str, **headers: str) -> str:
        """Ask for a page."""
        return self._at(self.client.get(path, headers=headers))

    def forms(self) -> list[Posting]:
        """The forms of the page that post."""
        return [_posting(match) for match in _FORM.finditer(self.page)]

    def form(self, button: str, where: str = "") -> Posting:
        """The form with these words on its button, and in its address."""
        found = [each for each in self.forms() if each.button == button and where in each.action]
        assert found, (button, [(each.button, each.action) for each in self.forms()])
        return found[0]

    def press(self, button: str, where: str = "", **typed: str) -> str:
        """Send the form with these words on its button, with some fields filled in."""
        return self.send(self.form(button, where), **typed)

    def send(self, form: Posting, **typed: Any) -> str:
        """Send a form, and follow to the page that it leads to."""
        fields = form.fields | {
            name: value if isinstance(value, list) else [value] for name, value in typed.items()
        }
        return self._at(self.post(form.action, fields))

    def post(self, path: str, fields: dict[str, list[str]], **headers: str) -> Any:
        """Post fields to an address, as a page of ours does."""
        kind = {"content-type": "application/x-www-form-urlencoded"}
        body = urlencode(fields, doseq=True)
        return self.client.post(path, content=body, headers=kind | (headers or SAME_ORIGIN))

    def _at(self, answer: Any) -> str:
        self.page, self.status = html.unescape(answer.text), answer.status_code
        self.headers, self.path = dict(answer.headers), answer.url.path
        self.page = answer.text
        return self.page

    def settled(self) -> str:
        """Ask for the page again until it waits for nothing more."""
        while 'class="stale"' in self.page:
            time.sleep(0.1)
            self.get(self.path)
        return self.page

    def said(self) -> str:
        """What the page says was done."""
        found = re.search(r'<div class="said" role="status">\s*<p>(.*?)</p>', self.page, re.DOTALL)
        return html.unescape(found[1]) if found else ""


def _posting(match: re.Match[str]) -> Posting:
    fields: dict[str, list[str]] = {}
    for found in _FIELD.findall(match[2]):
        tag, attributes, text = found[:3] if found[0] else found[3:]
        known = dict(_VALUE.findall(attributes))
        if "name" not in known or (known.get("type") == "checkbox" and "checked" not in known):
            continue
        value = text if tag == "textarea" else known.get("value", "")
        fields.setdefault(known["name"], []).append(html.unescape(value))
    button = re.search(r"<button[^>]*>(.*?)</button>", match[2], re.DOTALL)
    words = re.sub(r"<kbd.*?</kbd>|<[^>]+>", "", button[1]) if button else ""
    return Posting(html.unescape(match[1]), fields, html.unescape(words).strip())


Visit = Callable[..., Visitor]
