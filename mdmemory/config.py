"""Settings: one table that feeds the loader, docs/settings.md and `mdmemory status`.

Later wins: default, the person's `~/.config/mdmemory/config.toml`, the project's `mdmemory.toml`,
environment. A project's file comes with a repository that somebody else may have written, so it
can name no host, key, program, planner, or path outside the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmemory.errors import BadSetting

PROJECT_FILE = "mdmemory.toml"
DEFAULT_STORE = "notes/memory"

Reader = Callable[[object], Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: where it may stand, how it is read, and what it does."""

    name: str  # as in the files: "index.max_chars"
    variables: tuple[str, ...]  # environment variables, the first that is set counts
    kind: str  # what a value looks like, in words
    read: Reader  # from text or a TOML value; raises ValueError
    default: Any
    help: str
    personal: bool = False  # not to be set by a project
    secret: bool = False  # never repeated, neither by `status` nor in a message


def _whole(least: int, most: int | None = None) -> Reader:
    def read(value: object) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value).strip()):
            raise ValueError
        number = int(str(value))
        if number < least or (most is not None and number > most):
            raise ValueError
        return number

    return read


def _share(value: object) -> float:
    number = float(str(value))
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise ValueError
    return number


def _switch(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    return words[str(value).strip().lower()]  # KeyError: a bad value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _folder_inside(value: object) -> str:
    text = _text(value)
    parts = Path(text).parts
    if text.startswith("~") or Path(text).is_absolute() or ".." in parts or ".git" in parts:
        raise ValueError
    return text


def _one_of(*choices: str) -> Reader:
    def read(value: object) -> str:
        text = _text(value)
        if text not in choices:
            raise ValueError
        return text

    return read


def _model(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(r"\w[\w./:@+-]{0,199}", text):
        raise ValueError
    return text


def _program(value: object) -> str:
    text = _text(value)
    # a relative path would be looked for in whatever folder mdmemory is called from
    if "/" in text and not text.startswith(("/", "~/")):
        raise ValueError
    return text


def _key(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(r"[!-~]+", text):  # what an HTTP header can carry
        raise ValueError
    return text


def _address(value: object) -> str:
    from urllib.parse import urlsplit  # only where an address is set

    text = _text(value)
    parts = urlsplit(text)
    whole = re.fullmatch(r"https?://[^\s/]\S*", text) and parts.hostname
    if not whole or "@" in parts.netloc or parts.query or parts.fragment or parts.port == 0:
        raise ValueError
    return text.rstrip("/")


def _folders(value: object) -> str:
    """Absolute folders: a list, or one text with a colon between two, as which they are kept."""
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError
    folders = [_text(item) for item in items if item != ""]
    if any(not folder.startswith(("/", "~/")) and folder != "~" for folder in folders):
        raise ValueError  # from where on, if it is relative?
    return os.pathsep.join(folders)


def _dsn(value: object) -> str:
    text = _text(value)
    if not re.match(r"postgres(?:ql)?://|\w+ {0,9}=", text) or not text.isprintable():
        raise ValueError
    return text


def _or_empty(read: Reader) -> Reader:
    """Also "", which stands for a setting that is not made."""
    return lambda value: "" if value == "" else read(value)


TABLE = (
    Setting("store", (), "a folder inside the project", _folder_inside, DEFAULT_STORE,
            "Where the notes lie, relative to this file."),
    Setting("index.max_chars", ("MEMORY_INDEX_MAX_CHARS",), "a whole number of at least 500",
            _whole(500), 8000,
            "Length of MEMORY.md in code points; a wide character counts three."),
    Setting("index.max_entries", ("MEMORY_INDEX_MAX_ENTRIES",), "a whole number of at least 1",
            _whole(1), 80, "Notes that MEMORY.md lists at most; the others go to _MORE.md."),
    Setting("index.tracked", ("MEMORY_INDEX_TRACKED",), "true or false", _switch, True,
            "Whether MEMORY.md and _MORE.md are committed. Set it to false where a hosted merge "
            "button merges the store: it knows nothing of `merge=union`."),
    Setting("compact.enabled", ("MEMORY_COMPACT_ENABLED",), "true or false", _switch, True,
            "Whether `compact --if-due` ever runs."),
    Setting("compact.churn", ("MEMORY_COMPACT_CHURN",), "a whole number of at least 1",
            _whole(1), 8, "Notes changed since the last pass that make a compaction due."),
    Setting("compact.min_entries", ("MEMORY_COMPACT_MIN_ENTRIES",),
            "a whole number of at least 1", _whole(1), 2,
            "Notes that the store must hold before a compaction is due."),
    Setting("compact.interval_ms", ("MEMORY_COMPACT_INTERVAL_MS",),
            "a whole number of at least 0", _whole(0), 43_200_000,
            "Milliseconds after which a compaction is due if any note has changed (12 hours)."),
    Setting("compact.poll_ms", ("MEMORY_COMPACT_POLL_MS",), "a whole number of at least 60000",
            _whole(60_000), 600_000,
            "Milliseconds after which a running OpenCode looks again whether a compaction is due."),
    Setting("planner", ("MDMEMORY_PLANNER",), "offline, openai or opencode",
            _one_of("offline", "openai", "opencode"), "offline",
            "Who plans a compaction and reads sessions. `offline` uses no model and sends nothing "
            "anywhere; `openai` asks any OpenAI-compatible server; `opencode` asks the provider "
            "that your OpenCode uses. To choose one of these is to agree that text is sent.",
            personal=True),
    Setting("extract.enabled", ("MEMORY_EXTRACT_ENABLED",), "true or false", _switch, True,
            "Whether a model, where a planner with one is chosen, reads sessions for facts. What "
            "is asked for in so many words is stored either way.", personal=True),
    Setting("extract.debounce_ms", ("MEMORY_EXTRACT_DEBOUNCE_MS",),
            "a whole number from 0 to 3600000", _whole(0, 3_600_000), 60_000,
            "Milliseconds that a session has to be quiet before it is read by itself; every turn "
            "begins them anew."),
    Setting("extract.model", ("MEMORY_EXTRACT_MODEL",), "a model such as openai/gpt-5-mini",
            _model, "openai/gpt-5-mini",
            "The model that reads sessions. For `openai` one leading `openai/` is dropped (write "
            "`openai/openai/...` where a server's own names begin so); `opencode` takes "
            "provider/model, and OpenCode's default as long as this is not set.", personal=True),
    Setting("compact.model", ("MEMORY_COMPACT_MODEL",), "a model such as openai/gpt-5-mini",
            _or_empty(_model), "", "The model that plans compactions; the one of extract.model "
            "when it is not set.", personal=True),
    Setting("openai.base_url", ("OPENAI_BASE_URL",),
            "an http(s) address without user, query or fragment", _address,
            "https://api.openai.com/v1", "The server of the `openai` planner; mostly ends in /v1.",
            personal=True),
    Setting("openai.api_key", ("OPENAI_API_KEY",), "printable ASCII without spaces",
            _or_empty(_key), "", "The key for that server. A key alone sends nothing: see planner.",
            personal=True, secret=True),
    Setting("opencode.command", ("MDMEMORY_OPENCODE",),
            "an absolute path, or the name of a program", _or_empty(_program), "",
            "The OpenCode client of the `opencode` planner; `opencode` on the PATH when it is not "
            "set, parts of the PATH that are relative or inside the project left out.",
            personal=True),
    Setting("llm.daily_calls", ("MDMEMORY_DAILY_CALLS",), "a whole number of at least 0",
            _whole(0), 200, "Calls of models that one project may make in a day (UTC).",
            personal=True),
    Setting("llm.timeout_s", ("MDMEMORY_TIMEOUT_S",), "a whole number of at least 1", _whole(1), 60,
            "Seconds that a model may take to answer.", personal=True),
    Setting("search.chunk_tokens", (), "a whole number of at least 50", _whole(50), 400,
            "Length of the pieces that long notes are searched in, in tokens: four characters, or "
            "one of CJK."),
    Setting("search.overlap_tokens", (), "a whole number of at least 0", _whole(0), 80,
            "What two neighbouring pieces share, in tokens; at most half of a piece."),
    Setting("search.keyword_weight", (), "a number from 0 to 1", _share, 0.5,
            "What the match of words counts in the score of a hit."),
    Setting("search.vector_weight", (), "a number from 0 to 1", _share, 0.5,
            "What nearness in meaning counts there, where there are vectors."),
    Setting("search.backend", ("MDMEMORY_SEARCH_BACKEND",), "sqlite or postgres",
            _one_of("sqlite", "postgres"), "sqlite",
            "Where the search database is kept: in `.mdmemory/search.db`, or on the PostgreSQL "
            "server of search.dsn, which then holds the text of all that is searched.",
            personal=True),
    Setting("search.dsn", ("MDMEMORY_SEARCH_DSN",),
            "a PostgreSQL address such as postgresql://user@host/database", _or_empty(_dsn), "",
            "That server; a password may be in it, or better in ~/.pgpass. Does nothing where "
            "search.backend is not `postgres`.", personal=True, secret=True),
    Setting("search.recency_days", (), "a whole number of at least 0", _whole(0), 0,
            "Days after which a hit has lost a quarter of its score, on the way to half of it; "
            "0: age does not count."),
    Setting("search.embeddings", (), "off, openai or local", _one_of("off", "openai", "local"),
            "off", "Whether search also goes by meaning, and who makes the vectors. `openai` sends "
            "the text of all that is searched, without secrets, and each query to an "
            "OpenAI-compatible server; to choose it is to agree to that. `local` needs the extra "
            "`mdmemory[local]` and sends nothing.", personal=True),
    Setting("search.embedding_model", (), "a model such as text-embedding-3-small",
            _or_empty(_model), "", "The model of vectors; text-embedding-3-small when it is not "
            "set, and for `local` sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2.",
            personal=True),
    Setting("search.embedding_dimensions", (), "a whole number from 1 to 16000",
            _whole(1, 16_000), 1536, "How many numbers a vector of that model has; `local` knows "
            "by itself.", personal=True),
    Setting("search.embedding_url", (),
            "an http(s) address without user, query or fragment", _or_empty(_address), "",
            "The server of `openai` embeddings; openai.base_url, with its key, when it is not set.",
            personal=True),
    Setting("search.embedding_key", (), "printable ASCII without spaces", _or_empty(_key), "",
            "The key for search.embedding_url. No other key is sent there.", personal=True,
            secret=True),
    Setting("search.embedding_calls", (), "a whole number of at least 0", _whole(0), 2_000,
            "Requests for vectors that one project may make in a day (UTC); up to 100 texts go in "
            "one. They do not count as calls of models.", personal=True),
    Setting("search.vector_floor", (), "a number from 0 to 1", _share, 0.3,
            "Nearness (cosine) from which on a text is a hit by its meaning alone. What matches by "
            "its words is a hit either way."),
    Setting("search.folders", (), "a list of absolute folders", _folders, "",
            "Folders of markdown that are searched as the source `files`, with those inside, such "
            "as an Obsidian vault. They are only read.", personal=True),
    Setting("search.transcripts", (), "a list of absolute folders", _folders, "",
            "Folders with exported sessions (*.json, *.jsonl) that are searched as the source "
            "`sessions`, beside this project's own in OpenCode and Claude Code.", personal=True),
    Setting("recall.notes", (), "off, keyword or hybrid", _one_of("off", "keyword", "hybrid"),
            "off", "Whether the notes that fit your message best stand in the prompt, from a "
            "session's start or compaction to the next. `keyword` finds them by words alone; "
            "`hybrid` as search.embeddings says, and so sends your message where queries are sent.",
            personal=True),
    Setting("recall.tokens", (), "a whole number of at least 100", _whole(100), 2_000,
            "Length of these notes in tokens, at most."),
    Setting("recall.observation_tokens", (), "a whole number of at least 0", _whole(0), 4_000,
            "The same for observations, where observe.enabled is on; 0: none stand there."),
    Setting("session.hot", (), "true or false", _switch, True,
            "Whether the files, errors and decisions of a session are followed, and shown in its "
            "prompt."),
    Setting("session.core", (), "true or false", _switch, True,
            "Whether the core blocks of a session stand in its prompt."),
    Setting("session.working", (), "true or false", _switch, True,
            "Whether working memory is filled, and shown in the prompt."),
    Setting("session.pruning", (), "true or false", _switch, True,
            "Whether long outputs of tools are shown in part."),
    Setting("session.pressure", (), "true or false", _switch, True,
            "Whether the assistant is told when its context fills."),
    Setting("session.moderate_percent", (), "a whole number from 1 to 100", _whole(1, 100), 70,
            "How full the context is when it is called moderately full."),
    Setting("session.high_percent", (), "a whole number from 1 to 100", _whole(1, 100), 85,
            "The same for highly full; outputs are pruned harder from there on."),
    Setting("session.critical_percent", (), "a whole number from 1 to 100", _whole(1, 100), 95,
            "The same for critically full; outputs are pruned hardest from there on."),
    Setting("observe.enabled", ("MDMEMORY_OBSERVE",), "true or false", _switch, False,
            "Whether what an assistant's tools show is kept in short form for 90 days. Where a "
            "planner with a model is chosen, that model makes it short, and so is sent it.",
            personal=True),
    Setting("observe.ignore", ("MDMEMORY_OBSERVE_IGNORE",), "names of tools, with commas",
            _or_empty(_text), "", "Tools whose output is not observed, besides lists of tasks, "
            "questions to you, and our own."),
    Setting("observe.days", (), "a whole number from 1 to 3650", _whole(1, 3_650), 90,
            "Days that an observation is kept."),
    Setting("editor", ("VISUAL", "EDITOR"), "a command", _text, "vi",
            "The program that `add` and `edit` open.", personal=True),
)  # fmt: skip

_BY_NAME = {setting.name: setting for setting in TABLE}
# Names that only a person's own file may ever hold, whatever version brings them.
_PERSONAL_WORDS = {
    "url", "base_url", "host", "endpoint", "proxy", "key", "api_key", "token", "password",
    "command", "program", "executable", "dsn", "backend", "planner", "extractor", "model",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force; `origins` says where each comes from ("default", a file, a variable)."""

    values: Mapping[str, Any]
    origins: Mapping[str, str] = field(default_factory=dict)

    def whole(self, name: str) -> int:
        """A setting that is a number."""
        return int(self.values[name])

    def switch(self, name: str) -> bool:
        """A setting that is on or off."""
        return bool(self.values[name])

    def number(self, name: str) -> float:
        """A setting that may be a fraction."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """A setting that is text."""
        return str(self.values[name])

    def several(self, name: str) -> tuple[str, ...]:
        """A setting that is a list."""
        return tuple(filter(None, self.text(name).split(os.pathsep)))

    def shown(self, name: str) -> str:
        """A setting as it may be printed: of a secret only whether it is set."""
        value = self.values[name]
        if _BY_NAME[name].secret or value == "":
            return "set" if value else "not set"
        return str(value)


def load(
    environment: Mapping[str, str], personal: Path | None = None, project: Path | None = None
) -> Settings:
    """The settings from the two files (either may be missing) and the environment.

    Raises BadSetting: one sentence that names the place, the setting, and what it may be.
    """
    values: dict[str, Any] = {setting.name: setting.default for setting in TABLE}
    origins = dict.fromkeys(values, "default")
    for path, is_project in ((personal, False), (project, True)):
        for name, value in _entries(path).items():
            setting = _known(name, path, personal, is_project)
            values[name] = _value(setting, value, f"{name} in {path}")
            origins[name] = str(path)
    for setting in TABLE:
        for variable in setting.variables:
            text = environment.get(variable, "").strip()
            if text:
                values[setting.name] = _value(setting, text, variable)
                origins[setting.name] = variable
                break
    return Settings(values, origins)


def _entries(path: Path | None) -> dict[str, object]:
    """The settings of a file, its tables flattened to dotted names."""
    if path is None or not path.is_file():
        return {}
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BadSetting(f"{path} cannot be read: {problem}.", "Check the file.") from problem
    simple = re.fullmatch(r'(?:\s*#[^\n]*\n)*\s*store = "([^"\\\n]+)"\s*', text)
    if simple:
        return {"store": simple[1]}  # what `init` writes: spares every command the TOML parser
    import tomllib

    try:
        return _flat(tomllib.loads(text))
    except tomllib.TOMLDecodeError as problem:
        raise BadSetting(f"{path} is not valid TOML: {problem}.", "Correct that line.") from problem


def _flat(table: Mapping[str, object], before: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[before + name] = value
    return found


def _known(name: str, path: Path | None, personal: Path | None, is_project: bool) -> Setting:
    setting = _BY_NAME.get(name)
    names_outside = name.rpartition(".")[2] in _PERSONAL_WORDS
    if is_project and (names_outside or (setting is not None and setting.personal)):
        raise BadSetting(
            f"{name} stands in {path}, but a project may not choose hosts, keys, programs or "
            "planners for whoever opens it.",
            f"Move the line to {personal or '~/.config/mdmemory/config.toml'}.",
        )
    if setting is None:
        import difflib  # only for this message

        near = difflib.get_close_matches(name, _BY_NAME, 1)
        hint = f"Did you mean {near[0]}?" if near else "docs/settings.md lists all settings."
        raise BadSetting(f"{path} has a setting {name} that mdmemory does not know.", hint)
    return setting


def _value(setting: Setting, value: object, place: str) -> Any:
    try:
        return setting.read(value)
    except (ValueError, KeyError) as problem:
        raise BadSetting(
            f"{place} is {_repeated(setting, value)}, but must be {setting.kind}.",
            f"The default is {setting.default or 'not to set it'}.",
        ) from (None if setting.secret else problem)


def _repeated(setting: Setting, value: object) -> str:
    """A bad value as a message may show it; an address may hold a password."""
    return "unusable" if setting.secret else re.sub(r"//[^/\s]*@", "//…@", repr(value))
