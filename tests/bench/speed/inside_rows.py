"""Rows of work that is measured inside a process, because no command does it alone: looking for
secrets, and planning a compaction.
"""

import re

from bench import planner
from bench.speed.measure import Cost, inside
from bench.speed.rows import Table
from bench.speed.world import World

from mdmemory.privacy.redaction import has_secret

PLANNED = 10_000


def judging(table: Table, world: World) -> None:
    """Looking for secrets in all notes, beside one pass for a letter that is not there."""
    texts, absent = [*world.texts.values()], re.compile("[\x00-\x08]")
    floors = {"one search": inside(lambda: [absent.search(text) for text in texts])}
    step = inside(lambda: [has_secret(text) for text in texts])
    table.row("secret scan of all notes", world.size, step, floors=floors, rounds=3)


def planning(table: Table) -> None:
    """An offline plan for 10,000 notes, of which few contradict, or many."""
    second = {"a second": lambda: Cost(1.0, 1.0)}
    plans = {
        "offline plan": lambda: planner.planted(PLANNED),
        "offline plan where much contradicts": lambda: planner.contradicting(PLANNED),
    }
    for what, notes in plans.items():
        if table.wants(what):
            step = inside(planner.offline(notes()))
            table.row(what, PLANNED, step, floors=second, rounds=3)
