"""The memory as an MCP server on stdio, with the same tools as elsewhere.

Every call opens the store, so that a server that began without one finds it later. A failure is an
answer, and never the end of the server.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

import mcp_types as types

from mdmemory.actions.listing import Listed
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.layers import Layers
from mdmemory.protocol import Protocol, of_project, short
from mdmemory.tools.both import Both
from mdmemory.tools.table import TOOLS, call, offered
from mdmemory.tools.tool import Tool
from mdmemory.version import VERSION

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

# name: title, argument, its description, text
_PROMPTS = {
    "remember": (
        "Keep something in the long-term memory",
        "fact", "What to remember",
        "Remember this for later sessions: {}\n\nLook with memory_search whether a note says it "
        "already. If none does, keep it with memory_store, in words that stand alone, and tell me "
        "in half a sentence what you stored.",
    ),
    "recall": (
        "Look something up in the long-term memory",
        "topic", "What to look up",
        "What does the long-term memory hold about this: {}\n\nUse memory_search, open what fits "
        "with memory_get, and answer from the notes, naming their files. Say so if there is none.",
    ),
}  # fmt: skip


def filled(request: types.GetPromptRequestParams) -> types.GetPromptResult:
    """A prompt with its argument filled in. Raises MCPError."""
    from mcp import MCPError

    if request.name not in _PROMPTS:
        problem = f"There is no prompt {request.name[:40]!r}. There are: {', '.join(_PROMPTS)}."
        raise MCPError(types.INVALID_PARAMS, problem)
    title, argument, about, text = _PROMPTS[request.name]
    given = (request.arguments or {}).get(argument, "").strip()
    if not given:
        raise MCPError(types.INVALID_PARAMS, f"{request.name} needs {argument!r}: {about}.")
    content = types.TextContent(type="text", text=text.format(given))
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=title, messages=[message])


def _prompt(name: str) -> types.Prompt:
    title, argument, about, _ = _PROMPTS[name]
    given = types.PromptArgument(name=argument, description=about, required=True)
    return types.Prompt(name=name, title=title, description=title, arguments=[given])


Open = Callable[[], Layers]
T = TypeVar("T")

INDEX = "memory://index"
NOTE = "memory://note/"
_MARKDOWN = "text/markdown"


def serve(open: Open, *, index: bool = True) -> None:
    """Speak MCP on standard input and output until the host closes them."""
    import anyio
    from mcp.server.stdio import stdio_server

    made = server(open, index=index)

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await made.run(incoming, outgoing, made.create_initialization_options())

    anyio.run(run)


def server(open: Open, *, index: bool = True) -> Server[dict[str, Any]]:
    """The server. `open` opens the store, or raises; `index`: the instructions hold the index."""
    from anyio import CapacityLimiter, to_thread
    from mcp.server.lowlevel import Server

    one_by_one = CapacityLimiter(1)

    async def aside(work: Callable[[], T]) -> T:
        # git and locks block; meanwhile pings are answered
        return await to_thread.run_sync(work, limiter=one_by_one)

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await aside(lambda: _tools(open)))

    async def call_tool(_: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
        return await aside(lambda: _called(open, request))

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await aside(lambda: _resources(open)))

    async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="note", title="A note", uri_template=f"{NOTE}{{name}}", mime_type=_MARKDOWN,
            description="One note of the memory, by its name or file.",
        )  # fmt: skip
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        _: Any, request: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await aside(lambda: _read(open, request.uri))

    async def list_prompts(_: Any, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[*map(_prompt, _PROMPTS)])

    async def get_prompt(_: Any, request: types.GetPromptRequestParams) -> types.GetPromptResult:
        return filled(request)

    return Server(
        "mdmemory", version=VERSION, title="mdmemory", instructions=instructions(open, index),
        on_list_tools=list_tools, on_call_tool=call_tool, on_list_resources=list_resources,
        on_list_resource_templates=list_templates, on_read_resource=read_resource,
        on_list_prompts=list_prompts, on_get_prompt=get_prompt,
    )  # fmt: skip


def instructions(open: Open, index: bool = True) -> str:
    """The text for the host's prompt: how to use the memory, and its index as it is now."""
    try:
        layers = open()
        text = f"{short()}{_bar(of_project(layers.main.project))}"
        return f"{text}\n{_index(layers)}" if index else text
    except MdmemoryError as problem:
        return f"{short()}\n{problem.message} {problem.hint}"


def _bar(protocol: Protocol) -> str:
    """What an edited protocol says to store; of ours the short one says enough."""
    if protocol.origin == "shipped":
        return ""
    return f"\nWhat to store here:\n\n{protocol.section('The bar')}\n"


# --- tools ---------------------------------------------------------------------------------------


def _tools(open: Open) -> list[types.Tool]:
    """The offered tools; without a store all, for there may be one by the first call."""
    try:
        tools = offered(open().settings)
    except MdmemoryError:
        tools = [*TOOLS]
    return [_tool(each) for each in tools]


def _tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title, read_only_hint=tool.read_only, destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent, open_world_hint=False,
    )  # fmt: skip
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description,
        input_schema=tool.parameters, annotations=hints,
    )  # fmt: skip


def _called(open: Open, request: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        answer = call(open(), request.name, request.arguments or {})
    except MdmemoryError as problem:
        return _failed(problem)
    except Exception as problem:  # noqa: BLE001 - a failing memory must not end the session
        traceback.print_exc(file=sys.stderr)
        sentence = f"Something unexpected happened in the memory ({type(problem).__name__})."
        return _failed(MdmemoryError(sentence, "Go on without it.", "unexpected"))
    return _result(answer.text, answer.structured)


def _failed(problem: MdmemoryError) -> types.CallToolResult:
    error = {"code": problem.code, "message": problem.message, "hint": problem.hint}
    return _result(f"{problem.message} {problem.hint}".strip(), {"error": error}, failed=True)


def _result(text: str, structured: dict[str, Any], failed: bool = False) -> types.CallToolResult:
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], structured_content=structured, is_error=failed)


# --- resources -----------------------------------------------------------------------------------


def _resources(open: Open) -> list[types.Resource]:
    """The index, and the notes that it lists; other notes can be read too."""
    index = types.Resource(
        name="index", title="Memory index", uri=INDEX, mime_type=_MARKDOWN,
        description="One line for each note, within a budget.",
    )  # fmt: skip
    try:
        rows = [row for row in Both(open()).listing() if row.listed]
    except MdmemoryError:
        return [index]  # without a store there is nothing to list; reading says so
    return [index, *map(_resource, rows)]


def _resource(row: Listed) -> types.Resource:
    return types.Resource(
        name=row.head.name, title=row.head.title or row.head.name, mime_type=_MARKDOWN,
        uri=NOTE + quote(row.head.file.removesuffix(".md"), safe=""),
        description=row.head.description,
    )  # fmt: skip


def _read(open: Open, uri: str) -> types.ReadResourceResult:
    from mcp import MCPError

    try:
        text = _text(open(), uri)
    except MdmemoryError as problem:
        sentence = f"{problem.message} {problem.hint}".strip()
        raise MCPError(types.INVALID_PARAMS, sentence, {"uri": uri}) from problem
    content = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)
    return types.ReadResourceResult(contents=[content])


def _text(layers: Layers, uri: str) -> str:
    if uri == INDEX:
        return _index(layers)
    if not uri.startswith(NOTE):
        raise NotFound(f"There is no resource {uri[:80]!r}.", f"There are {INDEX} and {NOTE}NAME.")
    memory, name = layers.holding(unquote(uri.removeprefix(NOTE)))
    # a name works too; `get` reads only notes of the store that are not on hold
    file = name if "/" in name else memory.note(name).file
    return memory.get(file).text + "\n"


def _index(layers: Layers) -> str:
    """The indexes of both layers as they are now, the person's first, written to MEMORY.md if that
    is possible. Raises NoStore."""
    texts = []
    for _, memory in reversed(layers.each()):
        checked = memory.index(check=True)
        if checked.changed:
            with suppress(MdmemoryError):
                memory.index()
        texts.append(checked.index.memory)
    return "\n".join(texts)
