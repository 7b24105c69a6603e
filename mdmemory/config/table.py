"""The settings: one table for the loader, `mdmemory config`, and docs/settings.md."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Reader = Callable[[object], Any]


class ValueKind(NamedTuple):
    """What a value must be, in words, and how it is read from text or a TOML value: that raises
    ValueError or KeyError for one that is not."""

    words: str
    read: Reader


def whole(least: int, most: float = float("inf"), or_zero: bool = False) -> ValueKind:
    def read(value: object) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value).strip()):
            raise ValueError
        number = int(str(value))
        if not least <= number <= most and (number or not or_zero):
            raise ValueError
        return number

    numbers = f"of at least {least}" if most == float("inf") else f"from {least} to {most}"
    return ValueKind(f"{'0, or ' if or_zero else ''}a whole number {numbers}", read)


@partial(ValueKind, "true or false")
def switch(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    return words[str(value).strip().lower()]  # KeyError: a bad value


def some_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


@partial(ValueKind, "a folder inside the project")
def folder_inside(value: object) -> str:
    text = some_text(value)
    if text.startswith(("~", "/")) or not {"..", ".git"}.isdisjoint(Path(text).parts):
        raise ValueError
    return text


def one_of(*choices: str, formerly: Sequence[tuple[str, str]] = ()) -> ValueKind:
    def read(value: object) -> str:
        text = dict(formerly).get(some_text(value), some_text(value))
        if text not in choices:
            raise ValueError
        return text

    return ValueKind(f"{', '.join(choices[:-1])} or {choices[-1]}", read)


def all_of(words: str, pattern: str) -> ValueKind:
    def read(value: object) -> str:
        text = some_text(value)
        if not re.fullmatch(pattern, text):
            raise ValueError
        return text

    return ValueKind(words, read)


model = all_of("a model such as openai/gpt-5-mini", r"\w[\w./:@+-]{0,199}")
key = all_of("printable ASCII without spaces", r"[!-~]+")  # what an HTTP header can carry


@partial(ValueKind, "a model such as text-embedding-3-small, or a folder's whole path")
def model_or_folder(value: object) -> str:
    is_folder = some_text(value).startswith(("/", "~/"))
    return str((folder if is_folder else model).read(value))


@partial(ValueKind, "an absolute path, or the name of a program")
def program(value: object) -> str:
    text = some_text(value)
    # a relative path would be looked for in whatever folder mdmemory is called from
    if "/" in text and not text.startswith(("/", "~/")):
        raise ValueError
    return text


@partial(ValueKind, "an http(s) address without user, query or fragment")
def address(value: object) -> str:
    from urllib.parse import urlsplit  # only where an address is set

    text = some_text(value)
    parts = urlsplit(text)
    whole = re.fullmatch(r"https?://[^\s/]\S*", text) and parts.hostname
    if not whole or "@" in parts.netloc or parts.query or parts.fragment or parts.port == 0:
        raise ValueError
    return text.rstrip("/")


@partial(ValueKind, "a list of absolute folders")
def folders(value: object) -> str:
    """Absolute folders, from a list or a text, as one text with colons between them."""
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError
    folders = [some_text(item) for item in items if item != ""]
    if not all(f"{folder}/".startswith(("/", "~/")) for folder in folders):
        raise ValueError  # a relative folder has no base here
    return os.pathsep.join(folders)


@partial(ValueKind, "an absolute folder")
def folder(value: object) -> str:
    """One absolute folder; `~` stays, and is the person's home."""
    text = some_text(value)
    if not text.startswith(("/", "~/")) or ".." in Path(text).parts or not text.isprintable():
        raise ValueError
    return text


@partial(ValueKind, "a PostgreSQL address such as postgresql://user@host/database")
def dsn(value: object) -> str:
    text = some_text(value)
    if not re.match(r"postgres(?:ql)?://|\w+ {0,9}=", text) or not text.isprintable():
        raise ValueError
    return text


def or_empty(kind: ValueKind) -> ValueKind:
    """Also accept "", which means that the setting is not set."""
    return ValueKind(kind.words, lambda value: "" if value == "" else kind.read(value))


PROJECT_FILE = "mdmemory.toml"
PERSON = "me"  # the person's own store; no project's store has this name
# What the file of the person's own store says when it is made: its index is in every prompt.
PERSONS_CHARS = 3000
PERSONS_INDEX = f"\n[index]\nmax_chars = {PERSONS_CHARS}\n"
OWNER = "project"  # the table in a store's own file that names its project; no setting
DEFAULT_STORE = "notes/memory"


class Setting(NamedTuple):
    """One row of the table: a setting, how its value is read, and what it does."""

    name: str  # as in the files: "index.max_chars"
    variables: tuple[str, ...]  # environment variables; the first one set counts
    kind: ValueKind
    default: Any
    help: str
    personal: bool = False  # a project may not set it
    secret: bool = False  # never shown, neither by `status` nor in a message
    common: bool = False  # one of those that people set; docs/settings.md has them


# Settings of earlier versions: a line that sets one changes nothing, and is named
FORMER = frozenset({
    *("editor", "git.sign", "observe.ignore", "search.embedding_calls"),
    *("search.transcripts", "session.pruning"),
})  # fmt: skip
TABLE = (
    Setting("store", (), folder_inside, DEFAULT_STORE,
            "The folder of the notes, relative to this file."),
    Setting("memory.home", ("MDMEMORY_HOME",), folder, "~/mdmemory",
            "The memory folder, with your own store `me` and a store for each project.",
            personal=True, common=True),
    Setting("memory.projects", ("MDMEMORY_PROJECTS",), one_of("all", "listed"),
            "all", "Which projects get a store in the memory folder. `all`: a project gets one "
            "with its first fact. `listed`: only projects in which you ran `mdmemory init`.",
            personal=True),
    Setting("claude.memory", ("MDMEMORY_CLAUDE_MEMORY",),
            one_of("read", "off", formerly=[("store", "read"), ("shared", "read")]), "read",
            "`read`: mdmemory takes over the notes that Claude Code keeps in its own folder.",
            personal=True, common=True),
    Setting("index.max_chars", ("MEMORY_INDEX_MAX_CHARS",), whole(500), 8000,
            "Maximum length of MEMORY.md, which is part of every prompt, in characters; a Chinese, "
            f"Japanese or Korean one counts three. Your own store begins with {PERSONS_CHARS}.",
            common=True),
    Setting("index.max_entries", ("MEMORY_INDEX_MAX_ENTRIES",), whole(1), 80,
            "Maximum number of notes in MEMORY.md; _MORE.md lists the others."),
    Setting("index.tracked", ("MEMORY_INDEX_TRACKED",), switch, True,
            "Commit MEMORY.md and _MORE.md. Use false if you merge the store with the merge button "
            "of a website, which ignores `merge=union`."),
    Setting("compact.enabled", ("MEMORY_COMPACT_ENABLED",), switch, True,
            "Compact automatically when it is due (`compact --if-due`)."),
    Setting("compact.churn", ("MEMORY_COMPACT_CHURN",), whole(1), 8,
            "Number of changed notes that makes a compaction due."),
    Setting("compact.min_entries", ("MEMORY_COMPACT_MIN_ENTRIES",), whole(1), 2,
            "Minimum number of notes for a compaction to be due."),
    Setting("compact.interval_ms", ("MEMORY_COMPACT_INTERVAL_MS",), whole(0), 43_200_000,
            "Milliseconds after which one changed note makes a compaction due (12 hours)."),
    Setting("compact.poll_ms", ("MEMORY_COMPACT_POLL_MS",), whole(60_000), 600_000,
            "Milliseconds between two checks in OpenCode whether a compaction is due."),
    Setting("planner", ("MDMEMORY_PLANNER",), one_of("offline", "openai", "opencode"), "offline",
            "Who reads sessions and plans compactions. `offline`: no model, nothing is sent. "
            "`openai`: any OpenAI-compatible server. `opencode`: your OpenCode's provider.",
            personal=True, common=True),
    Setting("extract.enabled", ("MEMORY_EXTRACT_ENABLED",), switch, True,
            "Let the model find facts in sessions. Explicit requests are stored either way.",
            personal=True),
    Setting("extract.debounce_ms", ("MEMORY_EXTRACT_DEBOUNCE_MS",), whole(0, 3_600_000), 60_000,
            "Milliseconds that a session must be idle before it is read automatically."),
    Setting("extract.model", ("MEMORY_EXTRACT_MODEL",), model, "openai/gpt-5-mini",
            "The model. The planner `openai` drops one leading `openai/`; `opencode` takes "
            "provider/model, or OpenCode's default if this is not set.",
            personal=True, common=True),
    Setting("compact.model", ("MEMORY_COMPACT_MODEL",), or_empty(model), "",
            "Another model for compactions; extract.model if not set.", personal=True),
    Setting("llm.verify_model", ("MDMEMORY_VERIFY_MODEL",), or_empty(model), "",
            "The model that reads again what another one proposes, before it "
            "is done; the same model if not set.", personal=True),
    Setting("llm.questions", ("MDMEMORY_QUESTIONS",), one_of("all", "pairs"), "all",
            "What the model may be asked. `pairs`, for a small model: only whether two notes say "
            "the same. `config set` tries a model that you choose, and sets this.", personal=True),
    Setting("openai.base_url", ("OPENAI_BASE_URL",), address,
            "https://api.openai.com/v1", "The server of the planner `openai`.",
            personal=True, common=True),
    Setting("openai.api_key", ("OPENAI_API_KEY",), or_empty(key), "",
            "The key for that server. It alone sends nothing.",
            personal=True, secret=True, common=True),
    Setting("opencode.command", ("MDMEMORY_OPENCODE",), or_empty(program), "",
            "The OpenCode program of the planner `opencode`. If not set: `opencode` in the PATH, "
            "but not in relative folders or inside the project.", personal=True),
    Setting("llm.daily_calls", ("MDMEMORY_DAILY_CALLS",), whole(0), 200,
            "Maximum calls to models per project and day (UTC).", personal=True, common=True),
    Setting("llm.timeout_s", ("MDMEMORY_TIMEOUT_S",), whole(1), 60,
            "Seconds to wait for the first token of an answer, and for each next one; without "
            "streaming, for the whole answer.", personal=True),
    Setting("llm.context_tokens", ("MDMEMORY_CONTEXT_TOKENS",), whole(1_000, or_zero=True), 0,
            "Size of the model's context in tokens. 0: from a table of known models, else from the "
            "server's errors. Set it for a local server such as Ollama, which cuts long prompts "
            "without an error.", personal=True),
    Setting("search.backend", ("MDMEMORY_SEARCH_BACKEND",), one_of("sqlite", "postgres"), "sqlite",
            "The search database: `.mdmemory/search.db`, or the PostgreSQL server of search.dsn, "
            "which then stores all searched text.", personal=True),
    Setting("search.dsn", ("MDMEMORY_SEARCH_DSN",), or_empty(dsn), "",
            "The address of search.backend `postgres`. ~/.pgpass is safer for a password.",
            personal=True, secret=True),
    Setting("search.embeddings", (), one_of("off", "openai", "local"),
            "off", "Search also by meaning. `local`: a model on this machine (`mdmemory setup "
            "--meaning`). `openai`: a server, which gets all searched text, "
            "without secrets, and each query.", personal=True, common=True),
    Setting("search.embedding_model", (),
            or_empty(model_or_folder), "", "The model of search.embeddings. If not set: "
            "text-embedding-3-small, or for `local` an encoder of 16 languages in a package. "
            "`local` also takes the models of fastembed, from huggingface.co, and a folder with "
            "a model.", personal=True),
    Setting("search.embedding_url", (), or_empty(address), "",
            "The server of `openai` embeddings. If not set: openai.base_url, with its key.",
            personal=True),
    Setting("search.embedding_key", (), or_empty(key), "",
            "The key for search.embedding_url, the only key that is sent there.", personal=True,
            secret=True),
    Setting("search.folders", (), folders, "",
            "Folders of markdown, such as an Obsidian vault, for `search --source files`.",
            personal=True, common=True),
    Setting("recall.by_message", (), switch, True,
            "Send the notes that your message needs along with it.", common=True),
    Setting("session.memory", (), switch, True,
            "Keep the goal, files, errors, decisions and tasks of each session in its prompt, "
            "offer them as a tool, tell the assistant when its context fills up, and shorten long "
            "outputs of tools."),
    Setting("observe.enabled", ("MDMEMORY_OBSERVE",), switch, False,
            "Store short records of what the assistant's tools show. A planner with a model gets "
            "that text.", personal=True, common=True),
)  # fmt: skip
