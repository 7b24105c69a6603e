"""What a compaction by a model costs in tokens: `python tests/bench/compaction_tokens.py`.

Made-up notes as people write them, planned by a model that changes nothing. A token is taken as 4
characters; an answer without ops has 12 characters, so what comes back is a few tokens a call.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.planner import stored
from compact.realistic import store

from mdmemory import protocol
from mdmemory.compact.dialogue import Talk
from mdmemory.compact.model_planner import ModelPlanner
from mdmemory.compact.pass_history import LastLook, LookRecord, face
from mdmemory.llm.answer import Answer, Asking, Schema
from mdmemory.store.store import StoredNote

TODAY = "2026-06-01"


@dataclass
class Counting:
    """A model that proposes nothing, and counts the characters it is sent."""

    kind: str = "counting"
    name: str = "counting"
    sends_to: str = "nowhere"
    calls: list[int] = field(default_factory=list)

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        self.calls.append(len(system) + len(user))
        return Answer('{"ops": []}')


def notes_of(total: int) -> list[StoredNote]:
    """So many notes."""
    dates = {"created": "2026-05-01", "updated": "2026-05-20"}
    return [
        stored(name, says, body, kind, metadata=dates) for kind, name, says, body in store(total)
    ]


def edited(note: StoredNote) -> StoredNote:
    """The note with another sentence at its end."""
    changed = note.note._replace(body=f"{note.note.body}\n\nIt holds until the end of the year.")
    return note._replace(note=changed)


def cost(notes: Sequence[StoredNote], changed: int | None) -> tuple[int, int]:
    """Calls and tokens of a first pass (None), or of one after so many notes were edited."""
    model = Counting()
    asking = Asking(
        model, protocol.task_prompt("compact", protocol.Protocol(protocol.shipped_protocol()))
    )
    record = LookRecord(TODAY)
    if changed is not None:
        judge = Talk(lambda: asking).judge()
        looks = {note.file: LastLook(face(note), "2026-05-30", 1, judge) for note in notes}
        step = max(1, len(notes) // (changed or 1))
        now = {note.file: edited(note) for note in notes[::step][:changed]}
        notes = [now.get(note.file, note) for note in notes]
        record = LookRecord(TODAY, looks)
    planner = ModelPlanner("counting", lambda: asking, TODAY, str, record=lambda _: record)
    planner.propose(notes, conflicts=[])
    return len(model.calls), sum(model.calls) // 4


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--notes", type=int, nargs="+", default=[100, 500, 2_000])
    print(
        "| notes | first pass | one edited | twenty edited | nothing new |\n|---|---|---|---|---|"
    )
    for total in asked.parse_args().notes:
        notes = notes_of(total)
        cells = [cost(notes, changed) for changed in (None, 1, 20, 0)]
        told = [f"{calls} calls, {tokens:,} tokens" for calls, tokens in cells]
        print(f"| {total:,} | {' | '.join(told)} |".replace("1 calls", "1 call"), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
