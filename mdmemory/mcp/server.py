"""The methods of MCP over the table of tools, in the protocol versions that hosts speak.

Every call opens the store, so that a server that began without one finds it later. A failure is an
answer, and never the end of the server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

from mdmemory.errors import MdmemoryError
from mdmemory.mcp.instructions import ALONE, instructions
from mdmemory.mcp.loop import INVALID_PARAMS, INVALID_REQUEST, NO_METHOD, Fault, Loop
from mdmemory.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.layers import Layers
    from mdmemory.mcp.loop import Json, Result
    from mdmemory.tools.tool import Tool

SHAKEN = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # agreed on by `initialize`
BATCHED = SHAKEN[:2]
STATELESS = "2026-07-28"  # each request names its version, and none is agreed on
UNSUPPORTED = -32022
_OWN = "io.modelcontextprotocol/"
_ME = {"name": "mdmemory", "title": "mdmemory", "version": VERSION}

Open = Callable[[], "Layers"]


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

    def takes_batches(self) -> bool:
        """Whether a line may hold several messages."""
        return self._version in BATCHED

    def answer(self, method: str, params: Json) -> Result | Callable[[], Result]:
        """The answer to a request, or the work that makes it. Raises Fault."""
        if method == "initialize":
            return self._initialize(params)
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        is_stateless = f"{_OWN}protocolVersion" in meta
        if is_stateless:
            _check(meta)
        if method == "ping" and not is_stateless:
            return {}
        if method == "server/discover" and is_stateless:
            return lambda: _whole({"supportedVersions": [STATELESS], **self._about(False)})
        work = self._methods().get(method)
        if work is None:
            raise Fault(NO_METHOD, f"There is no method {method[:60]!r}.")
        if not is_stateless and not self._version:
            raise Fault(INVALID_REQUEST, "The first request has to be `initialize`.")
        return lambda: _whole(work(params)) if is_stateless else work(params)

    def _initialize(self, params: Json) -> Callable[[], Result]:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise Fault(INVALID_PARAMS, "`initialize` needs the text `protocolVersion`.")
        version = self._version = wanted if wanted in SHAKEN else SHAKEN[-1]
        return lambda: {"protocolVersion": version, "serverInfo": _ME, **self._about(True)}

    def _about(self, tells: bool) -> Json:
        """What we can do, and the text for the prompt; `tells`: of changes, unasked."""
        can: Json = {"tools": {"listChanged": tells}, "prompts": {}}
        if self._index:  # for them Gemini CLI has two tools more, 280 tokens in each request
            can["resources"] = {}
        return {"capabilities": can, "instructions": instructions(self._open, self._index)}

    def _methods(self) -> dict[str, Callable[[Json], Result]]:
        from mdmemory.mcp import prompts, resources

        return {
            "tools/list": self._list_tools,
            "tools/call": self._call,
            # a client that is given the index by a hook has the commands as files: where both are
            # there, Gemini CLI takes neither by its name
            "prompts/list": lambda _: {"prompts": prompts.list_prompts() if self._index else []},
            "prompts/get": prompts.fill_prompt,
            "resources/list": lambda _: {"resources": resources.list_resources(self._open)},
            "resources/templates/list": lambda _: {"resourceTemplates": [resources.TEMPLATE]},
            "resources/read": partial(resources.read, self._open),
        }

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
    from mdmemory.mcp.words import caller
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
    failed = _result(error.sentences, {"error": fault})
    return {**failed, "isError": True}


def _result(text: str, structured: dict[str, Any]) -> Json:
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured}


# --- requests that name their version


def _check(meta: Json) -> None:
    version = meta[f"{_OWN}protocolVersion"]
    if not isinstance(version, str) or not isinstance(meta.get(f"{_OWN}clientCapabilities"), dict):
        raise Fault(INVALID_PARAMS, "`_meta` needs a protocolVersion and clientCapabilities.")
    if version != STATELESS:
        versions = {"supported": [STATELESS], "requested": version}
        raise Fault(UNSUPPORTED, "This protocol version is not supported.", versions)


def _whole(result: Result) -> Json:
    """A result with what it has to say where no version was agreed on: a note may change at any
    moment, so it is stale at once."""
    about = {"resultType": "complete", "_meta": {f"{_OWN}serverInfo": _ME}}
    is_stored = "content" not in result and "messages" not in result
    return {**result, **about, **({"ttlMs": 0, "cacheScope": "private"} if is_stored else {})}


def _log(problem: Exception) -> None:
    import traceback

    traceback.print_exception(problem, file=sys.stderr)
