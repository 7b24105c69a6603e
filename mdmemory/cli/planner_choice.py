"""Choosing who plans and reads, which is to agree that text is sent: a person's own settings file.

One line of it is written; every other byte stays.
"""

from __future__ import annotations

import re
from pathlib import Path

from mdmemory.errors import BadSetting
from mdmemory.files import read_regular, write_atomic

# What is sent, in the words in which a person is asked.
CHOICES = {
    "offline": "no model: nothing is ever sent. What you ask to be remembered is stored",
    "opencode": "the provider that your OpenCode uses reads your sessions, and the notes at a "
    "compaction",
    "openai": "an OpenAI-compatible server (OPENAI_BASE_URL, OPENAI_API_KEY) reads the same",
}
_LINE = re.compile(r"^[ \t]*planner[ \t]*=.*$", re.M)
_TABLE = re.compile(r"^[ \t]*\[", re.M)


def choose(file: Path, planner: str) -> bool:
    """Write `planner` into the person's settings `file`; False when it stands there already.

    Raises BadSetting where the file is no TOML.
    """
    before = read_regular(file).decode("utf-8", "replace") if file.is_file() else ""
    if _parsed(file, before).get("planner") == planner:
        return False
    line = f'planner = "{planner}"'
    table = _TABLE.search(before)
    top = before[: table.start()] if table else before
    if _LINE.search(top):
        top = _LINE.sub(line, top, count=1)
    else:
        top += ("" if not top or top.endswith("\n") else "\n") + line + "\n"
    after = top + (before[table.start() :] if table else "")
    if _parsed(file, after) != {**_parsed(file, before), "planner": planner}:
        raise BadSetting(
            f"{file} could not be changed without touching other settings.",
            f"Write `{line}` into it by hand, above the first [table].",
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(file, after.encode(), mode=_mode(file))
    return True


def _mode(file: Path) -> int:
    return file.stat().st_mode & 0o777 if file.exists() else 0o600


def _parsed(file: Path, text: str) -> dict[str, object]:
    import tomllib  # only where a planner is chosen

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise BadSetting(f"{file} is not valid: {problem}.", "Correct it first.") from problem
