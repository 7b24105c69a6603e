"""The command that makes a project remember: init."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.cli import opencode, planner_choice
from mdmemory.cli.output import emit
from mdmemory.config import person
from mdmemory.errors import NotFound, UsageError
from mdmemory.memory import Memory

if TYPE_CHECKING:  # only a shape here
    from mdmemory.actions.setup import Setup


def init_options(parser: ArgumentParser) -> None:
    """Options of `init`."""
    parser.add_argument("dir", nargs="?", metavar="DIR", help="the project root (default: here)")
    parser.add_argument("--own-repo", action="store_true",
                        help="keep the store in a git repository of its own")  # fmt: skip
    wide = "a store for all projects, wired into your own OpenCode folder"
    parser.add_argument("--user", action="store_true", help=wide)
    parser.add_argument("--opencode", action="store_true",
                        help="let OpenCode read the memory of this project")  # fmt: skip
    parser.add_argument("--mcp", action="store_true",
                        help="with --opencode: an MCP server in place of the plugin")  # fmt: skip
    parser.add_argument("--no-npm", action="store_true",
                        help="no npm install in your configuration folder either")  # fmt: skip
    parser.add_argument("--planner", choices=tuple(planner_choice.CHOICES),
                        help="who plans and reads; all but offline send text")  # fmt: skip
    parser.add_argument("--dry-run", action="store_true",
                        help="with --opencode: tell, and write nothing of it")  # fmt: skip
    parser.add_argument("--git-hooks", action="store_true",
                        help="a line in git hooks that keeps MEMORY.md up to date")  # fmt: skip
    parser.add_argument("--remove", action="store_true",
                        help="take back the hooks and OpenCode's files; notes stay")  # fmt: skip


def init(asked: Namespace) -> int:
    """Make a store (default DIR/notes/memory, or --store PATH inside DIR), in one commit."""
    _refuse_nonsense(asked)
    root = person.places().personal_root if asked.user else Path(asked.dir or ".")
    if asked.remove:
        return _remove(asked, root)
    if asked.dry_run:
        return _tell(asked, None, opencode.dry_run(asked, root))
    memory, setup = Memory.init(root, store=asked.store, own_repo=asked.own_repo)
    said = [*setup.said]
    if setup.commit:
        said.append(f"Committed {', '.join(setup.files)} ({setup.commit[:10]}).")
    elif setup.files:
        said.append(f"Wrote {', '.join(setup.files)}.")
    if asked.opencode or asked.user:
        said += opencode.wire(asked, memory.project)
    if asked.opencode or asked.user or asked.planner:
        said += opencode.choose(asked, memory.project)
    if asked.git_hooks:
        from mdmemory.hosts import git_hooks

        said += git_hooks.install(memory.project, git_hooks.command())
    if not said:
        said.append(f"{setup.project.store} is a store already; nothing was changed.")
    elif setup.files:
        said.append(f"The store is {setup.project.store}. Next: `mdmemory add --help`.")
    return _tell(asked, setup, said)


def _refuse_nonsense(asked: Namespace) -> None:
    if asked.user and (asked.dir or asked.own_repo or asked.store):
        raise UsageError(
            "--user cannot be combined with DIR, --own-repo or --store.",
            "Run `mdmemory init --user` alone.",
        )
    wired = asked.opencode or asked.user
    if (asked.mcp or asked.no_npm or asked.dry_run) and not wired:
        raise UsageError(
            "--mcp, --no-npm and --dry-run say how OpenCode is wired.",
            "Add --opencode, or --user.",
        )
    if asked.remove and (asked.own_repo or asked.opencode or asked.git_hooks or asked.planner):
        raise UsageError(
            "--remove cannot be combined with other options.",
            "Run `mdmemory init --remove [DIR]`.",
        )


def _tell(asked: Namespace, setup: Setup | None, said: list[str]) -> int:
    if not asked.json:
        print("\n".join(said))
    elif setup is None:
        emit({"said": said})
    else:
        emit({
            "root": str(setup.project.root), "store": str(setup.project.store),
            "commit": setup.commit, "files": setup.files, "said": said,
        })  # fmt: skip
    return 0


def _remove(asked: Namespace, root: Path) -> int:
    """Unwire a project; the notes and the store stay."""
    from mdmemory.hosts import git_hooks

    if not root.is_dir():
        raise NotFound(f"There is no folder {root}.", "Name the project's folder.")
    project = Memory.open(root, store=asked.store).project
    said = opencode.unwire(project, personal=asked.user) + git_hooks.remove(project)
    said += [f"The notes stay in {project.store}."] if said else ["There was nothing to remove."]
    if asked.json:
        emit({
            "root": str(project.root), "store": str(project.store), "commit": None, "files": [],
            "said": said,
        })  # fmt: skip
    else:
        print("\n".join(said))
    return 0
