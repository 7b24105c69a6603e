"""What a search looks at: the sources, where they lie on this machine, and who makes vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.config import person
from mdmemory.config.settings import Settings
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import MdmemoryError, RepositoryState, UsageError
from mdmemory.privacy import redacted
from mdmemory.search.project import Search
from mdmemory.search.results import ALL, FILES, MEMORY, SESSIONS, SOURCES
from mdmemory.store.project import Project, person_root
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:
    from mdmemory.search.embeddings import Embedder
    from mdmemory.search.local_models import Local
    from mdmemory.search.project import Feeder


OBSERVATIONS = "observations"  # a source of its own, which no search of all looks at


def check(source: str, k: int, at: str | None) -> None:
    """Raise UsageError for an unknown source, for `k` below 1, and for a source that the commit
    `at` does not hold."""
    if source not in (*SOURCES, OBSERVATIONS, ALL):
        raise UsageError(
            f"There is no source {source} to search.",
            "Name memory, sessions, files, observations, or all.",
        )
    if k < 1:
        raise UsageError(f"{k} hits cannot be shown.", "Ask for at least 1.")
    if at is not None and source == OBSERVATIONS:
        raise UsageError("Observations stand in no commit.", "Search them without --at.")
    if at is not None and source not in (MEMORY, ALL):
        raise UsageError(f"A commit holds no {source}.", "Search them without --at.")


def search(refresher: Refresher, source: str, today: str, *, meaning: bool) -> Search:
    """The search of a source, or of all, after MEMORY.md was brought up to date. Without `meaning`
    it makes and uses no vectors."""
    refresher.current()
    project = refresher.project
    others = sources(project, source)
    return Search(refresher, others, partial(embedder, project, today) if meaning else None)


def session_folders(project: Project) -> list[Path]:
    """The project's folder in each of its repository's worktrees, those that are gone, too, and
    where it lay before it was moved.

    A store that belongs to no one project serves the folder in which the command was started.
    """
    from mdmemory.git import repositories

    root = project.around or project.root  # the store may lie in the memory folder
    if root == person_root(person.places()) or not (project.root / PROJECT_FILE).is_file():
        root = Path.cwd()
    try:
        repository = repositories.find(root)
    except RepositoryState:  # no reason not to look
        repository = None
    if repository is not None and project.around is not None:
        root = repository.top
    listed = repository.ask("worktree", "list", "--porcelain") if repository else None
    if repository is None or listed is None:
        return [root]
    below = Path(os.path.realpath(root)).relative_to(os.path.realpath(repository.top))
    lines = listed.decode("utf-8", "surrogateescape").split("\n")
    trees = [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
    return [root, *(Path(tree) / below for tree in trees), *_former(project, below)]


def _former(project: Project, below: Path) -> list[Path]:
    """Folders in which the project was seen, and where nothing lies any more."""
    from mdmemory.store import home

    try:
        entry = home.read(project.root)
    except MdmemoryError:  # `doctor` says so
        entry = None
    places = [Path(folder) for folder in entry.folders] if entry else []
    tops = [place.parent for place in places if place.name == ".git"]
    return [top / below for top in tops if not os.path.lexists(top)]


def sources(project: Project, wanted: str) -> Mapping[str, Feeder]:
    """What feeds a source of search beside the notes, or (all) each of them."""
    found: dict[str, Feeder] = {}
    if wanted in (SESSIONS, ALL):
        from mdmemory.search.transcripts import Transcripts

        exports = _folders(project, "search.transcripts")
        folders = session_folders(project)
        found[SESSIONS] = Transcripts(person.hosts(), folders, exports, redacted)
    if wanted in (FILES, ALL):
        from mdmemory.search.folders import Folders

        found[FILES] = Folders(_folders(project, "search.folders"), project.store, redacted)
    return found


def embedder(project: Project, today: str) -> Embedder | None:
    """Who makes vectors on the day `today`; None where a person chose nobody.

    Raises MdmemoryError where vectors could not be compared.
    """
    settings = project.settings
    if (chosen := settings.text("search.embeddings")) == "off":
        return None
    try:
        import numpy  # noqa: F401  # an extra; asked here, before any text is sent
    except ImportError as problem:
        raise MdmemoryError(
            "Search by meaning needs the package numpy, which is not installed.",
            f"`mdmemory config set search.embeddings {chosen}` says how to install it.",
        ) from problem
    if chosen == "local":
        return local_model(settings.text("search.embedding_model"), person.models_folder())
    from mdmemory.llm.choose import embedder

    return embedder(project, today)


def trouble(settings: Settings) -> str:
    """Why search goes by words although the settings turn vectors on; "" where all packages are
    there, or vectors are off. Loads no model, and asks no server."""
    from mdmemory.search.local_models import missing_packages

    kind = settings.text("search.embeddings")
    packages = [] if kind == "off" else missing_packages(["numpy"])
    if kind == "local":
        packages = missing_packages()
    if not packages:
        return ""
    again = f"`mdmemory config set search.embeddings {kind}`"
    return f"{' and '.join(packages)} not installed ({again})"


@cache  # a model takes seconds to load
def local_model(name: str, models: Path) -> Local:
    """The model `name` ("": the default), whose fetched files lie in the folder `models`."""
    from mdmemory.search.local_models import DEFAULT, Local

    return Local(name or DEFAULT, models)


def _folders(project: Project, setting: str) -> list[Path]:
    return [Path(os.path.expanduser(each)) for each in project.settings.several(setting)]
