"""Rows of the commands: their start, the index and the search database, reading, writing."""

import json
from itertools import count

from bench.speed.measure import Cost
from bench.speed.rows import Table
from bench.speed.world import World, append, forget

from mdmemory.privacy import is_secret

START, INDEX = "start: list of 20 notes", "start: index of 20 notes"


def start(table: Table, world: World) -> None:
    """Processes from nothing to their end, in a store of 20 notes."""
    world.settle()
    for words in ("--help", "--version", "--help-all"):
        table.row(f"start: {words}", world.size, world.step(words), floors=world.floors)
    note = max(world.files)
    for what, words, before in (
        (START, "list", lambda: None),
        (f"{INDEX}, one changed", "index", lambda: append(world.store, [note])),
        (INDEX, "index", world.settle_once),
    ):
        table.row(
            what, world.size, world.step(words), floors=world.floors, before=before, always=True,
            rounds=12,
        )  # fmt: skip


def indexing(table: Table, world: World) -> None:
    """What is derived from the notes: after nothing, one, and everything changed."""
    size, floors = world.size, world.floors
    index, note = world.step("index"), max(world.files)

    def search() -> Cost:
        return world.ours("search", world.question)

    table.row("index: from nothing", size, index, floors=floors, before=forget(world), rounds=3)
    both = "search: from nothing, index and database"
    table.row(both, size, search, floors=floors, before=forget(world), rounds=3)
    world.settle()
    table.row("index: nothing changed", size, index, floors=floors)
    table.row("index --check", size, world.step("index", "--check"))
    table.row("search: cold", size, search, floors=floors)

    def edit() -> None:
        append(world.store, [note])

    def rename() -> None:
        text = (world.store / note).read_text(encoding="utf-8")
        (world.store / note).write_text(text.replace("\nname: ", "\ntitle: More\nname: ", 1))

    table.row("index: one note changed", size, index, floors=floors, before=edit)
    table.row("search: one note changed", size, search, before=edit)
    table.row("index: one line new", size, index, floors=floors, before=rename)
    table.row("index --rebuild", size, world.step("index", "--rebuild"), rounds=2)
    world.settle()


READING = {
    "list": ("list",),
    "list --json": ("list", "--json"),
    "status": ("status",),
    "show": ("show", "{name}"),
    "log NAME": ("log", "{name}"),
    "log": ("log",),
    "log -p": ("log", "-p", "-n", "1"),
    "review --json": ("review", "--json"),
    "doctor": ("doctor",),
    "session": ("session",),
    "config": ("config",),
    "explain": ("explain", "Remember that the CI runs on Debian."),
    "export": ("export",),
    "search --source all": ("search", "{question}", "--source", "all"),
    "search --at": ("search", "{question}", "--at", "HEAD"),
    "compact --offline --dry-run": ("compact", "--offline", "--dry-run"),
    "compact --if-due": ("compact", "--if-due"),
}


def reading(table: Table, world: World) -> None:
    """Commands that change nothing."""
    for what, words in READING.items():
        table.row(what, world.size, world.step(*words), floors=world.floors, rounds=4)


def writing(table: Table, world: World) -> None:
    """Commands that make a commit."""
    size, floors, turn = world.size, world.floors, count()
    # a made-up text may look like a secret, and such a note is on hold
    free = [each for each in sorted(world.files)[1::4] if not is_secret(world.texts[each])]
    taken = iter(each.removesuffix(".md") for each in free)

    def said() -> Cost:
        return world.ours("add", f"The {world.name()} service listens on port {8000 + next(turn)}.")

    sync = world.step("sync")
    steps = {
        "add NAME": world.add,
        "add TEXT": said,
        "edit": lambda: world.ours("edit", world.known, f"Version {next(turn)} of this text."),
        "rename": lambda: world.ours("rename", next(taken), f"renamed-{next(turn)}"),
        "forget": lambda: world.ours("forget", next(taken)),
        "undo": world.step("undo", "--yes"),
        "compaction of 10 notes": lambda: compaction(world),
        "sync of one changed note": sync,
    }
    if not any(map(table.wants, steps)):
        return
    world.settle()
    if table.wants("sync of one changed note"):
        world.follow_a_remote()
    for what, step in steps.items():
        before = (lambda: append(world.store, world.ten[:1])) if step is sync else lambda: None
        table.row(what, size, step, floors=floors, before=before, rounds=5)


def compaction(world: World) -> Cost:
    """Ten notes changed by hand, which are kept, and rewritten by a plan."""
    append(world.store, world.ten)
    ops = []
    for file in world.ten:
        body = (world.store / file).read_text(encoding="utf-8").split("---\n", 2)[2].strip()
        ops.append({"op": "rewrite", "file": file, "body": f"{body}\n\nIt was said again."})
    plan = json.dumps({"ops": ops})
    return world.ours("compact", "--plan", "-", said=plan)
