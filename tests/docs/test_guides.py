"""Each guide shows what really happens: its blocks are run, in order, in a new person's home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from blocks import steps
from scene import Scene

ROOT = Path(__file__).parents[2]


def _nothing(scene: Scene) -> None:
    """The home and the project, as every page has them."""


# A page, and what is there before its first block. The folder of the shell is ~/shop.
GUIDES: dict[str, Callable[[Scene], None]] = {
    "README.md": _nothing,
    "docs/first-day.md": lambda scene: scene.install("claude"),
    "docs/opencode.md": lambda scene: scene.install("opencode"),
    "docs/assistants.md": lambda scene: scene.install("claude", "codex", "gemini"),
    "docs/by-hand.md": _nothing,
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    home = (tmp_path / "you").resolve()
    home.mkdir()
    return Scene(home)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_a_guide_shows_what_really_happens(page: str, scene: Scene) -> None:
    typed = steps((ROOT / page).read_text(encoding="utf-8"))
    assert len(typed) > 2
    GUIDES[page](scene)
    scene.follow(typed)
