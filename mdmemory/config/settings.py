"""Reading the settings of the table, and which value wins.

Later wins: default, the person's `~/.config/mdmemory/config.toml`, the project's `mdmemory.toml`,
environment. Somebody else may have written a project's file, so it cannot name a host, a key, a
program, a planner or a path outside the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.config.table import FORMER, OWNER, PERSONS_CHARS, PERSONS_INDEX, TABLE, Setting
from mdmemory.errors import BadSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BY_NAME = {setting.name: setting for setting in TABLE}
# Names that only a person's own file may contain, in any version.
_PERSONAL_WORDS = {
    "url", "base_url", "host", "endpoint", "proxy", "key", "api_key", "token", "password",
    "command", "program", "executable", "dsn", "backend", "planner", "extractor", "model", "editor",
}  # fmt: skip


class Settings(NamedTuple):
    """The values in effect; `origins` names their sources: "default", a file or a variable.
    `former` are sentences on what a file sets of an earlier version."""

    values: Mapping[str, Any]
    origins: Mapping[str, str] = MappingProxyType({})
    former: tuple[str, ...] = ()

    def whole(self, name: str) -> int:
        """A setting that is a number."""
        return int(self.values[name])

    def switch(self, name: str) -> bool:
        """A setting that is on or off."""
        return bool(self.values[name])

    def text(self, name: str) -> str:
        """A setting that is text."""
        return str(self.values[name])

    def several(self, name: str) -> tuple[str, ...]:
        """A setting that is a list."""
        return tuple(filter(None, self.text(name).split(os.pathsep)))

    def shown(self, name: str) -> str:
        """A setting as text to print; of a secret only whether it is set."""
        value = self.values[name]
        if _BY_NAME[name].secret or value == "":
            return "set" if value else "not set"
        return _value_word(value)


def _value_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def load_settings(
    environment: Mapping[str, str], personal: Path | None = None, project: Path | None = None
) -> Settings:
    """The settings from both files (each may be missing) and the environment.

    Raises BadSetting, which names the file or variable, the setting, and what it must be.
    """
    values: dict[str, Any] = {row.name: row.default for row in TABLE}
    origins, former = dict.fromkeys(values, "default"), []
    for path, is_project in ((personal, False), (project, True)):
        for name, value in _read_entries(path).items():
            row = _known_setting(name, path, personal, is_project)
            if row is None:
                former.append(f"{path} sets {name}, which is no longer used: take that line out.")
                continue
            values[name] = check_value(row, value, f"{name} in {path}")
            origins[name] = str(path)
    for row in TABLE:
        for variable in row.variables:
            text = environment.get(variable, "").strip()
            if text:
                values[row.name] = check_value(row, text, variable)
                origins[row.name] = variable
                break
    return Settings(values, origins, tuple(former))


# nothing but comments and the setting `store`
_ONLY_STORE = re.compile(r'(?:\s*+#[^\n]*\n)*+\s*+store = "([^"\\\n]+)"\s*')


def _read_entries(path: Path | None) -> dict[str, object]:
    """The settings in a file, with dotted names for those in tables."""
    if path is None or not path.is_file():
        return {}
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        raise BadSetting(f"{path} cannot be read: {why}.", "Check the file.") from problem
    # what `init` writes about the project is no setting, and the rest needs no TOML parser
    text_of_init, _, about = text.partition(f"\n[{OWNER}]\n")
    if "\n[" in about:  # a person wrote a table behind it
        text_of_init = text
    plain = text_of_init.removesuffix(PERSONS_INDEX)
    if only := _ONLY_STORE.fullmatch(plain):
        is_whole = plain == text_of_init
        return {"store": only[1]} | ({} if is_whole else {"index.max_chars": PERSONS_CHARS})
    import tomllib

    try:
        table = tomllib.loads(text)
        table.pop(OWNER, None)
        return flatten_table(table)
    except tomllib.TOMLDecodeError as problem:
        raise BadSetting(f"{path} is not valid TOML: {problem}.", "Correct that line.") from problem


def flatten_table(table: Mapping[str, object], before: str = "") -> dict[str, object]:
    """What a TOML table holds, with dotted names for what its tables hold."""
    values: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            values |= flatten_table(value, f"{before}{name}.")
        else:
            values[before + name] = value
    return values


def _known_setting(
    name: str, path: Path | None, personal: Path | None, is_project: bool
) -> Setting | None:
    """The row of the table; None for one of an earlier version."""
    row = _BY_NAME.get(name)
    names_outside = name.rpartition(".")[2] in _PERSONAL_WORDS
    if is_project and (names_outside or (row is not None and row.personal)):
        raise BadSetting(
            f"{path} sets {name}, but a project may not choose hosts, keys, programs or planners "
            "for the people who open it.",
            f"Move the line to {personal or '~/.config/mdmemory/config.toml'}.",
        )
    return row if row or name in FORMER else find_setting(name, f" in {path}")


def find_setting(name: str, place: str = "") -> Setting:
    """The row of the table. Raises BadSetting with the nearest name; `place` says where it was
    read, such as " in mdmemory.toml"."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in FORMER:
        hint = "`mdmemory config --all` lists those that are."
        raise BadSetting(f"The setting {name} is no longer used.", hint)
    import difflib  # only for this message

    near = difflib.get_close_matches(name, _BY_NAME, 1)
    # `config` cannot list the settings while a file is wrong
    where = "docs/settings.md" if place else "`mdmemory config --all`"
    hint = f"Did you mean {near[0]}?" if near else f"{where} lists the settings."
    raise BadSetting(f"Unknown setting {name}{place}.", hint)


def check_value(setting: Setting, value: object, place: str) -> Any:
    """The value of a setting, from text or TOML. Raises BadSetting, which names `place`."""
    try:
        return setting.kind.read(value)
    except (ValueError, KeyError) as problem:
        # an address may contain a password
        shown = "unusable" if setting.secret else re.sub(r"//[^/\s]*@", "//…@", repr(value))
        default = "not to set it" if setting.default == "" else _value_word(setting.default)
        raise BadSetting(
            f"{place} is {shown}, but must be {setting.kind.words}.", f"The default is {default}."
        ) from (None if setting.secret else problem)
