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


_LAPTOP = """#!/bin/sh
[ "$1" = laptop ] || exit 1
cd ~/laptop && HOME=$PWD exec sh -c "$2"
"""


def _two_machines(scene: Scene) -> None:
    """Clones of two projects, here and on a `laptop`, which is a home below this one; and remotes
    at git@example.com:you/, which are folders: git and mdmemory know them by that address only."""
    (scene.home / ".local/bin/ssh").write_text(_LAPTOP, encoding="utf-8")
    (scene.home / ".local/bin/ssh").chmod(0o755)
    remotes = "git@example.com:you"
    setup = f"""set -e
        git config --global url.{scene.home}/remotes.insteadOf {remotes}
        mkdir ~/laptop && cp ~/.gitconfig ~/laptop && git clone -q . ~/blog
        for each in shop blog shop-memory my-memory; do git init -q --bare ~/remotes/$each.git; done
        for each in shop blog; do
            git -C ~/$each push -q {remotes}/$each.git main
            git -C ~/$each remote remove origin 2> /dev/null || true
            git -C ~/$each remote add origin {remotes}/$each.git
            git -C ~/$each fetch -q && git -C ~/$each branch -q -u origin/main
            git clone -q {remotes}/$each.git ~/laptop/$each
        done"""
    assert scene.run(setup) == (0, "")


# A page, and what is there before its first block. The folder of the shell is ~/shop.
GUIDES: dict[str, Callable[[Scene], None]] = {
    "README.md": _nothing,
    "docs/inbox.md": _nothing,
    "docs/models.md": _nothing,
    "docs/team.md": _two_machines,
    "docs/first-day.md": lambda scene: scene.install("claude"),
    "docs/clients.md": lambda scene: scene.install("opencode", "claude", "codex", "gemini"),
    "docs/by-hand.md": _nothing,
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    home = (tmp_path / "you").resolve()
    home.mkdir()
    return Scene(home)


def test_every_page_with_something_typed_is_tried() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    typed = {str(path.relative_to(ROOT)) for path in pages if steps(path.read_text("utf-8"))}
    assert typed == set(GUIDES)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_a_guide_shows_what_really_happens(page: str, scene: Scene) -> None:
    typed = steps((ROOT / page).read_text(encoding="utf-8"))
    assert len(typed) > 2
    GUIDES[page](scene)
    scene.follow(typed)
