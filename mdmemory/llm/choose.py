"""The model that the settings choose. Nothing is sent unless a person chose one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory import debugging
from mdmemory.config import person
from mdmemory.config.settings import Settings
from mdmemory.errors import BadSetting
from mdmemory.files import digest
from mdmemory.llm.answer import (
    Answer,
    Asking,
    ContextExceeded,
    Model,
    ModelFailed,
    Schema,
    outside_locks,
)
from mdmemory.llm.manners import month_before
from mdmemory.llm.sizes import LEAST, context_tokens
from mdmemory.privacy import redacted_text
from mdmemory.protocol import in_force, task_prompt
from mdmemory.store.project import Project
from mdmemory.store.state import State

if TYPE_CHECKING:
    from mdmemory.llm.openai_api import EmbeddingAPI

EXTRACT, COMPACT, OBSERVE, VERIFY = "extract", "compact", "observe", "verify"
EMBEDDING_CALLS = 2_000  # requests for vectors of a project and day, each with up to 100 texts
# the settings that name a model for one purpose; extract.model is for the others
_OWN_MODEL = {COMPACT: "compact.model", VERIFY: "llm.verify_model"}


@dataclass(frozen=True)
class Metered:
    """`model` for one `purpose` ("extract", ...): its calls are counted on the day `today`
    (`YYYY-MM-DD`, UTC) and limited, and its texts are redacted."""

    model: Model
    purpose: str
    state_file: Path
    today: str
    daily_calls: int
    redact: Callable[[str], str]

    @property
    def kind(self) -> str:
        return self.model.kind

    @property
    def name(self) -> str:
        return self.model.name or f"the default of {self.kind}"

    @property
    def sends_to(self) -> str:
        return self.model.sends_to

    @property
    def context_tokens(self) -> int:
        """The window of the model, in tokens; 0 if it is not known. What one learns that has no
        memory of its own is remembered here."""
        if known := context_tokens(self.model):
            return known
        with State(self.state_file) as state:
            return int(state.learnt(self._endpoint, month_before(self.today)).get("context", "0"))

    @property
    def _endpoint(self) -> str:
        return digest(f"{self.kind}\n{self.model.name}")

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """One answer, counted. Raises ModelFailed (code over_cap if the day's calls are used up)
        and RuntimeError if a lock is held."""
        outside_locks()
        # the database is closed during the call, which may take long
        with State(self.state_file) as state:
            if not state.begin_call(self.today, self.purpose, self.name, self.daily_calls):
                often = "once" if self.daily_calls == 1 else f"{self.daily_calls} times"
                raise ModelFailed(
                    f"Models were asked {often} today (UTC), which is the limit.",
                    "Wait until tomorrow, or raise llm.daily_calls in your settings.",
                    "over_cap",
                )
        system, user = self._clean_text(system), self._clean_text(user)
        with debugging.timed_block("model %s, %d characters", self.name, len(system) + len(user)):
            try:
                answer = self.model.complete(system, user, schema)
            except ContextExceeded as problem:
                self._spend(*problem.cost)
                if not context_tokens(self.model):
                    with State(self.state_file) as state:
                        window = str(max(LEAST, problem.tokens))
                        state.learn(self._endpoint, "context", window, self.today)
                raise
        debugging.log_line("model %s: %d characters of answer", self.name, len(answer.text))
        self._spend(answer.input_tokens, answer.output_tokens)
        return answer

    def _spend(self, into: int, out: int) -> None:
        with State(self.state_file) as state:
            state.add_tokens(self.today, self.purpose, self.name, into, out)

    def _clean_text(self, text: str) -> str:
        """The text without secrets and lone surrogates; of a question in JSON each text by itself,
        for no label says what stands in another note."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        try:
            fields = json.loads(text) if text.startswith("{") else None
        except ValueError:
            fields = None
        if fields is None:
            return self.redact(text)
        return json.dumps(_map_texts(fields, self.redact), ensure_ascii=False)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _map_texts(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [_map_texts(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


def model(
    purpose: str, project: Project, today: str, environment: Mapping[str, str] | None = None
) -> Metered | None:
    """The model for a purpose; None if none was chosen, or that purpose is turned off.

    `today` (`YYYY-MM-DD`, UTC) is the day that the calls count for. A key alone chooses nothing.
    Raises BadSetting if the chosen model cannot be used.
    """
    settings = project.settings
    if settings.text("planner") == "offline":
        return None
    if purpose == EXTRACT and not settings.switch("extract.enabled"):
        return None
    if purpose == OBSERVE and not settings.switch("observe.enabled"):
        return None
    if purpose in (EXTRACT, OBSERVE) and settings.text("llm.questions") == "pairs":
        return None  # a small model finds little, and answers with our examples
    timeout, context = settings.whole("llm.timeout_s"), settings.whole("llm.context_tokens")
    name, by_hand = _chosen(purpose, settings)
    chosen: Model
    if settings.text("planner") == "openai":
        from mdmemory.llm.openai_api import OpenAIModel

        url, key = settings.text("openai.base_url"), settings.text("openai.api_key")
        chosen = OpenAIModel(
            name.removeprefix("openai/"), url, key, project.state_file, timeout, context=context,
            today=today,
        )  # fmt: skip
    else:
        from mdmemory.llm.opencode_run import OpenCodeModel, find_program

        if by_hand and "/" not in name:
            raise BadSetting(
                f"The model {name} has no provider, which the opencode planner needs.",
                f"Write it as provider/model, such as openai/{name}.",
            )
        own = person.person_places(environment).environment
        command, search = settings.text("opencode.command"), own.get("PATH", "")
        program, path = find_program(command, search, project.root)
        name = name if by_hand else ""  # OpenCode's default, if nobody chose one
        own = {**own, "PATH": path}
        chosen = OpenCodeModel(name, program, own, timeout, context_tokens=context)
    return Metered(
        chosen, purpose, project.state_file, today, settings.whole("llm.daily_calls"), redacted_text
    )


def asking(purpose: str, project: Project, today: str, given: Model | None = None) -> Asking | None:
    """The model `given`, or the one that the settings choose for a purpose, with the system text
    of its prompt; None where none was chosen. Raises BadSetting."""
    chosen = given or model(purpose, project, today)
    if chosen is None:
        return None
    again = verifier(project, today) if given is None else None
    return Asking(chosen, task_prompt(purpose, in_force()), again)


def verifier(project: Project, today: str) -> Metered | None:
    """The model of `llm.verify_model`, for second readings; None where none is set."""
    is_set = project.settings.text(_OWN_MODEL[VERIFY])
    return model(VERIFY, project, today) if is_set else None


def sends_to(settings: Settings) -> str | None:
    """The places that text is sent to with these settings; None if nowhere."""
    places: list[str] = []
    planner = settings.text("planner")
    addresses = [settings.text("openai.base_url")] if planner == "openai" else []
    if settings.text("search.embeddings") == "openai":
        addresses.append(_embedding_address(settings)[0])
    if addresses:
        from mdmemory.llm.connection import host

        places += map(host, addresses)
    if planner == "opencode":
        from mdmemory.llm import opencode_run

        chosen = (_chosen(purpose, settings) for purpose in (EXTRACT, COMPACT, VERIFY))
        providers = [opencode_run.provider(name if by_hand else "") for name, by_hand in chosen]
        places = [*dict.fromkeys(providers), *places]
    if settings.text("search.backend") == "postgres" and settings.text("search.dsn"):
        places.append("the PostgreSQL server of search.dsn")  # which may hold a password
    return " and ".join(dict.fromkeys(filter(None, places))) or None


def embedder(project: Project, today: str) -> EmbeddingAPI | None:
    """The endpoint that makes vectors; None if none was chosen (a key alone chooses nothing)."""
    settings = project.settings
    if settings.text("search.embeddings") != "openai":
        return None
    from mdmemory.llm.openai_api import EmbeddingAPI

    return EmbeddingAPI(
        settings.text("search.embedding_model") or "text-embedding-3-small",
        *_embedding_address(settings), project.state_file, today, EMBEDDING_CALLS, redacted_text,
    )  # fmt: skip


def _embedding_address(settings: Settings) -> tuple[str, str]:
    """The address and its key; a key is only sent to the address that it was set for."""
    if address := settings.text("search.embedding_url"):
        return address, settings.text("search.embedding_key")
    return settings.text("openai.base_url"), settings.text("openai.api_key")


def _chosen(purpose: str, settings: Settings) -> tuple[str, bool]:
    """The model's name, and whether a person chose it."""
    own = _OWN_MODEL.get(purpose, "")
    setting = own if own and settings.text(own) else "extract.model"
    return settings.text(setting), settings.origins.get(setting, "default") != "default"
