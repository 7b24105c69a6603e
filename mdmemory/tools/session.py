"""The tools on a session's core blocks and working memory: state, never notes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from mdmemory.memory import Memory
from mdmemory.session.core import BLOCKS, MODES
from mdmemory.session.working import POOL, SLOTS, entries, id_of
from mdmemory.tools.tool import Caller, Tool, ToolAnswer, schema, text

# Hosts that name no session, such as MCP hosts, start a server for each.
_ALONE = f"host-{secrets.token_hex(6)}"
_PLACES = (*SLOTS, POOL)
_LATER = " The prompt shows it from the next compaction or start on."


def _session(caller: Caller) -> str:
    return caller.session or _ALONE


def _later(memory: Memory, caller: Caller, part: str) -> str:
    """The sentence on when the prompt shows a change, "" if it never does."""
    is_on = memory.project.settings.switch(f"session.{part}")
    return _LATER if caller.session and is_on else ""


def _core_update(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    block = given["block"]
    with memory.session(_session(caller)) as own:
        done = own.core_update(block, given["content"], given["operation"], now=memory.now())
    content = done.blocks.get(block, "")
    later = _later(memory, caller, "core")
    lines = [f"{block} now holds {len(content)} of {BLOCKS[block]} characters.{later}"]
    lines += [f"Warning: {done.warning}"] if done.warning else []
    lines += [f"It reads:\n{content}"] if content else []
    structured = {"block": block, "content": content, "chars": len(content)}
    return ToolAnswer("\n".join(lines), structured | {"warning": done.warning})


def _core_read(memory: Memory, _: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(_session(caller)) as own:
        blocks = own.core_read()
    shown = [
        f"{name} ({len(blocks.get(name, ''))} of {most} characters):\n{blocks.get(name, '(empty)')}"
        for name, most in BLOCKS.items()
    ]
    return ToolAnswer("\n\n".join(shown), {name: blocks.get(name, "") for name in BLOCKS})


def _add(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(_session(caller)) as own:
        id = own.working_add(given["slot"], given["content"], now=memory.now())
        items = [
            {"slot": place, "id": id_of(place, item.text), "content": item.text}
            for place, item in entries(own.working())
        ]
    later = _later(memory, caller, "working")
    answer = f"Kept as {id} in {given['slot']}.{later}" if id else "There was nothing to keep."
    return ToolAnswer(answer, {"id": id, "items": items})


def _clear(memory: Memory, _: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(_session(caller)) as own:
        own.working_clear(now=memory.now())
    return ToolAnswer("Working memory is empty.", {"cleared": True})


def _clear_slot(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(_session(caller)) as own:
        gone = own.working_clear_slot(given["slot"], now=memory.now())
    return ToolAnswer(f"{given['slot']} is empty; it held {gone}.", {"removed": gone})


def _remove(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    with memory.session(_session(caller)) as own:
        gone = own.working_remove(given["id"], now=memory.now())
    return ToolAnswer(f"Removed: {gone}", {"removed": gone})


_SLOT = text("Where it belongs; pool is for what is only worth a mention.", among=_PLACES)

SESSION = (
    Tool(
        "core_memory_update",
        "Write a core block",
        "Write what this session is about, so that it survives compaction: its goal, its progress, "
        "or the context to go on with. Use it when the goal is clear or changes, after a step is "
        "done, and before the context is full. It belongs to this session alone; lasting facts go "
        "to memory_store.",
        schema(
            "block", "content",
            block=text("goal, progress or context.", among=tuple(BLOCKS)),
            content=text("The text. What is too long loses its end, and you are told."),
            operation=text("replace the block, or append a line to it.", among=MODES,
                           default="replace"),
        ),
        False, False, _core_update, idempotent=False,
    ),
    Tool(
        "core_memory_read",
        "Read the core blocks",
        "Read the core blocks of this session as they are now. Use it before you change one, where "
        "the prompt may show an older state.",
        schema(),
        True, False, _core_read,
    ),
    Tool(
        "working_memory_add",
        "Keep something at hand",
        "Keep one line at hand in this session: an open error, a decision, a thing to do, a "
        "dependency. Use it for what you will need again soon. A full slot loses its oldest entry, "
        "and the pool forgets what is not mentioned again. Lasting facts go to memory_store.",
        schema(
            "slot", "content",
            slot=_SLOT, content=text("One line of at most 200 characters."),
        ),
        False, False, _add, idempotent=False,
    ),
    Tool(
        "working_memory_clear",
        "Empty working memory",
        "Drop all entries of this session's working memory, slots and pool. Use it when the work "
        "turns to something else. Notes and core blocks stay.",
        schema(),
        False, True, _clear,
    ),
    Tool(
        "working_memory_clear_slot",
        "Empty one slot",
        "Drop all entries of one slot of this session's working memory. Use it when they are all "
        "done with, as errors that are mended.",
        schema("slot", slot=_SLOT),
        False, True, _clear_slot,
    ),
    Tool(
        "working_memory_remove",
        "Drop one entry",
        "Drop one entry of this session's working memory. Use it when that entry is done with or "
        "wrong; its id stands behind it in the prompt.",
        schema("id", id=text("Such as w-1a2b3c.")),
        False, True, _remove, idempotent=False,
    ),
)  # fmt: skip
