"""The pages show what the command line shows, and each act is one of the facade's."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import HUNG
from rows import each
from visiting import Visit, Visitor

from mdmemory import Memory
from mdmemory.errors import MdmemoryError
from mdmemory.review import waiting
from mdmemory.session import recalls
from mdmemory.web import cache, charts
from mdmemory.web.cache import KeptValues
from mdmemory.web.markdown import MOST, render
from mdmemory.web.marks import commands
from mdmemory.web.overview import AGES, WEEKS, _age
from mdmemory.web.site import cut

Open = Callable[[], Memory]
PATHS = (
    "/inbox", "/overview", "/memory", "/memory/index", "/changes", "/changes/project/newest",
    "/compaction", "/search", "/search?q=staging", "/sessions", "/health", "/keys",
    "/note/project/reference-staging-address", "/note/project/reference-staging-address/edit",
)  # fmt: skip


def test_every_page_answers(visitor: Visitor) -> None:
    for path in PATHS:
        visitor.get(path)
        assert visitor.status == 200, (path, visitor.page)
        assert "<h1" in visitor.page


def test_what_is_not_there_is_one_sentence(visitor: Visitor) -> None:
    note, life = ("/note/project/none", "/note/other/x"), ("/changes/user/zzzz", "/inbox/edit/c-0")
    for path in ("/no", *note, *life, "/sessions/ses_none"):
        visitor.get(path)
        assert visitor.status == 404, path
        assert "Not done" in visitor.page


def test_each_store_has_the_command_that_gives_it_a_remote(visitor: Visitor) -> None:
    visitor.get("/health")
    commands = re.findall(r"<code>mdmemory( --store \S+)? sync --remote URL</code>", visitor.page)
    assert ["/me" in each for each in commands] == [False, True]


def test_a_note_shows_what_it_cites_and_what_the_project_changed(
    visit: Visit, opened: Open, folder: Path, git: Callable[..., str]
) -> None:
    project = folder / "billing"
    (project / "totals.py").write_text("RATE = 19\nROUND = 'half up'\n", "utf-8")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    git(project, "add", ".")
    git(project, *who, "commit", "-q", "-m", "totals")
    opened().add(
        "rounding", type="project", description="Totals are rounded half up",
        body="See `totals.py`, where it is set.", cite=["totals.py#L2"],
    )  # fmt: skip
    page = visit().get("/note/project/project-rounding")
    assert "What it cites in the project" in page
    assert '<span class="tag fresh">fresh</span>' in page
    (project / "totals.py").write_text("RATE = 19\nROUND = 'down'\n", "utf-8")
    git(project, *who, "commit", "-q", "-a", "-m", "down")
    other = visit()
    page = other.get("/note/project/project-rounding")
    assert '<span class="tag drifted">drifted</span>' in page
    assert "half up" in page.partition("What it cites")[2]
    assert "down" in page.partition("What it cites")[2]
    assert "the project changed what it cites" in other.get("/inbox?kind=drifted")
    assert "project-rounding" in other.get("/memory?status=drifted")
    other.get("/inbox?kind=drifted")
    other.press("keep", "/inbox/answer/keep/d-")
    assert other.said()
    assert "tag drifted" not in other.get("/memory")


# The overview's numbers are those of the stores, and a note's page shows what stands around it.

NOW = datetime(2026, 6, 29, 9, 0, tzinfo=UTC)  # as the stores of these tests have it


def numbers(page: str, heading: str) -> dict[str, list[int]]:
    """The rows of the table below a heading: what each is of, and its numbers."""
    table = page.partition(f'id="{heading}"')[2].partition("</section>")[0]
    rows = re.findall(r'<th scope="row">(?:<a [^>]*>)?([^<]+)(?:</a>)?</th>(.*?)</tr>', table)
    cells = {name: re.findall(r"<td[^>]*>(\d+)</td>", rest) for name, rest in rows}
    return {name: [*map(int, found)] for name, found in cells.items()}


def test_the_numbers_are_those_of_the_stores(visitor: Visitor, opened: Open) -> None:
    layers = opened()
    page = visitor.get("/overview")
    heads = [row.head for _, memory in layers.each() for row in memory.listing()]
    types = Counter(head.kind or head.type for head in heads)
    shown = numbers(page, "types")
    assert {name: total for name, (total, *_) in shown.items()} == types
    assert all(sum(ages) == total for total, *ages in shown.values())
    kinds = Counter(item.kind.replace("_", " ") for item in waiting.items(layers))
    assert {name: found for name, (found,) in numbers(page, "waiting").items()} == kinds
    weeks = numbers(page, "weeks")
    assert len(weeks) == WEEKS
    commits = [entry.time for _, memory in layers.each() for entry, *_ in memory.log()]
    begin = NOW.date() - timedelta(days=7 * WEEKS - 1)
    assert sum(found for (found,) in weeks.values()) == sum(
        date.fromisoformat(time[:10]) >= begin for time in commits
    )
    assert f"{len(heads)} notes" in page


def test_what_came_with_most_messages_is_first_and_links_to_its_note(
    visitor: Visitor, opened: Open
) -> None:
    layers = opened()
    with layers.main.state() as state:
        for number in range(3):
            files = {"reference-staging-address.md": 9, "project-gone.md": 9}
            recalls.add(state, "ses_2", f"msg_{number}", files, NOW)
    page = visitor.get("/overview").partition('id="recalled"')[2]
    first, second = re.findall(r'<a href="(/note/[^"]+)" data-open>([^<]+)</a>', page)[:2]
    assert first == (
        "/note/project/reference-staging-address", "Staging is reached at staging.internal:9443",
    )  # fmt: skip
    assert "3 messages" in page
    assert "gone" not in page
    assert second[0].startswith("/note/")


def test_an_empty_store_has_an_overview(visitor: Visitor, opened: Open) -> None:
    for memory in opened().there():
        for path in memory.project.store.glob("*.md"):
            path.unlink()
    page = visitor.get("/overview")
    assert "No notes yet." in page
    assert "No note has come with a message yet." in page


def test_a_note_shows_why_where_it_was_said_and_what_it_replaced(
    visitor: Visitor, opened: Open
) -> None:
    layers = opened()
    layers.add(
        "release-thursday", type="project", source="explicit", replaces=["release-day"],
        description="Releases go out on Thursdays",
        body="Releases go out on Thursdays.\nWhy: the CDN <b>purges</b>\non Wednesdays.\n\n- late",
    )  # fmt: skip
    layers.add(
        "hands", type="project", description="Ann watches releases", body="[[release-thursday]]"
    )
    page = visitor.get("/note/project/project-release-thursday")
    assert "<h1>Releases go out on Thursdays</h1>" in page
    why = page.partition("<h2>Why</h2>")[2]
    assert "the CDN &lt;b&gt;purges&lt;/b&gt;\non Wednesdays.</p>" in why[:120]
    assert "<li>late</li>" in page.partition("<h2>Why</h2>")[0]
    short = visitor.get("/note/user/user-short-answers").partition("History")[0]
    assert "Short answers." in short
    assert "You asked for it, on 2026-06-29" in page
    for heading, words in (
        ("What it replaced", "Releases go out on Tuesdays before noon"),
        ("What leads to it", "Ann watches releases"),
    ):
        assert words in page.partition(f"<h2>{heading}</h2>")[2].partition("<h2>")[0]
    around = page.partition('class="graph"')[2].partition("</figure>")[0]
    assert re.findall(r"<(?:a [^>]*|strong)>([^<]+)</", around) == [
        "Ann watches releases", "Releases go out on Tuesdays before noon",
        "Releases go out on Thursdays",
    ]  # fmt: skip
    assert around.count('<path class="replaced"') == 1
    assert around.count('<path class="link"') == 1
    page = visitor.get("/note/project/project-hands")
    assert "Releases go out on Tuesdays" in page, "two steps away"
    assert 'class="graph"' not in visitor.get("/note/user/user-short-answers")


def test_of_a_note_on_hold_the_page_shows_no_sentence_of_it(visitor: Visitor, opened: Open) -> None:
    store = opened().main.project.store
    key = "sk-proj-" + "Zx8Qw3Lr9Tb2Nv7Kc4Md6Hf1"
    head = f"---\nname: held\ndescription: The key is {key}\nmetadata:\n  type: project\n---\n\n"
    (store / "project-held.md").write_text(f"{head}Why: {key}. [[staging-address]]\n", "utf-8")
    for path in ("/note/project/project-held", "/overview", "/memory",
                 "/note/project/reference-staging-address"):  # fmt: skip
        assert key not in visitor.get(path), path
    assert "<h1>held</h1>" in visitor.get("/note/project/project-held")


def test_an_age_is_the_first_that_a_day_fits() -> None:
    names = [name for _, name in AGES]
    for day, name in (
        *[("2026-06-29", "this week"), ("2026-06-23", "this week"), ("2026-06-22", "this month")],
        *[("2026-05-30", "this quarter"), ("2026-04-01", "this quarter"), ("2026-03-31", "older")],
        *[("2027-01-01", "this week"), ("", "older"), ("soon", "older")],
    ):
        assert names[_age(day, NOW.date())] == name, day


COUNTS = st.lists(st.integers(0, 10**9), max_size=14)


@given(COUNTS, st.integers(0, 10**9), st.integers(1, 20), st.data())
def test_a_chart_is_whole_and_within_its_frame(
    counts: list[int], more: int, rows: int, data: st.DataObject
) -> None:
    places = st.integers(0, rows - 1)
    edges = data.draw(st.lists(st.tuples(places, places, st.sampled_from(["link", "replaced"]))))
    for chart in (charts.bar(counts, sum(counts) + more), charts.columns(counts),
                  charts.arcs(rows, edges, 0)):  # fmt: skip
        svg = Xml.fromstring(chart)
        _, _, width, height = map(float, svg.attrib["viewBox"].split())
        for rect in svg.iter("rect"):
            x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
            assert min(x, y, w, h) >= 0
            assert x + w <= width + 0.2
            assert y + h <= height + 0.02
        assert len([*svg.iter("path")]) == (len(edges) if "arcs" in svg.attrib["class"] else 0)
    shown = Xml.fromstring(charts.columns(counts)).iter("rect")
    assert [rect.attrib["class"] == "part0" for rect in shown] == [count > 0 for count in counts]


# A note's text as HTML: what it may become, and what it never does.

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
    return [f"{found['href']}" for tag, found in Reader(render(text, leads)).found if tag == "a"]


def harmless(text: str) -> None:
    for tag, attributes in Reader(render(text, leads)).found:
        assert tag in TAGS, tag
        assert {*attributes} <= {"href", "rel", "title", "class", "start", "style"}
        assert attributes.get("style") in (None, "text-align:left", "text-align:right")
        href = attributes.get("href") or "https://"
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


def test_a_command_is_shown_as_code_and_nothing_becomes_markup() -> None:
    for sentence, page in (
        ("None is connected.", "None is connected."),
        ("Run `mdmemory setup`.", "Run <code>mdmemory setup</code>."),
        ("`a` or `b`", "<code>a</code> or <code>b</code>"),
        ("half a `span", "half a `span"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("`<b> & x", "`&lt;b&gt; &amp; x"),
        ("", ""),
    ):
        assert str(commands(sentence)) == page


# What is kept between pages: as long as its mark holds, and never for longer than that unsaid.


@pytest.fixture
def values() -> Iterator[KeptValues]:
    with closing(KeptValues(HUNG)) as kept:
        yield kept


def test_a_value_is_made_once_for_a_mark(values: KeptValues) -> None:
    made: list[int] = []
    for mark in (1, 1, 2, 2, 1):
        assert values.get("a", mark, partial(made.append, mark)).is_fresh
    assert made == [1, 2, 1]


def test_a_page_that_does_not_wait_shows_what_was_and_says_so() -> None:
    go = threading.Event()

    def slow() -> str:
        assert go.wait(HUNG)
        return "new"

    with closing(KeptValues(0.0)) as values:
        found = values.get("a", 1, lambda: "old")
        assert (found.value, found.is_fresh) == ("old", True), "the first one is waited for"
        found = values.get("a", 2, slow)
        assert (found.value, found.is_fresh) == ("old", False)
        values.change("a", lambda value: f"{value}, changed")
        assert values.get("a", 2, slow).value == "old, changed"
        go.set()
        while not (found := values.get("a", 2, slow)).is_fresh:
            pass
        assert found.value == "new"


def test_a_failure_is_the_callers_and_is_not_kept(values: KeptValues) -> None:
    def fails() -> str:
        raise MdmemoryError("No.")

    for _ in range(2):
        with pytest.raises(MdmemoryError):
            values.get("a", 1, fails)
    assert values.get("a", 1, lambda: "yes").value == "yes"


def test_the_oldest_go_first(values: KeptValues, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    for name in "abc":
        values.get(name, 1, lambda name=name: name)
    values.get("a", 1, lambda: "again")
    values.get("d", 1, lambda: "d")
    assert [values.peek(name) for name in "abcd"] == ["a", None, "c", "d"]


def test_a_page_of_a_list_is_the_nearest_that_there_is() -> None:
    for asked, number in ("", 1), ("2", 2), ("99", 3), ("-1", 1), ("x", 1), ("9" * 40, 1):
        page = cut(range(25), asked, 10)
        assert (page.number, page.last, page.total) == (number, 3, 25)
        assert list(page.rows) == list(range(25))[(number - 1) * 10 : number * 10]
