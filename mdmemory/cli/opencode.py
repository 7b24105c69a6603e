"""What `init --opencode` does and asks at the terminal."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from mdmemory import assets
from mdmemory.cli import planner_choice
from mdmemory.cli.output import is_terminal
from mdmemory.config import person
from mdmemory.config.table import DEFAULT_STORE
from mdmemory.errors import MdmemoryError
from mdmemory.memory import Memory
from mdmemory.store.project import PRIVATE, Project


def wire(asked: Namespace, project: Project) -> list[str]:
    """Put into OpenCode's folders what belongs there; sentences."""
    return _install(asked, project.root, project.store, project.prepare_private())


def dry_run(asked: Namespace, root: Path) -> list[str]:
    """What would be done, by sentences; the disk stays as it is."""
    root = root.resolve()
    store = _store_of(root) or root / (asked.store or DEFAULT_STORE)
    said = [] if store.is_dir() else [f"Would make a store in {store}."]
    return said + _install(asked, root, store, root / PRIVATE) or ["Everything is in place."]


def _store_of(root: Path) -> Path | None:
    """The store that a project has already."""
    try:
        project = Memory.open(root).project if root.is_dir() else None
    except MdmemoryError:
        return None
    return project.store if project and project.root == root else None


def unwire(project: Project, *, personal: bool) -> list[str]:
    """Take all of it back; sentences."""
    from mdmemory.hosts.opencode import wiring
    from mdmemory.hosts.opencode.places import Place

    folder = person.opencode_folder() if personal else None
    place = Place(project.root, project.store, folder)
    return wiring.remove(place, record=project.prepare_private())


def _install(asked: Namespace, root: Path, store: Path, record: Path) -> list[str]:
    from mdmemory.hosts import git_hooks
    from mdmemory.hosts.opencode import wiring
    from mdmemory.hosts.opencode.files import Wanted
    from mdmemory.hosts.opencode.places import Place

    personal = Place(root, store, person.opencode_folder())
    place = personal if asked.user else Place(root, store)
    wanted = Wanted(assets.read("protocol/PROTOCOL.md"), git_hooks.command())
    said = wiring.install(place, wanted, record=record, mcp=asked.mcp, dry_run=asked.dry_run)
    if asked.no_npm and not asked.mcp and not asked.dry_run:
        said += wiring.spare_npm(personal)
    return said


def choose(asked: Namespace, project: Project) -> list[str]:
    """Who plans and reads: as told, as asked for at a terminal, or only a word on how to choose."""
    file = person.places().personal_settings
    planner = asked.planner
    if planner is None and project.settings.origins.get("planner", "default") != "default":
        return []
    if planner is None and not (asked.json or not is_terminal()):
        planner = _ask()
    if planner is None:
        return ["No model reads your sessions. To choose one: `mdmemory init --planner NAME`."]
    if not planner_choice.choose(file, planner):
        return []
    return [f"Wrote planner = {planner} to {file}: {planner_choice.CHOICES[planner]}."]


def _ask() -> str:
    """The planner that a person names; an empty line is the one that sends nothing."""
    print("Who should read your sessions for facts, and plan compactions?")
    for name, what in planner_choice.CHOICES.items():
        print(f"  {name:<9} {what}.")
    while True:
        answer = input("planner [offline]: ").strip() or "offline"
        if answer in planner_choice.CHOICES:
            return answer
        print(f"Type one of {', '.join(planner_choice.CHOICES)}.")
