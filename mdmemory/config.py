"""Settings: one table that feeds the loader, docs/settings.md and `mdmemory status`.

Later wins: default, the person's `~/.config/mdmemory/config.toml`, the project's `mdmemory.toml`,
environment. A project's file comes with a repository that somebody else may have written, so it
can name no host, key, program, planner, or path outside the project.
"""

from __future__ import annotations

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


def _whole(least: int) -> Reader:
    def read(value: object) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value).strip()):
            raise ValueError
        number = int(str(value))
        if number < least:
            raise ValueError
        return number

    return read


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
    Setting("planner", ("MDMEMORY_PLANNER",), "offline, openai or opencode",
            _one_of("offline", "openai", "opencode"), "offline",
            "Who plans a compaction and reads sessions. `offline` uses no model and sends nothing "
            "anywhere; `openai` asks any OpenAI-compatible server; `opencode` asks the provider "
            "that your OpenCode uses. To choose one of these is to agree that text is sent.",
            personal=True),
    Setting("extract.enabled", ("MEMORY_EXTRACT_ENABLED",), "true or false", _switch, True,
            "Whether a model, where a planner with one is chosen, reads sessions for facts. What "
            "is asked for in so many words is stored either way.", personal=True),
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
    Setting("editor", ("VISUAL", "EDITOR"), "a command", _text, "vi",
            "The program that `add` and `edit` open.", personal=True),
)  # fmt: skip

_BY_NAME = {setting.name: setting for setting in TABLE}
# Names that only a person's own file may ever hold, whatever version brings them.
_PERSONAL_WORDS = {
    "url", "base_url", "host", "endpoint", "proxy", "key", "api_key", "token", "password",
    "command", "program", "executable", "dsn", "planner", "extractor", "model",
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

    def text(self, name: str) -> str:
        """A setting that is text."""
        return str(self.values[name])

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
