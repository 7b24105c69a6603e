"""`mdmemory review` on a terminal: each thing is seen whole, and answered with one key."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pace import sample
from projects import Git, Patch
from screens import Screen
from stores import BeginStore

from mdmemory.capture.pending import PendingFact, put_facts
from mdmemory.cli.review_screen import View, clean_text, draw_screen, text_width, wrap_text
from mdmemory.memory import Memory
from mdmemory.review import waiting
from mdmemory.review.items import InboxItem, Kind, Side

LONG = "The parcels above 31.5 kg go with the freight carrier, 每个包裹都要称重, and " * 4
NASTY = "red \x1b[31m text\x07, a bell, right \u202eto left, a hid\u200bden break \ud800"


def conflict(one: str = LONG, other: str = "With the parcel service.") -> InboxItem:
    sides = tuple(
        Side(f"note-{n}", "project", text, "2026-06-01", "explicit", f"project-note-{n}.md", "d")
        for n, text in enumerate((one, other))
    )
    actions = ("this", "that", "both", "edit", "later")
    return InboxItem("c-1a2b3c4d", Kind.CONFLICT, sides, "31.5 against 20", actions, "project", "c")


def drawn(item: InboxItem, columns: int, lines: int = 24, **more: object) -> list[str]:
    view = View(item, 1, 3, **more)  # type: ignore[arg-type]
    return draw_screen(view, columns, lines, colour=False).lines


@pytest.mark.parametrize("columns", [20, 40, 79, 80, 120, 200])
@pytest.mark.parametrize("lines", [8, 24])
def test_no_line_is_wider_than_the_screen_and_the_keys_are_there(columns: int, lines: int) -> None:
    shown = drawn(conflict(LONG * 9), columns, lines, said="Dropped. " * 20, can_undo=True)
    assert len(shown) <= lines
    assert max(map(text_width, shown)) < columns
    assert "conflict" in shown[0]
    assert "?" in shown[-1]
    assert columns < 40 or "? help" in shown[-1]


def test_two_texts_stand_beside_each_other_where_there_is_room() -> None:
    beside = next(line for line in drawn(conflict(), 80) if "this: note-0" in line)
    assert "that: note-1" in beside
    below = [line for line in drawn(conflict(), 79) if "note-" in line]
    assert [line.strip() for line in below] == ["1 this: note-0", "2 that: note-1"]
    edges = {text_width(line.partition("│")[0]) for line in drawn(conflict(), 100) if "│" in line}
    assert len(edges) == 1, "wide characters are measured"


def test_a_long_text_can_be_read_to_its_end() -> None:
    words = [f"word{n}" for n in range(400)]
    item = InboxItem("p-1", Kind.PENDING, (Side("n", "project", " ".join(words)),), "w", ("keep",),
                     "project", "p")  # fmt: skip
    read = {
        word
        for at in range(draw_screen(View(item, 1, 1), 60, 12, colour=False).most + 1)
        for line in drawn(item, 60, 12, scrolled=at)
        for word in line.split()
    }
    assert read >= {*words}


def test_nothing_of_a_note_is_obeyed_by_the_terminal() -> None:
    shown = "\n".join(drawn(conflict(NASTY), 80))
    assert not {"\x1b", "\x07", "\u202e", "\u200b", "\ud800"} & {*shown}
    assert clean_text("a\tb") == "a   b"
    assert wrap_text("", 10) == [""]


# --- with keys -----------------------------------------------------------------------------------


@pytest.fixture
def memory(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Memory:
    monkeypatch.chdir(repository)
    memory = begin_store(own_repo=True)
    facts = [
        PendingFact("project", "", f"fact-{n}", f"Service {n} is written in Go",
                    f"Service {n} is written in Go", "s", f"2026-06-0{n}", ("assistant_said",))
        for n in range(1, 5)
    ]  # fmt: skip
    with (writer := memory.opened.writer()).lock_store(), writer.state() as state:
        put_facts(memory.project, state, facts, "2026-06-05")
    return memory


@pytest.fixture
def screen(memory: Memory) -> Iterator[Callable[..., Screen]]:
    opened: list[Screen] = []

    def open_(columns: int = 80, lines: int = 24, **more: str) -> Screen:
        opened.append(Screen(memory.project.root, ["review"], columns, lines, **more))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def left(memory: Memory) -> list[str]:
    return [item.notes[0].name for item in waiting.items(Memory.around(memory.project.root))]


def test_an_inbox_is_emptied_by_keys_alone_whatever_the_size(
    memory: Memory, screen: Callable[..., Screen], git: Git
) -> None:
    shown = screen(40)
    shown.shows("Service 4", "1 of 4")
    shown.press("d")
    shown.shows("Dropped fact-4", "Service 3")
    shown.press("1")
    shown.shows("Stored project-fact-3.md", "Service 2")
    shown.press("u")
    shown.shows("Taken back", "Service 3")
    shown.resize(120, 12)
    shown.shows("Service 3", "drop · l later · u undo · q quit")
    shown.resize(80, 24)
    shown.shows("Service 3", "q quit")
    shown.press("a")
    shown.shows("Service 2")
    shown.press("x")
    shown.shows("'x' is no answer")
    shown.press("?")
    shown.shows("take the last answer back")
    shown.press(" ")
    shown.shows("Service 2", "1 keep")
    shown.press("d")
    shown.shows("Service 1")
    shown.press("l")
    assert shown.end() == 0
    assert shown.is_as_before()
    assert "3 answers; 1 item in the inbox." in shown.seen
    assert left(memory) == ["fact-1"]
    assert memory.note("fact-3").note.head.source == "manual"
    assert git(memory.project.store, "status", "--porcelain") == ""


LEAVING = [("\x03", 130), ("q", 0), ("\x04", 0), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]


@pytest.mark.parametrize(("how", "code"), sample(LEAVING, 3))
def test_whoever_leaves_keeps_what_was_answered_and_their_terminal(
    memory: Memory, screen: Callable[..., Screen], how: str | int, code: int, git: Git
) -> None:
    shown = screen()
    shown.shows("Service 4")
    shown.press("d")
    shown.shows("Service 3", "Dropped fact-4")
    if isinstance(how, str):
        shown.press(how)
    else:
        os.kill(shown.process.pid, how)
    assert shown.end() == code
    assert shown.is_as_before() or how == signal.SIGKILL
    assert left(memory) == ["fact-3", "fact-2", "fact-1"]
    assert git(memory.project.store, "status", "--porcelain") == ""
    memory.undo()
    assert left(memory) == ["fact-4", "fact-3", "fact-2", "fact-1"]


def test_of_keys_pressed_at_once_one_counts(memory: Memory, screen: Callable[..., Screen]) -> None:
    shown = screen()
    shown.shows("Service 4")
    shown.press("dddd")
    shown.shows("Service 3")
    shown.press("q")
    assert shown.end() == 0
    assert len(left(memory)) == 3


def test_a_dumb_terminal_gets_plain_text(memory: Memory, screen: Callable[..., Screen]) -> None:
    shown = screen(TERM="dumb")
    shown.says("Service 4")
    shown.press("d")
    shown.says("Dropped fact-4")
    shown.press("q")
    assert shown.end() == 0
    assert "\x1b" not in shown.seen


def test_a_wording_from_the_editor_becomes_the_note(
    memory: Memory, screen: Callable[..., Screen], tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'All services are written in Go.\\n' > \"$1\"\n")
    editor.chmod(0o755)
    shown = screen(EDITOR=str(editor), NO_COLOR="1")
    shown.shows("Service 4")
    shown.press("e")
    shown.shows("Stored", "Service 3")
    shown.press("q")
    assert shown.end() == 0
    assert shown.is_as_before()
    assert "\x1b[1m" not in shown.seen
    assert memory.note("fact-4").note.head.description == "All services are written in Go."
