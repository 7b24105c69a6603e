"""From settings to a model. Nothing is sent before a person chose a planner that sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mdmemory.config import person
from mdmemory.config.settings import Settings
from mdmemory.errors import BadSetting
from mdmemory.llm.answer import Asking, Model
from mdmemory.llm.metered import Metered
from mdmemory.privacy import redacted
from mdmemory.protocol import of_project, prompt
from mdmemory.store.project import Project

if TYPE_CHECKING:
    from mdmemory.llm.embedding_api import EmbeddingAPI

EXTRACT, COMPACT, OBSERVE = "extract", "compact", "observe"


def model(
    purpose: str, project: Project, today: str, environment: Mapping[str, str] | None = None
) -> Metered | None:
    """The model for a purpose; None where none was chosen, or that purpose is switched off.

    `today` is the day (`YYYY-MM-DD`, UTC) that the calls count for; what is sent is redacted. A
    key alone chooses nothing. Raises BadSetting where the choice cannot be carried out.
    """
    settings = project.settings
    if settings.text("planner") == "offline":
        return None
    if purpose == EXTRACT and not settings.switch("extract.enabled"):
        return None
    if purpose == OBSERVE and not settings.switch("observe.enabled"):
        return None
    return Metered(
        _model(purpose, project, person.places(environment).environment), purpose,
        project.state_file, today, settings.whole("llm.daily_calls"), redacted,
    )  # fmt: skip


def asking(purpose: str, project: Project, today: str, given: Model | None = None) -> Asking | None:
    """The model `given`, or the one that the settings choose for a purpose, with the system text
    of its prompt; None where none was chosen. Raises BadSetting."""
    chosen = given or model(purpose, project, today)
    return Asking(chosen, prompt(purpose, of_project(project))) if chosen else None


def sends_to(settings: Settings) -> str | None:
    """Where text goes with these settings, or None: nowhere."""
    places = [_planner_sends_to(settings)]
    if settings.text("search.embeddings") == "openai":
        from mdmemory.llm.connection import host

        places.append(host(_embedding_address(settings)[0]))
    if settings.text("search.backend") == "postgres" and settings.text("search.dsn"):
        places.append("the PostgreSQL server of search.dsn")  # which may hold a password
    return " and ".join(dict.fromkeys(filter(None, places))) or None


def embedder(project: Project, today: str) -> EmbeddingAPI | None:
    """Who makes vectors at an endpoint; None where that was not chosen: a key alone is no word."""
    settings = project.settings
    if settings.text("search.embeddings") != "openai":
        return None
    from mdmemory.llm.embedding_api import EmbeddingAPI

    address, key = _embedding_address(settings)
    return EmbeddingAPI(
        settings.text("search.embedding_model") or "text-embedding-3-small",
        settings.whole("search.embedding_dimensions"), address, key,
        project.state_file, today, settings.whole("search.embedding_calls"), redacted,
    )  # fmt: skip


def _embedding_address(settings: Settings) -> tuple[str, str]:
    """The address and its key; no key goes to an address that it was not given for."""
    if address := settings.text("search.embedding_url"):
        return address, settings.text("search.embedding_key")
    return settings.text("openai.base_url"), settings.text("openai.api_key")


def _planner_sends_to(settings: Settings) -> str | None:
    from mdmemory.llm import opencode_run
    from mdmemory.llm.connection import host

    match settings.text("planner"):
        case "openai":
            return host(settings.text("openai.base_url"))
        case "opencode":
            chosen = (_chosen(purpose, settings) for purpose in (EXTRACT, COMPACT))
            places = [opencode_run.provider(name if by_hand else "") for name, by_hand in chosen]
            return " and ".join(dict.fromkeys(places))
        case _:
            return None


def _model(purpose: str, project: Project, environment: Mapping[str, str]) -> Model:
    settings = project.settings
    timeout = settings.whole("llm.timeout_s")
    if settings.text("planner") == "openai":
        from mdmemory.llm.openai_api import OpenAIModel

        name = _chosen(purpose, settings)[0].removeprefix("openai/")
        url, key = settings.text("openai.base_url"), settings.text("openai.api_key")
        return OpenAIModel(name, url, key, project.state_file, timeout)
    from mdmemory.llm.opencode_run import OpenCodeModel, find_program

    name = _opencode_name(purpose, settings)
    search = environment.get("PATH", "")
    program, path = find_program(settings.text("opencode.command"), search, project.root)
    return OpenCodeModel(name, program, {**environment, "PATH": path}, timeout)


def _chosen(purpose: str, settings: Settings) -> tuple[str, bool]:
    """A model's name, and whether a person chose it."""
    setting = (
        "compact.model"
        if purpose == COMPACT and settings.text("compact.model")
        else ("extract.model")
    )
    return settings.text(setting), settings.origins.get(setting, "default") != "default"


def _opencode_name(purpose: str, settings: Settings) -> str:
    """provider/model, or "": as long as nobody chose one, OpenCode's own default answers."""
    name, chosen = _chosen(purpose, settings)
    if chosen and "/" not in name:
        raise BadSetting(
            f"The model {name} has no provider, which the opencode planner needs.",
            f"Write it as provider/model, such as openai/{name}.",
        )
    return name if chosen else ""
