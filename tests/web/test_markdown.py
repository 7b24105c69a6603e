"""A note's text as HTML: what it may become, and what it never does."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rows import each

from mdmemory.web.markdown import MOST, render
from mdmemory.web.marks import commands

CORPUS = json.loads((Path(__file__).parent / "browser" / "xss.json").read_text("utf-8"))
TAGS = {
    "p", "a", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "h3", "h4", "h5", "h6",
    "hr", "br", "s", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


class Reader(HTMLParser):
    """Every tag with its attributes, as a browser would read them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def leads(name: str) -> str | None:
    return f"/note/project/feedback-{name}" if name in ("review-size", "a b") else None


def links(text: str) -> list[str]:
    return [str(given["href"]) for tag, given in Reader(render(text, leads)).found if tag == "a"]


def harmless(text: str) -> None:
    for tag, given in Reader(render(text, leads)).found:
        assert tag in TAGS, tag
        assert {*given} <= {"href", "rel", "title", "class", "start", "style"}
        assert given.get("style") in (None, "text-align:left", "text-align:right")
        href = given.get("href") or "https://"
        assert href.startswith(("https://", "http://", "mailto:", "/note/project/")), href


def test_no_text_becomes_more_than_markdown() -> None:
    assert len(CORPUS) == 100
    each(CORPUS, harmless)
    each([text * 3 for text in CORPUS], harmless)


def test_links_to_notes_lead_to_their_pages() -> None:
    path = "/note/project/feedback-review-size"
    assert links("[[review-size]] [[review-size|shown]] [[review-size#part]]") == [path] * 3
    assert links("[x](review-size.md) [x](./review-size.md#a)") == [path] * 2
    assert links("[[nothing]] [x](nothing.md) `[[review-size]]`") == []
    assert ">shown</a>" in render("[[review-size|shown]]", leads)
    assert "shown" in render("[[nothing|shown]]", leads)


def test_links_lead_to_the_web_and_to_mail_and_nowhere_else() -> None:
    assert links("[x](https://e.example/a?b=c&d) <mailto:a@e.example>") == [
        "https://e.example/a?b=c&d", "mailto:a@e.example",
    ]  # fmt: skip
    assert 'rel="noopener noreferrer nofollow"' in render("[x](https://e.example)", leads)
    for target in ("ftp://e", "//e", "/undo", "x.html", "../x.md", "tel:1", "data:x", "file:///a"):
        assert links(f"[x]({target})") == [], target


def test_headings_begin_below_those_of_the_page() -> None:
    assert "<h3>" in render("# One", leads)
    assert "<h6>" in render("###### Six", leads)


def test_hidden_characters_are_marked_and_a_huge_text_is_shown_as_it_stands() -> None:
    assert "\u202e" not in render("a\u202eb", leads)
    assert "\ufffd" in render("a\u200bb", leads)
    assert render("<b>*x*</b>" * (MOST // 5), leads).startswith('<pre class="plain">&lt;b&gt;*x*')


@pytest.mark.parametrize(
    ("sentence", "page"),
    [
        ("None is connected.", "None is connected."),
        ("Run `mdmemory setup`.", "Run <code>mdmemory setup</code>."),
        ("`a` or `b`", "<code>a</code> or <code>b</code>"),
        ("half a `span", "half a `span"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("`<b> & x", "`&lt;b&gt; &amp; x"),
        ("", ""),
    ],
)
def test_a_command_is_shown_as_code_and_nothing_becomes_markup(sentence: str, page: str) -> None:
    assert str(commands(sentence)) == page
