"""The two pages on settings, as they have to be, made from the table of settings.

`python tests/docs/settings_pages.py` writes them.
"""

from __future__ import annotations

import re
from pathlib import Path

from mdmemory.config.table import TABLE, Setting

DOCS = Path(__file__).parents[2] / "docs"
SETTINGS = """\
# Settings

`mdmemory config` shows these {count} settings, with value and origin. `mdmemory config set NAME
VALUE` writes one into the right file. [All other settings](settings-advanced.md).

{common}
The first place that has a setting counts:

1. the environment, if the variable is not empty
2. the project's file, `mdmemory.toml` in its root or its store
3. your own file, `~/.config/mdmemory/config.toml`
4. the default

A project cannot choose where your text goes or which program runs: of these {count}, its file may
set only {shared}. In a file, a dot is a table:
`[index]`, then `max_chars = 6000`. An unknown name or a bad value is an error.
"""
ADVANCED = """\
# All other settings

[Settings](settings.md) shows how to set one, and has the {count} that people change most often.

## In your own file or the project's

{shared}

## Only in your own file

{personal}
## Search by meaning

`mdmemory config set search.embeddings local` prints the command that installs what is missing, and
then fetches the model and makes the vectors. The package fastembed takes 220 MB, and so does the
default model, from huggingface.co. A folder has `model.onnx`, `config.json`, `tokenizer.json` and
`tokenizer_config.json`. `HTTPS_PROXY` and `HF_ENDPOINT` count. A search downloads nothing, and
makes at most 2,000 new vectors, `local` 200. Without the model or its server (30 seconds) it
compares words, and prints a message.

## PostgreSQL

`search.backend` needs `pip install 'mdmemory-git[postgres]'`, PostgreSQL 14, a user who may create
schemas, and no PgBouncer in transaction mode. If the server fails,
`.mdmemory/search.db` is used.

## Variables without a setting

variable | what it does, `default`
---|---
`MDMEMORY_STORE` | the store or project to use, like `--store`
`MDMEMORY_DISABLE` | `1` turns off all hooks, OpenCode's plugin and the MCP server
`MDMEMORY_DEBUG` | a file for the log of `--verbose`; `1` is standard error
`NO_COLOR` | turns off colours
`XDG_CONFIG_HOME` | your own file and OpenCode's configuration, `~/.config`
`XDG_STATE_HOME` | logs and records of mdmemory, `~/.local/state`
`XDG_CACHE_HOME` | models that mdmemory downloads, `~/.cache`
`FASTEMBED_CACHE_PATH` | another folder for these models
`XDG_DATA_HOME` | OpenCode's sessions, `~/.local/share`
`OPENCODE_DB` | the name of OpenCode's database, `opencode.db`
`CLAUDE_CONFIG_DIR` | Claude Code's folder, `~/.claude`
`CODEX_HOME` | Codex's folder, `~/.codex`
`GEMINI_CLI_HOME` | the folder with Gemini CLI's `.gemini`, `~`
"""
# What a value must be, as a table shows it; `mdmemory config set` has whole sentences.
SHORTER = (
    (r"^a whole number of at least (\d+)$", r"at least \1"),
    (r"^a whole number from (\d+) to (\d+)$", r"\1 to \2"),
    (r"^a number from 0 to 1$", "0 to 1"),
    (r" without user, query or fragment$", ""),
    (r"^true or false$", ""),  # the default shows it
    (r"^a list of | such as [^ ,]+(?=,|$)", ""),
)


def settings_pages() -> dict[str, str]:
    """The generated pages as they have to be, by name."""
    common = [each for each in TABLE if each.common]
    others = [each for each in TABLE if not each.common]
    shared = [f"`{each.name}`" for each in common if not each.personal]
    return {
        "settings.md": SETTINGS.format(
            count=len(common), common=_table(common), shared=" and ".join(shared)
        ),
        "settings-advanced.md": ADVANCED.format(
            count=len(common), shared=_table([each for each in others if not each.personal]),
            personal=_table([each for each in others if each.personal]),
        ),
    }  # fmt: skip


def _table(settings: list[Setting]) -> str:
    head = "name, variable | what it does | value, `default`\n---|---|---\n"
    return head + "".join(map(_row, settings))


def _row(setting: Setting) -> str:
    names = "<br>".join(f"`{name}`" for name in (setting.name, *setting.variables))
    value = setting.kind
    for long, short in SHORTER:
        value = re.sub(long, short, value)
    default = f"`{str(setting.default).lower()}`" if setting.default != "" else ""
    return f"{names} | {setting.help} | {', '.join(filter(None, (value, default)))}\n"


if __name__ == "__main__":
    for page, text in settings_pages().items():
        (DOCS / page).write_text(text, encoding="utf-8")
