"""Commands that connect: setup your assistants, for all projects; init a project, to its store."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.actions import memory_folder, setup
from mdmemory.cli.commands import count_noun, show_value
from mdmemory.config import person
from mdmemory.config.settings import load_settings
from mdmemory.config.table import DEFAULT_STORE, PROJECT_FILE
from mdmemory.errors import NotFound, UsageError
from mdmemory.memory import Memory
from mdmemory.store import home as homes
from mdmemory.store.project import home_of, person_root, root_in_tree
from mdmemory.store.store import Store

if TYPE_CHECKING:  # only a shape here
    from mdmemory.actions.setup import Setup


_KEYS = ("openai.api_key", "search.embedding_key")


def run_setup(options: Namespace) -> int:
    from mdmemory.hosts import clients  # slow to load

    if options.meaning:
        from mdmemory.cli import configuring

        if options.clients or options.remove or options.dry_run:
            raise UsageError(
                "`setup --meaning` stands alone.",
                "`mdmemory config set search.embeddings off` turns it off.",
            )
        named = {"action": "set", "name": "search.embeddings", "value": "local"}
        return configuring.run_config(Namespace(**{**vars(options), **named, "unset": False,
                                               "everywhere": False}))  # fmt: skip
    missing = [name for name in clients.NAMES if not clients.is_installed(name, os.environ)]
    names = _chosen_names(options, missing)
    wired = clients.connected_clients(os.environ)
    work = clients.remove_clients if options.remove else clients.install_clients
    sentences = work(names, os.environ, dry_run=options.dry_run)
    if sentences and not options.remove:
        sentences += [
            f"{clients.client_title(name)} is not installed here; its settings were written anyway."
            for name in names
            if name in missing
        ]
    if options.json:
        return show_value(options, {"clients": names, "missing": missing, "said": sentences})
    if not sentences:
        print("Nothing to remove." if options.remove else "All is in place; nothing changed.")
        return 0
    is_whole = options.verbose or options.dry_run
    lines = [each for each in sentences if is_whole or not each.startswith(clients.OF_FILES)]
    places = person.person_places()
    if options.remove and not options.dry_run:  # who is connected no more, and what stays
        if gone := [clients.client_title(name) for name in names if name in wired]:
            lines.append(f"Disconnected: {', '.join(gone)}. Start them again.")
        if (home := home_of(places)).is_dir():
            removal = f"`rm -r {shlex.quote(str(home))}` deletes them"
            lines.append(f"Your notes stay in {home}; {removal}.")
        file = str(places.personal_settings)
        origins = load_settings(places.environment, places.personal_settings).origins
        if any(origins[name] == file for name in _KEYS):
            lines.append(f"{file} stays, with an API key in it.")
    elif not options.dry_run:  # what a person wants to know at the end
        names = [name for name in names if clients.is_wired(name, os.environ)]
        notes = "".join(f" {clients.NOTES[name]}." for name in names if name in clients.NOTES)
        lines += [
            f"Connected, for all your projects: {', '.join(map(clients.client_title, names))}.",
            f"Notes will lie in {home_of(places)}: what is about you in `me`, a folder for each "
            "project.",
            "Changed: entries in their settings, and files of ours beside them. "
            "`mdmemory setup --remove --dry-run` names each.",
            f'Next: start them again, and say "Remember that ..." to one.{notes}',
            "To take all of this out again: `mdmemory setup --remove`.",
        ]
    print("\n".join(lines))
    return 0


def _chosen_names(options: Namespace, missing: list[str]) -> list[str]:
    """The clients that are meant, each once; none named: all that are not `missing`."""
    from mdmemory.hosts import clients

    known = ", ".join(clients.NAMES)
    for name in options.clients:
        if name not in clients.NAMES:
            raise UsageError(
                f"There is no client {name!r} that mdmemory knows.", f"Known: {known}."
            )
    if options.clients:
        return [*dict.fromkeys(options.clients)]
    names = [name for name in clients.NAMES if options.remove or name not in missing]
    if not names:
        raise NotFound(
            "No client that mdmemory knows is installed.",
            f"Name one to set it up all the same, such as `mdmemory setup opencode`: {known}.",
        )
    return names


# --- init


def run_init(options: Namespace) -> int:
    _refuse_nonsense(options)
    root = person_root(person.person_places()) if options.user else Path(options.dir or ".")
    if options.remove:
        return _remove_wiring(options, root)
    if options.dry_run:
        return _tell_setup(options, None, _dry_run(options, root))
    older = None  # the store that one inside the project takes the place of
    if options.here or options.shared:
        older = _store_elsewhere(root, _root_inside(root))
    done = _make_store(options, root)
    project, sentences = done.project, [*done.said]
    if done.commit:
        sentences.append(f"Committed {', '.join(done.files)} ({done.commit[:10]}).")
    elif done.files:
        sentences.append(f"Wrote {', '.join(done.files)}.")
    if options.opencode or options.user:
        project.prepare_private()
        sentences += _install_wiring(options, project.root, project.store)
        if project.settings.origins.get("planner", "default") == "default":
            chosen = "`mdmemory config set planner opencode` chooses one"
            sentences.append(f"No model reads your sessions; {chosen}.")
    if options.git_hooks:
        from mdmemory.hosts import git_hooks

        sentences += git_hooks.install_hooks(project, git_hooks.program_words())
    if not sentences:
        sentences.append(f"{project.store} is already a store; nothing changed.")
    elif done.files:
        sentences.append(f"The store is {project.store}. Next: `mdmemory add --help`.")
        if older and (count := len(Store(older).files())):
            sentences.append(
                f"{older}, the project's store until now, keeps its {count_noun(count, 'note')}. "
                f"To have them here: `mdmemory import {shlex.quote(str(older))} --yes`."
            )
    return _tell_setup(options, done, sentences)


def _root_inside(root: Path) -> Path | None:
    """The root of the project's store where it is one of the project's files."""
    return root_in_tree(root.absolute()) if root.is_dir() else None


def _make_store(options: Namespace, root: Path) -> Setup:
    """The store that was asked for, made where it is missing."""
    places = person.person_places()
    if options.user:
        return memory_folder.begin_person(places)
    if options.join:
        joined = memory_folder.join_store(root, options.join, places)
        return setup.init_store(joined, places)
    in_tree = _root_inside(root)
    if in_tree is not None and options.dir is None and not options.here:
        root = in_tree
    # a project whose wiring is in its repository has its store there, too
    is_inside = (
        options.here or options.shared or options.store or options.opencode or options.git_hooks
    )
    if not is_inside and in_tree is None:
        return memory_folder.begin_store(root, places)
    _refuse_wiring_of_elsewhere(options, root.absolute(), in_tree)
    own, tracked = options.here, not options.shared
    return setup.init_store(root, places, store=options.store, own_repo=own, tracked=tracked)


def _store_elsewhere(root: Path, in_tree: Path | None) -> Path | None:
    """The project's store where it is not one of the project's files: in the memory folder, or
    moved to a repository of its own."""
    if in_tree is not None:
        return None if root.is_relative_to(in_tree) else in_tree
    home = home_of(person.person_places())
    entry = homes.find_match(home, root).entry if root.is_dir() else None
    return entry.store if entry else None


def _refuse_wiring_of_elsewhere(options: Namespace, root: Path, in_tree: Path | None) -> None:
    """Refuse files in the project for a store that lies elsewhere."""
    if options.user or options.here or options.shared or options.store:
        return
    wired = options.opencode or options.git_hooks
    if not wired or (store := _store_elsewhere(root, in_tree)) is None:
        return
    raise UsageError(
        f"The store of this project is {store}, and files of the project would name it.",
        "`mdmemory setup opencode` connects OpenCode to every such store, and hooks go into its "
        f"own repository: `mdmemory init {shlex.quote(str(store))} --git-hooks`.",
    )


def _refuse_nonsense(options: Namespace) -> None:
    places = (options.here, options.shared, options.join)
    if options.user and any((options.dir, options.store, *places)):
        raise UsageError(
            "--user cannot be combined with DIR, --here, --shared, --join or --store.",
            "Run `mdmemory init --user` alone.",
        )
    if sum(map(bool, places)) > 1:
        raise UsageError("--here, --shared and --join are three places.", "Choose one of them.")
    wired = options.opencode or options.user
    if (options.mcp or options.no_npm or options.dry_run) and not wired:
        raise UsageError(
            "--mcp, --no-npm and --dry-run need --opencode or --user.", "Add one of them."
        )
    if options.remove and (options.here or options.opencode or options.git_hooks):
        raise UsageError(
            "--remove cannot be combined with other options.", "Run `mdmemory init --remove [DIR]`."
        )


def _tell_setup(options: Namespace, done: Setup | None, sentences: list[str]) -> int:
    fields: dict[str, object] = {"said": sentences}
    if done is not None:
        fields = {
            "root": str(done.project.top), "store": str(done.project.store),
            "commit": done.commit, "files": done.files, "said": sentences,
        }  # fmt: skip
    return show_value(options, fields, *sentences)


def _remove_wiring(options: Namespace, root: Path) -> int:
    """Remove what `init` added to git's hooks and to OpenCode; the notes and the store stay."""
    from mdmemory.hosts import clients, git_hooks
    from mdmemory.hosts.opencode import wiring
    from mdmemory.hosts.opencode.wiring import Place

    if not root.is_dir():
        raise NotFound(f"No such folder: {root}.", "Name the project's folder.")
    project = Memory.open(root, store=options.store).project
    if options.user:
        sentences = clients.remove_clients([clients.OPENCODE], os.environ)
    else:  # of a store that was moved out of the project the files there stay
        store = project.top / DEFAULT_STORE if project.around else project.store
        sentences = wiring.remove_wiring(Place(project.top, store))
    sentences += git_hooks.remove_hooks(project)
    sentences += [f"The notes stay in {project.store}."] if sentences else []
    sentences += setup.remove_store(project) or ([] if sentences else ["Nothing to remove."])
    return _tell_setup(options, setup.Setup(project), sentences)


# --- OpenCode


def _dry_run(options: Namespace, root: Path) -> list[str]:
    """Messages about what would be written; nothing is."""
    from mdmemory.hosts.opencode.wiring import DRY_RUN

    places = person.person_places()
    _refuse_wiring_of_elsewhere(options, root.absolute(), _root_inside(root))
    root = root.resolve()
    settings = load_settings(places.environment, places.personal_settings, root / PROJECT_FILE)
    store = root if options.user else root / (options.store or settings.text("store"))
    sentences = [] if store.is_dir() else [f"Would create a store in {store}."]
    sentences += _install_wiring(options, root, store)
    return [*dict.fromkeys([DRY_RUN, *sentences])] if sentences else ["Nothing to do."]


def _install_wiring(options: Namespace, root: Path, store: Path) -> list[str]:
    from mdmemory.hosts import clients, git_hooks
    from mdmemory.hosts.opencode import wiring
    from mdmemory.hosts.opencode.wiring import Place

    mcp, is_wet = options.mcp, not options.dry_run
    personal = wiring.personal_place(os.environ)
    if options.user:
        files = wiring.personal_wiring(os.environ, store, mcp=mcp)
        if options.no_npm and not mcp:
            files = replace(files, remarks=())  # they tell of npm
        sentences = clients.install_clients(
            [clients.OPENCODE], os.environ, dry_run=options.dry_run, files=files
        )
        if mcp and is_wet:
            wiring.let_npm(personal)
    else:
        place = Place(root, store, command=git_hooks.program_words())
        sentences = wiring.install_wiring(place, mcp=mcp, dry_run=options.dry_run)
    if options.no_npm and not mcp and is_wet:
        sentences += wiring.spare_npm(personal)
    return sentences
