"""A note's text as HTML: what it may become, and what it never does."""

import json
import threading
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pace import HUNG
from rows import each

from mdmemory.errors import MdmemoryError
from mdmemory.web import cache
from mdmemory.web.cache import KeptValues
from mdmemory.web.markdown import MOST, render
from mdmemory.web.marks import commands
from mdmemory.web.site import cut

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


# What is kept between pages: as long as its mark holds, and never for longer than that unsaid.


def test_a_value_is_made_once_for_a_mark() -> None:
    values, made = KeptValues(HUNG), []
    for mark in (1, 1, 2, 2, 1):
        assert values.get("a", mark, partial(made.append, mark)).is_fresh
    assert made == [1, 2, 1]
    values.close()


def test_a_page_that_does_not_wait_shows_what_was_and_says_so() -> None:
    values, go = KeptValues(0.001), threading.Event()
    assert values.get("a", 1, lambda: "old").value == "old"

    def slow() -> str:
        assert go.wait(HUNG)
        return "new"

    found = values.get("a", 2, slow)
    assert (found.value, found.is_fresh) == ("old", False)
    values.change("a", lambda value: f"{value}, changed")
    assert values.get("a", 2, slow).value == "old, changed"
    go.set()
    while not (found := values.get("a", 2, slow)).is_fresh:
        pass
    assert found.value == "new"
    values.close()


def test_the_first_value_is_waited_for() -> None:
    values = KeptValues(0.0)
    assert values.get("a", 1, lambda: "there").is_fresh
    values.close()


def test_a_failure_is_the_callers_and_is_not_kept() -> None:
    values = KeptValues(HUNG)

    def fails() -> str:
        raise MdmemoryError("No.")

    for _ in range(2):
        with pytest.raises(MdmemoryError):
            values.get("a", 1, fails)
    assert values.get("a", 1, lambda: "yes").value == "yes"
    values.close()


def test_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    values = KeptValues(HUNG)
    for name in "abc":
        values.get(name, 1, lambda name=name: name)
    values.get("a", 1, lambda: "again")
    values.get("d", 1, lambda: "d")
    assert [values.peek(name) for name in "abcd"] == ["a", None, "c", "d"]
    values.close()


@pytest.mark.parametrize(
    ("asked", "number"), [("", 1), ("2", 2), ("99", 3), ("-1", 1), ("x", 1), ("9" * 40, 1)]
)
def test_a_page_of_a_list_is_the_nearest_that_there_is(asked: str, number: int) -> None:
    page = cut(range(25), asked, 10)
    assert (page.number, page.last, page.total) == (number, 3, 25)
    assert list(page.rows) == list(range(25))[(number - 1) * 10 : number * 10]
