"""The project does not grow: what there is stays within its marks, and no edit raises a mark."""

from collections.abc import Callable
from pathlib import Path

import pytest
import size

Git = Callable[..., str]

FIRST = "[all]\nlines = 10\n[rooms.lines]\ngit = 4\nstore = 6\n[wheel]\npy = 90\n"


def test_the_work_tree_stays_within_its_marks() -> None:
    marks = size.read_marks((size.ROOT / size.MARKS).read_text("utf-8"))
    assert not size.grown({**size.measure(), **size.measure_program()}, marks)


@pytest.mark.skipif(not (size.ROOT / ".git").exists(), reason="no git history comes with a release")
def test_no_edit_has_ever_raised_a_mark() -> None:
    assert not size.raised(size.versions())


@pytest.fixture
def marked(repository: Path, git: Git) -> Callable[[str], list[str]]:
    """A repository whose marks were FIRST once; gives what is raised by a later text."""
    (repository / "tests").mkdir()
    (repository / size.MARKS).write_text(FIRST)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "size: first marks")

    def edit(text: str) -> list[str]:
        (repository / size.MARKS).write_text(text)
        return size.raised(size.versions(repository))

    return edit


def test_a_raised_mark_fails_and_a_lowered_one_passes(marked: Callable[[str], list[str]]) -> None:
    assert marked(FIRST) == []
    assert marked(FIRST.replace("lines = 10", "lines = 9")) == []
    assert marked(FIRST.replace("lines = 10", "lines = 11"))
    assert marked(FIRST.replace("lines = 10\n", ""))
    assert marked(FIRST.replace("py = 90", "py = 91"))
    assert marked(FIRST + "toml = 5\n")
    assert marked(FIRST.replace("py = 90", "")) == []


def test_a_room_may_rise_only_by_what_others_fell(marked: Callable[[str], list[str]]) -> None:
    assert marked(FIRST.replace("git = 4", "git = 3").replace("store = 6", "store = 7")) == []
    assert marked(FIRST.replace("git = 4", "git = 3").replace("store = 6", "store = 8"))
    assert marked(FIRST.replace("git = 4\n", "new = 4\n")) == []
    assert marked(FIRST.replace("git = 4", "git = 4\nnew = 1"))


def test_a_mark_may_rise_to_its_target_and_no_target_rises() -> None:
    before = size.read_marks(f"{FIRST}[program]\nsettings = 2\n[targets]\nsettings = 3\n")
    assert size.raised([before, before | {"program.settings": 3}]) == []
    assert size.raised([before, before | {"program.settings": 4}])
    assert size.raised([before, before | {"targets.settings": 4, "program.settings": 4}])


def test_a_mark_that_was_lower_once_stays_low_whatever_came_between() -> None:
    low, high = {"all.lines": 5}, {"all.lines": 9}
    assert size.raised([low, high, high])
    assert size.raised([high, low, {"all.lines": 5}]) == []


def test_a_room_that_grew_is_over_its_mark() -> None:
    assert size.grown({"rooms.lines.git": 5}, {"rooms.lines.git": 4})
    assert size.grown({"rooms.lines.git": 4}, {"rooms.lines.git": 4}) == []


def test_recording_only_lowers() -> None:
    text = size.lowered(FIRST, {"all.lines": 12, "rooms.lines.git": 3, "wheel.py": 90})
    assert size.read_marks(text) == {"all.lines": 10, "rooms.lines.git": 3, "wheel.py": 90}


def test_a_shallow_clone_says_what_to_do(tmp_path: Path, repository: Path, git: Git) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", repository.as_uri(), "clone")
    with pytest.raises(RuntimeError, match="fetch-depth: 0"):
        size.versions(tmp_path / "clone")


def test_docstrings_comments_and_layout_are_no_tokens() -> None:
    assert size.count_tokens('"""A module."""\n\n# why\nx = 1\n') == 3
    assert size.count_tokens('def f():\n    """What."""\n    return "text"\n') == 7
    assert size.count_tokens("x = f'{a!r:>{1}} \"' '\\'' ** 1e-3\n") == 6  # in any Python
