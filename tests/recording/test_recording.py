"""The recording of the README shows what mdmemory does today."""

import re
import xml.etree.ElementTree as Tree
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from animation import COLUMNS, ROWS, Step, animated, last_row, rows, scrolled, timed
from plugin_host import PluginHost
from record import RECORDING, TITLE, played
from session import CHANGED, FIRST, OTHER, Say, call_of, play

from mdmemory.hosts.opencode import watching
from mdmemory.transcripts.turns import Transcript, Turn

SVG = "{http://www.w3.org/2000/svg}"


def as_recorded(steps: list[Step]) -> None:
    assert animated(steps, TITLE) == RECORDING.read_text("utf-8"), "`make recording`"
    shown = {step.typed: step.shown for step in steps}
    assert "It replaces: Deploys go out on Tuesdays only" in shown[CHANGED]
    assert shown["/memory-undo"].startswith("mdmemory: Taken back: Marketing")


@contextmanager
def with_the_hooks(project: Path, _: object) -> Iterator[Say]:
    """What the plugin asks of its bridge, in this process."""
    host, turns, seconds = PluginHost(project), list[Turn](), 0.0
    host.hooks._notifications._clock = lambda: seconds

    def say(words: str) -> str:
        nonlocal seconds
        if words.startswith("/"):
            host.ask("command", command=words[1:], arguments="")
        else:
            turns.append(Turn(f"msg_{len(turns)}", "user", words))
            host.say(words, turns[-1].id)
            host.ask("call", tool="memory_store", arguments=call_of(words))
            host.ask("idle")
        seconds += 3600
        news = host.hooks.news()
        assert news
        return f"mdmemory: {news['toast']['message']}"

    with pytest.MonkeyPatch.context() as patch:
        # as the client's database has it
        read = lambda session: Transcript(session, "", "", tuple(turns))  # noqa: E731
        patch.setattr(watching, "transcript_of", read)
        yield say


def test_the_recording_shows_what_happens_today(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(empty_home / ".gitconfig"))
    as_recorded([Step(*each) for each in play(empty_home.resolve(), with_the_hooks)])


@pytest.mark.slow
@pytest.mark.full
def test_the_recording_shows_what_happens_in_the_client() -> None:
    as_recorded(played())


def test_the_first_picture_has_the_whole_session() -> None:
    recorded = RECORDING.read_text("utf-8")
    first = re.findall(r"@keyframes (\w+)\{0%\{(.*?)\}", recorded)
    assert {style for name, style in first if name[0] in "mo"} == {"opacity:1"}
    assert dict(first)["up"] == "transform:translateY(0px)", "all of it is on the screen at once"
    for words in (FIRST, CHANGED, OTHER, "/memory-undo"):
        assert escape(words) in recorded


def test_the_recording_needs_nothing_from_outside_and_is_small() -> None:
    recorded = RECORDING.read_text("utf-8")
    root = Tree.fromstring(recorded)
    assert len(recorded.encode()) < 100_000
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == {
        "svg", "title", "style", "rect", "circle", "g", "text",
    }  # fmt: skip
    named = [value for each in root.iter() for value in each.attrib.values()]
    assert not [each for each in named if ":" in each]  # no address
    assert not re.search(r"url\(|@import|@font-face|//", root.findtext(f"{SVG}style") or "")


def test_every_line_that_a_step_has_is_drawn_inside_the_window() -> None:
    long = "deploys go out on Thursdays, " * 9
    steps = [Step("$", "ls", f"{long}\n\n<a> & b"), Step(">", "x" * 40, ""), Step("#", "end", "")]
    drawn = [each.text for each in Tree.fromstring(animated(steps, "A test")).iter(f"{SVG}text")]
    assert drawn == [line for step in steps for line in rows(step) if line]
    assert "<a> & b" in drawn
    assert max(len(str(line)) for line in drawn) <= COLUMNS
    assert " ".join(rows(steps[0])[1:-2]) == long.strip()


def test_a_step_begins_when_the_one_before_has_been_read_and_is_on_the_screen_then() -> None:
    moments = list(timed([Step("$", f"step {at}", "line\n" * 7) for at in range(9)]))
    for one, next_one in pairwise(moments):
        assert one.begins < one.typed < one.ends == next_one.begins
        assert next_one.row > last_row(one)
    tops = [scrolled(moment) for moment in moments]
    assert tops == sorted(tops)
    assert all(0 <= last_row(each) - top <= ROWS for each, top in zip(moments, tops, strict=True))
