"""The tool on the memory of a session: state, never notes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from typing import Any

from mdmemory.capture.candidate import Caller
from mdmemory.errors import NotFound, UsageError
from mdmemory.memory import Memory
from mdmemory.session.sections import BLOCKS, ERRORS, POOL, SLOTS, Sections, entries, names
from mdmemory.tools.tool import Tool, ToolAnswer, make_schema, text

# Hosts that name no session, such as MCP hosts, start a server for each.
_ALONE = f"host-{secrets.token_hex(6)}"
_ADDED = (*BLOCKS, ERRORS, *SLOTS, POOL)
ACTIONS = ("read", "write", "add", "remove", "clear")


def session_of(caller: Caller) -> str:
    """The id of the session that a caller works in."""
    return caller.session or _ALONE


def _shown_when(memory: Memory, caller: Caller) -> str:
    """The sentence on when the prompt shows a change, "" if it never does."""
    is_shown = caller.session and memory.project.settings.switch("session.memory")
    return " The prompt shows it from the next compaction or start on." if is_shown else ""


def _run(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    action, section, words = given["action"], given.get("section", ""), given.get("text", "")
    if action != "read":
        _check_change(action, section, words)
    warning, done = "", ""
    with memory.session(session_of(caller)) as own:
        now = memory.now()
        if action == "clear":
            done = f"Emptied {section}; it held {own.clear(section, now=now)}."
        elif action == "remove":
            done = f"Removed: {own.remove(section, words, now=now)}"
        elif action == "write" or (section in BLOCKS and action == "add"):
            warning = own.write(section, words, append=action == "add", now=now)
            done = f"Wrote {section}."
        elif action == "add":
            done = "Added." if own.add(section, words, now=now) else "There was nothing to add."
        content = content_told(own.read(), section)
    lines = [f"{done}{_shown_when(memory, caller)}"] if done else []
    lines += [f"Warning: {warning}"] if warning else []
    lines.append("\n\n".join(sections_shown(content)) or "Nothing is kept.")
    return ToolAnswer("\n".join(lines), {"sections": content, "warning": warning})


def _check_change(action: str, section: str, words: str) -> None:
    """Raise UsageError for a change that makes no sense."""
    if not section and action != "remove":
        raise UsageError(f"session_memory: {action} needs a section.", f"Use: {', '.join(_ADDED)}.")
    if action == "write" and section not in BLOCKS:
        raise UsageError(
            f"session_memory: {section} is a list, and write replaces a text.",
            "Use add, remove or clear.",
        )
    if action != "clear" and not words.strip() and not (action == "write"):
        raise UsageError(f"session_memory: {action} needs a text.", "clear empties a section.")


def content_told(memory: Sections, section: str = "") -> dict[str, str | list[str]]:
    """The content of a section, or of all: a text, or the entries of a list."""
    content: dict[str, str | list[str]] = {name: memory.blocks.get(name, "") for name in BLOCKS}
    rows = entries(memory)
    for name in names()[len(BLOCKS) :]:
        content[name] = [each.shown for each in rows if each.section == name]
    return {section: content[section]} if section else content


def sections_shown(content: Mapping[str, str | list[str]]) -> list[str]:
    """The sections with content as text, each under its name."""
    texts = {
        name: each if isinstance(each, str) else "\n".join(f"- {entry}" for entry in each)
        for name, each in content.items()
    }
    return [f"{name}:\n{text}" for name, text in texts.items() if text]


def stored_content(memory: Memory, session: str) -> dict[str, Any]:
    """All that is stored about a session. Raises NotFound where that is nothing."""
    from mdmemory.observe import summaries
    from mdmemory.observe.observation import MAX_OBSERVATIONS
    from mdmemory.session.promotion import read_journal
    from mdmemory.store.state import State
    from mdmemory.tools.observations import as_json

    if not os.path.lexists(memory.project.state_file):  # do not create the file only to look
        raise _nothing_stored(session)
    with memory.session(session) as own, State(memory.project.state_file) as state:
        content, promotions = own.read(), read_journal(state, session)
        summary = summaries.get(state, session)
    observations = memory.observations()
    observed = [as_json(each) for each in observations.newest(MAX_OBSERVATIONS, session=session)]
    known = any(content_told(content).values()) or promotions or observed or summary
    if not (content.event or content.blocks or known):
        raise _nothing_stored(session)
    return {
        "id": session, "sections": content_told(content),
        "promotions": [
            {"type": each.type, "content": each.text, "since": each.since,
             "attempts": each.attempts, "outcome": each.outcome or "to do"}
            for each in promotions
        ],
        "summary": summary.fields if summary else {}, "observations": observed,
    }  # fmt: skip


def _nothing_stored(session: str) -> NotFound:
    return NotFound(
        f"Nothing is stored about a session {session[:80]}.",
        "OpenCode's plugin stores it while a session runs; `mdmemory session` shows the ids.",
    )


SESSION = Tool(
    "session_memory",
    "This session's memory",
    "Read or change what this session keeps over compactions: texts (goal, progress, context) and "
    "lists. Use it when the goal is clear, after a step.",
    make_schema(
        "action",
        action=text("write: replace a text. add: a line or an entry. remove: one. clear: all.",
                    among=ACTIONS),
        section=text("Default for read and remove: any.", among=names()),
        text=text("What to write or add, or words of what to remove."),
    ),
    False, True, _run, idempotent=False,
)  # fmt: skip
