"""Rows of a store that has lived long: many commits, its own and foreign; conflicts; superseded
notes. Each stands beside the same command in a young store, or beside a cold search.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.speed.measure import Starter, Step
from bench.speed.rows import Table
from bench.speed.world import STORE, World, git, notes

from mdmemory import Memory
from mdmemory.store.conflicts import Ledger

FEW, MANY, FOREIGN = 100, 10_000, 50_000
NOTES = 1_000
CONFLICTS, SUPERSEDED = 1_000, 10_000
FIRST = 1_700_000_000  # seconds; a commit every ten minutes from then on
AUTHOR = "Bench <bench@example.com>"


def history(table: Table, folder: Path, starter: Starter) -> None:
    """Stores of 100 and 10,000 commits, and one of 100 within 50,000 others."""
    names = [
        f"{which}: {what}" for which in ("10,000 commits", "50,000 foreign commits")
        for what in COMMANDS
    ]  # fmt: skip
    if not table.wants(*names):
        return
    young = _lived(World(folder / "young", NOTES, starter), FEW, 0)
    worlds = {
        "10,000 commits": (MANY, lambda: _lived(World(folder / "old", NOTES, starter), MANY, 0)),
        "50,000 foreign commits": (
            FOREIGN, lambda: _lived(World(folder / "shared", NOTES, starter), FEW, FOREIGN)
        ),
    }  # fmt: skip
    for which, (size, make) in worlds.items():
        world = make()
        short = _steps(young)
        for what, step in _steps(world).items():
            floors = {**world.floors, "100 commits": short[what]}
            table.row(f"{which}: {what}", size, step, floors=floors, rounds=4)


COMMANDS = {
    "log": ("log",),
    "log -n 10": ("log", "-n", "10"),
    "log -p": ("log", "-p", "-n", "1"),
    "log NAME": ("log", "{name}"),
    "status": ("status",),
    "compact --if-due": ("compact", "--if-due"),
    "add NAME": (),
    "undo": ("undo", "--yes"),
}


def _steps(world: World) -> dict[str, Step]:
    """The commands that look into the past, in a world."""
    return {what: world.step(*words) if words else world.add for what, words in COMMANDS.items()}


def _lived(world: World, own: int, foreign: int) -> World:
    """Give the store's repository a past: so many commits of the memory, among foreign ones."""
    world.commit()
    stream = b"".join(_stream(world, own, foreign))
    git(world.project, "fast-import", "--quiet", "--force", data=stream)
    git(world.project, "reset", "-q", "--hard", "main")
    git(world.project, "gc", "-q")
    world.settle()
    return world


def _stream(world: World, own: int, foreign: int) -> Iterator[bytes]:
    """Commits as `git fast-import` reads them, each on the one before."""
    branch = b"refs/heads/main"
    every = max(1, (own + foreign) // own)
    mine = 0
    for number in range(own + foreign):
        time = FIRST + number * 600
        if number % every == 0 and mine < own:
            file = world.files[mine % world.size]
            text = f"{world.texts[file].rstrip()} Version {mine}.\n"
            path, said = f"{STORE}/{file}", _said(file, mine)
            mine += 1
        else:
            path, text = f"src/part_{number % 997}.py", f"print({number})\n"
            said = f"part {number % 997}: it prints {number}\n"
        data, message = text.encode(), said.encode()
        yield b"commit %s\nauthor %s %d +0000\n" % (branch, AUTHOR.encode(), time)
        yield b"committer %s %d +0000\n" % (AUTHOR.encode(), time)
        yield b"data %d\n%s\n" % (len(message), message)
        if number == 0:
            yield b"from %s^0\n" % branch
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)


def _said(file: str, number: int) -> str:
    """The message of a commit of ours."""
    return (
        f"memory: edit {file[:40]}\n\nedit {file}: version {number}\n\n"
        f'Memory-Id: m-{number:08x}\nMemory-Op: edit\nMemory-Files: ["{file}"]\n'
    )


def contested(table: Table, folder: Path, starter: Starter) -> None:
    """A thousand pairs of notes that wait for a person."""
    rows = {what: (what,) for what in ("list", "status", "doctor", "index")}
    rows = {"review --json": ("review", "--json"), **rows}
    names = [f"1,000 conflicts: {what}" for what in (*rows, "resolve")]
    if not table.wants(*names):
        return
    world = World(folder / "contested", 3 * CONFLICTS, starter)
    store = {note.file: note for note in Memory.open(world.project).notes()}
    files, ledger = world.files, Ledger("")
    pairs = zip(files[0::3], files[1::3], strict=False)
    ledger.add([(store[one], store[other], "green -> black") for one, other in pairs], "2026-09-01")
    (world.store / "_CONFLICTS.md").write_text(ledger.text(), encoding="utf-8")
    world.commit()
    world.settle()
    _plain_rows(table, world, "1,000 conflicts", rows)
    ids = iter([line.split()[3] for line in ledger.text().splitlines() if line.startswith("- [")])
    table.row(
        "1,000 conflicts: resolve", world.size,
        lambda: world.ours("review", next(ids), "both"), rounds=4,
    )  # fmt: skip


def outlived(table: Table, folder: Path, starter: Starter) -> None:
    """Ten thousand notes that others have replaced, among a thousand that hold."""
    said = ("--type", "project", "--description", "The {new} is green", "With milk.")
    rows = {
        "list": ("list",),
        "status": ("status",),
        "search": ("search", "{question}"),
        "doctor": ("doctor",),
        "index": ("index",),
        "add NAME": ("add", "{new}", *said),
        "compact --offline --dry-run": ("compact", "--offline", "--dry-run"),
    }
    if not table.wants(*(f"10,000 superseded: {what}" for what in rows)):
        return
    texts = notes(SUPERSEDED + NOTES)
    in_force = next(file for number, file in enumerate(texts) if number > SUPERSEDED)
    successor = in_force.partition("-")[2].removesuffix(".md")
    for number, (file, text) in enumerate(texts.items()):
        if number < SUPERSEDED:
            texts[file] = _superseded(text, successor)
    world = World(folder / "outlived", len(texts), starter, texts)
    world.commit()
    world.settle()
    _plain_rows(table, world, "10,000 superseded", rows)


def _superseded(text: str, by: str) -> str:
    marks = f"status: superseded, superseded_by: {by}, superseded: 2026-09-01"
    if "metadata: {" in text:
        return text.replace("metadata: {", f"metadata: {{{marks}, ", 1)
    indent = "    " if "\n    type:" in text else "  "
    lines = "".join(f"{indent}{mark}\n" for mark in marks.split(", "))
    return text.replace("metadata:\n", f"metadata:\n{lines}", 1)


def _plain_rows(table: Table, world: World, which: str, rows: dict[str, tuple[str, ...]]) -> None:
    for what, words in rows.items():
        step = world.step(*words)
        table.row(f"{which}: {what}", world.size, step, floors=world.floors, rounds=4)


AREAS: tuple[Callable[[Table, Path, Starter], None], ...] = (history, contested, outlived)
