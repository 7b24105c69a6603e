"""The command that creates a store and connects OpenCode: init."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory import protocol
from mdmemory.actions import memory_folder, setup
from mdmemory.cli.commands import add_flag
from mdmemory.cli.output import plural, show
from mdmemory.config import person
from mdmemory.config.settings import load
from mdmemory.config.table import DEFAULT_STORE, PROJECT_FILE
from mdmemory.errors import NotFound, UsageError
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.store import home as homes
from mdmemory.store.project import Project, home_of, person_root, root_in_tree
from mdmemory.store.store import Store

if TYPE_CHECKING:  # only a shape here
    from mdmemory.actions.setup import Setup


def init_options(parser: ArgumentParser) -> None:
    """Options of `init`."""
    parser.add_argument(
        "dir", nargs="?", metavar="DIR", help="the project (default: the current folder)"
    )
    add_flag(parser, "--here --own-repo", "put the store into the project, with its own repository")
    add_flag(parser, "--shared", "put the store into the project's repository, for a team")
    parser.add_argument(
        "--join", metavar="STORE", help="use this store of your memory folder for the project"
    )
    about = "create your own store, for all projects, and connect OpenCode to it"
    add_flag(parser, "--user", about)
    add_flag(parser, "--opencode", "connect OpenCode, in this project only")
    add_flag(parser, "--mcp", "with --opencode: use an MCP server, not the plugin")
    add_flag(parser, "--no-npm", "with --opencode: skip OpenCode's npm install")
    add_flag(parser, "--dry-run", "with --opencode: only show what would be written")
    add_flag(parser, "--git-hooks", "install git hooks that keep MEMORY.md up to date")
    add_flag(parser, "--remove", "remove what init made and added to git and OpenCode, not notes")


def init(asked: Namespace) -> int:
    """Create a store for the project DIR in your memory folder, or inside the project with
    --here, --shared or --store PATH."""
    _refuse_nonsense(asked)
    root = person_root(person.places()) if asked.user else Path(asked.dir or ".")
    if asked.remove:
        return _remove(asked, root)
    if asked.dry_run:
        return _tell(asked, None, _dry_run(asked, root))
    older = _left_behind(asked, root)
    done = _made(asked, root)
    project, said = done.project, [*done.said]
    if done.commit:
        said.append(f"Committed {', '.join(done.files)} ({done.commit[:10]}).")
    elif done.files:
        said.append(f"Wrote {', '.join(done.files)}.")
    if asked.opencode or asked.user:
        project.prepare_private()
        said += _install(asked, project.root, project.store)
    if asked.opencode or asked.user:
        said += _say_who_reads(project)
    if asked.git_hooks:
        from mdmemory.hosts import git_hooks

        said += git_hooks.install_hooks(project, git_hooks.program_words())
    if not said:
        said.append(f"{project.store} is already a store; nothing changed.")
    elif done.files:
        said.append(f"The store is {project.store}. Next: `mdmemory add --help`.")
        said += older
    return _tell(asked, done, said)


def _left_behind(asked: Namespace, root: Path) -> list[str]:
    """A sentence on the notes of the store that the project had until now and that a store inside
    it takes the place of; [] where there are none."""
    from shlex import quote

    if not (asked.here or asked.shared):
        return []
    in_tree = root_in_tree(root.absolute()) if root.is_dir() else None
    store = _store_elsewhere(root, in_tree, person.places())
    count = len(Store(store).files()) if store else 0
    if not (store and count):
        return []
    return [
        f"{store}, the project's store until now, keeps its {plural(count, 'note')}. To have them "
        f"here: `mdmemory import {quote(str(store))} --yes`."
    ]


def _made(asked: Namespace, root: Path) -> Setup:
    """The store that was asked for, made where it is missing."""
    places = person.places()
    if asked.user:
        return memory_folder.begin_person(places, is_secret)
    if asked.join:
        return setup.init_store(
            memory_folder.join_store(root, asked.join, places), places, is_secret
        )
    in_tree = root_in_tree(root.absolute()) if root.is_dir() else None
    if in_tree is not None and asked.dir is None and not asked.here:
        root = in_tree
    # a project whose wiring is in its repository has its store there, too
    is_inside = asked.here or asked.shared or asked.store or asked.opencode or asked.git_hooks
    if not is_inside and in_tree is None:
        return memory_folder.begin_store(root, places, is_secret)
    _refuse_wiring_of_elsewhere(asked, root.absolute(), in_tree, places)
    return setup.init_store(
        root, places, is_secret, store=asked.store, own_repo=asked.here, tracked=not asked.shared
    )


def _store_elsewhere(root: Path, in_tree: Path | None, places: person.Places) -> Path | None:
    """The project's store where it is not one of the project's files: in the memory folder, or
    moved to a repository of its own."""
    if in_tree is not None:
        return None if root.is_relative_to(in_tree) else in_tree
    entry = homes.find_match(home_of(places), root).entry if root.is_dir() else None
    return entry.store if entry else None


def _refuse_wiring_of_elsewhere(
    asked: Namespace, root: Path, in_tree: Path | None, places: person.Places
) -> None:
    """Refuse files in the project for a store that lies elsewhere."""
    if asked.user or asked.here or asked.shared or asked.store:
        return
    wired = asked.opencode or asked.git_hooks
    if not wired or (store := _store_elsewhere(root, in_tree, places)) is None:
        return
    from shlex import quote

    raise UsageError(
        f"The store of this project is {store}, and files of the project would name it.",
        "`mdmemory setup opencode` connects OpenCode to every such store, and hooks go into its "
        f"own repository: `mdmemory init {quote(str(store))} --git-hooks`.",
    )


def _refuse_nonsense(asked: Namespace) -> None:
    if asked.user and (asked.dir or asked.here or asked.shared or asked.join or asked.store):
        raise UsageError(
            "--user cannot be combined with DIR, --here, --shared, --join or --store.",
            "Run `mdmemory init --user` alone.",
        )
    if sum(map(bool, (asked.here, asked.shared, asked.join))) > 1:
        raise UsageError("--here, --shared and --join are three places.", "Choose one of them.")
    wired = asked.opencode or asked.user
    if (asked.mcp or asked.no_npm or asked.dry_run) and not wired:
        raise UsageError(
            "--mcp, --no-npm and --dry-run need --opencode or --user.", "Add one of them."
        )
    if asked.remove and (asked.here or asked.opencode or asked.git_hooks):
        raise UsageError(
            "--remove cannot be combined with other options.", "Run `mdmemory init --remove [DIR]`."
        )


def _tell(asked: Namespace, done: Setup | None, said: list[str]) -> int:
    fields: dict[str, object] = {"said": said}
    if done is not None:
        fields = {
            "root": str(done.project.top), "store": str(done.project.store),
            "commit": done.commit, "files": done.files, "said": said,
        }  # fmt: skip
    show(asked, fields, *said)
    return 0


def _remove(asked: Namespace, root: Path) -> int:
    """Remove what `init` added to git's hooks and to OpenCode; the notes and the store stay."""
    from mdmemory.hosts import git_hooks

    if not root.is_dir():
        raise NotFound(f"No such folder: {root}.", "Name the project's folder.")
    project = Memory.open(root, store=asked.store).project
    said = _unwire(project, is_personal=asked.user) + git_hooks.remove_hooks(project)
    said += [f"The notes stay in {project.store}."] if said else []
    said += setup.remove_store(project) or ([] if said else ["Nothing to remove."])
    return _tell(asked, setup.Setup(project), said)


# --- OpenCode


def _dry_run(asked: Namespace, root: Path) -> list[str]:
    """Messages about what would be written; nothing is."""
    from mdmemory.hosts.opencode.wiring import DRY_RUN

    in_tree = root_in_tree(root.absolute()) if root.is_dir() else None
    places = person.places()
    _refuse_wiring_of_elsewhere(asked, root.absolute(), in_tree, places)
    root = root.resolve()
    settings = load(places.environment, places.personal_settings, root / PROJECT_FILE)
    store = root if asked.user else root / (asked.store or settings.text("store"))
    said = [] if store.is_dir() else [f"Would create a store in {store}."]
    said += _install(asked, root, store)
    return [DRY_RUN, *said] if said else ["Nothing to do."]


def _unwire(project: Project, *, is_personal: bool) -> list[str]:
    """Remove all that we wrote for OpenCode; return messages."""
    from mdmemory.hosts import clients
    from mdmemory.hosts.opencode import wiring
    from mdmemory.hosts.opencode.places import Place

    if is_personal:
        return clients.remove_clients([clients.OPENCODE], os.environ)
    # of a store that was moved out of the project the files there stay
    store = project.top / DEFAULT_STORE if project.around else project.store
    return wiring.remove_wiring(Place(project.top, store))


def _install(asked: Namespace, root: Path, store: Path) -> list[str]:
    from mdmemory.hosts import git_hooks
    from mdmemory.hosts.opencode import personal, wiring
    from mdmemory.hosts.opencode.files import Wanted
    from mdmemory.hosts.opencode.places import Place

    if asked.user:
        return personal.install_personal(
            os.environ, store=store, mcp=asked.mcp, no_npm=asked.no_npm, dry_run=asked.dry_run
        )
    wanted = Wanted(protocol.short(), git_hooks.program_words())
    place = Place(root, store)
    said = wiring.install_wiring(place, wanted, mcp=asked.mcp, dry_run=asked.dry_run)
    if asked.no_npm and not asked.mcp and not asked.dry_run:
        said += wiring.spare_npm(personal.personal_place(os.environ))
    return said


def _say_who_reads(project: Project) -> list[str]:
    """How to choose a model that reads sessions, where nobody chose yet."""
    if project.settings.origins.get("planner", "default") != "default":
        return []
    return ["No model reads your sessions. To choose one: `mdmemory config set planner NAME`."]
