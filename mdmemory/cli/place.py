"""The command that moves a store: move."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mdmemory.actions import move as moving
from mdmemory.cli.output import PATIENCE, emit, opened, plural, warn
from mdmemory.config import person
from mdmemory.git.lock import Patience
from mdmemory.privacy import is_secret
from mdmemory.store.writer import Writer


def move_options(parser: ArgumentParser) -> None:
    """Options of `move`."""
    parser.add_argument(
        "--to", choices=(moving.HOME, moving.HERE), default=moving.HOME, metavar="PLACE",
        help="home: your memory folder (default); here: a repository of its own inside the project",
    )  # fmt: skip
    parser.add_argument(
        "--folder", metavar="PATH", help="with --to here: the folder, relative to the project"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be moved")


def move(asked: Namespace) -> int:
    """Move the store and its history, by default out of the project into your memory folder. The
    project's commits stay as they are."""
    places = person.places()
    done = None if asked.dry_run else moving.finish(Path.cwd())
    if done is None:
        project = opened(asked).project
        writer = Writer(
            project, is_secret, "`mdmemory move`", warn, patience=Patience(PATIENCE, warn)
        )
        done = moving.move(
            writer, places, is_secret, to=asked.to, folder=asked.folder, dry_run=asked.dry_run
        )
    if asked.json:
        emit({
            "from": str(done.source), "to": str(done.target), "commits": done.commits,
            "kept": done.kept, "removal": done.removal or None, "said": done.said,
        })  # fmt: skip
    else:
        print("\n".join(_told(done, dry_run=asked.dry_run)))
    return 1 if done.kept else 0


def _told(done: moving.Moved, *, dry_run: bool) -> list[str]:
    history = f"with {plural(done.commits, 'commit')} of its history"
    if dry_run:
        return [f"Would move {done.source} to {done.target}, {history}."]
    if done.source == done.target:
        return done.said
    said = [f"The store is {done.target} now, {history}.", *done.said]
    if done.kept:
        said.append(f"These files of {done.source} were changed meanwhile and stay there: "
                    f"{', '.join(done.kept)}.")  # fmt: skip
    if done.removal:
        said += ["The project's commits still have the notes. To take them out of the next one:",
                 f"  {done.removal}"]  # fmt: skip
    return said
