"""A program that had a note open before it was replaced may still write: that is not lost."""

import fcntl
from pathlib import Path

import pytest
from stores import open_writer

from mdmemory import files
from mdmemory.files import digest
from mdmemory.git import replacement
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group, Writer, Written

NEW = b"---\nname: name\ndescription: Another\n---\n\nAnother text.\n"

pytestmark = pytest.mark.skipif(
    not hasattr(fcntl, "F_SETLEASE"), reason="only Linux tells who has a file open"
)


@pytest.fixture
def writer(repository: Path, store: Path) -> Writer:
    found = open_writer(repository)
    found.told = []  # type: ignore[attr-defined]
    found.tell = found.told.append  # type: ignore[attr-defined]
    return found


def told(writer: Writer) -> list[str]:
    found: list[str] = writer.told  # type: ignore[attr-defined]
    return found


def put(writer: Writer, file: str, new: bytes | None) -> Written:
    with writer.lock_store():
        old = digest((writer.project.store / file).read_bytes())
        change = Change(file, old, new)
        return writer.write("memory: change", [Group("change", (change,))], kind="edit")


def hidden(store: Path) -> list[Path]:
    return sorted(store.glob(".mdmemory-*"))


@pytest.mark.parametrize("new", [NEW, None])
def test_what_is_appended_through_an_open_file_after_an_edit_is_kept(
    writer: Writer, store: Path, new: bytes | None
) -> None:
    path = store / "user-name.md"
    before = path.read_bytes()
    with path.open("ab") as handle:
        done = put(writer, "user-name.md", new)
        assert done.commit, "the edit is done all the same"
        assert done.kept == ()
        assert "has its former text open" in told(writer)[-1]
        (kept,) = hidden(store)
        put(writer, "project-plan.md", NEW)
        assert hidden(store) == [kept], "as long as it is open it stays"
        handle.write(b"twenty bytes, by hand\n")
    assert replacement.find_late_texts(writer.project.store) == [kept], "doctor names it"
    put(writer, "project-plan.md", NEW + b"\n")
    (grown,) = hidden(store)
    assert grown.read_bytes() == before + b"twenty bytes, by hand\n"
    assert grown.name in told(writer)[-1]
    assert (path.read_bytes() if path.exists() else None) == new
    count = len(told(writer))
    put(writer, "project-plan.md", NEW)
    assert (hidden(store), len(told(writer))) == ([grown], count), "it is told once, and stays"
    assert replacement.find_late_texts(writer.project.store) == [grown]


def test_a_file_that_was_open_and_not_written_to_leaves_nothing(
    writer: Writer, store: Path
) -> None:
    with (store / "user-name.md").open("ab"):
        put(writer, "user-name.md", NEW)
    assert len(hidden(store)) == 1
    put(writer, "project-plan.md", NEW)
    assert hidden(store) == []
    assert len(told(writer)) == 1


def test_a_program_that_only_reads_is_nobodys_business(writer: Writer, store: Path) -> None:
    with (store / "user-name.md").open("rb"):
        put(writer, "user-name.md", NEW)
    assert hidden(store) == []
    assert told(writer) == []


def test_where_nothing_tells_who_has_a_file_open_all_goes_on(
    writer: Writer, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:  # as a disk that grants no lease to anybody
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "fcntl", refused)
    assert not files.is_open_for_writing(store / "user-name.md")
    put(writer, "user-name.md", NEW)
    assert hidden(store) == []
