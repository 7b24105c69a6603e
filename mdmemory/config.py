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
    Setting("planner", ("MDMEMORY_PLANNER",), "offline", _one_of("offline"), "offline",
            "Who plans a compaction. `offline` uses no model and sends nothing anywhere.",
            personal=True),
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
            f"{place} is {value!r}, but must be {setting.kind}.",
            f"The default is {setting.default}.",
        ) from problem
