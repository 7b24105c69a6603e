"""Of a large store a fact reads only the notes that it may meet, and is judged all the same."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from search.conftest import note

from mdmemory import Memory
from mdmemory.capture.batch import Batch, Origin, Put
from mdmemory.capture.fact import fact_as_said
from mdmemory.search import near, sqlite
from mdmemory.search.database import UnusableError
from mdmemory.search.near import UnreadNotes, unread_notes
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import Store

NOW = datetime(2026, 6, 12, tzinfo=UTC)
# no blank in it, so that its pieces end within words
LONG = "，".join(f"第{n}个服务在端口{9000 + n}上监听" for n in range(90))
SECRET = "ghp_" + "16C7e42F292c" * 3  # made up
GONE = "  status: superseded\n  superseded_by: tea\n  superseded: 2026-01-01\n"
NOTES = {
    "user-tea.md": note("tea", "Drinks green tea in the morning"),
    "user-coffee.md": note("coffee", "Drinks coffee in the morning", more=GONE),
    "user-ledger.md": note("ledger", "The ledger", "The ledger is kept in PostgreSQL 15."),
    "user-port.md": note("port", "The teahouse service listens on port 8080", "Why: the proxy."),
    "user-crlf.md": note("crlf", "Two lines", "The queue is Redis\nand it is small").replace(
        "\n", "\r\n"
    ),
    "user-long.md": note("long", "一个很长的句子", LONG),
    "user-held.md": note("held", "The token of the build", f"It is {SECRET}, for the build."),
    "user-link.md": note("link", "The board is at https://Board.Example/Team/7"),
    "user-file.md": note("file", "Keeps the ﬁle of STRASSE in the drawer"),
    "user-empty.md": "",
    "user-odd.md": "No head, only whisky.\n",
}
SAID = {
    "drinks GREEN tea, in the morning": "user-tea.md",
    "drinks coffee in the morning": "user-coffee.md",
    "the ledger is kept in PostgreSQL 15": "user-ledger.md",
    "The ledger is kept in PostgreSQL 17": "",
    "The teahouse service listens on port 8081": "",
    "the queue is Redis and it is small": "user-crlf.md",
    LONG: "user-long.md",
    "The token of the build": "",
    "the board is at https://board.example/Team/7": "user-link.md",
    "keeps the file of straße in the drawer": "user-file.md",
    "No head, only whisky": "user-odd.md",
    "The cat is called Zebra": "",
}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A store that is too large to be read for one fact."""
    monkeypatch.setattr(near, "SCANNED", 1)
    folder = tmp_path / "notes/memory"
    folder.mkdir(parents=True)
    (tmp_path / "mdmemory.toml").write_text('store = "notes/memory"\n', "utf-8")
    for file, text in NOTES.items():
        (folder / file).write_bytes(text.encode())
    return Memory.open(tmp_path)


@pytest.fixture
def refresher(memory: Memory) -> Refresher:
    return memory.opened.refresher()


def read(refresher: Refresher) -> UnreadNotes:
    found = unread_notes(refresher)
    assert found is not None
    return found


def taken(memory: Memory, said: str) -> Put:
    return Batch(memory.opened.writer(), NOW).add(fact_as_said(said), Origin("explicit", "s", "t1"))


@pytest.mark.parametrize("said", SAID)
def test_a_fact_meets_the_note_that_the_reading_of_all_notes_meets(
    memory: Memory, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = taken(memory, said)
    assert ("" if few.is_new else few.note.file) == SAID[said]
    monkeypatch.setattr(near, "SCANNED", 1_000)
    assert unread_notes(memory.opened.refresher()) is None
    assert taken(memory, said) == few


def test_only_what_may_be_meant_is_read(
    refresher: Refresher, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, files = read(refresher), []
    notes.holding(lambda _: False)  # the database reads all, and keeps nothing of what is held
    before = Store.read
    monkeypatch.setattr(Store, "read", lambda s, file: files.append(file) or before(s, file))
    assert [each.file for each in notes.holding(lambda text: "PostgreSQL" in text)] == [
        "user-held.md", "user-ledger.md",
    ]  # fmt: skip
    assert files == ["user-ledger.md"]


def test_a_hand_edit_of_this_moment_is_met(memory: Memory, refresher: Refresher) -> None:
    read(refresher).holding(lambda _: False)
    refresher.forget()
    path = refresher.store.folder / "user-odd.md"
    path.write_text(note("odd", "The cat is called Zebra"), "utf-8")
    assert taken(memory, "the cat is called Zebra").note.file == "user-odd.md"


@pytest.mark.parametrize("said", [*SAID][:5])
def test_without_a_database_all_notes_are_read(
    memory: Memory, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise UnusableError("is on the moon")

    monkeypatch.setattr(sqlite, "use_file", broken)
    found = taken(memory, said)
    assert ("" if found.is_new else found.note.file) == SAID[said]


def test_a_note_that_went_since_is_none(refresher: Refresher) -> None:
    notes = read(refresher)
    (refresher.store.folder / "user-odd.md").unlink()
    assert notes.of_files(["user-odd.md"]) == []
    assert "user-odd.md" not in [each.file for each in notes.all()]


def test_a_small_store_is_read(refresher: Refresher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "SCANNED", 5)
    assert unread_notes(refresher) is None
