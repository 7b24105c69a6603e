"""The pages show what the command line shows, and each act is one of the facade's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from visiting import Visit

from mdmemory import Layers

PATHS = (
    "/inbox", "/overview", "/memory", "/memory/index", "/changes", "/changes/project/newest",
    "/compaction", "/search", "/search?q=staging", "/sessions", "/health", "/keys",
    "/note/project/reference-staging-address", "/note/project/reference-staging-address/edit",
)  # fmt: skip


def test_every_page_answers(visit: Visit) -> None:
    visitor = visit()
    for path in PATHS:
        visitor.get(path)
        assert visitor.status == 200, (path, visitor.page)
        assert "<h1" in visitor.page


@pytest.mark.parametrize(
    "path",
    ["/no", "/note/project/none", "/note/other/x", "/changes/user/zzzz", "/sessions/ses_none",
     "/inbox/edit/c-0"],
)  # fmt: skip
def test_what_is_not_there_is_one_sentence(visit: Visit, path: str) -> None:
    visitor = visit()
    visitor.get(path)
    assert visitor.status == 404
    assert "Not done" in visitor.page


def test_each_store_has_the_command_that_gives_it_a_remote(visit: Visit) -> None:
    visitor = visit()
    visitor.get("/health")
    commands = re.findall(r"<code>mdmemory( --store \S+)? sync --remote URL</code>", visitor.page)
    assert ["/me" in each for each in commands] == [False, True]


def test_a_note_shows_what_it_cites_and_what_the_project_changed(
    visit: Visit, open_layers: Callable[[], Layers], folder: Path, git: Callable[..., str]
) -> None:
    project = folder / "billing"
    (project / "totals.py").write_text("RATE = 19\nROUND = 'half up'\n", "utf-8")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    git(project, "add", ".")
    git(project, *who, "commit", "-q", "-m", "totals")
    open_layers().add(
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
