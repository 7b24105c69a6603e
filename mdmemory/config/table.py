"""The settings: one table, which feeds the loader, docs/settings.md and `mdmemory status`."""

from __future__ import (
    annotations,
)

import os
import re
from collections.abc import (
    Callable,
)
from dataclasses import (
    dataclass,
)
from pathlib import (
    Path,
)
from typing import (
    Any,
)

Reader = Callable[[object], Any]


def whole(least: int, most: int | None = None) -> Reader:
    def read(value: object) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value).strip()):
            raise ValueError
        number = int(str(value))
        if number < least or (most is not None and number > most):
            raise ValueError
        return number

    return read


def share(value: object) -> float:
    number = float(str(value))
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise ValueError
    return number


def switch(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    return words[str(value).strip().lower()]  # KeyError: a bad value


def some_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def folder_inside(value: object) -> str:
    text = some_text(value)
    parts = Path(text).parts
    if text.startswith("~") or Path(text).is_absolute() or ".." in parts or ".git" in parts:
        raise ValueError
    return text


def one_of(*choices: str) -> Reader:
    def read(value: object) -> str:
        text = some_text(value)
        if text not in choices:
            raise ValueError
        return text

    return read


def model(value: object) -> str:
    text = some_text(value)
    if not re.fullmatch(r"\w[\w./:@+-]{0,199}", text):
        raise ValueError
    return text


def program(value: object) -> str:
    text = some_text(value)
    # a relative path would be looked for in whatever folder mdmemory is called from
    if "/" in text and not text.startswith(("/", "~/")):
        raise ValueError
    return text


def key(value: object) -> str:
    text = some_text(value)
    if not re.fullmatch(r"[!-~]+", text):  # what an HTTP header can carry
        raise ValueError
    return text


def address(value: object) -> str:
    from urllib.parse import urlsplit  # only where an address is set

    text = some_text(value)
    parts = urlsplit(text)
    whole = re.fullmatch(r"https?://[^\s/]\S*", text) and parts.hostname
    if not whole or "@" in parts.netloc or parts.query or parts.fragment or parts.port == 0:
        raise ValueError
    return text.rstrip("/")


def folders(value: object) -> str:
    """Absolute folders: a list, or one text with a colon between two, as which they are kept."""
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError
    folders = [some_text(item) for item in items if item != ""]
    if any(not folder.startswith(("/", "~/")) and folder != "~" for folder in folders):
        raise ValueError  # from where on, if it is relative?
    return os.pathsep.join(folders)


def dsn(value: object) -> str:
    text = some_text(value)
    if not re.match(r"postgres(?:ql)?://|\w+ {0,9}=", text) or not text.isprintable():
        raise ValueError
    return text


def or_empty(read: Reader) -> Reader:
    """Also "", which stands for a setting that is not made."""
    return lambda value: "" if value == "" else read(value)


PROJECT_FILE = "mdmemory.toml"
DEFAULT_STORE = "notes/memory"


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


TABLE = (
    Setting("store", (), "a folder inside the project", folder_inside, DEFAULT_STORE,
            "Where the notes lie, relative to this file."),
    Setting("index.max_chars", ("MEMORY_INDEX_MAX_CHARS",), "a whole number of at least 500",
            whole(500), 8000,
            "Length of MEMORY.md in code points; a wide character counts three."),
    Setting("index.max_entries", ("MEMORY_INDEX_MAX_ENTRIES",), "a whole number of at least 1",
            whole(1), 80, "Notes that MEMORY.md lists at most; the others go to _MORE.md."),
    Setting("index.tracked", ("MEMORY_INDEX_TRACKED",), "true or false", switch, True,
            "Whether MEMORY.md and _MORE.md are committed. Set it to false where a hosted merge "
            "button merges the store: it knows nothing of `merge=union`."),
    Setting("compact.enabled", ("MEMORY_COMPACT_ENABLED",), "true or false", switch, True,
            "Whether `compact --if-due` ever runs."),
    Setting("compact.churn", ("MEMORY_COMPACT_CHURN",), "a whole number of at least 1",
            whole(1), 8, "Notes changed since the last pass that make a compaction due."),
    Setting("compact.min_entries", ("MEMORY_COMPACT_MIN_ENTRIES",),
            "a whole number of at least 1", whole(1), 2,
            "Notes that the store must hold before a compaction is due."),
    Setting("compact.interval_ms", ("MEMORY_COMPACT_INTERVAL_MS",),
            "a whole number of at least 0", whole(0), 43_200_000,
            "Milliseconds after which a compaction is due if any note has changed (12 hours)."),
    Setting("compact.poll_ms", ("MEMORY_COMPACT_POLL_MS",), "a whole number of at least 60000",
            whole(60_000), 600_000,
            "Milliseconds after which a running OpenCode looks again whether a compaction is due."),
    Setting("planner", ("MDMEMORY_PLANNER",), "offline, openai or opencode",
            one_of("offline", "openai", "opencode"), "offline",
            "Who plans a compaction and reads sessions. `offline` uses no model and sends nothing "
            "anywhere; `openai` asks any OpenAI-compatible server; `opencode` asks the provider "
            "that your OpenCode uses. To choose one of these is to agree that text is sent.",
            personal=True),
    Setting("extract.enabled", ("MEMORY_EXTRACT_ENABLED",), "true or false", switch, True,
            "Whether a model, where a planner with one is chosen, reads sessions for facts. What "
            "is asked for in so many words is stored either way.", personal=True),
    Setting("extract.debounce_ms", ("MEMORY_EXTRACT_DEBOUNCE_MS",),
            "a whole number from 0 to 3600000", whole(0, 3_600_000), 60_000,
            "Milliseconds that a session has to be quiet before it is read by itself; every turn "
            "begins them anew."),
    Setting("extract.model", ("MEMORY_EXTRACT_MODEL",), "a model such as openai/gpt-5-mini",
            model, "openai/gpt-5-mini",
            "The model that reads sessions. For `openai` one leading `openai/` is dropped (write "
            "`openai/openai/...` where a server's own names begin so); `opencode` takes "
            "provider/model, and OpenCode's default as long as this is not set.", personal=True),
    Setting("compact.model", ("MEMORY_COMPACT_MODEL",), "a model such as openai/gpt-5-mini",
            or_empty(model), "", "The model that plans compactions; the one of extract.model "
            "when it is not set.", personal=True),
    Setting("openai.base_url", ("OPENAI_BASE_URL",),
            "an http(s) address without user, query or fragment", address,
            "https://api.openai.com/v1", "The server of the `openai` planner; mostly ends in /v1.",
            personal=True),
    Setting("openai.api_key", ("OPENAI_API_KEY",), "printable ASCII without spaces",
            or_empty(key), "", "The key for that server. A key alone sends nothing: see planner.",
            personal=True, secret=True),
    Setting("opencode.command", ("MDMEMORY_OPENCODE",),
            "an absolute path, or the name of a program", or_empty(program), "",
            "The OpenCode client of the `opencode` planner; `opencode` on the PATH when it is not "
            "set, parts of the PATH that are relative or inside the project left out.",
            personal=True),
    Setting("llm.daily_calls", ("MDMEMORY_DAILY_CALLS",), "a whole number of at least 0",
            whole(0), 200, "Calls of models that one project may make in a day (UTC).",
            personal=True),
    Setting("llm.timeout_s", ("MDMEMORY_TIMEOUT_S",), "a whole number of at least 1", whole(1), 60,
            "Seconds that a model may take to answer.", personal=True),
    Setting("search.chunk_tokens", (), "a whole number of at least 50", whole(50), 400,
            "Length of the pieces that long notes are searched in, in tokens: four characters, or "
            "one of CJK."),
    Setting("search.overlap_tokens", (), "a whole number of at least 0", whole(0), 80,
            "What two neighbouring pieces share, in tokens; at most half of a piece."),
    Setting("search.keyword_weight", (), "a number from 0 to 1", share, 0.5,
            "What the match of words counts in the score of a hit."),
    Setting("search.vector_weight", (), "a number from 0 to 1", share, 0.5,
            "What nearness in meaning counts there, where there are vectors."),
    Setting("search.backend", ("MDMEMORY_SEARCH_BACKEND",), "sqlite or postgres",
            one_of("sqlite", "postgres"), "sqlite",
            "Where the search database is kept: in `.mdmemory/search.db`, or on the PostgreSQL "
            "server of search.dsn, which then holds the text of all that is searched.",
            personal=True),
    Setting("search.dsn", ("MDMEMORY_SEARCH_DSN",),
            "a PostgreSQL address such as postgresql://user@host/database", or_empty(dsn), "",
            "That server; a password may be in it, or better in ~/.pgpass. Does nothing where "
            "search.backend is not `postgres`.", personal=True, secret=True),
    Setting("search.recency_days", (), "a whole number of at least 0", whole(0), 0,
            "Days after which a hit has lost a quarter of its score, on the way to half of it; "
            "0: age does not count."),
    Setting("search.embeddings", (), "off, openai or local", one_of("off", "openai", "local"),
            "off", "Whether search also goes by meaning, and who makes the vectors. `openai` sends "
            "the text of all that is searched, without secrets, and each query to an "
            "OpenAI-compatible server; to choose it is to agree to that, and it needs the extra "
            "`mdmemory[vectors]`. `local` needs the extra `mdmemory[local]` and sends nothing.",
            personal=True),
    Setting("search.embedding_model", (), "a model such as text-embedding-3-small",
            or_empty(model), "", "The model of vectors; text-embedding-3-small when it is not "
            "set, and for `local` sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2.",
            personal=True),
    Setting("search.embedding_dimensions", (), "a whole number from 1 to 16000",
            whole(1, 16_000), 1536, "How many numbers a vector of that model has; `local` knows "
            "by itself.", personal=True),
    Setting("search.embedding_url", (),
            "an http(s) address without user, query or fragment", or_empty(address), "",
            "The server of `openai` embeddings; openai.base_url, with its key, when it is not set.",
            personal=True),
    Setting("search.embedding_key", (), "printable ASCII without spaces", or_empty(key), "",
            "The key for search.embedding_url. No other key is sent there.", personal=True,
            secret=True),
    Setting("search.embedding_calls", (), "a whole number of at least 0", whole(0), 2_000,
            "Requests for vectors that one project may make in a day (UTC); up to 100 texts go in "
            "one. They do not count as calls of models.", personal=True),
    Setting("search.vector_floor", (), "a number from 0 to 1", share, 0.3,
            "Nearness (cosine) from which on a text is a hit by its meaning alone. What matches by "
            "its words is a hit either way."),
    Setting("search.folders", (), "a list of absolute folders", folders, "",
            "Folders of markdown that are searched as the source `files`, with those inside, such "
            "as an Obsidian vault. They are only read.", personal=True),
    Setting("search.transcripts", (), "a list of absolute folders", folders, "",
            "Folders with exported sessions (*.json, *.jsonl) that are searched as the source "
            "`sessions`, beside this project's own in OpenCode and Claude Code.", personal=True),
    Setting("recall.notes", (), "off, keyword or hybrid", one_of("off", "keyword", "hybrid"),
            "off", "Whether the notes that fit your message best stand in the prompt, from a "
            "session's start or compaction to the next. `keyword` finds them by words alone; "
            "`hybrid` as search.embeddings says, and so sends your message where queries are sent.",
            personal=True),
    Setting("recall.tokens", (), "a whole number of at least 100", whole(100), 2_000,
            "Length of these notes in tokens, at most."),
    Setting("recall.observation_tokens", (), "a whole number of at least 0", whole(0), 4_000,
            "The same for observations, where observe.enabled is on; 0: none stand there."),
    Setting("session.hot", (), "true or false", switch, True,
            "Whether the files, errors and decisions of a session are followed, and shown in its "
            "prompt."),
    Setting("session.core", (), "true or false", switch, True,
            "Whether a session has core blocks, in its prompt and by their tools."),
    Setting("session.working", (), "true or false", switch, True,
            "Whether working memory is filled, shown in the prompt, and has its tools."),
    Setting("session.pruning", (), "true or false", switch, True,
            "Whether long outputs of tools are shown in part."),
    Setting("session.pressure", (), "true or false", switch, True,
            "Whether the assistant is told when its context fills."),
    Setting("session.moderate_percent", (), "a whole number from 1 to 100", whole(1, 100), 70,
            "How full the context is when it is called moderately full."),
    Setting("session.high_percent", (), "a whole number from 1 to 100", whole(1, 100), 85,
            "The same for highly full; outputs are pruned harder from there on."),
    Setting("session.critical_percent", (), "a whole number from 1 to 100", whole(1, 100), 95,
            "The same for critically full; outputs are pruned hardest from there on."),
    Setting("observe.enabled", ("MDMEMORY_OBSERVE",), "true or false", switch, False,
            "Whether what an assistant's tools show is kept in short form for 90 days. Where a "
            "planner with a model is chosen, that model makes it short, and so is sent it.",
            personal=True),
    Setting("observe.ignore", ("MDMEMORY_OBSERVE_IGNORE",), "names of tools, with commas",
            or_empty(some_text), "", "Tools whose output is not observed, besides lists of tasks, "
            "questions to you, and our own."),
    Setting("observe.days", (), "a whole number from 1 to 3650", whole(1, 3_650), 90,
            "Days that an observation is kept."),
    Setting("editor", ("VISUAL", "EDITOR"), "a command", some_text, "vi",
            "The program that `add` and `edit` open.", personal=True),
)  # fmt: skip
