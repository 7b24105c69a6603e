"""What notes cite in the project, on the pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from visiting import Visit

from mdmemory import Layers

Git = Callable[..., str]


def test_a_note_shows_what_it_cites_and_what_the_project_changed(
    visit: Visit, open_layers: Callable[[], Layers], folder: Path, git: Git
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
    visitor = visit()
    page = visitor.get("/note/project/project-rounding")
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
