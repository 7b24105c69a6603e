"""The command that makes a project remember: init."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mdmemory import assets
from mdmemory.doors import machine
from mdmemory.doors.cli.output import emit
from mdmemory.doors.memory import Memory
from mdmemory.errors import UsageError
from mdmemory.store.project import Project


def init_options(parser: ArgumentParser) -> None:
    """Options of `init`."""
    parser.add_argument("dir", nargs="?", metavar="DIR", help="the project root (default: here)")
    parser.add_argument("--own-repo", action="store_true",
                        help="keep the store in a git repository of its own")  # fmt: skip
    wide = "a store for all projects, wired into your OpenCode configuration"
    parser.add_argument("--user", action="store_true", help=wide)
    parser.add_argument("--opencode", action="store_true",
                        help="let OpenCode read the memory of this project")  # fmt: skip
    parser.add_argument("--git-hooks", action="store_true",
                        help="a line in git hooks that keeps MEMORY.md up to date")  # fmt: skip
    parser.add_argument("--remove", action="store_true",
                        help="take the hooks and OpenCode's entries back; notes stay")  # fmt: skip


def init(asked: Namespace) -> int:
    """Make a store (default DIR/notes/memory, or --store PATH inside DIR), in one commit."""
    if asked.user and (asked.dir or asked.own_repo or asked.store):
        raise UsageError(
            "--user cannot be combined with DIR, --own-repo or --store.",
            "Run `mdmemory init --user` alone.",
        )
    root = machine.places().personal_root if asked.user else Path(asked.dir or ".")
    if asked.remove:
        return _remove(asked, root)
    memory, setup = Memory.init(root, store=asked.store, own_repo=asked.own_repo)
    said = [*setup.said]
    if setup.commit:
        said.append(f"Committed {', '.join(setup.files)} ({setup.commit[:10]}).")
    elif setup.files:
        said.append(f"Wrote {', '.join(setup.files)}.")
    if asked.opencode or asked.user:
        said += _wire(memory.project, personal=asked.user)
    if asked.git_hooks:
        from mdmemory.doors import githooks

        said += githooks.install(memory.project, githooks.command())
    if not said:
        said.append(f"{setup.project.store} is a store already; nothing was changed.")
    elif setup.files:
        said.append(f"The store is {setup.project.store}. Next: `mdmemory add --help`.")
    if asked.json:
        emit({
            "root": str(setup.project.root), "store": str(setup.project.store),
            "commit": setup.commit, "files": setup.files, "said": said,
        })  # fmt: skip
    else:
        print("\n".join(said))
    return 0


def _remove(asked: Namespace, root: Path) -> int:
    """Unwire a project; the notes and the store stay."""
    from mdmemory.doors import githooks, opencode

    if asked.own_repo or asked.opencode or asked.git_hooks:
        raise UsageError(
            "--remove cannot be combined with other options.",
            "Run `mdmemory init --remove [DIR]`.",
        )
    project = Memory.open(root, store=asked.store).project
    folder = machine.opencode_folder() if asked.user else None
    said = opencode.remove(project.root, project.store, config_folder=folder)
    said += githooks.remove(project)
    said += [f"The notes stay in {project.store}."] if said else ["There was nothing to remove."]
    if asked.json:
        emit({"root": str(project.root), "store": str(project.store), "said": said})
    else:
        print("\n".join(said))
    return 0


def _wire(project: Project, *, personal: bool) -> list[str]:
    from mdmemory.doors import opencode

    protocol = assets.read("protocol/PROTOCOL.md")
    if personal:
        folder = machine.opencode_folder()
        return opencode.install(project.root, project.store, protocol, config_folder=folder)
    return opencode.install(project.root, project.store, protocol)
