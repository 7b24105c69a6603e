"""Tools of 0.1 that are listed no more and still answer, until 0.3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mdmemory.memory import Memory
from mdmemory.session import former
from mdmemory.session.sections import BLOCKS, entries
from mdmemory.tools.session import later, session_of
from mdmemory.tools.tool import Caller, Tool, ToolAnswer, schema, text

_BY_HAND = tuple(former.PLACES.values())


def _core_update(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    block, mode = given["block"], given["operation"]
    with memory.session(session_of(caller)) as own:
        done = own.core_update(block, given["content"], mode, now=memory.now())
    content = done.blocks.get(block, "")
    held = f"{block} now holds {len(content)} of {BLOCKS[block]} characters."
    lines = [f"{held}{later(memory, caller, block)}"]
    lines += [f"Warning: {done.warning}"] if done.warning else []
    lines += [f"It reads:\n{content}"] if content else []
    structured = {"block": block, "content": content, "chars": len(content)}
    return ToolAnswer("\n".join(lines), structured | {"warning": done.warning})


def _core_read(memory: Memory, _: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(session_of(caller)) as own:
        blocks = own.read().blocks
    shown = [
        f"{name} ({len(blocks.get(name, ''))} of {most} characters):\n{blocks.get(name, '(empty)')}"
        for name, most in BLOCKS.items()
    ]
    return ToolAnswer("\n\n".join(shown), {name: blocks.get(name, "") for name in BLOCKS})


def _add(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    slot = given["slot"]
    with memory.session(session_of(caller)) as own:
        id = own.working_add(slot, given["content"], now=memory.now())
        items = former.view(own.read())["working"]
    ahead = later(memory, caller, former.PLACES[slot])
    answer = f"Kept as {id} in {slot}.{ahead}" if id else "There was nothing to keep."
    return ToolAnswer(answer, {"id": id, "items": items})


def _clear(memory: Memory, _: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(session_of(caller)) as own:
        own.clear(*_BY_HAND, now=memory.now())
    return ToolAnswer("Working memory is empty.", {"cleared": True})


def _clear_slot(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(session_of(caller)) as own:
        gone = own.clear(former.PLACES[given["slot"]], now=memory.now())
    return ToolAnswer(f"{given['slot']} is empty; it held {gone}.", {"removed": gone})


def _remove(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(session_of(caller)) as own:
        rows = [each for each in entries(own.read()) if each.id == given["id"]]
        section = rows[0].section if rows else _BY_HAND[0]
        gone = own.remove(section, given["id"], now=memory.now())
    return ToolAnswer(f"Removed: {gone}", {"removed": gone})


def _tool(
    name: str, run: Callable[[Memory, Mapping[str, Any], Caller], ToolAnswer],
    parameters: dict[str, Any], read_only: bool = False,
) -> Tool:  # fmt: skip
    return Tool(name, name, "Use session_memory.", parameters, read_only, False, run)


_SLOT = text("", among=tuple(former.PLACES))
FORMER_SESSION = (
    _tool("core_memory_update", _core_update, schema(
        "block", "content", block=text("", among=tuple(BLOCKS)), content=text(""),
        operation=text("", among=("replace", "append"), default="replace"),
    )),
    _tool("core_memory_read", _core_read, schema(), read_only=True),
    _tool("working_memory_add", _add, schema("slot", "content", slot=_SLOT, content=text(""))),
    _tool("working_memory_clear", _clear, schema()),
    _tool("working_memory_clear_slot", _clear_slot, schema("slot", slot=_SLOT)),
    _tool("working_memory_remove", _remove, schema("id", id=text(""))),
)  # fmt: skip
