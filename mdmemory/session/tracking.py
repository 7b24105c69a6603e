"""Takes the results of a host's tools and the messages of a session into its memory. Pure.

Files become active by what is done to them. Errors open with a failure and close with a success of
their category.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mdmemory.capture.fact import type_of
from mdmemory.session import changes, failures
from mdmemory.session.cleaning import line
from mdmemory.session.failures import Failure
from mdmemory.session.mentions import find_mentions
from mdmemory.session.sections import ACTIONS, CANDIDATES, FILES, HOLDS, Error, File, Sections

# The action of a tool of a host.
TOOLS = {
    "edit": "edit", "multiedit": "edit", "patch": "edit", "apply_patch": "edit", "write": "write",
    "grep": "grep", "read": "read",
}  # fmt: skip
TODO_TOOLS = ("todowrite", "todoread")
MAX_PATH = 200
_OF_SEARCH = 10  # files of one search that count


def take_result(
    memory: Sections, tool: str, args: Mapping[str, Any], output: str, exit_code: int | None,
    root: str = "",
) -> Failure | None:  # fmt: skip
    """Take a tool's result; returns its failure, or None. `output` is `visible` text; paths below
    `root` become relative to it."""
    changes.tick(memory)
    action = TOOLS.get(tool.lower(), "")
    for path in _list_touched(action, args, output):
        _touch(memory, _shorten_path(path, root), action)
    closed = failures.list_succeeded(tool, args, exit_code)
    memory.errors = [
        each for each in memory.errors if (each.closed_by or each.category) not in closed
    ]
    failed = failures.find_failure(tool, args, output, exit_code)
    if failed:
        files = [line(path, MAX_PATH) for path in failed.files]
        changes.open_error(memory, Error(
            failed.category, failed.summary, failed.fingerprint, failed.source, files, "open",
            memory.event, failed.closed_by,
        ))  # fmt: skip
    todos = args.get("todos")
    if tool.lower() in TODO_TOOLS and isinstance(todos, list):
        changes.set_todos(memory, [each for each in todos if isinstance(each, dict)])
    _take_mentions(memory, output, "tool")
    return failed


def take_message(memory: Sections, role: str, text: str) -> None:
    """Take a message of the user or the assistant; `text` is `visible`."""
    changes.tick(memory)
    _take_mentions(memory, text, role)


def _take_mentions(memory: Sections, text: str, speaker: str) -> None:
    for place, mention in find_mentions(text, speaker):
        if place == CANDIDATES:
            changes.propose(memory, type_of(mention), mention)
        else:
            changes.add(memory, place, mention, is_candidate=place == "decisions")


def _touch(memory: Sections, path: str, action: str) -> None:
    old = next((each for each in memory.files if each.path == path), File(path, action, 0, 0))
    best = max(old.action, action, key=lambda name: ACTIONS.get(name, 0))
    files = [each for each in memory.files if each is not old]
    files.append(File(path, best, old.count + 1, memory.event))
    memory.files = sorted(files, key=_order_key)[: HOLDS[FILES]]
    if action in ("edit", "write"):
        memory.errors = [
            replace(each, status="maybe_fixed") if _is_about(each, path) else each
            for each in memory.errors
        ]


def _list_touched(action: str, args: Mapping[str, Any], output: str) -> Iterable[str]:
    """The files that a call of a tool is about."""
    if action == "grep":
        named = (path for each in output.split("\n")[:500] for path in failures.paths(each)[:1])
        return tuple(dict.fromkeys(named))[:_OF_SEARCH]
    path = next((args[key] for key in ("filePath", "file_path", "path") if args.get(key)), "")
    patch = args.get("patchText") or args.get("patch")
    if action == "edit" and not path and isinstance(patch, str):
        return re.findall(r"(?m)^(?:\*\*\* (?:Update|Add) File: |\+\+\+ b/)(.+)$", patch)
    return [path] if action and isinstance(path, str) and path else []


def _shorten_path(path: str, root: str) -> str:
    if root and os.path.isabs(path) and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return line(os.path.normpath(path), MAX_PATH)


def _is_about(error: Error, path: str) -> bool:
    """Whether an error names a file, by a path that may be relative to another folder."""
    return any(
        path == each or path.endswith(f"/{each}") or each.endswith(f"/{path}")
        for each in error.files
    )


def _order_key(file: File) -> tuple[int, int, str]:
    return (-file.rank, -file.turn, file.path)
