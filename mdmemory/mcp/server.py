"""The methods of MCP over the table of tools, in the protocol versions that hosts speak.

Every call opens the store, so that a server that began without one finds it later. A failure is an
answer, and never the end of the server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.mcp.loop import INVALID_PARAMS, INVALID_REQUEST, NO_METHOD, Fault, Loop
from mdmemory.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.capture.extracted import Caller
    from mdmemory.mcp.loop import Json, Result
    from mdmemory.memory import Memory
    from mdmemory.tools.tool import Tool

SHAKEN = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # agreed on by `initialize`
BATCHED = SHAKEN[:2]
STATELESS = "2026-07-28"  # each request names its version, and none is agreed on
UNSUPPORTED = -32022
_OWN = "io.modelcontextprotocol/"
_ME = {"name": "mdmemory", "title": "mdmemory", "version": VERSION}

Open = Callable[[], "Memory"]


def serve(source: int, sink: int, open: Open, *, index: bool = True) -> None:
    """Speak MCP on two files until the host closes them."""
    made = Methods(open, index=index)
    loop = Loop(source, sink, made.answer, takes_batches=made.takes_batches, failed=_log)
    made.notify = loop.notify
    loop.serve()


class Methods:
    """Answers requests. `open` opens the layers, or raises; `index`: the instructions hold it."""

    def __init__(self, open: Open, *, index: bool = True) -> None:
        self.notify: Callable[[str], None] = lambda _: None
        self._open, self._index = open, index
        self._version = ""  # agreed on
        self._told: list[str] = []  # the names of the tools that the host knows
        self._methods: dict[str, Callable[[Json], Result]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call,
            # a client that is given the index by a hook has the commands as files: where both are
            # there, Gemini CLI takes neither by its name
            "prompts/list": lambda _: {"prompts": [*map(_prompt, _PROMPTS)] if index else []},
            "prompts/get": fill_prompt,
            "resources/list": lambda _: {"resources": list_resources(open)},
            "resources/templates/list": lambda _: {"resourceTemplates": [_TEMPLATE]},
            "resources/read": lambda params: read_resource(open, params),
        }

    def takes_batches(self) -> bool:
        """Whether a line may hold several messages."""
        return self._version in BATCHED

    def answer(self, method: str, params: Json) -> Result | Callable[[], Result]:
        """The answer to a request, or the work that makes it. Raises Fault."""
        if method == "initialize":
            wanted = params.get("protocolVersion")
            if not isinstance(wanted, str):
                raise Fault(INVALID_PARAMS, "`initialize` needs the text `protocolVersion`.")
            version = self._version = wanted if wanted in SHAKEN else SHAKEN[-1]
            return lambda: {"protocolVersion": version, "serverInfo": _ME, **self._about(True)}
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        is_stateless = f"{_OWN}protocolVersion" in meta
        if is_stateless:
            version = meta[f"{_OWN}protocolVersion"]
            can = meta.get(f"{_OWN}clientCapabilities")
            if not isinstance(version, str) or not isinstance(can, dict):
                message = "`_meta` needs a protocolVersion and clientCapabilities."
                raise Fault(INVALID_PARAMS, message)
            if version != STATELESS:
                versions = {"supported": [STATELESS], "requested": version}
                raise Fault(UNSUPPORTED, "This protocol version is not supported.", versions)
        if method == "ping" and not is_stateless:
            return {}
        if method == "server/discover" and is_stateless:
            return lambda: _whole({"supportedVersions": [STATELESS], **self._about(False)})
        work = self._methods.get(method)
        if work is None:
            raise Fault(NO_METHOD, f"There is no method {method[:60]!r}.")
        if not is_stateless and not self._version:
            raise Fault(INVALID_REQUEST, "The first request has to be `initialize`.")
        return lambda: _whole(work(params)) if is_stateless else work(params)

    def _about(self, tells: bool) -> Json:
        """What we can do, and the text for the prompt; `tells`: of changes, unasked."""
        can: Json = {"tools": {"listChanged": tells}, "prompts": {}}
        if self._index:  # for them Gemini CLI has two tools more, 280 tokens in each request
            can["resources"] = {}
        return {"capabilities": can, "instructions": instructions(self._open, self._index)}

    # --- tools

    def _offer(self) -> Sequence[Tool]:
        """The tools; without a store the one that makes one."""
        from mdmemory.tools.table import TOOLS, offered_tools

        alone = [tool for tool in TOOLS if tool.name == ALONE]
        try:
            layers = self._open()
            return offered_tools(layers.settings) if layers.there() else alone
        except MdmemoryError:
            return alone

    def _list_tools(self, _: Json) -> Result:
        tools = self._offer()
        self._told = [tool.name for tool in tools]
        return {"tools": [_tool(each) for each in tools]}

    def _call(self, params: Json) -> Result:
        name, given = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(given, dict | None):
            raise Fault(INVALID_PARAMS, "A call needs a text `name`, and an object `arguments`.")
        answer = _answer(self._open, name, given or {})
        names = [tool.name for tool in self._offer()] if len(self._told) == 1 else self._told
        if names != self._told:
            self._told = names
            self.notify("notifications/tools/list_changed")
        return answer


def _tool(tool: Tool) -> Json:
    hints = {
        "title": tool.title, "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent, "openWorldHint": False,
    }  # fmt: skip
    return {
        "name": tool.name, "title": tool.title, "description": tool.description,
        "inputSchema": tool.parameters, "annotations": hints,
    }  # fmt: skip


def _answer(open: Open, name: str, given: Json) -> Json:
    from mdmemory.tools.table import call_tool

    try:
        layers = open()
        answer = call_tool(layers, name, given, caller(layers, name))
        return _result(answer.text, answer.structured)
    except MdmemoryError as problem:
        error = problem
    except Exception as problem:  # noqa: BLE001 - a failing memory must not end the session
        _log(problem)
        sentence = f"Something unexpected happened in the memory ({type(problem).__name__})."
        error = MdmemoryError(sentence, "Go on without it.", "unexpected")
    fault = {"code": error.code, "message": error.message, "hint": error.hint}
    return {**_result(error.sentences, {"error": fault}), "isError": True}


def _result(text: str, structured: dict[str, Any]) -> Json:
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured}


def caller(layers: Memory, tool: str) -> Caller:
    """What the person said lately around here, as proof for what this tool is asked for; nothing
    where it needs none.

    MCP names no session. Where hooks of the client that started this server heard the person, its
    newest session counts, and nothing else proves anything; a client without hooks is heard by
    nobody.
    """
    from mdmemory.capture.extracted import Caller

    if tool not in ("memory_store", "memory_forget"):
        return Caller()
    from mdmemory.session.client_process import of_parent
    from mdmemory.session.heard import of_client

    client = of_parent()
    for memory in layers.there():
        try:
            with memory.state() as state:
                session, turns = of_client(state, client, memory.now())
        except MdmemoryError:
            continue
        if turns:
            return Caller(session, tuple(turns))
    return Caller(hears=False)


def _whole(result: Result) -> Json:
    """A result with what it has to say where no version was agreed on: a note may change at any
    moment, so it is stale at once."""
    about = {"resultType": "complete", "_meta": {f"{_OWN}serverInfo": _ME}}
    is_stored = "content" not in result and "messages" not in result
    return {**result, **about, **({"ttlMs": 0, "cacheScope": "private"} if is_stored else {})}


def _log(problem: Exception) -> None:
    import traceback

    traceback.print_exception(problem, file=sys.stderr)


# --- the text that a host puts into its prompt

MOST = 4_000  # characters: Claude Code cuts instructions at 4,096
ALONE = "memory_store"  # the one tool where there is no store
_NONE = (
    "You have a long-term memory, and nothing is in it yet: `memory_store` keeps the first fact, "
    "and makes the store."
)
# a hook gives the protocol too: the same twice would cost 350 tokens in each request
_BY_HOOK = (
    "You have a long-term memory. How to use it and its index are in your context, from a hook; "
    "where they are not, use `memory_search` before you answer about earlier work, a decision, a "
    "preference or a person."
)
_PERSONS = 0.4  # of the room for both indexes


def instructions(open: Open, index: bool = True) -> str:
    """How to use the memory, and as much of its index as hosts take: at most MOST characters.
    Without `index` a hook puts protocol and index into the prompt."""
    from mdmemory.protocol import for_tools

    try:
        layers = open()
        if not layers.there():
            return layers.question.sentences if layers.question else _NONE
        if not index:
            return _BY_HOOK
        text = for_tools()
        return f"{text}\n{_indexes(layers, MOST - len(text) - 1)}"
    except MdmemoryError as problem:
        return problem.sentences


def _indexes(layers: Memory, room: int) -> str:
    """The indexes of both layers, the person's first: whole, or their strongest notes."""
    stores = [memory for _, memory in reversed(layers.each())]
    texts = [memory.index_text() for memory in stores]
    if len("\n".join(texts)) <= room:
        return "\n".join(texts)
    if len(stores) == 1:
        return _within(stores[0], texts[0], room)
    persons, projects = texts
    part = max(int(room * _PERSONS), room - len(projects) - 1)
    persons = _within(stores[0], persons, part)
    return f"{persons}\n{_within(stores[1], projects, room - len(persons) - 1)}"


def _within(memory: Memory, text: str, room: int) -> str:
    # the tools reach what does not fit, and the file does not hold it
    return text if len(text) <= room else memory.index_text(room).replace("_MORE.md or ", "")


# --- the prompts that hosts show as commands: the same texts as OpenCode's commands

# name: its file, its argument, what that is, whether it is needed
_PROMPTS = {
    "remember": ("remember", "fact", "What to remember", True),
    "recall": ("memory", "topic", "What to look up", True),
    "forget": ("forget", "what", "What to forget", True),
    "memory-review": ("memory-review", "answer", "An id and the answer to it", False),
    "memory-undo": ("memory-undo", "id", "The id of the change", False),
}


def _prompt(name: str) -> Json:
    _, argument, about, is_needed = _PROMPTS[name]
    given = {"name": argument, "description": about, "required": is_needed}
    title, _ = _command_file(name)
    return {"name": name, "title": title, "description": title, "arguments": [given]}


def fill_prompt(params: Json) -> Json:
    """A prompt with the person's words filled in. Raises Fault."""
    name, given = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or name not in _PROMPTS:
        message = f"There is no prompt {str(name)[:40]!r}. There are: {', '.join(_PROMPTS)}."
        raise Fault(INVALID_PARAMS, message)
    _, argument, about, is_needed = _PROMPTS[name]
    words = given.get(argument, "") if isinstance(given, dict) else ""
    if not isinstance(words, str) or (is_needed and not words.strip()):
        raise Fault(INVALID_PARAMS, f"{name} needs the text {argument!r}: {about}.")
    title, text = _command_file(name)
    content = {"type": "text", "text": text.replace("$ARGUMENTS", words.strip())}
    return {"description": title, "messages": [{"role": "user", "content": content}]}


def _command_file(name: str) -> tuple[str, str]:
    """The title and the text of a command's file."""
    from mdmemory import assets

    file = assets.read(f"templates/opencode/command/{_PROMPTS[name][0]}.md")
    _, head, text = file.split("---\n", 2)
    return head.removeprefix("description:").strip(), text


# --- the index and the notes as resources

_INDEX, _NOTE = "memory://index", "memory://note/"
_MARKDOWN = "text/markdown"
_TEMPLATE = {
    "name": "note", "title": "A note", "uriTemplate": f"{_NOTE}{{name}}", "mimeType": _MARKDOWN,
    "description": "One note of the memory, by its name or file.",
}  # fmt: skip


def list_resources(open: Open) -> list[Json]:
    """The index, and the notes that it lists; other notes can be read too."""
    from urllib.parse import quote

    index = {
        "name": "index", "title": "Memory index", "uri": _INDEX, "mimeType": _MARKDOWN,
        "description": "One line for each note, within a budget.",
    }  # fmt: skip
    try:
        layers = open()
        heads = [
            (layers.prefix_of(layer), row.head)
            for layer, memory in (layers.each() if layers.there() else ())
            for row in memory.listing(digests=False) if row.listed
        ]  # fmt: skip
    except MdmemoryError:
        return [index]  # without a store there is nothing to list; reading says so
    listed = [index]
    for prefix, head in heads:
        name = f"{prefix}{head.file.removesuffix('.md')}"
        uri = _NOTE + quote(name, safe="", errors="replace")
        about = {"title": head.title or head.name, "description": head.description}
        listed.append({"name": head.name, "uri": uri, "mimeType": _MARKDOWN, **about})
    return listed


def read_resource(open: Open, params: Json) -> Json:
    """The text of a resource. Raises Fault."""
    from urllib.parse import unquote

    uri = params.get("uri")
    if not isinstance(uri, str):
        raise Fault(INVALID_PARAMS, "`resources/read` needs the text `uri`.")
    try:
        layers = open()
        if uri == _INDEX:
            text = "\n".join(memory.index_text() for _, memory in reversed(layers.each()))
        elif uri.startswith(_NOTE):
            memory, name = layers.holding(unquote(uri.removeprefix(_NOTE)))
            # a name works too; `get` reads only notes of the store that are not on hold
            text = memory.get(name if "/" in name else memory.note(name).file).text + "\n"
        else:
            known = f"There are {_INDEX} and {_NOTE}NAME."
            raise NotFound(f"There is no resource {uri[:80]!r}.", known)
    except MdmemoryError as problem:
        raise Fault(INVALID_PARAMS, problem.sentences, {"uri": uri}) from problem
    return {"contents": [{"uri": uri, "mimeType": _MARKDOWN, "text": text}]}
