"""What a search looks at: the sources, where they lie on this machine, and who makes vectors."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.config import person
from mdmemory.config.settings import Settings
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import MdmemoryError, RepositoryState, UsageError
from mdmemory.privacy import redacted_text
from mdmemory.search.project import Search
from mdmemory.search.results import ALL, FILES, MEMORY, SESSIONS, SOURCES
from mdmemory.store.project import Project, person_root
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:
    from mdmemory.search.embeddings import Embedder
    from mdmemory.search.local_models import Encoder, Local
    from mdmemory.search.project import Feeder


OBSERVATIONS = "observations"  # a source of its own, which no search of all looks at


def check_source(source: str, k: int, at: str | None) -> None:
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
    others: dict[str, Feeder] = {}
    if source in (SESSIONS, ALL):
        from mdmemory.search.feeders import Transcripts

        folders = session_folders(project)
        others[SESSIONS] = Transcripts(person.host_places(), folders, redacted_text)
    if source in (FILES, ALL):
        from mdmemory.search.feeders import Folders

        folders = [Path(os.path.expanduser(e)) for e in project.settings.several("search.folders")]
        others[FILES] = Folders(folders, project.store, redacted_text)
    return Search(refresher, others, partial(make_embedder, project, today) if meaning else None)


def session_folders(project: Project) -> list[Path]:
    """The project's folder in each of its repository's worktrees, those that are gone, too, and
    where it lay before it was moved.

    A store that belongs to no one project serves the folder in which the command was started.
    """
    from mdmemory.git import repositories
    from mdmemory.store import home

    root = project.around or project.root  # the store may lie in the memory folder
    if root == person_root(person.person_places()) or not (project.root / PROJECT_FILE).is_file():
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
    lines = listed.decode("utf-8", "surrogateescape").split("\n")
    trees = [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
    with suppress(MdmemoryError):  # `doctor` says so
        if entry := home.read(project.root):
            # in which the project was seen, and where nothing lies any more
            tops = [git.parent for git in map(Path, entry.folders) if git.name == ".git"]
            trees += [str(top) for top in tops if not os.path.lexists(top)]
    below = Path(os.path.realpath(root)).relative_to(os.path.realpath(repository.top))
    return [root, *(Path(tree) / below for tree in trees)]


def make_embedder(project: Project, today: str) -> Embedder | None:
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


def missing_packages(kind: str, model: str) -> list[str]:
    """The packages, as pip is asked for them, that are not installed and that vectors need of this
    kind, and where they are local by this model."""
    from mdmemory.search import local_models

    needed = {"numpy": "numpy>=2"} if kind != "off" else {}
    if kind == "local" and model:
        needed["fastembed"] = local_models.PACKAGE
    elif kind == "local":
        needed[local_models.ENCODER_MODULE] = local_models.ENCODER_PACKAGE
    missing = []
    for module, package in needed.items():
        with suppress(ValueError):  # a module that has no spec
            if find_spec(module) is not None:
                continue
        missing.append(package)
    return missing


def meaning_trouble(settings: Settings) -> str:
    """Why search goes by words although the settings turn vectors on; "" where all packages are
    there, or vectors are off. Loads no model, and asks no server."""
    kind = settings.text("search.embeddings")
    packages = missing_packages(kind, settings.text("search.embedding_model"))
    again = f"`mdmemory config set search.embeddings {kind}`"
    return f"{' and '.join(packages)} not installed ({again})" if packages else ""


@cache  # a model takes seconds to load
def local_model(name: str, models: Path) -> Encoder | Local:
    """The model `name` ("": the encoder in a package); what is fetched or kept of it lies in the
    folder `models`."""
    from mdmemory.search.local_models import Encoder, Local

    return Local(name, models) if name else Encoder(models)


def warm_up(project: Project) -> None:
    """Load the encoder that a person chose, in the background: for a process that lives on."""
    if (encoder := _chosen_encoder(project)) and not encoder.is_warm:
        _begin_warming(encoder)


@cache  # once is enough, whatever comes of it
def _begin_warming(encoder: Encoder) -> None:
    def embed_first() -> None:
        with suppress(MdmemoryError):  # the next search says it
            encoder.embed(["a first text"])

    threading.Thread(target=embed_first, daemon=True).start()


def near_search(refresher: Refresher) -> Search:
    """The search for notes near a text: it never waits for the encoder."""
    return Search(refresher, embedder=partial(warm_encoder, refresher.project))


def warm_encoder(project: Project) -> Encoder | None:
    """The encoder that a person chose, once it is loaded: nobody waits for it."""
    encoder = _chosen_encoder(project)
    return encoder if encoder and encoder.is_warm else None


def _chosen_encoder(project: Project) -> Encoder | None:
    settings = project.settings
    if settings.text("search.embeddings") != "local":
        return None
    from mdmemory.search.local_models import Encoder

    model = local_model(settings.text("search.embedding_model"), person.models_folder())
    return model if isinstance(model, Encoder) else None
