"""What the notes that come with messages cost: input tokens of a day in the real OpenCode client.

`python tests/bench/recall_cost.py [MESSAGES]` sends so many messages (30) of the project's own
corpus, half of which need notes, in one session, over that corpus's notes; once with recall and
once without. Of each request the longest beginning that the request before it had counts as
cached, as providers count it; the client needs `sh tests/e2e/client/install`. `--bodies` prints
the last user message of each request that notes came with.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench import own, recall
from bench.corpus import composed
from bench.readers import rows
from client import OpenCode
from fake_server import Answer, Body, FakeServer, user_texts
from plugged import Place, make

from mdmemory import Memory
from mdmemory.search.chunks import tokens

SETTLE = 2.2  # seconds until a file's time stamp can be trusted


@dataclass(frozen=True)
class Cost:
    """Tokens of the input of one request: those that the provider has seen, and the others."""

    cached: int
    fresh: int


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    shows = "--bodies" in arguments
    numbers = [int(each) for each in arguments if each.isdigit()]
    messages = chosen(numbers[0] if numbers else 30)
    print(f"{'':12}requests   cached  uncached   uncached a message   messages with notes")
    for is_on in (False, True):
        with tempfile.TemporaryDirectory() as folder, FakeServer() as server:
            place = prepared(Path(folder), is_on=is_on)
            bodies = day(place, server, messages)
            costs = counted(bodies)
            with_notes = [body for body in bodies if "<recalled_memory>" in user_texts(body)[-1]]
            cached, fresh = (
                sum(getattr(each, key) for each in costs) for key in ("cached", "fresh")
            )
            print(
                f"recall {'on' if is_on else 'off':4} {len(bodies):8} {cached:8} {fresh:9}"
                f" {fresh / len(messages):20.0f} {len(with_notes):21}"
            )
            if shows and is_on:
                print(*(f"\n{user_texts(body)[-1]}" for body in with_notes), sep="\n")
            if log := place.log():
                print(log)


def chosen(count: int) -> list[str]:
    """So many messages in turn, one that needs notes and one that does not."""
    _, messages = recall.read(own.DATA / own.HALVES[0])
    needing = [each.text for each in messages if each.needs]
    others = [each.text for each in messages if not each.needs]
    pairs = zip(needing[:: max(1, 2 * len(needing) // count)], others, strict=False)
    return [text for pair in pairs for text in pair][:count]


def prepared(folder: Path, *, is_on: bool) -> Place:
    """A project with the corpus's notes, wired into the client."""
    place = make(folder)
    memory = Memory.open(place.project)
    for _, row in rows(own.DATA / own.HALVES[0] / "notes.jsonl"):
        file = memory.project.store / f"{row['type']}-{row['name']}.md"
        file.write_text(composed(row), encoding="utf-8")
    if not is_on:
        settings = place.project / "mdmemory.toml"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(f"{text}\n[recall]\nby_message = false\n", encoding="utf-8")
    memory.index()
    memory.adopt(settled=0.0)
    time.sleep(SETTLE)
    memory._search(meaning=False).update()
    return place


def day(place: Place, server: FakeServer, messages: Sequence[str]) -> list[Body]:
    """The requests of the day, one for each message."""
    server.script.default = Answer("Done.")
    with OpenCode(place.project, place.home, server.url) as client:
        session = client.new_session("a day")
        for text in messages:
            client.send(session, text)
    return server.turns


def counted(bodies: Sequence[Body]) -> list[Cost]:
    """What each request costs, seen against the one before it."""
    before = ""
    costs = []
    for body in bodies:
        text = json.dumps([body.get("tools"), *body["messages"]], ensure_ascii=False)
        pairs = enumerate(zip(before, text, strict=False))
        same = next((at for at, (old, new) in pairs if old != new), min(len(before), len(text)))
        costs.append(Cost(tokens(text[:same]), tokens(text[same:])))
        before = text
    return costs


if __name__ == "__main__":
    os.environ.pop("MDMEMORY_DISABLE", None)
    main(sys.argv[1:])
