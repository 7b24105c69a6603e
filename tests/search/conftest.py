"""A store of the corpus, and small stores without git."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmemory import Memory

NOW = datetime(2026, 6, 12, 9, 0, tzinfo=UTC)  # a Friday


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Memory]:
    """`opened({"user-a.md": text})` is the memory of a project that holds these notes."""

    def begin(notes: dict[str, str]) -> Memory:
        store = tmp_path / "notes/memory"
        store.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mdmemory.toml").write_text('store = "notes/memory"\n', "utf-8")
        for file, text in notes.items():
            (store / file).write_text(text, "utf-8")
        return Memory.open(tmp_path, clock=lambda: NOW)

    return begin


def note(name: str, description: str, body: str = "", more: str = "") -> str:
    """A note's text; `more` are lines of its metadata."""
    return (
        f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: user\n"
        f"{more}---\n\n{body}\n"
    )


TEA_AND_WHERE = {
    "user-tea.md": note("tea", "Drinks green tea", "Two cups before noon."),
    "project-where.md": note("where", "Runs on AWS", "All of it in Frankfurt."),
}


def write_settings(home: Path, *lines: str) -> None:
    """The person's own settings."""
    folder = home / ".config/mdmemory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text("".join(f"{line}\n" for line in lines), "utf-8")
