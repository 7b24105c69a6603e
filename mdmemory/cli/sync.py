"""The command that talks to a remote: sync."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace

from mdmemory.actions.sync import Synced
from mdmemory.cli.output import emit, opened, plural


def sync_options(parser: ArgumentParser) -> None:
    """Options of `sync`."""
    parser.add_argument("--rebase", action="store_true", help="put your commits on top of theirs")


def sync(asked: Namespace) -> int:
    """Commit the notes, fetch, merge, bring the index up to date, push: as git is configured."""
    asked.holder = "sync"
    done = opened(asked).sync(rebase=asked.rebase)
    if asked.json:
        emit({
            "committed": done.committed, "fetched": done.fetched, "merged": done.merged,
            "pushed": done.pushed, "conflicts": done.conflicts,
        })  # fmt: skip
    else:
        print("\n".join(_told(done, rebase=asked.rebase)))
    return 1 if done.conflicts else 0


def _told(done: Synced, *, rebase: bool) -> list[str]:
    said = [f"Committed what was new here ({done.committed[:10]})."] if done.committed else []
    if done.fetched:
        said.append(f"Fetched {plural(done.fetched, 'commit')} from {done.upstream}.")
    if done.conflicts:
        return said + _decide(done, "rebase" if rebase else "merge")
    if done.pushed:
        said.append(f"Pushed {plural(done.pushed, 'commit')} to {done.upstream}.")
    return said or [f"Nothing new here or in {done.upstream}."]


def _decide(done: Synced, verb: str) -> list[str]:
    files = [os.path.relpath(done.top / file) for file in done.conflicts]
    return [
        "Nothing was pushed: both sides changed the same, and only you can tell what is right.",
        *(f"  {file}" for file in files),
        f"Edit, then `git add {shlex.join(files)}` (`git rm` for what shall be gone), then "
        f"`git {verb} --continue` and `mdmemory sync`. Or back to before: `git {verb} --abort`.",
    ]
